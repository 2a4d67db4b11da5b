"""Evaluations have the document, the tables and the page of the command, for laws in Python as well."""

from __future__ import annotations

import html
import json
from pathlib import Path

import millpond
import pytest
from conftest import Command
from guest_laws import Reno

#: The shortest runs: thirty-two answers that arrive together.
SECTIONS = ["7.11"]


def test_an_evaluation_is_that_of_the_command(command: Command, tmp_path: Path) -> None:
    found = millpond.evaluate("newreno", suites=["bcp133"], sections=SECTIONS)
    done = command("evaluate", "newreno", "--suite", "bcp133", "--section", *SECTIONS, "--json")
    assert json.loads(found.to_json()) == json.loads(done.stdout)
    found.save_page(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Evaluation of newreno" in page
    call = html.escape('millpond.evaluate("newreno", suites=["bcp133"], sections=["7.11"])')
    assert f"<code>{call}</code>" in page
    assert repr(found) == "<Evaluations: newreno>"


def test_a_law_in_python_has_the_evidence_of_the_same_law_in_rust() -> None:
    both = millpond.evaluate(Reno, "newreno", suites=["bcp133"], sections=SECTIONS).result.evaluations
    assert [one.name for one in both] == ["guest-reno", "newreno"]
    guest, built_in = (one.suites[0].criteria[0] for one in both)
    assert guest.verdict == built_in.verdict == "met"
    assert [row.measured for row in guest.evidence] == [row.measured for row in built_in.evidence]


def test_unknown_names_and_suites_of_another_kind_are_refused() -> None:
    with pytest.raises(millpond.Error, match="did you mean"):
        millpond.evaluate("cubik")
    with pytest.raises(millpond.Error, match="evaluates queues, and cubic is a protocol"):
        millpond.evaluate("cubic", suites=["aqm"])
    with pytest.raises(TypeError, match="at least one"):
        millpond.evaluate()
