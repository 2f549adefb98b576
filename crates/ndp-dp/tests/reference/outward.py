"""Makes outward.csv: what the accountants of ndp-dp must not fall below, at extreme parameters.

Every row is `function,side,arguments...,bound`. Arguments are floats or integers in shortest decimal text. The truth is
evaluated with mpmath at 700 digits from the definition; the bound is the smallest float that is no smaller when `side` is
`up` (the value must be at least it), the largest that is no larger when it is `down` (at most it). It takes five minutes.

    python3 outward.py > outward.csv

The rows `log_pmf`, `log_tail` and `log_cdf` are kept by ndp-numeric, in tests/reference/binomial_outward.csv.
"""

import math
import random
import sys

from mpmath import mp, mpf, binomial, erfc, exp, expm1, log, log1p, pi, sqrt, tanh

mp.dps = 700
random.seed(12)
INF = float("inf")
NEAR_ONE = 1 + 2.0**-52
ORDERS = [NEAR_ONE, 1 + 1e-9, 1.1, 2.0, 3.0, 17.5, 64.0, 1e4, 1e9, 1e300]
TINY = 5e-324


def row(name, side, args, truth):
    nearest = float(truth)
    if side == "up" and mpf(nearest) < truth:
        nearest = math.nextafter(nearest, math.inf)
    if side == "down" and mpf(nearest) > truth:
        nearest = math.nextafter(nearest, -math.inf)
    print(",".join([name, side, *map(repr, args), repr(nearest)]))


def tail(x):
    return erfc(x / sqrt(mpf(2))) / 2


def fractional(q, mu, alpha):
    """ln E (1 + t)^a, t = q(e^(mu z - mu^2/2) - 1), z normal: the trapezoidal rule, exponentially accurate, to 50 digits at least."""
    digits, mp.dps = mp.dps, 90
    q, mu, a = mpf(q), mpf(mu), mpf(alpha)
    step = mpf(1) / 64
    first, last = -25 * 64, int(64 * (25 + mu * max(a, 2)))
    total = mpf(0)
    for k in range(first, last + 1):
        z = k * step
        t = q * expm1(mu * (z - mu / 2))
        total += exp(-z * z / 2) * ((1 + t) ** a - 1 - a * t)
    value = log1p(total * step / sqrt(2 * pi))
    mp.dps = digits
    return value


def theta(e, m):
    e, m = mpf(e), mpf(m)
    a, b = e / m - m / 2, e / m + m / 2
    if a > mpf(10) ** 6:
        # Both tails by their leading terms, far beyond the digits asked for.
        mills = lambda x: sum((-1) ** k * mp.fac2(2 * k - 1) / x ** (2 * k + 1) for k in range(20))
        return exp(-a * a / 2) / sqrt(2 * pi) * (mills(a) - mills(b))
    return tail(a) - exp(e) * tail(b)


def log_uniform(low, high):
    return float(mpf(10) ** mpf(random.uniform(low, high)))


# The Gaussian profile.
for e, m in [(1.0, 0.5), (0.0, 2.0), (0.0, 1e-300), (1e4, 1.0), (5e11, 1e6), (5.00001e11, 1e6), (1e-300, 1e-10), (50.0, 12.0),
             (0.0, 30.0), (700.0, 30.0), (1e-17, 1e-8), (3.0, 0.05), (1e-5, 1e-6), (800.0, 40.0)]:
    row("gaussian_delta", "up", [e, m], theta(e, m))
    t = theta(e, m)
    row("gaussian_log_delta", "up", [e, m], log(t))
for _ in range(60):
    m = log_uniform(-4, 3)
    e = max(0.0, float(m * (mpf(random.uniform(-8, 30)) + mpf(m) / 2)))
    row("gaussian_delta", "up", [e, m], theta(e, m))
    row("gaussian_log_delta", "up", [e, m], log(theta(e, m)))
    row("one_minus_theta", "down", [e, m], 1 - theta(e, m))
