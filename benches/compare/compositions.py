"""Compositions by the law of the privacy loss: other people's libraries beside ndp, values and times.

Run: pip install dp-accounting prv-accountant autodp
     cargo run --release -p ndp-benches --example compositions | python benches/compare/compositions.py
Each line of the input is a composition and both ends of ndp: parts `name parameters times`, then delta, lower, upper and seconds. dp-accounting
connects the dots on its grid (a value from above, without a bound on its rounding; three steps, the finest that it does in time); prv-accountant
gives an interval with its own estimate of errors, for Gaussian, sampled Gaussian and Laplace parts; autodp adds up Rényi losses, from above
(its Fourier accountant answers with negative numbers beside numpy 2). The last column says who is outside: a peer's value below ndp's lower end would be a value below the truth, or a false lower end; a value above the upper end is loose.
"""

import contextlib
import io
import sys
import time

import dp_accounting
from dp_accounting.pld import privacy_loss_distribution as pld

try:
    import prv_accountant
except ImportError:  # pragma: no cover
    prv_accountant = None

try:
    from autodp import mechanism_zoo, transformer_zoo
except ImportError:  # pragma: no cover
    mechanism_zoo = None

MOST = 2_000_000


def one(name, parameters, step):
    """The law of one release, larger losses in either direction."""
    if name == "gaussian":
        return pld.from_gaussian_mechanism(parameters[0], value_discretization_interval=step)
    if name == "sampled":
        rate, sigma = parameters
        return pld.from_gaussian_mechanism(sigma, sampling_prob=rate, value_discretization_interval=step)
    if name == "laplace":
        return pld.from_laplace_mechanism(parameters[0], value_discretization_interval=step)
    if name == "response":
        # Two labels: the probability of a random answer.
        return pld.from_randomized_response(parameters[0], 2, value_discretization_interval=step)
    raise ValueError(name)


def by_dp_accounting(parts, delta, step):
    total = None
    for name, parameters, times in parts:
        law = one(name, parameters, step).self_compose(times)
        total = law if total is None else total.compose(law)
    return total.get_epsilon_for_delta(delta)


def by_prv(parts, delta):
    """Its lower and upper end, or nothing where it has no such part."""
    if prv_accountant is None or any(name == "response" for name, _, _ in parts):
        return None
    laws = {
        "gaussian": lambda p: prv_accountant.GaussianMechanism(p[0]),
        "sampled": lambda p: prv_accountant.PoissonSubsampledGaussianMechanism(sampling_probability=p[0], noise_multiplier=p[1]),
        "laplace": lambda p: prv_accountant.LaplaceMechanism(mu=1 / p[0]),
    }
    prvs = [laws[name](parameters) for name, parameters, _ in parts]
    counts = [times for _, _, times in parts]
    accountant = prv_accountant.PRVAccountant(
        prvs=prvs, max_self_compositions=counts, eps_error=1e-2, delta_error=delta / 1000
    )
    low, _, high = accountant.compute_epsilon(delta=delta, num_self_compositions=counts)
    return low, high


def by_autodp(parts, delta):
    """Rényi losses added up, or nothing where it is not installed."""
    if mechanism_zoo is None:
        return None
    sampled = transformer_zoo.AmplificationBySampling(PoissonSampling=True)
    mechanisms = {
        "gaussian": lambda p: mechanism_zoo.GaussianMechanism(p[0]),
        "sampled": lambda p: sampled(mechanism_zoo.GaussianMechanism(p[1]), p[0], improved_bound_flag=True),
        "laplace": lambda p: mechanism_zoo.LaplaceMechanism(b=p[0]),
        # The probability of the true one of two labels.
        "response": lambda p: mechanism_zoo.RandresponseMechanism(p=1 - p[0] / 2),
    }
    with contextlib.redirect_stdout(io.StringIO()):
        made = [mechanisms[name](parameters) for name, parameters, _ in parts]
        return float(transformer_zoo.Composition()(made, [times for _, _, times in parts]).get_approxDP(delta))


def timed(work):
    start = time.perf_counter()
    try:
        found = work()
    except Exception as error:  # a peer that refuses or fails keeps its line
        return type(error).__name__, time.perf_counter() - start
    return found, time.perf_counter() - start


def parse(line):
    parts, delta, lower, upper, seconds = line.rstrip("\n").split(";")
    read = []
    for part in parts.split("+"):
        name, *numbers, times = part.split()
        read.append((name, [float(x) for x in numbers], int(times)))
    return read, float(delta), float(lower), float(upper), float(seconds)


def main():
    print(f"dp-accounting {getattr(dp_accounting, '__version__', '0.6.0')}, prv-accountant {'there' if prv_accountant else 'missing'}")
    below = loose = compared = 0
    for line in sys.stdin:
        parts, delta, lower, upper, seconds = parse(line)
        what = " + ".join(f"{name}({', '.join(f'{x:g}' for x in p)}) x {times}" for name, p, times in parts)
        print(f"{what}, delta {delta:g}: ndp [{lower:.7f}, {upper:.7f}] in {seconds * 1e3:.0f} ms")
        step = 1e-3 if upper > 20 else 1e-4
        value, taken = timed(lambda: by_dp_accounting(parts, delta, step))
        verdict = ""
        if isinstance(value, float):
            compared += 1
            if value < lower:
                below, verdict = below + 1, "BELOW the lower end"
            elif value > upper + 1e-4:
                loose, verdict = loose + 1, f"{value - upper:.1e} above the upper end"
            value = f"{value:.7f}"
        print(f"    dp-accounting, step {step:g}: {value} in {taken * 1e3:.0f} ms {verdict}")
        value, taken = timed(lambda: by_prv(parts, delta))
        if isinstance(value, tuple):
            compared += 1
            # Below 0 the question has no answer; ndp says 0.
            value = max(value[0], 0.0), max(value[1], 0.0)
            verdict = "" if value[0] <= upper and lower <= value[1] else "DISJOINT from ndp's interval"
            below += bool(verdict)
            value = f"[{value[0]:.7f}, {value[1]:.7f}]"
        print(f"    prv-accountant: {value} in {taken * 1e3:.0f} ms {verdict}")
        value, taken = timed(lambda: by_autodp(parts, delta))
        verdict = ""
        if isinstance(value, float):
            compared += 1
            if value < lower:
                below, verdict = below + 1, "BELOW the lower end"
            else:
                verdict = f"{value - upper:.1e} above the upper end"
            value = f"{value:.7f}"
        print(f"    autodp: {value} in {taken * 1e3:.0f} ms {verdict}")
    print(f"{compared} values compared: {below} contradict ndp, {loose} are more than 1e-4 above its upper end")
    return below


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
