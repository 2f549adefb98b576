"""What is done every day: many noises at once, sweeps, coalitions of a size, arrays of grades, pictures."""

import importlib.util
import itertools
import os
import pathlib
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

import ndp

PATH = ([0, 1, 2, 3], [1, 2, 3, 4])


def test_losses_at_several_noises_are_those_at_each():
    p = ndp.gossip(PATH, rounds=2)
    noises = np.array([[0.5, 1.0, 2.0], [3.0, 4.0, 5.0]])
    for r in (p.losses(observer=0), p.all_losses(), p.account(observer=0)):
        for question in (lambda s: r.mu(s), lambda s: r.epsilon(s, 1e-5), lambda s: r.rdp(s, 2.0)):
            found = question(noises)
            assert found.grade is ndp.Exact
            for place in np.ndindex(noises.shape):
                assert np.array_equal(found[place], question(float(noises[place])))
    with pytest.raises(ndp.NdpError, match="at least 1"):
        p.losses(observer=0).mu(sigma=[])
    with pytest.raises(ndp.NdpError, match="ndp.sweep"):
        p.losses(observer=0).to_frame(sigma=[1.0, 2.0])


def test_a_sweep_has_the_largest_loss_of_each_question():
    star = ([0, 0, 0], [1, 2, 3])
    table = ndp.sweep({"path": PATH, "star": star}, rounds=[1, 3], sigma=[1.0, 4.0], delta=1e-6)
    assert [(row["graph"], row["rounds"], row["sigma"]) for row in table[:4]] == [
        ("path", 1, 1.0), ("path", 1, 4.0), ("path", 3, 1.0), ("path", 3, 4.0)
    ]
    for row in table:
        r = ndp.gossip(PATH if row["graph"] == "path" else star, row["rounds"]).all_losses()
        every = np.array(r.epsilon(row["sigma"], 1e-6))
        np.fill_diagonal(every, 0.0)
        assert float(row["epsilon"]) == every.max() == every[row["node"], row["observer"]]
        assert row["observers"] == row["nodes"] == len(r.nodes)
    assert "epsilon" in repr(table) and "<table>" in table._repr_html_()
    assert list(table.to_frame()["grade"]) == ["exact"] * 8
    # Coalitions are shown by their members.
    (row,) = ndp.sweep(PATH, 2, 4.0, observers=[[0, 4]])
    assert row["observer"] == (0, 4) and row["observers"] == 1


def test_a_sweep_shows_noise_and_delta_as_they_were_asked():
    noises, delta = [1.00004, 1.0, 1 / 3], 1.000001e-5
    table = ndp.sweep(PATH, 1, noises, delta=delta)
    shown = [line.split() for line in repr(table).splitlines()[1 : len(table) + 1]]
    assert [(float(row[2]), float(row[3])) for row in shown] == [(noise, delta) for noise in noises]
    page = table._repr_html_()
    assert all(f"<td>{x!r}</td>" in page for x in (*noises, delta))
    # The loss beside them is rounded up, and columns stay below each other.
    assert all(float(row[4]) >= float(found["epsilon"]) for row, found in zip(shown, table))
    assert len({len(line) for line in repr(table).splitlines()[: len(table) + 1]}) == 1


