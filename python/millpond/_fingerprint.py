"""A text that names the code of a law: runs of another code have other keys in sweeps."""

from __future__ import annotations

import dis
import functools
import hashlib
import importlib
import site
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from millpond._core import Error
from millpond._law import Law, Parameter
from millpond.native import NativeLaw

#: Types whose values are named by their representation.
PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))

#: Types whose values are named by some of their attributes.
ATTRIBUTES: dict[type, tuple[str, ...]] = {
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    property: ("fget", "fset", "fdel"),
    functools.cached_property: ("func",),
    types.MethodType: ("__func__", "__self__"),
    Parameter: ("default", "unit", "low", "high", "is_low_excluded", "words", "kind"),
    NativeLaw: ("code",),
}

#: Types of what compiled code has in its classes.
COMPILED = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)

#: Attributes of classes that Python makes and that change no result.
UNUSED = frozenset({"__annotate__", "__annotate_func__", "_abc_impl"})

#: The flag of classes that are made at run time.
IS_MADE = 1 << 9


def fingerprint(law: type[Law]) -> str:
    """The name of a law with a hash of all that its results depend on; the same in all processes.

    That is the bytecode of its functions with their constants, defaults and closures, the attributes of its classes
    and of their bases, and the global values, functions and classes that they use. Of installed packages, of the
    standard library and of Millpond only the names are a part of it.

    Raises
    ------
    Error
        The law uses an object whose state cannot be read, such as an open file.
    """
    return f"{law.name}@{_Walk(law).digest(law).hex()[:12]}"


class _Walk:
    """Hashes of the objects that a law consists of."""

    def __init__(self, law: type[Law]) -> None:
        self.law = law
        self.package = law.__module__.partition(".")[0]
        #: The objects between the law and the present one, and how the law reaches the present one.
        self.active: list[int] = []
        self.path: list[str] = []
        #: Finished objects, which are kept so that no other one gets their identity.
        self.known: dict[int, tuple[object, bytes]] = {}

    def digest(self, value: object, name: str = "") -> bytes:
        """The hash of a value that has this name where it is used."""
        if type(value) in PLAIN:
            return _hash([type(value).__name__.encode(), repr(value).encode()])
        identity = id(value)
        if identity in self.known:
            return self.known[identity][1]
        if identity in self.active:
            return _hash([b"cycle", str(self.active.index(identity)).encode()])
        self.active.append(identity)
        self.path.append(name)
        found = _hash([_kind(value), *self._parts(value)])
        self.path.pop()
        self.active.pop()
        self.known[identity] = (value, found)
        return found

    def _all(self, values: Iterable[object]) -> list[bytes]:
        return [self.digest(value) for value in values]

    def _named(self, values: Iterable[tuple[str, object]]) -> Iterator[bytes]:
        for name, value in values:
            yield name.encode()
            yield self.digest(value, name)

    def _parts(self, value: Any) -> Iterable[bytes]:  # noqa: ANN401
        """What the hash of a value that is not plain consists of."""
        kind = type(value)
        if isinstance(value, type):
            return self._class(value)
        if kind in ATTRIBUTES:
            return self._named((name, getattr(value, name)) for name in ATTRIBUTES[kind])
        if kind in {tuple, list}:
            return self._all(value)
        if kind in {dict, types.MappingProxyType}:
            return self._all(one for pair in value.items() for one in pair)
        if kind in {set, frozenset}:
            return sorted(self._all(value))
        return self._code_or_object(value)

    def _code_or_object(self, value: Any) -> Iterable[bytes]:  # noqa: ANN401
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.CodeType):
            return self._code(value)
        if isinstance(value, (types.ModuleType, *COMPILED)):
            return [getattr(value, "__qualname__", value.__name__).encode()]
        if isinstance(value, types.BuiltinFunctionType):
            owner = None if isinstance(value.__self__, types.ModuleType) else value.__self__
            return [f"{value.__module__}.{value.__qualname__}".encode(), self.digest(owner)]
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(wrapped, types.FunctionType):
            return [self.digest(wrapped)]
        return self._object(value)

    def _class(self, cls: type) -> Iterator[bytes]:
        if cls.__module__ == "builtins" and not cls.__flags__ & IS_MADE:
            yield cls.__qualname__.encode()
            return
        file = None if cls.__module__ == "builtins" else _file_of(cls.__module__)
        if self._is_installed(cls.__module__, file):
            yield f"{cls.__module__}.{cls.__qualname__}".encode()
            return
        yield from self._all([type(cls), *cls.__bases__])
        yield from self._named((name, one) for name, one in sorted(vars(cls).items()) if _counts(name, one))

    def _function(self, function: types.FunctionType) -> Iterator[bytes]:
        if self._is_installed(function.__module__, function.__code__.co_filename):
            yield f"{function.__module__}.{function.__qualname__}".encode()
            return
        yield from self._all([function.__code__, function.__defaults__, function.__kwdefaults__])
        yield from self._named(_closure(function))
        yield from self._named(sorted(vars(function).items()))
        for code in _codes(function.__code__):
            for name, value in _globals(code, function.__globals__):
                yield name.encode()
                if isinstance(value, types.ModuleType):
                    yield from self._module(value, code.co_names)
                else:
                    yield self.digest(value, name)

    def _module(self, module: types.ModuleType, names: Iterable[str]) -> Iterator[bytes]:
        """What code with these names of attributes may use of a module."""
        yield module.__name__.encode()
        if self._is_installed(module.__name__, _file_of(module.__name__)):
            return
        for name in sorted(set(names) & set(vars(module))):
            value = vars(module)[name]
            yield name.encode()
            if isinstance(value, types.ModuleType):
                yield from self._module(value, set(names) - {name})
            else:
                yield self.digest(value, f"{module.__name__}.{name}")

    def _code(self, code: types.CodeType) -> Iterator[bytes]:
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        yield code.co_code
        yield code.co_exceptiontable
        yield repr((names, counts)).encode()
        yield from self._all(code.co_consts)

    def _object(self, value: object) -> Iterator[bytes]:
        """The parts of which a copy of an object would be made."""
        try:
            made = value.__reduce_ex__(4)
        except Exception as error:
            raise self._unreadable(value) from error
        if isinstance(made, str):
            yield made.encode()
            return
        make, arguments, state, items, pairs = (*made, None, None, None)[:5]
        yield from self._all([make, *arguments, state])
        yield from self._all(items or ())
        yield from self._all(one for pair in pairs or () for one in pair)

    def _unreadable(self, value: object) -> Error:
        path = ".".join(name for name in self.path if name) or self.law.__name__
        return Error(
            f'the law "{self.law.name}" uses {path}, whose state cannot be read (type {type(value).__name__}): a sweep '
            "could not see whether its results belong to this law. Make it in the __init__ of the part that uses it"
        )

    def _is_installed(self, module: str | None, file: str | None) -> bool:
        """Whether code belongs to Python, to Millpond or to an installed package, if that is not the law's own."""
        package = (module or "").partition(".")[0]
        if package == "millpond":
            return True
        if file is None:
            return package in sys.builtin_module_names and package != "builtins"
        is_own = package == self.package and package != "builtins"
        return not is_own and (file.startswith("<frozen") or any(map(Path(file).is_relative_to, _installed())))


