"""CLTCP in rounds and intervals: (48) and (49) of the paper over a fluid queue, event by event.

A flow sets its rate once per round trip tau, queueing delay included, with an exponent such as 2 tau and the factor that
the packet received which left the link a base round-trip time ago. The link updates its factor every .1 s from the mean
rate and the queue. The paper does not give the phase between rounds and intervals; here it takes several values. Cross
traffic is a rate that changes at given times: web sources with exponential on and off times, a burst, acknowledgements.
Cited by papers/cltcp/fig6.toml, fig7, fig8, theorem1 and idle-link.
"""

import bisect
import heapq
import math
import random

LINK, ROUND, LEAVE, CROSS = range(4)
FIRST = 100.0  # x0 and r(0), packets/s


def run(capacity, flows, until, exponent=lambda tau: 2 * tau, phase=0.0, weight=2.0, buffer=1e4, cross=()):
    """Lists of (time, queue, total rate) at each event and of (time, rate) of each flow; flows are (rtt, start, stop).

    `phase` in s delays the link's intervals, `weight` is the time in s by which the queue's excess is divided, `cross` has
    (time, change of the cross traffic's rate).
    """
    r, queue, now, arrived, at, other = FIRST, 0.0, 0.0, 0.0, phase, 0.0
    rates, history = [0.0] * len(flows), ([0.0], [FIRST])
    record, series = [], [[] for _ in flows]
    events = [(phase + 0.1, LINK, 0)] + [(time, CROSS, change) for time, change in cross]
    for p, (_, start, stop) in enumerate(flows):
        events += [(start, ROUND, p), (stop, LEAVE, p)]
    heapq.heapify(events)
    while events[0][0] <= until:
        time, kind, p = heapq.heappop(events)
        total = sum(rates) + other
        queue = min(max(queue + (total - capacity) * (time - now), 0.0), buffer)
        arrived, now = arrived + total * (time - now), time
        if kind == LINK:
            r *= math.exp(0.1 * (1 - (arrived / (now - at) + (queue - 100) / weight) / capacity))
            r, arrived, at = min(r, 2 * capacity), 0.0, now
            history[0].append(now)
            history[1].append(r)
            heapq.heappush(events, (now + 0.1, LINK, 0))
        elif kind == CROSS:
            other += p
        elif kind == LEAVE:
            rates[p] = 0.0
        elif now < flows[p][2]:
            tau = flows[p][0] + queue / capacity
            if rates[p]:
                advised = history[1][bisect.bisect_right(history[0], now - flows[p][0]) - 1]
                e = exponent(tau)
                rates[p] = max(rates[p] ** (1 - e) * advised**e, 1.0)
            else:
                rates[p] = FIRST
            series[p].append((now, rates[p]))
            heapq.heappush(events, (now + tau, ROUND, p))
        record.append((now, queue, sum(rates) + other))
    return record, series


def web(draw):
    """A hundred sources of 50 packets/s; on and off times are exponential with a mean of half a second each."""
    changes = []
    for _ in range(100):
        time, on = 0.0, False
        while time < 200:
            on = not on
            changes.append((time, 50.0 if on else -50.0))
            time += draw(2.0)
    return changes


def mean(samples, start, end):
    """The mean of a rate that is constant from one sample to the next."""
    spans = [(min(later, end) - max(time, start), value) for (time, value), (later, _) in zip(samples, samples[1:])]
    return sum(span * value for span, value in spans if span > 0) / (end - start)


def mean_queue(record, start, end):
    """The mean of a queue that changes linearly from one event to the next."""
    pairs = ((a, b) for a, b in zip(record, record[1:]) if a[0] >= start and b[0] <= end)
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairs) / (end - start)


def settled(series, at, start, end, share=0.05):
    """The time from `start` until the rates stay within this share of `at`."""
    part = [sample for sample in series if start <= sample[0] < end]
    return max((later for (_, rate), (later, _) in zip(part, part[1:]) if abs(rate - at) > share * at), default=start) - start


def variation(series, start):
    """Coefficient of variation of a rate that is constant from one round to the next."""
    part = [sample for sample in series if sample[0] >= start]
    spans = [(later - time, rate) for (time, rate), (later, _) in zip(part, part[1:])]
    total = sum(span for span, _ in spans)
    mean = sum(span * rate for span, rate in spans) / total
    return math.sqrt(sum(span * (rate - mean) ** 2 for span, rate in spans) / total) / mean


