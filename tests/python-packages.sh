#!/usr/bin/env bash
# Run, or sourced by tests/python-environment.sh, in the root of the repository: an environment in target/python with what
# the tests of the Python package need. It is made again when its requirements change.
set -euo pipefail
tests/install-venv.sh

target=${CARGO_TARGET_DIR:-target}
home=$target/python
mkdir -p "$home"
home=$(cd "$home" && pwd)
# Bytecode of the modules that are imported only, and none beside the sources.
export PATH="$home/venv/bin:$PATH" VIRTUAL_ENV="$home/venv" PYTHONPYCACHEPREFIX="$home/bytecode"

# The environment takes 1 GB of the disk; a cache of its archives would take another.
install() { pip --disable-pip-version-check "$@" install --quiet --no-cache-dir --no-compile --requirement /dev/stdin; }

# The packages that the tests need: `local`, or in addition for those of `cluster`.
requirements() { python3 - "$1" <<'PYTHON'
import sys, tomllib
project = tomllib.load(open("pyproject.toml", "rb"))
extras, groups = project["project"]["optional-dependencies"], project["dependency-groups"]
of_clusters = {"dask", "ray"}
if sys.argv[1] == "cluster":
    lists = [groups["cluster"], *(extras[name] for name in of_clusters)]
else:
    names = extras.keys() - of_clusters - {"all"}
    lists = [project["build-system"]["requires"], groups["test"], *(extras[name] for name in names)]
print("\n".join(sorted({package for packages in lists for package in packages})))
PYTHON
}

if [ "$(requirements local)" != "$(cat "$home/installed.txt" 2>/dev/null)" ]; then
    rm -rf "$home/bytecode" "$home/installed.txt"
    python3 -m venv --clear "$home/venv"
    hash -r # From here on python3 is that of the environment.
    requirements local | install
    requirements local > "$home/installed.txt"
fi
