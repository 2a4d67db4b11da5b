"""The gallery of recipes: a page for each paper, beside the page of figures that `millpond papers check` writes."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

from .cards import cell, shifted
from .command import Command
from .contents import ROOT, paper_folders
from .links import Links


def page(folder: Path, recipes: list[dict[str, str]], links: Links) -> str:
    """The page of a paper: its source, the list of its recipes, and its README unless that is a page of its own."""
    described = tomllib.loads((ROOT / folder / "paper.toml").read_text())
    name, readme = folder.name, f"{folder}/README.md"
    rows = ["| recipe | place | title |", "|---|---|---|"]
    for recipe in recipes:
        link = f'<a href="figures/{name}.html#{recipe["recipe"]}">{recipe["recipe"]}</a>'
        rows.append(f"| {link} | {cell(recipe['place'])} | {cell(recipe['title'])} |")
    parts = [
        f"# {described['title']}\n\n{described['source']}\n",
        f'<p><a href="figures/{name}.html">Figures, values, verdicts and reasons of all recipes</a></p>\n',
        "\n".join(rows) + "\n",
    ]
    if links.pages[readme] == f"recipes/{name}" and (ROOT / readme).is_file():
        parts.append(shifted(links.rewrite((ROOT / readme).read_text(), readme, f"recipes/{name}")))
    return "\n".join(parts)


def pages(command: Command, links: Links, made_by_check: Path, figures: Path) -> dict[str, str]:
    """The pages of all papers and the page that lists them.

    Copies the page of figures of each paper from the folder `made_by_check` into the folder `figures`.
    """
    figures.mkdir(parents=True, exist_ok=True)
    listed = command.json("papers", "list")
    made, rows = {}, ["| paper | recipes |", "|---|---|"]
    for folder in paper_folders():
        name = folder.name
        recipes = [recipe for recipe in listed if recipe["recipe"].startswith(f"{name}/")]
        shutil.copy(made_by_check / f"{name}.html", figures)
        made[f"recipes/{name}"] = page(folder, recipes, links)
        title = tomllib.loads((ROOT / folder / "paper.toml").read_text())["title"]
        rows.append(f"| [{cell(title)}]({name}.md) | {len(recipes)} |")
    names = "\n".join(folder.name for folder in paper_folders())
    made["recipes/index"] = (
        "# Recipes\n\n"
        "Each figure, table and theorem of the papers is a recipe: a scenario, the paper's value, the measured value "
        "and a verdict. "
        "[How claims are judged](../theory/claims.md) has the rules.\n\n"
        + "\n".join(rows)
        + f"\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )
    return made
