#!/usr/bin/env python3
"""Runs the independent models of this folder and compares their numbers with those that recipes cite.

A model is a module with a function `numbers()` that yields (name, computed, cited, relative tolerance). Models share
no code with the crates. Each runs in a process of its own, on all processors. Exit code 1 if a number differs by more
than its tolerance.
"""

import concurrent.futures
import importlib
import pathlib
import sys

SLOW_FIRST = ["mcp_packets", "acp_packets", "lgcc_loop", "rcp_packets"]


def run(model):
    """The lines of a model's report, and how many of its numbers differ."""
    lines, wrong = [], 0
    for name, computed, cited, tolerance in importlib.import_module(model).numbers():
        agrees = abs(computed - cited) <= tolerance * abs(cited)
        wrong += not agrees
        lines.append(f"{'ok    ' if agrees else 'DIFFERS'} {model}: {name}: {computed:.6g}, cited {cited:.6g}")
    return lines, wrong


def main(names):
    folder = pathlib.Path(__file__).parent
    known = sorted((path.stem for path in folder.glob("*.py") if path.stem != "run"), key=lambda name: (name not in SLOW_FIRST, name))
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no such model: {', '.join(unknown)}; there are: {', '.join(sorted(known))}")
    wrong = 0
    with concurrent.futures.ProcessPoolExecutor() as processes:
        for lines, differ in processes.map(run, names or known):
            print("\n".join(lines), flush=True)
            wrong += differ
    print(f"{wrong} numbers differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
