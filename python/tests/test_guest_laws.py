"""Laws in Python run beside built-in ones, pass their battery, and end a run cleanly if they fail."""

from __future__ import annotations

import json
import math
import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import millpond
import millpond.testing
import numpy as np
import pytest
from guest_laws import Dice, Fixed, Halved, Reno, Signalled
from millpond.events import Ack, Data, LinkPacket, QueueState, Start

#: A round-trip time of 40 ms without queues; hosts add no random processing time.
LINK = {"name": "L", "between": ["a", "b"], "rate": "100Mbps", "delay": "20ms", "buffer": "1bdp"}


def network(protocol: str, *, flows: int = 1, **changes: Any) -> millpond.Scenario:
    """Some flows over one link."""
    return millpond.Scenario(
        {
            "title": "One link",
            "duration": "20s",
            "measure": {"from": "2s", "every": "100ms"},
            "hosts": {"jitter": "0s"},
            "links": [LINK],
            "flows": [{"name": "f", "count": flows, "protocol": protocol, "path": ["a", "b"], "packet": "1000B"}],
            **changes,
        }
    )


def without_names(run: millpond.Run, protocol: str) -> Any:
    """The summary without what names the protocol."""
    text = run.summary_json().replace(f'"{protocol}"', '"P"')
    summary = json.loads(text)
    del summary["scenario_sha256"]
    return summary


@pytest.mark.parametrize("flows", [1, 3])
def test_a_guest_with_the_arithmetic_of_newreno_has_its_results(flows: int) -> None:
    millpond.register(Reno)
    scenarios = [network(name, flows=flows).set("links.L.rate", "20Mbps") for name in ("guest-reno", "newreno")]
    guest, built_in = (scenario.run() for scenario in scenarios)
    assert without_names(guest, "guest-reno") == without_names(built_in, "newreno")
    assert built_in.summary.flows[0].lost > 0, "the comparison covers losses"
    assert guest.series.to_pandas().equals(built_in.series.to_pandas())


def test_parameters_of_a_scenario_reach_the_guest() -> None:
    millpond.register(Reno)
    protocols = {"fierce": {"protocol": "guest-reno", "params": {"factor": 0.8}}}
    expected = {"fierce": {"protocol": "newreno", "params": {"loss_reduction_factor": 0.8}}}
    scenarios = [network("fierce", protocols=entry).set("links.L.rate", "20Mbps") for entry in (protocols, expected)]
    guest, built_in = (scenario.run() for scenario in scenarios)
    assert built_in.summary.flows[0].lost > 0, "the factor has an effect"
    assert guest.summary.flows[0].goodput_bps == built_in.summary.flows[0].goodput_bps
    with pytest.raises(millpond.Error, match="expected a number from 0 to 1, found 2"):
        network("f", protocols={"f": {"protocol": "guest-reno", "params": {"factor": 2}}}).check()
    with pytest.raises(millpond.Error, match='did you mean "factor"'):
        network("f", protocols={"f": {"protocol": "guest-reno", "params": {"facto": 2}}}).check()


def test_a_fixed_window_sends_a_window_per_round_trip() -> None:
    run = network("cubic").run(protocol=Fixed)
    # A round trip is 40 ms and the service times of a packet and of its acknowledgement.
    (flow,) = run.summary.flows
    assert flow.rtt_ms is not None
    assert flow.rtt_ms.mean == pytest.approx(40.1, abs=0.05)
    assert run.summary.links[0].utilization == pytest.approx(20 * 8000 / (flow.rtt_ms.mean / 1e3) / 100e6, rel=2e-3)


def test_routers_of_a_guest_control_the_rate_of_its_senders() -> None:
    scenario = network("cubic", flows=2)
    run = scenario.run(protocol=Signalled)
    assert run.summary.links[0].utilization == pytest.approx(0.8, rel=2e-3)
    assert run.summary.links[0].queue_packets.mean < 2
    (share,) = run.series.select(quantity="share", entity="L ->")
    assert share.value[-1] == 40e6
    assert scenario.run(protocol=Halved).summary.links[0].utilization == pytest.approx(0.4, rel=2e-3)


def test_marks_of_a_receiver_arrive_with_acknowledgements() -> None:
    class Marked(Fixed):
        """Every second packet is marked by its receiver."""

        name = "marked"
        ecn = "ect0"

        class Sender(Fixed.Sender):
            marks = packets = 0

            def on_ack(self, ack: Ack) -> None:
                self.marks += ack.ce_packets
                self.packets += ack.packets

            def observe(self) -> dict[str, tuple[float, str]]:
                return {"marks": (self.marks / max(self.packets, 1), "1")}

        class Receiver(millpond.Receiver):
            count = 0

            def on_data(self, data: Data) -> None:
                assert data.ecn == "ect0"
                self.count += 1
                self.mark = self.count % 2 == 0

    run = network("cubic").run(protocol=Marked)
    (marks,) = run.series.select(quantity="marks")
    assert marks.value[-1] == pytest.approx(0.5, abs=0.01)


