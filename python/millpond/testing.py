"""Tests of laws in Python."""

from __future__ import annotations

import re

from millpond import _core
from millpond._law import Law, name_of


def conformance(law: str | type[Law]) -> None:
    """Checks that a law does what every law must do: the battery that Millpond's own protocols pass.

    The law receives extreme events and arbitrary bytes with extreme settings. It must return a valid permit after each
    of them, depend on its events and the seed alone, and write only headers of its own. Its description must be
    complete, and its equations must be finite, with derivatives that agree with differences.

    Parameters
    ----------
    law : type or str
        The law, or the name of a registered or built-in one.

    Raises
    ------
    AssertionError
        A check failed; the text names the law and the smallest list of events that was found.
    """
    name = name_of(law)
    failed = _core.conformance(name)
    if failed is not None:
        has_name = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", failed.partition("\n")[0])
        raise AssertionError(failed if has_name else f'law "{name}": {failed}')
