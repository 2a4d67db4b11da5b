"""HPCC packet by packet on one short link: Algorithm 1 of Li et al., SIGCOMM 2019, with whole packets.

    U <- U + min(tau / T, 1) (txRate / B + min(qLen, last qLen) / (B T) - U)
    W <- Wc eta / U + W_AI if U >= eta or after five increases, else Wc + W_AI;  Wc <- W once per round trip

100 Mbit/s and 1 ms: B T is 8.3 packets of 1500 bytes. A packet leaves while less than W is in flight, and no earlier
than the pace W / T permits; a change of the pace moves the time of the next packet. Counters are exact, and the start
of each flow is random in the first round trip. Cited by crates/protocols/src/hpcc/ERRATA.md.
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


class Network:
    """Flows over one link, and its events in the order of their times."""

    def __init__(self, flows, expected, packet, seed):
        self.senders = [Flow() for _ in range(flows)]
        self.increase, self.packet = B * (1 - ETA) / expected, packet
        self.queue, self.is_busy, self.served = collections.deque(), False, 0.0
        self.events, self.order = [], 0
        start = random.Random(seed)
        for i in range(flows):
            self.schedule(start.random() * T, TRY, i)

    def schedule(self, time, kind, *what):
        """Adds an event; those of equal times keep their order."""
        self.order += 1
        heapq.heappush(self.events, (time, self.order, kind, *what))

    def send(self, now, i):
        """Sends what window and pace of flow `i` permit."""
        flow = self.senders[i]
        while (flow.sent - flow.acked) * self.packet < flow.pace * T:
            if flow.next_time > now + 1e-15:
                self.schedule(flow.next_time, TRY, i)
                return
            flow.next_time = now + self.packet / flow.pace
            flow.sent += 1
            self.schedule(now + T / 4, ARRIVE, i, flow.sent)

    def depart(self, now):
        """The link begins to send the next packet, with its report as of this time."""
        self.is_busy = bool(self.queue)
        if not self.is_busy:
            return
        i, number = self.queue.popleft()
        self.served += self.packet
        done = now + self.packet / B
        report = (now, self.served, len(self.queue) * self.packet)
        self.schedule(done + 3 * T / 4, ACK, i, number, report)
        self.schedule(done, DEPART)

    def acknowledge(self, now, i, number, report):
        """An acknowledgement arrives at the sender of flow `i`."""
        flow = self.senders[i]
        flow.acked = number
        flow.received += now > MEASURED
        flow.adjust(number, report, self.increase, self.packet)
        self.send(now, i)

    def run(self):
        """Processes all events until the end."""
        while self.events[0][0] <= END:
            now, _, kind, *what = heapq.heappop(self.events)
            if kind == TRY:
                self.send(now, *what)
            elif kind == ARRIVE:
                self.queue.append(what)
                if not self.is_busy:
                    self.is_busy = True
                    self.schedule(now, DEPART)
            elif kind == DEPART:
                self.depart(now)
            else:
                self.acknowledge(now, *what)


def goodputs(flows, expected, packet=PACKET, seed=1):
    """The goodputs of the flows in Mbit/s, in ascending order. `expected`: the number of flows in W_AI."""
    network = Network(flows, expected, packet, seed)
    network.run()
    return sorted(flow.received * packet / (END - MEASURED) / 1e6 for flow in network.senders)


def jain(rates):
    """Jain's index."""
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


def numbers():
    """Yield name, computed, cited and relative tolerance."""
    rates = goodputs(4, 100)
    yield "four flows, W_AI of a 240th of a packet: Jain's index", jain(rates), 0.40, 0.03
    yield "the least goodput in Mbit/s", rates[0], 5.9, 0.03
    yield "the greatest goodput in Mbit/s", rates[-1], 70.0, 0.03
    yield "W_AI of a 24th of a packet: Jain's index", jain(goodputs(4, 10)), 1.0, 0.003
    yield "packets of 150 bytes: Jain's index", jain(goodputs(4, 100, PACKET / 10)), 1.0, 0.02
