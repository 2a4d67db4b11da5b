"""The environments follow the conventions of Gymnasium, repeat exactly, and obey the link."""

from __future__ import annotations

import copy
import math
import pickle
import re
import subprocess
import sys
from typing import Any

import gymnasium
import millpond
import numpy as np
import pytest
from conftest import ROOT
from gymnasium.utils.env_checker import check_env
from millpond.environments import OBSERVED, LinkControl, LinkControlVector, one_link, varying_link

NAMES = [name for name, _ in OBSERVED]


def hold(env: LinkControl, steps: int, seed: int = 1) -> list[dict[str, float]]:
    """Observations of steps without a change of the rate, with their rewards."""
    env.reset(seed=seed)
    rows = []
    for _ in range(steps):
        observation, reward, _, done, info = env.step(np.zeros(1, dtype=np.float32))
        rows.append({**dict(zip(NAMES, observation.tolist(), strict=True)), "reward": reward, "done": done, **info})
    return rows


def test_the_checks_of_gymnasium_pass_without_a_warning() -> None:
    env = gymnasium.make("millpond/LinkControl-v0")
    check_env(env.unwrapped)
    env.close()


def test_gymnasium_imports_the_module_of_the_environment() -> None:
    program = "import gymnasium; print(gymnasium.make('millpond.environments:millpond/LinkControl-v0').spec.id)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "millpond/LinkControl-v0\n", done.stderr


def test_below_the_capacity_the_rate_arrives_without_delay() -> None:
    rows = hold(LinkControl(one_link("20Mbps"), first_rate_mbps=8.0), 500)[100:]
    # Whole packets of 12 kbit in 10 ms: 8 Mbit/s on average.
    assert np.mean([row["delivery rate"] for row in rows]) == pytest.approx(8.0, rel=5e-3)
    assert {row["pacing rate"] for row in rows} == {8.0}
    # A round trip of 40 ms and services of 0.6 ms and 0.02 ms; hosts process within one service time.
    assert 40.5 < min(row["round-trip time"] for row in rows) < 42
    assert max(row["queueing delay"] for row in rows) < 1.5
    assert max(row["lost packets"] for row in rows) == 0
    # Utilization, less the queueing delay of at most 1.5 ms over 100 ms.
    assert np.mean([row["reward"] for row in rows]) == pytest.approx(0.4, abs=0.015)


def test_above_the_capacity_the_buffer_is_full_and_the_excess_is_lost() -> None:
    rows = hold(LinkControl(one_link("20Mbps"), first_rate_mbps=40.0), 500)[200:]
    assert np.mean([row["delivery rate"] for row in rows]) == pytest.approx(20.0, rel=5e-3)
    # A buffer of two bandwidth-delay products of 40 ms.
    assert np.mean([row["queueing delay"] for row in rows]) == pytest.approx(80, rel=0.03)
    assert np.mean([row["lost packets"] for row in rows]) == pytest.approx(0.5, abs=0.02)


def test_a_rate_holds_from_the_beginning_of_its_step() -> None:
    env = LinkControl(one_link("100Mbps"), first_rate_mbps=0.1, least_rate_mbps=0.1)
    env.reset(seed=1)
    # At 0.1 Mbit/s the next packet would leave after 120 ms; doublings reach 12.8 Mbit/s within 70 ms.
    for _ in range(7):
        env.step(np.ones(1, dtype=np.float32))
    delivered = [env.step(np.zeros(1, dtype=np.float32))[4]["delivered_mbps"] for _ in range(20)]
    assert np.mean(delivered[5:]) == pytest.approx(12.8, rel=0.06)


def test_an_episode_is_truncated_at_the_end_of_the_scenario() -> None:
    rows = hold(LinkControl(one_link("20Mbps", duration="2s")), 200)
    assert [row["done"] for row in rows] == [False] * 199 + [True]
    assert rows[-1]["time_s"] == 2.0
    assert {round(row["capacity_mbps"], 6) for row in rows} == {20.0}


def test_a_shorter_last_step_has_the_rates_of_the_others() -> None:
    # 33 steps of 30 ms and one of 10 ms.
    rows = hold(LinkControl(one_link("20Mbps", duration="1s"), step_s=0.03, first_rate_mbps=20.0), 34)
    assert [row["done"] for row in rows[-2:]] == [False, True]
    assert {round(row["capacity_mbps"], 6) for row in rows} == {20.0}
    # Whole packets of 12 kbit in 10 ms.
    assert rows[-1]["delivered_mbps"] == pytest.approx(20.0, abs=1.2)
    assert rows[-1]["delivery rate"] == pytest.approx(rows[-1]["delivered_mbps"])
    assert rows[-1]["reward"] == pytest.approx(rows[-2]["reward"], abs=0.06)


def test_a_last_step_of_a_picosecond_has_no_rate_of_its_own() -> None:
    rows = hold(LinkControl(one_link("20Mbps", duration="1s"), step_s=1 / 3, first_rate_mbps=20.0), 4)
    assert [row["time_s"] for row in rows] == [0.333333333333, 0.666666666666, 0.999999999999, 1.0]
    assert max(row["reward"] for row in rows) < 1.1


def test_seeds_may_be_numbers_of_numpy() -> None:
    single, vector = LinkControl(one_link()), LinkControlVector(2, scenario=varying_link)
    single.reset(seed=np.int64(3))  # type: ignore[arg-type]
    assert single.np_random_seed == 3
    state = [generator.bit_generator.state for generator in seeded(vector, 3)]
    seeds: list[Any] = [np.int64(3), np.array([3, 4]), (3, np.int32(4))]
    for seed in seeds:
        assert [generator.bit_generator.state for generator in seeded(vector, seed)] == state
    with pytest.raises(millpond.Error, match="there are 3 seeds: expected one for each of 2 environments"):
        vector.reset(seed=[1, 2, 3])


