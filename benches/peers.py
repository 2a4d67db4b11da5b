#!/usr/bin/env python3
"""Packet-hops per user CPU second of Millpond, of htsim and of ns-2, on the same networks.

usage: [HTSIM=path/to/csg-htsim] benches/peers.py build
       benches/peers.py run path/to/millpond-bench [REPEATS]

`build` compiles the sources of htsim (https://github.com/Broadcom/csg-htsim), if HTSIM names them, into
`target/peers` with the programs in `benches/peers`, which build the cases that `millpond-bench describe` prints. ns-2
takes part if the command `ns` is installed (Debian: ns2); it reads `benches/peers/ns2.tcl`. `run` executes the
programs in turn; the least user CPU time of each counts, because other work of the machine only adds to it. The time
is that of the whole process, with the construction of the network. The last column is the ratio without random
processing times of hosts and routers, which the others have neither.
"""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target/peers/htsim"
FAT_TREE_PROGRAM = ROOT / "target/peers/htsim_fat_tree"
HTSIM_CASES = ["S1", "S2", "S5"]
NS2_SCRIPT = ROOT / "benches/peers/ns2.tcl"
NS2_CASES = ["S1", "S2", "S3", "S6"]
REPEATS = 3

# Hops of two programs may differ by this share: the protocols are of one family, and the trunk of each case is nearly
# full in both.
TOLERANCE = 0.03

# htsim's own flags, without assertions.
FLAGS = ["-std=c++11", "-O3", "-DNDEBUG", "-w"]

# What the driver needs of htsim.
FILES = [
    "config",
    "dctcp",
    "ecnqueue",
    "eth_pause_packet",
    "eventlist",
    "fairpullqueue",
    "logfile",
    "loggers",
    "mtcp",
    "ndppacket",
    "network",
    "pipe",
    "queue",
    "queue_lossless",
    "route",
    "sent_packets",
    "switch",
    "tcp",
    "tcppacket",
    "trigger",
]


class PeerError(Exception):
    """What is wrong, and what to do."""


def find_sources(given):
    """The folder of htsim's sources."""
    sources = pathlib.Path(given).expanduser() / "sim"
    missing = [name for name in FILES if not (sources / f"{name}.cpp").is_file()]
    if missing:
        raise PeerError(
            f"HTSIM={given}: {sources / missing[0]}.cpp is missing: expected a copy of csg-htsim, with the folder sim"
        )
    return sources


def build():
    """Compiles htsim and the driver, if its sources are named."""
    given = os.environ.get("HTSIM")
    if not given:
        return
    sources = find_sources(given)
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CXX", "c++")
    with tempfile.TemporaryDirectory() as folder:

        def compiled(source):
            target = pathlib.Path(folder) / f"{source.stem}.o"
            checked([compiler, *FLAGS, "-I", sources, "-c", source, "-o", target])
            return target

        objects = [compiled(sources / f"{name}.cpp") for name in FILES]
        for program in [PROGRAM, FAT_TREE_PROGRAM]:
            driver = compiled(ROOT / f"benches/peers/{program.name}.cpp")
            checked([compiler, driver, *objects, "-o", program])


def checked(command, text=None):
    """The standard output of a command that must succeed, with this text as its input."""
    words = [str(word) for word in command]
    try:
        process = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise PeerError(f"{words[0]} was not found: install it, or name another C++ compiler in CXX") from error
    if process.returncode:
        raise PeerError(f"{' '.join(words)} failed:\n{process.stderr.strip()}")
    return process.stdout