def test_timers_and_random_numbers_depend_on_the_seed_alone() -> None:
    scenario = network("cubic")
    one, again, other = (scenario.run(protocol=Dice, seed=seed) for seed in (1, 1, 2))
    assert one.summary_json() == again.summary_json()
    assert one.summary_json() != other.summary_json()
    (count,) = one.series.select(quantity="samples")
    # One sample at the start and one after each period of 50 ms.
    np.testing.assert_allclose(count.value, np.floor(count.time / 0.05 + 1e-6) + 1)
    (drawn,) = one.series.select(quantity="drawn window")
    assert set(drawn.value) == {1.0, 2.0, 3.0, 4.0}


def test_comparisons_on_threads_have_the_results_of_single_runs() -> None:
    scenario = network("cubic", flows=2, duration="6s")
    compared = scenario.compare([Reno, "cubic", Dice], seeds=2, threads=2)
    assert compared.labels == ["guest-reno", "cubic", "dice"]
    for run, seed in zip(compared.of("dice"), (1, 2), strict=True):
        alone = scenario.run(protocol=Dice, seed=seed)
        assert run.summary.flows[0].goodput_bps == alone.summary.flows[0].goodput_bps


def failing(method: str, body: str) -> type[millpond.Law]:
    """A law whose sender does this after a second."""
    source = f"""
class Failing(Fixed):
    "A law that fails."
    name = "failing"

    class Sender(Fixed.Sender):
        def on_start(self, start):
            super().on_start(start)
            self.wake_s = 1.5

        def on_ack(self, ack):
            pass

        def {method}:
            if self.now_s >= 1.0:
                {body}
            return {{}}
"""
    names: dict[str, Any] = {"Fixed": Fixed, "math": math}
    exec(source, names)
    law: type[millpond.Law] = names["Failing"]
    return law


@pytest.mark.parametrize(
    ("method", "body", "event", "message"),
    [
        ("on_ack(self, ack)", "1 / 0", "on_ack", "ZeroDivisionError: division by zero (<string>:16)"),
        ("on_ack(self, ack)", "self.window_bytes = math.nan", "on_ack", "window_bytes is NaN: expected a number"),
        ("on_ack(self, ack)", "self.window_bytes = -1500", "on_ack", "window_bytes is -1500: expected"),
        ("on_ack(self, ack)", "self.pace_bps = -1.0", "on_ack", "pace_bps is -1: expected a rate in bit/s above zero"),
        ("on_ack(self, ack)", "self.pace_bps = 0", "on_ack", "pace_bps is 0: expected a rate"),
        ("on_ack(self, ack)", "self.window_bytes = 'wide'", "on_ack", "TypeError"),
        ("on_ack(self, ack)", "self.window_bytes = math.inf", "on_ack", "nothing limits the sender"),
        ("on_timer(self)", "self.wake_s = 1.5", "on_timer", "wake_s is 1.5: expected"),
        ("on_timer(self)", "raise KeyError('lost')", "on_timer", "KeyError: 'lost'"),
        ("observe(self)", "return {'gain': 3}", "observe", "TypeError"),
    ],
)
def test_a_failure_names_law_event_and_simulated_time(method: str, body: str, event: str, message: str) -> None:
    with pytest.raises(millpond.GuestError) as caught:
        network("cubic").run(protocol=failing(method, body))
    error = caught.value
    assert str(error).startswith(f'law "failing", sender {event} at {error.time_s:.12g}'[:40])
    assert message in str(error)
    assert (error.law, error.part, error.event) == ("failing", "sender", event)
    assert 1.0 <= error.time_s <= 1.6
    assert isinstance(error.__cause__, Exception)
    # The next run is not affected.
    assert network("cubic").run(protocol=Fixed).summary.flows[0].goodput_bps > 0


