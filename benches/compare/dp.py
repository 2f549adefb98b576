"""The work of benches/dp.rs in Python, for comparison.

Run: pip install dp-accounting scipy && python dp.py
Each line: the best of five runs in microseconds, and the value, to be compared with the Rust one.
"""

import math
import sys
import timeit

import dp_accounting
import numpy
import scipy
from dp_accounting import gaussian_mechanism
from dp_accounting.pld import common, privacy_loss_distribution
from dp_accounting.rdp import rdp_privacy_accountant
from scipy.stats import binom


def epsilon(mu):
    return gaussian_mechanism.get_epsilon_gaussian(1 / mu, 1e-6)


def mu():
    return 1 / gaussian_mechanism.get_sigma_gaussian(1.0, 1e-6)


def accountant_rdp():
    accountant = rdp_privacy_accountant.RdpAccountant()
    accountant.compose(dp_accounting.GaussianDpEvent(4.0), 30)
    return accountant.get_epsilon(1e-5)


def kov_optimal(count):
    """The composition theorem's extremal pair, through dp-accounting's privacy loss distributions (a discretisation)."""
    single = privacy_loss_distribution.from_privacy_parameters(
        common.DifferentialPrivacyParameters(0.01, 1e-10), value_discretization_interval=1e-4
    )
    return single.self_compose(count).get_epsilon_for_delta(1e-5)


def exact_blanket(m, epsilon=0.1, local=1.0, labels=4):
    """E over B ~ Bin(m-1, gamma), s ~ Bin(B+1, 2/L), h ~ Bin(s, 1/2) of the positive part, vectorised."""
    gamma = labels / (math.expm1(local) + labels)

    def window(n, p):
        center, radius = n * p, 9 * math.sqrt(n * p * (1 - p)) + 20
        return numpy.arange(max(0, int(center - radius)), min(n, int(center + radius)) + 1)

    total, weight = 0.0, math.exp(epsilon)
    for b in window(m - 1, gamma):
        size = b + 1
        s = window(size, 2 / labels)
        slope = (1 - gamma) * labels / size
        constant = gamma * (1 - weight)
        # constant + slope (h - weight (s - h)) > 0 from h = first on
        first = numpy.maximum(numpy.ceil((weight * s - constant / slope) / (1 + weight)), 0)
        tail = binom.sf(first - 1, s, 0.5)
        mean = 0.5 * s * binom.sf(first - 2, numpy.maximum(s - 1, 0), 0.5)
        value = (constant - slope * weight * s) * tail + slope * (1 + weight) * mean
        total += binom.pmf(b, m - 1, gamma) * numpy.dot(binom.pmf(s, size, 2 / labels), value)
    return total


def n_exact(trials):
    return int(binom.isf(1e-6, trials, 0.01))


def report(name, function, *args):
    timer = timeit.Timer(lambda: function(*args))
    loops, _ = timer.autorange()
    best = min(timer.repeat(5, loops)) / loops
    print(f"{name:32} {best * 1e6:14.2f} us   {function(*args)}")


versions = f"python {sys.version.split()[0]}, numpy {numpy.__version__}, scipy {scipy.__version__}, dp-accounting 0.6.0"
print(versions)
for m in (0.03, 1.0, 8.0):
    report(f"gdp_conversion/epsilon/{m}", epsilon, m)
report("gdp_conversion/mu/1", mu)
report("gdp_conversion/accountant_rdp/30", accountant_rdp)
for k in (100, 10_000):
    report(f"kov_optimal/{k}", kov_optimal, k)
report("exact_blanket/1000", exact_blanket, 1_000)
report("exact_blanket/10000", exact_blanket, 10_000)
for t in (10_000, 100_000_000):
    report(f"n_exact/{t}", n_exact, t)
