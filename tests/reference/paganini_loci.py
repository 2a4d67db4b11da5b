"""Loops of Paganini et al.: Eqs. (13) to (16) of the paper, linearized at the equilibrium, with the static law (18).

    L(jw) = Rf(jw) diag(alpha x_i / (M_i tau_i jw)) Rb(jw)^T diag(1 / c_0l)

A column of Rf has e^(-jw t) for the delay t from the sender to a link, one of Rb for the rest of the round trip. The
leftmost point at which an eigenvalue of L crosses the negative real axis limits alpha. The networks are those of
papers/paganini/lemma5.toml, of which only the table of cases is read. Cited by lemma5, theorem1-mixed and
theorem1-3-links.
"""

import cmath
import math
import pathlib
import tomllib

ALPHA, PRICE = 0.2, 0.02  # alpha at which the rates of lemma5.toml are given, price of each link in s
HOPS = {("R1", "R2"): (0, 0.003), ("R2", "R3"): (1, 0.007), ("R3", "R4"): (2, 0.005)}  # link and its delay in s
AROUND = {"S1": 0.002, "S2": 0.004, "S3": 0.001}  # delay in s of each of the two links to and from the alternative


def roots(trace, minors, determinant):
    """Roots of z^3 - trace z^2 + minors z - determinant by the method of Durand and Kerner."""
    size = 1 + max(abs(trace), abs(minors), abs(determinant))
    z = [size * (0.4 + 0.9j) ** k for k in range(3)]
    for _ in range(200):
        moved = 0.0
        for i in range(3):
            a, b = z[i] - z[i - 1], z[i] - z[i - 2]
            step = (((z[i] - trace) * z[i] + minors) * z[i] - determinant) / (a * b)
            z[i] -= step
            moved = max(moved, abs(step))
        if moved < 1e-14 * size:
            break
    return z


def eigenvalues(flows, capacities, w):
    """Eigenvalues of L(jw) at alpha = 1; a flow is (rate, round-trip time, M, {link: delay from the sender})."""
    m = [[0j] * 3 for _ in range(3)]
    for rate, rtt, bottlenecks, delays in flows:
        gain = rate / (bottlenecks * rtt * 1j * w)
        for row, there in delays.items():
            for column, other in delays.items():
                m[row][column] += gain * cmath.exp(-1j * w * (there + rtt - other)) / capacities[column]
    minors = sum(m[i][i] * m[j][j] - m[i][j] * m[j][i] for i, j in ((0, 1), (0, 2), (1, 2)))
    determinant = sum(m[0][i] * (m[1][i - 2] * m[2][i - 1] - m[1][i - 1] * m[2][i - 2]) for i in range(3))
    return roots(m[0][0] + m[1][1] + m[2][2], minors, determinant)


def leftmost(flows, capacities):
    """The leftmost crossing of the negative real axis; loci are followed from one frequency to the next."""
    low, crossings = 1.0, []
    before = eigenvalues(flows, capacities, low)
    while low < 200:
        high = low * 1.02
        after = eigenvalues(flows, capacities, high)
        for old in before:
            new = min(after, key=lambda z: abs(z - old))
            if old.imag * new.imag < 0 and old.real < 0:
                a, b, below = low, high, old
                for _ in range(40):
                    middle = (a + b) / 2
                    value = min(eigenvalues(flows, capacities, middle), key=lambda z: abs(z - below))
                    a, b, below = (middle, b, value) if value.imag * old.imag > 0 else (a, middle, below)
                crossings.append(below.real)
        low, before = high, after
    return min(crossings)


def networks():
    """(name, flows, capacities) for each network of lemma5.toml, with the true M and with M = 1."""
    path = pathlib.Path(__file__).parents[2] / "papers/paganini/lemma5.toml"
    for group in tomllib.loads(path.read_text())["cases"]:
        for row in group["rows"]:
            case = dict(zip(group["columns"], row))
            suffixes = ["", "2", "3", "4", "5", "6"]
            number = lambda name, unit: float(case["{" + name + "}"].removesuffix(unit))
            flows = []
            for suffix in suffixes:
                hops, at, delays = case["{path" + suffix + "}"], 0.0, {}
                for hop in zip(hops, hops[1:]):
                    if hop in HOPS:
                        delays[HOPS[hop][0]] = at
                    at += HOPS[hop][1] if hop in HOPS else AROUND[hop[0] if hop[0] in AROUND else hop[1]]
                bottlenecks, rtt = case.get("{bottlenecks" + suffix + "}", 1), number("rtt" + suffix, "ms") / 1e3
                rate = number("max_rate" + suffix, "bps") * math.exp(-ALPHA * PRICE * len(delays) / (bottlenecks * rtt))
                flows.append((rate, rtt, bottlenecks, delays))
            yield case, flows, [0.95 * number("rate" + suffix, "bps") for suffix in suffixes[:3]]


def parking_lot(share, bottlenecks):
    """Critical alpha: one flow over all three links with a share of each, one more over each, all with 200 ms."""
    flows = [(share, 0.2, bottlenecks, {0: 0.0, 1: 0.01, 2: 0.02})] + [(1 - share, 0.2, 1, {link: 0.0}) for link in range(3)]
    return -1 / leftmost(flows, [1.0] * 3)


def mixed(rates):
    """Critical alpha of one link with round-trip times of 40 to 200 ms; only the first of three links is used."""
    total = sum(rates)
    flows = [(rate, 0.04 * (i + 1), 1, {0: 0.0}) for i, rate in enumerate(rates)]
    return -1 / leftmost(flows, [total, 1.0, 1.0])


LIMITS = {  # critical alpha of networks 1 to 15
    "M": (2.2857, 2.7239, 1.6311, 2.0114, 2.3361, 3.1199, 2.0198, 3.5217, 4.6671, 1.5708, 1.5708, 2.5690, 2.0357, 1.6088, 2.7863),
    "1": (0.7947, 1.0035, 0.8220, 0.7790, 0.9808, 0.9092, 0.7337, 1.6640, 2.1863, 1.2168, 1.5708, 1.2816, 0.8192, 0.6482, 1.4934),
}


def numbers():
    """(name, computed, cited, relative tolerance)"""
    yield "critical alpha, five round-trip times, equal shares", mixed([1] * 5), 3.478, 1e-4
    yield "critical alpha, 32, 32, 64, 128 and 256 flows", mixed([32, 32, 64, 128, 256]), 2.011, 1e-4
    for bottlenecks, share, cited in ((3, 0.25, 1.5708), (3, 0.9, 1.5708), (1, 0.25, 1.0472), (1, 0.9, 0.5610)):
        yield f"critical alpha, 3 links, M = {bottlenecks}, share {share}", parking_lot(share, bottlenecks), cited, 1e-4
    seen = {"M": 0, "1": 0}
    for case, flows, capacities in networks():
        which = "M" if "{bottlenecks}" in case else "1"
        number, seen[which] = seen[which], seen[which] + 1
        carried = [sum(flow[0] for flow in flows if link in flow[3]) for link in range(3)]
        yield f"load of network {number + 1}", max(c / capacity for c, capacity in zip(carried, capacities)), 1.0, 1e-5
        yield f"critical alpha of network {number + 1}, M = {which}", -1 / leftmost(flows, capacities), LIMITS[which][number], 1e-4
