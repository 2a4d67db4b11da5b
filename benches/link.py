#!/usr/bin/env python3
"""Kernel TCP through `millpond link`: goodput, rate in each busy second, lateness of departures.

usage: benches/link.py path/to/millpond [SECONDS]

Two network namespaces with the link between them; nothing else is needed but Python. The first table has bulk
transfers at a delay of 2 ms each way and a buffer of 20 ms. The second one has transfers with a buffer of 100 ms,
which is never empty after the first second, and the bits that left the link in each further second, by the clock of
the capture, over the configured rate.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

SERVER = """
import os, socket
connection, _ = socket.create_server((os.environ["MILLPOND_ADDRESS"], 5000)).accept()
while connection.recv(1 << 20): pass
"""

CLIENT = """
import os, socket, sys, time
for attempt in range(500):
    connection = socket.socket()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[2].encode())
    try:
        connection.connect((os.environ["MILLPOND_PEER"], 5000))
        break
    except ConnectionRefusedError:
        time.sleep(0.01)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end: connection.send(bytes(1 << 18))
"""

ENHANCED_PACKET, UP_BEHIND = 6, 3


def transfer(millpond, folder, mbps, controller, seconds, *, options):
    """One transfer; returns the results of the link."""
    command = [millpond, "--quiet", "link", "--rate", f"{mbps}Mbps", "--delay", "2ms", *options]
    command += ["--server", "exec python3 server.py", "--out", "link.json", "--force"]
    command += ["--", "python3", "client.py", str(seconds), controller]
    subprocess.run(command, cwd=folder, check=True, timeout=30 + 10 * seconds)
    return json.loads((folder / "link.json").read_text())


def busy_seconds(capture, mbps):
    """Bits that left the direction up in each second after the first one and before the last one, over the rate."""
    data, at, first, bits = capture.read_bytes(), 0, None, {}
    while at < len(data):
        kind, length = struct.unpack_from("=II", data, at)
        if kind == ENHANCED_PACKET:
            interface, high, low, size = struct.unpack_from("=IIII", data, at + 8)
            time = high << 32 | low
            if interface == UP_BEHIND:
                first = first or time
                second = (time - first) // 10**9
                bits[second] = bits.get(second, 0) + 8 * size
        at += length
    return [bits[second] / (mbps * 1e6) for second in sorted(bits)[1:-1]]


def lateness(result):
    late = result["machine"]["lateness_us"]
    return " ".join(f"{late[name]:7.0f}" for name in ("p50", "p99", "p99_9"))


def main():
    millpond, seconds = str(pathlib.Path(sys.argv[1]).absolute()), int(sys.argv[2]) if len(sys.argv) > 2 else 4
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "server.py").write_text(SERVER)
        (folder / "client.py").write_text(CLIENT)
        print(
            "Mbit/s  controller    rate  used %  late us:  p50     p99   p99.9  processor %  load  lost before the link"
        )
        for mbps in (20, 100, 200, 500, 1000):
            for controller in ("cubic", "bbr"):
                result = transfer(millpond, folder, mbps, controller, seconds, options=["--buffer", "20ms"])
                up, machine = result["directions"][1], result["machine"]
                print(
                    f"{mbps:6}  {controller:10} {up['rate_bps'] / 1e6:7.1f} {up['utilization'] * 100:7.1f} "
                    f"      {lateness(result)} "
                    f"{machine['processor_share'] * 100:12.0f} {machine['load']:5.1f} {up['overrun']:6}"
                )
        print("\nMbit/s  bits in busy seconds over the rate: least, greatest")
        for mbps in (20, 100, 300):
            options = ["--buffer", "100ms", "--pcap", "link.pcapng"]
            transfer(millpond, folder, mbps, "cubic", seconds + 2, options=options)
            shares = busy_seconds(folder / "link.pcapng", mbps)
            print(f"{mbps:6}  {min(shares):.5f} {max(shares):.5f}")


if __name__ == "__main__":
    main()
