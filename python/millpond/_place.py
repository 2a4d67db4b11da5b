"""Where a sweep writes its dataset: a folder, or an address that `fsspec` reads and writes."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from millpond import _core

#: The files that a sweep continues.
CONTINUED = ("sweep.json", "runs.jsonl")
#: The file that one sweep at a time has at an address.
LOCK = "sweep.lock"
#: The time between two copies of the ended runs to an address, in seconds.
BETWEEN_COPIES = 30.0
#: The time between two copies is at least this multiple of the time that a copy takes.
COPY_SHARE = 20.0
#: A sweep that has not renewed its lock for this time was killed, in seconds.
LEASE = 300.0


class Folder:
    """A folder of this machine.

    Parameters
    ----------
    path : path
        The folder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        #: Options with which pandas reads the dataset.
        self.options: dict[str, object] | None = None

    @property
    def shown(self) -> Path | str:
        """Where the user finds the dataset."""
        return self.path

    def opened(self, replace: bool) -> AbstractContextManager[None]:
        """The time of a sweep."""
        return nullcontext()

    def begin(self) -> None:
        """Called when the dataset has been opened: its files are those of this sweep."""

    def keep(self) -> None:
        """Called at least once a second during a sweep."""

    def finish(self) -> None:
        """Called when all files are written."""


