"""Laws as C functions: the example in C, Numba, and refusals."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import millpond
import millpond.testing
import numba
import numpy as np
import pytest
from conftest import ROOT
from millpond._fingerprint import fingerprint
from test_guest_laws import network, without_names


def compiled(source: Path, out: Path) -> Path:
    """A shared library of a C file, built as docs/guest-laws.md says."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler: install gcc or clang as cc")
    command = [compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([*command, "-I", ROOT / "include", source, "-o", out, "-lm"], check=True)
    return out


@pytest.fixture(scope="module")
def c_reno(tmp_path_factory: pytest.TempPathFactory) -> type[millpond.Law]:
    library = compiled(ROOT / "examples/c-law/reno.c", tmp_path_factory.mktemp("c") / "reno.so")

    class CReno(millpond.Law):
        """The example in C."""

        name = "c-reno"
        source = "RFC 9002, section 7"
        factor = millpond.Parameter(0.5, low=0.0, high=1.0, meaning="factor by which a loss multiplies the window")
        native = millpond.native.load(library)

    return millpond.register(CReno)


@pytest.mark.parametrize("flows", [1, 3])
def test_the_example_in_c_has_the_results_of_newreno(c_reno: type[millpond.Law], flows: int) -> None:
    names = ["c-reno", "newreno"]
    native, built_in = (network(name, flows=flows).set("links.L.rate", "20Mbps").run() for name in names)
    assert without_names(native, "c-reno") == without_names(built_in, "newreno")
    assert built_in.summary.flows[0].lost > 0


def test_parameters_reach_functions_in_c(c_reno: type[millpond.Law]) -> None:
    entries = [
        {"fierce": {"protocol": "c-reno", "params": {"factor": 0.8}}},
        {"fierce": {"protocol": "newreno", "params": {"loss_reduction_factor": 0.8}}},
    ]
    scenarios = [network("fierce", protocols=entry).set("links.L.rate", "20Mbps") for entry in entries]
    native, built_in = (scenario.run().summary.flows[0] for scenario in scenarios)
    assert (native.goodput_bps, native.lost) == (built_in.goodput_bps, built_in.lost)


def test_the_example_in_c_passes_the_battery(c_reno: type[millpond.Law]) -> None:
    millpond.testing.conformance(c_reno)


def numba_law(name: str, **bodies: str) -> type[millpond.Law]:
    """A law whose functions Numba compiles from these bodies."""
    state = np.dtype([("packet", "f8"), ("count", "f8")], align=True)
    arguments = {"on_timer": "state, context, permit"}
    functions: dict[str, Any] = {}
    for callback, body in bodies.items():
        names = arguments.get(callback, "state, context, event, permit").split(", ")
        lines = [f"def function({', '.join('_' + one for one in names)}):"]
        lines += [f"    {one} = carray(_{one}, 1)[0]" for one in names]
        lines += [f"    {line}" for line in body.splitlines()]
        made: dict[str, Any] = {"carray": vars(numba)["carray"], "np": np}
        exec("\n".join(lines), made)
        functions[callback] = numba.cfunc(millpond.native.signature(callback, state))(made["function"])
    table = millpond.native.law(sender=functions, state=state)
    window = millpond.Parameter(20.0, unit="packets", low=1.0, high=1e6, meaning="the window")
    return type(name, (millpond.Law,), {"name": name, "native": table, "window": window, "__doc__": "A test."})


START = "permit.window_bytes = context.parameters[0] * event.packet_bytes\nreturn 0"


def test_functions_of_numba_run_as_a_law() -> None:
    law = numba_law("numba-fixed", on_start=START)
    (flow,) = network("cubic").run(protocol=law).summary.flows
    assert flow.rtt_ms is not None
    assert flow.rtt_ms.mean == pytest.approx(40.1, abs=0.05)
    assert flow.window_packets is not None
    assert flow.window_packets == pytest.approx(20, rel=1e-3)
    millpond.testing.conformance(law)


def test_states_timers_and_samples_of_numba() -> None:
    start = "state.packet = event.packet_bytes\npermit.window_bytes = 4 * state.packet\npermit.wake_s = 0.05\nreturn 0"
    timer = (
        "state.count += 1\n"
        "permit.window_bytes = state.packet * (1 + np.floor(4 * context.sample))\n"
        "permit.wake_s = context.now_s + 0.05\n"
        "return np.int32(7 if state.count > 100 else 0)"
    )
    law = numba_law("numba-dice", on_start=start, on_timer=timer)
    scenario = network("cubic")
    with pytest.raises(millpond.GuestError, match=r'law "numba-dice", sender on_timer at 5\.0\d* s: returned 7'):
        scenario.run(protocol=law)
    short = scenario.set({"duration": "4s", "measure.from": "1s"})
    one, again, other = (short.run(protocol=law, seed=seed) for seed in (1, 1, 2))
    assert one.summary_json() == again.summary_json()
    assert one.summary.flows[0].goodput_bps != other.summary.flows[0].goodput_bps


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("permit.window_bytes = np.nan\nreturn 0", "sender on_ack at .* s: window_bytes is NaN"),
        ("permit.pace_bps = -1.0\nreturn 0", "sender on_ack at .* s: pace_bps is -1: expected a rate"),
        ("return 3", "sender on_ack at .* s: returned 3"),
    ],
)
def test_failures_of_functions_end_the_run(body: str, message: str) -> None:
    with pytest.raises(millpond.GuestError, match=message):
        network("cubic").run(protocol=numba_law("numba-bad", on_start=START, on_ack=body))


