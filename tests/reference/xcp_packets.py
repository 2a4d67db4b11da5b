"""XCP packet by packet on one link: Eqs. (1) to (8) of Katabi et al., SIGCOMM 2002, with windows of whole packets.

80 ms, packets of 1000 bytes, an unlimited buffer; flow i of N starts at i / N s with two packets. A sender keeps whole
packets in flight. "Truncated", as in ns-2: the integer part of the window, also in the header. "Carried": what does not fit
into a round trip is added to the window of the next one. Results depend on the phases of the flows: three spacings of the
starts. Routers measure packets that arrive and allocate to packets that depart, as the draft and ns-2 do. Hosts and routers
may have a random processing time, up to the service time of the link each; packets of a flow keep their order. Cited by
papers/xcp/fifty.toml, few-packets.toml and cltcp/fig6.toml.
"""

import heapq
import math
import random

ALPHA, BETA, GAMMA, RTT = 0.4, 0.226, 0.1, 0.08
START, ARRIVAL, DEPARTURE, ACKNOWLEDGEMENT = range(4)


class Router:
    """Rates in packets/s; a packet's feedback is a change of its flow's rate, allocated when the packet departs."""

    def __init__(self, capacity):
        self.capacity, self.ends, self.interval, self.close = capacity, 0.0, 0.05, 0.05
        self.packets, self.time, self.rtt_time = 0, 0.0, 0.0
        self.least, self.queue, self.queue_close = math.inf, 0.0, 0.0
        self.gain = self.loss = self.gain_left = self.loss_left = 0.0

    def control(self, now):
        """Eqs. (1), (4), (7), (8), at the end of each mean round-trip time."""
        mean = max(self.rtt_time / self.time, 0.001) if self.time else 0.05
        change = ALPHA * (self.capacity - self.packets / self.interval) - BETA * self.queue / mean
        shuffled = max(0.0, GAMMA * self.packets / self.interval - abs(change))
        self.gain_left, self.loss_left = shuffled + max(change, 0.0), shuffled + max(-change, 0.0)
        self.gain = self.gain_left / self.time if self.time else 0.0
        self.loss = self.loss_left / self.packets if self.packets else 0.0
        self.interval, self.close = mean, now + mean
        self.packets, self.time, self.rtt_time = 0, 0.0, 0.0

    def backlog(self, now):
        """The packets that wait, with that in service."""
        return max(0.0, self.ends - now) * self.capacity

    def arrive(self, now, rtt, rate):
        """Measures a packet; returns the time at which it leaves."""
        while now >= self.close:
            self.control(self.close)
        self.packets += 1
        if rate:
            self.time += 1 / rate
            self.rtt_time += rtt / rate
        self.ends = max(now, self.ends) + 1 / self.capacity
        return self.ends

    def depart(self, now, rate):
        """The feedback of a packet."""
        while now >= self.close:
            self.control(self.close)
        backlog = self.backlog(now)
        self.least = min(self.least, backlog)
        if now >= self.queue_close:
            self.queue, self.least = self.least, backlog
            self.queue_close = now + max(0.002, (self.interval - backlog / self.capacity) / 2)
        if not rate:
            return 0.0
        gain, loss = min(self.gain_left, self.gain / rate), min(self.loss_left, self.loss)
        self.gain_left -= gain
        self.loss_left -= loss
        return gain - loss


class Flow:
    """A sender of whole packets; times in s, window in packets."""

    def __init__(self, rtt, start, stop=math.inf):
        self.rtt, self.start, self.stop = rtt, start, stop
        self.window, self.flying, self.smoothed, self.carried, self.ends_round, self.processed = 2.0, 0, 0.0, 0.0, 0.0, 0.0
        self.delivered = []  # the times of acknowledgements

    def acknowledge(self, now, sent, change, kind):
        self.flying -= 1
        self.delivered.append(now)
        self.smoothed += (now - sent - self.smoothed) / 8 if self.smoothed else now - sent
        self.window = max(self.window + change * self.smoothed, 1.0)
        if sent >= self.ends_round:  # a packet of this round has returned
            self.ends_round = now
            self.carried = (self.window + self.carried) % 1.0 if kind == "carried" else 0.0

    def whole(self):
        return max(1, math.floor(self.window + self.carried + 1e-9))


def simulate(flows, capacity, kind, until, measured, draw=None):
    """Runs until the time `until`; returns the backlogs that packets met from `measured` on. Processing times are drawn with
    `draw`; without it there are none."""
    router, queues = Router(capacity), []
    events, number = [(flow.start, i, START, flow, None) for i, flow in enumerate(flows)], len(flows)
    heapq.heapify(events)
    while events[0][0] <= until:
        now, _, what, flow, packet = heapq.heappop(events)
        if what == ARRIVAL:
            if now > measured:
                queues.append(router.backlog(now))
            number += 1
            heapq.heappush(events, (router.arrive(now, flow.smoothed, packet[1]), number, DEPARTURE, flow, packet))
            continue
        if what == DEPARTURE:
            sent, rate = packet
            number += 1
            acknowledgement = (sent, router.depart(now, rate))
            heapq.heappush(events, (now + flow.rtt, number, ACKNOWLEDGEMENT, flow, acknowledgement))
            continue
        if what == ACKNOWLEDGEMENT:
            flow.acknowledge(now, *packet, kind)
        while flow.flying < flow.whole() and now < flow.stop:
            flow.flying += 1
            rate = flow.whole() / flow.smoothed if flow.smoothed else 0.0
            if draw:
                flow.processed = max(flow.processed, now + draw(0, 1 / capacity))
                arrives = flow.processed + draw(0, 1 / capacity)
                number += 1
                heapq.heappush(events, (arrives, number, ARRIVAL, flow, (now, rate)))
                continue
            if now > measured:
                queues.append(router.backlog(now))
            number += 1
            heapq.heappush(events, (router.arrive(now, flow.smoothed, rate), number, DEPARTURE, flow, (now, rate)))
    return queues


