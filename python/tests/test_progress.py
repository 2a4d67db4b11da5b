"""A line shows the progress of long work: in terminals and notebooks, and nowhere else."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import nbformat
import pytest
from conftest import SCENARIO
from nbclient import NotebookClient

#: A run of some seconds, during which a line is shown.
CHILD = f"""
import millpond
scenario = millpond.Scenario.parse('''{SCENARIO}''').set("duration", "100000s")
begin = None
def enough(share):
    global begin
    import time
    begin = begin or time.monotonic()
    if time.monotonic() - begin > 1.5:
        raise KeyboardInterrupt
show = millpond._progress.Line.show
def limited(line, share):
    show(line, share)
    enough(share)
millpond._progress.Line.show = limited
try:
    scenario.run()
except KeyboardInterrupt:
    print("ended")
"""

#: The title, the bar, the share that is done, the elapsed time and an estimate.
LINE = re.compile(r"\rTwo downloads ━* +\d+ % \d+ s, \d+ s left")


def shown_in_a_terminal() -> str:
    """What a terminal receives from standard error."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, stderr=theirs, text=True)
    os.close(theirs)
    out, _ = child.communicate(timeout=60)
    assert out == "ended\n"
    text = os.read(ours, 1 << 20).decode()
    os.close(ours)
    return text


def test_a_terminal_shows_a_line_that_is_removed_at_the_end() -> None:
    text = shown_in_a_terminal()
    assert LINE.match(text), text
    assert re.search(r"\r +\r$", text), text


def test_a_pipe_shows_none() -> None:
    child = subprocess.run(
        [sys.executable, "-c", CHILD.replace("scenario.run()", "scenario.set('duration', '2000s').run()")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert child.stderr == ""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_notebook_shows_a_line() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CHILD)])  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=60).execute()
    text = "".join(output.text for output in notebook.cells[0].outputs if output.get("name") == "stderr")
    assert LINE.match(text), text
