#!/usr/bin/env bash
# The tests of the Python package: types and pytest, with the environment of tests/python-environment.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/python-environment.sh

# The command whose results and messages are compared; `make test` names the one that it has built.
if [ -z "${MILLPOND:-}" ]; then
    cargo build --quiet --package millpond-cli
    MILLPOND=$target/debug/millpond
fi
MILLPOND=$(realpath "$MILLPOND")
export MILLPOND

# Installed into a clean environment, without any library, the wheel runs a scenario.
rm -rf "$home/bare"
python3 -m venv --without-pip "$home/bare"
pip --quiet --disable-pip-version-check --python "$home/bare/bin/python" install --no-index "$home"/wheels/*.whl
"$home/bare/bin/python" -c '
import millpond
run = millpond.Scenario.load("scenarios/dumbbell.toml").run()
assert run.summary.links[0].utilization > 0.9, run
'

mypy
pytest --numprocesses 2
