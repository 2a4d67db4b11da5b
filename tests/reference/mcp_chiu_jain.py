"""The model of Chiu and Jain as the MCP report uses it: Eqs. (2) to (4), (12) and Fig. 11.

One user at 80 kbit/s joins n - 1 users that share 100 Mbit/s. In each step all users add 80 kbit/s, or halve if the load of
the step before exceeded the target. Peaks are the steps after which all users halve; the start is peak 0. Cited by
papers/mcp/fig11.toml and eq12.toml.
"""

TARGET, STEP = 100e6, 80e3  # bit/s


def peaks(users, count=8):
    """Fairness at the first peaks, and the mean number of steps from one peak to the next."""
    loads = [STEP] + [TARGET / (users - 1)] * (users - 1)
    fairness, at, steps = [], [], 0
    while len(fairness) < count:
        exceeded = sum(loads) > TARGET
        if exceeded:
            fairness.append(min(loads) / max(loads))
            at.append(steps)
        loads = [load / 2 if exceeded else load + STEP for load in loads]
        steps += 1
    return fairness, (at[-1] - at[0]) / (count - 1)


def bound(cycles):
    """The least fairness after a number of cycles, Eq. (12) from zero."""
    fairness = 0.0
    for k in range(1, cycles + 1):
        fairness += (1 - fairness) / (2 + 0.5 ** (k - 1))
    return fairness


def numbers():
    """(name, computed, cited, relative tolerance)"""
    cited = {
        2: ((0.0008, 0.3342, 0.6007, 0.7782, 0.8826, 0.9395, 0.9693, 0.9845), 314.0),
        10: ((0.0072, 0.4794, 0.7332, 0.8649, 0.9320, 0.9659, 0.9829, 0.9915), 64.0),
        100: ((0.0792, 0.5634, 0.7704, 0.8910, 0.9426, 0.9727, 0.9857, 0.9932), 7.57),
    }
    for users, (values, steps) in cited.items():
        found, mean = peaks(users)
        for k, (fairness, value) in enumerate(zip(found, values)):
            yield f"fairness of {users} users at peak {k}", fairness, value, max(2e-4, 5e-5 / value)
        yield f"steps from peak to peak, {users} users", mean, steps, 1e-3
    for k, value in enumerate((0.333333, 0.6, 0.777778, 0.882353, 0.939394, 0.969231, 0.984496), 1):
        yield f"the bound (12) after {k} cycles", bound(k), value, 2e-6
