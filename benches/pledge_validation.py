#!/usr/bin/env python3
"""Pledge, ABC and XCP on a folder of recorded traces.

crates/protocols/src/pledge/PREREGISTERED.md says what is compared.

usage: benches/pledge_validation.py path/to/millpond FOLDER [--threads 2] [--limit 1500] > table.md
       benches/pledge_validation.py path/to/millpond --seeds 10
       benches/pledge_validation.py path/to/millpond --floors 0.2,0.5,0.7

With --seeds there is no folder: Pledge runs for 30 s on generated traces of so many seeds, with hosts that react up
to 5 ms late.

The class of a trace follows from its path: "wifi" in its name; "5g" or "mmwave" anywhere in its path; otherwise
3G/LTE. Files that are no traces are left out. Every run has a limit of 120 s, the whole validation one of `--limit`
seconds: what does not fit is counted and named at the end.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SCENARIO = """
title    = "Last hop"
duration = "60s"
seed     = 1
measure  = { from = "2s" }

[[links]]
name    = "core"
between = ["server", "base"]
rate    = "2Gbps"
delay   = "5ms"

[[links]]
name    = "hop"
between = ["base", "phone"]
rate    = { trace = { file = "FILE", end = "loop" } }
delay   = "5ms"
buffer  = "500packets"
back    = { rate = "100Mbps", buffer = "1bdp" }

