"""A first figure with the Python package: `make python` runs it.

Usage: first_figure.py [FILE.pdf]
"""

import sys
from pathlib import Path

import millpond

scenario = millpond.Scenario.load(Path(__file__).parents[1] / "scenarios/dumbbell.toml")
run = scenario.run(protocol="lgcc")
print(run)
path = sys.argv[1] if len(sys.argv) > 1 else "first-figure.pdf"
run.plot.rates().savefig(path)
print(f"figure: {path}")
