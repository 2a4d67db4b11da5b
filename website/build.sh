#!/usr/bin/env bash
# Builds the site in target/site/html and checks its links. tests/papers.sh has written the pages of recipes into
# target/site/papers. Argument: the program millpond.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-target/release/millpond}")
target=$(realpath "${CARGO_TARGET_DIR:-target}")

website/packages.sh
cd website
PYTHONPYCACHEPREFIX="$target/site/bytecode" "$target/site/venv/bin/python" -m millpond_site.build --millpond "$program" --target "$target"
