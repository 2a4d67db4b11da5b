"""Laws that the tests of guests use; worker processes import them."""

from __future__ import annotations

import math
import struct

import millpond
from millpond.events import Ack, Congestion, Data, LinkPacket, QueueState, Start


class Fixed(millpond.Law):
    """A fixed window."""

    name = "fixed"
    window = millpond.Parameter(20.0, unit="packets", low=1.0, high=1e6, meaning="the window")

    class Sender(millpond.Sender):
        def on_start(self, start: Start) -> None:
            self.window_bytes = self.law.window * start.packet_bytes


class Breaks(millpond.Law):
    """A fixed window, whose sender fails on a long queue."""

    name = "breaks"

    class Sender(millpond.Sender):
        def on_start(self, start: Start) -> None:
            self.window_bytes = 8 * start.packet_bytes

        def on_ack(self, ack: Ack) -> None:
            if (ack.rtt_s or 0.0) > 0.05:
                raise RuntimeError("a long queue")


class Reno(millpond.Law):
    """NewReno, with the arithmetic of the built-in one at its default parameters."""

    name = "guest-reno"
    source = "RFC 9002, section 7"
    factor = millpond.Parameter(0.5, low=0.0, high=1.0, meaning="factor by which a loss multiplies the window")

    class Sender(millpond.Sender):
        MOST = 1e15

        def on_start(self, start: Start) -> None:
            self.packet = float(start.packet_bytes)
            self.window = min(10 * self.packet, max(2 * self.packet, 14720.0))
            self.threshold = math.inf
            self.delivered = self.prior_delivered = self.recovery = 0
            self.window_bytes = self.window

        def in_recovery(self) -> bool:
            return self.prior_delivered < self.recovery

        def on_ack(self, ack: Ack) -> None:
            self.delivered = max(self.delivered, ack.delivered_bytes)
            self.prior_delivered = ack.prior_delivered_bytes
            if ack.window_unused or self.in_recovery():
                return
            acked = ack.bytes
            if self.window < self.threshold:
                room = math.floor(max(min(self.threshold, self.MOST) - self.window, 0.0) + 0.5)
                used = min(acked, room)
                self.window = min(max(self.window + used, self.window), max(self.MOST, self.window))
                acked -= used
            if acked > 0:
                grown = self.window + self.packet * acked / self.window
                self.window = min(max(grown, self.window), max(self.MOST, self.window))
            self.window_bytes = self.window

        def on_congestion(self, congestion: Congestion) -> None:
            if congestion.cause == "timeout":
                return
            if congestion.is_new_episode and not self.in_recovery():
                self.threshold = self.window = max(self.window * self.law.factor, 2 * self.packet)
                self.recovery = self.delivered
            if congestion.cause == "no-feedback":
                self.window = 2 * self.packet
                self.recovery = 0
            self.window_bytes = self.window

        def observe(self) -> dict[str, tuple[float, str]]:
            found = {"window": (self.window / self.packet, "packets")}
            if math.isfinite(self.threshold):
                found["slow-start threshold"] = (self.threshold / self.packet, "packets")
            return found


class Signalled(millpond.Law):
    """Routers write the share of each flow into packets, and senders pace at it."""

    name = "signalled"
    has_header = True
    flows = millpond.Parameter(2.0, unit="flows", low=1.0, high=1e6, whole=True, meaning="number of flows")
    target = millpond.Parameter(0.8, low=0.1, high=1.0, meaning="utilization")

    class Sender(millpond.Sender):
        def on_start(self, start: Start) -> None:
            self.pace_bps = 1e5
            self.rate = math.inf

        def on_ack(self, ack: Ack) -> None:
            if ack.header is not None and len(ack.header) == 8:
                (rate,) = struct.unpack("<d", ack.header)
                if 1 <= rate < math.inf:
                    self.pace_bps = self.rate = rate

        def header(self) -> bytes:
            return struct.pack("<d", math.inf)

    class Link(millpond.Link):
        share = math.inf

        def on_tick(self, queue: QueueState) -> float:
            self.share = self.law.target * queue.capacity_bps / self.law.flows
            return 0.05

        def on_arrival(self, packet: LinkPacket, queue: QueueState) -> None:
            if packet.header is not None and len(packet.header) == 8 and packet.is_data:
                (rate,) = struct.unpack("<d", packet.header)
                packet.header = struct.pack("<d", min(rate, self.share))

        def observe(self) -> dict[str, tuple[float, str]]:
            return {"share": (self.share, "bit/s")} if self.share < math.inf else {}


class Halved(Signalled):
    """The same, with receivers that halve the rate."""

    name = "halved"

    class Receiver(millpond.Receiver):
        def on_data(self, data: Data) -> None:
            if self.echo is not None and len(self.echo) == 8:
                (rate,) = struct.unpack("<d", self.echo)
                self.echo = struct.pack("<d", rate / 2)


class Dice(millpond.Law):
    """A window of one to four packets, sampled again at each expiry of a timer."""

    name = "dice"
    period = millpond.Parameter("50ms", unit="s", meaning="time between two samples")

    class Sender(millpond.Sender):
        def on_start(self, start: Start) -> None:
            self.packet = start.packet_bytes
            self.count = 0
            self.on_timer()

        def on_timer(self) -> None:
            self.count += 1
            self.window_bytes = self.packet * (1 + math.floor(4 * self.random()))
            # Beside a long simulated time a picosecond is not a number of its own.
            self.wake_s = self.now_s + max(self.law.period, 1e-6)

        def observe(self) -> dict[str, tuple[float, str]]:
            return {"samples": (self.count, "1"), "drawn window": (self.window_bytes / self.packet, "packets")}
