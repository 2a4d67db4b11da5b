"""The linear loop of CLTCP, Eq. (38) of its paper, with one or several round-trip times.

    L(s) = alpha beta (s + 1/T) / (s^2 (s + alpha)) * mean(e^(-s tau_i))

Cited by papers/cltcp/roots.toml. With beta and T of `scaling = "rtt"`: docs/extensions/cltcp-any-rtt.md and
papers/extensions/cltcp-any-rtt.toml.
"""

import cmath
import math

ALPHA, BETA, T = 2.0, 1.0, 2.0


def root(delays, guess, alpha=ALPHA, beta=BETA, period=T):
    """The root of s^2 (s + alpha) + alpha beta (s + 1/T) mean(e^(-s tau)) that Newton's method finds from `guess`."""
    s = guess
    for _ in range(200):
        mean = sum(cmath.exp(-s * tau) for tau in delays) / len(delays)
        slope = sum(-tau * cmath.exp(-s * tau) for tau in delays) / len(delays)
        gain = alpha * beta * (s + 1 / period)
        s -= value(s, delays, alpha, beta, period) / (3 * s * s + 2 * s * alpha + alpha * beta * mean + gain * slope)
    return s


def value(s, delays, alpha=ALPHA, beta=BETA, period=T):
    """The characteristic function whose zeros are the roots of the closed loop."""
    return s * s * (s + alpha) + alpha * beta * (s + 1 / period) * sum(cmath.exp(-s * tau) for tau in delays) / len(delays)


def continued(delays):
    """The oscillatory root that is continuous in the delays, from that without delay: s = -1/2 + i sqrt(3)/2 at alpha = 2."""
    s = complex(-0.4, 0.8)
    for step in range(1, 201):
        s = root([tau * step / 200 for tau in delays], s)
    return s


def slowest(delays, beta=BETA, period=T):
    """The greatest real part of the roots that Newton's method finds from a grid of guesses in the upper half plane."""
    found = [root(delays, complex(-0.6 + 0.2 * i, 0.1 + 0.15 * k), ALPHA, beta, period) for i in range(6) for k in range(20)]
    right = [s for s in found if s == s and abs(s.imag) > 1e-3 and abs(value(s, delays, ALPHA, beta, period)) < 1e-9]
    return max(s.real for s in right)


def rightmost(delays, beta, period):
    """The same with real roots: the greatest, between zero and -2, is found by a scan and bisection."""
    real = lambda s: value(s, delays, ALPHA, beta, period).real
    grid = [-2 * n / 20000 for n in range(20000)]
    high, low = next(((a, b) for a, b in zip(grid, grid[1:]) if real(a) * real(b) <= 0), (-2.0, -2.0))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if real(middle) * real(high) <= 0 else (low, middle)
    return max(low, slowest(delays, beta, period))


QUEUEING = 100 * 8000 / 24e6


def scaled_gains(delays, queueing=QUEUEING):
    """min(beta, .45 / tau) and max(T, 8 tau), with tau the mean of the round-trip times, queueing included."""
    tau = sum(delays) / len(delays) + queueing
    return min(BETA, 0.45 / tau), max(T, 8 * tau)


def scaled_margin(delays, queueing=0.0):
    """Phase margin in degrees, delays included: of L(jw) at the frequency at which its modulus is 1."""
    beta, period = scaled_gains(delays, queueing)
    mean = lambda w: sum(cmath.exp(-1j * w * tau) for tau in delays) / len(delays)
    low, high = 1e-6, 100.0
    for _ in range(200):
        w = math.sqrt(low * high)
        modulus = ALPHA * beta * math.hypot(w, 1 / period) / (w * w * math.hypot(w, ALPHA)) * abs(mean(w))
        low, high = (w, high) if modulus > 1 else (low, w)
    return math.degrees(math.atan(w * period) - math.atan(w / ALPHA) + cmath.phase(mean(w)))


def margin(beta, alpha=ALPHA, period=T):
    """Phase margin in rad without delay: of L(jw) at the frequency at which its modulus is 1, by bisection."""
    low, high = 1e-3, 100.0
    for _ in range(200):
        w = math.sqrt(low * high)
        low, high = (w, high) if alpha * beta * math.hypot(w, 1 / period) > w * w * math.hypot(w, alpha) else (low, w)
    return math.atan(w * period) - math.atan(w / alpha)


def numbers():
    """(name, computed, cited, relative tolerance)"""
    cited = {0.05: -0.4714, 0.2: -0.3536, 0.4: -0.1754, 0.6: -0.0267, 0.65: 0.0038, 0.8: 0.0803, 1.0: 0.1536, 2.0: 0.2866}
    for tau, growth in cited.items():
        yield f"growth per s at {tau} s", continued([tau]).real, growth, max(1e-3, 6e-5 / abs(growth))
    mixed = (((0.05, 0.1, 0.2, 0.4), -0.3578), ((5, 0.05, 0.05, 0.05), -0.0751), ((5, 0.05), 0.0757), ((0.4, 0.4, 1, 1), 0.0191))
    for delays, growth in mixed:
        yield f"growth per s at {', '.join(map(str, delays))} s", slowest(delays), growth, max(1e-3, 6e-5 / abs(growth))
    scaled = {0.05: -0.4714, 0.25: -0.3613, 0.45: -0.3416, 0.7: -0.2406, 1.0: -0.1747, 2.0: -0.0916, 3.0: -0.0621}
    for tau, growth in scaled.items():
        yield f"growth per s, scaled, {tau} s", rightmost([tau], *scaled_gains([tau])), growth, 6e-5 / abs(growth)
    for delays, growth in (((0.1, 0.1, 2), -0.2280), ((0.06, 0.6, 3), -0.1438)):
        yield f"growth per s, scaled, {delays}", rightmost(delays, *scaled_gains(delays)), growth, 6e-5 / abs(growth)
    yield "least scaled margin in degrees", min(scaled_margin([0.01 * n]) for n in range(1, 1000)), 22.55, 1e-3
    yield "scaled margin in degrees, 1000 s", scaled_margin([1000.0]), 48.27, 1e-3
    yield "delay margin in s", math.atan(2.0) - math.atan(0.5), 0.64350, 1e-5
    for beta in (0.5, 2.0):
        yield f"phase margin in degrees, beta = {beta}", math.degrees(margin(beta)), 33.81, 1e-4