def run(count, capacity, kind, until, spread=1.0, measured=10.0, draw=None):
    """Utilization, Jain's index, mean and greatest queue in packets, from `measured` on; flow i starts at i spread / N s."""
    flows = [Flow(RTT, i * spread / count) for i in range(count)]
    queues = simulate(flows, capacity, kind, until, measured, draw)
    served = [sum(time > measured for time in flow.delivered) for flow in flows]
    total = sum(served)
    return {
        "utilization": total / (capacity * (until - measured)),
        "Jain": total**2 / (count * sum(s * s for s in served)),
        "mean queue": sum(queues) / len(queues),
        "greatest queue": max(queues),
    }


def joins(phase, rtts=(0.05, 0.1, 0.2, 0.4), interval=0.4, apart=4.0):
    """The times after which flows that join one after the other have .9 of their shares of 15000 packets/s, in intervals of
    whole round-trip times. The later ones start `phase` later: at another time of the control interval."""
    flows = [Flow(rtt, i * apart + (phase if i else 0.0)) for i, rtt in enumerate(rtts)]
    until = len(rtts) * apart + 2.0
    simulate(flows, 15000, "carried", until, until)
    times = []
    for n, flow in enumerate(flows, 1):
        packets = {}
        for time in flow.delivered:
            number = int((time - flow.start) / interval)
            packets[number] = packets.get(number, 0) + 1
        times.append(interval * (1 + min(number for number, count in packets.items() if count / interval >= 0.9 * 15000 / n)))
    return times


def numbers():
    """(name, computed, cited, relative tolerance)"""
    phases = (1.0, 0.97, 1.03)
    for kind, low, high in (("truncated", 24, 27), ("carried", 11, 13)):
        greatest = [run(50, 155e6 / 8000, kind, 30.0, spread)["greatest queue"] for spread in phases]
        yield f"50 flows, {kind}: least of greatest queue", min(greatest), low, 0.02
        yield f"50 flows, {kind}: greatest of greatest queue", max(greatest), high, 0.02
    drawn = (random.Random(seed).uniform for seed in (1, 2, 3))
    greatest = [run(50, 155e6 / 8000, "truncated", 30.0, draw=draw)["greatest queue"] for draw in drawn]
    yield "50 flows, truncated, processing times: least of greatest queue", min(greatest), 44.4, 0.002
    yield "50 flows, truncated, processing times: greatest of greatest queue", max(greatest), 45.7, 0.002
    thousand = {
        "carried": {"utilization": (0.9982, 0.9984), "Jain": (0.99993, 0.99996), "mean queue": (24.9, 28.2)},
        "truncated": {"utilization": (0.9618, 0.9635), "Jain": (0.99912, 0.99925), "mean queue": (259, 269), "greatest queue": (507, 511)},
    }
    for kind, quantities in thousand.items():
        found = [run(1000, 340e6 / 8000, kind, 20.0, spread) for spread in phases]
        for quantity, (low, high) in quantities.items():
            values = [one[quantity] for one in found]
            yield f"1000 flows, {kind}: least of {quantity}", min(values), low, 0.002
            yield f"1000 flows, {kind}: greatest of {quantity}", max(values), high, 0.002
    # Without a queue and with independent phases: the mean deviation of the packets in flight, sqrt(N f (1 - f) / (2 pi)), is idle.
    yield "1000 flows, independent phases: utilization", 1 - math.sqrt(1000 * 0.4 * 0.6 / math.tau) / 3400, 0.9982, 1e-4
    found = [joins(0.035 * k) for k in range(10)]
    for flow, low, high in ((1, 0.8, 0.8), (2, 2.4, 2.8), (3, 2.0, 2.4), (4, 3.2, 4.8)):
        times = [times[flow - 1] for times in found]
        yield f"flow {flow} joins: least time to .9 of its share", min(times), low, 0.001
        yield f"flow {flow} joins: greatest time to .9 of its share", max(times), high, 0.001
    yield "one flow of 930 ms: round trips to .9 of the link", joins(0.0, (0.93,), 0.93, 8.0)[0] / 0.93, 7, 0.001
    found = [joins(0.07 * k, (0.21,) * 4, 0.21, 6.0) for k in range(3)]
    times = [time / 0.21 for times in found for time in times[1:]]
    yield "flows of 210 ms join: least number of round trips to .9 of the share", min(times), 22, 0.001
    yield "flows of 210 ms join: greatest number of round trips to .9 of the share", max(times), 25, 0.001
