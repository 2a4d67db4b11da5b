"""The delay form of Paganini et al., Eq. (43), packet by packet: one flow that fills an empty link.

The window changes every 10 ms, from the queueing delay of the last acknowledged packet and that of 10 ms before. Packets
cross a FIFO link by Lindley's recursion; all propagation lies behind it. Cited by papers/paganini/approach.toml.
"""

import heapq

INTERVAL = 0.01  # s
TIMER, ACK = range(2)


def run(capacity, d, k, until, alpha=0.37, beta=1.18):
    """(time, queueing delay) of each packet at its arrival; capacity in packets/s, times in s."""
    window, flying, ends, price, last, rtt = 1.0, 0, 0.0, 0.0, 0.0, None
    now, events, record = 0.0, [(INTERVAL, TIMER, 0.0)], []
    while now <= until:
        while flying + 1 <= window:
            waits = max(ends - now, 0.0)
            record.append((now, waits))
            ends = now + waits + 1 / capacity
            heapq.heappush(events, (ends + d, ACK, waits))
            flying += 1
        now, kind, waits = heapq.heappop(events)
        if kind == ACK:
            flying, price, rtt = flying - 1, waits, d + waits
        else:
            heapq.heappush(events, (now + INTERVAL, TIMER, 0.0))
            if rtt:
                surplus = k * rtt / window - price
                window *= 1 + (beta * INTERVAL * surplus - alpha * (price - last)) / rtt
                last = price
    return record


def numbers():
    """(name, computed, cited, relative tolerance)"""
    record = run(1e4, 0.04, 500.0, 6)
    for share, cited in ((0.5, 1.50), (0.9, 3.34)):
        yield f"time until the queueing delay is {share} of K / c, s", next(t for t, waits in record if waits >= share * 0.05), cited, 0.01
