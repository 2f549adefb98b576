"""The work of other people's libraries beside ndp, in one run: what `cargo xtask bench --report` puts into docs/project/measured.md.

Run: pip install ./python numpy scipy networkx dp-accounting opendp prv-accountant && python benches/compare/report.py THREADS
Each line of the output is a JSON object: `work`, `ours` and `theirs` in seconds of wall time (the best of several runs that take turns),
`peer`, `right` (whether the peer's numbers are right, from ndp's enclosures) and `bound` (what bounds our time); or a limit of the machine.
A peer that is not installed, or that fails, leaves a line that says so.
"""

import json
import math
import os
import sys
import time

THREADS = sys.argv[1] if len(sys.argv) > 1 else "1"
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[variable] = THREADS

import networkx as nx  # noqa: E402 (the number of threads is read when a library is loaded)
import numpy as np  # noqa: E402
import scipy.linalg  # noqa: E402
import scipy.sparse.linalg  # noqa: E402
from pinv import ROUNDS, view  # noqa: E402

import ndp  # noqa: E402

DELTA = 1e-5
# Threads that wait for more work of a library keep a core busy for some milliseconds after its call, which the next call would pay for.
PAUSE = 0.1
# The ends of an epsilon by a loss law are no farther apart on the default grid.
WIDTH = 1e-4


def say(**line):
    print(json.dumps(line), flush=True)


def in_turns(ours, theirs, turns=5, seconds=4.0):
    """The best time of both, which take turns so that a load on the machine is a load on both, and their last answers."""
    best, found, start = [math.inf, math.inf], [None, None], time.perf_counter()
    for turn in range(turns):
        for i, work in enumerate((ours, theirs)):
            time.sleep(PAUSE)
            began = time.perf_counter()
            found[i] = work()
            best[i] = min(best[i], time.perf_counter() - began)
        if turn > 0 and time.perf_counter() - start > seconds:
            break
    return best, found


def compare(work, peer, ours, theirs, right, bound, **limits):
    """`right` looks at both answers and says whether the peer's is right."""
    try:
        best, found = in_turns(ours, theirs, **limits)
    except Exception as error:
        say(work=work, peer=peer, failed=f"{type(error).__name__}: {error}"[:200])
        return
    say(work=work, peer=peer, ours=best[0], theirs=best[1], right=right(*found), bound=bound)


def short_of(lower, found):
    """How far a peer's losses are below what is proven."""
    gap = float(np.max(lower - found))
    return "right to 1e-9" if gap <= 1e-9 else f"too small by up to {gap:.2g}"


def gossip_graphs():
    for n in (300, 1000, 2000):
        yield f"Erdős–Rényi, {n:,} nodes of degree 10", nx.fast_gnp_random_graph(n, 10 / n, seed=n)
    data = os.environ.get("NDP_DATA")
    for ego in (107, 348):
        path = os.path.join(data, "facebook", f"{ego}.edges") if data else ""
        if os.path.exists(path):
            graph = nx.read_edgelist(path)
            largest = max(nx.connected_components(graph), key=len)
            yield f"Facebook {ego}", nx.convert_node_labels_to_integers(graph.subgraph(largest), ordering="sorted")


