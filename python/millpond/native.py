"""Laws as C functions: shared libraries, and functions that Numba compiles.

``include/millpond.h`` documents the callbacks. The structures of this module have the layout of that header;
``docs/guest-laws.md`` has an example for C and one for Numba.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from millpond._core import Error

if TYPE_CHECKING:
    import numpy as np

#: ``MILLPOND_VERSION``.
VERSION = 1
#: The symbol of the law in a shared library.
SYMBOL = "millpond_law_table"

#: A callback: a function that Numba has compiled (with an ``address``), a function of `ctypes`, or an address.
Callback: TypeAlias = Any

_F64, _U64, _U32 = ctypes.c_double, ctypes.c_uint64, ctypes.c_uint32
_POINTER = ctypes.c_void_p


class Context(ctypes.Structure):
    """``millpond_context``."""

    _fields_ = (("now_s", _F64), ("sample", _F64), ("parameters", _F64 * 32))


class Permit(ctypes.Structure):
    """``millpond_permit``."""

    _fields_ = tuple(
        (name, _F64) for name in ("window_bytes", "pace_bps", "quantum_bytes", "feedback_within_s", "wake_s")
    )


class Header(ctypes.Structure):
    """``millpond_header``."""

    _fields_ = (("length", _U64), ("bytes", ctypes.c_uint8 * 40))


class Start(ctypes.Structure):
    """``millpond_start``."""

    _fields_ = (("packet_bytes", _U64), ("capacity_bps", _F64), ("weight", _F64))


class Ack(ctypes.Structure):
    """``millpond_ack``."""

    _fields_ = (
        ("bytes", _U64),
        ("packets", _U64),
        ("rtt_s", _F64),
        ("min_rtt_s", _F64),
        ("smoothed_rtt_s", _F64),
        ("in_flight_bytes", _U64),
        ("prior_in_flight_bytes", _U64),
        ("ce_packets", _U64),
        ("ce_bytes", _U64),
        ("delivered_bytes", _U64),
        ("prior_delivered_bytes", _U64),
        ("delivery_rate_bps", _F64),
        ("round", _U64),
        ("newly_lost_bytes", _U64),
        ("lost_bytes", _U64),
        ("app_limited", _U64),
        ("limited_by", _U64),
        ("window_unused", _U64),
        ("header", Header),
    )


class Congestion(ctypes.Structure):
    """``millpond_congestion``."""

    _fields_ = tuple(
        (name, _U64) for name in ("cause", "is_new_episode", "bytes", "in_flight_bytes", "prior_in_flight_bytes")
    )


class Packet(ctypes.Structure):
    """``millpond_packet``."""

    _fields_ = (("bytes", _U64), ("is_data", _U64), ("ecn", _U64), ("header", Header))


class Queue(ctypes.Structure):
    """``millpond_queue``."""

    _fields_ = (("capacity_bps", _F64), ("bytes", _U64), ("packets", _U64), ("head_sojourn_s", _F64))


class Echo(ctypes.Structure):
    """``millpond_echo``."""

    _fields_ = (("header", Header), ("mark", _U64))


def _table(*callbacks: str) -> tuple[tuple[str, Any], ...]:
    """The fields of a table of callbacks."""
    beginning = (("version", _U32), ("struct_bytes", _U32), ("state_bytes", _U64))
    return (*beginning, *((name, _POINTER) for name in callbacks))


class SenderTable(ctypes.Structure):
    """``millpond_sender``."""

    _fields_ = _table("on_start", "on_ack", "on_congestion", "on_timer", "on_capacity", "header")


class LinkTable(ctypes.Structure):
    """``millpond_link``."""

    _fields_ = _table("on_arrival", "on_departure", "on_tick")


class ReceiverTable(ctypes.Structure):
    """``millpond_receiver``."""

    _fields_ = _table("on_data")


class LawTable(ctypes.Structure):
    """``millpond_law``."""

    _fields_ = (
        ("version", _U32),
        ("struct_bytes", _U32),
        ("sender", _POINTER),
        ("link", _POINTER),
        ("receiver", _POINTER),
        ("error_text", _POINTER),
    )


#: The arguments of each callback after the state and the context: pointers to structures, or numbers.
ARGUMENTS: Mapping[str, tuple[type[ctypes.Structure] | str, ...]] = {
    "on_start": (Start, Permit),
    "on_ack": (Ack, Permit),
    "on_congestion": (Congestion, Permit),
    "on_timer": (Permit,),
    "on_capacity": ("float64", Permit),
    "header": (Header,),
    "on_arrival": (Packet, Queue, "*uint64"),
    "on_departure": (Packet, Queue, "*uint64"),
    "on_tick": (Queue, "*float64"),
    "on_data": (Packet, Echo),
}


class NativeLaw:
    """The tables of a law: the attribute ``native`` of a `millpond.Law`.

    The tables and the functions live as long as the process, because a registered law may be called until its end.

    Parameters
    ----------
    address : int
        Address of a ``millpond_law``, which is trusted.
    keep : object
        What owns the table and its functions.
    code : object
        The code of the functions: runs of another code have other keys in sweeps.
    """

    _kept: list[object] = []  # noqa: RUF012

    def __init__(self, address: int, keep: object, code: object) -> None:
        self.address = address
        self.code = code
        self._kept.append(keep)


def load(path: str | os.PathLike[str], symbol: str = SYMBOL) -> NativeLaw:
    """The law of a shared library.

    Parameters
    ----------
    path : path
        The library, built with ``include/millpond.h``.
    symbol : str
        The name of its ``millpond_law``.

    Raises
    ------
    Error
        The library cannot be loaded, or does not have the symbol.
    """
    try:
        library = ctypes.CDLL(str(Path(path).absolute()))
        table = LawTable.in_dll(library, symbol)
    except (OSError, ValueError) as error:
        raise Error(f"{path}: {error}; a law exports a millpond_law with the name {symbol}") from error
    return NativeLaw(ctypes.addressof(table), (library, table), Path(path).read_bytes())


def law(
    *,
    sender: Mapping[str, Callback],
    link: Mapping[str, Callback] | None = None,
    receiver: Mapping[str, Callback] | None = None,
    state: np.dtype[Any] | int = 0,
) -> NativeLaw:
    """A law of compiled functions.

    Parameters
    ----------
    sender, link, receiver : mapping of str to callback
        The callbacks of each part by their names in ``include/millpond.h``.
    state : numpy.dtype or int
        The state of each sender, link and receiver, or its size in bytes.

    Raises
    ------
    Error
        There is no callback of a name.
    """
    state_bytes = state if isinstance(state, int) else state.itemsize
    parts = [
        None if callbacks is None else _filled(table, callbacks, state_bytes)
        for table, callbacks in ((SenderTable, sender), (LinkTable, link), (ReceiverTable, receiver))
    ]
    addresses = [None if part is None else ctypes.addressof(part) for part in parts]
    whole = LawTable(VERSION, ctypes.sizeof(LawTable), *addresses, None)
    kept = (whole, parts, sender, link, receiver)
    code = {name: _code(one) for group in (sender, link or {}, receiver or {}) for name, one in group.items()}
    return NativeLaw(ctypes.addressof(whole), kept, (str(state), code))


def _code(callback: Callback) -> object:
    """The function that Numba has compiled; of another callback an object that a sweep refuses."""
    if isinstance(callback, int):
        return ctypes.c_void_p(callback)
    return getattr(callback, "__wrapped__", callback)


def _filled(table: type[ctypes.Structure], callbacks: Mapping[str, Callback], state_bytes: int) -> ctypes.Structure:
    """A table of these callbacks."""
    names = [name for name, _ in _table_fields(table)]
    unknown = set(callbacks) - set(names)
    if unknown:
        raise Error(f"there is no callback {', '.join(sorted(unknown))}; there are: {', '.join(names)}")
    addresses = {name: _address(callback) for name, callback in callbacks.items()}
    return table(VERSION, ctypes.sizeof(table), state_bytes, **addresses)


def _table_fields(table: type[ctypes.Structure]) -> list[tuple[str, Any]]:
    """The fields of a table that are callbacks."""
    return [(field[0], field[1]) for field in table._fields_ if field[1] is _POINTER]


def _address(callback: Callback) -> int | None:
    """The address of a function."""
    if isinstance(callback, int):
        return callback
    if isinstance(address := getattr(callback, "address", None), int):
        return address
    return ctypes.cast(callback, _POINTER).value


def dtype(structure: type[ctypes.Structure]) -> np.dtype[Any]:
    """The layout of a structure for numpy and Numba."""
    import numpy as np

    return np.dtype(structure)


def signature(callback: str, state: np.dtype[Any] | None = None) -> Any:  # noqa: ANN401
    """The signature of a callback for ``numba.cfunc``.

    All arguments are pointers, which ``numba.carray(pointer, 1)[0]`` reads and writes as records with the fields of
    ``include/millpond.h``: the state, the context, then those of the callback.

    Parameters
    ----------
    callback : str
        The name of the callback, such as ``"on_ack"``.
    state : numpy.dtype, optional
        The state; with ``align=True``, so that its fields are where a C compiler expects them.
    """
    import numba

    types: Any = numba.types

    def argument(one: type[ctypes.Structure] | str) -> Any:  # noqa: ANN401
        if isinstance(one, str):
            plain = getattr(types, one.removeprefix("*"))
            return types.CPointer(plain) if one.startswith("*") else plain
        return types.CPointer(numba.from_dtype(dtype(one)))

    first = types.voidptr if state is None else types.CPointer(numba.from_dtype(state))
    rest = [argument(one) for one in (Context, *ARGUMENTS[callback])]
    return types.int32(first, *rest)
