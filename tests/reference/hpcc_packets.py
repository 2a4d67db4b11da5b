"""HPCC packet by packet on one short link: Algorithm 1 of Li et al., SIGCOMM 2019, with whole packets.

    U <- U + min(tau / T, 1) (txRate / B + min(qLen, last qLen) / (B T) - U)
    W <- Wc eta / U + W_AI if U >= eta or after five increases, else Wc + W_AI;  Wc <- W once per round trip

100 Mbit/s and 1 ms: B T is 8.3 packets of 1500 bytes. A packet leaves while less than W is in flight, and no earlier than the pace
W / T permits; a change of the pace moves the time of the next packet. Counters are exact, and the start of each flow is random in
the first round trip. Cited by crates/protocols/src/hpcc/ERRATA.md.
"""

import collections
import heapq
import random

B, T, PACKET = 100e6, 1e-3, 12e3  # bit/s, s, bits
ETA, STAGES = 0.95, 5
MEASURED, END = 4.0, 14.0
TRY, ARRIVE, DEPART, ACK = range(4)


class Flow:
    """A sender; rates in bit/s, numbers of packets from one."""

    def __init__(self):
        self.pace = self.reference = B
        self.utilization, self.stage = 1.0, 0
        self.sent = self.acked = self.update_after = self.received = 0
        self.next_time, self.last = 0.0, None

    def adjust(self, number, report, increase, packet):
        """An acknowledgement of packet `number` with the link's report: time in s, bits sent, bits in the queue."""
        if self.last is None:
            self.update_after, self.last = self.sent, report
            return
        tau = report[0] - self.last[0]
        load = (report[1] - self.last[1]) / tau / B + min(report[2], self.last[2]) / (B * T)
        self.utilization += min(tau / T, 1.0) * (load - self.utilization)
        self.last = report
        adjusts = self.utilization >= ETA or self.stage >= STAGES
        kept = self.reference * ETA / self.utilization if adjusts else self.reference
        pace = min(max(kept + increase, 1e-3 * B), B)
        self.next_time += packet / pace - packet / self.pace
        self.pace = pace
        if number > self.update_after:
            self.reference, self.update_after = pace, self.sent
            self.stage = 0 if adjusts else self.stage + 1


def goodputs(flows, expected, packet=PACKET, seed=1):
    """The goodputs of the flows in Mbit/s, in ascending order. `expected`: the number of flows in W_AI."""
    start = random.Random(seed)
    senders = [Flow() for _ in range(flows)]
    increase = B * (1 - ETA) / expected
    queue, is_busy, served, events, order = collections.deque(), False, 0.0, [], 0

    def schedule(time, kind, *what):
        nonlocal order
        order += 1
        heapq.heappush(events, (time, order, kind, *what))

    def send(now, i):
        flow = senders[i]
        while (flow.sent - flow.acked) * packet < flow.pace * T:
            if flow.next_time > now + 1e-15:
                schedule(flow.next_time, TRY, i)
                return
            flow.next_time = now + packet / flow.pace
            flow.sent += 1
            schedule(now + T / 4, ARRIVE, i, flow.sent)

    for i in range(flows):
        schedule(start.random() * T, TRY, i)
    while True:
        now, _, kind, *what = heapq.heappop(events)
        if now > END:
            return sorted(flow.received * packet / (END - MEASURED) / 1e6 for flow in senders)
        if kind == TRY:
            send(now, what[0])
        elif kind == ARRIVE:
            queue.append(what)
            if not is_busy:
                is_busy = True
                schedule(now, DEPART)
        elif kind == DEPART and not queue:
            is_busy = False
        elif kind == DEPART:
            i, number = queue.popleft()
            served += packet
            done = now + packet / B
            schedule(done + 3 * T / 4, ACK, i, number, (now, served, len(queue) * packet))
            schedule(done, DEPART)
        else:
            i, number, report = what
            senders[i].acked = number
            senders[i].received += now > MEASURED
            senders[i].adjust(number, report, increase, packet)
            send(now, i)


def jain(rates):
    """Jain's index."""
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


def numbers():
    """(name, computed, cited, relative tolerance)"""
    rates = goodputs(4, 100)
    yield "four flows, W_AI of a 240th of a packet: Jain's index", jain(rates), 0.40, 0.03
    yield "the least goodput in Mbit/s", rates[0], 5.9, 0.03
    yield "the greatest goodput in Mbit/s", rates[-1], 70.0, 0.03
    yield "W_AI of a 24th of a packet: Jain's index", jain(goodputs(4, 10)), 1.0, 0.003
    yield "packets of 150 bytes: Jain's index", jain(goodputs(4, 100, PACKET / 10)), 1.0, 0.02
