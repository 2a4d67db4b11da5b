"""The package: its imports, its types, its generated file."""

from __future__ import annotations

import functools
import inspect
import os
import subprocess
import sys
from pathlib import Path

import millpond
from conftest import ROOT

#: Libraries that are imported when they are first needed.
LAZY = ["numpy", "pandas", "polars", "pyarrow", "xarray", "matplotlib"]


def test_the_import_is_light() -> None:
    code = f"import sys, millpond; print([name for name in {LAZY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_documents_are_generated_from_the_schemas() -> None:
    generator = ROOT / "python/tools/generate_documents.py"
    command = os.environ["MILLPOND"]
    done = subprocess.run([sys.executable, generator, command], capture_output=True, text=True, check=True)
    assert done.stdout == (ROOT / "python/millpond/documents.py").read_text(), f"run {generator.name}"


def test_every_public_name_is_documented() -> None:
    members = (property, functools.cached_property, classmethod, staticmethod)
    for name in millpond.__all__:
        value = getattr(millpond, name)
        if not isinstance(value, type):
            continue
        assert value.__doc__, name
        for attribute, member in vars(value).items():
            if not attribute.startswith("_") and (inspect.isfunction(member) or isinstance(member, members)):
                assert member.__doc__, f"{name}.{attribute}"


def test_the_wheel_has_its_types() -> None:
    installed = Path(millpond.__file__).parent
    assert (installed / "py.typed").is_file()
    assert (installed / "_core.pyi").is_file()


def test_stubs_agree_with_the_module(tmp_path: Path) -> None:
    # The stubs name no type of another library; reading all that the package imports would take half a minute.
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\nfollow_imports = skip\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy.stubtest", "millpond._core", "--mypy-config-file", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout
