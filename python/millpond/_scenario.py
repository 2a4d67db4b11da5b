"""Scenarios."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from millpond import _core, _toml
from millpond._arguments import MOST_SEEDS, listed, whole, worded
from millpond._comparison import Comparison
from millpond._law import Law, name_of
from millpond._progress import Progress, shown
from millpond._run import Run
from millpond._theory import Allocation, Equilibrium, Stability
from millpond._toml import Value

#: ``"packets"``: the packet-level simulator. ``"fluid"``: the laws as differential equations.
World: TypeAlias = Literal["packets", "fluid"]


class Scenario:
    """A network, its flows, their protocols and what is measured.

    A scenario does not change: `set` and `with_seed` return another one. Scenarios are equal if they have equal values
    of all keys, defaults included, and their traces equal rates, however they are written. ``docs/scenario.md``
    documents every key.

    Parameters
    ----------
    values : Mapping
        The keys of a scenario file. Lists of tables are lists of mappings; rates, times and sizes are texts with
        units, such as ``"50Mbps"``, ``"10ms"`` and ``"1bdp"``.
    folder : path, optional
        Folder to which paths of traces are relative. Default: the current directory.

    Raises
    ------
    Error
        The scenario is invalid.

    Examples
    --------
    >>> Scenario({
    ...     "title": "A download",
    ...     "duration": "30s",
    ...     "links": [{"name": "access", "between": ["server", "home"], "rate": "50Mbps", "delay": "10ms"}],
    ...     "flows": [{"name": "download", "protocol": "cubic", "path": ["server", "home"]}],
    ... })
    """

    __slots__ = ("_expression", "_inner")

    _inner: _core.Scenario
    #: The expression that makes the scenario.
    _expression: str

    def __init__(self, values: Mapping[str, Value], *, folder: str | os.PathLike[str] = "") -> None:
        self._inner = _core.Scenario.parse(_toml.document(values), "the scenario", folder)
        self._expression = "millpond.Scenario(...)"

    @classmethod
    def _of(cls, core: _core.Scenario, expression: str) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._inner = core
        scenario._expression = expression
        return scenario

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """The scenario of a TOML file.

        Parameters
        ----------
        path : path
            The file. Paths of traces in it are relative to its folder.

        Raises
        ------
        Error
            The file cannot be read or is invalid; the text is that of the command, with lines and keys.
        """
        return cls._of(_core.Scenario.load(path), f"millpond.Scenario.load({str(path)!r})")

    @classmethod
    def parse(cls, text: str, *, name: str = "the scenario", folder: str | os.PathLike[str] = "") -> Scenario:
        """The scenario of a text in TOML.

        Parameters
        ----------
        text : str
            The text.
        name : str
            What errors call the text.
        folder : path, optional
            Folder to which paths of traces are relative. Default: the current directory.

        Raises
        ------
        Error
            The text is invalid.
        """
        return cls._of(_core.Scenario.parse(text, name, folder), "millpond.Scenario.parse(...)")

    def set(self, key: str | Mapping[str, Value], value: Value | None = None) -> Scenario:
        """The scenario with other values of some keys.

        Parameters
        ----------
        key : str or Mapping
            A key with dots, such as ``"links.L1.rate"``; items of lists are addressed by their names. Or a mapping of
            keys to values, which are all set before the scenario is checked.
        value : str, bool, number, path, list or dict
            The value of a single key. A text is read as by ``--set`` of the command: ``"50Mbps"``. Numbers may be those
            of NumPy.

        Returns
        -------
        Scenario
            The changed scenario.

        Raises
        ------
        Error
            The changed scenario is invalid.
        TypeError
            The value has no TOML form.
        """
        values = {key: value} if isinstance(key, str) else key
        sets = [f"{name}={one if isinstance(one, str) else _toml.inline(one)}" for name, one in _given(values)]
        written = ", ".join(f"{name!r}: {one!r}" for name, one in values.items())
        expression = f"{self._expression}.set({{{written}}})"
        return self._of(self._inner.with_sets(sets), expression)

    def with_seed(self, seed: int) -> Scenario:
        """The scenario with another seed of all random numbers, a whole number from 0 to 2^64 - 1."""
        seed = whole("seed", seed, 0)
        return self._of(self._inner.with_seed(seed), f"{self._expression}.with_seed({seed})")

    @property
    def title(self) -> str:
        """Title of the scenario."""
        return self._inner.title

    @property
    def seed(self) -> int:
        """Seed of all random numbers."""
        return self._inner.seed

    @property
    def duration_s(self) -> float:
        """Simulated time of a run, in seconds."""
        return self._inner.duration_s

    @property
    def groups(self) -> list[str]:
        """Names of the groups of flows."""
        return self._inner.groups

    @property
    def links(self) -> list[str]:
        """Names of the links."""
        return self._inner.links

    def to_toml(self) -> str:
        """The scenario with all defaults, as TOML that can be run again."""
        return self._inner.to_toml()

    def check(self, *, world: World = "packets") -> list[str]:
        """Checks what only a plan of the run can check: protocols, queues and their parameters.

        Returns
        -------
        list of str
            Warnings, one sentence each.

        Raises
        ------
        Error
            The scenario cannot be run in this world.
        """
        warnings, _ = self._inner.check(world)
        return warnings

    def run(
        self,
        *,
        world: World = "packets",
        seed: int | None = None,
        protocol: str | type[Law] | None = None,
        progress: bool | Progress | None = None,
    ) -> Run:
        """Runs the scenario.

        Other threads of Python run meanwhile. Ctrl-C ends the run.

        Parameters
        ----------
        world : {"packets", "fluid"}
            The simulator or the differential equations.
        seed : int, optional
            Seed of all random numbers, in place of the scenario's.
        protocol : str or type, optional
            Protocol of all flows that are not ``pinned``: a registered one, an entry of the scenario's
            ``[protocols]``, or a subclass of `Law`, which is registered.
        progress : bool or callable, optional
            Whether a line of progress is shown after a second, or a function of the share that is done, from 0 to 1.
            Default: in terminals and notebooks.

        Returns
        -------
        Run
            The results, which depend on scenario, seed and version only.

        Raises
        ------
        Error
            The scenario cannot be run.
        GuestError
            A law in Python raised an exception or set a value without meaning.
        """
        scenario = self if seed is None else self.with_seed(seed)
        name = None if protocol is None else name_of(protocol)
        options = [f"world={world!r}"] + ([] if name is None else [f"protocol={name!r}"])
        command = f"{scenario._expression}.run({', '.join(options)})"
        with shown(scenario.title, progress) as show:
            return Run(_core.run(scenario._inner, world, name, command, show))

    def compare(
        self,
        protocols: Iterable[str | type[Law]] = (),
        *,
        queues: Iterable[str] = (),
        worlds: Iterable[World] = ("packets",),
        seeds: int = 1,
        threads: int = 0,
        progress: bool | Progress | None = None,
    ) -> Comparison:
        """Runs the scenario under several protocols, at several queues, in several worlds and with several seeds.

        Random values of flows depend on the seed only, so that protocols meet equal conditions.

        Parameters
        ----------
        protocols : iterable of str or type
            Protocols of the flows that are not ``pinned``: names, variants such as ``"lgcc:cellular"`` and
            ``"lgcc:follow=share,drain=4"``, or subclasses of `Law`, which are registered. Default: those of the
            scenario.
        queues : iterable of str
            Queues, each at every link that carries data; with protocols, all pairs. Default: those of the scenario.
        worlds : iterable of {"packets", "fluid"}
            The worlds.
        seeds : int
            Number of seeds, from the scenario's seed upwards.
        threads : int
            Number of runs at the same time, at most one per core; 0 for `RAYON_NUM_THREADS`, else one per core.
        progress : bool or callable, optional
            As for `run`.

        Returns
        -------
        Comparison
            The runs and the table that compares them, with confidence intervals over the seeds.

        Raises
        ------
        Error
            A protocol or a queue is unknown or named twice, or the scenario cannot be run.
        GuestError
            A law in Python raised an exception or set a value without meaning.
        """
        names = [name_of(one) for one in listed("protocols", protocols)]
        at_queues = [*listed("queues", queues)]
        chosen = listed("worlds", worlds)
        if not chosen:
            raise _core.Error('worlds is empty: expected at least one of "packets" and "fluid"')
        seeds, threads = whole("seeds", seeds, 1, MOST_SEEDS), whole("threads", threads, 0)
        at = f", queues={at_queues!r}" if at_queues else ""
        command = f"{self._expression}.compare({names!r}{at}, worlds={chosen!r}, seeds={seeds})"
        with shown(self.title, progress) as show:
            compared = _core.compare(self._inner, names, at_queues, [*chosen], seeds, threads, command, show)
            return Comparison(compared)

    def equilibrium(self, *, at: str | None = None) -> Equilibrium:
        """Rates, prices and queues in equilibrium, from the equations of the laws.

        Parameters
        ----------
        at : str, optional
            Links with a varying capacity have that of this time of the run, such as ``"20s"``. Default: their mean
            over the run.

        Raises
        ------
        Error
            The equations cannot represent the scenario, or no equilibrium was found.
        """
        return Equilibrium(*_core.equilibrium(self._inner, worded("at", at, "20s"), None, []))

    def allocation(
        self, *, alpha: float, weights: Mapping[str, float] | None = None, at: str | None = None
    ) -> Allocation:
        """Rates that maximize the sum of alpha-fair utilities under the capacities of the links.

        Parameters
        ----------
        alpha : float
            0: throughput; 1: proportional fairness; 2: minimum potential delay; ``math.inf``: max-min fairness.
        weights : Mapping, optional
            Weight of each flow of a group, by the name of the group. A flow of weight w counts as w flows.
        at : str, optional
            As for `equilibrium`.
        """
        given = [f"{group}={weight}" for group, weight in (weights or {}).items()]
        time = worded("at", at, "20s")
        return Allocation(*_core.equilibrium(self._inner, time, f"alpha={alpha}", given))

    def stability(self, *, critical: Iterable[str] = ("rtt",), at: str | None = None) -> Stability:
        """Characteristic roots, margins and critical values at the equilibrium.

        Parameters
        ----------
        critical : iterable of str
            Parameters whose critical values are searched: ``"rtt"``, ``"flows"`` or
            ``"protocols.NAME.params.PARAMETER"``.
        at : str, optional
            As for `equilibrium`.

        Raises
        ------
        Error
            There is no equilibrium that can be linearized.
        """
        return Stability(*_core.stability(self._inner, listed("critical", critical), worded("at", at, "20s")))

    def __eq__(self, other: object) -> bool:
        return self._inner.key() == other._inner.key() if isinstance(other, Scenario) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self._inner.key()))

    def __repr__(self) -> str:
        return f"<Scenario {self.title!r}: {len(self.groups)} groups of flows, {len(self.links)} links>"

    def __reduce__(self) -> tuple[object, ...]:
        return (_restored, (self._inner.parts(), Path.cwd(), self._expression))


def _restored(parts: tuple[str, str, Path, list[str], int | None], cwd: Path, expression: str) -> Scenario:
    """The scenario of another process, whose current directory was ``cwd``."""
    text, name, folder, sets, seed = parts
    absolute = folder if cwd == Path.cwd() else cwd / folder
    return Scenario._of(_core.Scenario.restore(text, name, absolute, sets, seed), expression)


def _given(values: Mapping[str, Value | None]) -> Iterable[tuple[str, Value]]:
    """The items of a mapping, each with a value.

    Raises
    ------
    TypeError
        A key has no value.
    """
    for name, value in values.items():
        if value is None:
            raise TypeError(f"set({name!r}, ...) needs a value")
        yield name, value
