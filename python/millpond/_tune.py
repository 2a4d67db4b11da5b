"""Tuning: the parameters of a protocol that are best for several objectives."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from millpond import _toml
from millpond._arguments import MOST_SEEDS, listed, whole
from millpond._core import Error, GuestError
from millpond._law import Law, name_of
from millpond._progress import Progress, shown
from millpond._run import Run
from millpond._scenario import Scenario, World

if TYPE_CHECKING:
    import altair
    import optuna
    import pandas

    from millpond.plot import PaperFigure

#: The entry of ``[protocols]`` under which the parameters of a trial stand.
TUNED = "tuned"

#: The largest seed of a search.
LARGEST_SEED = 2**32 - 1

#: A value of a parameter as scenarios write it.
Setting: TypeAlias = str | float | bool

#: A range ``low..high``, with equal units or none, and how it is sampled.
RANGE = re.compile(
    r"(?P<low>-?[\d.]+(?:e[+-]?\d+)?)(?P<unit>[a-zA-Z]*)\.\.(?P<high>-?[\d.]+(?:e[+-]?\d+)?)(?P=unit)(?::(?P<kind>log|whole))?"
)


@dataclass(frozen=True)
class Objective:
    """A quantity of a run that is to be small or large.

    Parameters
    ----------
    name, unit : str
        As a figure shows them.
    direction : {"minimize", "maximize"}
        What is better.
    measure : callable
        The quantity of a run. A trial in which it is NaN is left out.
    """

    name: str
    unit: str
    direction: Literal["minimize", "maximize"]
    measure: Callable[[Run], float]

    def _of(self, run: Run) -> float:
        """The quantity of a run.

        Raises
        ------
        Error
            It is not a number.
        """
        value = self.measure(run)
        if not isinstance(value, numbers.Real) or math.isnan(value):
            raise Error(f"the objective {self.name!r} is {value!r}: expected a number")
        return float(value)


def _p95(run: Run) -> float:
    return run.summary.queueing_ms.p95


def _mean_delay(run: Run) -> float:
    return run.summary.queueing_ms.mean


def _utilization(run: Run) -> float:
    return 100 * max(link.utilization for link in run.summary.links)


def _goodput(run: Run) -> float:
    return sum(flow.goodput_bps for flow in run.summary.flows) / 1e6


def _jain(run: Run) -> float:
    jain = run.summary.fairness.jain
    if jain is None:
        raise Error("the objective 'jain' needs two flows that run in the measured time")
    return jain


#: The objectives that can be named.
OBJECTIVES = {
    "utilization": Objective("utilization", "%", "maximize", _utilization),
    "goodput": Objective("total goodput", "Mbit/s", "maximize", _goodput),
    "queueing_p95": Objective("queueing delay, 95th percentile", "ms", "minimize", _p95),
    "queueing_mean": Objective("queueing delay, mean", "ms", "minimize", _mean_delay),
    "jain": Objective("Jain index", "1", "maximize", _jain),
}


@dataclass(frozen=True)
class Trial:
    """The parameters of a trial and the means of its objectives over the seeds."""

    parameters: dict[str, Setting]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Tuning:
    """Finished trials.

    Attributes
    ----------
    objectives : tuple of Objective
        The objectives.
    trials : tuple of Trial
        All trials that have values, in the order of their runs.
    refused : int
        The number of trials without values: the protocol refused their parameters, or an objective was not a number.
    study : optuna.Study
        The study, for Optuna's own analyses.
    """

    objectives: tuple[Objective, ...]
    trials: tuple[Trial, ...]
    refused: int
    study: optuna.Study

    @property
    def front(self) -> list[Trial]:
        """The Pareto front: trials that no other one equals or exceeds in all objectives and exceeds in one."""
        costs = [self._costs(trial) for trial in self.trials]
        best = [
            trial for trial, own in zip(self.trials, costs, strict=True) if not any(_dominates(c, own) for c in costs)
        ]
        return sorted(best, key=lambda trial: trial.values)

    def _costs(self, trial: Trial) -> tuple[float, ...]:
        """The values, smaller ones being better."""
        pairs = zip(trial.values, self.objectives, strict=True)
        return tuple(value if one.direction == "minimize" else -value for value, one in pairs)

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each trial: its parameters, its objectives, and whether it is on the front."""
        import pandas

        front = self.front
        rows = [
            {
                **trial.parameters,
                **{f"{one.name} [{one.unit}]": value for one, value in zip(self.objectives, trial.values, strict=True)},
                "front": trial in front,
            }
            for trial in self.trials
        ]
        return pandas.DataFrame(rows)

    def plot(self, *, columns: Literal[1, 2] = 1) -> PaperFigure:
        """The trials and their Pareto front over the first two objectives.

        Raises
        ------
        Error
            There is only one objective.
        """
        from millpond.plot import pareto

        labels = self._labels()
        return pareto([trial.values for trial in self.trials], [trial.values for trial in self.front], labels, columns)

    def chart(self) -> altair.LayerChart:
        """The figure of `plot` as an interactive chart, which shows the parameters of the trial under the pointer.

        Raises
        ------
        Error
            There is only one objective.
        """
        from millpond.charts import pareto

        titles = {f"objective{number}": label for number, label in enumerate(self._labels())}
        names = {f"parameter{number}": name for number, name in enumerate(self.trials[0].parameters)}
        rows: list[dict[str, str | float]] = [
            {
                **dict(zip(titles, trial.values, strict=True)),
                **{key: str(trial.parameters[name]) for key, name in names.items()},
            }
            for trial in self.trials
        ]
        return pareto(rows, [self.trials.index(trial) for trial in self.front], titles | names)

    def _labels(self) -> list[str]:
        """The label of each objective, with its unit.

        Raises
        ------
        Error
            There is only one objective.
        """
        if len(self.objectives) < 2:  # noqa: PLR2004
            raise Error("the figure of a Pareto front needs two objectives")
        return [f"{one.name[0].upper()}{one.name[1:]} [{one.unit}]" for one in self.objectives]

    def __repr__(self) -> str:
        return f"<Tuning: {len(self.trials)} trials, {len(self.front)} on the front>"


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether `one` is at least as good in all costs and better in one."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def tune(
    scenario: Scenario,
    protocol: str | type[Law],
    space: Mapping[str, str | Iterable[Setting]],
    *,
    objectives: Sequence[str | Objective] = ("queueing_p95", "utilization"),
    trials: int = 50,
    seeds: int = 1,
    seed: int = 0,
    world: World = "packets",
    progress: bool | Progress | None = None,
) -> Tuning:
    """Searches parameters of a protocol for several objectives, with Optuna.

    All flows that are not ``pinned`` use the protocol. The same call has the same trials.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    protocol : str or type
        The name of a protocol, or a subclass of `Law`.
    space : Mapping
        For each parameter a list of values, or a range such as ``"0.1..0.9"``, ``"1ms..100ms:log"`` or
        ``"1..8:whole"``.
    objectives : sequence of str or Objective
        Names of `OBJECTIVES`, or own ones.
    trials : int
        Number of trials.
    seeds : int
        Number of seeds of each trial, from the scenario's seed upwards; objectives are means over them.
    seed : int
        Seed of the search.
    world : {"packets", "fluid"}
        The world.
    progress : bool or callable, optional
        As for `Scenario.run`.

    Raises
    ------
    Error
        A range, an objective or a number is invalid, or no trial has values: the protocol refused the parameters of
        every one, or an objective was not a number.
    GuestError
        A law in Python failed.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    chosen = tuple(_objective(one) for one in listed("objectives", objectives))
    if not chosen:
        raise Error(f"objectives is empty: expected at least one of {', '.join(OBJECTIVES)}")
    trials, seeds = whole("trials", trials, 1), whole("seeds", seeds, 1, MOST_SEEDS)
    seed = whole("seed", seed, 0, LARGEST_SEED)
    if not isinstance(space, Mapping):
        raise Error(f'space is {space!r}: expected a mapping, such as {{"alpha": "1..4"}}')
    ranges = {name: _range(name, values) for name, values in space.items()}
    name = name_of(protocol)
    refusals: list[Error] = []

    def measured(trial: optuna.Trial) -> tuple[float, ...]:
        parameters = {key: sample(trial) for key, sample in ranges.items()}
        trial.set_user_attr("parameters", parameters)
        runs = scenario.set(f"protocols.{TUNED}", {"protocol": name, "params": parameters}).compare(
            [TUNED], worlds=[world], seeds=seeds, progress=False
        )
        return tuple(sum(one._of(run) for run in runs) / len(runs) for one in chosen)

    def objective(trial: optuna.Trial) -> tuple[float, ...]:
        try:
            return measured(trial)
        except GuestError:
            raise
        except Error as error:
            refusals.append(error)
            raise optuna.TrialPruned from error

    directions = [one.direction for one in chosen]
    study = optuna.create_study(directions=directions, sampler=optuna.samplers.TPESampler(seed=seed))
    with shown(f"{name}: {scenario.title}", progress) as show:
        report = [] if show is None else [lambda study, _: show(len(study.trials) / trials)]
        study.optimize(objective, n_trials=trials, callbacks=report)
    finished = [
        Trial(trial.user_attrs["parameters"], tuple(trial.values))
        for trial in study.trials
        if trial.state == optuna.trial.TrialState.COMPLETE
    ]
    if not finished and refusals:
        raise refusals[0]
    return Tuning(chosen, tuple(finished), len(refusals), study)


def _objective(objective: str | Objective) -> Objective:
    if isinstance(objective, Objective):
        return objective
    if objective not in OBJECTIVES:
        raise Error(f"there is no objective {objective!r}; there are: {', '.join(OBJECTIVES)}")
    return OBJECTIVES[objective]


def _range(name: str, values: str | Iterable[Setting]) -> Callable[[optuna.Trial], Setting]:
    """The function that samples a parameter."""
    if not isinstance(values, str):
        choices: Any = [_toml.plain(one) for one in listed(name, values)]
        if not choices:
            raise Error(f"{name} is empty: expected at least one value")
        return lambda trial: trial.suggest_categorical(name, choices)
    match = RANGE.fullmatch(values.strip())
    if match is None:
        raise Error(f'{name}: expected a list, or a range such as "0.1..0.9" or "1ms..100ms:log", found {values!r}')
    low, high, unit, kind = float(match["low"]), float(match["high"]), match["unit"], match["kind"]
    if low > high or (kind == "log" and low <= 0):
        raise Error(f"{name}: {values!r} is not a range: write the lower end first, and above zero with log")

    def sample(trial: optuna.Trial) -> Setting:
        if kind == "whole":
            return trial.suggest_int(name, int(low), int(high))
        value = trial.suggest_float(name, low, high, log=kind == "log")
        return f"{value:.9g}{unit}" if unit else value

    return sample
