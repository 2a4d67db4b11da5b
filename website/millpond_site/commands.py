"""The reference of the command: a page for each command, from its help."""

from __future__ import annotations

import re

from .command import Command
from .sources import fenced

#: A line of the list of commands: its name, then what it does.
LISTED = re.compile(r"^  ([a-z-]+)  +(\S.*)$", re.MULTILINE)


def listed(text: str) -> list[str]:
    """The commands in the section `Commands:` of a help text; none if it has no such section."""
    section = re.search(r"^Commands:\n(.*?)\n\n", text, re.DOTALL | re.MULTILINE)
    names = (name for name, _ in LISTED.findall(section[1])) if section else ()
    return [name for name in names if name != "help"]


def pages(command: Command) -> dict[str, str]:
    """A page for each command, and the page that lists them."""
    overview = command.text("--help")
    made = {}
    for name in listed(overview):
        text = command.text(name, "--help")
        parts = [f"# millpond {name}\n", fenced(text, "text")]
        for below in listed(text):
            parts += [f"## millpond {name} {below}\n", fenced(command.text(name, below, "--help"), "text")]
        made[f"reference/commands/{name}"] = "\n".join(parts)
    names = "\n".join(name for name in listed(overview))
    made["reference/commands/index"] = (
        f"# The command\n\n{fenced(overview, 'text')}\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n"
    )
    return made