def test_routers_and_receivers_in_c_control_rates(tmp_path: Path) -> None:
    source = tmp_path / "rate.c"
    source.write_text(r"""
#include <math.h>
#include <string.h>
#include "millpond.h"
static int32_t on_start(void *s, const millpond_context *cx, const millpond_start *start, millpond_permit *permit) {
    (void)s; (void)cx; (void)start;
    permit->pace_bps = 1e5;
    return 0;
}
static int32_t on_ack(void *s, const millpond_context *cx, const millpond_ack *ack, millpond_permit *permit) {
    double rate = 0;
    (void)s; (void)cx;
    if (ack->header.length != 8) return 0;
    memcpy(&rate, ack->header.bytes, 8);
    if (rate >= 1 && rate < INFINITY) permit->pace_bps = rate;
    return 0;
}
static int32_t header(void *s, const millpond_context *cx, millpond_header *header) {
    double rate = INFINITY;
    (void)s; (void)cx;
    header->length = 8;
    memcpy(header->bytes, &rate, 8);
    return 0;
}
static int32_t on_arrival(void *s, const millpond_context *cx, millpond_packet *packet, const millpond_queue *queue,
                          uint64_t *verdict) {
    double rate = 0.8 * queue->capacity_bps / cx->parameters[0];
    (void)s; (void)verdict;
    if (packet->header.length == 8 && packet->is_data) memcpy(packet->header.bytes, &rate, 8);
    return 0;
}
static int32_t on_data(void *s, const millpond_context *cx, const millpond_packet *packet, millpond_echo *echo) {
    double rate;
    (void)s; (void)cx; (void)packet;
    if (echo->header.length != 8) return 0;
    memcpy(&rate, echo->header.bytes, 8);
    rate /= 2;
    memcpy(echo->header.bytes, &rate, 8);
    return 0;
}
#define TABLE(type) .version = MILLPOND_VERSION, .struct_bytes = sizeof(type)
static const millpond_sender sender = {TABLE(millpond_sender), .on_start = on_start, .on_ack = on_ack,
                                       .header = header};
static const millpond_link link = {TABLE(millpond_link), .on_arrival = on_arrival};
static const millpond_receiver receiver = {TABLE(millpond_receiver), .on_data = on_data};
const millpond_law millpond_law_table = {TABLE(millpond_law), &sender, &link, &receiver, 0};
""")
    library = compiled(source, tmp_path / "rate.so")

    class Rate(millpond.Law):
        """Routers write a rate, which receivers halve."""

        name = "c-rate"
        has_header = True
        flows = millpond.Parameter(2.0, unit="flows", low=1.0, high=1e6, meaning="number of flows")
        native = millpond.native.load(library)

    assert network("cubic", flows=2).run(protocol=Rate).summary.links[0].utilization == pytest.approx(0.4, rel=2e-3)
    millpond.testing.conformance(Rate)


def test_other_functions_have_another_fingerprint() -> None:
    one, again, other = (
        fingerprint(numba_law("numba-key", on_start=START.replace("parameters[0]", f"parameters[0] * {factor}")))
        for factor in (1.0, 1.0, 2.0)
    )
    assert one == again
    assert one != other


def test_wrong_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(millpond.Error, match=r"none\.so"):
        millpond.native.load(tmp_path / "none.so")
    with pytest.raises(millpond.Error, match="there is no callback on_acknowledgement; there are: on_start"):
        millpond.native.law(sender={"on_acknowledgement": 0})
    old = millpond.native.law(sender={})
    ctypes.cast(old.address, ctypes.POINTER(millpond.native.LawTable)).contents.version = 9
    law = type("Old", (millpond.Law,), {"name": "old-table", "native": old, "__doc__": "A table of another version."})
    with pytest.raises(millpond.Error, match="version 9, expected 1: compile the law with this version"):
        millpond.register(law)
