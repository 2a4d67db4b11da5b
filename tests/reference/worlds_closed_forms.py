"""Equilibria of papers/worlds, by bisection: links of 60 and 40 Mbit/s, two flows over the first, two over both, two over the second.

Packets have 1000 bytes unless said; the base round-trip time is 20 ms for each link of a path. Cited by papers/worlds/abc.toml,
dctcp, max-min, prices, products, sawtooth and vegas.
"""

import math


def zero(function, low, high):
    """A zero of a function that is negative at `low` and positive at `high`."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return (low + high) / 2


def products(eta, max_th=75e3, first=60e6, second=40e6):
    """Rates of one flow of each group in Mbit/s and the marks of both links, if x / k is the unmarked share to the power eta."""

    def rates(p1, p2):
        wait1, wait2 = 8 * p1 * max_th / first, 8 * p2 * max_th / second
        one = first * 0.02 * (1 - p1) ** eta / (0.02 + wait1)
        two = second * 0.04 * ((1 - p1) * (1 - p2)) ** eta / (0.04 + wait1 + wait2)
        return one, two, second * 0.02 * (1 - p2) ** eta / (0.02 + wait2)

    def other(p1):
        """The p2 that fills the second link."""
        return zero(lambda p2: second - 2 * sum(rates(p1, p2)[1:]), 0.0, 1.0)

    p1 = zero(lambda p1: first - 2 * sum(rates(p1, other(p1))[:2]), 0.0, 1.0)
    return [rate / 1e6 for rate in rates(p1, other(p1))], (p1, other(p1))


def prices(first, second):
    """Rates of one flow of each group if x is K over the sum of the path's prices, for links that carry 2 first and 2 second."""
    two = zero(lambda x: 1 / (first - x) + 1 / (second - x) - 1 / x, 1e-6, second - 1e-6)
    return first - two, two, second - two


def abc(flows, mbit, window=15.5 / 16 * 0.02):
    """Utilization of spare capacity: the dequeue rate counts half a packet of 1500 bytes too much in its window; eta = .98."""
    capacity = mbit * 1e6 / 12000
    return zero(lambda y: (1 - flows / (y * capacity * 0.04)) * (y + 0.5 / (capacity * window)) - 0.98, 0.5, 1.5)


def numbers():
    """(name, computed, cited, relative tolerance)"""
    xcp = zero(lambda x: (0.1 * (2 * x + 20) - 0.4 * (60 - 2 * x - 20)) * x - 0.1 * (2 * x + 20) ** 2 / 4, 10.0, 20.0)
    yield "max-min: XCP, group one, Mbit/s", xcp, 18.382, 1e-4
    for name, capacity, cited in (("ECN", 0.95, (21.0449, 7.4551, 11.5449)), ("delay", 1.0, (22.1525, 7.8475, 12.1525))):
        found = prices(30 * capacity, 20 * capacity)
        for group, rate, value in zip(("one", "two", "three"), found, cited):
            yield f"prices: {name} form, group {group}, Mbit/s", rate, value, 1e-5
    yield "prices: queue of L1, packets", 2 * 50 * 30 / found[0], 135.42, 1e-4
    yield "prices: queue of L2, packets", 2 * 50 * 20 / found[2], 164.58, 1e-4
    for name, eta, cited, marks in (
        ("LGCC", math.log(10) / math.log(5), (23.4024, 6.5976, 13.4024), (0.41005, 0.43315)), ("LGC", 1, (23.2188, 6.7812, 13.2188), (0.51364, 0.53654)),
    ):
        found, p = products(eta)
        for group, rate, value in zip(("one", "two", "three"), found, cited):
            yield f"products: {name}, group {group}, Mbit/s", rate, value, 1e-5
        for link, probability, value in zip((1, 2), p, marks):
            yield f"products: {name}, marks of L{link}", probability, value, 2e-5
    for mbit, cited in ((100, 0.15931), (400, 0.09166)):
        window = (mbit * 1e6 / 12000 * 0.024 + 65) / 4
        yield f"dctcp: marks in equilibrium at {mbit} Mbit/s", zero(lambda p: window * p * p / 2 - 1 + p, 0.0, 1.0), cited, 1e-4
    for mbit, cited in ((10, 200.0), (40, 12.5)):
        yield f"sawtooth: NewReno's loss at {mbit} Mbit/s, ppm", 2e6 / (2 * mbit * 1e6 / 8000 * 0.04) ** 2, cited, 1e-9
    for flows, mbit, cited in ((5, 100, 0.99195), (20, 400, 0.99424)):
        yield f"abc: utilization, {flows} flows on {mbit} Mbit/s", abc(flows, mbit), cited, 2e-5
