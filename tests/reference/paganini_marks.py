"""The ECN form of Paganini et al. with random marks: Eqs. (33) to (36), section V-B.

Sources are windows and links are rates; a source reads the last 31 marks every 10 ms. Windows of 74 packets and more per
10 ms (stage 1) replace all 31 marks between two readings, so the readings are independent. The price of the marks comes
a round trip late. Cited by papers/paganini/fig5.toml and ramp.toml.
"""

import math
import random

C0, PHI, MARKS, BETA, K, ALPHA, INTERVAL = 237500.0, 1e6, 31, 1.18, 50.0, 0.37, 0.01


def expected_price(price):
    """Mean of the estimate from 31 marks; of 31 marks 30.5 count, since 31 would be an infinite price."""
    p = 1 - PHI**-price
    total = 0.0
    for marked in range(MARKS + 1):
        share = min(marked, MARKS - 0.5) / MARKS
        total += math.comb(MARKS, marked) * p**marked * (1 - p) ** (MARKS - marked) * -math.log(1 - share) / math.log(PHI)
    return total


def biased(flows):
    """The price at which the mean estimate is that of the equilibrium, K N / c_0."""
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if expected_price(middle) < K * flows / C0 else (low, middle)
    return low


def run(flows, d, until, marked=True, seed=1):
    """(time at which the link carries c_0, mean price of the last 20 s) of flows that start with one packet."""
    rng = random.Random(seed)
    delay = round(d / INTERVAL)
    windows, xi = [1.0] * flows, [0.0] * flows
    price, prices, loads, full, total, count = 0.0, [0.0] * delay, [0.0] * delay, None, 0.0, 0
    for step in range(int(until / INTERVAL)):
        now = step * INTERVAL
        late = prices[-delay]
        p = 1 - PHI**-late
        for i in range(flows):
            read = late
            if marked:
                found = sum(rng.random() < p for _ in range(MARKS)) if p > 0 else 0
                read = -math.log(1 - min(found, MARKS - 0.5) / MARKS) / math.log(PHI)
            xi[i] += BETA * (K / windows[i] - read / d) * INTERVAL
            wanted = math.exp(xi[i] - ALPHA * read / d)
            room = max(windows[i] / d * INTERVAL, 1.0)  # one packet per acknowledgement
            windows[i] += min(max(wanted - windows[i], -room), room)
        load = sum(windows) / d
        if full is None and load >= C0:
            full = now
        price = max(price + (load - C0) / C0 * INTERVAL, 0.0)
        prices.append(price)
        if now >= until - 20:
            total, count = total + price, count + 1
    return full, total / count


def numbers():
    """(name, computed, cited, relative tolerance)"""
    for flows, cited in ((32, 6.62), (64, 13.23), (128, 26.42), (256, 52.58), (512, 103.56)):
        yield f"price with {flows} flows and the bias of 31 marks, ms", 1e3 * biased(flows), cited, 5e-4
    full, price = run(32, 0.04, 40)
    yield "c_0 is reached, s", full, 4.98, 1e-2
    yield "price with 32 flows, simulated with marks, ms", 1e3 * price, 6.63, 5e-3
    yield "price with 32 flows, without noise, ms", 1e3 * run(32, 0.04, 40, marked=False)[1], 6.737, 1e-3