for mu, alpha in [(0.0, 0.3), (1e-9, 0.3), (1.0, 1e-12), (1.0, 0.5), (4.0, 0.01), (1.0, 1 - 2.0**-53), (0.5, 1e-300)]:
    low, high = mpf(-40), mpf(10)
    for _ in range(300):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(-middle) < mpf(alpha) else (low, middle)
    q = low
    row("trade_off", "down", [alpha, mu], tail(q + mpf(mu)))
for mu in [0.3, 1e-200, 1e200, 1e-160, 7.0]:
    for count in [1, 3, 2**53 + 1, 2**64 - 1]:
        row("gdp_repeat", "up", [mu, count], sqrt(mpf(count)) * mpf(mu))
    for alpha in ORDERS:
        if mpf(alpha) * mpf(mu) ** 2 < mpf(10) ** 300:
            row("gdp_rdp", "up", [mu, alpha], mpf(alpha) * mpf(mu) ** 2 / 2)
for d, s in [(1.0, 3.0), (1e-300, 1e10), (0.1, 0.3), (7.0, 1e-300), (1e-160, 1.0)]:
    row("gaussian_mu", "up", [d, s], mpf(d) / mpf(s))
    row("unit_mu", "up", [0.3, d, s], mpf(d) / mpf(s) * sqrt(mpf(0.3)))
    if mpf(d) / mpf(s) < mpf(10) ** 150:
        row("unit_rdp", "up", [0.3, 3.7, d, s], mpf(3.7) * (mpf(d) / mpf(s)) ** 2 / 2 * mpf(0.3))

# The Laplace mechanism and randomized response.
for pure in [1e-300, 1e-160, 1e-8, 0.3, 1.0, 30.0, 1e4]:
    for alpha in ORDERS:
        a, p = mpf(alpha), mpf(pure)
        if a * p > 10**7:
            continue
        value = log(a / (2 * a - 1) * exp((a - 1) * p) + (a - 1) / (2 * a - 1) * exp(-a * p)) / (a - 1)
        row("laplace_rdp", "up", [pure, alpha], value)
    for share in [0.0, 0.5, 1 - 2.0**-50]:
        row("laplace_delta", "up", [pure, share * pure], -expm1((mpf(share * pure) - mpf(pure)) / 2))
for labels in [2, 3, 1000, 2**32 - 1]:
    for gamma in [1.0, 1 - 2.0**-53, 1 - 2.0**-40, 0.5, 0.1, 1e-4, 1e-300, TINY]:
        l, g = mpf(labels), mpf(gamma)
        local = log1p(l * (1 - g) / g)
        row("rr_local_epsilon", "up", [labels, gamma], local)
        for alpha in [NEAR_ONE, 1.5, 2.0, 64.0, 1e9]:
            a = mpf(alpha)
            if local == 0:
                continue
            p, q = 1 - g + g / l, g / l
            value = log(p**a * q ** (1 - a) + q**a * p ** (1 - a) + (l - 2) * q) / (a - 1)
            row("rr_rdp", "up", [labels, gamma, alpha], value)
        row("rr_delta", "up", [labels, gamma, 0.0], 1 - g)

# Subsampling.
for q in [1e-300, 1e-9, 0.01, 1 / 3, 0.9, 1 - 2.0**-53, 1.0]:
    for e, d in [(1e-300, 0.1), (1e-12, 1e-9), (0.1, TINY), (1.0, 0.3), (29.9, 0.0), (30.1, 1e-5), (800.0, 1.0)]:
        row("poisson_epsilon", "up", [e, d, q], log1p(mpf(q) * expm1(mpf(e))))
        row("poisson_delta", "up", [e, d, q], mpf(q) * mpf(d))
