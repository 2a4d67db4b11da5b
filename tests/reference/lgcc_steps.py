"""Difference equations of LGCC: flows of LGC on one link, Eqs. (5) and (6), chains of loops, Eqs. (14) to (18), and the
first rounds of a flow of LGC, Eq. (5) with the step of section IX-A.

The price is updated first, from the rates of the step before; rates then use the new price and their neighbours' rates of
the step before. Cited by papers/lgcc/fig4.toml, fig8, fig9, fig10 and lgc-start.
"""

import math

PARTS = {"start": (0, 199), "cut": (199, 399), "return": (399, 599)}


def competition(x0=0.01, steps=300, first_leaves=150):
    """Rates of five flows and the price at each step; one joins every 20 steps, from step 150 on one leaves every 20 steps."""
    rates, price, record = {}, 0.0, []
    for step in range(steps):
        if step % 20 == 0 and step < 100:
            rates[step // 20] = x0
        if step >= first_leaves and (step - first_leaves) % 20 == 0 and len(rates) > 1:
            del rates[min(rates)]
        record.append((dict(rates), price))
        price = min(max(price + sum(rates.values()) - 1, 0.0), 1.0)
        rates = {flow: max(x + x * (1 - x - price), 0.0) for flow, x in rates.items()}
    return record


def chain(flows, gamma, beta, dual=False, log=False, per_loop=False, loops=5, steps=600):
    """Rates over their targets for each loop and step; the capacity of the last loop is .5 from step 200 to 399, otherwise 1.

    `log` is the controller of logarithmic utility, x' = gamma x (1/x - q) or x = 1/q, from its equilibrium; `per_loop` scales
    its steps with the equilibrium of each loop.
    """
    target = [flows ** -(loops - i) for i in range(loops)]
    x, p = ([*target], [1 / t for t in target]) if log else ([0.01] * loops, [0.0] * loops)
    capacity = lambda step: 0.5 if 200 <= step < 400 else 1.0
    shares = []
    for step in range(steps):
        shares.append([a / (t * capacity(step)) for a, t in zip(x, target)])
        following = x[1:] + [capacity(step + 1)]
        for i in range(loops):
            k = following[i]
            if log:
                scale = 1 / (flows * target[i]) ** 2 if per_loop else 1 / k
                p[i] = max(p[i] + beta * scale * (flows * x[i] - k), 1e-9)
            else:
                p[i] = min(max(p[i] + beta / k * (flows * x[i] - k), 0.0), 0.999)
        if log:
            gains = [gamma * t if per_loop else gamma for t in target]
            x = [1 / q for q in p] if dual else [max(a + g * (1 - q * a), 1e-9) for a, g, q in zip(x, gains, p)]
        elif dual:
            x = [k * (1 - q) for k, q in zip(following, p)]
        else:
            x = [max(a + gamma * a * (math.log(1 - q) - math.log(a / k)), 1e-9) for a, k, q in zip(x, following, p)]
    return shares


def settled(shares, part):
    """For each loop the steps until it stays within 5 %."""
    first, last = PARTS[part]
    return [max((n for n in range(first, last + 1) if abs(shares[n][i] - 1) > 0.05), default=first) - first for i in range(len(shares[0]))]


def first_rounds(share, start=0.02, far=0.3, near=0.05, g1=0.015, g2=0.05):
    """Number of updates by Eq. (5) without marks until a rate is this share of the capacity."""
    x, updates = start, 0
    while x < share:
        distance = 1 - x
        gamma = near if distance <= g1 else far if distance >= g2 else near + (far - near) * (distance - g1) / (g2 - g1)
        x, updates = x + x * gamma * (1 - x), updates + 1
    return updates


def numbers():
    """(name, computed, cited, relative tolerance)"""
    record = competition()
    for step, rates in ((19, (1.0,)), (39, (0.5, 0.5)), (59, (0.335, 0.335, 0.329)), (79, (0.257, 0.257, 0.257, 0.229)), (169, (0.2537,))):
        for found, cited in zip(record[step][0].values(), rates):
            yield f"Fig. 4: a rate at step {step}", found, cited, 2e-3
    for step, cited in ((40, 0.5007), (60, 0.6664), (80, 0.7494), (170, 0.7516)):
        yield f"Fig. 4: marking probability at step {step}", record[step][1], cited, 2e-4
    sums = [sum(rates.values()) for rates, _ in record]
    yield "Fig. 4: greatest sum of rates after departures", max(sums[150:]), 1.185, 1e-4
    yield "Fig. 4: the step at which it is reached", sums.index(max(sums[150:])), 193, 0
    for name, arguments, parts in (
        ("Fig. 8, primal-dual", (1, 0.5, 0.1716), ((22, 19, 16, 12, 8), (22, 19, 16, 14, 10), (15, 12, 10, 7, 4))),
        ("Fig. 8, primal-dual, tuned", (1, 0.747, 0.003), ((15, 13, 10, 8, 5), (9, 6, 4, 2, 0), (9, 7, 6, 4, 2))),
        ("Fig. 8, dual", (1, 0, 0.005, True), ((4, 3, 2, 1, 0), (4, 3, 2, 1, 0), (4, 3, 2, 1, 0))),
        ("Fig. 9, primal-dual", (2, 0.5, 0.0858), ((37, 35, 28, 22, 21), (30, 25, 16, 14, 10), (30, 19, 18, 16, 11))),
        ("Fig. 9, primal-dual, tuned", (2, 0.527, 0.0667), ((43, 28, 29, 28, 25), (21, 20, 18, 16, 11), (23, 22, 20, 17, 11))),
        ("Fig. 9, dual", (2, 0, 0.25, True), ((9, 9, 9, 4, 5), (11, 10, 6, 6, 4), (10, 9, 6, 4, 3))),
        ("Fig. 9, dual, tuned", (2, 0, 0.496, True), ((8, 5, 4, 3, 1), (8, 6, 3, 2, 1), (8, 5, 4, 3, 1))),
        ("Fig. 10, primal-dual", (2, 0.0325, 2.21, False, True), ((), (49, 53, 32, 43, 36), (98, 90, 97, 91, 51))),
        ("Fig. 10, dual", (2, 0, 4.01, True, True), ((), (35, 10, 11, 6, 2), (42, 20, 9, 3, 0))),
        ("Fig. 10, primal-dual, per loop", (2, 0.734, 3.04, False, True, True), ((), (16, 13, 12, 9, 4), (14, 11, 8, 6, 3))),
        ("Fig. 10, dual, per loop", (2, 0, 2.77, True, True, True), ((), (15, 12, 9, 6, 3), (7, 5, 4, 3, 1))),
    ):
        shares = chain(*arguments)
        for part, cited in zip(PARTS, parts):
            for loop, (found, steps) in enumerate(zip(settled(shares, part), cited)):
                yield f"{name}, {part}: steps of loop {loop + 1}", found, steps, 0
    for share, cited in ((0.5, 15), (0.9, 22)):
        yield f"LGC: updates until {share} of the capacity", first_rounds(share), cited, 0
