#!/usr/bin/env python3
"""Writes tests/advisories.txt from a clone of the RustSec advisory database, with `tests/update-advisories.py CLONE`.

One line per advisory that is not withdrawn: its number, the package, what it is about, the patched and the unaffected
versions. Columns are separated by a vertical line, requirements by a semicolon.
"""

import pathlib
import re
import sys
import tomllib


def line(path):
    """The line of one advisory; None if it was withdrawn."""
    front = tomllib.loads(re.search(r"```toml\n(.*?)```", path.read_text(), re.S)[1])
    advisory, versions = front["advisory"], front["versions"]
    if "withdrawn" in advisory:
        return None
    requirements = ["; ".join(versions.get(key, [])) for key in ("patched", "unaffected")]
    columns = [advisory["id"], advisory["package"], advisory.get("informational", "vulnerability"), *requirements]
    return " | ".join(columns)


def main():
    clone = pathlib.Path(sys.argv[1])
    lines = filter(None, map(line, clone.glob("crates/*/RUSTSEC-*.md")))
    target = pathlib.Path(__file__).with_name("advisories.txt")
    target.write_text("\n".join(sorted(lines)) + "\n")


if __name__ == "__main__":
    main()
