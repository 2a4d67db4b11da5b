"""Trains a rate controller for a varying link in about a minute, and compares it with CUBIC and ABC on other traces.

The controller has four weights: it multiplies its pacing rate by two to the power of a linear function of what it
observes. The cross-entropy method finds the weights: it samples candidates, keeps the best quarter, and samples
around them again.

Usage: train_rate_control.py [ROUNDS]     (default: 12 rounds)
"""

import sys

import numpy as np
from millpond.environments import LinkControl, varying_link

TRAINING_SEEDS = range(6)
HELD_OUT_SEEDS = range(1000, 1005)
CANDIDATES, KEPT = 24, 6


def action(weights, observation):
    """The change of the rate, in powers of two per step, from an observation of `millpond.environments`."""
    pacing, delivery, _, least_rtt, queueing, loss, _ = observation
    features = np.array([1.0, queueing / max(least_rtt, 1.0), delivery / pacing - 1.0, loss])
    return np.clip(weights @ features, -1.0, 1.0, dtype=np.float32)[None]


def episode(weights, seed):
    """Mean reward, utilization and mean queueing delay in ms of the controller on one trace."""
    env = LinkControl(lambda _: varying_link(seed), first_rate_mbps=5.0)
    observation, _ = env.reset(seed=seed)
    rewards, delivered, capacity, delayed, done = 0.0, 0.0, 0.0, 0.0, False
    while not done:
        observation, reward, _, done, info = env.step(action(weights, observation))
        rewards += reward
        delivered += info["delivered_mbps"]
        capacity += info["capacity_mbps"]
        delayed += info["delivered_mbps"] * observation[4]
    steps = round(info["time_s"] / env.step_s)
    return rewards / steps, delivered / capacity, delayed / max(delivered, 1e-9)


def train(rounds):
    """The weights after some rounds of the cross-entropy method."""
    random = np.random.default_rng(1)
    mean, spread = np.zeros(4), np.full(4, 0.5)
    for number in range(rounds):
        candidates = random.normal(mean, spread, (CANDIDATES, 4))
        scores = [np.mean([episode(one, seed)[0] for seed in TRAINING_SEEDS]) for one in candidates]
        best = candidates[np.argsort(scores)[-KEPT:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
        print(f"round {number + 1}: best mean reward {max(scores):.3f}")
    return mean


def built_in(protocol, seed):
    """Utilization and mean queueing delay in ms of a built-in protocol on one trace, from the beginning of the run."""
    scenario = varying_link(seed).set("measure.from", "0s")
    run = scenario.run(protocol=protocol, seed=seed)
    link = run.summary.links[0]
    return link.utilization, run.summary.flows[0].queueing_ms.mean


def main():
    """Trains the controller and prints the table."""
    weights = train(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
    print(f"weights: {np.round(weights, 3).tolist()}")
    print(f"{'held-out traces':16} {'utilization, %':>15} {'queueing delay, ms':>19}")
    rows = {"trained": [episode(weights, seed)[1:] for seed in HELD_OUT_SEEDS]}
    rows |= {name: [built_in(name, seed) for seed in HELD_OUT_SEEDS] for name in ("cubic", "abc")}
    for name, results in rows.items():
        (share, delay), (share_deviation, delay_deviation) = np.mean(results, axis=0), np.std(results, axis=0, ddof=1)
        print(f"{name:16} {100 * share:9.1f} ± {100 * share_deviation:3.1f} {delay:13.1f} ± {delay_deviation:.1f}")


main()