[[flows]]
name     = "flow"
count    = 1
protocol = "xcp"
path     = ["server", "base", "phone"]
rtt      = "50ms"
"""

TARGETS = (20, 50, 100, 200)
CLASSES = ("3G/LTE", "Wi-Fi", "5G")


def class_of(path):
    path = str(path).lower()
    if "wifi" in path.rsplit("/", 1)[-1]:
        return "Wi-Fi"
    return "5G" if "5g" in path or "mmwave" in path else "3G/LTE"


def is_trace(path):
    if path.suffix in {".md", ".txt"} or not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline().strip()
    return first.isdigit() or first.startswith(b"time_s")


def duration(path):
    last = path.read_bytes().rstrip().rsplit(b"\n", 1)[-1]
    return float(last.split(b",")[0]) if b"," in last else float(last) / 1000


class Runs:
    def __init__(self, millpond, threads, limit):
        self.millpond, self.end = millpond, time.monotonic() + limit
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)
        self.left_out = []

    def one(self, trace, protocol, settings):
        """Utilization in %, p95 and p99 of queueing in ms, short-term Jain index; nothing without a result."""
        if time.monotonic() > self.end:
            self.left_out.append(f"{trace.name} {protocol} {settings}")
            return None
        name, _, target = protocol.partition("@")
        changed = [f"flows.flow.protocol={name}", *settings]
        if target:
            changed.append(f'protocols.pledge.params.target="{target}ms"')
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(SCENARIO.replace("FILE", str(trace.resolve())))
            file.flush()
            sets = [part for change in changed for part in ("--set", change)]
            command = [self.millpond, "run", file.name, "--json", *sets]
            environment = dict(os.environ, RAYON_NUM_THREADS="1")
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=120, env=environment, check=False
                )
            except subprocess.TimeoutExpired:
                self.left_out.append(f"{trace.name} {protocol} {settings}: 120 s")
                return None
        if done.returncode:
            self.left_out.append(f"{trace.name} {protocol} {settings}: {done.stderr.strip()[:80]}")
            return None
        run = json.loads(done.stdout)
        hop = next(link for link in run["links"] if link["direction"] == "base -> phone")
        jain = run["fairness"].get("jain") or 1.0
        return 100 * hop["utilization"], run["queueing_ms"]["p95"], run["queueing_ms"]["p99"], jain

    def all(self, jobs):
        return dict(zip(jobs, self.pool.map(lambda job: self.one(*job[:2], list(job[2])), jobs), strict=True))


def at_delay(points, delay):
    """Utilization of Pledge at this p95, linear between its targets, at most its greatest utilization."""
    points = sorted((p95, use) for use, p95 in points)
    if delay < points[0][0]:
        return None
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x0 <= delay <= x1:
            return y0 + (y1 - y0) * (delay - x0) / max(x1 - x0, 1e-9)
    return max(use for _, use in points)


def cell(values):
    values = [value for value in values if value]
    if not values:
        return "-"
    use, p95 = [v[0] for v in values], [v[1] for v in values]
    return f"{statistics.mean(use):.1f} / {statistics.median(p95):.0f} / {statistics.mean(p95):.0f}"


def table(title, columns, rows):
    print(f"\n### {title}\n")
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(str(value) for value in row) + " |")
    sys.stdout.flush()


def main_comparison(runs, traces):
    protocols = [f"pledge@{target}" for target in TARGETS] + ["abc", "xcp"]
    seen = runs.all([(trace, protocol, ()) for trace in traces for protocol in protocols])
    by = {kind: [trace for trace in traces if class_of(trace) == kind] for kind in CLASSES}
    title = "One flow: mean utilization in % / median p95 / mean p95 of queueing in ms"
    rows = [
        [f"{kind} ({len(by[kind])})"] + [cell([seen[t, p, ()] for t in by[kind]]) for p in protocols]
        for kind in CLASSES
    ]
    table(title, ["class (traces)", *protocols], rows)
    rows = []
    for kind in CLASSES:
        for rival in ("abc", "xcp"):
            gains = {}
            for trace in by[kind]:
                own, other = [seen[trace, f"pledge@{target}", ()] for target in TARGETS], seen[trace, rival, ()]
                at = at_delay([o[:2] for o in own], other[1]) if other and all(own) else None
                if at is not None:
                    gains[trace.name] = at - other[0]
            if gains:
                worst = min(gains, key=gains.get)
                below = sum(gain < -5 for gain in gains.values())
                mean = statistics.mean(gains.values())
                rows.append([kind, rival, f"{mean:+.1f}", len(gains), f"{gains[worst]:+.1f} ({worst})", below])
    table(
        "Utilization at the rival's own p95, less the rival's, in points",
        ["class", "rival", "mean", "traces", "least", "below -5"],
        rows,
    )
    rows = []
    for rival in ("abc", "xcp"):
        pairs = [(seen[t, "pledge@50", ()], seen[t, rival, ()]) for t in traces]
        pairs = [(a, b) for a, b in pairs if a and b]
        wins = sum(a[0] >= b[0] and a[1] <= b[1] for a, b in pairs)
        losses = sum(a[0] <= b[0] and a[1] >= b[1] for a, b in pairs)
        rows.append([rival, wins, losses, len(pairs)])
    table(
        "Traces on which pledge@50 has no less utilization and no more p95, and the reverse",
        ["rival", "dominates", "is dominated", "of"],
        rows,
    )
    rows = [
        [t.name] + ["-" if not seen[t, p, ()] else "{:.1f} / {:.0f}".format(*seen[t, p, ()][:2]) for p in protocols]
        for t in traces
    ]
    table("Every trace: utilization in % / p95 in ms", ["trace", *protocols], rows)


def long_runs(runs, traces):
    chosen = [trace for trace in traces if class_of(trace) != "5G" and duration(trace) >= 299]
    protocols, set_long = ["pledge@50", "pledge@100"], ("duration=600s",)
    seen = runs.all([(trace, protocol, set_long) for trace in chosen for protocol in protocols])
    rows = [
        [t.name]
        + ["-" if not seen[t, p, set_long] else "{:.1f} / {:.0f}".format(*seen[t, p, set_long][:2]) for p in protocols]
        for t in chosen
    ]
    table("600 s: utilization in % / p95 in ms", ["trace", *protocols], rows)


def variants(runs, traces):
    chosen = traces[::3]
    protocols = ["pledge@50", "abc", "xcp"]
    cases = {
        "2 flows": ("flows.flow.count=2",),
        "5 flows": ("flows.flow.count=5",),
        "20 flows": ("flows.flow.count=20",),
        "200 flows": ("flows.flow.count=200",),
        "RTT 20 ms": ('flows.flow.rtt="20ms"',),
        "RTT 100 ms": ('flows.flow.rtt="100ms"',),
        "RTT 300 ms": ('flows.flow.rtt="300ms"',),
        "capacity late by 10 ms": ('links.hop.configured_delay="10ms"',),
        "capacity late by 100 ms": ('links.hop.configured_delay="100ms"',),
        "capacity 50 % too low": ('links.hop.configured_rate="50%"',),
        "capacity 50 % too high": ('links.hop.configured_rate="150%"',),
    }
    seen = runs.all([(t, p, case) for case in cases.values() for p in protocols for t in chosen])
    rows = []
    for name, case in cases.items():
        for kind in CLASSES:
            those = [trace for trace in chosen if class_of(trace) == kind]
            row = [name, f"{kind} ({len(those)})"]
            for protocol in protocols:
                values = [seen[t, protocol, case] for t in those]
                jain = [value[3] for value in values if value]
                row.append(cell(values) + (f"; {min(jain):.3f}" if jain and "flows" in name else ""))
            rows.append(row)
    table(
        "Every third trace: mean utilization in % / median p95 / mean p95 in ms; least Jain index",
        ["case", "class (traces)", *protocols],
        rows,
    )


def seeds(runs, millpond, number):
    """Pledge on generated traces: the mean and the worst of all seeds."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for preset in ("lte-fading", "wifi-restaurant", "wifi-office", "5g-static"):
            traces = [pathlib.Path(folder) / f"{preset}-{seed}.csv" for seed in range(1, number + 1)]
            for seed, trace in enumerate(traces, 1):
                command = [millpond, "trace", "generate", "--preset", preset, "--duration", "30s", "--seed", str(seed)]
                subprocess.run([*command, "--out", str(trace)], check=True, capture_output=True)
            for flows in (2, 20, 200):
                sets = ("duration=30s", 'hosts.jitter="5ms"', f"flows.flow.count={flows}")
                seen = runs.all([(trace, "pledge@50", sets) for trace in traces])
                use, p95, _, jain = zip(*[value for value in seen.values() if value], strict=True)
                row = [
                    preset,
                    flows,
                    f"{statistics.mean(use):.1f} ({min(use):.1f})",
                    f"{statistics.mean(p95):.0f} ({max(p95):.0f})",
                ]
                rows.append([*row, f"{min(jain):.3f}"])
    title = f"{number} seeds, target 50 ms: mean (worst) of utilization in % and of p95 in ms, least Jain index"
    table(title, ["trace", "flows", "utilization", "p95", "Jain"], rows)


