"""Opens the finished site in headless Chromium: no errors, no page wider than the window, a search that finds."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .browser import Browser
from .contents import ROOT

WIDTHS = (400, 1400)
SCHEMES = ("light", "dark")

#: How much wider than the window the page is, in pixels.
EXCESS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
#: The addresses of pictures that cannot be drawn; those out of view are loaded for it.
BROKEN = """Promise.all([...document.images].map(one => {
    one.loading = 'eager';
    return one.decode().then(() => [], () => [one.src]);
})).then(all => all.flat())"""
#: The number of results of a search, once there are some; 0 after ten seconds without.
RESULTS = """new Promise(done => {
    const count = () => document.querySelectorAll('#search-results li').length;
    const end = Date.now() + 10000;
    const look = () => count() || Date.now() > end ? done(count()) : setTimeout(look, 50);
    look();
})"""


def opened(html: Path) -> list[Path]:
    """The pages to open: all that Sphinx made, but of those that show sources only the first of each folder."""
    pages = [page for page in sorted(html.glob("**/*.html")) if not page.is_relative_to(html / "rust")]
    seen: set[Path] = set()
    found = []
    for page in pages:
        if page.is_relative_to(html / "source"):
            if page.parent in seen:
                continue
            seen.add(page.parent)
        found.append(page)
    return found


def faults_at(html: Path, width: int, scheme: str) -> list[str]:
    """A line for each fault that a browser shows whose window has a width in pixels."""
    found = []
    with Browser() as browser:
        for page in opened(html):
            errors = browser.open(page, width, scheme)
            found += [f"{page} at {width} pixels: {error}" for error in errors]
            if (excess := browser.value(EXCESS)) > 0:
                found.append(f"{page}: {excess} pixels wider than a window of {width} pixels")
            found += [f"{page}: the picture {picture} cannot be drawn" for picture in browser.value(BROKEN)]
        found += browser.open(html / "search.html", width, query="?q=logistic")
        if browser.value(RESULTS) == 0:
            found.append(f"search.html at {width} pixels: a search for `logistic` finds no page")
    return found


def faults(html: Path) -> list[str]:
    """A line for each fault, with a browser for each width at the same time."""
    with ThreadPoolExecutor(len(WIDTHS)) as pool:
        of_widths = pool.map(faults_at, [html] * len(WIDTHS), WIDTHS, SCHEMES)
        return [fault for found in of_widths for fault in found]


def main() -> None:
    """Checks the site in the folder `site/html` of the given folder; exits with 1 if there is a fault."""
    parser = argparse.ArgumentParser(description="Open the site of Millpond in a browser.")
    parser.add_argument("--target", type=Path, default=ROOT / "target", help="the folder of cargo's output")
    html = parser.parse_args().target / "site/html"
    found = faults(html)
    print(f"{len(opened(html))} pages opened, {len(found)} faults")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
