#!/usr/bin/env python3
"""How time per packet-hop and memory per flow grow with the number of flows: a table and a picture.

usage: benches/growth.py path/to/millpond-bench [FILE.svg [ROUNDS [MILLION]]]

`millpond-bench many FLOWS SECONDS` runs NewReno flows with 1 Mbit/s each over one link, and four access links for each
flow. Each row is the least CPU time of ROUNDS runs (2), which alternate with those of the other rows. It takes two
minutes on an idle machine and 2.5 GB of memory. With MILLION, any word, there is a row of a million flows, once: six
minutes and 16 GB.
"""

import math
import pathlib
import subprocess
import sys

from diagram import grid, opening

# Flows and simulated seconds. All flows have started after one second; a short run contains more of the slow start.
SIZES = ((10, 200), (100, 40), (1000, 8), (10_000, 2), (100_000, 2))
MILLION = (1_000_000, 1)
# The memory of fewer flows is mostly that of pages which the allocator has not filled.
LEAST_FOR_MEMORY = 1000
WIDTH, HEIGHT, LEFT, RIGHT, TOP, GAP = 760, 170, 64, 24, 34, 58
COLOUR = "#2060a0"


class Row:
    """A measured size; `base_mb` is the memory of the program with the smallest network."""

    def __init__(self, flows, seconds, runs, base_mb):
        self.flows, self.seconds = flows, seconds
        self.hops = runs[0][0]
        self.hop_ns = min(cpu for _, cpu, _ in runs) / self.hops * 1e9
        self.peak_mb = min(megabytes for *_, megabytes in runs)
        self.flow_kb = (self.peak_mb - base_mb) / flows * 1e3


def run(program, flows, seconds):
    """Packet-hops, CPU seconds and peak memory in MB of one run."""
    words = [program, "many", str(flows), str(seconds)]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=1800)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed: {done.stderr.strip()}")
    return tuple(float(word) for word in done.stdout.split()[:3])


def measure(program, rounds, has_million):
    """All rows, from runs that alternate. One flow for a second takes the memory of the program itself."""
    base_mb = run(program, 1, 1)[2]
    runs = [[run(program, *size) for size in SIZES] for _ in range(rounds)]
    rows = [Row(*size, several, base_mb) for size, several in zip(SIZES, zip(*runs, strict=True), strict=True)]
    if has_million:
        rows.append(Row(*MILLION, [run(program, *MILLION)], base_mb))
    return rows


def table(rows):
    """The rows as Markdown."""
    lines = [
        "| flows | simulated | packet-hops | ns per hop | peak memory | memory per flow |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        flows = f"{row.flows:,}".replace(",", " ") if row.flows >= 10_000 else str(row.flows)
        lines.append(
            f"| {flows} | {row.seconds} s | {row.hops / 1e6:.1f} M | {row.hop_ns:.0f} | {row.peak_mb:.1f} MB "
            f"| {row.flow_kb:.0f} kB |"
        )
    return "\n".join(lines)


def axis_end(values):
    """The end of an axis with four intervals of 1, 2, 2.5 or 5 times a power of ten: the least that contains all."""
    power = 10 ** math.floor(math.log10(max(values) / 4))
    return next(4 * step * power for step in (1, 2, 2.5, 5, 10) if 4 * step * power >= max(values))


def panel(top, title, flows, values):
    """One diagram: values over the number of flows, which has a logarithmic axis."""
    first, last = math.log10(flows[0]), math.log10(flows[-1])
    across = lambda count: LEFT + 16 + (WIDTH - LEFT - RIGHT - 32) * (math.log10(count) - first) / (last - first)  # noqa: E731
    end = axis_end(values)
    down = lambda value: top + HEIGHT * (1 - value / end)  # noqa: E731
    yield f'<text x="{LEFT}" y="{top - 12}" font-weight="bold">{title}</text>'
    yield from grid(LEFT, WIDTH - RIGHT, down, end)
    for count in flows:
        label = f"{count:,}".replace(",", "\u202f") if count >= 10_000 else count
        yield f'<text x="{across(count):.1f}" y="{top + HEIGHT + 18}" text-anchor="middle">{label}</text>'
    points = [(across(count), down(value)) for count, value in zip(flows, values, strict=True)]
    yield f'<polyline class="line" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'
    for (x, y), value in zip(points, values, strict=True):
        yield f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
        yield f'<text class="value" x="{x:.1f}" y="{y - 9:.1f}" text-anchor="middle">{value:.0f}</text>'


LIGHT = f""".line {{ fill: none; stroke: {COLOUR}; stroke-width: 1.8 }}
.dot, .value {{ fill: {COLOUR} }}"""
DARK = """.line { stroke: #79b0e8 }
  .dot, .value { fill: #79b0e8 }"""


def picture(rows):
    """Both diagrams as SVG."""
    large = [row for row in rows if row.flows >= LEAST_FOR_MEMORY]
    panels = (
        ("CPU time per packet-hop, ns", [(row.flows, row.hop_ns) for row in rows]),
        ("Peak memory per flow, kB", [(row.flows, row.flow_kb) for row in large]),
    )
    height = TOP + len(panels) * (HEIGHT + GAP) - GAP + 44
    parts = [opening(WIDTH, height, LIGHT, DARK)]
    for number, (title, points) in enumerate(panels):
        parts.extend(panel(TOP + number * (HEIGHT + GAP), title, *zip(*points, strict=True)))
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{height - 6}" text-anchor="end">number of flows</text></svg>')
    return "\n".join(parts) + "\n"


def main():
    if not 2 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    rows = measure(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 2, len(sys.argv) > 4)
    print(table(rows))
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text(picture(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
