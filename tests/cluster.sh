#!/usr/bin/env bash
# The tests of sweeps on Dask and Ray, which are in an environment of their own in target/python/cluster. It sees the
# packages of the other one (tests/python-environment.sh), so that none is installed twice.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/python-environment.sh

cluster=$home/cluster
wanted=$(requirements local; requirements cluster)
if [ "$wanted" != "$(cat "$home/installed-cluster.txt" 2>/dev/null)" ]; then
    rm -f "$home/installed-cluster.txt"
    "$home/venv/bin/python3" -m venv --clear --without-pip "$cluster"
    paths='import sysconfig; print(sysconfig.get_path("purelib"))'
    python3 -c "$paths" > "$("$cluster/bin/python" -c "$paths")/local.pth"
    requirements cluster | install --python "$cluster/bin/python"
    echo "$wanted" > "$home/installed-cluster.txt"
fi

# Ray sends no statistics. A start that has failed ends after a minute; python/tests/ray_cluster.py repeats it.
export RAY_USAGE_STATS_ENABLED=0 RAY_raylet_start_wait_time_s=60
# Dask and Ray leave processes and sockets to the collector at their end. A test that takes longer than its limit ends
# all with the stack of each thread.
PATH="$cluster/bin:$PATH" VIRTUAL_ENV="$cluster" "$cluster/bin/python" -m pytest --timeout 300 --timeout-method thread \
    -W ignore::ResourceWarning -W ignore::pytest.PytestUnraisableExceptionWarning python/tests/cluster
