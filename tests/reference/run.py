#!/usr/bin/env python3
"""Runs the independent models of this folder and compares their numbers with those that recipes cite.

A model is a module with a function `numbers()` that yields (name, computed, cited, relative tolerance). Models share
no code with the crates. Each runs in a process of its own, on all processors. If all models run, the texts of the recipes
are read as well: a number after `tests/reference/NAME.py:` has to be one that the model cites. Exit code 1 if a number
differs by more than its tolerance, or if a recipe's number is not that of its model.
"""

import concurrent.futures
import importlib
import pathlib
import re
import sys
import tomllib

SLOW_FIRST = ["mcp_packets", "xcp_packets", "acp_packets", "lgcc_loop", "rcp_packets"]


def run(model):
    """The lines of a model's report, the numbers that it cites, and how many of its numbers differ."""
    lines, numbers, wrong = [], [], 0
    for name, computed, cited, tolerance in importlib.import_module(model).numbers():
        agrees = abs(computed - cited) <= tolerance * abs(cited)
        wrong += not agrees
        numbers.append(cited)
        lines.append(f"{'ok    ' if agrees else 'DIFFERS'} {model}: {name}: {computed:.6g}, cited {cited:.6g}")
    return lines, numbers, wrong


def texts(value):
    """All texts in a TOML document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)


def unknown_citations(cited):
    """Lines for the citations of recipes that name no model, or a number that their model does not cite."""
    papers = pathlib.Path(__file__).parents[2] / "papers"
    for path in sorted(papers.rglob("*.toml")):
        for text in texts(tomllib.loads(path.read_text())):
            for model, number in re.findall(r"(\w+)\.py(?:: ([-+]?[0-9]*\.?[0-9]+))?", text):
                precision = 0.5 * 10 ** -len(number.partition(".")[2]) * 1.001
                if model not in cited or number and all(abs(value - float(number)) > precision for value in cited[model]):
                    yield f"UNKNOWN {path.relative_to(papers)}: {model}.py: {number}"


def main(names):
    folder = pathlib.Path(__file__).parent
    known = sorted((path.stem for path in folder.glob("*.py") if path.stem != "run"), key=lambda name: (name not in SLOW_FIRST, name))
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no such model: {', '.join(unknown)}; there are: {', '.join(sorted(known))}")
    wrong, cited = 0, {}
    with concurrent.futures.ProcessPoolExecutor() as processes:
        for model, (lines, numbers, differ) in zip(names or known, processes.map(run, names or known)):
            print("\n".join(lines), flush=True)
            wrong, cited[model] = wrong + differ, numbers
    unknown = [] if names else list(unknown_citations(cited))
    print("\n".join([*unknown, f"{wrong} numbers differ, {len(unknown)} citations are unknown"]))
    return 1 if wrong or unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
