"""The key of a law covers what its results depend on, and is the same in all processes."""

from __future__ import annotations

import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import Any

import millpond
import pytest
from millpond._fingerprint import fingerprint
from test_guest_laws import network

#: A law in which `test_a_change_of_the_law_changes_its_key` changes one text after the other.
LAW = """
import functools, math, millpond
FACTOR = 2.0
TABLE = {"a": {1, 2, 3}, "b": (1.0, "x")}

def scaled(value, most=10.0):
    return min(value * FACTOR, most)

def kept(gain):
    def inner(value):
        return gain * value
    return inner

grown = kept(3.0)
shifted = functools.partial(pow, 2.0)

class Base(millpond.Sender):
    def on_start(self, start):
        self.window_bytes = 20.0 * start.packet_bytes

class Keyed(millpond.Law):
    "A law."
    name = "keyed"
    ecn = "none"
    window = millpond.Parameter(20.0, unit="packets", low=1.0, meaning="window")

    class Sender(Base):
        GAIN = 0.5

        @property
        def step(self):
            return sum([one for one in (10, 11)])

        def on_ack(self, ack):
            self.window_bytes += self.GAIN * scaled(ack.bytes) + grown(self.step) + shifted(1) + len(TABLE["a"])

    class Fluid(millpond.Fluid):
        def rate(self, x, inputs):
            return 1e6
"""

CHANGES = [
    ("FACTOR = 2.0", "FACTOR = 2"),
    ("{1, 2, 3}", "{1, 2, 4}"),
    ("most=10.0", "most=11.0"),
    ("value * FACTOR", "value + FACTOR"),
    ("kept(3.0)", "kept(4.0)"),
    ("partial(pow, 2.0)", "partial(pow, 3.0)"),
    ("20.0 * start", "30.0 * start"),
    ('ecn = "none"', 'ecn = "ect0"'),
    ('ecn = "none"', "samples = True"),
    ("Parameter(20.0", "Parameter(40.0"),
    ('unit="packets"', 'unit="1"'),
    ("low=1.0", "low=2.0"),
    ("GAIN = 0.5", "GAIN = 0.6"),
    ("(10, 11)", "(10, 12)"),
    ("one for one in", "one + 1 for one in"),
    ("ack.bytes", "ack.packets"),
    ("1e6", "1e7"),
]


def law(text: str, name: str = "laws_of_a_notebook") -> type[millpond.Law]:
    """The law of a text, of which no source is available."""
    module = types.ModuleType(name)
    exec(compile(text, "<cell>", "exec", dont_inherit=True), vars(module))
    found: type[millpond.Law] = module.Keyed
    return found


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_change_of_the_law_changes_its_key(old: str, new: str) -> None:
    assert LAW.count(old) == 1
    assert fingerprint(law(LAW)) == fingerprint(law(LAW))
    assert fingerprint(law(LAW)) != fingerprint(law(LAW.replace(old, new)))


def test_what_the_law_does_not_use_changes_nothing() -> None:
    assert fingerprint(law(LAW)) == fingerprint(law(LAW + "\nOTHER = object()\n# A comment.\n"))


def test_a_key_is_the_same_in_every_process() -> None:
    program = f"import types\n{LAW}\nfrom millpond._fingerprint import fingerprint\nprint(fingerprint(Keyed))"
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert found == {fingerprint(law(LAW, "__main__")) + "\n"}


def made(gain: float, helper: object = None) -> type[millpond.Law]:
    class Made(millpond.Law):
        """A law of a factory."""

        name = "made"

        class Sender(millpond.Sender):
            def on_start(self, start: millpond.events.Start) -> None:
                self.window_bytes = gain * start.packet_bytes
                self.helper = helper

    return Made


def test_a_value_of_a_closure_is_a_part_of_the_key() -> None:
    assert fingerprint(made(10.0)) == fingerprint(made(10.0))
    assert fingerprint(made(10.0)) != fingerprint(made(40.0))


def test_objects_count_by_their_state() -> None:
    np = pytest.importorskip("numpy")
    assert fingerprint(made(1.0, np.arange(3))) == fingerprint(made(1.0, np.arange(3)))
    assert fingerprint(made(1.0, np.arange(3))) != fingerprint(made(1.0, np.arange(4)))
    assert fingerprint(made(1.0, types.SimpleNamespace(a=1))) != fingerprint(made(1.0, types.SimpleNamespace(a=2)))


def test_functions_of_modules_of_ones_own_are_a_part_of_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    for number, factor in enumerate((2, 2, 3)):
        folder = tmp_path / f"helper{number}"
        folder.mkdir()
        (folder / "__init__.py").write_text(f"def scale(value):\n    return {factor} * value\n")
        text = f"import helper{number} as helper\n" + LAW.replace("scaled(ack.bytes)", "helper.scale(ack.bytes)")
        keyed = law(text)
        vars(sys.modules[f"helper{number}"])["__name__"] = "helper"
        monkeypatch.setitem(sys.modules, "helper", sys.modules[f"helper{number}"])
        found.append(fingerprint(keyed))
    assert found[0] == found[1] != found[2]


def test_a_law_with_a_state_that_cannot_be_read_is_refused_by_sweeps(tmp_path: Path) -> None:
    locked: Any = made(10.0, threading.Lock())
    with pytest.raises(millpond.Error, match=r'the law "made" uses .*on_start\.helper, whose state cannot be read'):
        millpond.sweep(network("cubic"), {"links.L.rate": ["5Mbps"]}, out=tmp_path / "out", protocols=[locked])
    assert not (tmp_path / "out").exists()


def test_compiled_functions_of_unknown_code_are_refused_by_sweeps() -> None:
    table = millpond.native.law(sender={"on_start": 4096})
    unknown: Any = type("Unknown", (millpond.Law,), {"name": "unknown", "native": table})
    with pytest.raises(millpond.Error, match="whose state cannot be read"):
        fingerprint(unknown)