def test_failures_of_links_receivers_and_comparisons_end_the_run() -> None:
    class BadLink(Fixed):
        """A router with an unknown verdict."""

        name = "bad-link"

        class Link(millpond.Link):
            def on_arrival(self, packet: LinkPacket, queue: QueueState) -> Any:
                return "forward" if self.now_s > 1 else None

    class BadTick(Fixed):
        """A router that does not advance time."""

        name = "bad-tick"

        class Link(millpond.Link):
            def on_tick(self, queue: QueueState) -> float:
                return 0.0

    class BadReceiver(Fixed):
        """A receiver that echoes too much."""

        name = "bad-receiver"
        has_header = True

        class Receiver(millpond.Receiver):
            def on_data(self, data: Data) -> None:
                self.echo = bytes(41)

    class BadStart(Fixed):
        """A sender that cannot be made."""

        name = "bad-start"

        class Sender(Fixed.Sender):
            def __init__(self, law: Any) -> None:
                raise RuntimeError("no")

    for law, expected in [
        (BadLink, r'link on_arrival at 1\.\d+ s: ValueError: a verdict is "mark", "drop" or None, not "forward"'),
        (BadTick, r"link on_tick at 0 s: ValueError: interval_s is 0"),
        (BadReceiver, r"receiver on_data at 0\.\d+ s: ValueError: a header has at most 40 bytes, not 41"),
        (BadStart, r"sender __init__ at 0 s: RuntimeError: no"),
    ]:
        with pytest.raises(millpond.GuestError, match=expected):
            network("cubic").compare(["cubic", law], threads=2)


def test_declarations_are_checked() -> None:
    class Nameless(Fixed):
        """A law without a name."""

        name = None  # type: ignore[assignment]

    class Cubic(Fixed):
        """A law with the name of another one."""

        name = "cubic"

    class Wrong(Fixed):
        """A default outside of its range."""

        name = "wrong"
        window = millpond.Parameter(0.5, unit="packets", low=1.0, meaning="the window")

    class Empty(millpond.Law):
        """A law without a sender."""

        name = "empty"

    class Silent(millpond.Law):
        """A law whose senders set nothing."""

        name = "silent"

        class Sender(millpond.Sender):
            def on_timer(self) -> None:
                """It is never called."""

    for law, message in [
        (Nameless, "needs a name"),
        (Cubic, "name of a built-in protocol"),
        (Wrong, 'law "wrong": window: expected a number of at least 1, found 0.5'),
        (Empty, "needs a class Sender"),
        (Silent, "the senders of the law 'silent' need on_start, which sets window_bytes or pace_bps"),
    ]:
        with pytest.raises(millpond.Error, match=message):
            millpond.register(law)
    with pytest.raises(millpond.Error, match="set unit to one of"):
        millpond.Parameter("5ms", meaning="a time without a unit")
    ranges: list[tuple[Any, dict[str, Any], str]] = [
        (5.0, {"low": "1ms"}, "low is '1ms': expected a number"),
        (5.0, {"low": 8.0, "high": 7.0}, "low is 8.0 and high is 7.0: expected the lower end"),
        ("5ms", {"high": 0.1}, "the default '5ms' is no number: only numbers have a range"),
    ]
    for default, ends, message in ranges:
        with pytest.raises(millpond.Error, match=message):
            millpond.Parameter(default, unit="s", meaning="a range without meaning", **ends)


def test_attributes_of_a_law_without_meaning_and_misspelt_ones_are_refused() -> None:
    for attributes, message in [
        ({"ecn": "ect3"}, "the law 'named' has ecn = 'ect3': expected 'none' or 'ect0' or 'ect1'"),
        ({"capacity": "alive"}, "capacity = 'alive': expected 'none' or 'start' or 'live'"),
        ({"samples": "yes"}, "samples = 'yes': expected False or True"),
        ({"ecnn": "ect0"}, "has an attribute ecnn, which describes no law: did you mean ecn?"),
        ({"queu": "codel"}, "did you mean queue?"),
    ]:
        law = type("Named", (Fixed,), {"name": "named", "__doc__": "A law with this attribute.", **attributes})
        with pytest.raises(millpond.Error, match=message.replace("?", r"\?")):
            millpond.register(law)
    parameter = millpond.Parameter(True, meaning="a parameter may have any name")
    usable = type("Named", (Fixed,), {"name": "named", "__doc__": "A law.", "sample": parameter, "history": ()})
    millpond.register(usable)


def test_names_have_characters_that_scenarios_can_write() -> None:
    for name in ("", "My Law", "lgcc:foo", "a,b", "x+codel", "-x", "ä", "a.b"):
        law = type("Named", (Fixed,), {"name": name, "__doc__": "A law with this name."})
        with pytest.raises(millpond.Error, match=r"the law Named has the name .*: expected letters, digits"):
            millpond.register(law)
    usable = type("Named", (Fixed,), {"name": "My_law-2", "__doc__": "A law with a name."})
    assert network("cubic").run(protocol=usable).label == "My_law-2"


