"""The Python and the commands of docs/cluster.md work as they are written, with processes in place of a cluster."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
import yaml
from conftest import ROOT

PAGE = (ROOT / "docs/cluster.md").read_text()
BLOCKS: list[str] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def names() -> dict[str, object]:
    """What the first block defines."""
    first = BLOCKS[0]
    names: dict[str, object] = {}
    exec(first[: first.index("with LocalCluster")], names)
    return names


def block(title: str) -> str:
    (found,) = (block for block in BLOCKS if block.startswith(f"# {title}\n"))
    return found


def test_dask_on_this_machine(folder: Path) -> None:
    exec(BLOCKS[0], {})
    assert len((folder / "runs/dask/runs.jsonl").read_text().splitlines()) == 12


@pytest.mark.usefixtures("ray_cluster")
def test_ray_on_this_machine(folder: Path, names: dict[str, object]) -> None:
    text = block("with Ray")
    for start_or_end in ["ray.init(num_cpus=2) ", "ray.shutdown()"]:
        assert start_or_end in text
        text = text.replace(start_or_end, "pass")
    exec(text, names)
    assert len((folder / "runs/ray/runs.jsonl").read_text().splitlines()) == 12


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that are ended after the test."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.terminate()
    for process in started:
        process.wait(timeout=30)


def test_kubernetes(names: dict[str, object], processes: list[subprocess.Popen[bytes]]) -> None:
    """The commands of the containers run as processes of this machine."""
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    service, scheduler, workers = yaml.safe_load_all(text)
    assert service["spec"]["selector"] == scheduler["spec"]["template"]["metadata"]["labels"]
    for deployment in [scheduler, workers]:
        assert deployment["spec"]["selector"]["matchLabels"] == deployment["spec"]["template"]["metadata"]["labels"]
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        command = [word.replace("tcp://dask", "tcp://127.0.0.1") for word in container["command"]]
        assert shutil.which(command[0]), "install Dask in this environment"
        processes.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
    exec(block("on Kubernetes").replace("localhost", "127.0.0.1").replace("s3://", "memory://"), names)
    assert fsspec.filesystem("memory").cat_file("/bucket/runs/runs.jsonl").count(b"\n") == 12


def test_slurm(folder: Path, names: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    """`sbatch` starts the script of the job as a process of this machine."""
    commands = {
        # As Slurm does, it copies the script, which its caller then removes.
        "sbatch": 'script=$(cat "$1"); setsid bash -c "$script" >/dev/null 2>&1 & echo "Submitted batch job $!"',
        "scancel": 'kill -- "-$1" 2>/dev/null || true',
    }
    for name, command in commands.items():
        file = folder / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/bash\n{command}\n")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder / "bin"), prepend=":")
    text = block("on SLURM").replace("cores=16, processes=16", "cores=2, processes=2").replace("jobs=20", "jobs=1")
    exec(text.replace("/shared/runs", str(folder / "shared")), names)
    names["cluster"].close()  # type: ignore[attr-defined]
    assert len((folder / "shared/runs.jsonl").read_text().splitlines()) == 12
