"""The notebooks run from beginning to end and show what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient

#: Executed by tests/cluster.sh, in an environment with Dask.
ON_A_CLUSTER = ["a-cluster-sweep"]
NOTEBOOKS = sorted(path for path in (ROOT / "examples/notebooks").glob("*.ipynb") if path.stem not in ON_A_CLUSTER)

#: They show no single run.
WITHOUT_RUN = ["a-figure-from-810-runs"]

#: What the printed text of each notebook contains.
PRINTED = {
    "first-steps": ["oscillates above RTT 643.5 ms", 'did you mean "50Mbps"'],
    "a-figure-from-810-runs": ["810 runs, 0 without results", "the same means: True"],
    "a-law-of-ones-own": [
        "queueing delay of patient tortoises",
        'law "broken", sender on_ack at',
        "window_bytes is NaN: expected a number of bytes",
        "stable; oscillates above RTT",
    ],
}


def is_chart(data: dict[str, Any]) -> bool:
    """Whether an output is a chart of Vega-Lite, in the form of one of the renderers of Altair."""
    return any("vegalite" in kind for kind in data) or "vega-embed" in data.get("text/html", "")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": ROOT / "examples/notebooks"}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output.data for output in outputs if "data" in output]
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert sum("image/png" in data for data in shown) == sum(
        ".plot." in source or "plt.subplots(" in source for source in code
    )
    assert sum(is_chart(data) for data in shown) == sum(".chart." in source for source in code)
    tables = [data["text/html"] for data in shown if "text/html" in data]
    assert any("data:image/svg+xml;base64," in html for html in tables) == (path.stem not in WITHOUT_RUN)
    text = "".join(output.get("text", "") for output in outputs)
    for expected in PRINTED[path.stem]:
        assert expected in text
