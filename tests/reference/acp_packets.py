"""ACP packet by packet on one link: Eqs. (3) to (9) of the paper with packets of 1000 bytes.

Rates are in packets/s inside the model and in bytes/s in Eq. (8). All propagation lies behind the link, and a FIFO link
is one number, the time at which its backlog ends. A user with another bottleneck is a user with a desired rate
(H_feedback starts with it, section III-A); a user with an access link of the link's rate sends its bursts at that rate.
Cited by papers/acp/fig3.toml, fig4, fig5, fig8, fig9, fig16 and fluid.toml.
"""

import bisect
import collections
import heapq
import itertools
import math
import random
import statistics

KI, KQ, GAMMA, SIZE, MBIT = 0.1587, 0.3175, 0.1, 1000.0, 155
CONTROL, QUEUE, ACK, PACKET, START = range(5)  # of two events at the same time, the lesser first
Period = collections.namedtuple("Period", "time p users congested load longest idle queue_seconds")


class User:
    def __init__(self, start, rtt=0.08, stop=math.inf, desired=math.inf, access=False):
        self.start, self.rtt, self.stop, self.desired, self.access = start, rtt, stop, desired, access
        self.window, self.flying, self.least_rtt, self.mean_rtt, self.access_ends = 1.0, 0, math.inf, 0.0, 0.0
        self.windows = []  # (time, window) after each acknowledgement


class Link:
    def __init__(self):
        self.capacity, self.ends, self.last = MBIT * 1e6 / 8 / SIZE, 0.0, 0.0  # packets/s; end of the backlog and last arrival in s
        self.p, self.users, self.period = 0.0, 10.0, 0.05
        self.longest = self.idle = self.queue_seconds = self.arrived = self.rtts = self.samples = 0
        self.times, self.backlogs, self.updates = [], [], [0.0]
        self.least, self.persistent = 0.0, None  # with a queue timer: the least queue of its interval, and of the one before
        self.periods = [Period(0.0, 0.0, 10.0, False, 0.0, 0, 0.0, 0.0)]

    def arrival(self, now, rtt):
        """When the packet that arrives has left."""
        before, backlog = max(0.0, self.ends - self.last), max(0.0, self.ends - now)
        self.queue_seconds += (before**2 - backlog**2) / 2 * self.capacity
        self.idle += max(0.0, now - self.ends)
        self.least = min(self.least, backlog * self.capacity)
        self.times.append(now)
        self.backlogs.append(backlog * self.capacity)
        self.longest = max(self.longest, backlog * self.capacity + 1)
        self.arrived += 1
        if rtt > 0:
            self.rtts, self.samples = self.rtts + rtt, self.samples + 1
        self.last, self.ends = now, now + backlog + 1 / self.capacity
        return self.ends

    def end_queue_interval(self, now):
        """The queue timer of XCP; returns when it fires next."""
        backlog = max(0.0, self.ends - now)
        self.persistent, self.least = self.least, backlog * self.capacity
        return now + max(self.period - backlog, 1e-3)

    def control(self, now):
        """Eqs. (6) to (9); the persistent queue is the least that arrivals saw during the last propagation delay, or by the queue timer."""
        load = self.arrived / self.period
        backlog = max(0.0, self.ends - now)
        if self.samples:
            self.period = self.rtts / self.samples
        recent = bisect.bisect_left(self.times, now - max(self.period - backlog, 0.0))
        queue = min(self.backlogs[recent:], default=backlog * self.capacity)
        queue = queue if self.persistent is None else self.persistent
        del self.times[:recent], self.backlogs[:recent]
        change = (KI * (0.99 * self.capacity - load) - KQ * queue / self.period) / self.users
        rate = self.p * SIZE
        self.users = max(1.0, self.users + GAMMA * (load * SIZE - self.users * rate) * rate / (1 + rate**2))
        self.p = min(max(self.p + change, 0.0), self.capacity)
        self.updates.append(now)
        congested = load > 0.95 * self.capacity
        self.periods.append(Period(now, self.p, self.users, congested, load / self.capacity, self.longest, self.idle, self.queue_seconds))
        self.longest = self.arrived = self.rtts = self.samples = 0


def simulate(users, until, gain=0.1, timer=False):
    """The link at the time `until`, in s; `gain`: of increases on a congested path; `timer`: the persistent queue by a timer, as in XCP."""
    link = Link()
    events = [(user.start, START, i) for i, user in enumerate(users)] + [(link.period, CONTROL, 0)] + timer * [(link.period, QUEUE, 0)]
    heapq.heapify(events)
    returning = {user.rtt: collections.deque() for user in users}  # acknowledgements: in order for each round-trip time
    lines = list(returning.values())

    def forward(now, i):
        user = users[i]
        left = link.arrival(now, user.mean_rtt)
        returning[user.rtt].append((left + user.rtt, ACK, i, left, now))

    while True:
        queue = min((line for line in lines if line), key=lambda line: line[0][0], default=None) if len(lines) > 1 else lines[0]
        if queue and queue[0][0] < events[0][0]:
            now, kind, i, left, sent = queue.popleft()
        else:
            now, kind, i = heapq.heappop(events)
        if now > until:
            return link
        user = users[i]
        if kind == CONTROL:
            link.control(now)
            heapq.heappush(events, (now + link.period, CONTROL, 0))
            continue
        if kind == QUEUE:
            heapq.heappush(events, (link.end_queue_interval(now), QUEUE, 0))
            continue
        if kind == PACKET:
            forward(now, i)
            continue
        if kind == ACK:
            user.flying -= 1
            sample = now - sent
            user.least_rtt = min(user.least_rtt, sample)
            user.mean_rtt += (sample - user.mean_rtt) / (8 if user.mean_rtt else 1)  # "as in TCP" (section III-B): RFC 6298, (2)
            advice = link.periods[bisect.bisect_right(link.updates, left) - 1]
            desired = min(advice.p, user.desired) * user.least_rtt
            slow = desired > user.window and advice.congested
            user.window = max(1.0, user.window + (gain if slow else 1.0) / user.window * (desired - user.window))
            user.windows.append((now, user.window))
        while user.flying < int(user.window) and now < user.stop:
            user.flying += 1
            if user.access:
                user.access_ends = max(now, user.access_ends) + 1 / link.capacity
                heapq.heappush(events, (user.access_ends, PACKET, i))
            else:
                forward(now, i)


