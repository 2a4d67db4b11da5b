"""Chains of LGCC's loops in continuous time: Theorem 8.1, Eqs. (14), (16), (25), the two lags of Fig. 18, and the gain of relays.

A tree of equal flows: at each router S flows of equal rate are aggregated into one, whose rate is their carrying capacity,

    x_d' = gamma x_d (ln(1 - p_d) - ln(x_d / x_(d+1))),   p_d' = beta (S x_d - x_(d+1)),   both bases e,

up to the capacity 1. There is no delay, as in the proof. Integrated by Heun's method. Cited by papers/lgcc/theorem81.toml,
fig18.toml, and by papers/extensions/lgcc-share.toml.
"""

import cmath
import math


def tree(depth, beta, rates, prices, until=40.0, step=1e-3, flows=2):
    """(greatest value of (25) over that at the start, time at which a price reaches 1); rates are relative to the equilibrium."""
    rest = [flows ** -(depth - d) for d in range(depth)]  # rates in equilibrium; the last loop is next to the capacity
    free = 1 - 1 / flows  # price in equilibrium
    x, p = [a * b for a, b in zip(rates, rest)], list(prices)

    def slopes(x, p):
        following = x[1:] + [1.0]
        moves = [a * (math.log(1 - q) - math.log(a / k)) for a, k, q in zip(x, following, p)]
        excess = [beta * (flows * a - k) for a, k in zip(x, following)]
        return moves, [e if q > 0 else max(e, 0.0) for e, q in zip(excess, p)]

    def lyapunov(x, p):
        """(25): of each flow the integral of (phi - x*) / phi, of each router that of ln(1 - p*) - ln(1 - psi) over beta."""
        primitive = lambda q: (1 - q) * math.log(1 - q) - (1 - q)
        value = 0.0
        for d in range(depth):
            count = flows ** (depth - d)
            value += count * (x[d] - rest[d] - rest[d] * math.log(x[d] / rest[d]))
            value += count / flows / beta * ((p[d] - free) * math.log(1 - free) + primitive(p[d]) - primitive(free))
        return value

    first, greatest, now = lyapunov(x, p), 1.0, 0.0
    while now < until:
        a, b = slopes(x, p)
        x1 = [u + step * v for u, v in zip(x, a)]
        p1 = [max(u + step * v, 0.0) for u, v in zip(p, b)]
        now += step
        if max(p1) >= 1:
            return greatest, now
        c, d = slopes(x1, p1)
        x = [u + step * (v + w) / 2 for u, v, w in zip(x, a, c)]
        p = [max(u + step * (v + w) / 2, 0.0) for u, v, w in zip(p, b, d)]
        greatest = max(greatest, lyapunov(x, p) / first)
    return greatest, None


def approach(x, target, step, interval=0.002, phi1=10.0):
    """x after a step of (14) toward a target, with the gamma of lines 12 to 18: .3 from 5 % on, .05 up to 1.5 %, linear between."""
    away = abs(x - target) / target
    gamma = 0.05 + 0.25 * min(max((away - 0.015) / 0.035, 0.0), 1.0)
    return x * math.exp(-step * gamma * math.log(x / target) / math.log(phi1) / interval)


def restored(step=1e-5):
    """Time in s until a link carries 95 % of 500 Mbit/s after a drop to 150: its sender, then the sources that follow it 2 ms later."""
    sender = sources = 150.0
    echoes, arrivals, now = [sender] * 200, [sources] * 200, 0.0
    while min(sender, arrivals[-100]) < 475:
        sender, sources = approach(sender, 500.0, step), approach(sources, echoes[-100], step)
        echoes.append(sender)
        arrivals.append(sources)
        now += step
    return now + 0.001  # the delay of the link


def joined(step=1e-5):
    """Time in s until a newcomer at 1 Mbit/s toward 500 is at 237.5, and the 3 ms of its packets to the link's end."""
    x, now = 1.0, 0.0
    while x < 237.5:
        x, now = approach(x, 500.0, step), now + step
    return now + 0.003


def relay_gain(lag, drain, points=60_000):
    """max |H| of a relay, in units of the loop's RTT: H(s) = F e^-s (1 + s D) / (s D + F e^-s), F = 1 / (1 + s lag)."""
    greatest = 0.0
    for i in range(1, points):
        s = 6j * i / points
        loop = cmath.exp(-s) / (1 + s * lag)
        greatest = max(greatest, abs(loop * (1 + s * drain) / (s * drain + loop)))
    return greatest


def numbers():
    """(name, computed, cited, relative tolerance)"""
    yield "Theorem 8.1: greatest (25), chain of five, beta = 4", tree(5, 4, [1] * 5, [0.5] * 4 + [0])[0], 1.771, 1e-3
    yield "Theorem 8.1: time at which p = 1, beta = 4", tree(1, 4, [2], [0], step=1e-4)[1], 0.296, 1e-3
    yield "Theorem 8.1: time at which p = 1, beta = 3", tree(1, 3, [2], [0], step=1e-4)[1], 0.448, 1e-3
    yield "Fig. 18: the link is at 95 % again, ms", 1e3 * restored(), 84, 0.01
    yield "Fig. 18: the newcomer has half of the link, ms", 1e3 * joined(), 35.6, 0.01
    lag = math.log(10) / 0.05
    yield "eight relays: amplification, D = 8 T, the paper's form", relay_gain(lag, 8) ** 8, 6720, 1e-3
    yield "eight relays: amplification, D = 8 T, steps of the share", relay_gain(0, 8) ** 8, 2.785, 1e-3
