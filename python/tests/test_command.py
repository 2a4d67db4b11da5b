"""Results and errors are those of the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import millpond
import pytest
from conftest import ROOT, Command


@pytest.mark.parametrize("world", ["packets", "fluid"])
def test_a_run_has_the_bytes_of_the_command(
    command: Command, file: Path, scenario: millpond.Scenario, world: millpond.World, tmp_path: Path
) -> None:
    done = command("run", file, "--seed", "7", "--world", world, "--out", tmp_path / "command")
    assert done.returncode == 0, done.stderr
    scenario.run(seed=7, world=world).save(tmp_path / "python")
    for name in ("summary.json", "scenario.toml", "series.parquet", "flows.parquet", "distributions.parquet"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes(), name


def test_a_directory_of_the_command_loads_as_the_same_run(
    command: Command, file: Path, run: millpond.Run, tmp_path: Path
) -> None:
    assert command("run", file, "--seed", "7", "--out", tmp_path / "out").returncode == 0
    loaded = millpond.load_run(tmp_path / "out")
    assert loaded.summary == run.summary
    assert loaded.to_pandas().equals(run.to_pandas())
    assert loaded.label == "out"
    assert loaded.cpu_s is None


def test_a_comparison_has_the_rows_of_the_command(
    command: Command, file: Path, comparison: millpond.Comparison, tmp_path: Path
) -> None:
    report = tmp_path / "report.html"
    done = command("compare", file, "--protocols", "cubic,dctcp", "--seeds", "3", "--json", "--report", report)
    expected = json.loads(done.stdout)
    assert json.loads(comparison._core.json())["rows"] == expected["rows"]
    assert json.loads(comparison._core.json())["findings"] == expected["findings"]
    assert [row.run for row in comparison.result.rows] == ["cubic", "dctcp"]


def test_analyses_print_the_documents_of_the_command(command: Command, margin: millpond.Scenario) -> None:
    path = ROOT / "scenarios/delay-margin.toml"
    for arguments, analysis in [
        (["equilibrium"], margin.equilibrium()),
        (["equilibrium", "--utility", "alpha=2", "--weight", "f=3"], margin.allocation(alpha=2, weights={"f": 3})),
        (["stability"], margin.stability()),
        (["stability", "--critical", "flows"], margin.stability(critical=["flows"])),
    ]:
        done = command(arguments[0], path, *arguments[1:], "--json")
        assert analysis.to_json() == done.stdout.rstrip("\n"), arguments
        text = command(arguments[0], path, *arguments[1:]).stdout
        assert str(analysis) == text, arguments


def test_an_explanation_is_that_of_the_command(command: Command, tmp_path: Path) -> None:
    run = millpond.Scenario.load(ROOT / "scenarios/delay-margin.toml").run()
    run.save(tmp_path / "run")
    done = command("stability", "--explain", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout)
    found = json.loads(run.explain().to_json())
    loaded = json.loads(millpond.load_run(tmp_path / "run").explain().to_json())
    assert loaded == expected
    assert found["verdict"] == expected["verdict"] == run.explain().sentence


def test_recipes_are_checked_as_by_the_command(command: Command) -> None:
    checked = millpond.papers.check("lgcc/section3")
    expected = json.loads(command("papers", "check", "lgcc/section3", "--json").stdout)
    assert json.loads(checked.to_json()) == expected
    assert checked.holds
    names = [recipe["recipe"] for recipe in json.loads(command("papers", "list", "--json").stdout)]
    assert [recipe.name for recipe in millpond.papers.recipes()] == names


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("links.access.rate", "20Mbsp"),
        ("links.acces.rate", "20Mbps"),
        ("flows.download.protcol", "cubic"),
        ("measure.from", "9s"),
        ("links.access.rate.trace.file", "absent.down"),
    ],
)
def test_an_error_has_the_text_of_the_command(
    command: Command, file: Path, scenario: millpond.Scenario, key: str, value: str
) -> None:
    done = command("check", file, "--set", f"{key}={value}")
    with pytest.raises(millpond.Error) as raised:
        scenario.set(key, value)
    assert str(raised.value) == done.stderr.rstrip("\n ")
    assert raised.value.faults
    assert isinstance(raised.value, ValueError)


def error_in_another_process(file: Path, protocol: str) -> str:
    """The error of a run with an unknown protocol. This process knows the laws that other tests have registered."""
    program = """
import millpond, sys
try:
    millpond.Scenario.load(sys.argv[1]).run(protocol=sys.argv[2])
except millpond.Error as error:
    print(error, end="")
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(file), protocol], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_errors_of_a_plan_and_of_files_have_the_text_of_the_command(
    command: Command, file: Path, run: millpond.Run, tmp_path: Path
) -> None:
    done = command("compare", file, "--protocols", "cubicc")
    assert error_in_another_process(file, "cubicc") == done.stderr.rstrip("\n ")
    assert 'did you mean "cubic"?' in done.stderr

    broken = tmp_path / "broken.toml"
    broken.write_text(file.read_text().replace('delay   = "10ms"', 'delay   = "10"'))
    done = command("check", broken)
    with pytest.raises(millpond.Error) as placed:
        millpond.Scenario.load(broken)
    assert str(placed.value) == done.stderr.rstrip("\n ")
    assert placed.value.faults[0][0] == file.read_text().splitlines().index('delay   = "10ms"') + 1

    existing = tmp_path / "existing"
    existing.mkdir()
    done = command("run", file, "--out", existing)
    with pytest.raises(millpond.Error) as refused:
        run.save(existing)
    assert f"error: {refused.value}\n" == done.stderr.replace("with --force", "with replace=True")

    done = command("report", tmp_path / "absent", "--out", tmp_path / "page.html")
    with pytest.raises(millpond.Error) as absent:
        millpond.load_run(tmp_path / "absent")
    assert f"error: {absent.value}\n" == done.stderr


def test_a_directory_of_several_runs_names_them_with_their_seeds(command: Command, file: Path, tmp_path: Path) -> None:
    done = command("compare", file, "--seeds", "2", "--protocols", "cubic", "--out", tmp_path / "runs", "--quiet")
    assert done.returncode == 0, done.stderr
    with pytest.raises(millpond.Error, match=r"2 runs in it; .*: cubic \(seed 1\), cubic \(seed 2\)$"):
        millpond.load_run(tmp_path / "runs")


def test_the_version_is_that_of_the_command(command: Command, run: millpond.Run) -> None:
    # Without the commit, which differs if only one of the two was built again.
    version = command("--version").stdout.split()[1]
    assert millpond.__version__.split()[0] == version
    assert run.summary.version == millpond.__version__
