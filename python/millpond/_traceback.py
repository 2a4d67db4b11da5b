"""Tracebacks of exceptions that a law has caused: they end at a line of the law."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any

#: Where the files of this package are.
PACKAGE = str(Path(__file__).parent)


def end_at_law(error: Exception, function: Callable[..., Any]) -> None:
    """Makes the traceback of an exception end at a line that is not of this package.

    Parameters
    ----------
    error : Exception
        The exception, which the caller raises again.
    function : callable
        The function of the law that was called. If it returned and its result is refused, the traceback ends at its
        first line.
    """
    entries = list(_entries(error.__traceback__))
    outside = [one for one in entries if not _is_of_package(one.tb_frame.f_code)]
    if outside:
        outside[-1].tb_next = None
        return
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType) and not _is_of_package(code):
        error.__traceback__ = TracebackType(None, _frame_of(code), -1, code.co_firstlineno)


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_of_package(code: CodeType) -> bool:
    return code.co_filename.startswith(PACKAGE)


def _frame_of(code: CodeType) -> FrameType:
    """A frame with the file and the name of this code, which has returned: a traceback consists of frames."""
    renamed = _this_frame.__code__.replace(co_filename=code.co_filename, co_name=code.co_name)
    frame: FrameType = FunctionType(renamed, {"sys": sys})()
    return frame


def _this_frame() -> FrameType:
    return sys._getframe()