def method(_self: Any, *_arguments: Any) -> None:
    """A method of a part."""


@pytest.mark.parametrize(
    ("part", "base", "name", "nearest"),
    [
        ("Sender", Fixed.Sender, "on_akc", "on_ack"),
        ("Sender", Fixed.Sender, "on_congestions", "on_congestion"),
        ("Sender", Fixed.Sender, "obsreve", "observe"),
        ("Receiver", millpond.Receiver, "on_dta", "on_data"),
        ("Link", millpond.Link, "on_arival", "on_arrival"),
    ],
)
def test_a_misspelt_callback_is_refused_with_the_nearest_name(part: str, base: type, name: str, nearest: str) -> None:
    def law(of_part: str) -> type[millpond.Law]:
        parts = {"name": "misspelt", part: type(part, (base,), {of_part: method}), "__doc__": "Misspelt."}
        return type("Misspelt", (Fixed,), parts)

    owners = f"{part.lower()}s"
    with pytest.raises(millpond.Error, match=f"the {owners} of the law 'misspelt' have .*{name}.*mean {nearest}"):
        millpond.register(law(name))
    for other in ("shrink", f"_{name}", "on_loss", nearest):
        millpond.register(law(other))


def test_a_callback_that_a_call_does_not_execute_is_refused() -> None:
    async def later(self: object, ack: object) -> None: ...

    def lazy(self: object, ack: object) -> Any:
        yield

    for body in (later, lazy):
        sender = type("Sender", (Fixed.Sender,), {"on_ack": body})
        law = type("Late", (Fixed,), {"name": "late", "Sender": sender, "__doc__": "Late."})
        with pytest.raises(
            millpond.Error, match="callback on_ack of senders of the law 'late' is a generator or a cor"
        ):
            millpond.register(law)


def test_a_misspelt_attribute_of_a_sender_is_refused() -> None:
    def law(name: str) -> type[millpond.Law]:
        scope: dict[str, Any] = {}
        exec(f"def on_ack(self, ack):\n    self.{name} = 1.0", scope)
        sender = type("Sender", (Fixed.Sender,), {"on_ack": scope["on_ack"]})
        return type("Misset", (Fixed,), {"name": "misset", "Sender": sender, "__doc__": "Misset."})

    for name, nearest in (("window_byte", "window_bytes"), ("pace_bits", ""), ("wakes_s", "wake_s"), ("qauntum", "")):
        if nearest:
            with pytest.raises(millpond.Error, match=f"set {name}, which has no effect: did you mean {nearest}"):
                millpond.register(law(name))
        else:
            millpond.register(law(name))
    for own in ("window_bits", "window", "wake_at_s", "paced_rate_bps"):
        millpond.register(law(own))


def test_a_part_of_another_class_is_refused() -> None:
    for part in ("Sender", "Link", "Receiver", "Fluid"):
        law = type("Odd", (Fixed,), {"name": "odd", part: object, "__doc__": "Odd."})
        with pytest.raises(millpond.Error, match=rf"{part} of the law 'odd' is .*: expected a class {part}\(millpond"):
            millpond.register(law)


def test_a_parameter_has_a_name_and_readable_bounds_however_it_is_declared() -> None:
    law = type("Later", (Fixed,), {"name": "later", "__doc__": "Later."})
    law.gain = millpond.Parameter(1.5, whole=True, meaning="a gain")  # type: ignore[attr-defined]
    with pytest.raises(millpond.Error, match=r"gain: expected a whole number of any size, found 1\.5"):
        millpond.register(law)


def test_a_header_that_no_packet_carries_is_refused() -> None:
    class Writes(Fixed):
        """Its senders write headers."""

        name = "writes"

        class Sender(Fixed.Sender):
            def header(self) -> bytes:
                return b"1234"

    class Echoes(Fixed):
        """Its receivers set the echo."""

        name = "echoes"

        class Receiver(millpond.Receiver):
            def on_data(self, data: Data) -> None:
                self.echo = b"1234"

    class Reads(Echoes):
        """Its receivers read the echo."""

        class Receiver(millpond.Receiver):
            def on_data(self, data: Data) -> None:
                self.mark = self.echo is not None

    for law, message in [(Writes, r"Sender\.header is never called"), (Echoes, r"Receiver\.echo has no effect")]:
        with pytest.raises(millpond.Error, match=f"{message}, .* carry no header: set has_header = True"):
            millpond.register(law)
        millpond.register(type(law.__name__, (law,), {"has_header": True, "__doc__": law.__doc__}))
    millpond.register(Reads)