def seeded(vector: LinkControlVector, seed: Any) -> list[np.random.Generator]:
    """The generators of environments that this seed has begun."""
    vector.reset(seed=seed)
    return vector._generators


def test_seeds_repeat_exactly() -> None:
    def rewards(seed: int) -> list[float]:
        return [row["reward"] for row in hold(LinkControl(first_rate_mbps=10.0), 300, seed)]

    assert rewards(3) == rewards(3)
    assert rewards(3) != rewards(4)


def test_the_vector_environment_is_several_single_ones() -> None:
    settings: dict[str, Any] = {"scenario": lambda seed: varying_link(seed, duration="1s"), "first_rate_mbps": 10.0}
    vector = gymnasium.make_vec("millpond/LinkControl-v0", num_envs=3, **settings)
    assert isinstance(vector.unwrapped, LinkControlVector)
    singles = [LinkControl(**settings) for _ in range(3)]
    expected = np.array([single.reset(seed=5 + number)[0] for number, single in enumerate(singles)])
    observations, _ = vector.reset(seed=5)
    np.testing.assert_array_equal(observations, expected)
    random = np.random.default_rng(1)
    for step in range(250):
        actions = random.uniform(-1, 1, (3, 1)).astype(np.float32)
        observations, rewards, _, truncations, infos = vector.step(actions)
        # The step after the end of an episode begins the next one.
        if step % 101 == 100:
            results = [(single.reset()[0], 0.0, False, False, {"time_s": 0.0}) for single in singles]
        else:
            results = [single.step(action) for single, action in zip(singles, actions, strict=True)]
        np.testing.assert_array_equal(observations, np.array([result[0] for result in results]))
        assert rewards.tolist() == [result[1] for result in results]
        assert truncations.tolist() == [result[3] for result in results] == [step % 101 == 99] * 3
        assert infos["time_s"].tolist() == [result[4]["time_s"] for result in results]


def test_other_traffic_and_wrong_settings() -> None:
    shared = one_link("20Mbps")
    values: dict[str, Any] = {
        "title": "Beside CUBIC",
        "duration": "10s",
        "links": [{"name": "l", "between": ["a", "b"], "rate": "20Mbps", "delay": "20ms", "buffer": "1bdp"}],
        "flows": [
            {"name": "other", "protocol": "cubic", "path": ["a", "b"]},
            {"name": "agent", "protocol": "cubic", "path": ["a", "b"]},
        ],
    }
    rows = hold(LinkControl(millpond.Scenario(values), group="agent", first_rate_mbps=8.0), 900)[400:]
    # CUBIC fills the queue that the agent sees.
    assert np.mean([row["queueing delay"] for row in rows]) > 10
    with pytest.raises(millpond.Error, match="needs one flow"):
        LinkControl(shared.set("flows.agent.count", 2)).reset(seed=1)
    with pytest.raises(millpond.Error, match="reset the environment"):
        LinkControl(shared).step(np.zeros(1, dtype=np.float32))
    with pytest.raises(ValueError, match="longer than zero"):
        LinkControl(shared, step_s=1e-15).reset(seed=1)


def test_the_example_trains_a_controller_that_keeps_the_queue_shorter_than_cubic() -> None:
    command = [sys.executable, str(ROOT / "examples/train_rate_control.py"), "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = dict(re.findall(r"^(trained|cubic|abc) .* (\d+\.\d) ± \d+\.\d$", done.stdout, re.MULTILINE))
    assert list(rows) == ["trained", "cubic", "abc"]
    assert float(rows["trained"]) < float(rows["cubic"]) / 2


def test_a_setting_or_an_action_without_meaning_is_refused() -> None:
    for settings in (
        {"step_s": 0.0},
        {"first_rate_mbps": math.nan},
        {"first_rate_mbps": 0.0},
        {"delay_weight": math.inf},
    ):
        with pytest.raises(millpond.Error, match="expected"):
            LinkControl(one_link(), **settings)  # type: ignore[arg-type]
    env = LinkControl(one_link(duration="1s"))
    env.reset(seed=1)
    with pytest.raises(millpond.Error, match="the action is nan: expected a number from -1 to 1"):
        env.step(np.array([np.nan], dtype=np.float32))
    with pytest.raises(millpond.Error, match="the action has 2 numbers: expected one, from -1 to 1"):
        env.step(np.zeros(2, dtype=np.float32))
    for _ in range(100):
        env.step(np.zeros(1, dtype=np.float32))
    with pytest.raises(millpond.Error, match="the episode has ended: reset the environment"):
        env.step(np.zeros(1, dtype=np.float32))
    with pytest.raises(millpond.Error, match="num_envs is 0"):
        LinkControlVector(0)
    envs = LinkControlVector(3, scenario=one_link())
    envs.reset(seed=1)
    with pytest.raises(millpond.Error, match="there are 2 actions: expected one for each of 3"):
        envs.step(np.zeros((2, 1), dtype=np.float32))


def test_a_copied_or_pickled_environment_begins_with_reset() -> None:
    env = LinkControl(one_link(duration="1s"))
    first, _ = env.reset(seed=1)
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        with pytest.raises(millpond.Error, match="reset the environment before the first step"):
            copied.step(np.zeros(1, dtype=np.float32))
        assert np.array_equal(copied.reset(seed=1)[0], first)
    envs = LinkControlVector(2, scenario=one_link(duration="1s"))
    envs.reset(seed=1)
    with pytest.raises(millpond.Error, match="reset the environments before the first step"):
        pickle.loads(pickle.dumps(envs)).step(np.zeros((2, 1), dtype=np.float32))
