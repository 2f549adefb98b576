"""Graphs from whatever holds one, and what is refused."""

import gzip

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

import ndp


def edges(graph):
    return {frozenset((graph.nodes[u], graph.nodes[v])) for u, v in graph.edges}


def test_labels_of_any_kind_are_kept():
    G = nx.Graph([("ann", ("bob", 1)), (("bob", 1), frozenset({3})), (frozenset({3}), 2.5)])
    graph = ndp.Graph(G)
    assert list(graph.nodes) == list(G)
    assert edges(graph) == {frozenset(edge) for edge in G.edges}
    r = ndp.gossip(G, rounds=2).losses(observer="ann")
    assert float(r[("bob", 1)]) == 1.0
    with pytest.raises(ndp.NdpError, match="both source and observer"):
        r["ann"]


def test_every_source_gives_the_same_graph(tmp_path):
    G = nx.karate_club_graph()
    expected = ndp.gossip(G, rounds=3).losses(0).unit
    u, v = np.array(G.edges).T
    sparse = nx.to_scipy_sparse_array(G, weight=None)
    path = tmp_path / "karate.txt"
    path.write_text("".join(f"{a} {b}\n" for a, b in G.edges))
    zipped = tmp_path / "karate.txt.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    for source in [(u, v), np.array(G.edges), sparse, scipy.sparse.coo_matrix(sparse), sparse.toarray(), ndp.Graph(G)]:
        assert np.array_equal(ndp.gossip(source, rounds=3).losses(0).unit, expected)
    for source in (path, str(zipped)):
        r = ndp.gossip(source, rounds=3).losses("0")
        assert {r.nodes[i]: x for i, x in enumerate(r.unit)} == pytest.approx(
            {str(i): x for i, x in enumerate(expected)}, abs=1e-9
        )


def test_rustworkx():
    rustworkx = pytest.importorskip("rustworkx")
    G = rustworkx.generators.cycle_graph(5)
    assert ndp.Graph(G) == ndp.Graph(nx.cycle_graph(5))
    H = rustworkx.PyGraph()
    H.add_nodes_from("abc")
    H.add_edge(0, 1, 0.25)
    H.add_edge(0, 1, 0.25)
    with pytest.raises(ndp.NdpError, match="parallel edges"):
        ndp.Graph(H)
    with pytest.raises(ndp.NdpError, match="undirected"):
        ndp.Graph(rustworkx.PyDiGraph())


def test_weights_of_a_sparse_array():
    W = scipy.sparse.csr_array(np.array([[0.0, 0.25, 0.0], [0.25, 0.0, 0.5], [0.0, 0.5, 0.0]]))
    assert ndp.gossip(W, rounds=2).losses(2).unit == pytest.approx([1.0, 1.0, 1.0])
    given = ndp.gossip(W, rounds=1, weight=True)
    assert given.matrix().toarray() == pytest.approx(
        np.array([[0.75, 0.25, 0.0], [0.25, 0.25, 0.5], [0.0, 0.5, 0.5]])
    )


P3 = nx.path_graph(3)


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (nx.DiGraph(P3), "must be undirected, got DiGraph"),
        (nx.MultiDiGraph(P3), "must be undirected, got MultiDiGraph"),
        (nx.MultiGraph(P3), "must be simple, got MultiGraph"),
        (nx.Graph([(0, 1), (1, 1)]), "node 1 has an edge to itself"),
        (nx.Graph([("a", "a")]), "node 'a' has an edge to itself"),
        (nx.Graph(), "graph"),
        (([0, 1], [1, 0]), "edge"),
        (([0, 1], [1]), "two ends"),
        (([0.5], [1.0]), "integers"),
        (([-1], [1]), "negative"),
        (np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]), "must be undirected"),
        (np.zeros((3, 4)), "must be square, got 3 by 4"),
        (np.array([[0, np.nan, 0], [np.nan, 0, 1], [0, 1, 0]]), "finite, got nan"),
        (7, "got builtins.int"),
        (None, "NoneType"),
        ([], "got builtins.list"),
    ],
)
def test_what_is_no_graph_is_refused_with_its_reason(graph, words):
    with pytest.raises(ndp.NdpError, match=words):
        ndp.Graph(graph)


