"""The gallery of recipes: a page for each paper, beside the page of figures that `millpond papers check` writes."""

from __future__ import annotations

import shutil
import tomllib
from html import escape
from pathlib import Path

from . import pictures
from .cards import shifted
from .command import Command
from .contents import ROOT, paper_folders
from .links import Links
from .pictures import HEIGHT, SCHEMES, WIDTH, Shown

#: The most bytes of the pictures of a page in one colour scheme. They are loaded when they come into view.
HEAVIEST_PICTURES = 600_000


def drawing(name: str, shown: Shown) -> str:
    """The picture of a recipe for both colour schemes, of which the browser loads one; empty if it has none."""
    if not shown.picture:
        return ""
    label = escape(shown.picture.label)
    size = f'width="{WIDTH}" height="{HEIGHT}" loading="lazy"'
    return "".join(
        f'<img class="only-{scheme}" src="figures/pictures/{name}-{scheme}.svg" alt="{label}" {size}>'
        for scheme in SCHEMES
    )


def card(recipe: dict[str, str], shown: Shown | None) -> str:
    """A recipe in the gallery: its picture, its place in the paper, its title, and how many claims hold.

    A short check has left it out if there is nothing to show.
    """
    name = recipe["recipe"]
    if shown is None:
        place = f'{name} <span class="place">{escape(recipe["place"])}</span>'
        return f'<li>{place}<p>{escape(recipe["title"])}</p><p class="verdict">not in this short check</p></li>'
    address = f"figures/{name.split('/')[0]}.html#{name}"
    picture = drawing(name, shown)
    linked = f'<a href="{address}">{picture}</a>' if picture else ""
    return (
        f'<li>{linked}<a href="{address}">{name}</a> <span class="place">{escape(recipe["place"])}</span>'
        f'<p>{escape(recipe["title"])}</p><p class="verdict">{shown.verdict}</p></li>'
    )


def cover(folder: Path, recipes: list[dict[str, str]], shown: dict[str, Shown]) -> str:
    """A paper in the list of papers, with the picture of its first recipe that has one."""
    name = folder.name
    title = tomllib.loads((ROOT / folder / "paper.toml").read_text())["title"]
    drawn = [one["recipe"] for one in recipes if one["recipe"] in shown and shown[one["recipe"]].picture]
    picture = drawing(drawn[0], shown[drawn[0]]) if drawn else ""
    count = "1 recipe" if len(recipes) == 1 else f"{len(recipes)} recipes"
    link = f'<a href="{name}.html">'
    return f'<li>{link}{picture}</a>{link}{escape(title)}</a><p class="verdict">{count}</p></li>'


def listed(cards: list[str]) -> str:
    """The list of cards as markup of a page."""
    return '<ul class="gallery">\n' + "\n".join(cards) + "\n</ul>\n"


def page(folder: Path, recipes: list[dict[str, str]], shown: dict[str, Shown], links: Links) -> str:
    """The page of a paper: its source, the gallery of its recipes, and its README unless that is a page of its own."""
    described = tomllib.loads((ROOT / folder / "paper.toml").read_text())
    name, readme = folder.name, f"{folder}/README.md"
    parts = [
        f"# {described['title']}\n\n{described['source']}\n",
        f'<p><a href="figures/{name}.html">Figures, values, verdicts and reasons of all recipes</a></p>\n',
        listed([card(recipe, shown.get(recipe["recipe"])) for recipe in recipes]),
    ]
    if links.pages[readme] == f"recipes/{name}" and (ROOT / readme).is_file():
        parts.append(shifted(links.rewrite((ROOT / readme).read_text(), readme, f"recipes/{name}")))
    return "\n".join(parts)


def pages(command: Command, links: Links, made_by_check: Path, figures: Path) -> dict[str, str]:
    """The pages of all papers and the page that lists them.

    Copies the page of figures of each paper from the folder `made_by_check` into the folder `figures`, and writes the
    pictures of its recipes there.
    """
    figures.mkdir(parents=True, exist_ok=True)
    all_recipes = command.json("papers", "list")
    made, covers = {}, []
    for folder in paper_folders():
        name = folder.name
        recipes = [recipe for recipe in all_recipes if recipe["recipe"].startswith(f"{name}/")]
        shutil.copy(made_by_check / f"{name}.html", figures)
        shown = pictures.of_page((made_by_check / f"{name}.html").read_text())
        weight = pictures.write(shown, figures / "pictures")
        if weight > HEAVIEST_PICTURES:
            raise ValueError(f"recipes/{name}: its pictures have {weight} bytes, more than {HEAVIEST_PICTURES}")
        made[f"recipes/{name}"] = page(folder, recipes, shown, links)
        covers.append(cover(folder, recipes, shown))
    names = "\n".join(folder.name for folder in paper_folders())
    made["recipes/index"] = (
        "# Recipes\n\n"
        "Each figure, table and theorem of the papers is a recipe: a scenario, the paper's value, the measured value "
        "and a verdict. "
        "[How claims are judged](../theory/claims.md) has the rules.\n\n"
        + listed(covers)
        + f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )
    return made
