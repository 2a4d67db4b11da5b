"""MCP of Podlesny and Gorinsky packet by packet: Fig. 2 of the report, Eq. (1), sections IV-C to IV-I.

All propagation lies behind the last link, so a packet arrives at the first link when it is sent, and a FIFO link is one
number: the time at which its backlog ends (Lindley's recursion). An acknowledgement is an event only where its bits
differ from those of the flow's acknowledgement before. Cited by papers/mcp/fig3.toml, fig5 to fig10, standing-queue and draining-queue.
"""

import collections
import heapq
import math
import random
import statistics

STEP, T = 80e3, 0.2  # bit/s, s
SCALING, FAIRING, ENHANCING, SMOOTHING, STABLE, OVERLOADED = range(6)
PERIOD, FEEDBACK, TIMER, PACKET = range(4)  # of two events at the same time, the lesser first


class Link:
    def __init__(self, capacity):
        self.capacity = capacity
        self.ends = self.least = self.fairing_until = 0.0  # end of the backlog, least backlog of the period, both in s
        self.bits, self.code, self.longest = 0, 0, [0, 0]  # longest backlog in s before and after the time `mark`
        self.departures, self.most = collections.deque(), 0  # of the packets in the queue, and the most of them


class Flow:
    def __init__(self, start, rtt, path=(0,), packet=1000):
        self.rtt, self.path, self.packet = rtt, path, 8 * packet
        self.rate, self.mode, self.feedback, self.sent = STEP, None, None, None
        self.left, self.added, self.back, self.changed, self.next, self.timer = 7, False, 0, 0.0, start, start + 2 * T


class Constant(Flow):
    """A flow at a constant rate between two times, without requests and without adjustments."""

    def __init__(self, start, stop, rate, packet=1000):
        super().__init__(start, 0.0, packet=packet)
        self.rate, self.stop, self.timer, self.left = rate, stop, None, 0


def simulate(links, flows, until, backoff="twice", seen="first", requester="obeys", light="doubles", cycles=7, mark=0.0):
    """Runs until the time `until`, in s. The options are the readings of papers/mcp/paper.toml; `mark` divides `longest`."""
    events = [(i * T, PERIOD, i, None, None) for i in range(1, int(until / T) + 1)]
    for i, flow in enumerate(flows):
        events.append((flow.next, PACKET, i, flow, None))
        if not isinstance(flow, Constant):
            flow.left = cycles
            events.append((flow.timer, TIMER, i, flow, None))
    heapq.heapify(events)

    def change(flow, rate, now, mode):
        """Sets rate and mode; the remaining wait for the next packet is rescaled."""
        rate, flow.mode = max(rate, STEP), mode
        if rate != flow.rate:
            flow.next = now + (flow.next - now) * flow.rate / rate
            heapq.heappush(events, (flow.next, PACKET, flows.index(flow), flow, None))
            flow.rate, flow.changed = rate, now

    def overload(flow, now):
        """MD(.5), or AD(80 kbit/s) from the smoothing mode; by the reading `twice` also from the stable mode, until the third 11."""
        if flow.mode == SMOOTHING or flow.mode == STABLE and backoff == "twice" and flow.back < 2:
            flow.back += 1
            change(flow, flow.rate - STEP, now, STABLE)
        else:
            flow.left -= flow.added and flow.left > 0
            change(flow, flow.rate / 2, now, OVERLOADED)
        flow.added = False

    def decide(flow, now):
        """One adjustment per 2T, by Fig. 2."""
        code, fairing = flow.feedback
        fairing = fairing and not (requester == "ignores" and flow.left)
        if code == 3:
            overload(flow, now)
        elif code == 0 and not (fairing and light == "adds"):
            change(flow, 2 * flow.rate, now, SCALING)
        elif fairing:
            flow.added = True
            change(flow, flow.rate + STEP, now, FAIRING)
        elif code == 1:
            change(flow, 1.1 * flow.rate, now, ENHANCING)
        elif flow.mode != STABLE:
            change(flow, flow.rate + STEP, now, SMOOTHING)

    while events[0][0] <= until:
        now, kind, key, flow, detail = events[0]
        if kind == PACKET and detail is None and now == flow.next:  # from the sender; the event of its next packet replaces it
            flow.next = now + flow.packet / flow.rate
            if isinstance(flow, Constant) and flow.next >= flow.stop:
                flow.next = until + 1
            heapq.heapreplace(events, (flow.next, PACKET, key, flow, None))
            detail = (0, 0, flow.left > 0, flow.left > 0)
        else:
            heapq.heappop(events)
        if kind == PACKET:
            if detail is None:
                continue  # rescheduled by a change of the rate
            hop, code, fairing, this_path = detail
            link = links[flow.path[hop]]
            backlog = link.ends - now
            if backlog <= 0:
                backlog = link.least = 0.0
            elif backlog < link.least:
                link.least = backlog
            link.ends = now + backlog + flow.packet / link.capacity
            if backlog > link.longest[now >= mark]:
                link.longest[now >= mark] = backlog
            link.bits += flow.packet
            while link.departures and link.departures[0] <= now:
                link.departures.popleft()
            link.departures.append(link.ends)
            if len(link.departures) > link.most:
                link.most = len(link.departures)
            if fairing and this_path:
                link.fairing_until = (int(now / T + 1e-9) + 2) * T
            code = link.code if link.code > code else code
            fairing = fairing or (now < link.fairing_until and 1 <= code <= 2)
            if hop + 1 < len(flow.path):
                heapq.heappush(events, (link.ends, PACKET, key, flow, (hop + 1, code, fairing, this_path)))
            elif (code, fairing) != flow.sent and flow.timer is not None:
                flow.sent = (code, fairing)
                heapq.heappush(events, (link.ends + flow.rtt, FEEDBACK, key, flow, flow.sent))
        elif kind == PERIOD:
            for link in links:
                left = max(0.0, link.ends - now)
                load = (link.bits / link.capacity + min(link.least, left)) / T
                link.code = (load >= 0.48) + (load >= 0.88) + (load >= 0.98)
                link.bits, link.least = 0, left
        elif kind == FEEDBACK:
            nascent = detail[0] == 3 and (flow.feedback is None or flow.feedback[0] != 3)
            flow.feedback, flow.back = detail, flow.back if detail[0] == 3 else 0
            if nascent and seen == "first":
                overload(flow, now)
                flow.timer = now + 2 * T
                heapq.heappush(events, (flow.timer, TIMER, key, flow, None))
        elif now == flow.timer:
            if flow.feedback is not None:
                decide(flow, now)
            flow.timer = now + 2 * T
            heapq.heappush(events, (flow.timer, TIMER, key, flow, None))


