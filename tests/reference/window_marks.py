"""Mean windows of NewReno and CUBIC under random marks, for papers/worlds/marks.toml.

NewReno acknowledgement by acknowledgement over a path without a queue: w grows by 1 / w per acknowledgement, a mark
halves it, and until the packets in flight at the reduction are acknowledged nothing else changes it. Its limit for
small p is AIMD in continuous time. CUBIC (RFC 9438, Eqs. (1) and (2), beta = .7, C = .4) on its curve with
Poisson marks, without fast convergence and without the region of friendliness.
"""

import collections
import math
import random


def newreno(p, rounds, seed=1):
    """Mean number of packets in flight times sqrt(p), for a mark of each packet with probability p."""
    rng = random.Random(seed)
    w, sent, recover, acked = math.sqrt(1.5 / p), 0, 0, 0
    flight, area, now = collections.deque(), 0.0, 0.0
    while len(flight) < int(w):
        flight.append(len(flight) / int(w))
        sent += 1
    while now < rounds:
        due = flight.popleft()
        area += (len(flight) + 1) * (max(due, now) - now)
        now = max(due, now)
        acked += 1
        if rng.random() < p and acked > recover:
            w, recover = max(w / 2, 1.0), sent
        elif acked > recover:
            w += 1 / w
        while len(flight) < int(w):
            flight.append(now + 1.0)
            sent += 1
    return area / now * math.sqrt(p)


def aimd(cycles, seed=1):
    """Mean window times sqrt(p) in the limit of small p: w grows by 1 per round, marks come at the rate p w (p = 1)."""
    rng = random.Random(seed)
    w, area, time = 1.3, 0.0, 0.0
    for _ in range(cycles):
        packets = rng.expovariate(1.0)  # until the next mark: w t + t^2 / 2
        span = math.sqrt(w * w + 2 * packets) - w
        area, time, w = area + packets, time + span, (w + span) / 2
    return area / time


def cubic(p, rtt, cycles, seed=1):
    """Mean window over (rtt / p)^(3/4)."""
    rng = random.Random(seed)
    top, area, time = (rtt / p) ** 0.75, 0.0, 0.0
    for _ in range(cycles):
        k = (top * 0.3 / 0.4) ** (1 / 3)
        packets = rng.expovariate(p)
        low, high = 0.0, 10 * k + packets * rtt / (0.7 * top)
        for _ in range(60):
            t = (low + high) / 2
            low, high = (t, high) if 0.1 * ((t - k) ** 4 - k**4) + top * t < packets * rtt else (low, t)
        area, time, top = area + packets * rtt, time + t, 0.4 * (t - k) ** 3 + top
    return area / time / (rtt / p) ** 0.75


def equilibrium(flows, capacity, base, slope, window):
    """Queue in packets at which N windows of the probability `slope` times the queue fill pipe and queue, by bisection."""
    low, high = 0.0, 1e6
    for _ in range(100):
        queue = (low + high) / 2
        rtt = base + queue / capacity
        low, high = (queue, high) if flows * window(slope * queue, rtt) > capacity * rtt else (low, queue)
    return queue


def numbers():
    """(name, computed, cited, relative tolerance); the cited numbers are limits, sampled here with the standard errors given."""
    yield "NewReno, windows of 19 packets (standard error 0.6 %)", newreno(0.005, 30000), 1.243, 0.015
    yield "NewReno, windows of 77 packets (standard error 2 %)", newreno(0.0003125, 16000), 1.296, 0.05
    yield "AIMD, limit of small p (standard error 0.1 %)", aimd(200000), 1.3098, 3e-3
    yield "CUBIC (standard error 0.4 %)", cubic(0.0002, 0.15, 20000), 1.30, 0.01
    reno = lambda p, rtt: math.sqrt(2 / p) if p > 0 else 1e9
    curve = lambda p, rtt: (4 / 3) ** 0.25 * (rtt / p) ** 0.75 if p > 0 else 1e9
    yield "NewReno, queue of 10 flows in equilibrium", equilibrium(10, 2500, 0.04, 0.02 / 400, reno), 100.0, 1e-6
    yield "CUBIC, queue of 10 flows in equilibrium", equilibrium(10, 20000, 0.1, 0.0002 / 4000, curve), 1553.9, 1e-4
    yield "CUBIC, queue of 40 flows in equilibrium", equilibrium(40, 80000, 0.1, 0.0002 / 16000, curve), 6215.5, 1e-4