def test_every_coalition_of_a_size_is_asked():
    p = ndp.gossip(PATH, rounds=2)
    pairs = [[u, v] for v in range(5) for u in range(v)]
    limit = (1.0, 1e-5)
    found, by_hand = (ndp.check(p, 2.0, worst=limit, **who) for who in ({"coalition_size": 2}, {"observers": pairs}))
    assert (found.verdict, found.exceeding) == (by_hand.verdict, by_hand.exceeding)
    assert found.exceeding > ndp.check(p, 2.0, worst=limit).exceeding
    least = ndp.least_noise(p, worst=limit, coalition_size=2)
    assert least.sigma == ndp.least_noise(p, worst=limit, observers=pairs).sigma
    assert ndp.least_noise(p, worst=limit, coalition_size=1) == ndp.least_noise(p, worst=limit)
    # A smaller coalition has more nodes outside, so that its mean may be larger: pairs do not cover single nodes.
    assert ndp.least_noise(p, mean=(0.4, 1e-5), observers=pairs).sigma < ndp.least_noise(p, mean=(0.4, 1e-5)).sigma
    with pytest.raises(ndp.NdpError, match="ask for the worst"):
        ndp.least_noise(p, mean=(0.4, 1e-5), coalition_size=2)
    for wrong, message in ((5, "less than the number of nodes"), (0, "at least 1")):
        with pytest.raises(ndp.NdpError, match=message):
            ndp.least_noise(p, worst=(1.0, 1e-5), coalition_size=wrong)
    with pytest.raises(ndp.NdpError, match="not both"):
        ndp.check(p, 1.0, worst=(1.0, 1e-5), coalition_size=2, observers=[0])
    # Too many to look at each: a bound that holds whoever observes, at least what a few of them need.
    ring = ndp.gossip((list(range(40)), [*range(1, 40), 0]), rounds=1)
    bound = ndp.least_noise(ring, worst=(1.0, 1e-5), coalition_size=4)
    assert bound.sigma >= ndp.least_noise(ring, worst=(1.0, 1e-5), observers=[[0, 1, 2, 3], [0, 2, 4, 6]]).sigma
    assert "every coalition of at most 4 of 40 nodes" in bound.statement.line and "by a bound that holds whoever observes" in bound.statement.line
    with pytest.raises(ndp.NdpError, match="too many such coalitions"):
        ring.all_losses(coalition_size=4)


def _of_neighbors(G, size):
    """Every coalition of at most so many neighbors of one node, by brute force."""
    every = {frozenset(c) for u in G for k in range(1, size + 1) for c in itertools.combinations(sorted(G[u]), k)}
    return [sorted(c) for c in every]


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("graph", [nx.path_graph(5), nx.cycle_graph(6), nx.star_graph(4), nx.house_graph(), nx.lollipop_graph(4, 2)])
@pytest.mark.parametrize("name", ["gossip", "decor"])
def test_every_coalition_of_neighbors_is_asked(graph, size, name):
    p, limit = ndp.gossip(graph, rounds=2) if name == "gossip" else ndp.protocol(name, graph), (1.0, 1e-5)
    by_hand = ndp.least_noise(p, worst=limit, observers=_of_neighbors(graph, size))
    found = ndp.least_noise(p, worst=limit, neighbors=size)
    assert found.sigma == by_hand.sigma and found.loss == by_hand.loss
    whom = f"every coalition of at most {size} of {len(graph)} nodes that are neighbors of one node"
    assert whom in found.statement.line
    for sigma in (by_hand.sigma, by_hand.sigma * 0.9):
        assert ndp.check(p, sigma, worst=limit, neighbors=size).verdict == ndp.check(p, sigma, worst=limit, observers=_of_neighbors(graph, size)).verdict
    (row,) = ndp.compare({"once": p}, worst=limit, neighbors=size)
    assert row["sigma"] == found.sigma and (row["source"], row["observer"]) == (found.source, found.observer)
    if name != "gossip":
        with pytest.raises(ndp.NdpError, match="no unit losses"):
            p.all_losses(neighbors=size)
        return
    # What is listed are the largest: each of the others is a part of one that does not have the exposed node in it.
    losses = p.all_losses(neighbors=size)
    assert {frozenset(o) if isinstance(o, tuple) else frozenset([o]) for o in losses.observers} <= set(map(frozenset, _of_neighbors(graph, size)))
    for members in _of_neighbors(graph, size):
        alone = p.losses(coalition=members)
        for u in set(graph) - set(members):
            around = [float(losses[u, o]) for o in losses.observers for all_of in [o if isinstance(o, tuple) else (o,)] if set(members) <= set(all_of) and u not in all_of]
            assert max(around) >= float(alone[u]) - 1e-9
    assert whom in losses.statement.line


def test_more_neighbors_together_need_more_noise():
    p, limit = ndp.protocol("decor", nx.cycle_graph(6)), (1.0, 1e-5)
    alone, pairs = (ndp.least_noise(p, worst=limit, neighbors=size) for size in (1, 2))
    assert alone.sigma < 0.8 * pairs.sigma and len(pairs.observer) == 2
    assert alone.sigma == ndp.least_noise(p, worst=limit).sigma
    assert not ndp.check(p, alone.sigma, worst=limit, neighbors=2) and ndp.check(p, alone.sigma, worst=limit, neighbors=1)