for m, n in [(1, 3), (7, 10), (2**53 - 1, 2**53 + 1), (1, 2**64 - 1), (2**64 - 2, 2**64 - 1)]:
    for e in [1e-12, 0.7, 50.0]:
        row("without_replacement", "up", [e, 0.1, m, n], log1p(mpf(m) / n * expm1(mpf(e))))
    g = -expm1(m * log1p(-mpf(1) / n))
    row("inclusion", "up", [n, m], g)
    for e in [1e-12, 0.7, 50.0]:
        row("with_replacement", "up", [n, m, e], log1p(g * expm1(mpf(e))))
        row("base_epsilon", "down", [n, m, e], log1p(expm1(mpf(e)) / g))
for q in [1e-300, 1e-5, 0.01, 0.5, 1 - 2.0**-53]:
    for mu in [1e-150, 1e-3, 0.3, 5.0]:
        for alpha in [NEAR_ONE, 1.25, 2.0, 3.5, 40.0]:
            def moment(n):
                if n < 2:
                    return mpf(0)
                s = sum(binomial(n, k) * (1 - mpf(q)) ** (n - k) * mpf(q) ** k * expm1(mpf(k * (k - 1)) / 2 * mpf(mu) ** 2)
                        for k in range(2, n + 1))
                return log1p(s)
            low = int(alpha)
            part = mpf(alpha) - low
            value = ((1 - part) * moment(low) + part * moment(low + 1)) / (mpf(alpha) - 1)
            if part and alpha > 1.01 and 1e-9 < q < 0.9 and mu > 1e-9:
                # Elsewhere between whole orders, their convexity is what is claimed.
                value = fractional(q, mu, alpha) / (mpf(alpha) - 1)
            row("poisson_gaussian", "up", [q, mu, alpha], min(value, mpf(alpha) * mpf(mu) ** 2 / 2))

# Conversions.
for rho in [0.0, 1e-300, 1e-3, 1.0, 700.0]:
    for alpha in ORDERS:
        a, r = mpf(alpha), mpf(rho)
        for d in [TINY, 1e-300, 1e-5, 0.5, 1 - 2.0**-53]:
            if mpf(d) ** 2 < -expm1(-r) * (1 - mpf(10) ** -10):
                row("optimal_epsilon", "up", [rho, alpha, d], max(mpf(0), r + log(1 - 1 / a) - (log(mpf(d)) + log(a)) / (a - 1)))
        for e in [0.0, 1.0, 1e4, 1e300]:
            row("mironov_delta", "up", [rho, alpha, e], min(mpf(1), exp((a - 1) * (r - mpf(e)))))
            optimal = exp((a - 1) * (r - mpf(e))) * (1 - 1 / a) ** a / (a - 1) if alpha < 1e5 else None
            if optimal is not None:
                row("optimal_delta", "up", [rho, alpha, e], min(mpf(1), optimal, sqrt(-expm1(-r))))
for rho in [1e-300, 0.1, 50.0]:
    for d in [TINY, 1e-5, 1 - 2.0**-53]:
        row("zcdp_closed", "up", [rho, d], mpf(rho) + 2 * sqrt(-mpf(rho) * log(mpf(d))))

# Mixtures: weights 0.3 and 0.7 as floats, divided by their sum.
w0, w1 = mpf(0.3), mpf(0.7)
for alpha in ORDERS:
    for d0, d1 in [(1.0, 0.0), (1e-300, 0.0), (700.0, 3.0), (0.25, 0.125)]:
        x = mpf(alpha) - 1
        if x * d0 > 10**6:
            value = mpf(d0) + log(w0 / (w0 + w1)) / x
        else:
            value = log1p((w0 * expm1(x * mpf(d0)) + w1 * expm1(x * mpf(d1))) / (w0 + w1)) / x
        row("log_mean_exp", "up", [alpha, d0, d1], value)

