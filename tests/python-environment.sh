# Sourced by tests/python.sh and tests/cluster.sh in the root of the repository: the environment of tests/python-packages.sh,
# and the wheel, built with the dev profile and installed there.
. tests/python-packages.sh

rm -rf "$home/wheels"
maturin build --quiet --locked --profile dev --features shared-build --out "$home/wheels"
pip install --quiet --disable-pip-version-check --no-compile --no-deps --force-reinstall "$home"/wheels/*.whl
