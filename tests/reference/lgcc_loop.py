"""One loop of LGCC packet by packet: Algorithm 1, Eqs. (14), (15) and (17), over one link that marks with RED.

Packets of 1500 bytes, 500 Mbit/s, a base round-trip time of 2 ms behind the link, max_th = 75 KB; a packet is marked when
it leaves, with the probability (queue with this packet) / max_th, from two packets on. Of Algorithm 1 the thresholds are
g1 = .015 and g2 = .05 times the target, and gamma is linear between them. Cited by papers/lgcc/fig2.toml, fig3, fig12 to
fig14, equilibrium.toml, stability.toml and section9.toml.
"""

import collections
import heapq
import math
import random
import statistics

PACKET, RTT, MAX_TH, ALPHA, PHI1 = 12000.0, 0.002, 50, 0.05, 10.0  # bit, s, packets
DEPARTURE, ACK, INTERVAL, SEND, SOURCE = range(5)


class Flow:
    def __init__(self, x):
        self.x, self.p, self.flying, self.acks, self.marks = x, 0.0, 0, 0, 0
        self.next, self.stock, self.bins, self.marking = 0.0, 0, collections.Counter(), []


def update(flow, k, phi2, dual, steps=(0.05, 0.3)):
    """Lines 7 to 22 of Algorithm 1; an interval without acknowledgements changes nothing."""
    if not flow.acks:
        return
    flow.p = min((1 - ALPHA) * flow.p + ALPHA * flow.marks / flow.acks, 1 - 1e-6)
    flow.acks = flow.marks = 0
    target = k * math.exp(math.log(1 - flow.p) * math.log(PHI1) / math.log(phi2))
    away = abs(flow.x - target) / target
    gamma = steps[0] + (steps[1] - steps[0]) * min(max((away - 0.015) / 0.035, 0.0), 1.0)
    step = flow.x * gamma * (math.log(1 - flow.p) / math.log(phi2) - math.log(flow.x / k) / math.log(PHI1))
    flow.x = target if dual else max(flow.x + step, k / 500)