def dumbbell(mbit, starts, rtts, until, packet=1000, **options):
    """Least rate over greatest, load of the link, its longest queues in packets, time of the last change of a rate."""
    link, flows = Link(mbit * 1e6), [Flow(start, rtt, packet=packet) for start, rtt in zip(starts, rtts)]
    simulate([link], flows, until, **options)
    rates = [flow.rate for flow in flows]
    longest = [backlog * link.capacity / 8 / packet + 1 for backlog in link.longest]
    return min(rates) / max(rates), sum(rates) / link.capacity, longest, max(flow.changed for flow in flows)


def longest_of_sizes(ratio, seed):
    """The longest queue, in packets, of five flows on 50 Mbit/s whose packets have 1500 bytes times `ratio` to 1500 bytes, evenly spread."""
    draw, link = random.Random(seed).uniform, Link(50e6)
    starts, rtts = [draw(0, 5) for _ in range(5)], [draw(0.02, 0.1) for _ in range(5)]
    flows = [Flow(starts[i], rtts[i], packet=round(1500 * (ratio + (1 - ratio) * i / 4))) for i in range(5)]
    simulate([link], flows, 185)
    return link.most


def random_phases(rates, capacity, until, draw):
    """The longest queue, in packets, of flows at constant rates with random phases; rates and capacity in packets/s."""
    times, ends, longest = [], 0.0, 0.0
    for rate in rates:
        phase = draw(0, 1)
        times += [(phase + n) / rate for n in range(int(until * rate))]
    for time in sorted(times):
        longest = max(longest, ends - time)
        ends = max(ends, time) + 1 / capacity
    return longest * capacity + 1


