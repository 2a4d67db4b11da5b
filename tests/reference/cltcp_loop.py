"""The linear loop of CLTCP, Eq. (38) of its paper, with one or several round-trip times.

    L(s) = alpha beta (s + 1/T) / (s^2 (s + alpha)) * mean(e^(-s tau_i))

Cited by papers/cltcp/roots.toml.
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
        value = s * s * (s + alpha) + gain * mean
        s -= value / (3 * s * s + 2 * s * alpha + alpha * beta * mean + gain * slope)
    return s


def continued(delays):
    """The oscillatory root that is continuous in the delays, from that without delay: s = -1/2 + i sqrt(3)/2 at alpha = 2."""
    s = complex(-0.4, 0.8)
    for step in range(1, 201):
        s = root([tau * step / 200 for tau in delays], s)
    return s


def numbers():
    """(name, computed, cited, relative tolerance)"""
    cited = {0.05: -0.4714, 0.2: -0.3536, 0.4: -0.1754, 0.6: -0.0267, 0.65: 0.0038, 0.8: 0.0803, 1.0: 0.1536, 2.0: 0.2866}
    for tau, growth in cited.items():
        yield f"growth per s at {tau} s", continued([tau]).real, growth, max(1e-3, 6e-5 / abs(growth))
    margin = math.atan(2.0) - math.atan(0.5)
    yield "delay margin in s", margin, 0.64350, 1e-5