def simulate(count, until, control="window", phi2=5.0, dual=False, acks=None, capacity=lambda now: 500e6, chained=False, since=1.5,
             max_th=MAX_TH, min_th=2, on_arrival=False, steps=(0.05, 0.3), rtt=RTT):
    """Statistics after `since` s of `count` flows whose x is a limit of data in flight, a rate of packets, or both.

    `chained` puts a loop before that of each flow: its sender has no competitor, and its carrying capacity is the x of the
    next loop one base round-trip time ago. A third loop behind them would never limit them. With `on_arrival` packets are
    marked when they join the queue. `steps` are gamma_conv and gamma_init.
    """
    width = 0.024
    rng, flows = random.Random(1), [Flow(capacity(0) / 500) for _ in range(count)]
    queue, busy, area, last, greatest = collections.deque(), 0, 0.0, since, 0
    events = [(i * 1e-4, SEND, i, 0) for i in range(count)] + [(rtt + i * 1e-4, INTERVAL, i, 0) for i in range(count) if not acks]
    sources = [Flow(capacity(0) / 500) for _ in range(count)] if chained else []
    events += [(i * 1e-4, SOURCE, i, 0) for i in range(len(sources))]
    heapq.heapify(events)
    returning = collections.deque()  # acknowledgements, in order
    over_time, lengths = [], []  # marking probabilities and queues, once per interval of each flow

    def send(now, i):
        """Sends what the reading allows now, and schedules the next packet if the rate is what prevents it."""
        flow = flows[i]
        while control == "rate" or flow.flying + 1 <= flow.x * rtt / PACKET + 1:  # a headroom of one packet
            if control != "window":
                if now < flow.next:
                    break
                if chained and not flow.stock:
                    break
                flow.stock -= chained
                flow.next = now + PACKET / flow.x
                heapq.heappush(events, (flow.next, SEND, i, 0))
            flow.flying += 1
            queue.append((i, on_arrival and rng.random() < (len(queue) + 1) / max_th))
            if len(queue) == 1:
                heapq.heappush(events, (now + PACKET / capacity(now), DEPARTURE, 0, 0))

    while True:
        first = returning and (not events or returning[0][0] < events[0][0])
        now, kind, i, marked = returning.popleft() if first else heapq.heappop(events)
        if now > until:
            break
        if kind == DEPARTURE:
            if now > since:
                area, last, greatest = area + len(queue) * (now - last), now, max(greatest, len(queue))
            length, (i, marked) = len(queue), queue.popleft()
            if not on_arrival:
                marked = length >= min_th and rng.random() < length / max_th
            flows[i].bins[int((now - since) // width)] += 1
            returning.append((now + rtt, ACK, i, marked))
            if queue:
                heapq.heappush(events, (now + PACKET / capacity(now), DEPARTURE, 0, 0))
        elif kind == ACK:
            flow = flows[i]
            flow.flying, flow.acks, flow.marks = flow.flying - 1, flow.acks + 1, flow.marks + marked
            if acks and flow.acks >= acks:
                update(flow, capacity(now), phi2, dual, steps)
            if now > since:
                flow.marking.append(flow.p)
            if control != "rate":
                send(now, i)
        elif kind == SOURCE:
            flows[i].stock += 1
            send(now, i)
            heapq.heappush(events, (now + PACKET / sources[i].x, SOURCE, i, 0))
        elif kind == INTERVAL:
            if chained:
                sources[i].acks = 1
                update(sources[i], flows[i].x, phi2, False)
            update(flows[i], capacity(now), phi2, dual, steps)
            if now > since:
                over_time.append(flows[i].p)
                lengths.append(len(queue))
            heapq.heappush(events, (now + rtt, INTERVAL, i, 0))
        else:
            send(now, i)
    bins = int((until - since) / width)
    rates = [[flow.bins[b] for b in range(bins)] for flow in flows]
    jain = [sum(column) ** 2 / count / sum(rate**2 for rate in column) for column in zip(*rates) if any(column)]
    return {
        "utilization": sum(map(sum, rates)) * PACKET / sum(capacity(since + (i + 0.5) * 1e-3) * 1e-3 for i in range(round(1e3 * bins * width))),
        "queue in KB": area / (last - since) * 1.5,
        "greatest queue in KB": greatest * 1.5,
        "deviation of a rate": statistics.mean(statistics.pstdev(rate) / statistics.mean(rate) for rate in rates),
        "Jain index": statistics.mean(jain),
        "marking probability": statistics.mean(p for flow in flows for p in flow.marking),
        "variation of the queue": statistics.pstdev(lengths or [0]) / statistics.mean(lengths or [1]),
        "its mean over time": statistics.mean(over_time or [0.0]),
        "its deviation": statistics.mean(statistics.pstdev(flow.marking) for flow in flows),
    }


def numbers():
    """(name, computed, cited, relative tolerance)"""
    utilization, queue, greatest, spread, jain, p, over_time, noise = (
        "utilization", "queue in KB", "greatest queue in KB", "deviation of a rate", "Jain index", "marking probability",
        "its mean over time", "its deviation")
    steps = lambda now: 150e6 if 2 <= now < 3 else 500e6  # Fig. 13
    for name, count, until, options, cited in (
        ("window", 5, 4, {}, {utilization: 1.000, queue: 45.4, spread: 0.068, jain: 0.995, p: 0.603}),
        ("paced window", 5, 4, {"control": "both"}, {queue: 45.3, spread: 0.048, p: 0.603}),
        ("window, phi2 = 3", 5, 3, {"phi2": 3.0}, {queue: 36, p: 0.482}),
        ("window, 4 acks", 5, 4, {"acks": 4}, {utilization: 1.000, p: 0.599}),
        ("window, 1 ack", 5, 4, {"acks": 1}, {utilization: 0.869, spread: 0.268}),
        ("window, one flow", 1, 3, {}, {utilization: 0.996}),
        ("window, Fig. 13", 5, 5, {"capacity": steps, "since": 1.0}, {utilization: 0.999, greatest: 111, jain: 0.994}),
        ("rate", 5, 6, {"control": "rate"}, {utilization: 0.862, queue: 442, spread: 0.227, p: 0.691, noise: 0.163}),
        ("rate, chained", 5, 6, {"control": "rate", "chained": True}, {utilization: 0.878, queue: 270}),
        ("rate, two flows", 2, 4, {"control": "rate"}, {utilization: 0.865}),
        ("rate, dual", 5, 4, {"control": "rate", "dual": True}, {utilization: 0.943, queue: 119}),
        ("rate, marks on arrival, 8 MB", 5, 12, {"control": "rate", "since": 6.0, "max_th": 5333, "on_arrival": True}, {over_time: 0.747}),
    ):
        found = simulate(count, until, **options)
        for quantity, value in cited.items():
            yield f"{name}: {quantity}", found[quantity], value, 0.01
    fast = {"min_th": 1, "steps": (0.05, 0.05), "capacity": lambda now: 10e9, "since": 2.0}  # twenty times the paper's capacity
    for count, m, max_th, rtt, cited in ((5, 8, 625 / 3, 0.002, 0.0226), (5, 12, 1250 / 9, 0.002, 0.512), (50, 1.3, 1000, 0.00156, 0.0085), (50, 2.5, 1000, 0.003, 0.102)):
        found = simulate(count, 3, max_th=max_th, rtt=rtt, **fast)
        yield f"{count} flows, M = {m}: variation of the queue", found["variation of the queue"], cited, 0.02
