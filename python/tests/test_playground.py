"""The notebook that the playground exports runs, and has the numbers of the command."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import nbformat
import pytest
from conftest import ROOT, Command
from nbclient import NotebookClient

OVERRIDES = {"links.far.delay": "170ms", "duration": "12s", "measure.from": "4s"}


@pytest.fixture
def server(command: Command, tmp_path: Path) -> Iterator[str]:
    """The address that `millpond serve` prints."""
    assert command("--version").returncode == 0
    with subprocess.Popen([os.environ["MILLPOND"], "serve", tmp_path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def exported(server: str, text: str) -> str:
    """The notebook of a scenario with its changes, as the button of the page requests it."""
    address = urlsplit(server)
    overrides = [f"{key}={value}" for key, value in OVERRIDES.items()]
    request = Request(
        f"http://{address.netloc}/api/notebook",
        data=json.dumps({"text": text, "overrides": overrides}).encode(),
        headers={"x-millpond-token": parse_qs(address.query)["token"][0]},
    )
    with urlopen(request, timeout=30) as answer:
        return str(answer.read().decode())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_notebook_of_the_playground_runs(command: Command, server: str, tmp_path: Path) -> None:
    lesson = (ROOT / "crates/playground/assets/lessons/why-a-delay-oscillates.toml").read_text()
    notebook = nbformat.reads(exported(server, lesson), as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    notebook.cells.append(nbformat.v4.new_code_cell("print(packets.summary.queueing_ms.mean)"))  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=100, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    # Rates, queue and delay in packets, rates and queue in equations, and the Nyquist locus.
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 6
    printed = "".join(output.get("text", "") for output in outputs)
    assert "stable" in printed
    (tmp_path / "lesson.toml").write_text(lesson)
    changes = [part for key, value in OVERRIDES.items() for part in ("--set", f"{key}={value}")]
    run = json.loads(command("run", tmp_path / "lesson.toml", *changes, "--json").stdout)
    assert printed.split()[-1] == str(run["queueing_ms"]["mean"])
