"""Builds the site: writes the sources of all pages, and lets Sphinx and rustdoc render them."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from . import cards, check, commands, gallery, notebooks, sources
from .command import Command
from .contents import INTERFACES, ROOT, SECTIONS, Section, pages, unlisted
from .links import Links


def listing(section: Section) -> str:
    """The page that lists the pages of a section."""
    names = "\n".join(name for name, _ in section.pages)
    if section.name == "reference":
        names = f"commands/index\n{names}\npython/millpond/index\nrust"
    return f"# {section.title}\n\n{section.about}\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n"


def section_pages(section: Section, links: Links) -> dict[str, str]:
    """The pages of a section, by name, and the page that lists them."""
    made = {f"{section.name}/index": listing(section)}
    for name, file in section.pages:
        text, page = (ROOT / file).read_text(), f"{section.name}/{name}"
        made[page] = links.rewrite(notebooks.page(text) if file.endswith(".ipynb") else text, file, page)
    return made


def rust_page() -> str:
    """The page that links to the documentation of the crates."""
    rows = [f'- <a href="../rust/millpond_{crate}/index.html">millpond_{crate}</a>' for crate in INTERFACES]
    return "# Rust crates\n\nThe documentation of each crate, made by rustdoc.\n\n" + "\n".join(rows) + "\n"


def written(command: Command, checked: Path, source: Path) -> None:
    """Writes the source of every page into the folder `source`; `checked` has the pages of `millpond papers check`."""
    links = Links(pages())
    made: dict[str, str] = {}
    for section in SECTIONS:
        made |= section_pages(section, links)
    made |= cards.pages(command, links) | commands.pages(command)
    made |= gallery.pages(command, links, checked, source / "extra/recipes/figures")
    for name in ("index", "tour"):
        file = f"website/pages/{name}.md"
        made[name] = links.rewrite((ROOT / file).read_text(), file, name)
    made["reference/rust"] = rust_page()
    for path in list(links.shown):
        made |= {name: text for name, text in sources.show(path, links.pages).items() if name not in made}
    for name, text in made.items():
        page = source / f"{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)
    for picture in links.pictures:
        copy = source / picture
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / picture, copy)


def rendered(source: Path, html: Path) -> None:
    """Renders the pages. Warnings are errors."""
    sphinx = ["-m", "sphinx", "--builder", "html", "--fail-on-warning", "--keep-going", "--quiet", "--jobs", "2"]
    places = ["--conf-dir", str(ROOT / "website"), "--define", f"html_extra_path={source / 'extra'}"]
    subprocess.run([sys.executable, *sphinx, *places, str(source), str(html)], check=True)


def main() -> None:
    """Builds the site in cargo's output, where `site/papers` has the pages of recipes and `doc` those of rustdoc."""
    parser = argparse.ArgumentParser(description="Build the site of Millpond.")
    parser.add_argument("--millpond", type=Path, default=ROOT / "target/release/millpond", help="the command")
    parser.add_argument("--target", type=Path, default=ROOT / "target", help="the folder of cargo's output")
    arguments = parser.parse_args()
    missing = unlisted()
    if missing:
        sys.exit(f"website/millpond_site/contents.py: no section lists {', '.join(missing)}")
    place = arguments.target.resolve() / "site"
    source, html = place / "source", place / "html"
    for folder in (source, html):
        shutil.rmtree(folder, ignore_errors=True)
    source.mkdir(parents=True)
    written(Command(arguments.millpond.resolve()), place / "papers", source)
    rendered(source, html)
    shutil.copytree(arguments.target.resolve() / "doc", html / "rust", dirs_exist_ok=True)
    faults = check.faults(html)
    if faults:
        sys.exit("\n".join(faults))
    print(html / "index.html")


if __name__ == "__main__":
    main()
