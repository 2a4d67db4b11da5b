# Sourced by tests/python.sh and tests/cluster.sh in the root of the repository: an environment in target/python with what
# the tests need, the command whose results are compared, and the wheel, built with the dev profile and installed.
# The environment is made again when its requirements change.
tests/install-venv.sh

target=${CARGO_TARGET_DIR:-target}
home=$target/python
mkdir -p "$home"
home=$(cd "$home" && pwd)
# Bytecode of the modules that are imported only, and none beside the sources.
export PATH="$home/venv/bin:$PATH" VIRTUAL_ENV="$home/venv" PYTHONPYCACHEPREFIX="$home/bytecode"

# The environment takes 1 GB of the disk; a cache of its archives would take another.
install() { pip --disable-pip-version-check "$@" install --quiet --no-cache-dir --no-compile --requirement /dev/stdin; }

# The packages of some extras: `local`, all but those of clusters, with the tools of the tests; or one extra by its name.
requirements() { python3 - "$@" <<'PYTHON'
import sys, tomllib
project = tomllib.load(open("pyproject.toml", "rb"))
extras = project["project"]["optional-dependencies"]
wanted = sys.argv[1:]
found = []
if wanted == ["local"]:
    wanted = extras.keys() - {"all", "dask", "ray"}
    found = project["build-system"]["requires"] + project["dependency-groups"]["test"]
print("\n".join(sorted({*found, *(package for name in wanted for package in extras[name])})))
PYTHON
}

if [ "$(requirements local)" != "$(cat "$home/installed.txt" 2>/dev/null)" ]; then
    rm -rf "$home/bytecode" "$home/installed.txt"
    python3 -m venv --clear "$home/venv"
    requirements local | install
    requirements local > "$home/installed.txt"
fi

# `make test` names the command that it has built.
if [ -z "${MILLPOND:-}" ]; then
    cargo build --quiet --package millpond-cli
    MILLPOND=$target/debug/millpond
fi
MILLPOND=$(realpath "$MILLPOND")
export MILLPOND

rm -rf "$home/wheels"
maturin build --quiet --locked --profile dev --out "$home/wheels"
pip install --quiet --disable-pip-version-check --no-compile --no-deps --force-reinstall "$home"/wheels/*.whl
