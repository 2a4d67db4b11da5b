#!/usr/bin/env python3
"""Runs the independent models of this folder and compares their numbers with those that recipes cite.

A model is a module with a function `numbers()` that yields (name, computed, cited, relative tolerance). Models share
no code with the crates. Exit code 1 if a number differs by more than its tolerance.
"""

import importlib
import pathlib
import sys


def main(names):
    folder = pathlib.Path(__file__).parent
    known = sorted(path.stem for path in folder.glob("*.py") if path.stem != "run")
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no such model: {', '.join(unknown)}; there are: {', '.join(known)}")
    wrong = 0
    for model in names or known:
        for name, computed, cited, tolerance in importlib.import_module(model).numbers():
            agrees = abs(computed - cited) <= tolerance * abs(cited)
            wrong += not agrees
            print(f"{'ok    ' if agrees else 'DIFFERS'} {model}: {name}: {computed:.6g}, cited {cited:.6g}")
    print(f"{wrong} numbers differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
