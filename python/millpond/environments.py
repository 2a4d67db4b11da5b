"""Gymnasium environments: an agent sets the pacing rate of one flow.

``docs/gymnasium.md`` describes observations, actions and rewards with their units. Importing this module registers
``millpond/LinkControl-v0``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from millpond import _core
from millpond._arguments import whole
from millpond._scenario import Scenario
from millpond._trace import Trace

Observation: TypeAlias = NDArray[np.float32]

#: Names and units of the entries of an observation.
OBSERVED = (
    ("pacing rate", "Mbit/s"),
    ("delivery rate", "Mbit/s"),
    ("round-trip time", "ms"),
    ("least round-trip time", "ms"),
    ("queueing delay", "ms"),
    ("lost packets", "1"),
    ("marked packets", "1"),
)

#: Largest entries of an observation.
LARGEST = np.array([1e6, 1e6, 1e6, 1e6, 1e6, 1.0, 1.0], dtype=np.float32)

#: Length of a step, in seconds.
STEP_S = 0.01

#: The least length of a last step, in full steps: a shorter one is the rounding of times, and has no rate of its own.
SHORTEST = 1e-6

#: Seeds of scenarios.
SEEDS = 2**31


def one_link(rate: str = "20Mbps", *, delay: str = "20ms", duration: str = "10s", buffer: str = "2bdp") -> Scenario:
    """A flow over one link of constant rate."""
    return Scenario(_values({"rate": rate}, delay, duration, buffer))


def varying_link(
    seed: int, *, preset: str = "5g-static", mean: str = "20Mbps", delay: str = "20ms", duration: str = "10s"
) -> Scenario:
    """A flow over one link with a generated trace, another one for each seed.

    Parameters
    ----------
    seed : int
        Seed of trace and run.
    preset, mean : str
        As for `Trace.generate`.
    delay, duration : str
        One-way delay of the link, length of the episode.
    """
    trace = Trace.generate(preset, duration=duration, seed=seed, mean=mean)
    steps = [[f"{time}s", f"{max(rate, 0.0):.0f}bps"] for time, rate in zip(trace.time_s, trace.rate_bps, strict=True)]
    return Scenario(_values({"rate": {"steps": steps}}, delay, duration, "2bdp"))


def _values(link: dict[str, Any], delay: str, duration: str, buffer: str) -> dict[str, Any]:
    ends = {"name": "link", "between": ["sender", "receiver"], "delay": delay, "buffer": buffer}
    flow = {"name": "agent", "protocol": "cubic", "path": ["sender", "receiver"]}
    return {"title": "Link control", "duration": duration, "links": [{**ends, **link}], "flows": [flow]}


def _plain(seed: int | None) -> int | None:
    """A seed as Gymnasium accepts it: no number of NumPy."""
    return int(seed) if isinstance(seed, np.integer) else seed


class _Episode:
    """A network with the controlled flow, and what an agent sees of it."""

    def __init__(self, env: LinkControl | LinkControlVector, seed: int) -> None:
        source = env.scenario
        scenario = (source if isinstance(source, Scenario) else source(seed)).with_seed(seed)
        group = env.group or scenario.groups[0]
        controlled = scenario.set(f"flows.{group}.protocol", "agent")
        self.settings = env
        self.rate_bps = env.first_rate_bps
        self.core = _core.LinkControl(controlled._inner, group, env.step_s, self.rate_bps)
        self.mean_bps = self.core.mean_capacity_bps()
        self.packet = self.core.packet_bytes()
        self.duration_s = controlled.duration_s
        self.has_ended = False
        self.values = [self.rate_bps / 1e6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        self.info: dict[str, Any] = {"time_s": 0.0, "capacity_mbps": 0.0, "delivered_mbps": 0.0}

    def step(self, action: float) -> tuple[float, bool]:
        """Changes the rate and runs a step; returns the reward and whether the run has ended."""
        settings = self.settings
        if self.has_ended:
            raise _core.Error("the episode has ended: reset the environment")
        if not math.isfinite(action):
            raise _core.Error(f"the action is {action}: expected a number from -1 to 1")
        factor = 2.0 ** min(max(action, -1.0), 1.0)
        self.rate_bps = min(max(self.rate_bps * factor, settings.least_rate_bps), settings.greatest_rate_bps)
        step_s = self.next_step_s()
        time_s, acked, packets, marked, lost, _, least_s, mean_s, capacity_bits, done = self.core.step(self.rate_bps)
        self.has_ended = done
        delivered_bps = 8 * acked / step_s
        lost_packets = lost / self.packet
        loss = lost_packets / max(packets + lost_packets, 1)
        last_rtt_ms = self.values[2]
        rtt_ms = 1e3 * mean_s if mean_s > 0.0 else last_rtt_ms
        queueing_ms = max(rtt_ms - 1e3 * least_s, 0.0)
        self.values = [
            self.rate_bps / 1e6,
            delivered_bps / 1e6,
            rtt_ms,
            1e3 * least_s,
            queueing_ms,
            loss,
            marked / max(packets, 1),
        ]
        self.info = {
            "time_s": time_s,
            "capacity_mbps": capacity_bits / step_s / 1e6,
            "delivered_mbps": delivered_bps / 1e6,
        }
        reward = (
            delivered_bps / self.mean_bps - settings.delay_weight * queueing_ms / 100.0 - settings.loss_weight * loss
        )
        return reward, done

    def next_step_s(self) -> float:
        """The length of the next step, in seconds: the last one may be shorter than the others."""
        full, left = self.settings.step_s, self.duration_s - self.info["time_s"]
        return left if SHORTEST * full < left < full else full

    def observation(self) -> Observation:
        return np.minimum(np.array(self.values, dtype=np.float32), LARGEST)


class LinkControl(gymnasium.Env[Observation, NDArray[np.float32]]):
    """An agent sets the pacing rate of one flow in steps of simulated time.

    Parameters
    ----------
    scenario : Scenario or callable, optional
        The network, or a function from the seed of an episode to it. Default: `varying_link`, one link with another
        trace in each episode.
    group : str, optional
        The group with the one controlled flow. Default: the first one.
    step_s : float
        Length of a step, in seconds; the last step of an episode ends with the scenario and may be shorter.
    first_rate_mbps, least_rate_mbps, greatest_rate_mbps : float
        The pacing rate at the beginning, and its limits.
    delay_weight : float
        What 100 ms of queueing delay cost, in parts of the mean capacity.
    loss_weight : float
        What it costs if all packets are lost, in parts of the mean capacity.

    Raises
    ------
    Error
        A step or a rate is not above zero, the first rate is outside of the limits, or a weight is not a number.
    """

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | Callable[[int], Scenario] = varying_link,
        *,
        group: str | None = None,
        step_s: float = STEP_S,
        first_rate_mbps: float = 1.0,
        least_rate_mbps: float = 0.1,
        greatest_rate_mbps: float = 1000.0,
        delay_weight: float = 1.0,
        loss_weight: float = 1.0,
        render_mode: str | None = None,
    ) -> None:
        rates = (least_rate_mbps, first_rate_mbps, greatest_rate_mbps)
        if not (0.0 < rates[0] <= rates[1] <= rates[2] < math.inf):
            raise _core.Error(f"the rates {rates} are least, first and greatest: expected ascending ones above zero")
        if not (0.0 < step_s < math.inf and math.isfinite(delay_weight) and math.isfinite(loss_weight)):
            text = f"step_s={step_s}, delay_weight={delay_weight}, loss_weight={loss_weight}"
            raise _core.Error(f"{text}: expected a step above zero, and weights that are numbers")
        self.scenario = scenario
        self.group = group
        self.step_s = step_s
        self.first_rate_bps = 1e6 * first_rate_mbps
        self.least_rate_bps = 1e6 * least_rate_mbps
        self.greatest_rate_bps = 1e6 * greatest_rate_mbps
        self.delay_weight = delay_weight
        self.loss_weight = loss_weight
        self.render_mode = render_mode
        self.observation_space = spaces.Box(np.zeros(len(OBSERVED), dtype=np.float32), LARGEST)
        self.action_space = spaces.Box(-1.0, 1.0, shape=(1,))
        self._episode: _Episode | None = None

    def __getstate__(self) -> dict[str, Any]:
        """A copy or a pickle has no episode: it begins with `reset`."""
        return {**self.__dict__, "_episode": None}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode. Its network and run depend on the seed alone.

        Parameters
        ----------
        seed : int, optional
            Seed of this episode and of the seeds of those after it.
        options : dict, optional
            None are defined.
        """
        super().reset(seed=_plain(seed))
        self._episode = _Episode(self, int(self.np_random.integers(SEEDS)))
        return self._episode.observation(), self._episode.info

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Multiplies the pacing rate by two to the power of `action`, and runs a step of simulated time.

        Parameters
        ----------
        action : ndarray, shape (1,)
            A number from -1 to 1; a greater or smaller one counts as the bound.

        Raises
        ------
        Error
            The action is not one number, or the episode has ended.

        Returns
        -------
        observation : ndarray, shape (7,)
            The entries of `OBSERVED`.
        reward : float
            Delivered data over mean capacity, less the costs of queueing delay and losses.
        terminated, truncated : bool
            An episode is truncated at the end of the scenario; it never terminates.
        info : dict
            ``time_s``; ``capacity_mbps`` of the path in the step; ``delivered_mbps``.
        """
        episode = self._episode
        if episode is None:
            raise _core.Error("reset the environment before the first step")
        chosen = np.asarray(action, dtype=np.float64).reshape(-1)
        if len(chosen) != 1:
            raise _core.Error(f"the action has {len(chosen)} numbers: expected one, from -1 to 1")
        reward, done = episode.step(float(chosen[0]))
        return episode.observation(), reward, False, done, episode.info


class LinkControlVector(VectorEnv[Observation, NDArray[np.float32], NDArray[Any]]):
    """Several independent environments of `LinkControl`, stepped by one call.

    A finished episode begins again with the next step, whose action is ignored (`AutoresetMode.NEXT_STEP`).

    Parameters
    ----------
    num_envs : int
        Their number.
    **settings
        Those of `LinkControl`.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, num_envs: int = 1, **settings: Any) -> None:  # noqa: ANN401
        single = LinkControl(**settings)
        self.num_envs = num_envs = whole("num_envs", num_envs, 1)
        self.scenario, self.group, self.step_s = single.scenario, single.group, single.step_s
        self.first_rate_bps = single.first_rate_bps
        self.least_rate_bps, self.greatest_rate_bps = single.least_rate_bps, single.greatest_rate_bps
        self.delay_weight, self.loss_weight = single.delay_weight, single.loss_weight
        self.single_observation_space = single.observation_space
        self.single_action_space = single.action_space
        self.observation_space = batch_space(single.observation_space, num_envs)
        self.action_space = batch_space(single.action_space, num_envs)
        self._episodes: list[_Episode] = []
        self._generators: list[np.random.Generator] = []
        self._done = np.zeros(num_envs, dtype=np.bool_)

    def __getstate__(self) -> dict[str, Any]:
        """A copy or a pickle has no episodes: it begins with `reset`."""
        return {**self.__dict__, "_episodes": []}

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins all episodes. A number seeds the first environment with itself, the second with its successor, ...

        Parameters
        ----------
        seed : int or sequence of int, optional
            As for `LinkControl.reset`; a sequence has one for each environment.
        options : dict, optional
            None are defined.

        Raises
        ------
        Error
            There are more or fewer seeds than environments.
        """
        for number, one in enumerate(self._seeds(seed)):
            if one is not None or len(self._generators) <= number:
                self._generators[number : number + 1] = [gymnasium.utils.seeding.np_random(one)[0]]
        self._episodes = [self._begin(number) for number in range(self.num_envs)]
        self._done[:] = False
        return self._observations(), self._info()

    def step(
        self, actions: NDArray[np.float32]
    ) -> tuple[Observation, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """One step of all environments; see `LinkControl.step`."""
        if not self._episodes:
            raise _core.Error("reset the environments before the first step")
        rewards = np.zeros(self.num_envs)
        ended = np.zeros(self.num_envs, dtype=np.bool_)
        chosen = np.asarray(actions).reshape(-1).tolist()
        if len(chosen) != self.num_envs:
            raise _core.Error(f"there are {len(chosen)} actions: expected one for each of {self.num_envs} environments")
        for number, action in enumerate(chosen):
            if self._done[number]:
                self._episodes[number] = self._begin(number)
            else:
                rewards[number], ended[number] = self._episodes[number].step(action)
        self._done = ended
        return self._observations(), rewards, np.zeros_like(ended), ended.copy(), self._info()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """The seed of each environment."""
        if isinstance(seed, (Sequence, np.ndarray)):
            if len(seed) != self.num_envs:
                count = self.num_envs
                raise _core.Error(f"there are {len(seed)} seeds: expected one for each of {count} environments")
            return [_plain(one) for one in seed]
        first = _plain(seed)
        return [None if first is None else first + number for number in range(self.num_envs)]

    def _begin(self, number: int) -> _Episode:
        return _Episode(self, int(self._generators[number].integers(SEEDS)))

    def _observations(self) -> Observation:
        values = [episode.values for episode in self._episodes]
        return np.minimum(np.array(values, dtype=np.float32), LARGEST)

    def _info(self) -> dict[str, Any]:
        names = ("time_s", "capacity_mbps", "delivered_mbps")
        return {name: np.array([episode.info[name] for episode in self._episodes]) for name in names}


gymnasium.register(
    id="millpond/LinkControl-v0",
    entry_point="millpond.environments:LinkControl",
    vector_entry_point="millpond.environments:LinkControlVector",
)