def test_coalitions_are_named_by_all_their_members():
    p = ndp.gossip(PATH, rounds=2)
    losses = p.all_losses(observers=[[0, 1], [0, 4]])
    assert losses.observers == [(0, 1), (0, 4)]
    for members in ([0, 1], [0, 4]):
        assert losses.towards(members) == p.losses(coalition=members) == losses.towards(tuple(members))
        assert losses[2, tuple(members)] == p.losses(coalition=members)[2]
    # It was the first coalition that has the node first.
    with pytest.raises(ndp.NdpError, match="is not one of the observers"):
        losses.towards(0)
    assert ndp.least_noise(p, worst=(1.0, 1e-5), observers=[[2, 1]]).observer == (1, 2)


def test_coalitions_of_a_size_are_refused_where_they_say_too_little():
    p = ndp.gossip(PATH, rounds=2)
    for both in ({"observers": [0], "neighbors": 2}, {"coalition_size": 2, "neighbors": 2}):
        for ask in (lambda **who: ndp.check(p, 1.0, worst=(1.0, 1e-5), **who), p.all_losses, lambda **who: ndp.compare({"once": p}, worst=(1.0, 1e-5), **who)):
            with pytest.raises(ndp.NdpError, match="give one, not both"):
                ask(**both)
    for question in (ndp.least_noise, lambda p, **asked: ndp.check(p, 9.0, **asked)):
        with pytest.raises(ndp.NdpError, match="ask for the worst"):
            question(p, mean=(0.4, 1e-5), neighbors=2)
        with pytest.raises(ndp.NdpError, match="ask for the worst"):
            question(p, pairs=lambda u, v: (0.4, 1e-5), coalition_size=2)
    for wrong in (5, 0):
        with pytest.raises(ndp.NdpError, match="at least 1"):
            ndp.least_noise(p, worst=(1.0, 1e-5), neighbors=wrong)
    with pytest.raises(ndp.NdpError, match="has no graph whose neighbors"):
        ndp.check(ndp.walks.ring_sum(6, rounds=1), 9.0, worst=(1.0, 1e-5), neighbors=2)


def test_a_plan_for_coalitions_of_neighbors():
    found = ndp.plan(nx.cycle_graph(6), worst=(1.0, 1e-5), protocols=["muffliato"], neighbors=2)
    by_hand = ndp.plan(nx.cycle_graph(6), worst=(1.0, 1e-5), protocols=["muffliato"], observers=_of_neighbors(nx.cycle_graph(6), 2))
    assert [row["sigma"] for row in found] == [row["sigma"] for row in by_hand]
    assert "every coalition of at most 2 of 6 nodes that are neighbors of one node" in found.statement.line


def test_guarantees_are_numbers_to_numpy_and_nothing_else_is():
    loss = ndp.Exact(0.25, "mu")
    assert np.asarray(loss).dtype == np.float64 and np.sqrt(loss) == 0.5
    assert np.array_equal(np.asarray([loss, loss]), [0.25, 0.25])
    assert np.array_equal(np.array([0.1, 0.5]) < loss, [True, False])
    assert np.array_equal(loss < np.array([0.1, 0.5]), [False, True])
    for number in (ndp.Printed(0.25, "mu"), ndp.Estimate(0.25, "mu")):
        for use in (np.asarray, np.sqrt, lambda x: np.array([0.1]) < x, lambda x: np.maximum(x, 1.0)):
            with pytest.raises(TypeError, match=r"\.value says it anyway"):
                use(number)


def test_sums_behind_other_noise_answer_as_the_registry_does():
    ring = ndp.Graph(([0, 1, 2, 3, 4], [1, 2, 3, 4, 0]))
    for noise in ("laplace", "discrete-laplace"):
        here = ndp.walks.ring_sum(5, noise=noise, last="masked").account(observer=0).profile(2, 4.0)
        there = ndp.protocol(f"ring-sum-{noise}", ring).account(observer=0).profile(2, 4.0)
        assert here.epsilon(1e-5) == there.epsilon(1e-5)
        # Full noise on one step in n - 1 does not become less by being asked for in shares.
        try:
            shares = ndp.walks.ring_sum(5, noise=noise, distributed=True).account(observer=0).profile(2, 4.0)
        except ndp.NdpError:
            continue
        assert float(shares.epsilon(1e-5)) >= float(here.epsilon(1e-5))


def test_losses_go_by_their_labels():
    r = ndp.gossip(PATH, rounds=1).all_losses()
    pairs = dict(r.items())
    assert len(pairs) == 20 and all(r[pair] == loss for pair, loss in pairs.items())
    one = r.towards(1)
    assert list(dict(one.items())) == [0, 2, 3, 4] and dict(one.items())[0] == one[0]


