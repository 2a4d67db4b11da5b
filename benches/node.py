#!/usr/bin/env python3
"""Chains of nodes beside kernel CUBIC and BBR on the same links: goodput, queue, processor time, lateness.

usage: benches/node.py path/to/millpond path/to/millpond-node [SECONDS [FOLDER]]

A download over one or two emulated links with a delay of 5 ms each way: `millpond link`, nested, in namespaces of its
own. CUBIC and BBR of the kernel go from end to end through drop-tail queues of one bandwidth-delay product (20 ms); a
chain has LGCC in each loop and RED at each link. It needs root, TUN devices and Python, and takes SECONDS (8) and two
more for each of 16 rows. With FOLDER it also writes what each 50 ms contained as CSV files, and a picture of the
transfers over two links of 50 Mbit/s.
"""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

from diagram import grid, opening

RATES = (20, 50)
DELAY = "5ms"
DROPTAIL = ["--buffer", "20ms"]
# The shape of LGCC's recipes. From 8 packets on, because acknowledgements and wake-ups of hosts make bursts of a few
# packets.
RED = ["--buffer", "100ms", "--queue", "red", "--set", "queue.red.preset=lgcc", "--set", "queue.red.min_th=12KB"]
# Stream data of a full packet: 1500 bytes without headers of IP, UDP, QUIC and the stream frame.
PAYLOAD = 1427
BIN = 0.05
PORT, ECHO_PORT = 5000, 5001


def real_time(process):
    """The priority that the link's emulator has, and nodes by their unit for systemd; probes would wait for these."""
    try:
        os.sched_setscheduler(process, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        print("no real-time priority", file=sys.stderr)


def source(controller, seconds):
    """Sends data to one connection, and returns the datagrams of a probe."""
    import socket

    real_time(0)
    echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    echo.bind(("0.0.0.0", ECHO_PORT))

    def answer():
        while True:
            data, address = echo.recvfrom(100)
            echo.sendto(data, address)

    threading.Thread(target=answer, daemon=True).start()
    server = socket.create_server(("0.0.0.0", PORT))
    while True:
        connection, _ = server.accept()
        if controller != "chain":
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                connection.sendall(bytes(1 << 14))
            return
        except OSError:
            if pathlib.Path("done").exists():
                return  # The sink has what it wanted.


def sink(address, peer, seconds):
    """Receives for some seconds; prints bytes and the probe's longest RTT of each bin, and all RTTs after a second."""
    import socket

    real_time(0)
    for _ in range(500):
        try:
            connection = socket.create_connection((address, PORT), timeout=5)
            first = connection.recv(1 << 16)
            break
        except OSError:
            time.sleep(0.02)  # The source does not listen, or the chain has no connection yet.
    begin, rtts = time.monotonic(), []
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probe.settimeout(0.5)

    def ping():
        while time.monotonic() < begin + seconds:
            sent = time.monotonic()
            probe.sendto(b"probe", (peer, ECHO_PORT))
            try:
                probe.recv(100)
                rtts.append((sent - begin, time.monotonic() - sent))
            except TimeoutError:
                pass
            time.sleep(0.02)

    thread = threading.Thread(target=ping)
    thread.start()
    counts = [0] * (int(seconds / BIN) + 1)
    counts[0] = len(first)
    while True:
        now = time.monotonic() - begin
        if now >= seconds:
            break
        data = connection.recv(1 << 16)
        if not data:
            break
        counts[min(int(now / BIN), len(counts) - 1)] += len(data)
    thread.join()
    longest = [max((rtt for at, rtt in rtts if int(at / BIN) == place), default=None) for place in range(len(counts))]
    print(json.dumps({"bytes": counts, "rtt": longest, "probes": [rtt for at, rtt in rtts if at >= 1]}))


def run_node(program, config, usage):
    """Runs a node until the sink ends; writes its processor time."""
    with pathlib.Path(config + ".log").open("w") as log:
        node = subprocess.Popen([program, config], stderr=log)
    real_time(node.pid)
    try:
        while node.poll() is None and not pathlib.Path("done").exists():
            time.sleep(0.05)
    finally:
        node.terminate()
        _, _, used = os.wait4(node.pid, 0)
        pathlib.Path(usage).write_text(str(used.ru_utime + used.ru_stime))


def write_configs(folder, program, mbps, loops):
    """The files of a chain: the exit beside the source, the enter beside the sink."""
    names = ["enter", "relay", "exit"] if loops == 2 else ["enter", "exit"]
    keys = {}
    for name in names:
        made = subprocess.run([program, "keys", folder / f"{name}.key"], capture_output=True, text=True, check=True)
        keys[name] = made.stdout.strip()
    # The addresses that nested links have.
    near, far = "100.64.128.1" if loops == 2 else "100.64.0.1", "100.64.0.1"
    head = f'listen = "0.0.0.0:4433"\ncapacity = "{mbps}Mbps"\n'
    for name in names:
        text = f'role = "{name}"\nkey = "{name}.key"\n' + head
        following = names[names.index(name) + 1 :][:1]
        if following:
            address = near if name == "enter" else far
            text += f'next = {{ address = "{address}:4433", key = "{keys[following[0]]}" }}\n'
        if name != "enter":
            text += f'previous = ["{keys[names[names.index(name) - 1]]}"]\n'
        if name == "exit":
            text += f'allow = ["127.0.0.1:{PORT}"]\n'
        if name == "enter":
            text += f'[[forward]]\nlisten = "127.0.0.1:{PORT}"\ntarget = "127.0.0.1:{PORT}"\n'
        (folder / f"{name}.toml").write_text(text)
    return names


def transfer(millpond, program, folder, *, mbps, loops, controller, seconds):
    """One download; returns a row of the table and what each bin contained."""
    is_chain = controller == "chain"
    names = write_configs(folder, program, mbps, loops) if is_chain else []
    me = f"python3 {pathlib.Path(__file__).absolute()}"
    node = lambda name: f"{me} --node {program} {name}.toml {name}.used & "  # noqa: E731
    begin = {name: node(name) if is_chain else "" for name in ("enter", "relay", "exit")}
    queue = RED if is_chain else DROPTAIL
    link = [millpond, "--quiet", "link", "--rate", f"{mbps}Mbps", "--delay", DELAY, *queue, "--force"]
    target = "127.0.0.1" if is_chain else "$FAR"
    client = f"{begin['enter']}{me} --sink {target} $FAR {seconds} > sink.json; touch done; wait; sleep 0.3"
    inner = [*link, "--out", "link2.json", "--", "sh", "-c", client]
    if loops == 2:
        quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in inner)
        client = f"export FAR=$MILLPOND_PEER; {begin['relay']}{quoted}; wait; sleep 0.3"
    else:
        client = f"export FAR=$MILLPOND_PEER; {client}"
    server = f"{begin['exit']}{me} --source {controller} {seconds + 4}; wait"
    outer = [*link, "--server", server, "--out", "link1.json", "--", "sh", "-c", client]
    (folder / "done").unlink(missing_ok=True)
    subprocess.run(outer, cwd=folder, check=True, timeout=60 + 2 * seconds)
    seen = json.loads((folder / "sink.json").read_text())
    links = [json.loads((folder / f"link{place}.json").read_text()) for place in range(1, loops + 1)]
    case = {"mbps": mbps, "loops": loops, "controller": controller, "seconds": seconds}
    return row(folder, **case, seen=seen, links=links, names=names), seen


