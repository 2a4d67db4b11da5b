"""Checks of the class of a law: mistakes that no run would report."""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING

from millpond._core import Error

if TYPE_CHECKING:
    from millpond._law import Law

#: A name that scenarios, lists of protocols and datasets can contain.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")

#: The values of attributes of a law that have few.
ATTRIBUTES: dict[str, tuple[str | bool, ...]] = {
    "ecn": ("none", "ect0", "ect1"),
    "capacity": ("none", "start", "live"),
    "samples": (False, True),
    "has_header": (False, True),
}

#: The attributes of a sender that limit what it sends.
SENDER_ATTRIBUTES = ("window_bytes", "pace_bps", "quantum_bytes", "feedback_within_s", "wake_s")

#: How similar a name must be to that of a callback or an attribute for it to be a misspelt one, from 0 to 1.
SIMILAR = 0.8


def check_name(law: type[Law]) -> None:
    """Refuses a law without a name, and a name that scenarios cannot write.

    Raises
    ------
    Error
        The law has no such name.
    """
    name = getattr(law, "name", None)
    if not isinstance(name, str):
        raise Error(f'the law {law.__name__} needs a name: name = "{law.__name__.lower()}"')
    if not NAME.fullmatch(name):
        usable = "-".join(re.findall(r"[a-z0-9_]+", name.lower())) or law.__name__.lower()
        raise Error(
            f"the law {law.__name__} has the name {name!r}: expected letters, digits, - and _, as in {usable!r}"
        )


def check_attributes(law: type[Law], base: type[Law], parameter: type) -> None:
    """Refuses attributes of a law with a value without meaning, and those with nearly the name of one that it may have.

    Parameters
    ----------
    law : type
        The law.
    base : type
        The class of Millpond whose attributes describe a law.
    parameter : type
        The class of parameters, which may have any name.

    Raises
    ------
    Error
        There is such an attribute.
    """
    for name, values in ATTRIBUTES.items():
        value = getattr(law, name)
        if not any(value is one or (isinstance(one, str) and value == one) for one in values):
            expected = " or ".join(map(repr, values))
            raise Error(f"the law {law.name!r} has {name} = {value!r}: expected {expected}")
    known = [name for name in ("name", *vars(base)) if not name.startswith("_") and name != "parameters"]
    own = (item for one in _own(law, base) for item in vars(one).items())
    for name in (name for name, value in own if not isinstance(value, parameter)):
        similar = [] if name in known else get_close_matches(name, known, 1, SIMILAR)
        if similar:
            what = f"the law {law.name!r} has an attribute {name}, which describes no law"
            raise Error(f"{what}: did you mean {similar[0]}? Other attributes need another name")


def check_part(law: type[Law], part: object, base: type) -> None:
    """Refuses a part that is not derived from the class of Millpond.

    Parameters
    ----------
    law : type
        The law.
    part : object
        The class of its senders, receivers, links or equations.
    base : type
        The class of Millpond for this part.

    Raises
    ------
    Error
        It is no subclass.
    """
    if not (isinstance(part, type) and issubclass(part, base)):
        name = base.__name__
        raise Error(f"{name} of the law {law.name!r} is {part!r}: expected a class {name}(millpond.{name})")


def check_callbacks(law: type[Law], part: type, base: type) -> None:
    """Refuses a method of a part that is similar to a callback and is none, and a callback whose body no call executes.

    Parameters
    ----------
    law : type
        The law.
    part : type
        The class of its senders, receivers or links.
    base : type
        The class of Millpond whose methods are the callbacks.

    Raises
    ------
    Error
        There is such a method.
    """
    callbacks = list(_methods(base))
    for name in dict.fromkeys(name for one in _own(part, base) for name in _methods(one)):
        similar = [] if hasattr(base, name) else get_close_matches(name, callbacks, 1, SIMILAR)
        if similar:
            what = f"{base.__name__.lower()}s of the law {law.name!r} have a method {name}"
            raise Error(f"the {what}, which is no callback: did you mean {similar[0]}? Other methods need another name")
    for name in callbacks:
        method = getattr(part, name)
        if inspect.isgeneratorfunction(method) or inspect.iscoroutinefunction(method):
            what = f"the callback {name} of {base.__name__.lower()}s of the law {law.name!r}"
            raise Error(
                f"{what} is a generator or a coroutine, which a call does not execute: write it as a plain function"
            )


def check_stores(law: type[Law], sender: type) -> None:
    """Refuses senders that set an attribute whose name is one letter away from that of an attribute with an effect.

    Parameters
    ----------
    law : type
        The law.
    sender : type
        The class of Millpond that its senders are derived from.

    Raises
    ------
    Error
        There is such an attribute.
    """
    for name in dict.fromkeys(name for one in _own(law.Sender, sender) for name in _stores(one)):
        near = [one for one in SENDER_ATTRIBUTES if name != one and _is_one_letter_away(name, one)]
        if near:
            what = f"senders of the law {law.name!r} set {name}, which has no effect"
            raise Error(f"{what}: did you mean {near[0]}? Other attributes need another name")


def check_header(law: type[Law], sender: type, receiver: type) -> None:
    """Refuses headers that no packet carries.

    Parameters
    ----------
    law : type
        The law.
    sender, receiver : type
        The classes of Millpond that its parts are derived from.

    Raises
    ------
    Error
        A sender writes a header or a receiver sets an echo, and the law has none.
    """
    if law.has_header:
        return
    hint = f"packets of the law {law.name!r} carry no header: set has_header = True"
    if any("header" in _methods(one) for one in _own(law.Sender, sender)):
        raise Error(f"Sender.header is never called, because {hint}")
    if any("echo" in _stores(one) for one in _own(law.Receiver, receiver)):
        raise Error(f"Receiver.echo has no effect, because {hint}")


def _own(part: type, base: type) -> Iterator[type]:
    """The classes of a part that are not those of Millpond."""
    return (one for one in part.__mro__ if one not in base.__mro__)


def _methods(cls: type) -> Iterator[str]:
    """Public functions that a class itself defines."""
    return (name for name, one in vars(cls).items() if inspect.isfunction(one) and not name.startswith("_"))


def _stores(cls: type) -> Iterator[str]:
    """The names of the attributes that functions which a class itself defines set."""
    codes = [one.__code__ for one in vars(cls).values() if inspect.isfunction(one)]
    steps = (step for code in codes for step in dis.get_instructions(code))
    return (str(step.argval) for step in steps if step.opname == "STORE_ATTR")


def _is_one_letter_away(name: str, other: str) -> bool:
    """Whether a letter too many, too few or wrong makes one of the other."""
    short, long = sorted((name, other), key=len)
    if len(long) == len(short):
        return sum(a != b for a, b in zip(short, long, strict=True)) == 1
    return any(long[:place] + long[place + 1 :] == short for place in range(len(long)))
