#!/usr/bin/env python3
"""TCP of the kernel through `millpond link` beside the same link and protocol in the packet world.

usage: benches/kernel.py path/to/millpond [SECONDS]

One bulk transfer of SECONDS (20) with Reno, CUBIC and BBR of the kernel over 20 Mbit/s and 20 ms each way, and the
packet world's newreno, cubic and bbr1 in the same scenario. It prints Markdown: the rate of the packets served, the
mean and the 95th percentile of the queueing delay, and packets dropped, kernel / packets. It needs TUN devices and the
permission to make namespaces, and takes SECONDS and two more for each row.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from link import CLIENT, SERVER

MBPS, DELAY = 20, "20ms"
# What differs in Linux from the documents of the laws: slow start that ends before losses, and a margin of the pacing.
PROTOCOLS = {
    "reno": ("newreno", ""),
    "cubic": ("cubic", 'slow_start = "hystart++"'),
    "bbr": ("bbr1", "pacing_margin = 0.01"),
}
# Buffers in bandwidth-delay products of 40 ms, and a queue that controls its delay.
QUEUES = {
    "20 ms": ("20ms", "droptail"),
    "40 ms": ("40ms", "droptail"),
    "160 ms": ("160ms", "droptail"),
    "CoDel": ("160ms", "codel"),
}
# A full packet of 1500 bytes, 52 of them headers of IP and TCP with time stamps; an acknowledgement for each two.
SCENARIO = """
title    = "the link of the kernel"
duration = "{seconds}s"
measure  = {{ from = "0s" }}

[[links]]
name    = "L"
between = ["A", "B"]
rate    = "{mbps}Mbps"
delay   = "{delay}"
buffer  = "{buffer}"
queue   = "{queue}"

[[flows]]
name         = "tcp"
protocol     = "{protocol}"
path         = ["A", "B"]
packet       = "1500B"
overhead     = "52B"
ack          = "52B"
delayed_acks = {{ packets = 2, after = "40ms" }}

[protocols.{protocol}.params]
{params}
"""


def of_kernel(millpond, folder, controller, queue, seconds):
    """The direction of the data, as the link emulator has measured it."""
    buffer, name = QUEUES[queue]
    command = [millpond, "--quiet", "link", "--rate", f"{MBPS}Mbps", "--delay", DELAY, "--buffer", buffer]
    command += ["--queue", name, "--server", "exec python3 server.py", "--out", "link.json", "--force"]
    command += ["--", "python3", "client.py", str(seconds), controller]
    subprocess.run(command, cwd=folder, check=True, timeout=30 + 10 * seconds)
    seen = json.loads((folder / "link.json").read_text())["directions"][1]
    delay = seen["queueing_ms"]
    return seen["rate_bps"] / 1e6, delay["mean"], delay["p95"], seen["law_drops"] + seen["buffer_drops"]


def of_packets(millpond, folder, controller, queue, seconds):
    """The same link in the packet world."""
    buffer, name = QUEUES[queue]
    protocol, params = PROTOCOLS[controller]
    words = {"buffer": buffer, "queue": name, "protocol": protocol, "params": params, "mbps": MBPS, "delay": DELAY}
    (folder / "link.toml").write_text(SCENARIO.format(seconds=seconds, **words))
    command = [millpond, "--quiet", "run", "link.toml", "--json"]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=300)
    link = next(link for link in json.loads(done.stdout)["links"] if link["direction"] == "A -> B")
    delay = link["queueing_ms"]
    return link["utilization"] * MBPS, delay["mean"], delay["p95"], link["drops"]


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    millpond, seconds = str(pathlib.Path(sys.argv[1]).absolute()), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    print("| queue | sender | rate, Mbit/s | queueing, ms: mean | p95 | packets dropped |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "server.py").write_text(SERVER)
        (folder / "client.py").write_text(CLIENT)
        for queue in QUEUES:
            for controller, (protocol, _) in PROTOCOLS.items():
                pairs = zip(
                    of_kernel(millpond, folder, controller, queue, seconds),
                    of_packets(millpond, folder, controller, queue, seconds),
                    strict=True,
                )
                cells = " | ".join(f"{kernel:.3g} / {packets:.3g}" for kernel, packets in pairs)
                print(f"| {queue} | {controller} / {protocol} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
