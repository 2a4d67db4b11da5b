"""Phase plane of the linear ACP loop with a queue that cannot be negative: Eqs. (19) and (20) of the ACP paper.

    x'(t) = -(ki / tau) x(t - tau) - (kq / tau^2) q(t - tau)
    q'(t) = x(t), and 0 where q = 0 and x < 0

x is the arrival rate less the capacity, q the queue, tau the round-trip time. With windows instead of rates (Eq. (3))
ki is replaced by ki + 1. Integrated by Heun's method with a fixed number of steps per round-trip time; in units of tau
the equations do not contain it. Cited by papers/acp/fig19.toml and fig20.toml.
"""

import cmath
import math

KI, KQ = 0.1587, 0.3175
STEPS = 2000  # per round-trip time


def trajectory(x0, q0, past="as at the start", ki=KI, kq=KQ, rtts=80, clip=True):
    """Lists of x and q at each step; `past` is what x and q were before the start, which the paper does not give."""
    h = 1.0 / STEPS
    before = (x0, q0) if past == "as at the start" else (0.0, 0.0)
    xs, qs = [x0], [q0]
    for step in range(rtts * STEPS):
        late = step - STEPS
        x1, q1 = (xs[late], qs[late]) if late >= 0 else before
        x2, q2 = (xs[late + 1], qs[late + 1]) if late + 1 >= 0 else before
        slope1 = -ki * x1 - kq * q1
        slope2 = -ki * x2 - kq * q2
        x, q = xs[-1], qs[-1]
        nx = x + 0.5 * h * (slope1 + slope2)
        nq = q + 0.5 * h * (x + nx)
        xs.append(nx)
        qs.append(max(nq, 0.0) if clip else nq)
    return xs, qs


def boundary(gain):
    """kq at which the linear loop s^2 + e^-s (gain s + kq) has roots on the imaginary axis: gain = w sin w, kq = w^2 cos w."""
    low, high = 0.0, math.pi / 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * math.sin(middle) < gain else (low, middle)
    return low * low * math.cos(low)


def root(gain, guess, kq=KQ):
    """A root of s^2 + e^-s (gain s + kq), by Newton's method."""
    s = guess
    for _ in range(100):
        decay = cmath.exp(-s)
        value = s * s + decay * (gain * s + kq)
        slope = 2 * s + decay * (gain - gain * s - kq)
        s -= value / slope
    return s


def growth(s):
    """Factor by which an oscillation with the root s grows per cycle."""
    return math.exp(2 * math.pi * s.real / abs(s.imag))


def numbers():
    """(name, computed, cited, relative tolerance)"""
    xs, qs = trajectory(100.0, 0.0)
    yield "greatest queue from (100, 0)", max(qs), 193.25, 2e-4
    yield "least excess from (100, 0)", min(xs), -139.99, 2e-4
    empty = max(i for i, q in enumerate(qs) if q > 0.0) / STEPS
    yield "queue empty for good, in RTTs", empty, 5.59, 2e-3
    settled = max(i for i, x in enumerate(xs) if abs(x) >= 2.0) / STEPS
    yield "|x| < 2 from, in RTTs", settled, 28.6, 2e-3
    starts = [(float(x), float(q)) for x in range(0, 101, 20) for q in range(0, 101, 20) if x or q]
    most = max(max(trajectory(x, q, rtts=8)[1]) for x, q in starts)
    yield "greatest queue of all starts", most, 201.54, 2e-4
    xs, qs = trajectory(100.0, 0.0, past="zero", rtts=20)
    yield "greatest queue from (100, 0), nothing before", max(qs), 227.31, 2e-4
    yield "least excess from (100, 0), nothing before", min(xs), -164.66, 2e-4
    yield "kq on the boundary, rates", boundary(KI), 0.14998, 1e-4
    yield "kq on the boundary, windows", boundary(KI + 1), 0.5059, 1e-4
    yield "growth per cycle, rates", growth(root(KI, 0.1 + 0.5j)), 2.54, 2e-3
    yield "growth per cycle, windows", growth(root(KI + 1, -0.1 + 1.3j)), 0.62, 5e-3
    yield "decay per RTT of an empty queue", root(KI, -0.2 + 0j, kq=0.0).real, -0.1924, 1e-3
