"""What correlated noise hides, by numpy's dense pseudoinverse and by ndp: times, and where the former reports too little.

Run: pip install ./python networkx && python benches/compare/programs.py [--large]
Everybody publishes its value with own noise and masks that cancel between neighbors (DECOR); an observer knows its own noises. The
dense way writes the covariance S of what is published and takes the diagonal of B' pinv(S) B. The last rows are secure sums
of neighbors on paths, where one sum is almost a combination of others: what falls below the tolerance of the pseudoinverse is dropped,
and the loss comes out too small.
Times are the best of three, in seconds; those of all observers from 1000 nodes on are extrapolated from five of them, by both ways,
unless --large is given.
"""

import sys
import time

import networkx as nx
import numpy as np

import ndp


def decor_by_pinv(graph, observer):
    """The losses of all nodes, with own and shared noise of variance 1."""
    others = [v for v in graph if v != observer]
    laplacian = nx.laplacian_matrix(graph.subgraph(others), nodelist=others).toarray()
    # Masks shared with the observer are known to it.
    covariance = np.eye(len(others)) + laplacian
    return np.diagonal(np.linalg.pinv(covariance, hermitian=True))


def sums_by_pinv(graph, observer, rounds):
    """The same for one noise per node and secure sums of neighbors."""
    n = len(graph)
    weights = 1 / (1 + np.array([[max(graph.degree(u), graph.degree(v)) for v in graph] for u in graph]))
    matrix = weights * nx.to_numpy_array(graph, weight=None)
    np.fill_diagonal(matrix, 1 - matrix.sum(axis=1))
    heard = matrix[observer].copy()
    heard[observer] = 0
    power, rows = np.eye(n), []
    for _ in range(rounds):
        rows.append(np.delete(heard @ power, observer))
        power = matrix @ power
    rows = np.array(rows)
    return np.einsum("ij,ik,kj->j", rows, np.linalg.pinv(rows @ rows.T, hermitian=True), rows, optimize=True)


def lower_ends(program, observer, others):
    """What is proven at least about every other node."""
    account = program.account(observer)
    return np.array([account.verdict(u).lower for u in others])


def best(work, times=3):
    found = []
    for _ in range(times):
        start = time.perf_counter()
        answer = work()
        found.append(time.perf_counter() - start)
    return min(found), answer


def main():
    large = "--large" in sys.argv
    print(f"{'protocol':<26}{'observers':>10}{'ndp':>10}{'pinv':>10}{'ratio':>8}   largest loss that pinv is short of")
    for n in (300, 1000, 2000):
        graph = nx.fast_gnp_random_graph(n, 10 / n, seed=n)
        program = ndp.programs.decor(graph)
        for observers in ([0], list(range(n))):
            sample = observers if large or n < 1000 or len(observers) == 1 else observers[:: n // 5][:5]
            factor = len(observers) / len(sample)
            times = 3 if len(observers) == 1 else 1
            ours, losses = best(
                lambda: {v: lower_ends(program, v, [u for u in graph if u != v]) for v in sample}, times
            )
            theirs, found = best(lambda: {v: decor_by_pinv(graph, v) for v in sample}, times)
            short = 0.0
            for v in sample:
                short = max(short, (losses[v] - found[v]).max())
            print(
                f"{f'DECOR, {n} nodes':<26}{len(observers):>10}{ours * factor:>10.4f}{theirs * factor:>10.4f}"
                f"{theirs / ours:>8.2f}   {max(0.0, short):.2g}"
            )
    for n in (20, 40):
        graph = nx.path_graph(n)
        program = ndp.programs.secure_neighbor_sums(graph, rounds=n)
        observer = n // 3
        others = [u for u in graph if u != observer]
        ours, lower = best(lambda: lower_ends(program, observer, others))
        theirs, values = best(lambda: sums_by_pinv(graph, observer, n))
        short = max(0.0, (lower - values).max())
        print(f"{f'secure sums, path of {n}':<26}{1:>10}{ours:>10.4f}{theirs:>10.4f}{theirs / ours:>8.2f}   {short:.2g}")


if __name__ == "__main__":
    main()
