"""Reads the documents of the command: dataclasses whose annotations say what the values of parsed JSON become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, Self, Union, get_args, get_origin, get_type_hints

Decoder = Callable[[Any], Any]


class Key(NamedTuple):
    """A key of a document, and the attribute that holds its value."""

    attribute: str
    name: str
    #: How its value is read from parsed JSON.
    decode: Decoder
    #: Whether each document has it.
    is_required: bool


class Document:
    """A document, or a part of one. Its classes are dataclasses; attributes with a default may be missing in JSON."""

    __slots__ = ()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The document of a parsed JSON text; a missing key is a `KeyError`."""
        document: type = cls
        present = (key for key in _keys(document) if key.is_required or key.name in value)
        return cls(**{key.attribute: key.decode(value[key.name]) for key in present})


@cache
def _keys(document: type) -> list[Key]:
    """The keys of a class. An attribute whose key is a keyword of Python ends with an underscore."""
    kinds = get_type_hints(document)

    def key(field: Field[Any]) -> Key:
        name = field.name
        return Key(name, name.removesuffix("_"), _decoder(kinds[name]), field.default is MISSING)

    return [key(field) for field in fields(document)]


def _decoder(kind: Any) -> Decoder:  # noqa: ANN401
    """How a value with this annotation is read."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (inner,) = (_decoder(one) for one in arguments if one is not NoneType)
        return lambda value: None if value is None else inner(value)
    if origin is tuple and arguments[-1] is Ellipsis:
        item = _decoder(arguments[0])
        return lambda value: tuple(item(one) for one in value)
    if origin is tuple:
        items = [_decoder(one) for one in arguments]
        return lambda value: tuple(item(one) for item, one in zip(items, value, strict=True))
    if origin is Mapping:
        item = _decoder(arguments[1])
        return lambda value: {key: item(one) for key, one in value.items()}
    if isinstance(kind, type) and issubclass(kind, Document):
        return kind.from_json
    return lambda value: value