# Composition of k parts (e, d).
for e, d, k in [(1e-300, 0.0, 3), (0.1, 1e-8, 100), (0.1, TINY, 2**64 - 1), (1e-9, 1e-17, 2**53 + 1), (5.0, 0.3, 2)]:
    E, D = mpf(e), mpf(d)
    row("naive_epsilon", "up", [e, d, k], k * E)
    row("naive_delta", "up", [e, d, k], -expm1(k * log1p(-D)))
    for s in [1e-300, 1e-6, 0.9]:
        row("advanced_epsilon", "up", [e, d, k, s], sqrt(-2 * k * log(mpf(s))) * E + k * E * expm1(E))
        if k * D + mpf(s) < 1:
            row("advanced_delta", "up", [e, d, k, s], k * D + mpf(s))
        drift, squares = k * E * tanh(E / 2), k * E * E
        spread = min(log(mp.e + sqrt(squares) / mpf(s)), -log(mpf(s)))
        row("heterogeneous_epsilon", "up", [e, d, k, s], min(k * E, drift + sqrt(2 * squares * spread)))
        row("heterogeneous_delta", "up", [e, d, k, s], -expm1(log1p(-mpf(s)) + k * log1p(-D)))


def excess(e, k, total):
    e, total = mpf(e), mpf(total)
    q = 1 / (1 + exp(e))
    p = 1 - q
    return sum(binomial(k, l) * p ** (k - l) * q**l * -expm1(total - (k - 2 * l) * e)
               for l in range(k + 1) if (k - 2 * l) * e > total)


for e, d, k in [(0.1, 0.0, 1), (1e-8, 0.0, 1), (1.0, 1e-9, 2), (0.3, 0.0, 7), (3.0, 0.0, 40), (0.01, 1e-12, 300), (0.7, 0.0, 1000)]:
    for share in [0.0, 0.1, 0.5, 0.9, 0.999999, 1 - 2.0**-50]:
        total = float(share * k * e)
        value = 1 - (1 - mpf(d)) ** k * (1 - excess(e, k, total))
        row("optimal_profile", "up", [e, d, k, total], value)
        # The epsilon at this delta, rounded down: at it the delta is above what may be lost.
        if 1e-320 < value < 0.999 and share > 0:
            target = float(value)
            if mpf(target) < 1 - (1 - mpf(d)) ** k * (1 - excess(e, k, 0)) and target > d * k * 1.1:
                low, high = mpf(0), k * mpf(e)
                for _ in range(400):
                    middle = (low + high) / 2
                    if 1 - (1 - mpf(d)) ** k * (1 - excess(e, k, middle)) <= mpf(target):
                        high = middle
                    else:
                        low = middle
                row("optimal_epsilon_of", "up", [e, d, k, target], high)

# Binomial tails.
for k, n, p in [(0, 1, 1e-300), (1, 10, 0.1), (13, 26, 0.4814524947298219), (151, 10000, 0.01), (3, 40, 0.97), (0, 2000, 1e-9),
                (600, 1000, 0.5), (999, 1000, 1 - 2.0**-53), (7, 1000, 1e-3)]:
    P = mpf(p)
    mass = lambda j: binomial(n, j) * P**j * (1 - P) ** (n - j)
    row("log_pmf", "up", [k, n, p], log(mass(k)))
    upper = sum(mass(j) for j in range(k + 1, n + 1))
    row("log_tail", "up", [k, n, p], log(upper))
    row("log_cdf", "up", [k, n, p], log1p(-upper))

# Iteration.
for lip, sigma in [(1.0, 3.0), (1e-160, 0.7), (0.3, 1e-3)]:
    r = 2 * mpf(lip) / mpf(sigma)
    row("step_ratio", "up", [lip, sigma], r)
    for alpha in ORDERS[:-1]:
        row("step_theta", "up", [lip, sigma, alpha], mpf(alpha) * (mpf(alpha) - 1) * r * r / 2)
        row("rdp_after", "up", [lip, sigma, alpha, 7], mpf(alpha) * r * r / 14)
    for count in [1, 2, 1000, 2**64 - 1]:
        for m in [1.0, 1 - 2.0**-53, 0.999, 0.5]:
            M = mpf(m)
            if count > 10**6 and m < 0.9999:
                continue
            w = mpf(count) if m == 1.0 else (1 - M ** (-2 * count)) / (1 - M**-2)
            row("mu_after", "up", [lip, sigma, count, m], r / sqrt(w))
            row("shift_weight", "down", [count, m], w)
