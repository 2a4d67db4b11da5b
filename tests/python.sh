#!/usr/bin/env bash
# The tests of the Python package: builds the wheel with the dev profile, installs it into an environment in
# target/python, then format, types and pytest. The environment is made again when pyproject.toml changes.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/install-venv.sh

target=${CARGO_TARGET_DIR:-target}
home=$target/python
mkdir -p "$home"
home=$(cd "$home" && pwd)
export PATH="$home/venv/bin:$PATH" VIRTUAL_ENV="$home/venv" PYTHONDONTWRITEBYTECODE=1

requirements() { python3 - <<'PYTHON'
import tomllib
project = tomllib.load(open("pyproject.toml", "rb"))
extras = project["project"]["optional-dependencies"]
lists = [extras[name] for name in extras if name != "all"]
print("\n".join(sorted({*project["build-system"]["requires"], *project["dependency-groups"]["test"], *sum(lists, [])})))
PYTHON
}

requirements > "$home/wanted.txt"
if ! cmp -s "$home/wanted.txt" "$home/installed.txt"; then
    python3 -m venv --clear "$home/venv"
    pip install --quiet --disable-pip-version-check --requirement "$home/wanted.txt"
    cp "$home/wanted.txt" "$home/installed.txt"
fi

# The command whose results and messages are compared; `make test` names the one that it has built.
if [ -z "${MILLPOND:-}" ]; then
    cargo build --quiet --package millpond-cli
    MILLPOND=$target/debug/millpond
fi
MILLPOND=$(realpath "$MILLPOND")
export MILLPOND

rm -rf "$home/wheels"
maturin build --quiet --locked --profile dev --out "$home/wheels"
pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$home"/wheels/*.whl

# Installed into a clean environment, without any library, the wheel runs a scenario.
rm -rf "$home/bare"
python3 -m venv --without-pip "$home/bare"
pip --quiet --disable-pip-version-check --python "$home/bare/bin/python" install --no-index "$home"/wheels/*.whl
"$home/bare/bin/python" -c '
import millpond
run = millpond.Scenario.load("scenarios/dumbbell.toml").run()
assert run.summary.links[0].utilization > 0.9, run
'

ruff format --quiet --check
ruff check --quiet
mypy
pytest
