"""What notebooks show of runs: tables and pictures of the report."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from millpond._comparison import Comparison
    from millpond._run import Run
    from millpond._tables import Table

#: More rows than this are left out.
MOST_ROWS = 12


def text(content: str) -> str:
    """A text of fixed width."""
    return f"<pre>{escape(content)}</pre>"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table whose first column is text."""
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def rows(one: Table) -> str:
    """The first rows of a table, with the units of its columns; without pyarrow the names of the columns."""
    if find_spec("pyarrow") is None:
        return text(repr(one))
    heads = [f"{name}, {one.units[name]}" if name in one.units else name for name in one.column_names]
    shown = list(islice(one, MOST_ROWS))
    body = table(heads, ([cell(row[name]) for name in one.column_names] for row in shown))
    return body + rest(len(one) - len(shown), "rows")


def cell(value: str | float | None) -> str:
    """A number with six digits, or a text; nothing for a missing value."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def rest(count: int, what: str) -> str:
    """How many more there are."""
    return f"<p>and {count} more {what}</p>" if count > 0 else ""


def picture(svg: str | None, label: str) -> str:
    """A figure of the report, apart from the styles of the page."""
    if svg is None:
        return ""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{escape(label)}" src="data:image/svg+xml;base64,{data}">'


def run(one: Run) -> str:
    """Table of the flows and picture of rates, queue and delay over time."""
    summary = one.summary
    heads = ["flow", "protocol", "goodput, Mbit/s", "queueing delay, mean, ms", "p99, ms", "lost packets"]
    flows = [
        [
            flow.name,
            flow.protocol,
            f"{flow.goodput_bps / 1e6:.3f}",
            f"{flow.queueing_ms.mean:.3f}",
            f"{flow.queueing_ms.p99:.3f}",
            str(flow.lost),
        ]
        for flow in summary.flows[:MOST_ROWS]
    ]
    note = rest(len(summary.flows) - len(flows), "flows")
    caption = f"{summary.scenario}: {summary.world}, seed {summary.seed}, {summary.simulated_s:g} s"
    return f"<p><b>{escape(caption)}</b></p>{table(heads, flows)}{note}{picture(one._svg('over-time'), caption)}"


def comparison(many: Comparison) -> str:
    """Table of the rows and picture of delay against utilization."""
    heads = ["run", "flows", "utilization, %", "goodput, Mbit/s", "queueing delay, p95, ms", "Jain index"]
    labels = [
        [
            row.run if row.group is None else f"{row.run}: {row.group}",
            str(row.flows),
            "" if row.utilization is None else interval(row.utilization.mean, row.utilization.half_width, 100),
            interval(row.total_goodput_bps.mean, row.total_goodput_bps.half_width, 1e-6),
            "" if row.queueing_ms is None else interval(row.queueing_ms.p95.mean, row.queueing_ms.p95.half_width, 1),
            "" if row.jain is None else interval(row.jain.mean, row.jain.half_width, 1),
        ]
        for row in many.result.rows
    ]
    return table(heads, labels) + picture(many._svg("tradeoff"), "delay against utilization")


def interval(mean: float, half_width: float | None, factor: float) -> str:
    """A mean with half the width of its confidence interval."""
    return f"{factor * mean:.4g}" + ("" if half_width is None else f" ± {factor * half_width:.2g}")
