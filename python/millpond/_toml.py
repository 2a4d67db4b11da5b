"""Values of Python as TOML, for scenarios that are built in Python."""

from __future__ import annotations

import numbers
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, SupportsFloat, TypeAlias

#: What a scenario may hold. Rates, times and sizes are texts with units: ``"50Mbps"``, ``"10ms"``, ``"1bdp"``. Numbers
#: may be those of NumPy, files may be paths.
Value: TypeAlias = "str | SupportsFloat | os.PathLike[str] | Sequence[Value] | Mapping[str, Value]"

#: Escapes. That of a quote has none, because ranges and lists of the command end a text at the next quote.
ESCAPES = {'"': "\\u0022", "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def text(value: str) -> str:
    """A basic string."""
    escaped = (ESCAPES.get(c) or (c if c.isprintable() else f"\\U{ord(c):08X}") for c in value)
    return '"' + "".join(escaped) + '"'


def key(name: str) -> str:
    """A key, quoted where it must be."""
    is_bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if is_bare else text(name)


def plain(value: Any) -> Any:  # noqa: ANN401
    """A value of NumPy as one of Python, a path as text; other values as they are."""
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    # Scalars and arrays of NumPy, which need not be installed.
    return value.tolist() if type(value).__module__ == "numpy" and hasattr(value, "tolist") else value


def inline(value: Value) -> str:
    """A value on one line.

    Raises
    ------
    TypeError
        The value has no TOML form.
    """
    value = plain(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key(name)} = {inline(one)}" for name, one in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return "[" + ", ".join(inline(one) for one in value) + "]"
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return text(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    raise TypeError(
        f"{value!r} has no TOML form; a scenario holds texts with units, numbers, booleans, lists and dicts"
    )


def document(values: Mapping[str, Value]) -> str:
    """A file: plain values first, then tables, lists of mappings as arrays of tables."""
    plain, tables = [], []
    for name, value in values.items():
        if isinstance(value, Mapping):
            tables.append("\n".join([f"[{key(name)}]", *_lines(value)]))
        elif _is_list_of_tables(value):
            tables.extend("\n".join([f"[[{key(name)}]]", *_lines(one)]) for one in _tables(value))
        else:
            plain.append(f"{key(name)} = {inline(value)}")
    return "\n\n".join(["\n".join(plain), *tables]) + "\n"


def _lines(table: Mapping[str, Value]) -> Iterator[str]:
    return (f"{key(name)} = {inline(value)}" for name, value in table.items())


def _tables(value: Value) -> list[Mapping[str, Value]]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [one for one in value if isinstance(one, Mapping)]


def _is_list_of_tables(value: Value) -> bool:
    tables = _tables(value)
    return bool(tables) and isinstance(value, Sequence) and len(tables) == len(value)
