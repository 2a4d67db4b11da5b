"""Pictures of recipes: the first plot of each recipe, from the page of figures of its paper, as SVG files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

from .contents import ROOT

#: The size of a picture, and the margins around its plot, in its own units.
WIDTH, HEIGHT = 340, 200
LEFT, RIGHT, TOP, BOTTOM = 48, 14, 30, 42
#: The width of a plane over its height; a circle in it is round.
PLANE = 690 / 480
#: More names in a plot would cover each other.
MOST_NAMES = 6
#: The longest title of the horizontal axis, in characters.
LONGEST_TITLE = 48
SCHEMES = ("light", "dark")

#: The parts of the style sheet of charts that a plot needs, by the beginning of their first comments.
STYLED = ("Charts:", "Colours", "Plots")
#: The rules that plots need of the style sheets of reports, by the beginning of their lines.
DRAWN = r"\.paper-|\.curves |\.throughput|\.relays|\.start|\.empty-queue|\.cell"


@dataclass(frozen=True)
class Picture:
    """The first plot of a recipe."""

    #: For each colour scheme the text of an SVG file.
    files: dict[str, str]
    #: What the plot shows, in words.
    label: str


@dataclass(frozen=True)
class Shown:
    """What the page of figures shows of a recipe."""

    #: How many of its claims hold.
    verdict: str
    #: None if the recipe has tables only.
    picture: Picture | None


def style() -> str:
    """The rules that plots need, from the style sheets of charts and of reports."""
    charts = (ROOT / "crates/chart/src/chart.css").read_text().split("\n@media (max-width")[0]
    parts = [part for part in re.split(r"(?m)^(?=/\* )", charts) if part[3:].startswith(STYLED)]
    if len(parts) != len(STYLED):
        raise ValueError(f"crates/chart/src/chart.css: expected the sections {', '.join(STYLED)}")
    reports = "".join((ROOT / f"crates/report/src/{name}.css").read_text() for name in ("figures", "page"))
    text = "".join(parts) + "".join(re.findall(rf"(?m)^(?:{DRAWN}).*\n", reports))
    return re.sub(r"/\*.*?\*/|@media print \{.*?\}\s*\}|\s+", " ", text, flags=re.DOTALL)


def element(text: str, begin: int, tag: str) -> str:
    """The element of this tag that begins at a place of the text."""
    depth = 0
    for found in re.finditer(rf"<{tag}\b|</{tag}>", text[begin:]):
        depth += 1 if found.group().startswith(f"<{tag}") else -1
        if depth == 0:
            return text[begin : begin + found.end()]
    raise ValueError(f"an element {tag} without an end")


def with_axis(plot: str, figure: str) -> str:
    """The plot, with the labels of the horizontal axis that the last panel of its figure has for all panels."""
    pattern = r'(<g class="ticks-x">.*?</g><text class="axis-title"[^>]*>)(.*?)</text>'
    axes = re.findall(pattern, figure, flags=re.DOTALL)
    if not axes:
        return plot
    ticks, title = axes[-1]
    title = without_scale(title)
    title = title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"
    return re.sub(pattern, lambda _: f"{ticks}{title}</text>", plot, flags=re.DOTALL)


def without_scale(text: str) -> str:
    """The title of an axis without its kind of scale, unless that is logarithmic."""
    return re.sub(r"(, )?linear scale$", "", text)


def quantity(panel: str) -> str:
    """What the vertical axis shows, with its unit, as markup."""
    found = re.search(r'<span class="quantity">([^<]*)(?:<span class="unit">([^<]*)</span>)?', panel)
    parts = [without_scale(part) for part in found.groups() if part] if found else []
    return ", ".join(part for part in parts if part)


def drawn(section: str, definitions: str, rules: str) -> Picture | None:
    """The picture of a recipe; `definitions` are the shapes that plots use."""
    begin = section.find('<svg class="plot')
    if begin < 0:
        return None
    start = section.rfind("<figure", 0, begin)
    head, body = element(section, begin, "svg").split(">", 1)
    inner = re.sub(r' (?:data-[a-z]+|tabindex)="[^"]*"', "", with_axis(body, element(section, start, "figure")))
    if len(re.findall('class="name', inner)) > MOST_NAMES:
        inner = re.sub(r'<text class="name[^>]*>[^<]*</text>', "", inner)
    label = attribute(head, "aria-label")
    content = f"{heading(quantity(section[start:]))}{placed(attribute(head, 'class'))}{inner}"
    used = shapes(inner, definitions)
    return Picture({scheme: file(content, label, scheme, rules, used) for scheme in SCHEMES}, label)


def attribute(tag: str, name: str) -> str:
    """The value of an attribute of a tag."""
    found = re.search(rf'{name}="([^"]*)"', tag)
    return unescape(found[1]) if found else ""


def shapes(plot: str, definitions: str) -> str:
    """The definitions of shapes that a plot uses."""
    used = set(re.findall(r"#([\w-]+)", plot))
    known = re.findall(r"<(?:g|pattern) id=.*?</(?:g|pattern)>", definitions)
    return "".join(part for part in known if attribute(part, "id") in used)


def heading(text: str) -> str:
    """What the vertical axis shows, above the plot."""
    return f'<g class="plot"><text x="6" y="16" style="fill: var(--ink)">{text}</text></g>'


def placed(classes: str) -> str:
    """The tag of a plot of these classes, between the margins."""
    height = HEIGHT - TOP - BOTTOM
    width = height * PLANE if "plane" in classes else WIDTH - LEFT - RIGHT
    return f'<svg class="{classes}" x="{LEFT}" y="{TOP}" width="{width:.0f}" height="{height}">'


def file(content: str, label: str, scheme: str, rules: str, definitions: str) -> str:
    """The text of an SVG file in one colour scheme."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
        f"<title>{escape(label)}</title><style>{rules}:root {{ color-scheme: {scheme}; font-family: sans-serif }} "
        f"svg.plot {{ width: auto; margin: 0 }}</style><defs>{definitions}</defs>"
        f'<rect width="100%" height="100%" fill="var(--paper)"/>{content}</svg>\n'
    )


def of_page(text: str) -> dict[str, Shown]:
    """What the page of figures of a paper shows of each recipe, by its name."""
    rules = style()
    definitions = element(text, text.index('<svg class="definitions"'), "svg")
    shown = {}
    for section in re.split(r'(?=<section class="recipe )', text)[1:]:
        verdict = re.search(r'<span class="summary">([^<]*)</span></h2>', section)
        name = attribute(section.split(">", 1)[0], "id")
        shown[name] = Shown(verdict[1] if verdict else "", drawn(section, definitions, rules))
    return shown


def write(shown: dict[str, Shown], folder: Path) -> int:
    """Writes the pictures into a folder, as `lgcc/fig12-light.svg`. Returns the bytes of those in one colour scheme."""
    files = {name: one.picture.files for name, one in shown.items() if one.picture}
    for name, by_scheme in files.items():
        for scheme, text in by_scheme.items():
            path = folder / f"{name}-{scheme}.svg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return sum(len(by_scheme[SCHEMES[0]].encode()) for by_scheme in files.values())
