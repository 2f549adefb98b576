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


def test_a_list_of_pairs_is_a_list_of_edges():
    expected = {frozenset({0, 2}), frozenset({1, 3})}
    assert edges(ndp.Graph([(0, 2), (1, 3)])) == expected
    # Both ends as arrays are what they were.
    for ends in (([0, 1], [2, 3]), (np.array([0, 1]), np.array([2, 3])), [np.array([0, 1]), np.array([2, 3])], ([0, 1], (2, 3))):
        assert edges(ndp.Graph(ends)) == expected
    for more in ([(0, 1), (1, 2), (2, 3)], [[0, 1], [1, 2], [2, 3]], ((0, 1), (1, 2), (2, 3)), [[0, 1, 2], [1, 2, 3]], [(0, 1)] + [(1, 2), (2, 3)]):
        assert edges(ndp.Graph(more)) == {frozenset({0, 1}), frozenset({1, 2}), frozenset({2, 3})}
    assert ndp.Graph([(0, 1)], nodes=4).node_count == 4 and ndp.Graph(np.array([[0, 2], [1, 3]]), nodes=4).edge_count == 2
    assert edges(ndp.Graph(np.array([[0, 1], [1, 0]]))) == {frozenset({0, 1})}
    for ambiguous in ([[0, 2], [1, 3]], ((0, 2), (1, 3)), np.array([[0, 2], [1, 3]])):
        with pytest.raises(ndp.NdpError, match="may be two edges or two arrays of ends"):
            ndp.Graph(ambiguous)
    for wrong in ([(0, 1, 0.5)], [(0, 1), (1, 2, 3)]):
        with pytest.raises(ndp.NdpError, match="an edge is a pair of nodes"):
            ndp.Graph(wrong)
    with pytest.raises(ndp.NdpError, match="integers"):
        ndp.Graph([("a", 1)])
    for huge in (2**63, 2**64 - 1, 2**70):
        with pytest.raises(ndp.NdpError, match=r"are names: write them as texts"):
            ndp.Graph([(0, huge), (1, 5)])


def test_edges_between_names():
    G = ndp.Graph([("a", "b"), ("b", "c")])
    assert list(G.nodes) == ["a", "b", "c"] and G.edges.tolist() == [[0, 1], [1, 2]]
    assert list(ndp.Graph([["c", "b"], ["b", "a"], ["a", "d"]]).nodes) == ["c", "b", "a", "d"]
    assert ndp.Meter([("a", "b"), ("b", "c")], per="use", clip=1.0).nodes == ["a", "b", "c"]
    # Which of these are ends, and which are edges, cannot be known: how to say it is.
    for ends in ([["a", "b"], ["b", "c"]], (("a", "b"), ("b", "c")), (["a", "b", "c"], ["b", "c", "d"])):
        with pytest.raises(ndp.NdpError, match="a list of tuples"):
            ndp.Graph(ends)
    with pytest.raises(ndp.NdpError, match="nodes= goes with edges between integers"):
        ndp.Graph([("a", "b")], nodes=3)
    for twice in ([("a", "b"), ("b", "a")], [("a", "b"), ("c", "c")]):
        with pytest.raises(ndp.NdpError):
            ndp.Graph(twice)


def test_the_weights_of_a_graph_are_used_or_refused():
    G = nx.path_graph(3)
    nx.set_edge_attributes(G, {(0, 1): 0.0, (1, 2): 0.5}, "weight")
    plain, weighted = ndp.Graph(G), ndp.Graph(G, weight="weight")
    # What was ignored: the graph was made without weights, and the call asks for them.
    for weight in ("weight", True):
        with pytest.raises(ndp.NdpError, match="was made without weights"):
            ndp.gossip(plain, rounds=2, weight=weight)
    with pytest.raises(ndp.NdpError, match="has its weights already"):
        ndp.gossip(weighted, rounds=2, weight="length")
    used = ndp.gossip(G, rounds=2, weight="weight").losses(2)
    assert ndp.gossip(weighted, rounds=2, weight=True).losses(2) == used == ndp.gossip(weighted, rounds=2).losses(2)
    dropped = ndp.gossip(weighted, rounds=2, weight=False)
    assert "not used" in dropped.words and np.array_equal(dropped.losses(2).unit, ndp.gossip(plain, rounds=2).losses(2).unit)
    # Two ways to average exclude each other, everywhere.
    for call in (
        lambda: ndp.programs.muffliato(G, 2, weight="weight", weights="metropolis"),
        lambda: ndp.printed.muffliato_theorem1(G, 2, weight="weight", weights="metropolis"),
        lambda: ndp.walks.token_walk(G, 9, weight="weight", weights="metropolis"),
    ):
        with pytest.raises(ndp.NdpError, match="not both"):
            call()
    with pytest.raises(ndp.NdpError, match="the graph has 3 nodes, not 4"):
        ndp.Graph(plain, nodes=4)
    with pytest.raises(ndp.NdpError, match="goes with arrays and lists of edges"):
        ndp.Graph(G, nodes=4)