@functools.cache
def _installed() -> tuple[str, ...]:
    """The folders of the standard library and of installed packages."""
    paths = [sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return (*paths, *site.getsitepackages(), site.getusersitepackages())


def _file_of(module: str) -> str | None:
    return getattr(sys.modules.get(module), "__file__", None)


def _kind(value: object) -> bytes:
    return type(value).__qualname__.encode()


def _hash(parts: Iterable[bytes]) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def _counts(name: str, value: object) -> bool:
    """Whether an attribute of a class can change results: others with two underscores are notes of Python."""
    is_special = name.startswith("__") and name.endswith("__")
    is_used = callable(value) or isinstance(value, (staticmethod, classmethod, property))
    return name not in UNUSED and (is_used or not is_special)


def _closure(function: types.FunctionType) -> Iterator[tuple[str, object]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # It has no value yet.
            yield name, None


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a function and of the functions and comprehensions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _globals(code: types.CodeType, values: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """The global values that code loads, and the modules that it imports."""
    loaded, imported = set(), set()
    for instruction in dis.get_instructions(code):
        if "GLOBAL" in instruction.opname or instruction.opname == "LOAD_NAME":
            loaded.add(str(instruction.argval))
        elif instruction.opname == "IMPORT_NAME":
            imported.add(str(instruction.argval))
    yield from ((name, values[name]) for name in sorted(loaded) if name in values)
    for name in sorted(imported):
        for one in (name, f"{values.get('__package__')}.{name}"):
            try:
                yield one, importlib.import_module(one)
            except (ImportError, ValueError):  # The run reports it.
                continue
