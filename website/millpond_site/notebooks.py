"""Notebooks as pages."""

from __future__ import annotations

import json

from .sources import fenced


def page(text: str) -> str:
    """The cells of a notebook as Markdown. Outputs are not shown: the notebooks are kept without them."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(fenced(source, "python") if cell["cell_type"] == "code" else source + "\n")
    return "\n".join(parts)
