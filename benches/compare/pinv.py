"""What an observer of gossip learns, by a dense pseudoinverse and by ndp: times, and where the former reports too little.

Run: pip install ./python networkx && python benches/compare/pinv.py [--large]
The dense way writes every message an observer receives as a row of a matrix V over all noises and takes the diagonal of
pinv(V) V (`view`), or b' pinv(V V') b with the covariance of the messages (`covariance`), as scripts mostly do. A message that is
almost a combination of others falls below the tolerance of the pseudoinverse and is dropped: the loss comes out too small.
Times are those of the processor, over all threads, in seconds, which a busy machine changes least; the best of three. Those of all
observers of graphs of 100 nodes and more are extrapolated from ten of them, by every way, unless --large is given.
"""

import sys
import time

import networkx as nx
import numpy as np

import ndp

ROUNDS = 20


def messages(matrix, neighbors, observer, rounds):
    """Rows: what the neighbours of the observer send, and its own noise."""
    states = np.eye(len(matrix))[neighbors]
    rows = [np.eye(len(matrix))[[observer]]]
    for _ in range(rounds):
        rows.append(states)
        states = states @ matrix
    return np.concatenate(rows)


def view(matrix, neighbors, observer, rounds):
    rows = messages(matrix, neighbors, observer, rounds)
    return np.einsum("ij,ji->i", np.linalg.pinv(rows), rows)


def covariance(matrix, neighbors, observer, rounds):
    rows = messages(matrix, neighbors, observer, rounds)
    return np.einsum("ij,ik,kj->j", rows, np.linalg.pinv(rows @ rows.T, hermitian=True), rows, optimize=True)


def best(work, times=3):
    found = []
    for _ in range(times):
        start = time.process_time()
        answer = work()
        found.append(time.process_time() - start)
    return min(found), answer


def graphs():
    yield "karate club", nx.karate_club_graph(), 8
    for n in (300, 1000, 2000):
        yield f"Erdos-Renyi {n}", nx.fast_gnp_random_graph(n, 10 / n, seed=n), ROUNDS
    yield "grid 17 x 17", nx.convert_node_labels_to_integers(nx.grid_2d_graph(17, 17)), 40
    yield "path 60", nx.path_graph(60), 60


def main():
    large = "--large" in sys.argv
    print(f"{'graph':<18}{'observers':>10}{'ndp':>10}{'view':>10}{'ratio':>8}{'covariance':>12}{'ratio':>8}   too small: view, covariance")
    for name, graph, rounds in graphs():
        n = len(graph)
        protocol = ndp.gossip(graph, rounds)
        dense = protocol.matrix().toarray()
        observers = [max(graph, key=graph.degree)]
        if n <= 300:
            observers = list(range(n))
        for chosen in ([observers[0]], list(range(n))):
            sample = chosen if large or len(chosen) < 100 else chosen[:: len(chosen) // 10][:10]
            factor = len(chosen) / len(sample)
            if len(chosen) == 1:
                ours, report = best(lambda: ndp.gossip(graph, rounds).losses(chosen[0]))
                lower = {chosen[0]: report.enclosure[0]}
            else:
                took, every = best(lambda: ndp.gossip(graph, rounds).all_losses(sample), 1)
                ours, lower = took * factor, {v: every.enclosure[0][:, i] for i, v in enumerate(sample)}
            times, small = [], []
            for way in (view, covariance):
                took, found = best(
                    lambda: {v: way(dense, list(graph[v]), v, rounds) for v in sample}, 3 if len(chosen) == 1 else 1
                )
                times.append(took * factor)
                gaps = [(lower[v] - found[v]).max() for v in sample]
                small.append(f"{sum(gap > 1e-9 for gap in gaps)} of {len(sample)} observers, by {max(0.0, *gaps, 0.0):.2g}")
            ratios = [took / ours for took in times]
            print(
                f"{name:<18}{len(chosen):>10}{ours:>10.4f}{times[0]:>10.4f}{ratios[0]:>8.2f}{times[1]:>12.4f}{ratios[1]:>8.2f}"
                f"   {small[0]}; {small[1]}"
            )


if __name__ == "__main__":
    main()
