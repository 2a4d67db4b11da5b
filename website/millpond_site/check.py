"""Checks the links of the finished site."""

from __future__ import annotations

import posixpath
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Folders whose pages other programs write and check: rustdoc, and the reports of the command.
ELSEWHERE = ("rust/", "recipes/figures/")


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        #: The addresses of pictures without a text that describes them.
        self.without_text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Notes the links and anchors of a tag, and a picture without a text."""
        if tag == "img" and not dict(attributes).get("alt"):
            self.without_text.append(dict(attributes).get("src") or "")
        for key, value in attributes:
            if value is None:
                continue
            if key in {"href", "src"}:
                self.links.append(value)
            if key == "id" or (tag == "a" and key == "name"):
                self.anchors.add(value)


def faults(html: Path) -> list[str]:
    """A line for each link whose file or anchor does not exist, and for each picture without a text."""

    @cache
    def page(name: str) -> Page:
        return Page((html / name).read_text())

    found = []
    for name in sorted(file.relative_to(html).as_posix() for file in html.glob("**/*.html")):
        if name.startswith(ELSEWHERE):
            continue
        found += [f"{name}: the picture {picture} has no text" for picture in page(name).without_text]
        for link in page(name).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (
                posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path))) if parts.path else name
            )
            if not (html / target).exists():
                found.append(f"{name}: the link {link} names no file")
            elif parts.fragment and target.endswith(".html") and unquote(parts.fragment) not in page(target).anchors:
                found.append(f"{name}: the link {link} names no anchor of {target}")
    return found