def measure(command, text=None):
    """The output of a process, and its user CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    output = checked(command, text)
    return output, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def check_same_work(case, hops):
    """Both programs move as many packets."""
    ours, theirs = hops
    if abs(ours / theirs - 1) > TOLERANCE:
        raise PeerError(
            f"{case}: the packet-hops differ by more than {TOLERANCE:.0%}, so that the ratio compares different work"
        )


def compare(case, bench, peer, command, repeats):
    """Runs both programs in turn and prints a row."""
    words = checked([bench, "describe", case]).split()
    seconds = dict(word.split("=") for word in words)["seconds"]
    commands = ([bench, "run", case, seconds], [bench, "periodic", case, seconds], [*command, *words])
    runs = [[measure(one) for one in commands] for _ in range(repeats)]
    least = [min(one, key=lambda run: run[1]) for one in zip(*runs, strict=True)]
    (our_output, our_time), _, (their_output, their_time) = least
    hops = [float(output.split()[0]) for output, _ in least]
    our_speed, periodic_speed, their_speed = (float(output.split()[0]) / cpu for output, cpu in least)
    print(
        f"{case:4} {peer:6} {hops[0] / 1e6:8.2f} M {hops[2] / 1e6:8.2f} M {our_time:9.3f} s {their_time:8.3f} s"
        f" {our_speed / 1e6:9.2f} M {their_speed / 1e6:8.2f} M {our_speed / their_speed:7.2f}"
        f" {periodic_speed / their_speed:9.2f}"
    )
    our_behaviour, their_behaviour = our_output.strip().split(" ", 3)[3], their_output.strip().split(" ", 1)[1]
    print(f"     millpond: {our_behaviour}\n     {peer + ':':9} {their_behaviour}", flush=True)
    for moved in hops[:2]:
        check_same_work(case, (moved, hops[2]))


def compare_fat_tree(bench, repeats):
    """The data centre in Millpond and in htsim: the least wall time and the least user CPU time of each."""
    description = checked([bench, "describe", "fat-tree"])
    programs = {"millpond": [bench, "fat-tree"], "htsim": [FAT_TREE_PROGRAM]}
    least = dict.fromkeys(programs, (float("inf"), float("inf")))
    outputs = {}
    for _ in range(repeats):
        for name, command in programs.items():
            start = time.monotonic()
            outputs[name], cpu = measure(command, description)
            wall = time.monotonic() - start
            least[name] = (min(wall, least[name][0]), min(cpu, least[name][1]))
    print("fat tree of 1024 hosts:")
    for name, output in outputs.items():
        wall, cpu = least[name]
        hops = float(output.split()[0])
        behaviour = output[output.index("complete") :].strip()
        print(f"     {name + ':':9} {hops / 1e6:.2f} M hops, {wall:.2f} s, {cpu:.2f} s of user CPU time; {behaviour}")
    check_same_work("fat tree", [float(output.split()[0]) for output in outputs.values()])


def peers():
    """Name, command and cases of each peer that is here."""
    if PROGRAM.is_file():
        yield "htsim", [PROGRAM], HTSIM_CASES
    if shutil.which("ns"):
        yield "ns-2", ["ns", NS2_SCRIPT], NS2_CASES


def run(bench, repeats):
    """Prints the table."""
    found = list(peers())
    if not found:
        raise PeerError(
            "neither htsim nor ns-2 is here: expected the folder of htsim's sources in HTSIM, as in\n"
            "  git clone https://github.com/Broadcom/csg-htsim && HTSIM=$PWD/csg-htsim make bench-peers\n"
            "or the command ns (Debian: apt-get install ns2)"
        )
    print("                packet-hops              user CPU time          hops per CPU second     millpond  periodic")
    print("case peer     millpond     peer     millpond       peer     millpond       peer     / peer    / peer")
    for peer, command, cases in found:
        for case in cases:
            compare(case, bench, peer, command, repeats)
    if FAT_TREE_PROGRAM.is_file():
        compare_fat_tree(bench, repeats)


def main(arguments):
    """Builds or runs, as the arguments say."""
    match arguments:
        case ["build"]:
            build()
        case ["run", bench]:
            run(bench, REPEATS)
        case ["run", bench, repeats] if repeats.isdecimal() and int(repeats) > 0:
            run(bench, int(repeats))
        case _:
            raise PeerError(f"expected the arguments of\n{__doc__}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except PeerError as failure:
        sys.exit(f"error: {failure}")