for p in [1e-300, 1e-9, 0.25, 0.4, 0.999, 1 - 2.0**-53]:
    P = mpf(p)
    row("inverse_mean", "up", [p], -P * log(P) / (1 - P))
for p in [0.02, 0.25, 0.3, 0.31, 0.7, 0.999]:
    for t in [1e-300, 1e-18, 0.3, 5.0, 63.0, 65.0, 600.0]:
        s, weight, g = mpf(0), mpf(p), 1
        while g < 40000 and weight > mpf(10) ** -80:
            s += weight * expm1(mpf(t) / g)
            weight *= 1 - mpf(p)
            g += 1
        row("log_phi", "up", [p, t], log1p(s))

# Closed shuffling bounds.
for local, m, d in [(0.3, 1000, 1e-5), (1e-9, 2**64 - 1, 0.009), (0.49, 2**53 + 1, TINY)]:
    row("efmrtt", "up", [local, m, d], min(mpf(local), 12 * mpf(local) * sqrt(-log(mpf(d)) / m)))
    row("efmrtt_inverse", "down", [local / 100, m, d] if m < 10**6 else [local * 1e-9, m, d],
        mpf(local / 100 if m < 10**6 else local * 1e-9) / 12 * sqrt(m / -log(mpf(d))))
for local, m, d in [(0.3, 1000, 1e-5), (5.0, 2**53 + 1, 1e-300), (1e-9, 10**6, 0.5)]:
    L = mpf(local)
    spread = 8 * sqrt(exp(L) * log(4 / mpf(d)) / m) + 8 * exp(L) / m
    row("clones_closed", "up", [local, m, d], min(L, log1p(tanh(L / 2) * spread)))


def hoeffding(e, g, b, m):
    a = expm1(mpf(e))
    return min(mpf(1), b * b / (4 * a * g * m) * (1 - g * -expm1(-2 * a * a / b / b)) ** m)


def bennett(e, g, b, c, m):
    a = expm1(mpf(e))
    beta = a * b / c
    r = exp(-(c / b**2) * ((1 + beta) * log1p(beta) - beta))
    return min(mpf(1), b / log1p(beta) * ((1 - g * (1 - r)) ** m - (1 - g) ** m) / (g * m))


for e, local, m in [(0.1, 1.0, 10**4), (0.5, 1.0, 10**5), (1e-3, 0.1, 10**6), (1.0, 5.0, 10**7), (0.2, 20.0, 10**9), (1e-9, 1e-3, 10**6), (0.999999, 1.0, 100),
                    (3.0, 40.0, 10**12)]:
    E, L = exp(mpf(e)), exp(mpf(local))
    g = 1 / L
    row("hoeffding", "up", [e, local, m], hoeffding(e, g, (E + 1) * (L - g), m))
    row("bennett", "up", [e, local, m], bennett(e, g, L * (1 - E / L**2), L * (E**2 + 1) - 2 * E, m))
    for labels in [2, 10]:
        g = labels / (L - 1 + labels)
        row("rr_hoeffding", "up", [e, local, labels, m], hoeffding(e, g, (1 - g) * labels * (E + 1), m))
        c = g * (2 - g) * (E - 1) ** 2 + (1 - g) ** 2 * labels * (E**2 + 1)
        row("rr_bennett", "up", [e, local, labels, m], bennett(e, g, g * (1 - E) + (1 - g) * labels, c, m))
sys.stdout.flush()