def test_complex_numbers_are_refused():
    G = nx.path_graph(3)
    nx.set_edge_attributes(G, {(0, 1): 0.25 + 0.5j, (1, 2): 0.5}, "weight")
    matrix = np.array([[0.5, 0.5 + 1e-3j, 0.0], [0.5 - 1e-3j, 0.5, 0.0], [0.0, 0.0, 1.0]])
    for call in (
        lambda: ndp.Graph(G, weight="weight"),
        # An entry without a real part is an edge, too.
        lambda: ndp.Graph(np.array([[0, 1j], [1j, 0]])),
        lambda: ndp.Graph(scipy.sparse.coo_array(matrix)),
        lambda: ndp.gossip(P3, 2, weights=matrix).losses(0),
        lambda: ndp.gossip(P3, 2).run(np.array([1.0, 2.0, 3.0j]), 1.0, 1),
        lambda: ndp.gossip(P3, 2).run([1.0, 2.0, 3.0 + 0j], 1.0, 1),
        lambda: ndp.Program(2).noise(0, variance=1j),
        lambda: ndp.Program(2).noise(0, variance=np.complex128(1.0)),
    ):
        with pytest.raises(ndp.NdpError, match="real"):
            call()


def test_arguments_that_exclude_each_other_or_mean_nothing_are_refused():
    losses = ndp.gossip(P3, rounds=2).losses(0)
    for call, words in (
        (lambda: ndp.fresh_noise(P3, 2, rho=2.0, variances=[1.0, 0.5]), "rho= or variances=, not both"),
        (lambda: ndp.randomized_gossip(P3, pairs=[(0, 1)], seed=3), "steps= and seed="),
        (lambda: losses.to_frame(delta=1e-6), "delta goes with a noise"),
        (lambda: losses.to_frame(sensitivity=2.0), "sensitivity goes with a noise"),
        (lambda: ndp.gossip(P3, 2).all_losses().plot(delta=1e-6), "delta goes with a noise"),
        (lambda: ndp.walks.sum_on_path(4.5, [0, 1]), "whole number, got 4.5"),
        (lambda: ndp.walks.sum_on_path(4, [0, 1.7]), "whole numbers"),
        (lambda: ndp.walks.average_on_path(4, [0]), "at least 2"),
        (lambda: ndp.walks.token_walk(P3, 9, burn_in=1.5), "whole number, got 1.5"),
        (lambda: ndp.walks.token_walk(P3, 9, refractory=-1), "at least 0, got -1"),
        (lambda: ndp.least_noise(ndp.gossip(P3, 2), pairs=lambda u, v: 1.0, observers=[[0, 1]]), "for a coalition give worst="),
        (lambda: ndp.programs.dsgd(P3, 2, noise=[[1], [0, 1], [0, 0, 1]]), "one row for each of the 2 steps, got 3"),
        (lambda: ndp.programs.dsgd(P3, 2, ndp.Sensitivity("signs", along=[1.0, 1.0])).account(0), "along= goes with"),
        (lambda: ndp.programs.dsgd(P3, 2, ndp.Sensitivity("use_level", dimension=3)).account(0), "dimension= goes with"),
    ):
        with pytest.raises(ndp.NdpError, match=words):
            call()


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
