"""Runs the millpond command for the pages that are made of its output."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .contents import ROOT


@dataclass(frozen=True)
class Command:
    """The program `millpond`."""

    program: Path

    def text(self, *arguments: str) -> str:
        """What the command prints."""
        environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
        ran = subprocess.run(
            [str(self.program), *arguments], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
        )
        return ran.stdout

    def json(self, *arguments: str) -> Any:
        """The JSON that the command prints."""
        return json.loads(self.text(*arguments, "--json"))
