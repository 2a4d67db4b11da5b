#!/usr/bin/env python3
"""The Python package against its limits: import, runs, tables, laws and environments.

usage: benches/python.py path/to/millpond [--repeats N]     (make bench-python)

Every number is processor time (user and system, of all threads). Workloads that are compared run in turn, and each
number is the least of its repeats, because other programs of the machine only add to it. The exit code is 1 if a limit
is missed.

With --quick the workloads are short and run once: a test executes all of this file. Its numbers mean nothing, and no
limit is missed.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import millpond
import numpy as np
from millpond.environments import LinkControl, LinkControlVector

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python/tests"))

from guest_laws import Reno  # noqa: E402

#: Four flows over one link.
DUMBBELL = millpond.Scenario.load(ROOT / "scenarios/dumbbell.toml")


@dataclass(frozen=True)
class Size:
    """How much work the workloads are."""

    repeats: int
    #: Simulated times of the run beside the command, of the runs that become tables, and of those of laws.
    beside_command: str = "600s"
    tables: str = "100s"
    laws: str = "120s"
    #: Rows that are converted, about.
    rows: float = 1e6
    #: Simulated time of an episode, in seconds.
    episode: float = 10.0

    def of_laws(self):
        """The scenario in which laws are compared."""
        return DUMBBELL.set({"duration": self.laws, "measure.from": "0s"})


QUICK = Size(repeats=1, beside_command="20s", tables="20s", laws="2s", rows=1e4, episode=1.0)


def spent(work):
    """Processor time of a call in this process, in seconds."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def spent_by(*command):
    """Processor time of another process, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(repeats, **workloads):
    """The least time of each workload; they run in turn."""
    times = [{name: work() for name, work in workloads.items()} for _ in range(repeats)]
    return {name: min(one[name] for one in times) for name in workloads}


def imports(size):
    """Processor time of `import millpond` beyond that of an empty program, in ms."""
    found = least(
        3 * size.repeats,
        empty=lambda: spent_by(sys.executable, "-c", ""),
        imported=lambda: spent_by(sys.executable, "-c", "import millpond"),
    )
    return 1e3 * (found["imported"] - found["empty"])


def beside_the_command(command, size):
    """Time of a run from Python over that of the command, and the latter in seconds."""
    long = DUMBBELL.set("duration", size.beside_command)
    arguments = [str(ROOT / "scenarios/dumbbell.toml"), "--set", f"duration={size.beside_command}", "--quiet"]
    found = least(
        size.repeats,
        python=lambda: spent(lambda: long.run(progress=False)),
        command=lambda: spent_by(command, "run", *arguments),
    )
    return found["python"] / found["command"], found["command"]


def to_pandas(every, size):
    """Time of a million rows of series to pandas, in ms, and the rows of each series."""
    run = DUMBBELL.set({"measure.every": every, "duration": size.tables}).run(progress=False)
    series, tables = len(run.series.contents), range(max(round(size.rows / len(run.series)), 1))
    rows = len(run.series) * len(tables)
    run.to_pandas()

    def convert():
        for _ in tables:
            millpond.SeriesTable(run._core).to_pandas()

    return 1e3 * least(size.repeats, convert=lambda: spent(convert))["convert"] * 1e6 / rows, len(run.series) // series


def acknowledgements(law, size):
    """The number of `on_ack` of a run of a law in Python."""
    counted = 0

    class Sender(law.Sender):
        def on_ack(self, ack):
            nonlocal counted
            counted += 1
            super().on_ack(ack)

    size.of_laws().run(protocol=type("Counting", (law,), {"name": "counting", "Sender": Sender}), progress=False)
    return counted


def c_law(folder):
    """NewReno in C: the example."""
    library = f"{folder}/reno.so"
    flags = ["-O2", "-ffp-contract=off", "-shared", "-fPIC", "-I", ROOT / "include"]
    subprocess.run(["cc", *flags, ROOT / "examples/c-law/reno.c", "-o", library, "-lm"], check=True)
    factor = millpond.Parameter(0.5, low=0.0, high=1.0, meaning="factor by which a loss multiplies the window")
    return type("CReno", (millpond.Law,), {"name": "c-reno", "factor": factor, "native": millpond.native.load(library)})


def numba_law():
    """NewReno, compiled by Numba."""
    from numba import carray, cfunc

    fields = ["packet", "window", "threshold", "delivered", "prior_delivered", "recovery"]
    state = np.dtype([(name, "f8") for name in fields], align=True)
    signature = millpond.native.signature

    @cfunc(signature("on_start", state))
    def on_start(state, context, start, permit):
        reno = carray(state, 1)[0]
        reno.packet = carray(start, 1)[0].packet_bytes
        reno.window = min(10.0 * reno.packet, max(2.0 * reno.packet, 14720.0))
        reno.threshold = np.inf
        carray(permit, 1)[0].window_bytes = reno.window
        return 0

    @cfunc(signature("on_ack", state))
    def on_ack(state, context, ack, permit):
        reno, event = carray(state, 1)[0], carray(ack, 1)[0]
        reno.delivered = max(reno.delivered, event.delivered_bytes)
        reno.prior_delivered = event.prior_delivered_bytes
        if event.window_unused != 0 or reno.prior_delivered < reno.recovery:
            return 0
        acked = float(event.bytes)
        if reno.window < reno.threshold:
            used = min(acked, np.floor(max(min(reno.threshold, 1e15) - reno.window, 0.0) + 0.5))
            reno.window += used
            acked -= used
        if acked > 0.0:
            reno.window += reno.packet * acked / reno.window
        reno.window = min(reno.window, 1e15)
        carray(permit, 1)[0].window_bytes = reno.window
        return 0

    @cfunc(signature("on_congestion", state))
    def on_congestion(state, context, event, permit):
        reno, congestion = carray(state, 1)[0], carray(event, 1)[0]
        if congestion.cause == 1:
            return 0
        if congestion.is_new_episode != 0 and reno.prior_delivered >= reno.recovery:
            reno.window = max(reno.window * carray(context, 1)[0].parameters[0], 2.0 * reno.packet)
            reno.threshold = reno.window
            reno.recovery = reno.delivered
        if congestion.cause == 3:
            reno.window = 2.0 * reno.packet
            reno.recovery = 0.0
        carray(permit, 1)[0].window_bytes = reno.window
        return 0

    callbacks = {"on_start": on_start, "on_ack": on_ack, "on_congestion": on_congestion}
    factor = millpond.Parameter(0.5, low=0.0, high=1.0, meaning="factor by which a loss multiplies the window")
    native = millpond.native.law(sender=callbacks, state=state)
    return type("NumbaReno", (millpond.Law,), {"name": "numba-reno", "factor": factor, "native": native})


def laws(folder, size):
    """Time of a run with each form of NewReno, in seconds; all of them have the same goodputs."""
    forms = {"newreno": "newreno", "python": Reno, "c": c_law(folder), "numba": numba_law()}
    scenario = size.of_laws()
    goodputs = {
        name: [flow.goodput_bps for flow in scenario.run(protocol=law, progress=False).summary.flows]
        for name, law in forms.items()
    }
    assert len({tuple(one) for one in goodputs.values()}) == 1, goodputs

    def run_of(law):
        return lambda: spent(lambda: scenario.run(protocol=law, progress=False))

    return least(size.repeats, **{name: run_of(law) for name, law in forms.items()})


def steps_per_second(make, size):
    """Steps of 10 ms in a second, those of each environment counted, at a pacing rate of 15 Mbit/s."""
    env = make(first_rate_mbps=15.0)
    action = np.zeros(env.action_space.shape, dtype=np.float32)
    episode = range(round(size.episode / env.step_s))

    def steps():
        env.reset(seed=1)
        return spent(lambda: [env.step(action) for _ in episode])

    return len(episode) * getattr(env, "num_envs", 1) / least(size.repeats, steps=steps)["steps"]


def main():
    """Prints each number beside its limit."""
    arguments = argparse.ArgumentParser(description="The Python package against its limits.")
    arguments.add_argument("command", help="the command millpond, in a release build")
    arguments.add_argument("--repeats", type=int, default=7, help="how often each workload runs (7)")
    arguments.add_argument("--quick", action="store_true", help="short workloads, once: tests this file")
    options = arguments.parse_args()
    size = QUICK if options.quick else Size(options.repeats)
    python = sys.version.split()[0]
    print(f"millpond {millpond.__version__}, Python {python}; least of {size.repeats}, processor time\n")
    missed = False

    def show(what, value, unit, limit, is_most=True):
        nonlocal missed
        is_reached = value <= limit if is_most else value >= limit
        missed |= not (is_reached or options.quick)
        sign = "≤" if is_most else "≥"
        print(f"{what:58} {value:>12.4g} {unit:8} {sign} {limit:<8g} {'' if is_reached else 'missed'}", flush=True)

    show("import millpond", imports(size), "ms", 150)
    ratio, seconds = beside_the_command(options.command, size)
    show(f"a run from Python over the command ({seconds:.2f} s)", ratio, "1", 1.02)
    for every in ("5ms", "250ms"):
        milliseconds, rows = to_pandas(every, size)
        show(f"a million rows of series to pandas, {rows} rows each", milliseconds, "ms", 50)
    with tempfile.TemporaryDirectory() as folder:
        found = laws(folder, size)
    acks = acknowledgements(Reno, size)
    show("NewReno in Python, with all of the simulation", acks / found["python"], "acks/s", 3e5, is_most=False)
    for name, form in (("c", "C"), ("numba", "Numba")):
        show(f"NewReno in {form} over the built-in one", found[name] / found["newreno"], "1", 1.3)
    for name, make in (("LinkControl-v0", LinkControl), ("its vector version, 8 environments", vector)):
        show(f"steps of 10 ms, {name}", steps_per_second(make, size), "steps/s", 5e4, is_most=False)
    return missed


def vector(**settings):
    """Eight environments."""
    return LinkControlVector(8, **settings)


if __name__ == "__main__":
    sys.exit(main())