def gossip():
    for name, graph in gossip_graphs():
        observer = sorted(graph, key=lambda v: (graph.degree(v), v))[len(graph) // 2]
        dense, neighbors = ndp.gossip(graph, ROUNDS).matrix().toarray(), list(graph[observer])

        compare(
            f"gossip, T = {ROUNDS}, one observer of median degree: {name}",
            "numpy `pinv`",
            lambda: ndp.gossip(graph, ROUNDS).losses(observer),
            lambda: view(dense, neighbors, observer, ROUNDS),
            lambda ours, found: short_of(ours.enclosure[0], found),
            "combinations of what is seen, certified in 53 bits, or in up to 256 where rounds nearly repeat",
        )


def decor():
    for n in (300, 1000, 2000):
        graph = nx.fast_gnp_random_graph(n, 10 / n, seed=n)
        others = [v for v in graph if v != 0]

        def covariance():
            return np.eye(n - 1) + nx.laplacian_matrix(graph.subgraph(others), nodelist=others).toarray()

        def by_inverse():
            return np.diagonal(np.linalg.inv(covariance()))

        def by_cholesky():
            factor, _ = scipy.linalg.lapack.dpotrf(covariance(), lower=1)
            return np.diagonal(scipy.linalg.lapack.dpotri(factor, lower=1)[0])

        def ours():
            return ndp.programs.decor(graph).account(0).mu(1.0)[others] ** 2

        for peer, theirs in (("numpy `inv`", by_inverse), ("scipy `dpotri`", by_cholesky)):
            compare(
                f"DECOR, all public, one observer: {n:,} nodes of degree 10",
                peer,
                ours,
                theirs,
                lambda ours, found: short_of(ours * (1 - 1e-9), found),
                "a dense inverse in floats, certified by the residual of each node, which is sparse",
            )


def spectra():
    graph = nx.convert_node_labels_to_integers(nx.random_regular_graph(8, 2000, seed=1))
    protocol = ndp.gossip(graph, 1)
    dense = protocol.matrix().toarray()
    sparse = scipy.sparse.csr_matrix(dense)

    def gap(values):
        return 1 - max(abs(values[0]), abs(values[-2]))

    def same(ours, theirs):
        return f"the same to {abs(ours - theirs):.0e}"

    compare(
        "spectral gap, 2,000 nodes of degree 8",
        "numpy `eigvalsh`",
        lambda: ndp.gossip(graph, 1).gap(),
        lambda: gap(np.linalg.eigvalsh(dense)),
        same,
        "sparse Lanczos until the bound on the residual is met",
    )
    compare(
        "spectral gap, 2,000 nodes of degree 8",
        "scipy `eigsh`",
        lambda: ndp.gossip(graph, 1).gap(),
        lambda: gap(np.sort(scipy.sparse.linalg.eigsh(sparse, 4, which="BE", return_eigenvectors=False))),
        same,
        "sparse Lanczos until the bound on the residual is met",
    )
    compare(
        "distances from one node, 2,000 nodes of degree 8",
        "networkx",
        lambda: ndp.Graph(graph).distances(0),
        lambda: nx.single_source_shortest_path_length(graph, 0),
        lambda ours, theirs: "right" if all(ours[v] == d for v, d in theirs.items()) else "differs",
        "reading the graph of networkx",
    )


def releases():
    laws = ndp.accountants.LossLaw

    def against(ours, value):
        lower, upper = ours
        low, high = value if isinstance(value, tuple) else (value, value)
        if high < lower:
            return f"below the truth by {lower - high:.1e}"
        return f"at most {max(0.0, high - lower):.1e} above the truth"

    def ends(law):
        upper = float(law.epsilon(DELTA))
        return upper - WIDTH, upper

    for name, count, rate, sigma in (("1,000", 1000, 0.01, 1.0), ("a million", 1_000_000, 1e-4, 1.0)):
        work = f"sampled Gaussian (rate {rate:g}, noise {sigma:g}), {name} times: epsilon"

        def ours(count=count, rate=rate, sigma=sigma):
            return ends(laws.sampled_gaussian(sigma, rate) * count)

        def dp_accounting_law(count=count, rate=rate, sigma=sigma):
            from dp_accounting.pld import privacy_loss_distribution as pld

            law = pld.from_gaussian_mechanism(sigma, sampling_prob=rate, value_discretization_interval=1e-4)
            return law.self_compose(count).get_epsilon_for_delta(DELTA)

        def prv(count=count, rate=rate, sigma=sigma):
            import prv_accountant

            one = prv_accountant.PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=sigma)
            account = prv_accountant.PRVAccountant(
                prvs=[one], max_self_compositions=[count], eps_error=1e-2, delta_error=DELTA / 1000
            )
            low, _, high = account.compute_epsilon(delta=DELTA, num_self_compositions=[count])
            return low, high

        bound = "exact convolutions of both laws on a grid, both directions"
        compare(work, "dp-accounting", ours, dp_accounting_law, against, bound, turns=2)
        compare(work, "prv-accountant", ours, prv, against, bound, turns=2)

    def by_opendp():
        import opendp.prelude as dp

        dp.enable_features("contrib")
        space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
        curve = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=2.0)).map(1.0)
        return curve.epsilon(DELTA)

    def gaussian():
        epsilon = float(ndp.accountants.Gaussian(2.0).epsilon(DELTA))
        return epsilon * (1 - 1e-12), epsilon

    compare("one Gaussian of noise 2: epsilon", "opendp", gaussian, by_opendp, against, "the call from Python")


def limits():
    """What the machine does at most, by numpy, with as many threads."""
    n = 1500
    a, b = np.random.default_rng(1).random((2, n, n))
    best, _ = in_turns(lambda: a @ b, lambda: None)
    say(limit="fused multiply-adds, by dense products", value=n**3 / best[0] / 1e9, unit="10^9 a second")
    for limit, bytes_of_one, repeats in (("L2", 1 << 17, 2000), ("memory", 1 << 28, 1)):
        size = bytes_of_one // 8
        x, y = np.ones(size), np.ones(size)

        def triad():
            for _ in range(repeats):
                np.add(x, y, out=y)

        best, _ = in_turns(triad, lambda: None)
        say(limit=f"sums of two vectors in {limit}, one thread", value=24 * size * repeats / best[0] / 1e9, unit="GB a second")


def main():
    limits()
    gossip()
    decor()
    spectra()
    releases()


if __name__ == "__main__":
    main()
