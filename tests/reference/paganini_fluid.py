"""Delay differential equations of Paganini et al., one link and equal round-trip times: sections III and IV, and the equilibria of section VI.

In units of the round-trip time the linear loop (14) with the lead-lag term of (20), for a demand whose elasticity nu / kappa
is infinite, is

    p''(t) = -alpha (p'(t - 1) + eta p(t - 1)),   eta = z tau,

integrated by Heun's method. Without that term it is p'(t) = -alpha p(t - 1), whose dominant root is found by Newton's
method. Cited by papers/paganini/fig3.toml, theorem3, fig6, fig6-fluid and slowest-mode.
"""

import cmath
import math

STEPS = 200  # per round-trip time


def growth(alpha, eta, rtts=120):
    """Growth of the logarithm of the envelope per round-trip time, over the last two thirds."""
    h = 1 / STEPS
    p, v = [1.0] * (STEPS + 1), [0.0] * (STEPS + 1)  # the price and its slope, constant until 0
    p[-1] = 1.01
    for n in range(STEPS, STEPS * (rtts + 1)):
        a0 = -alpha * (v[n - STEPS] + eta * p[n - STEPS])
        a1 = -alpha * (v[n - STEPS + 1] + eta * p[n - STEPS + 1])
        v.append(v[n] + h * (a0 + a1) / 2)
        p.append(p[n] + h * (v[n] + v[n + 1]) / 2)
    third = len(p) // 3
    peak = [max(abs(q) for q in part) for part in (v[third : 2 * third], v[2 * third :])]
    return math.log(peak[1] / peak[0]) / (rtts / 3)


def limit(alpha):
    """The greatest eta for which the envelope does not grow, by bisection."""
    low, high = 0.0, 1.2
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if growth(alpha, middle) < 0 else (low, middle)
    return low


def root(alpha):
    """The dominant root of s + alpha e^-s, by Newton's method."""
    s = 1.5j
    for _ in range(100):
        s -= (s + alpha * cmath.exp(-s)) / (1 - alpha * cmath.exp(-s))
    return s


def slowest_mode(price, guess, tau=0.1, alpha=0.37, beta=1.18):
    """A root in 1/s of the primal-dual law on one link with prices (17), by Newton's method; price = K N / c_0 in s."""
    s = guess
    for _ in range(100):
        gain, delayed = alpha * s + beta, cmath.exp(-s * tau)
        s -= (s * (tau * s + beta * price) + gain * delayed) / (2 * tau * s + beta * price + (alpha - tau * gain) * delayed)
    return s


def joiners(capacity=250000.0, k=50.0, groups=(32, 32, 64, 128, 256)):
    """Queueing delay in s and rates in packets/s of each group after each stage: x = K / (q - delta), delta the delay met on joining."""
    met, stages = [0.0], []
    for stage in range(1, len(groups) + 1):
        low, high = met[-1], 10.0
        for _ in range(200):
            q = (low + high) / 2
            rates = [k / (q - delta) if q > delta else math.inf for delta in met]
            low, high = (q, high) if sum(n * x for n, x in zip(groups, rates)) > capacity else (low, q)
        stages.append((q, rates))
        met.append(q)
    return stages


def numbers():
    """(name, computed, cited, relative tolerance)"""
    for alpha, real, imaginary in ((1.0, -0.3181, 1.3372), (1.5, -0.0328, 1.5496), (1.65, 0.0350, 1.5928)):
        yield f"Fig. 3: growth of the dominant root at alpha = {alpha}", root(alpha).real, real, 2e-3
        yield f"Fig. 3: frequency of the dominant root at alpha = {alpha}", root(alpha).imag, imaginary, 1e-4
    for alpha, cited in ((0.37, 0.8645), (0.7, 0.7167), (1.0, 0.5474), (1.3, 0.3190), (1.5, 0.1015)):
        yield f"Theorem 3: greatest z tau at alpha = {alpha}", limit(alpha), cited, 5e-3
    stages = joiners()
    for stage, ((q, _), cited) in enumerate(zip(stages, (6.4, 16.755, 37.342, 78.480, 160.746)), 1):
        yield f"Fig. 6: queueing delay of stage {stage}, ms", 1e3 * q, cited, 1e-4
    rates = ((7812.5,), (2984.1, 4828.4), (1339.0, 1615.9, 2428.8), (637.1, 693.7, 810.0, 1215.4), (311.1, 323.9, 347.2, 405.2, 607.8))
    for stage, ((_, found), cited) in enumerate(zip(stages, rates), 1):
        for group, (rate, value) in enumerate(zip(found, cited), 1):
            yield f"Fig. 6: rate of group {group} in stage {stage}", rate, value, 2e-4
    groups = (32, 32, 64, 128, 256)
    total, squares = sum(n * x for n, x in zip(groups, found)), sum(n * x * x for n, x in zip(groups, found))
    yield "Fig. 6: Jain index of stage 5", total**2 / 512 / squares, 0.9408, 1e-4
    for price, expected in ((0.08, (-2.561, 3.613)), (0.016, (-1.871, 3.898))):
        mode = slowest_mode(price, complex(-2, 4))
        yield f"growth of the slowest mode at a price of {price} s", mode.real, expected[0], 1e-3
        yield f"its frequency at a price of {price} s", mode.imag, expected[1], 1e-3