def row(folder, *, mbps, loops, controller, seconds, seen, links, names):
    first = int(1 / BIN)
    goodput = sum(seen["bytes"][first:]) * 8 / (seconds - 1) / 1e6
    queues = [link["directions"][0]["queueing_ms"]["mean"] for link in links]
    rates = [link["directions"][0]["rate_bps"] / 1e6 for link in links]
    late = max(link["machine"]["lateness_us"]["p99"] for link in links)
    packets = sum(seen["bytes"]) / PAYLOAD
    used = sum(float((folder / f"{name}.used").read_text()) for name in names)
    logs = "".join((folder / f"{name}.toml.log").read_text() for name in names)
    node_late = max((float(found) for found in re.findall(r"p99_us=([0-9.]+)", logs)), default=None)
    marks_set = sum(direction["marks"] for link in links for direction in link["directions"])
    marks_seen = sum(int(found) for found in re.findall(r"marks=([0-9]+)", logs))
    probes = sorted(seen["probes"])
    return {
        "Mbit/s": mbps,
        "loops": loops,
        "sender": "LGCC chain" if names else controller.upper(),
        "goodput": goodput,
        "served": min(rates),
        "queues, ms": " ".join(f"{queue:.2f}" for queue in queues),
        "ping, ms": f"{probes[len(probes) // 2] * 1e3:.1f} {probes[int(len(probes) * 0.99)] * 1e3:.1f}"
        if probes
        else "-",
        "CPU, us": f"{used / packets * 1e6:.0f}" if names else "-",
        "late, us": f"{late:.0f}" + (f" {node_late:.0f}" if node_late is not None else ""),
        "CE": f"{marks_set} {marks_seen}" if names else "-",
    }


WIDTH, HEIGHT, LEFT, TOP, GAP = 760, 200, 60, 30, 50
# Of each sender: class, colour on white, colour on black.
COLOURS = {
    "CUBIC": ("cubic", "#c0504d", "#e08a80"),
    "BBR": ("bbr", "#a06a00", "#e0a030"),
    "LGCC chain": ("chain", "#2060a0", "#79b0e8"),
}