def test_edge_lists_are_refused_by_line(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("0 1\n1\n")
    with pytest.raises(ndp.NdpError, match="line 2"):
        ndp.Graph(path)
    with pytest.raises(FileNotFoundError):
        ndp.Graph(tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ndp.gossip(P3, rounds=0), "rounds must be at least 1, got 0"),
        (lambda: ndp.gossip(P3, rounds=-4), "rounds must be at least 1, got -4"),
        (lambda: ndp.gossip(P3, rounds=2.5), "whole number, got 2.5"),
        (lambda: ndp.gossip(P3, rounds=10**30), "below"),
        (lambda: ndp.gossip(P3, rounds=2, weights="none").losses(0), "weights must be one of"),
        (lambda: ndp.gossip(P3, rounds=2, weights=np.eye(2)).losses(0), "expected 3, got 2"),
        (lambda: ndp.gossip(P3, rounds=2, weights=np.full((3, 3), np.nan)).losses(0), "NaN|nan"),
        (lambda: ndp.gossip(P3, rounds=2, weight="length"), "no attribute 'length'"),
        (lambda: ndp.gossip(P3, rounds=2, laziness=1.0).losses(0), r"laziness must lie in \[0, 1\), got 1"),
        (lambda: ndp.gossip(P3, rounds=2, chebyshev=2.0).losses(0), "Chebyshev"),
        (lambda: ndp.gossip(P3, rounds=2).losses(99), "node 99 is not one of"),
        (lambda: ndp.gossip(P3, rounds=2).losses(True), "node True is not one of"),
        (lambda: ndp.gossip(P3, rounds=2).losses([0]), "is not one of"),
        (lambda: ndp.gossip(P3, rounds=2).losses(), "say who observes"),
        (lambda: ndp.gossip(P3, rounds=2).losses(coalition=[]), "at least one member"),
        (lambda: ndp.gossip(P3, rounds=2).losses(coalition=[1, 1]), "given twice"),
        (lambda: ndp.gossip(P3, rounds=2).losses(0, coalition=[1]), "not both"),
        (lambda: ndp.gossip(P3, rounds=2).all_losses([]), "at least 1, got 0"),
        (lambda: ndp.gossip(P3, rounds=2).losses(0).epsilon(0.0, 1e-5), "sigma must be positive and finite, got 0"),
        (lambda: ndp.gossip(P3, rounds=2).losses(0).epsilon(1.0, 2.0), "delta must lie strictly"),
        (lambda: ndp.gossip(P3, rounds=2).losses(0).mu(float("nan")), "sigma must be positive and finite, got NaN"),
        (lambda: ndp.gossip(P3, rounds=2).losses(0).rdp(1.0, 1.0), "alpha must be finite and above 1"),
        (lambda: ndp.gossip(P3, rounds=2).run([1, 2], 1.0, 1), "expected 3, got 2"),
        (lambda: ndp.gossip(P3, rounds=2).run([1, 2, np.inf], 1.0, 1), "finite"),
        (lambda: ndp.gossip(P3, rounds=2).run([1, 2, 3], 1.0, -1), "seed must lie"),
        (lambda: ndp.audit(ndp.gossip(P3, rounds=2), (0, 0)), "both source and observer|source"),
        (lambda: ndp.audit(ndp.gossip(P3, rounds=2), (0, 1), runs=3), "at least 10"),
        (lambda: ndp.least_noise(ndp.gossip(P3, rounds=2)), "one target"),
        (lambda: ndp.least_noise(ndp.gossip(P3, rounds=2), worst=-1.0), "negative|nonnegative|positive"),
        (lambda: ndp.noisy_gossip(P3, rounds=2, ratio=-1.0).losses(0), "nonnegative and finite, got -1"),
        (lambda: ndp.noisy_gossip(P3, rounds=2, ratio=1.0, kind="x").losses(0), "one of broadcast"),
        (lambda: ndp.fresh_noise(P3, rounds=3, variances=[1.0]), "one entry for each of the 3 rounds, got 1"),
        (lambda: ndp.fresh_noise(P3, rounds=3, rho=-1.0).losses(0), "nonnegative"),
        (lambda: ndp.randomized_gossip(P3, pairs=[(0, 2)]).losses(0), "edge"),
        (lambda: ndp.randomized_gossip(P3, steps=3), "seed is needed"),
        (lambda: ndp.randomized_gossip(P3), "give steps="),
        (lambda: ndp.one_peer(60), "at most 26"),
        (lambda: ndp.time_varying_gossip([P3, nx.path_graph(4)]), "same nodes"),
        (lambda: ndp.time_varying_gossip([]), "at least 1, got 0"),
        (lambda: ndp.accelerated_gossip(P3, time=float("inf"), seed=1), "finite|time"),
    ],
)
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(ndp.NdpError, match=words):
        call()


def test_a_huge_graph_is_refused_before_memory_is_taken():
    with pytest.raises(ndp.NdpError, match="nodes|bytes"):
        ndp.Graph(([0], [2**40]))
    with pytest.raises(ndp.NdpError, match="bytes"):
        ndp.gossip(([0], [1_000_000]), rounds=2).all_losses()


def test_an_error_is_a_value_error():
    assert issubclass(ndp.NdpError, ValueError)


def test_a_disconnected_graph_leaks_nothing_across():
    r = ndp.gossip(nx.Graph([(0, 1), (2, 3)]), rounds=5).losses(0)
    assert list(r.unit) == [1.0, 1.0, 0.0, 0.0]
