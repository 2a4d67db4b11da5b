"""CLTCP as delay differential equations: system (6) of the paper, by Heun's method with steps of 10 ms.

    w_p' = alpha w_p (ln r_p(t - tau_p) - ln w_p),   r_l' = beta r_l (1 - (sum w_p + (q_l - q_0) / T) / C_l),
    q_l' = sum w_p - C_l,                            r_p = the least r_l of the path

Logarithms of w and r are the states; a queue stays between 0 and its buffer, and r below a cap. Cited by
papers/cltcp/fig6.toml, fig6-fluid, fig10-fluid and theorem1-fluid.
"""

import math

ALPHA, BETA, T, Q0, STEP = 2.0, 1.0, 2.0, 100.0, 0.01


class Run:
    """Flows are (path, round-trip time, start, stop); rates are in packets/s and times in s."""

    def __init__(self, capacities, flows, until, cap=2.0, buffer=10000.0, first=100.0):
        links = range(len(capacities))
        r, q, w = [math.log(first)] * len(capacities), [0.0] * len(capacities), [math.log(first)] * len(flows)
        limit = [math.log(cap * capacity) for capacity in capacities]
        self.factors, self.rates, self.queues = [], [[] for _ in flows], [[] for _ in capacities]
        users = [[p for p, flow in enumerate(flows) if link in flow[0]] for link in links]

        def slopes(r, q, w, step, active):
            moves = []
            for p, (path, rtt, start, _) in enumerate(flows):
                late = step - round(rtt / STEP)
                factors = self.factors[late] if 0 <= late < len(self.factors) else (r if late >= 0 else None)
                advised = min(factors[link] for link in path) if factors else math.log(first)
                moves.append(ALPHA * (advised - w[p]) if active[p] else 0.0)
            load = [sum(math.exp(w[p]) for p in users[link] if active[p]) for link in links]
            climbs = [BETA * (1 - (load[l] + (q[l] - Q0) / T) / capacities[l]) for l in links]
            return climbs, [load[l] - capacities[l] for l in links], moves

        for step in range(int(until / STEP)):
            now = step * STEP
            active = [start <= now < stop for _, _, start, stop in flows]
            self.factors.append(list(r))
            a, b, c = slopes(r, q, w, step, active)
            r1 = [min(x + STEP * y, z) for x, y, z in zip(r, a, limit)]
            q1 = [min(max(x + STEP * y, 0.0), buffer) for x, y in zip(q, b)]
            w1 = [x + STEP * y for x, y in zip(w, c)]
            a1, b1, c1 = slopes(r1, q1, w1, step + 1, active)
            r = [min(x + STEP * (y + z) / 2, m) for x, y, z, m in zip(r, a, a1, limit)]
            q = [min(max(x + STEP * (y + z) / 2, 0.0), buffer) for x, y, z in zip(q, b, b1)]
            w = [x + STEP * (y + z) / 2 for x, y, z in zip(w, c, c1)]
            for p, rate in enumerate(w):
                self.rates[p].append(math.exp(rate) if active[p] else 0.0)
            for link in links:
                self.queues[link].append(q[link])

    def settled(self, p, at, within, start, end):
        """The time from `start` until the rate of flow p stays within a fraction of `at`."""
        part = self.rates[p][round(start / STEP):round(end / STEP)]
        return STEP * (1 + max((i for i, rate in enumerate(part) if abs(rate - at) > within * at), default=-1))

    def longest(self, link, start, end):
        return max(self.queues[link][round(start / STEP):round(end / STEP)])


def numbers():
    """(name, computed, cited, relative tolerance)"""
    c = 15000.0
    run = Run([c], [((0,), 0.05, 0, 400), ((0,), 0.1, 50, 350), ((0,), 0.2, 100, 300), ((0,), 0.4, 150, 250)], 400)
    stages = ((0, 50, 1), (50, 100, 2), (100, 150, 3), (150, 250, 4), (250, 300, 3), (300, 350, 2), (350, 400, 1))
    peaks, times = (791, 8944, 5326, 3979, 477, 487, 573), (6.8, 6.2, 5.8, 5.7, 1.9, 2.0, 2.4)
    for i, (start, end, count) in enumerate(stages):
        yield f"Fig. 6, stage {i + 1}: longest queue", run.longest(0, start, end), peaks[i], 1e-3
        slowest = max(run.settled(p, c / count, 0.05, start, end) for p in range(count))
        yield f"Fig. 6, stage {i + 1}: within 5 % after, s", slowest, times[i], 0.03
    lot = [((0, 1, 2), 0.12, 0, 40), ((0,), 0.04, 0, 40), ((1,), 0.04, 0, 40), ((2,), 0.04, 0, 40)]
    run = Run([c, c / 2, c], lot, 40)
    for p, (share, five, one, peak) in enumerate(((3750, 6.6, 10.8, 31.5), (11250, 7.5, 11.3, 91.4), (3750, 6.5, 10.7, None))):
        yield f"Fig. 10, flow {p + 1}: within 5 % after, s", run.settled(p, share, 0.05, 0, 40), five, 0.015
        yield f"Fig. 10, flow {p + 1}: within 1 % after, s", run.settled(p, share, 0.01, 0, 40), one, 0.015
        if peak:
            yield f"Fig. 10, flow {p + 1}: greatest rate, Mbit/s", max(run.rates[p]) * 0.008, peak, 5e-3
    for link, cited in ((0, 264), (1, 515)):
        yield f"Fig. 10, longest queue of L{link + 1}", run.longest(link, 0, 40), cited, 1e-3
    for rtt, cited in ((0.6, 0.0056), (0.7, 0.032), (0.8, 0.255), (1.0, 1.36), (1.5, 2.73), (2.0, 4.35)):
        rates = Run([c], [((0,), rtt, 0, 120)], 120, cap=20.0, buffer=math.inf).rates[0][round(90 / STEP):]
        yield f"Theorem 1: peak to peak at {rtt} s, capacities", (max(rates) - min(rates)) / c, cited, 0.015
