"""A page for each protocol and each queue: parameters, README and errata."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .command import Command
from .contents import ROOT, protocol_folders, queue_folders
from .links import Links

PROTOCOLS = "Each page has the idea, the equations, the parameters and the deviations from the source."
QUEUES = (
    "Queues and shapers of links, for every protocol. [Scenario files](../reference/scenario.md) describe all keys."
)


def cell(text: str) -> str:
    """The text as a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ") or " "


def parameter_table(parameters: list[dict[str, str]]) -> str:
    """The table of parameters, or a sentence if there are none."""
    if not parameters:
        return "It has no parameters.\n"
    rows = ["| parameter | default | unit | values | meaning | source |", "|---|---|---|---|---|---|"]
    for parameter in parameters:
        name, default = (f"`{parameter[key]}`" for key in ("name", "default"))
        rest = (cell(parameter[key]) for key in ("unit", "domain", "meaning", "source"))
        rows.append("| " + " | ".join((name, default, *rest)) + " |")
    return "\n".join(rows) + "\n"


def shifted(text: str) -> str:
    """The text with every heading a level lower, outside of blocks of code."""
    lines, is_code = [], False
    for line in text.splitlines():
        is_code ^= line.lstrip().startswith("```")
        lines.append(f"#{line}" if line.startswith("#") and not is_code else line)
    return "\n".join(lines) + "\n"


def page(described: list[dict[str, Any]], folder: Path, name: str, links: Links) -> str:
    """The page of the laws of a folder: its README, the parameters of each law, and its errata."""
    readme = f"{folder}/README.md"
    parts = [links.rewrite((ROOT / readme).read_text(), readme, name)]
    for law in described:
        title = "Parameters" if len(described) == 1 else f"Parameters of `{law['name']}`"
        parts.append(f"## {title}\n\n{parameter_table(law['parameters'])}")
    errata = f"{folder}/ERRATA.md"
    if (ROOT / errata).is_file():
        parts.append(shifted(links.rewrite((ROOT / errata).read_text(), errata, name)))
    return "\n".join(parts)


def folder_of(law: str, folders: list[Path]) -> Path | None:
    """The folder of the law with this name: `timely-patched` is in `timely`, `fq-codel` in `fq_codel`."""
    name = law.replace("-", "_")
    found = [folder for folder in folders if name == folder.name or name.startswith(f"{folder.name}_")]
    return max(found, key=lambda folder: len(folder.name), default=None)


def index(title: str, about: str, laws: list[dict[str, Any]], folders: list[Path]) -> str:
    """The page that lists the laws."""
    rows = ["| name | title | source |", "|---|---|---|"]
    for law in laws:
        folder = folder_of(law["name"], folders)
        name = f"[{law['name']}]({folder.name}.md)" if folder else f"`{law['name']}`"
        rows.append(f"| {name} | {cell(law['title'])} | {cell(law['source'])} |")
    names = "\n".join(folder.name for folder in folders)
    return f"# {title}\n\n{about}\n\n" + "\n".join(rows) + f"\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def pages(command: Command, links: Links) -> dict[str, str]:
    """The pages of all protocols and queues, by name."""
    described = command.json("protocols")
    made = {}
    for kind, title, about, folders in (
        ("protocols", "Protocols", PROTOCOLS, protocol_folders()),
        ("queues", "Queues", QUEUES, queue_folders()),
    ):
        laws = described[kind]
        made[f"{kind}/index"] = index(title, about, laws, folders)
        for folder in folders:
            own = [law for law in laws if folder_of(law["name"], folders) == folder]
            name = f"{kind}/{folder.name}"
            made[name] = page(own, folder, name, links)
    return made