def rules(place):
    """The rules of CSS that give lines and names of senders their colours: those at this place in `COLOURS`."""
    colours = ((sender[0], sender[place]) for sender in COLOURS.values())
    return " ".join(
        f"polyline.{name} {{ stroke: {colour} }} text.{name} {{ fill: {colour} }}" for name, colour in colours
    )


def panel(top, label, most, seconds, lines):
    """One diagram over time: the axes, and a line of each sender."""
    across = lambda time: LEFT + (WIDTH - LEFT - 20) * time / seconds  # noqa: E731
    down = lambda value: top + HEIGHT * (1 - min(value, most) / most)  # noqa: E731
    yield from grid(LEFT, WIDTH - 20, down, most)
    for second in range(int(seconds) + 1):
        yield f'<text x="{across(second):.1f}" y="{top + HEIGHT + 18}" text-anchor="middle">{second}</text>'
    yield f'<text x="{LEFT}" y="{top - 8}">{label}</text>'
    for name, values in lines.items():
        shown = [(across(place * BIN), down(value)) for place, value in enumerate(values) if value is not None]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shown)
        yield f'<polyline class="{COLOURS[name][0]}" points="{points}"/>'


def picture(path, runs):
    """Goodput and RTT of the probe over time, as SVG."""
    seconds = (len(next(iter(runs.values()))["bytes"]) - 1) * BIN
    rates = {name: [count * 8 / BIN / 1e6 for count in seen["bytes"][:-1]] for name, seen in runs.items()}
    rtts = {name: [rtt and rtt * 1e3 for rtt in seen["rtt"][:-1]] for name, seen in runs.items()}
    height = TOP + 2 * (HEIGHT + GAP) + 10
    parts = [opening(WIDTH, height, "polyline { fill: none; stroke-width: 1.6 }\n" + rules(1), rules(2))]
    parts.extend(panel(TOP, "Mbit/s", 60.0, seconds, rates))
    parts.extend(panel(TOP + HEIGHT + GAP, "RTT, ms", 80.0, seconds, rtts))
    for place, name in enumerate(runs):
        parts.append(f'<text class="{COLOURS[name][0]}" x="{LEFT + 130 + 130 * place}" y="22">{name}</text>')
    parts.append(f'<text x="{WIDTH - 20}" y="{height - 6}" text-anchor="end">time, s</text></svg>')
    path.write_text("\n".join(parts) + "\n", encoding="utf-8")


def write_bins(path, seen):
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["time_s", "mbps", "rtt_ms"])
        for place, (count, rtt) in enumerate(zip(seen["bytes"], seen["rtt"], strict=True)):
            table.writerow([f"{place * BIN:.2f}", count * 8 / BIN / 1e6, "" if rtt is None else rtt * 1e3])


def main():
    millpond, program = (str(pathlib.Path(argument).absolute()) for argument in sys.argv[1:3])
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    kept = pathlib.Path(sys.argv[4]).absolute() if len(sys.argv) > 4 else None
    print(
        "goodput and served: Mbit/s after the first second; queues: mean at each link; "
        "ping: p50 and p99; CPU: of all nodes"
    )
    print(
        "for each packet of stream data; late: 99th percentile of the links and of the nodes; "
        "CE: marks set and received\n"
    )
    shown, is_first = {}, True
    cases = [(mbps, loops, sender) for loops in (1, 2) for mbps in RATES for sender in ("cubic", "bbr", "chain")]
    cases += [(mbps, 2, sender) for mbps in (100, 150) for sender in ("cubic", "chain")]
    for mbps, loops, sender in cases:
        with tempfile.TemporaryDirectory() as name:
            case = {"mbps": mbps, "loops": loops, "controller": sender, "seconds": seconds}
            line, seen = transfer(millpond, program, pathlib.Path(name), **case)
        if is_first:
            print("  ".join(f"{key:>10}" for key in line))
        is_first = False
        print(
            "  ".join(f"{value:10.2f}" if isinstance(value, float) else f"{value:>10}" for value in line.values()),
            flush=True,
        )
        if kept:
            kept.mkdir(parents=True, exist_ok=True)
            write_bins(kept / f"{sender}-{loops}-{mbps}.csv", seen)
        if (mbps, loops) == (50, 2):
            shown[line["sender"]] = seen
    if kept:
        picture(kept / "node.svg", shown)


if __name__ == "__main__":
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if mode == "--source":
        source(sys.argv[2], float(sys.argv[3]))
    elif mode == "--sink":
        sink(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    elif mode == "--node":
        run_node(*sys.argv[2:5])
    elif len(sys.argv) > 2:
        main()
    else:
        sys.exit(__doc__)
