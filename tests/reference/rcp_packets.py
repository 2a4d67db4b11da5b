"""RCP packet by packet on one link: Eq. (2) of Dukkipati et al., IWQoS 2005, with a second user that doubles the load.

    R <- R (1 + T/d (alpha (C - y) - beta q / d) / C)

155 Mbit/s, 80 ms, packets of 1000 bytes, a buffer of one bandwidth-delay product; the second user starts after 5 s, when
the first has the whole link. R is at least one packet per mean round-trip time d and at most C. Packets carry R as they
leave the link; senders pace at R or have windows of R times 80 ms. With T = d the result depends on the phase between the
start and the intervals. Cited by papers/acp/fig16.toml and papers/rcp/join.toml.
"""

import bisect
import collections
import heapq
import math

C, RTT = 155e6 / 8000, 0.08  # packets/s, s
CONTROL, ACK, SEND = range(3)


def run(alpha, beta, interval, paced, start=5.0):
    """Statistics of the 15 s after the second user's start; `interval` None is T = d."""
    rate, d, ends, until = C, RTT, 0.0, start + 15
    arrived = total = samples = 0
    times, rates, loads = [0.0], [rate], []
    flying, wanted, last, waits = [0, 0], [1.0, 1.0], [0.0, 0.0], [0.0, start]
    events = [(0.0, SEND, 0), (start, SEND, 1), (interval or d, CONTROL, 0)]
    heapq.heapify(events)
    returning = collections.deque()  # acknowledgements, in order

    def packet(now, i):
        """A packet enters the link, or is lost if the buffer is full; a loss returns when its acknowledgement would have."""
        nonlocal ends, arrived, total, samples
        arrived += 1
        if last[i]:
            total, samples = total + last[i], samples + 1
        if ends - now <= RTT:
            ends = max(now, ends) + 1 / C
        flying[i] += 1
        returning.append((ends + RTT, ACK, i, ends, now))

    while True:
        first = returning and returning[0][0] < events[0][0]
        now, kind, i, *sent = returning.popleft() if first else heapq.heappop(events)
        if now > until:
            break
        if kind == CONTROL:
            span = interval or d
            if samples:
                mean = total / samples
                d = mean if interval is None else d + 0.1 * (mean - d)
            backlog = max(0.0, ends - now)  # in s
            loads.append((now - start, arrived, span))
            change = span / d * (alpha * (C - arrived / span) - beta * backlog * C / d) / C
            rate = min(max(rate * (1 + change), 1 / d), C)
            arrived = total = samples = 0
            times.append(now)
            rates.append(rate)
            heapq.heappush(events, (now + (interval or d), CONTROL, 0))
            continue
        if kind == ACK:
            flying[i] -= 1
            last[i] = now - sent[1]
            wanted[i] = rates[bisect.bisect_right(times, sent[0]) - 1]
            if paced and waits[i] - now > 1 / wanted[i]:
                waits[i] = now + 1 / wanted[i]
                heapq.heappush(events, (waits[i], SEND, i))
        if paced:
            if kind == SEND and now == waits[i]:
                packet(now, i)
                waits[i] = now + (1 / wanted[i] if last[i] else math.inf)
                if last[i]:
                    heapq.heappush(events, (waits[i], SEND, i))
        else:
            while flying[i] < max(wanted[i] * RTT, 1.0) - 1e-9:
                packet(now, i)
    after = [(time - start, r) for time, r in zip(times, rates) if time > start]
    counted = [(packets, span) for time, packets, span in loads if 2 < time]
    return {
        "within 10 % of the share after, s": max(time for time, r in after if abs(r - C / 2) > 0.05 * C),
        "least R, Mbit/s": min(r for _, r in after) * 0.008,
        "mean utilization": sum(packets for packets, _ in counted) / sum(span for _, span in counted) / C,
        "time below .8, s": sum(span for time, packets, span in loads if time > 1 and packets < 0.8 * C * span),
    }


def numbers():
    """(name, computed, cited, relative tolerance)"""
    settled, least, mean, below = "within 10 % of the share after, s", "least R, Mbit/s", "mean utilization", "time below .8, s"
    for name, alpha, beta, cited in (
        (".1 1, 10 ms, windows", 0.1, 1, {settled: (3.008, 3.172), least: (29.02, 30.66), mean: (0.97, 0.97)}),
        (".4 .226, 10 ms, windows", 0.4, 0.226, {settled: (0.376, 0.4), mean: (1.0, 1.0)}),
    ):
        found = [run(alpha, beta, 0.01, False, 5 + 0.008 * k) for k in range(10)]
        for quantity, (low, high) in cited.items():
            values = [one[quantity] for one in found]
            yield f"{name}: least of {quantity}", min(values), low, 0.01
            yield f"{name}: greatest of {quantity}", max(values), high, 0.01
    for name, paced, cited in (
        ("windows", False, {settled: (7.8, 9.1), mean: (0.643, 0.680), below: (6.2, 7.2)}),
        ("paced", True, {settled: (4.4, 7.6), mean: (0.679, 0.905), below: (3.0, 6.2)}),
    ):
        found = [run(0.1, 1, None, paced, 5 + 0.02 * k) for k in range(4)]
        for quantity, (low, high) in cited.items():
            values = [one[quantity] for one in found]
            yield f".1 1, d, {name}: least of {quantity}", min(values), low, 0.02
            yield f".1 1, d, {name}: greatest of {quantity}", max(values), high, 0.02
