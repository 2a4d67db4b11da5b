"""Which file of the repository becomes which page of the site, in the order of the navigation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: The root of the repository.
ROOT = Path(__file__).resolve().parents[2]

#: The crates whose interfaces a law, a queue or a tool of one's own uses: rustdoc makes their pages.
INTERFACES = ("units", "law", "conformance", "endpoint", "scenario", "results", "lab")


@dataclass(frozen=True)
class Section:
    """A group of pages in the navigation, with a page of its own that lists them."""

    name: str
    title: str
    about: str
    #: Names of pages, and the files that they are made of.
    pages: tuple[tuple[str, str], ...]


GUIDES = Section(
    "guides",
    "How-to guides",
    "Each guide solves one task, with commands that you can copy.",
    (
        ("experiments", "docs/experiments.md"),
        ("playground", "docs/playground.md"),
        ("my-trace", "website/pages/my-trace.md"),
        ("my-network", "website/pages/my-network.md"),
        ("sweep", "website/pages/sweep.md"),
        ("figure-for-a-paper", "docs/figure-for-a-paper.md"),
        ("law-in-rust", "CONTRIBUTING.md"),
        ("law-in-python-or-c", "docs/guest-laws.md"),
        ("queue", "docs/queues.md"),
        ("link", "docs/link.md"),
        ("live", "docs/live.md"),
        ("node", "docs/node.md"),
        ("python", "docs/python.md"),
        ("gymnasium", "docs/gymnasium.md"),
        ("cluster", "docs/cluster.md"),
        ("evaluation", "docs/evaluation.md"),
        ("evaluation-matrix", "docs/evaluation-matrix.md"),
        ("which-should-i-deploy", "docs/which-should-i-deploy.md"),
        ("coexistence", "docs/coexistence.md"),
        ("disturbances", "docs/disturbances.md"),
        ("frontier", "docs/frontier.md"),
        ("misbehaviour", "docs/misbehaviour.md"),
    ),
)

NOTEBOOKS = Section(
    "notebooks",
    "Notebooks",
    "Worked examples in Python. The tests execute each of them.",
    (
        ("first-steps", "examples/notebooks/first-steps.ipynb"),
        ("a-law-of-ones-own", "examples/notebooks/a-law-of-ones-own.ipynb"),
        ("a-figure-from-810-runs", "examples/notebooks/a-figure-from-810-runs.ipynb"),
        ("a-cluster-sweep", "examples/notebooks/a-cluster-sweep.ipynb"),
    ),
)

THEORY = Section(
    "theory",
    "Theory",
    "From a law to its stability, the worlds and where they differ, and how claims of papers are judged.",
    (
        ("from-a-law-to-its-stability", "docs/from-a-law-to-its-stability.md"),
        ("reno-over-red", "docs/reno-over-red.md"),
        ("worlds", "papers/worlds/README.md"),
        ("claims", "papers/README.md"),
    ),
)

REFERENCE = Section(
    "reference",
    "Reference",
    "Every command, key, column and function.",
    (
        ("scenario", "docs/scenario.md"),
        ("results", "docs/results.md"),
        ("recipe", "docs/recipe.md"),
        ("wire", "docs/wire.md"),
        ("limits", "docs/limits.md"),
        ("performance", "docs/performance.md"),
        ("architecture", "docs/architecture.md"),
        ("style", "docs/style.md"),
        ("traces", "scenarios/traces/README.md"),
        ("changelog", "CHANGELOG.md"),
    ),
)

#: The extensions have a page each; `docs/extensions/README.md` introduces them.
EXTENSIONS = Section(
    "extensions",
    "Extensions",
    "What Millpond adds to the laws of the papers.",
    tuple(
        (page.stem, f"docs/extensions/{page.name}")
        for page in sorted((ROOT / "docs/extensions").glob("*.md"), key=lambda page: page.stem)
        if page.name != "README.md"
    ),
)

SECTIONS = (GUIDES, NOTEBOOKS, THEORY, EXTENSIONS, REFERENCE)


def protocol_folders() -> list[Path]:
    """The folders of the protocols, relative to the root."""
    found = (ROOT / "crates/protocols/src").glob("*/README.md")
    return sorted(page.parent.relative_to(ROOT) for page in found)


def queue_folders() -> list[Path]:
    """The folders of the queues that have a page, relative to the root."""
    found = (ROOT / "crates/protocols/src/queues").glob("*/README.md")
    return sorted(page.parent.relative_to(ROOT) for page in found)


def paper_folders() -> list[Path]:
    """The folders of the papers, relative to the root."""
    return sorted(paper.parent.relative_to(ROOT) for paper in (ROOT / "papers").glob("*/paper.toml"))


def pages() -> dict[str, str]:
    """For each file of the repository that is a page, or part of one, the name of its page."""
    found = {"README.md": "index", "website/pages/index.md": "index", "website/pages/tour.md": "tour"}
    for section in SECTIONS:
        found |= {file: f"{section.name}/{name}" for name, file in section.pages}
    for folder in protocol_folders():
        found |= {f"{folder}/{file}": f"protocols/{folder.name}" for file in ("README.md", "ERRATA.md")}
    for folder in queue_folders():
        found[f"{folder}/README.md"] = f"queues/{folder.name}"
    for folder in paper_folders():
        found.setdefault(f"{folder}/README.md", f"recipes/{folder.name}")
    found["docs/extensions/README.md"] = "extensions/index"
    return found


def unlisted() -> list[str]:
    """The pages of `docs/` that no section lists."""
    listed = pages()
    documents = (page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").glob("**/*.md"))
    return sorted(page for page in documents if page not in listed)