def settled(samples, at, within, start):
    """The time from `start`, in s, until all samples (time, value) stay within a fraction of `at`."""
    return max(time for time, value in samples if abs(value - at) > within * at) - start


def average(link, start, end):
    """Utilization and mean queue in packets between two times."""
    first, *_, last = [period for period in link.periods if start <= period.time <= end]
    span = last.time - first.time
    return 1 - (last.idle - first.idle) / span, (last.queue_seconds - first.queue_seconds) / span


def numbers():
    """(name, computed, cited, relative tolerance)"""
    for count, load, low, high in ((50, 0.990, 0.55, 0.57), (300, 0.970, 20.4, 24.4), (800, 0.940, 40.1, 40.9), (830, 0.9015, 77.1, 78.5), (1000, 0.8176, 174, 185)):
        end, found = 0.008 * count + 26, []
        for seed, timer in itertools.product(range(2), (False, True)):
            draw = random.Random(seed).uniform
            users = [User(draw(0, 0.008 * count)) for _ in range(count)]
            found.append(average(simulate(users, end, timer=timer), end - 15, end))
        loads, queues = zip(*found)
        yield f"Fig. 5: utilization with {count} users, mean of two random starts, with and without a queue timer", sum(loads) / 4, load, 1e-3
        yield f"Fig. 5: mean queue with {count} users, packets, least of these four", min(queues), low, 0.01
        yield f"Fig. 5: mean queue with {count} users, packets, greatest of these four", max(queues), high, 0.01
    users = [User(0, 0.16, desired=0.99 * MBIT / 3 * 1e6 / 8 / SIZE)] + [User(5, access=True) for _ in range(3)]
    yield "Fig. 8: longest queue of link 3, packets", max(period.longest for period in simulate(users, 8).periods), 4128, 1e-3
    stay, leave, join = ([User(first + 0.08 * i, stop=stop) for i in range(count)]
                         for first, stop, count in ((0, math.inf, 10), (0.8, 12, 20), (22, math.inf, 40)))
    link = simulate(stay + leave + join, 35)
    estimates = [(period.time, period.users) for period in link.periods]
    yield "Fig. 9: estimate within 5 % of ten, s", settled([e for e in estimates if e[0] < 22], 10, 0.05, 12), 2.3, 0.02
    yield "Fig. 9: estimate within 5 % of fifty, s", settled(estimates, 50, 0.05, 22), 5.45, 2e-3
    yield "Fig. 9: utilization above .9 again, s", min(p.time for p in link.periods if p.time > 12.3 and p.load > 0.9) - 12, 1.67, 5e-3
    yield "Fig. 9: mean queue with ten users, packets", average(link, 18, 22)[1], 0.5, 0.05
    link = simulate([User(0.08 * i) for i in range(10)] + [User(8) for _ in range(40)], 16)
    estimates = [(period.time, period.users) for period in link.periods]
    queues = []
    for first in (22 + 0.01 * k for k in range(8)):
        users = [User(0.08 * i) for i in range(10)] + [User(0.8 + 0.08 * i, stop=12) for i in range(20)] + [User(first + 0.08 * i) for i in range(40)]
        queues.append(max(p.longest for p in simulate(users, 27).periods if p.time > 22))
    yield "Fig. 9: longest queue while forty join, packets, least of eight phases", min(queues), 325, 1e-3
    yield "Fig. 9: longest queue while forty join, packets, greatest of eight phases", max(queues), 348, 1e-3
    yield "Fig. 9: the same, all forty at once, s", settled(estimates, 50, 0.05, 8), 3.13, 2e-3
    times, queues = [], []
    for start in (6 + 0.008 * k for k in range(10)):
        users = [User(0), User(start)]
        link = simulate(users, 10)
        times.append(settled(users[1].windows, 767.25, 0.1, start))
        queues.append(max(p.longest for p in link.periods if p.time > 6))
    for name, found, low, high in (("second user within 10 % of its share, s", times, 0.752, 0.831), ("longest queue, packets", queues, 359, 414)):
        yield f"Fig. 16: {name}, least of ten phases", min(found), low, 2e-3
        yield f"Fig. 16: {name}, greatest of ten phases", max(found), high, 2e-3


def slow_numbers():
    """The queue of a thousand users, from ten random starts with and without a queue timer: three minutes."""
    queues = []
    for seed, timer in itertools.product(range(10), (False, True)):
        draw = random.Random(seed).uniform
        queues.append(average(simulate([User(draw(0, 8)) for _ in range(1000)], 34, timer=timer), 19, 34)[1])
    yield "Fig. 5: mean queue with 1000 users, packets, mean of twenty runs", statistics.mean(queues), 181.6, 1e-3
    yield "Fig. 5: the same, standard deviation", statistics.stdev(queues), 3.81, 2e-3
