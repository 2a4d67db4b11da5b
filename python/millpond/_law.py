"""Laws written in Python: senders, receivers and links, with parameters and units."""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar, overload

from millpond import _core
from millpond._core import Ack, Congestion, Data, LinkPacket, QueueState, Start
from millpond._fluid import Fluid
from millpond._law_checks import (
    check_attributes,
    check_callbacks,
    check_header,
    check_name,
    check_part,
    check_stores,
)
from millpond.native import NativeLaw

T = TypeVar("T", float, bool, str)

#: What a router decides about a packet; None forwards it.
Verdict: TypeAlias = Literal["mark", "drop"] | None

#: Units whose parameters scenarios write as quantities, with the kind of the parameter.
QUANTITIES = {"s": "time", "B": "size", "bit/s": "rate"}


class Parameter(Generic[T]):
    """A parameter of a law: an attribute of a `Law`, which its parts read as ``self.law.NAME``.

    Scenarios set it under ``[protocols.NAME.params]``, with the checks and messages of built-in laws.

    Parameters
    ----------
    default : float, bool or str
        A number; a flag; a quantity with its unit, such as ``"5ms"``, if `unit` is ``"s"``, ``"B"`` or ``"bit/s"``;
        one of `words`.
    unit : str
        Unit of a number as printed; ``"1"`` for a pure number. Of a quantity: ``"s"``, ``"B"`` or ``"bit/s"``; laws
        read such a parameter in this unit.
    meaning : str
        What it does.
    low, high : float
        Range of a number.
    above : bool
        Whether `low` itself is outside of the range.
    whole : bool
        Whether a number must be whole.
    words : iterable of str
        The values of a parameter that is a word.
    source : str
        The equation or section that it comes from. Default: the source of the law.
    """

    def __init__(
        self,
        default: T,
        *,
        meaning: str,
        unit: str = "1",
        low: float = -math.inf,
        high: float = math.inf,
        above: bool = False,
        whole: bool = False,
        words: Iterable[str] = (),
        source: str = "",
    ) -> None:
        self.default: float | bool | str = default
        self.name = ""
        self.unit = unit
        self.low = low
        self.high = high
        self.is_low_excluded = above
        self.words = list(words)
        self.source = source
        self.meaning = meaning
        self.kind = self._kind(whole)
        self._check_range()

    def _check_range(self) -> None:
        ends = [self.low, self.high]
        for name, end in zip(["low", "high"], ends, strict=True):
            if isinstance(end, bool) or not isinstance(end, numbers.Real):
                raise _core.Error(f"{name} is {end!r}: expected a number")
        if not self.low <= self.high:
            raise _core.Error(f"low is {self.low} and high is {self.high}: expected the lower end of the range as low")
        if self.kind not in {"number", "whole"} and ends != [-math.inf, math.inf]:
            raise _core.Error(f"the default {self.default!r} is no number: only numbers have a range by low and high")

    def _kind(self, whole: bool) -> str:
        if isinstance(self.default, bool):
            return "flag"
        if self.words:
            return "words"
        if isinstance(self.default, str):
            if self.unit not in QUANTITIES:
                raise _core.Error(
                    f"the default {self.default!r} is a quantity: set unit to one of {', '.join(QUANTITIES)}"
                )
            return QUANTITIES[self.unit]
        return "whole" if whole else "number"

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Parameter[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Any: ...  # noqa: ANN401
    def __get__(self, instance: object, owner: type) -> Any:
        """The declaration; the values of instances are attributes of their own."""
        if instance is None:
            return self
        raise AttributeError(f"{owner.__name__}.{self.name} has a value in instances that Millpond makes only")

    def __repr__(self) -> str:
        return f"<Parameter {self.name}: {self.default!r} {self.unit}>"


class Sender(_core.SenderBase):
    """The law at the sender of one loop.

    A callback sets `window_bytes`, `pace_bps` or both, and the endpoint sends what they permit. ``docs/guest-laws.md``
    describes every event. Callbacks that a class does not have cost no time.

    Attributes
    ----------
    law : Law
        The law with the parameters of this run.
    window_bytes : float
        Upper limit of the bytes in flight. Infinite, the default: none.
    pace_bps : float
        Upper limit of the sending rate, in bit/s. Infinite, the default: none.
    quantum_bytes : float
        How much a paced sender may send at once; 0, the default: one packet.
    feedback_within_s : float
        Longest time between two packets of a sender that has data. Infinite, the default: none.
    wake_s : float
        Simulated time of the next `on_timer`, which resets it. Infinite, the default: none.
    now_s : float
        Simulated time.
    """

    def __init__(self, law: Any) -> None:  # noqa: ANN401
        self.law = law

    def on_start(self, start: Start) -> None:
        """The loop starts; called once, before any other event. A law sets its first window or rate here."""

    def on_ack(self, ack: Ack) -> None:
        """New data was acknowledged."""

    def on_congestion(self, congestion: Congestion) -> None:
        """The endpoint detected a loss, a timeout, ECN marks or persistent congestion."""

    def on_timer(self) -> None:
        """The time `wake_s` has been reached."""

    def on_capacity(self, capacity_bps: float) -> None:
        """The capacity that is signalled to this sender has changed; only with ``Law.capacity = "live"``."""

    def on_sent(self, packet_bytes: int, in_flight_bytes: int) -> None:
        """A packet was sent."""

    def on_recovery_end(self) -> None:
        """The recovery after a loss episode ends (RFC 9002, section 7.3.2)."""

    def on_idle_restart(self) -> None:
        """The sender lacked data until nothing was in flight, and is about to send again."""

    def on_spurious_loss(self, packet_bytes: int, is_whole_episode: bool) -> None:
        """A packet that had been declared lost was acknowledged."""

    def header(self) -> bytes | None:
        """The header of a packet that is about to leave, of at most 40 bytes; only with ``Law.has_header``."""
        return None

    def observe(self) -> dict[str, tuple[float, str]]:
        """Quantities for plots: by name, a value and its unit."""
        return {}


class Receiver(_core.ReceiverBase):
    """The law at the receiver of one loop: the feedback in acknowledgements.

    Attributes
    ----------
    law : Law
        The law with the parameters of this run.
    echo : bytes or None
        The header of the next acknowledgement; before each packet the header of that packet.
    mark : bool
        Whether the packet counts as CE-marked; before each packet False.
    now_s : float
        Simulated time.
    """

    def __init__(self, law: Any) -> None:  # noqa: ANN401
        self.law = law

    def on_data(self, data: Data) -> None:
        """A data packet arrived."""


class Link(_core.LinkBase):
    """The router of a law at one direction of one link.

    Attributes
    ----------
    law : Law
        The law with the parameters of this run.
    capacity_bps : float
        Configured capacity at the start. Set after ``__init__``.
    buffer_bytes : int or None
        Size of the buffer; None if it is unlimited. Set after ``__init__``.
    packet_bytes : int
        Size of a full data packet of the flows that cross the link. Set after ``__init__``.
    now_s : float
        Simulated time.
    """

    def __init__(self, law: Any) -> None:  # noqa: ANN401
        self.law = law

    def on_arrival(self, packet: LinkPacket, queue: QueueState) -> Verdict:
        """A packet arrives, before the limit of the buffer is applied."""

    def on_departure(self, packet: LinkPacket, queue: QueueState) -> Verdict:
        """A packet at the head of the queue is about to be served."""

    def on_tick(self, queue: QueueState) -> float | None:
        """A control interval ended; first called at time zero.

        Returns
        -------
        float or None
            Seconds until the next call; None for no further one.
        """

    def observe(self) -> dict[str, tuple[float, str]]:
        """Quantities for plots: by name, a value and its unit."""
        return {}


@dataclass(frozen=True)
class Part:
    """A class of a law and the callbacks that it has."""

    cls: type
    callbacks: list[str]

    @classmethod
    def of(cls, part: type, base: type) -> Part:
        """The callbacks of `part` that are not those of its base class."""
        own = [name for name, method in vars(base).items() if callable(method) and not name.startswith("_")]
        return cls(part, [name for name in own if getattr(part, name) is not getattr(base, name)])


@dataclass(frozen=True)
class Equations:
    """The class of the equations of a law, and what they do not contain."""

    cls: type[Fluid]
    left_out: list[str]


@dataclass(frozen=True)
class Declaration:
    """What the compiled part receives of a law."""

    name: str
    title: str
    summary: str
    source: str
    header: bool
    ecn: str
    capacity: str
    samples: bool
    queue: str
    queue_settings: list[tuple[str, str]]
    parameters: list[Parameter[Any]]
    sender: Part
    receiver: Part | None = None
    link: Part | None = None
    native: int | None = None
    fluid: Equations | None = None


class Law:
    """A law: its description, its parameters, and the classes of its parts.

    A subclass has `name` and `Sender`; its docstring is its summary. Parameters are attributes of type `Parameter`.
    `Scenario.run` and `Scenario.compare` accept the class in place of a name; `register` lets scenarios name it.

    Examples
    --------
    >>> class Fixed(millpond.Law):
    ...     "A fixed window."
    ...     name = "fixed"
    ...     window = millpond.Parameter(20.0, unit="packets", low=1.0, meaning="window")
    ...
    ...     class Sender(millpond.Sender):
    ...         def on_start(self, start):
    ...             self.window_bytes = self.law.window * start.packet_bytes
    >>> scenario.compare([Fixed, "cubic"])
    """

    #: As scenarios spell it: letters, digits, - and _.
    name: ClassVar[str]
    #: The name in full. Default: the name of the class.
    title: ClassVar[str] = ""
    #: Where it is defined.
    source: ClassVar[str] = "a law in Python"
    #: Its queue at links for which the scenario sets none.
    queue: ClassVar[str] = "droptail"
    #: The parameters of that queue which differ from their defaults, as a scenario writes them.
    queue_settings: ClassVar[Mapping[str, str]] = {}
    #: Whether its packets carry a header of its own.
    has_header: ClassVar[bool] = False
    #: Whether its packets are ECN-capable, and as what they are sent.
    ecn: ClassVar[Literal["none", "ect0", "ect1"]] = "none"
    #: Which capacities are signalled to its senders: the least of the path at the start, or that of their link, live.
    capacity: ClassVar[Literal["none", "start", "live"]] = "none"
    #: Whether acknowledgements have samples of the delivery rate.
    samples: ClassVar[bool] = False

    #: The law as C functions, in place of the classes: see `millpond.native`.
    native: ClassVar[NativeLaw | None] = None
    #: The class of its senders.
    Sender: ClassVar[type[Sender]] = Sender
    #: The class of its receivers; by default the header of a packet is echoed.
    Receiver: ClassVar[type[Receiver]] = Receiver
    #: The class of its routers; by default it has none.
    Link: ClassVar[type[Link]] = Link
    #: The class of its equations; by default it has none, and fluid scenarios refuse it.
    Fluid: ClassVar[type[Fluid]] = Fluid

    @classmethod
    def parameters(cls) -> Iterator[Parameter[Any]]:
        """The declared parameters, those of base classes first."""
        found = {name: one for base in reversed(cls.__mro__) for name, one in vars(base).items()}
        for name, one in found.items():
            if isinstance(one, Parameter):
                # An attribute that was set after its class was made has no name yet.
                one.name = one.name or name
                yield one

    @classmethod
    def _with(cls, values: dict[str, float | bool | str]) -> Law:
        """The law with these values of its parameters."""
        law = cls()
        vars(law).update(values)
        return law

    @classmethod
    def _declaration(cls) -> Declaration:
        check_name(cls)
        check_attributes(cls, Law, Parameter)
        if cls.Sender is Sender and cls.native is None:
            raise _core.Error(f"the law {cls.name!r} needs a class Sender(millpond.Sender)")
        for part, base in ((cls.Sender, Sender), (cls.Receiver, Receiver), (cls.Link, Link), (cls.Fluid, Fluid)):
            check_part(cls, part, base)
        sender = Part.of(cls.Sender, Sender)
        if cls.native is None and "on_start" not in sender.callbacks:
            raise _core.Error(f"the senders of the law {cls.name!r} need on_start, which sets window_bytes or pace_bps")
        check_header(cls, Sender, Receiver)
        for part, base in ((cls.Sender, Sender), (cls.Receiver, Receiver), (cls.Link, Link)):
            check_callbacks(cls, part, base)
        check_stores(cls, Sender)
        parameters = [_sourced(one, cls.source) for one in cls.parameters()]
        receiver, link, fluid = cls.Receiver, cls.Link, cls.Fluid
        return Declaration(
            name=cls.name,
            title=cls.title or cls.__name__,
            summary=(inspect.getdoc(cls) or cls.__name__).splitlines()[0],
            source=cls.source,
            header=cls.has_header,
            ecn=cls.ecn,
            capacity=cls.capacity,
            samples=cls.samples,
            queue=cls.queue,
            queue_settings=list(cls.queue_settings.items()),
            parameters=parameters,
            sender=sender,
            receiver=None if receiver is Receiver else Part.of(receiver, Receiver),
            link=None if link is Link else Part.of(link, Link),
            native=None if cls.native is None else cls.native.address,
            fluid=None if fluid is Fluid else Equations(fluid, list(fluid.left_out)),
        )


def _sourced(parameter: Parameter[Any], source: str) -> Parameter[Any]:
    parameter.source = parameter.source or source
    return parameter


#: The registered laws by name.
_registered: dict[str, type[Law]] = {}


def register(law: type[Law]) -> type[Law]:
    """Adds a law to the registry of this process, so that scenarios may name it.

    A law that was registered under the same name before is replaced. It can be used as a decorator.

    Parameters
    ----------
    law : type
        A subclass of `Law`.

    Returns
    -------
    type
        The same class.

    Raises
    ------
    Error
        The declaration is incomplete, a default is outside of its range, the name is that of a built-in protocol or
        has other characters than letters, digits, - and _, a part is not derived from the class of Millpond, a method
        is similar to a callback and is none, a sender sets an attribute that is similar to one with an effect, or a
        header is written and `has_header` is not set.
    """
    if not (isinstance(law, type) and issubclass(law, Law)):
        raise TypeError(f"a law is a subclass of millpond.Law, not {law!r}")
    declaration = law._declaration()
    if _registered.get(law.name) is not law:
        _core.register(law, declaration)
        _registered[law.name] = law
    return law


def name_of(protocol: str | type[Law]) -> str:
    """The name of a protocol, which is registered if it is a class."""
    return protocol if isinstance(protocol, str) else register(protocol).name


def registered() -> tuple[type[Law], ...]:
    """The registered laws."""
    return tuple(_registered.values())
