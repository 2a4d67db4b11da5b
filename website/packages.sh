#!/usr/bin/env bash
# An environment in target/site with what the site is built with. It is made again when website/requirements.txt changes.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/site"
target=$(realpath "$target")

tests/install-venv.sh
if ! cmp -s website/requirements.txt "$target/site/installed.txt"; then
    python3 -m venv --clear "$target/site/venv"
    "$target/site/venv/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir --requirement website/requirements.txt
    cp website/requirements.txt "$target/site/installed.txt"
fi
