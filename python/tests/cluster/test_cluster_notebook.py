"""The notebook about a sweep on Dask runs from beginning to end and shows what it says."""

from __future__ import annotations

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient
from test_notebooks import ON_A_CLUSTER


@pytest.mark.parametrize("name", ON_A_CLUSTER)
def test_a_notebook_runs(name: str) -> None:
    folder = ROOT / "examples/notebooks"
    notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    text = "".join(output.get("text", "") for output in outputs)
    assert "100Mbps" in text
    for file in ["runs.parquet", "groups.parquet", "report.html"]:
        assert f"{file} True" in text
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 1