def numbers():
    """(name, computed, cited, relative tolerance)"""
    c, alike = 15000.0, [(0.05, 0, math.inf)] * 4
    runs = [run(c, alike, 30, phase=0.005 * k) for k in range(10)]
    peaks = [max(queue for _, queue, _ in record) for record, _ in runs]
    yield "Fig. 7: least peak of ten phases", min(peaks), 765, 2e-3
    yield "Fig. 7: greatest peak of ten phases", max(peaks), 932, 2e-3
    yield "Fig. 7: median time until within 5 %, s", sorted(settled(rates[0], c / 4, 0, 30) for _, rates in runs)[5], 5.35, 0.01
    record, _ = run(c, alike, 200, phase=0.02)
    pairs = list(zip(record, record[1:]))
    yield "Fig. 7: mean queue over 200 s", mean_queue(record, 0, 200), 105.8, 2e-3
    yield "Fig. 7: utilization over 200 s", (sum((b[0] - a[0]) * a[2] for a, b in pairs) - record[-1][1]) / 200 / c, 0.981, 1e-3
    capped, burst = lambda tau: min(2 * tau, 1), [(100.0, 5000.0), (150.0, -5000.0)]
    runs = [run(c, alike, 200, capped, 0.02 * k, cross=[(0.0, 2500.0), *burst]) for k in range(5)]
    for start, end, cited in ((60, 100, 25), (130, 150, 15), (104, 106, 12)):
        yield f"Fig. 8: rate from {start} to {end} s, Mbit/s", sum(mean(rates[0], start, end) for _, rates in runs) / 5 * 0.008, cited, 2e-3
    for at, start, cited in ((1875, 100, 8.1), (3125, 150, 2.52)):
        yield f"Fig. 8: time until within 5 % after {start} s", sorted(settled(rates[0], at, start, start + 50) for _, rates in runs)[2], cited, 0.01
    peaks = [max(queue for _, queue, _ in record) for record, _ in runs]
    yield "Fig. 8: least peak of five phases", min(peaks), 5286, 2e-3
    yield "Fig. 8: greatest peak of five phases", max(peaks), 5409, 2e-3
    queues = [mean_queue(run(c, alike, 200, capped, phase=0.01 * seed, cross=web(random.Random(seed).expovariate) + burst)[0], 20, 200) for seed in range(10)]
    yield "Fig. 8: least mean queue of ten web loads", min(queues), 256, 2e-3
    yield "Fig. 8: greatest mean queue of ten web loads", max(queues), 276, 2e-3
    yield "Fig. 6, queue over C: queue at 50 s", run(c, alike[:1], 50, weight=15000.0)[0][-1][1], 1002, 2e-3
    flows = [(0.05, 0, 400), (0.1, 50, 350), (0.2, 100, 300), (0.4, 150, 250)]
    stages = ((0, 50, 1), (50, 100, 2), (100, 150, 3), (150, 250, 4), (250, 300, 3), (300, 350, 2), (350, 400, 1))
    runs = [run(c, flows, 400, lambda tau: min(2 * tau, 1), phase=0.01 * k) for k in range(5)]
    times = (6.7, 5.8, 5.4, 5.1, 1.8, 2.0, 2.35)
    ranges = ((793, 947), (8630, 9115), (5303, 5391), (4300, 4370), (422, 478), (450, 535), (565, 664))
    for i, (start, end, count) in enumerate(stages):
        peaks = [max(queue for time, queue, _ in record if start <= time < end) for record, _ in runs]
        yield f"Fig. 6, stage {i + 1}: least peak of five phases", min(peaks), ranges[i][0], 2e-3
        yield f"Fig. 6, stage {i + 1}: greatest peak of five phases", max(peaks), ranges[i][1], 2e-3
        found = sorted(max(settled(rates[p], c / count, start, end) for p in range(count)) for _, rates in runs)
        yield f"Fig. 6, stage {i + 1}: median time until within 5 %, s", found[2], times[i], 0.03
    for i, cited in enumerate((6.5, 5.4, 4.8, 4.3)):
        start, end, count = stages[i]
        found = sorted(settled(rates[i], c / count, start, end, 0.1) for _, rates in runs)
        yield f"Fig. 6, stage {i + 1}: median time of the new flow until within 10 %, s", found[2], cited, 0.01
    for name, rtt, exponent, cited in (
        ("min(2 rtt, 0.5)", 0.7, lambda tau: min(2 * tau, 0.5), (0.619, 0.655)),
        ("min(2 rtt, 1)", 0.7, lambda tau: min(2 * tau, 1), (0.043, 0.061)),
        ("1 - exp(-2 rtt)", 0.7, lambda tau: 1 - math.exp(-2 * tau), (0.250, 0.307)),
        ("2 rtt", 1.0, lambda tau: 2 * tau, (0.310, 0.408)),
    ):
        found = [variation(run(c / 2, [(rtt, 0, math.inf)], 120, exponent, 0.1 * k / 30)[1][0], 90) for k in range(30)]
        for which, value, expected in zip(("least", "greatest"), (min(found), max(found)), cited):
            yield f"Theorem 1, {name} at {rtt} s: {which} variation of thirty phases", value, expected, 0.01
    found = [variation(run(c / 2, [(1.2, 0, math.inf)], 120, phase=0.1 * k / 30)[1][0], 90) for k in range(30)]
    yield "Theorem 1, 2 rtt at 1.2 s: greatest variation of thirty phases", max(found), 4.77, 0.01
    runs = [run(1500.0, [(0.05, 30, math.inf)], 60, lambda tau: min(2 * tau, 1), phase=0.01 * k) for k in range(10)]
    times = [settled(rates[0], 1500.0, 30, 60) for _, rates in runs]
    first = max(next(time for time, rate in rates[0] if rate >= 1500) - 30 for _, rates in runs)
    for name, value, expected in (
        ("time until C, s", first, 0.80), ("least time until within 5 %, s", min(times), 6.10), ("greatest time until within 5 %, s", max(times), 6.22),
    ):
        yield f"idle link: {name}", value, expected, 2e-3
