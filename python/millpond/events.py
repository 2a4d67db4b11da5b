"""The events of laws: what callbacks of `millpond.Sender`, `millpond.Receiver` and `millpond.Link` receive.

Sizes are whole numbers of bytes on the wire, times are in seconds, rates in bit/s. A value that does not exist is None.
``docs/guest-laws.md`` describes every field.
"""

from millpond._core import Ack, Congestion, Data, LinkPacket, QueueState, Start

__all__ = ["Ack", "Congestion", "Data", "LinkPacket", "QueueState", "Start"]
