"""Checks the links between Markdown files of the repository: each names a file, and a heading that the file has.

Needs Python alone, so that a wrong link is reported before anything is built: `python3 -m millpond_site.anchors`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from .contents import ROOT
from .links import GENERATED, LINK, outside_code

HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
#: An anchor that a page sets itself: `<a id="...">`, or `{#...}` after a heading.
EXPLICIT = re.compile(r"""\bid="([^"]+)"|\{#([^}\s]+)\}""")


def anchor(heading: str) -> str:
    """The anchor that GitHub and the site give a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


@cache
def anchors(file: Path) -> frozenset[str]:
    """The anchors of a Markdown file; a heading that repeats another has a number."""
    text = re.sub(r"^(`{3,}|~{3,}).*?^\1[ \t]*$", "", file.read_text(), flags=re.DOTALL | re.MULTILINE)
    found: set[str] = set()
    for heading in HEADING.findall(text):
        name = first = anchor(heading)
        number = 0
        while name in found:
            number += 1
            name = f"{first}-{number}"
        found.add(name)
    return frozenset(found | {name for pair in EXPLICIT.findall(text) for name in pair if name})


def fault(file: Path, target: str) -> str | None:
    """What is wrong with a link of this file, or nothing."""
    path, _, named = target.partition("#")
    if "://" in target or target.startswith(("mailto:", GENERATED)):
        return None
    linked = Path(os.path.normpath(file.parent / path)) if path else file
    if not linked.exists():
        return f"{file.relative_to(ROOT)}: the link {target} names no file"
    if named and linked.suffix == ".md" and named not in anchors(linked):
        return f"{file.relative_to(ROOT)}: the link {target} names no heading of {linked.relative_to(ROOT)}"
    return None


def faults(file: Path) -> list[str]:
    """A line for each wrong link of a Markdown file."""
    targets: list[str] = []

    def note(prose: str) -> str:
        targets.extend(link[2] for link in LINK.finditer(prose))
        return prose

    outside_code(file.read_text(), note)
    return [line for target in targets if (line := fault(file, target))]


def main() -> None:
    """Checks every Markdown file that git knows."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    found = [line for name in listed.stdout.splitlines() for line in faults(ROOT / name)]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
