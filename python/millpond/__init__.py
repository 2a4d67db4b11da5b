"""A laboratory for congestion control: protocols and queues in packets and in equations.

A scenario describes a network, its flows and their protocols. It runs in a deterministic packet-level simulator
or as delay-differential equations, and its equilibrium and its stability are computed from the same laws.

>>> import millpond
>>> scenario = millpond.Scenario.load("scenarios/dumbbell.toml")
>>> run = scenario.set("dumbbell.bottleneck.rate", "50Mbps").run(seed=7)
>>> run.summary.fairness.jain
>>> run.series.to_pandas()
>>> run.plot.rates()

Numpy, pandas, xarray, Matplotlib and Altair are imported when they are first needed:
``pip install millpond[all]`` installs them.
"""

from millpond import dual, native, papers
from millpond._comparison import Comparison
from millpond._core import VERSION as __version__
from millpond._core import Error, GuestError
from millpond._evaluation import Evaluations, evaluate
from millpond._fluid import Fluid, FluidInput, LoopFacts, State
from millpond._law import Law, Link, Parameter, Receiver, Sender, register
from millpond._run import Run, load_run, load_runs
from millpond._scenario import Scenario, World
from millpond._sweep import Sweep, sweep
from millpond._tables import Distribution, Series, SeriesTable, Table
from millpond._theory import Allocation, Equilibrium, Explanation, Locus, Stability
from millpond._trace import Trace
from millpond._tune import Objective, Trial, Tuning, tune

__all__ = [
    "Allocation",
    "Comparison",
    "Distribution",
    "Equilibrium",
    "Error",
    "Evaluations",
    "Explanation",
    "Fluid",
    "FluidInput",
    "GuestError",
    "Law",
    "Link",
    "Locus",
    "LoopFacts",
    "Objective",
    "Parameter",
    "Receiver",
    "Run",
    "Scenario",
    "Sender",
    "Series",
    "SeriesTable",
    "Stability",
    "State",
    "Sweep",
    "Table",
    "Trace",
    "Trial",
    "Tuning",
    "World",
    "__version__",
    "dual",
    "evaluate",
    "load_run",
    "load_runs",
    "native",
    "papers",
    "register",
    "sweep",
    "tune",
]