@pytest.mark.parametrize("law", [Reno, Signalled, Halved, Dice, Fixed])
def test_the_laws_of_these_tests_pass_the_public_battery(law: type[millpond.Law]) -> None:
    millpond.testing.conformance(law)


def test_the_battery_finds_faults() -> None:
    class Divides(Fixed):
        """It divides by a round-trip time that may be zero."""

        name = "divides"

        class Sender(Fixed.Sender):
            def on_ack(self, ack: Ack) -> None:
                self.pace_bps = 1 + 1e6 / ack.min_rtt_s

    class Small(Fixed):
        """Its window may be smaller than a packet."""

        name = "small"

        class Sender(Fixed.Sender):
            def on_start(self, start: Start) -> None:
                self.window_bytes = 1500

    class Drifting(Fixed):
        """Its senders depend on those before them."""

        name = "drifting"
        count = 0

        class Sender(Fixed.Sender):
            def on_ack(self, ack: Ack) -> None:
                Drifting.count += 1
                self.window_bytes = 1e6 + Drifting.count

    class Infinite(Fixed):
        """Its routers report what is no number."""

        name = "infinite"

        class Link(millpond.Link):
            def observe(self) -> dict[str, tuple[float, str]]:
                return {"share": (math.inf, "bit/s")}

    faults = [
        (Divides, "ZeroDivisionError"),
        (Small, "^Test failed: small permits"),
        (Drifting, "drifting"),
        (Infinite, '^law "infinite": .*share'),
    ]
    for law, message in faults:
        with pytest.raises(AssertionError, match=message):
            millpond.testing.conformance(law)


def test_a_failed_battery_prints_nothing(tmp_path: Path) -> None:
    program = """
import millpond, millpond.testing
class Small(millpond.Law):
    "A window of one byte."
    name = "small"
    class Sender(millpond.Sender):
        def on_start(self, start):
            self.window_bytes = 1
try:
    millpond.testing.conformance(Small)
except AssertionError:
    print("failed")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("failed\n", "")


def test_a_sweep_on_processes_runs_guests(tmp_path: Path) -> None:
    scenario = network("cubic", duration="4s")
    vary = {"links.L.rate": ["5Mbps", "10Mbps"]}
    context = multiprocessing.get_context("spawn")
    own = millpond.sweep(scenario, vary, out=tmp_path / "own", protocols=[Reno, "newreno"])
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        millpond.sweep(scenario, vary, out=tmp_path / "workers", protocols=[Reno, "newreno"], executor=executor)
    assert (tmp_path / "own/runs.parquet").read_bytes() == (tmp_path / "workers/runs.parquet").read_bytes()
    runs = own.runs()
    for _, pair in runs.groupby("links.L.rate [bit/s]"):
        assert set(pair["protocol"]) == {"guest-reno", "newreno"}
        assert pair["utilization"].nunique() == 1


def test_a_sweep_on_processes_runs_a_guest_in_a_single_loop(tmp_path: Path) -> None:
    millpond.register(Reno)
    split: dict[str, Any] = {"protocol": "cubic", "relays": ["r"], "loops": {"r": "guest-reno"}}
    scenario = millpond.Scenario(
        {
            "title": "A relay",
            "duration": "4s",
            "links": [LINK | {"between": ["a", "r"]}, LINK | {"name": "M", "between": ["r", "b"]}],
            "flows": [{"name": "f", "protocol": "split", "path": ["a", "r", "b"]}],
            "protocols": {"split": split},
        }
    )
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        sweep = millpond.sweep(scenario, {"links.M.rate": ["5Mbps"]}, out=tmp_path, executor=executor)
    built_in = scenario.set("links.M.rate", "5Mbps").set("protocols.split.loops.r", "newreno").run()
    (used,) = sweep.runs()["utilization"]
    assert used == built_in.summary.links[2].utilization


def test_runs_of_another_code_have_other_keys(tmp_path: Path) -> None:
    def law(window: float) -> type[millpond.Law]:
        names: dict[str, Any] = {"millpond": millpond}
        code = f"""
class Constant(millpond.Law):
    "A constant window."
    name = "constant"
    class Sender(millpond.Sender):
        def on_start(self, start):
            self.window_bytes = {window}
"""
        exec(code, names)
        found: type[millpond.Law] = names["Constant"]
        return found

    scenario = network("cubic", duration="4s")
    vary = {"links.L.rate": ["10Mbps"]}
    millpond.sweep(scenario, vary, out=tmp_path, protocols=[law(3000.0)])
    with pytest.raises(millpond.Error, match="constant@"):
        millpond.sweep(scenario, vary, out=tmp_path, protocols=[law(6000.0)])
