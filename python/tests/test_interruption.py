"""Other threads run during a run, and Ctrl-C ends it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import millpond
import pytest
from conftest import SCENARIO

#: A run that no test waits for.
LONG = {"duration": "100000s"}


def test_other_threads_run_during_a_run(scenario: millpond.Scenario) -> None:
    ended = threading.Event()
    longest = 0.0

    def count() -> None:
        nonlocal longest
        last = time.perf_counter()
        while not ended.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    scenario.set("duration", "2000s").run()
    elapsed = time.perf_counter() - begin
    ended.set()
    thread.join()
    assert elapsed > 0.2, "the run is too short for this test"
    assert longest < 0.5 * elapsed


CHILD = f"""
import millpond, millpond.environments, millpond.testing, signal, sys, threading
# A shell may have started the tests with interrupts ignored, which Python would leave so.
signal.signal(signal.SIGINT, signal.default_int_handler)
scenario = millpond.Scenario.parse('''{SCENARIO}''').set({LONG!r})
def step():
    one = scenario.set("flows.download.count", 1)
    env = millpond.environments.LinkControl(one, step_s=1e5, first_rate_mbps=20.0)
    env.reset(seed=1)
    env.step([0.0])
def conformance():
    while True:
        millpond.testing.conformance("bbr3")
threading.Timer(0.5, lambda: print("running", flush=True)).start()
try:
    CALL
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize(
    "call",
    [
        "scenario.run()",
        "scenario.run(world='fluid')",
        "scenario.compare(['cubic', 'dctcp'], seeds=2)",
        "millpond.sweep(scenario, {'flows.download.count': '1,2'}, out=sys.argv[1])",
        "millpond.tune(scenario, 'vegas', {'alpha': '1..4'})",
        "millpond.papers.check('lgcc', full=True)",
        "conformance()",
        "step()",
    ],
)
def test_ctrl_c_ends_work_within_a_second(call: str, tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD.replace("CALL", call), str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "running\n"
    begin = time.monotonic()
    os.kill(child.pid, signal.SIGINT)
    assert child.stdout.readline() == "interrupted\n"
    assert time.monotonic() - begin < 1.0
    assert child.wait(timeout=10) == 0
    child.stdout.close()


#: A law whose first acknowledgement is never finished.
ENDLESS = """
class Endless(millpond.Law):
    name = "endless"
    class Sender(millpond.Sender):
        def on_start(self, start):
            self.window_bytes = 8 * start.packet_bytes
        def on_ack(self, ack):
            print("running", flush=True)
            while True:
                pass
millpond.register(Endless)
"""


@pytest.mark.parametrize("call", ["scenario.run(protocol='endless')", "millpond.testing.conformance('endless')"])
def test_ctrl_c_ends_a_law_that_does_not_return_and_the_interpreter_goes_on(call: str) -> None:
    program = CHILD.replace("CALL", call).replace("threading.Timer", ENDLESS + "threading.Timer")
    program = program.replace('threading.Timer(0.5, lambda: print("running", flush=True)).start()', "")
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "running\n"
    os.kill(child.pid, signal.SIGINT)
    begin = time.monotonic()
    output, errors = child.communicate(timeout=10)
    assert output.splitlines()[-1] == "interrupted"
    assert time.monotonic() - begin < 5.0
    assert (child.returncode, errors) == (0, "")


def test_an_exception_of_the_progress_function_ends_the_run(scenario: millpond.Scenario) -> None:
    class EnoughError(Exception):
        pass

    def progress(share: float) -> None:
        assert 0.0 <= share < 1.0
        raise EnoughError

    with pytest.raises(EnoughError):
        scenario.set(LONG).run(progress=progress)


def _summary(scenario: millpond.Scenario) -> str:
    return scenario.compare(seeds=2)[1].summary_json()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_run_scenarios(scenario: millpond.Scenario, method: str) -> None:
    here = _summary(scenario)
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(_summary, (scenario,)) == here