def test_pictures_and_tables_name_nodes():
    matplotlib = pytest.importorskip("matplotlib")
    networkx = pytest.importorskip("networkx")
    matplotlib.use("Agg")
    graph = networkx.relabel_nodes(networkx.path_graph(4), dict(enumerate(["ann", "bob", "eve", "<i>"])))
    p = ndp.gossip(graph, rounds=2)
    ax = p.all_losses().plot()
    assert [t.get_text() for t in ax.get_xticklabels()] == [t.get_text() for t in ax.get_yticklabels()] == list(graph)
    texts = [t.get_text() for t in ndp.draw(graph, p.losses("bob")).texts]
    assert texts == list(graph) and not ndp.draw(graph, p.losses("bob"), labels=False).texts
    found = ndp.least_noise(p, worst=(1.0, 1e-5), observers=["bob"])
    for shown in (found, ndp.check(p, 9.0, worst=(1.0, 1e-5)), found.loss, ndp.Printed(1.0, "<b>")):
        html = shown._repr_html_()
        assert "<" in html and "<b>')" not in html and "<i>" not in html


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_a_type_checker_refuses_printed_numbers_as_guarantees(tmp_path):
    lines = [
        ("float(ndp.Exact(1.0))", True),
        ("float(ndp.Printed(1.0))", False),
        ("np.sqrt(ndp.Estimate(1.0))", False),
        ("publish(ndp.UpperBound(1.0))", True),
        ("publish(ndp.Printed(1.0))", False),
        ("ndp.gossip(([0], [1]), 1).losses(observer=0).mu(sigma=[1.0, 2.0])", True),
        ("ndp.gossip(([0], [1]), 1).losses(observer=0).mu(sigma=ndp.Printed(1.0))", False),
        ("text: str = ndp.gossip(([0], [1]), 1).losses(observer=0).prove('file.jsonl')", True),
        ("publish(ndp.gossip(([0], [1]), 1).losses(observer=0).prove())", False),
        ("loss: Fraction = ndp.refute('alpha').counterexample.true_loss", False),  # there may be none
        ("refuted: bool = ndp.refute(lambda graph, rounds, weights, order, observer, source: order).refuted", True),
        ("ndp.refute(lambda graph, rounds: 1)", False),
        ("publish(ndp.Program(2).design([[0]], worst=1.0).loss)", True),
        ("publish(ndp.Program(2).design([[0]], worst=1.0).lower_bound)", False),
        ("ndp.Program(2).result([0, 1])", False),
        ("why: list[str] = ndp.plan(([0], [1]), worst=1.0).why", True),
        ("ndp.walks.complete_sum(5, 10, cap=2.5)", False),
    ]
    head = ["import numpy as np; from fractions import Fraction", "import ndp", "def publish(x: ndp.Guarantee) -> None: ..."]
    (tmp_path / "use.py").write_text("\n".join([*head, *(line for line, _ in lines)]) + "\n")
    # An installed package is found, and may not be named; that of a checkout has to be.
    folder = pathlib.Path(ndp.__file__).parents[1]
    where = {} if folder.name == "site-packages" else {"MYPYPATH": str(folder)}
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(tmp_path / "use.py")]
    said = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **where}).stdout
    refused = {int(line.split(":")[-3]) for line in said.splitlines() if "use.py:" in line and "error:" in line}
    assert refused == {i + 4 for i, (_, fine) in enumerate(lines) if not fine}, said


def test_notebooks_show_tables_with_what_they_are_about(tmp_path):
    import html

    losses = ndp.gossip(nx.path_graph(4), 2).losses(1)
    for shown in (losses, ndp.gossip(nx.path_graph(4), 2).all_losses()):
        assert html.escape(shown.statement.paragraph) in shown._repr_html_()
    ndp.save(losses, tmp_path / "losses.json")
    recorded = ndp.load(tmp_path / "losses.json")._repr_html_()
    assert "no guarantee" in recorded and html.escape(losses.statement.paragraph) in recorded and recorded.count("<tr>") == 4
    meter = ndp.Meter(nx.path_graph(3), per="use", clip=1.0)
    meter.round(sigma=4.0)
    assert meter.losses(0)._repr_html_().count("<tr>") == 3
