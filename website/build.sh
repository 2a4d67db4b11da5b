#!/usr/bin/env bash
# Builds the site in target/site/html and checks its links. tests/papers.sh has written the pages of recipes into
# target/site/papers. Argument: the program millpond.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-target/release/millpond}")
target=$(realpath "${CARGO_TARGET_DIR:-target}")

tests/install-venv.sh
if ! cmp -s website/requirements.txt "$target/site/installed.txt"; then
    python3 -m venv --clear "$target/site/venv"
    "$target/site/venv/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir --requirement website/requirements.txt
    cp website/requirements.txt "$target/site/installed.txt"
fi
cd website
PYTHONPYCACHEPREFIX="$target/site/bytecode" "$target/site/venv/bin/python" -m millpond_site.build --millpond "$program" --target "$target"
