"""Rewrites the links of a page for its place on the site."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable
from pathlib import Path

from .contents import ROOT

#: A link or picture of Markdown without a title: `[text](target)`.
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
#: The scheme of links to pages that no file of the repository holds, such as `site:protocols/index`.
GENERATED = "site:"
#: A fenced block of code, or code within a line: links inside are text.
CODE = re.compile(
    r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)[ \t]*$|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)", re.DOTALL | re.MULTILINE
)


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with `change` applied to all that is not code."""
    parts, end = [], 0
    for code in CODE.finditer(text):
        parts += [change(text[end : code.start()]), code.group(0)]
        end = code.end()
    return "".join([*parts, change(text[end:])])


def relative(page: str, target: str) -> str:
    """The path from one page of the site to another file of the site."""
    return posixpath.relpath(target, posixpath.dirname(page) or ".")


class Links:
    """The links of all pages: which files are pages, and which need a page that shows them."""

    def __init__(self, pages: dict[str, str]) -> None:
        self.pages = pages
        #: Files and folders that a link names and that are no pages, in the order of their links.
        self.shown: dict[str, str] = {}
        #: Pictures that pages name.
        self.pictures: set[str] = set()

    def rewrite(self, text: str, file: str, page: str) -> str:
        """The text of a file of the repository, as this page of the site."""

        def rewritten(link: re.Match[str]) -> str:
            return link[1] + self._target(link[2], file, page) + link[3]

        return outside_code(text, lambda prose: LINK.sub(rewritten, prose))

    def _target(self, target: str, file: str, page: str) -> str:
        if target.startswith(GENERATED):
            return relative(page, f"{target.removeprefix(GENERATED)}.md")
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:") or not path:
            return target
        named = os.path.normpath(posixpath.join(posixpath.dirname(file), path))
        if not (ROOT / named).exists():
            raise ValueError(f"{file}: the link {target} names no file of the repository")
        if Path(named).suffix in {".png", ".svg"}:
            self.pictures.add(named)
            return relative(page, named)
        readme = posixpath.join(named, "README.md")
        known = self.pages.get(named) or self.pages.get(readme)
        if known is None:
            known = self.shown.setdefault(named, f"source/{named}")
        return relative(page, f"{known}.md") + (f"#{anchor}" if anchor else "")
