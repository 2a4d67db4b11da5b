#!/usr/bin/env bash
# Format and rules of all Python files, in an environment that has ruff alone.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/install-venv.sh

home=${CARGO_TARGET_DIR:-target}/ruff
# The requirement of pyproject.toml: ruff with its versions.
requirement=$(sed -n 's/^ *"\(ruff[^"]*\)",$/\1/p' pyproject.toml)
if [ "$requirement" != "$(cat "$home/installed.txt" 2>/dev/null)" ]; then
    python3 -m venv --clear "$home"
    "$home/bin/pip" --quiet --disable-pip-version-check install --no-cache-dir "$requirement"
    echo "$requirement" > "$home/installed.txt"
fi
"$home/bin/ruff" format --quiet --check
"$home/bin/ruff" check --quiet
