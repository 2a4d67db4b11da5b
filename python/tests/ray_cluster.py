"""Ray on this machine, for the tests of tests/cluster.sh."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import ray

#: How often Ray is started. Its node ends itself if one of its processes needs more than 15 s to start, as on a busy
#: machine (https://github.com/ray-project/ray/issues/65983). The next start finds the bytecode that the last one wrote.
STARTS = 4


@contextmanager
def started() -> Iterator[None]:
    """Ray with three processors."""
    for number in range(1, STARTS + 1):
        temporary = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
        others = set(psutil.Process().children(recursive=True))
        try:
            _start(temporary)
            break
        except Exception:  # Ray has no exception of its own for this.
            _end(set(psutil.Process().children(recursive=True)) - others)
            shutil.rmtree(temporary, ignore_errors=True)
            if number == STARTS:
                raise
    try:
        yield
    finally:
        ray.shutdown()
        shutil.rmtree(temporary, ignore_errors=True)


def _start(temporary: str) -> None:
    ray.init(
        num_cpus=3,
        include_dashboard=False,
        object_store_memory=80 * 2**20,
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
        _temp_dir=temporary,
    )


def _end(processes: set[psutil.Process]) -> None:
    """Ends what a start that has failed leaves."""
    ray.shutdown()
    for process in processes:
        if process.is_running():
            process.kill()
    psutil.wait_procs(list(processes), timeout=10.0)