def numbers():
    """(name, computed, cited, relative tolerance)"""
    rtts = (0.02, 0.04, 0.1)
    fairness, load, _, changed = dumbbell(20, (0, 1, 2), rtts, 130)
    yield "Fig. 3: fairness", fairness, 0.898, 2e-3
    yield "Fig. 3: utilization", load, 0.975, 2e-3
    yield "Fig. 3: last change of a rate in s", changed, 118.9, 2e-3
    yield "Fig. 3: last change with eight cycles", dumbbell(20, (0, 1, 2), rtts, 145, cycles=8)[3], 135.7, 2e-3
    yield "Fig. 3: last change, additive at light load", dumbbell(20, (0, 1, 2), rtts, 145, light="adds")[3], 138.7, 2e-3
    yield "Fig. 3: fairness, requester ignores", dumbbell(20, (0, 1, 2), rtts, 20, requester="ignores")[0], 0.036, 0.02
    yield "Fig. 3: fairness, by the timer", dumbbell(20, (0, 2.1, 3.3), rtts, 140, seen="timer")[0], 0.616, 2e-3
    draw = random.Random(1).uniform
    starts = [(0, draw(0, 4), draw(0, 4)) for _ in range(5)]
    for reading, cited in (("twice", (0.552, 0.918)), ("literal", (0.264, 0.917))):
        found = sorted(dumbbell(20, start, rtts, 130, backoff=reading)[0] for start in starts)
        for name, value, expected in zip(("least", "median"), found[::2], cited):
            yield f"Fig. 3: {name} fairness of five random starts, {reading}", value, expected, 2e-3
    for count, until, seed, cited in (
        (50, 90, 0, 0.764), (100, 55, 0, 0.835), (200, 36, 0, 0.775), (300, 30, 0, 0.691), (300, 30, 1, 0.747), (300, 34, 2, 0.382), (600, 80, 0, 0.050),
    ):
        draw = random.Random(seed).uniform
        fairness, load, longest, _ = dumbbell(200, [draw(0, 10) for _ in range(count)], [0.06] * count, until, mark=until - 8)
        yield f"Fig. 5: fairness of {count} flows, starts {seed + 1}", fairness, cited, 0.01
        if count in (50, 600):
            yield f"Fig. 5: utilization of {count} flows", load, 0.966 if count == 50 else 0.914, 2e-3
            yield f"Fig. 5: longest queue of {count} flows", max(longest), 19.1 if count == 50 else 1262, 0.01
            yield f"Fig. 5: longest queue of {count} flows in equilibrium", longest[1], 18.9 if count == 50 else 283, 0.01
    draw = random.Random(0).uniform
    fairness = dumbbell(200, [draw(0, 10) for _ in range(200)], [0.06] * 200, 60, backoff="literal")[0]
    yield "Fig. 5: fairness of 200 flows, literal", fairness, 0.322, 2e-3
    draw = random.Random(1).uniform
    equal = sorted(random_phases([483] * 50, 25e3, 0.2, draw) for _ in range(101))
    yield "Fig. 5: longest queue of 50 equal rates with random phases, median", equal[50], 7.7, 0.05
    unequal = min(random_phases([10 * round(draw(43.5, 54.5)) for _ in range(50)], 25e3, 8, draw) for _ in range(8))
    yield "Fig. 5: least longest queue of 50 rates that differ by steps", unequal, 10.4, 0.01
    steps = [draw(3.5, 8.5) // 1 for _ in range(1000)]
    drifting = random_phases([0.98 * 62500 * n / sum(steps) for n in steps], 62500, 4, draw)
    yield "Fig. 9: longest queue of 1000 rates that differ by steps, random phases", drifting, 54.9, 0.02
    for seed, cited in ((0, 0.0651), (1, 0.0892)):
        draw = random.Random(seed).uniform
        longest = dumbbell(500, [draw(0, 1) for _ in range(1000)], [0.06] * 1000, 50, mark=30)[2]
        yield f"Fig. 9: longest queue in equilibrium over the buffer, starts {seed + 1}", longest[1] / 3750, cited, 0.01
    draw = random.Random(0).uniform
    starts, spread = [draw(0, 10) for _ in range(10)], [draw(0.02, 0.1) for _ in range(10)]
    fairness, load, longest, _ = dumbbell(50, starts, spread, 110)
    yield from (("Fig. 6: fairness", fairness, 0.882, 2e-3), ("Fig. 6: utilization", load, 0.971, 2e-3))
    yield "Fig. 6: longest queue", max(longest), 7.43, 2e-3
    yield "Fig. 7: utilization", dumbbell(50, starts[:5], spread[:5], 185, 1500)[1], 0.975, 2e-3
    fairness, _, longest, _ = dumbbell(20, range(5), [0.02 * i for i in range(1, 6)], 80)
    yield "Fig. 8: fairness", fairness, 0.946, 2e-3
    yield "Fig. 8: longest queue", max(longest), 5, 0.01
    flows = [Flow(0, 0.08, (0, 1)), Flow(100, 0.06, (0, 1)), Flow(300, 0.04, (1,)), Flow(400, 0.04, (1,))]
    simulate([Link(20e6), Link(20e6)], flows, 500)
    yield "Fig. 10: fairness at the end", min(flow.rate for flow in flows) / max(flow.rate for flow in flows), 0.924, 2e-3
    yield "Fig. 10: utilization of BC at the end", sum(flow.rate for flow in flows) / 20e6, 0.963, 2e-3
    found = {}
    for until in (1.85, 4, 5, 6, 7, 90):
        link, flow = Link(4e6), Flow(0, 0.06)
        simulate([link], [flow, Constant(1.5, 3.5, 12e6)], until)
        found[until] = flow.rate / 1e6, (link.ends - until) * 500, flow.rate / 4e6, flow.changed
    yield "standing queue: rate while the queue delays the first signal, in Mbit/s", found[1.85][0], 1.28, 1e-9
    yield "standing queue: rate while it drains in Mbit/s", max(found[until][0] for until in (4, 5, 6, 7)), 0.08, 1e-9
    yield "standing queue: mean queue from 4 to 7 s in packets", (found[4][1] + found[7][1]) / 2, 1137, 2e-3
    yield "standing queue: last change of the rate in s", found[90][3], 81.3, 2e-3
    yield "standing queue: utilization at the end", found[90][2], 0.959, 2e-3

    found = {}
    for until in (10, 18):
        link, flow = Link(4e6), Flow(0, 0.06)
        simulate([link], [flow, Constant(1.5, 3.5, 12e6), Constant(3.5, 25, 3e6)], until)
        found[until] = flow.rate / 1e6, (link.ends - until) * 500
    yield "draining queue: rate at 18 s in Mbit/s", found[18][0], 0.08, 1e-9
    yield "draining queue: mean queue from 10 to 18 s in packets", (found[10][1] + found[18][1]) / 2, 910, 2e-3


def slow_numbers():
    """The same, from ten and more random starts of many flows: twenty minutes."""
    spread = {}
    for seed in range(10):
        draw = random.Random(seed).uniform
        longest = dumbbell(200, [draw(0, 10) for _ in range(600)], [0.06] * 600, 100)[2]
        draw = random.Random(seed).uniform
        thousand = dumbbell(500, [draw(0, 1) for _ in range(1000)], [0.06] * 1000, 50)[2]
        draw = random.Random(seed).uniform
        sizes = dumbbell(50, [draw(0, 5) for _ in range(5)], [draw(0.02, 0.1) for _ in range(5)], 185, 1500)[2]
        for name, value in zip(("whole", "thousand", "sizes"), (max(longest), max(thousand) / 3750, max(sizes))):
            spread.setdefault(name, []).append(value)
    deviation = {name: statistics.stdev(math.log(value) for value in values) for name, values in spread.items()}
    yield "Fig. 5: longest queue of 600 flows, deviation of the logarithm over ten runs", deviation["whole"], 0.109, 0.01
    found = []
    for seed in range(40):
        draw = random.Random(seed).uniform
        found.append(dumbbell(200, [draw(0, 10) for _ in range(600)], [0.06] * 600, 160, mark=140)[2][1])
    yield "Fig. 5: longest queue of 600 flows from 140 to 160 s, mean of forty runs", statistics.mean(found), 220, 0.01
    yield "Fig. 5: the same, deviation of the logarithm", statistics.stdev(map(math.log, found)), 0.505, 0.01
    yield "Fig. 9: longest queue over the buffer, deviation of the logarithm over ten runs", deviation["thousand"], 0.229, 0.01
    yield "Fig. 7: longest queue, least of ten runs", min(spread["sizes"]), 4.73, 2e-3
    yield "Fig. 7: longest queue, greatest of ten runs", max(spread["sizes"]), 4.95, 2e-3
    found = []
    for seed in range(10):
        draw = random.Random(seed).uniform
        starts, rtts = [draw(0, 10) for _ in range(20)], [draw(0.02, 0.1) for _ in range(20)]
        found.append(dumbbell(20, starts, rtts, 100, mark=80)[2])
    yield "Fig. 4: longest queue in equilibrium at 20 Mbit/s, deviation over ten runs", statistics.stdev(last for _, last in found), 0.779, 0.01
    yield "Fig. 4: longest queue at 20 Mbit/s, least of ten runs", min(map(max, found)), 11.9, 6e-3
    yield "Fig. 4: longest queue at 20 Mbit/s, greatest of ten runs", max(map(max, found)), 32.6, 6e-3
    yield "Fig. 7: longest queue with sizes from 1 to 2, most of ten runs", max(longest_of_sizes(1 / 2, seed) for seed in range(10)), 5, 1e-9
    fifth, tenth = ([longest_of_sizes(ratio, seed) for seed in range(10)] for ratio in (1 / 5, 1 / 10))
    yield "Fig. 7: longest queue with sizes from 1 to 5, least of ten runs", min(fifth), 6, 1e-9
    yield "Fig. 7: longest queue with sizes from 1 to 5, greatest of ten runs", max(fifth), 9, 1e-9
    yield "Fig. 7: longest queue with sizes from 1 to 10, least of ten runs", min(tenth), 8, 1e-9
    yield "Fig. 7: longest queue with sizes from 1 to 10, greatest of ten runs", max(tenth), 14, 1e-9
    found = []
    for ratio in range(1, 6):
        for seed in range(8):
            draw = random.Random(seed).uniform
            starts, rtts = [draw(0, 10) for _ in range(10)], [draw(0.02, 0.02 * ratio) for _ in range(10)]
            found.append(max(dumbbell(50, starts, rtts, 40)[2]))
    yield "Fig. 6: longest queue, least of forty random starts", min(found), 5.88, 0.01
    yield "Fig. 6: longest queue, greatest of forty random starts", max(found), 7.81, 0.01
