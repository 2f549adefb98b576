"""Writes special_functions.csv: reference values of the special functions, 30 digits.

Run: python special_functions.py > special_functions.csv      (needs mpmath; made with mpmath 1.3)

Inputs are the exact binary values of the decimal literals shown (float()), as the tests parse them.
The incomplete beta function is summed from positive series at 60 digits, not taken from mpmath's own,
which loses digits or time at parameters near 1e8.
"""

import mpmath as mp

mp.mp.dps = 60


def out(name, args, value):
    print(",".join([name, *(repr(a) for a in args), mp.nstr(value, 30, min_fixed=0, max_fixed=0)]))


def pad(args):
    return list(args) + [0.0] * (3 - len(args))


def row(name, args, f):
    exact = [mp.mpf(float(a)) for a in args]
    out(name, pad([float(a) for a in args]), f(*exact))


def tail(x):
    return mp.erfc(x / mp.sqrt(2)) / 2


def mills(x):
    return tail(x) / mp.npdf(x)


def log_beta_i(a, b, x):
    """x^a (1-x)^b / (a B(a,b)) * sum_k (a+b)_k / (a+1)_k x^k: positive terms.

    A small integer b has the finite sum x^a sum_{j<b} (a)_j/j! (1-x)^j, positive as well.
    """
    if b < 20 and b == int(b):
        return a * mp.log(x) + mp.log(mp.fsum(mp.rf(a, j) / mp.factorial(j) * (1 - x) ** j for j in range(int(b))))
    term, total, k = mp.mpf(1), mp.mpf(1), mp.mpf(0)
    while term > total * mp.mpf(10) ** -70 or (a + b + k) * x > a + 1 + k:
        term *= (a + b + k) / (a + 1 + k) * x
        total += term
        k += 1
    log_b = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return a * mp.log(x) + b * mp.log1p(-x) - mp.log(a) - log_b + mp.log(total)


def theta(e, m):
    return tail(e / m - m / 2) - mp.exp(e) * tail(e / m + m / 2)


for x in [-26, -5.5, -1, -0.25, 0, 1e-9, 0.3, 1, 2.5, 5, 9.99, 10, 10.01, 26, 100, 1e8]:
    row("erfcx", [x], lambda x: mp.exp(x * x) * mp.erfc(x))
for x in [-8, -1.5, -0.3, 0, 0.5, 1, 1.01, 3, 7.3, 20, 37.5]:
    row("normal_tail", [x], tail)
for x in [-30, -8, -1.5, -0.3, 0, 0.5, 1.01, 7.3, 40, 1e3, 1e6]:
    row("log_normal_tail", [x], lambda x: mp.log(tail(x)))
for x in [0, 0.5, 3, 4.99, 5.01, 8, 14, 19.9, 20.1, 100, 1e5]:
    row("mills_slope", [x], lambda x: 1 - x * mills(x))
for x, w in [(0, 1e-10), (0, 0.04), (0, 3), (2, 1e-6), (12, 0.049), (12, 0.3), (25, 1e-3), (1e4, 5), (300, 0.1), (3, 40)]:
    with mp.workdps(120):
        row("mills_difference", [x, w], lambda x, w: mills(x) - mills(x + w))
for e, m in [
    (0, 1e-12), (0, 1e-3), (0, 1), (0, 8), (1e-6, 1e-3), (1e-3, 1e-6), (0.01, 0.1), (0.1, 0.04), (0.5, 1), (0.5, 12), (1, 0.5),
    (1, 0.05), (3, 0.2), (3, 0.0475), (8, 4), (7.99, 4), (8.01, 4), (10, 0.5), (10, 3), (50, 9), (50, 11), (100, 5),
    (700, 20), (800, 39), (800, 40), (800, 41), (1000, 30), (2000, 50), (1e4, 141), (1e4, 142), (1e4, 100), (1e4, 1), (4, 0.01), (0.001, 0.002),
]:
    with mp.workdps(60 + int(mp.mpf(float(e)) ** 2 / mp.mpf(float(m)) ** 2) if e * e / (m * m) < 3000 else 3000):
        row("log_theta", [e, m], lambda e, m: mp.log(theta(e, m)))
        row("one_minus_theta", [e, m], lambda e, m: 1 - theta(e, m))

for a, b, x in [
    (0.5, 0.5, 0.3), (1, 1, 0.25), (1, 5, 0.01), (5, 1, 0.3), (2, 3, 0.999), (5, 1e6, 1e-6), (5, 1e6, 1e-5), (1000, 1000, 0.45), (1000, 1000, 0.5), (1000, 1000, 0.3),
    (1e5, 1e5, 0.499), (1e5, 1e5, 0.5), (1e5, 1e5, 0.48), (1e6, 5, 0.99999), (1e6, 5, 0.9999), (0.1, 50, 0.001), (50, 0.1, 0.9), (50, 0.1, 0.99), (1e4, 0.5, 0.9999),
    (1e4, 0.5, 0.99), (1e8, 1e8, 0.4999), (1e8, 1e8, 0.49998), (101, 99999900, 5e-7), (151, 9850, 0.01), (20, 1e8, 1e-8), (1e3, 1e8, 5e-6), (12.5, 7.25, 0.01), (300, 4, 0.2),
    (1e8, 3, 0.9999999), (3, 1e8, 1e-12), (1e4, 1e8, 9.5e-5),
]:
    row("log_beta_i", [a, b, x], log_beta_i)