PRESETS = [
    "lte-car",
    "lte-car-bursty",
    "lte-car-wide",
    "lte-fading",
    "lte-short",
    "lte-uplink",
    "lte-walking",
    "umts-car",
    "evdo-car",
    "wifi-restaurant",
    "wifi-restaurant-poor",
    "wifi-office-edge",
    "5g-car",
    "mmwave-walking",
]


def floors(runs, millpond, values):
    """Pledge on generated traces: how much each floor of the late factor gains, and which targets it misses."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for preset in PRESETS:
            traces = [pathlib.Path(folder) / f"{preset}-{seed}.csv" for seed in range(1, 5)]
            for seed, trace in enumerate(traces, 1):
                command = [millpond, "trace", "generate", "--preset", preset, "--duration", "60s", "--seed", str(seed)]
                subprocess.run([*command, "--out", str(trace)], check=True, capture_output=True)
            for floor in values:
                sets = (f"protocols.pledge.params.late_floor={floor}",)
                row = [preset, floor]
                for target in TARGETS:
                    seen = runs.all([(trace, f"pledge@{target}", sets) for trace in traces])
                    use, p95, *_ = zip(*[value for value in seen.values() if value], strict=True)
                    row.append(f"{statistics.mean(use):.1f}, {statistics.mean(p95):.0f} ({max(p95):.0f})")
                rows.append(row)
    title = "Four seeds, by floor of the late factor: mean utilization in %, mean (worst) p95 in ms"
    table(title, ["trace", "floor", *(f"{target} ms" for target in TARGETS)], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("millpond")
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--floors", type=lambda text: [float(part) for part in text.split(",")])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=1500)
    arguments = parser.parse_args()
    millpond = str(pathlib.Path(arguments.millpond).resolve())
    runs = Runs(millpond, arguments.threads, arguments.limit)
    if arguments.seeds:
        seeds(runs, millpond, arguments.seeds)
        return
    if arguments.floors:
        floors(runs, millpond, arguments.floors)
        return
    if arguments.folder is None:
        parser.error("expected the folder of the traces, --seeds or --floors")
    traces = sorted(path for path in arguments.folder.rglob("*") if is_trace(path))
    if not traces:
        sys.exit(f"no traces in {arguments.folder}")
    main_comparison(runs, traces)
    long_runs(runs, traces)
    variants(runs, traces)
    print(f"\nRuns that did not fit or failed: {len(runs.left_out)}")
    for name in runs.left_out[:20]:
        print(f"- {name}")


if __name__ == "__main__":
    main()
