"""Pages that show files and folders of the repository."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from .contents import ROOT
from .links import relative

#: Larger files are named, not shown.
LARGEST = 100_000

LANGUAGES = {
    ".c": "c",
    ".csv": "text",
    ".h": "c",
    ".py": "python",
    ".rs": "rust",
    ".sh": "bash",
    ".toml": "toml",
}


def tracked(path: str) -> list[str]:
    """The files of the repository below this path, in order."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--", path], check=True, capture_output=True, text=True
    )
    return sorted(name for name in listed.stdout.split("\0") if name)


def fenced(text: str, language: str) -> str:
    """The text as a block of code, with a fence that does not occur in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def file_page(path: str) -> str:
    """A page with the text of a file."""
    content = (ROOT / path).read_bytes()
    try:
        text = content.decode() if len(content) <= LARGEST else None
    except UnicodeDecodeError:
        text = None
    if text is None:
        return f"---\norphan: true\n---\n\n# {path}\n\nThis file has {len(content)} bytes and is not shown here.\n"
    return f"---\norphan: true\n---\n\n# {path}\n\n{fenced(text, LANGUAGES.get(Path(path).suffix, 'text'))}"


def show(path: str, pages: dict[str, str]) -> dict[str, str]:
    """The pages, by name, that show this file or all files of this folder."""
    if (ROOT / path).is_file():
        return {f"source/{path}": file_page(path)}
    name = f"source/{path}"
    made, lines = {}, []
    for file in tracked(path):
        if file in pages:
            lines.append(f"- [{file}]({relative(name, pages[file])}.md)")
        else:
            made[f"source/{file}"] = file_page(file)
            lines.append(f"- [{file}]({relative(name, f'source/{file}')}.md)")
    made[name] = f"---\norphan: true\n---\n\n# {path}\n\n" + "\n".join(lines) + "\n"
    return made
