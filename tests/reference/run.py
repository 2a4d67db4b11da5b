#!/usr/bin/env python3
"""Runs the independent models of this folder and compares their numbers with those that recipes cite.

usage: run.py [--slow] [--changed] [NAME...]
  NAME       only these models
  --slow     the numbers that take minutes as well; without it their text is read, not their value
  --changed  of the other models, whose text is that of their last run, only the recorded numbers are read

A model is a module with a function `numbers()` that yields (name, computed, cited, relative tolerance), and maybe one more,
`slow_numbers()`. Models share no code with the crates or with each other: what they compute depends on their text, and on a recipe that one reads. Each runs in a process of its
own, on all processors. If all models run and agree, their numbers are recorded in computed.json. Without names, the texts of the recipes are read as
well: a number after `tests/reference/NAME.py:` has to be one that the model cites. Exit code 1 if a number differs by more than its tolerance, or
if a recipe's number is not that of its model.
"""

import concurrent.futures
import functools
import hashlib
import importlib
import inspect
import itertools
import json
import pathlib
import re
import sys
import tomllib

FOLDER = pathlib.Path(__file__).parent
ROOT = FOLDER.parents[1]
RECORD = FOLDER / "computed.json"
SLOW_FIRST = ["mcp_packets", "xcp_packets", "acp_packets", "lgcc_loop", "rcp_packets"]


def slow_citations(module):
    """The numbers that `slow_numbers` cites: the constants in its source."""
    source = inspect.getsource(module.slow_numbers) if hasattr(module, "slow_numbers") else ""
    return [float(cited) for cited in re.findall(r"^ +yield .*, ([0-9.]+), [0-9.e-]+$", source, re.MULTILINE)]


def run(model, slow=False):
    """The lines of a model's report, the numbers that it cites, and how many of its numbers differ."""
    module = importlib.import_module(model)
    lines, numbers, wrong = [], slow_citations(module), 0
    found = module.numbers()
    if slow and hasattr(module, "slow_numbers"):
        found = itertools.chain(found, module.slow_numbers())
    for name, computed, cited, tolerance in found:
        agrees = abs(computed - cited) <= tolerance * abs(cited)
        wrong += not agrees
        numbers.append(cited)
        lines.append(f"{'ok    ' if agrees else 'DIFFERS'} {model}: {name}: {computed:.6g}, cited {cited:.6g}")
    return lines, numbers, wrong


def digest(model):
    """What identifies the text of a model, and of the recipe that it reads."""
    text = (FOLDER / f"{model}.py").read_bytes()
    read = [ROOT / path.decode() for path in re.findall(rb'"(papers/[\w/-]+\.toml)"', text)]
    return hashlib.sha256(b"".join([text, *(path.read_bytes() for path in read)])).hexdigest()


def unchanged():
    """The recorded numbers of the models whose text is that of their last run, by name."""
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    return {model: one["cited"] for model, one in recorded.items() if (FOLDER / f"{model}.py").exists() and one["text"] == digest(model)}


def record(cited):
    """Writes the numbers that models cite, a line for each model."""
    lines = (f'"{model}": {json.dumps({"text": digest(model), "cited": sorted(set(cited[model]))})}' for model in sorted(cited))
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def texts(value):
    """All texts in a TOML document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)


def unknown_citations(cited):
    """Lines for the citations of recipes that name no model, or a number that their model does not cite."""
    papers = ROOT / "papers"
    for path in sorted(papers.rglob("*.toml")):
        for text in texts(tomllib.loads(path.read_text())):
            for model, number in re.findall(r"(\w+)\.py(?:: ([-+]?[0-9]*\.?[0-9]+))?", text):
                precision = 0.5 * 10 ** -len(number.partition(".")[2]) * 1.001
                if model not in cited or number and all(abs(value - float(number)) > precision for value in cited[model]):
                    yield f"UNKNOWN {path.relative_to(papers)}: {model}.py: {number}"


def main(arguments):
    options = {"--slow", "--changed"}.intersection(arguments)
    names = [name for name in arguments if name not in options]
    known = sorted((path.stem for path in FOLDER.glob("*.py") if path.stem != "run"), key=lambda name: (name not in SLOW_FIRST, name))
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no such model: {', '.join(unknown)}; there are: {', '.join(sorted(known))}")
    wrong, cited = 0, unchanged() if "--changed" in options else {}
    models = [name for name in names or known if name not in cited]
    with concurrent.futures.ProcessPoolExecutor() as processes:
        for model, (lines, numbers, differ) in zip(models, processes.map(functools.partial(run, slow="--slow" in options), models)):
            print("\n".join(lines), flush=True)
            wrong, cited[model] = wrong + differ, numbers
    if models == known and not wrong:
        record(cited)
    unknown = [] if names else list(unknown_citations(cited))
    print("\n".join([*unknown, f"{wrong} numbers differ, {len(unknown)} citations are unknown, {len(models)} of {len(known)} models were run"]))
    return 1 if wrong or unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