class Address(Folder):
    """An address of `fsspec`. The sweep writes into a temporary folder, whose files are copied to the address.

    A file appears at the address complete or not at all. The runs that have ended are copied from time to time, so that
    another process can continue a sweep that was killed.

    Parameters
    ----------
    address : str
        The address of the dataset, such as ``s3://bucket/folder``.
    options : Mapping
        Options of the file system.
    """

    def __init__(self, address: str, options: Mapping[str, object]) -> None:
        import fsspec

        self.name = address.rstrip("/")
        with self._described("use"):
            self.fs, root = fsspec.core.url_to_fs(address, **options)
        self.root = root.rstrip("/")
        self.temporary = Path(tempfile.mkdtemp(prefix="millpond-"))
        self.path = self.temporary / "dataset"
        self.options = dict(options)
        self.token = uuid.uuid4().hex
        self.next_copy = 0.0
        #: Whether the dataset at the address is that of this sweep.
        self.is_ours = False
        #: The tables of a dataset that is replaced.
        self.replaced: list[str] = []

    @property
    def shown(self) -> Path | str:
        """The address."""
        return self.name

    @contextmanager
    def opened(self, replace: bool) -> Iterator[None]:
        """Locks the address, reads the dataset that it has, and writes the runs that have ended at the end."""
        try:
            with self._described("use"):
                self.fs.makedirs(self.root, exist_ok=True)
                self._lock()
        except BaseException:
            shutil.rmtree(self.temporary)
            raise
        try:
            with self._described("read"):
                self._read(replace)
            yield
        except _core.Error as error:
            # The messages of the dataset name its folder.
            error.args = (str(error).replace(str(self.path), self.name), *error.args[1:])
            raise
        finally:
            self._leave()

    def _leave(self) -> None:
        """Copies the runs that have ended, and unlocks the address. Keeps the temporary folder if that fails."""
        if self.is_ours:
            try:
                self._copy_continued()
                self._unlock()
            except Exception as error:
                raise _core.Error(
                    f"{self.name}: the dataset cannot be written: {type(error).__name__}: {error}. The runs that have "
                    f"ended are in {self.path}: copy its files to the address when it can be written, and call the "
                    "sweep again"
                ) from error
        else:
            with suppress(Exception):
                self._unlock()
        shutil.rmtree(self.temporary)

    @contextmanager
    def _described(self, doing: str) -> Iterator[None]:
        """Exceptions of a file system, which are of any class, as errors."""
        try:
            yield
        except _core.Error:
            raise
        except Exception as error:
            raise _core.Error(
                f"{self.name}: cannot {doing} this address: {type(error).__name__}: {error}. Check the address, "
                "storage_options and the rights to it"
            ) from error

    def _lock(self) -> None:
        """Creates the lock, which only one of several sweeps can do."""
        try:
            self.fs.pipe_file(f"{self.root}/{LOCK}", self._claim(), mode="create")
        except FileExistsError:
            holder = self._holder()
            since = time.time() - float(str(holder.get("renewed", 0.0)))
            if since < LEASE:
                raise _core.Error(
                    f"{self.name}: another sweep adds runs to this dataset (process {holder.get('process')} on "
                    f"{holder.get('host')}, {since:.0f} s ago); wait for its end, or give out another name. If that "
                    f"process was killed, remove {LOCK} there, or wait {LEASE:.0f} s"
                ) from None
            self.fs.pipe_file(f"{self.root}/{LOCK}", self._claim())

    def _claim(self) -> bytes:
        claim = {"host": socket.gethostname(), "process": os.getpid(), "token": self.token, "renewed": time.time()}
        return json.dumps(claim).encode()

    def _holder(self) -> dict[str, object]:
        """What the lock says; nothing if it is damaged or has been removed."""
        with suppress(FileNotFoundError, ValueError):
            holder = json.loads(self.fs.cat_file(f"{self.root}/{LOCK}"))
            if isinstance(holder, dict):
                return holder
        return {}

    def _unlock(self) -> None:
        if self._holder().get("token") == self.token:
            self.fs.rm_file(f"{self.root}/{LOCK}")

    def _read(self, replace: bool) -> None:
        """Copies what the address has into the temporary folder: other files than those of a sweep as empty ones."""
        self.path.mkdir()
        self.fs.invalidate_cache(self.root)
        for entry in self.fs.ls(self.root, detail=False):
            name = str(entry).rstrip("/").rsplit("/", 1)[-1]
            if name == LOCK or (name.startswith(".") and name.endswith(".partial")):
                continue
            if name in CONTINUED and not replace:
                self.fs.get_file(f"{self.root}/{name}", str(self.path / name))
            else:
                (self.path / name).touch()
        self.replaced = [file.name for file in self.path.iterdir() if replace]

    def begin(self) -> None:
        """The address may be written from now on."""
        self.is_ours = True

    def keep(self) -> None:
        """Copies the runs that have ended, if the last copy is long ago."""
        if time.monotonic() < self.next_copy:
            return
        begin = time.monotonic()
        # A copy that fails is made again later; the last one reports why.
        with suppress(Exception):
            holder = self._holder()
            self.is_ours = holder.get("token", self.token) == self.token
            if self.is_ours:
                self.fs.pipe_file(f"{self.root}/{LOCK}", self._claim())
                self._copy_continued()
        if not self.is_ours:
            raise _core.Error(
                f"{self.name}: another sweep has taken this dataset over, because this one had not renewed its lock "
                f"for {LEASE:.0f} s. Wait for its end, and call the sweep again"
            )
        now = time.monotonic()
        self.next_copy = now + max(BETWEEN_COPIES, COPY_SHARE * (now - begin))

    def _remove_replaced(self) -> None:
        """Removes the old tables, once and before the first new file is written."""
        while self.replaced:
            self.fs.rm_file(f"{self.root}/{self.replaced[-1]}")
            self.replaced.pop()

    def _copy_continued(self) -> None:
        self._remove_replaced()
        for name in CONTINUED:
            self._copy(name)

    def finish(self) -> None:
        """Copies all files."""
        with self._described("write"):
            self._remove_replaced()
            for file in sorted(self.path.iterdir()):
                self._copy(file.name)

    def _copy(self, name: str) -> None:
        """Copies the complete lines of a file under a temporary name, and renames it."""
        copy = self.temporary / "copy"
        shutil.copyfile(self.path / name, copy)
        if name == CONTINUED[1]:
            _remove_incomplete_line(copy)
        partial = f"{self.root}/.{name}.partial"
        self.fs.put_file(str(copy), partial)
        self.fs.mv(partial, f"{self.root}/{name}")


def _remove_incomplete_line(path: Path) -> None:
    """Removes what follows the last end of a line: a run that is being written."""
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            begin = max(end - 65536, 0)
            file.seek(begin)
            found = file.read(end - begin).rfind(b"\n")
            if found >= 0:
                file.truncate(begin + found + 1)
                return
            end = begin
        file.truncate(0)


def place_of(out: str | os.PathLike[str], options: Mapping[str, object] | None) -> Folder:
    """The folder or the address that a user has named."""
    if not isinstance(out, str) or ("://" not in out and "::" not in out):
        return Folder(out)
    import fsspec

    if fsspec.utils.get_protocol(out) in {"file", "local"}:
        return Folder(fsspec.core.strip_protocol(out))
    return Address(out, options or {})
