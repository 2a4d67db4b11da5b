"""The Python of the README and of the pages works as it is written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import millpond
import pytest
from conftest import ROOT

#: A block of Python in a page.
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize(
    ("page", "blocks"), [("README.md", 1), ("docs/python.md", 7), ("docs/guest-laws.md", 5), ("docs/gymnasium.md", 2)]
)
def test_the_python_of_a_page_works(page: str, blocks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    found = BLOCK.findall((ROOT / page).read_text())
    assert len(found) >= blocks
    names: dict[str, object] = {}
    for block in found:
        exec(compile(block, page, "exec"), names)


def test_values_in_comments_are_those_of_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    (theory,) = (block for block in BLOCK.findall((ROOT / "docs/python.md").read_text()) if "delay-margin" in block)
    names: dict[str, object] = {}
    exec("import millpond\n" + theory, names)
    commented = re.findall(r"^(\S+) +# \"(.*)\"$", theory, re.MULTILINE)
    assert len(commented) == 3
    for expression, value in commented:
        assert eval(expression, names) == value


def block_with(text: str, kind: str = "python") -> str:
    """The block of the page of the package that contains a text."""
    blocks = re.findall(rf"```{kind}\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.DOTALL)
    (found,) = (block for block in blocks if text in block)
    return str(found)


@pytest.fixture
def home() -> dict[str, Any]:
    """The scenario that the page builds from values, by its name."""
    names: dict[str, Any] = {}
    exec("import millpond\n" + block_with("home = millpond.Scenario"), names)
    return names


def test_the_error_of_the_page_is_that_of_the_package(home: dict[str, Any]) -> None:
    call, _, shown = block_with("millpond.Error:", "pycon").partition("\n")
    with pytest.raises(millpond.Error) as caught:
        eval(call.removeprefix(">>> "), home)
    assert shown == f"millpond.Error: {caught.value}\n"


def test_the_trials_of_the_page_differ(home: dict[str, Any]) -> None:
    exec(block_with("millpond.tune("), home)
    assert len({trial.values for trial in home["tuned"].trials}) > 1
