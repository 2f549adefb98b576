"""Noise for a target, comparison, audit, ledger, walks and printed formulas, from Python."""

import copy
import math
import pickle

import networkx as nx
import numpy as np
import pytest

import ndp

KARATE = nx.karate_club_graph()


def test_least_noise_is_least_and_checked():
    p = ndp.gossip(KARATE, rounds=6)
    found = ndp.least_noise(p, worst=(1.0, 1e-5), observers=[11, 33], sensitivity=3.0)
    assert ndp.check(p, found.sigma, worst=(1.0, 1e-5), observers=[11, 33], sensitivity=3.0)
    assert ndp.check(p, 0.999 * found.sigma, worst=(1.0, 1e-5), observers=[11, 33], sensitivity=3.0).verdict == "violated"
    assert found.loss.grade is ndp.Exact and float(found.loss) <= 1.0
    pooled = ndp.least_noise(p, worst=(1.0, 1e-5), observers=[[11, 33]], sensitivity=3.0)
    assert pooled.sigma >= found.sigma * (1 - 1e-12)
    mean = ndp.least_noise(p, mean=0.1, order=2.0, observers=[11])
    assert mean.source is None
    # (α / 2σ²) times the mean unit loss is the target.
    assert float(p.losses(11).mean) / mean.sigma**2 == pytest.approx(0.1, rel=1e-6)


def test_profiles_are_those_of_the_losses():
    p = ndp.gossip(KARATE, rounds=8)
    account, losses = p.account(11), p.losses(11)
    profile = account.profile(5, sigma=2.0)
    assert profile.mu == losses[5].mu(2.0)
    assert profile.epsilon(1e-5) == losses[5].epsilon(2.0, 1e-5)
    assert profile.epsilon(1e-5).detail["delta"] == 1e-5
    assert float(profile.delta(float(profile.epsilon(1e-5)))) <= 1e-5 * (1 + 1e-9)
    assert profile.rdp(2.0).value == pytest.approx(losses.rdp(2.0, 2.0)[5], rel=1e-12)
    assert "node 11" in profile.against and "replaced" in profile.neighbors
    table = account.epsilon(2.0, 1e-5)
    assert np.isinf(table[11]) and table[5] == float(profile.epsilon(1e-5))


def test_observers_who_know_less_learn_no_more():
    p = ndp.gossip(KARATE, rounds=4)
    known, unknown = p.losses(0), p.losses(0, own_noise=False)
    outside = np.arange(34) != 0
    assert (unknown.unit[outside] <= known.unit[outside] + 1e-9).all()
    with pytest.raises(ndp.NdpError, match="overheard|senders|program"):
        p.account(0, tapped=[(0, 1)])
    with pytest.raises(ndp.NdpError, match="senders"):
        p.account(0, hidden_senders=True)


def test_a_comparison_has_a_row_for_everybody():
    protocols = {"once": ndp.gossip(KARATE, 8), "fresh": ndp.fresh_noise(KARATE, 8), "none": "does not exist"}
    table = ndp.compare(protocols, worst=(1.0, 1e-5), observers=[33])
    assert [row["protocol"] for row in table] == ["once", "fresh", "none"]
    assert table[0]["sigma"] == ndp.least_noise(protocols["once"], worst=(1.0, 1e-5), observers=[33]).sigma
    assert table[0]["grade"] == "exact" and table[0]["error"] > 0 and table[0]["messages"] == 8 * 2 * 78
    assert table[2]["reason"] == "does not exist"
    assert "does not exist" in repr(table) and "<table>" in table._repr_html_()
    pytest.importorskip("pandas")
    assert list(table.to_frame()["protocol"]) == ["once", "fresh", "none"]
    with pytest.raises(ndp.NdpError, match="same nodes"):
        ndp.compare({"a": ndp.gossip(KARATE, 2), "b": ndp.gossip(nx.path_graph(3), 2)}, worst=1.0)


def test_an_audit_comes_close_and_never_above():
    found = ndp.audit(ndp.gossip(KARATE, rounds=8), pair=(0, 33), sigma=1.0, runs=50_000)
    assert not found.refuted
    assert found.measured_mu.value > 0.9 * float(found.allowed_mu)
    with pytest.raises(TypeError):
        float(found.measured_mu)
    assert found == ndp.audit(ndp.gossip(KARATE, rounds=8), pair=(0, 33), sigma=1.0, runs=50_000)


def test_a_ledger_adds_up_and_refuses():
    p = ndp.gossip(KARATE, rounds=4)
    ledger = ndp.Ledger(limit=(3.0, 1e-5))
    assert ledger.fits(p, sigma=2.0, observers=[33])
    ledger.record(p, sigma=2.0, observers=[33], name="first")
    ledger.record(p, sigma=2.0, observers=[33], name="second")
    assert ledger.runs == ["first", "second"] and ledger.verdict == "met"
    assert float(ledger.spent(32, 33).mu) == pytest.approx(0.5 * np.sqrt(2))
    assert not ledger.fits(p, sigma=2.0, observers=[33])
    assert 0 < ledger.remaining(32, 33) < 3.0
    with pytest.raises(ndp.NdpError):
        ledger.record(p, sigma=2.0, observers=[33], adaptivity="on_hidden")
    with pytest.raises(ndp.NdpError, match="no run was recorded for"):
        ledger.spent(32, 1)
    with pytest.raises(ndp.NdpError, match="one of fixed"):
        ledger.fits(p, sigma=2.0, adaptivity="maybe")
    assert len(ledger.pairs()) == 33 and (32, [33]) in ledger.pairs() and ndp.Ledger().pairs() == []
    pytest.importorskip("pandas")
    frame = ledger.to_frame(delta=1e-5).set_index("node")
    assert frame.loc[32, "epsilon"] == float(ledger.spent(32, 33).epsilon(1e-5)) and set(frame["grade"]) == {"exact"}


def test_a_ledger_adds_up_by_label():
    """The paths y-h-x and h-x-y have the same nodes in another order, and x is y's second neighbor in the one."""
    first, second = ndp.gossip(nx.Graph([("y", "h"), ("h", "x")]), rounds=2), ndp.gossip(nx.Graph([("h", "x"), ("x", "y")]), rounds=2)
    assert list(first.nodes) != list(second.nodes) and set(first.nodes) == set(second.nodes)
    ledger, other_way = ndp.Ledger(limit=5.0), ndp.Ledger(limit=5.0)
    for book, runs in ((ledger, (first, second)), (other_way, (second, first))):
        for run in runs:
            assert book.fits(run, sigma=2.0)
            book.record(run, sigma=2.0)
    for u, v in [("y", "x"), ("x", "y"), ("y", "h"), ("h", "y"), ("x", "h")]:
        alone = [float(run.account(observer=v).profile(u, sigma=2.0).mu) for run in (first, second)]
        assert float(ledger.spent(u, v).mu) == pytest.approx(np.hypot(*alone), rel=1e-14)
        assert float(other_way.spent(u, v).mu) == pytest.approx(np.hypot(*alone), rel=1e-14)
    assert float(pickle.loads(pickle.dumps(ledger)).spent("y", "x").mu) == float(ledger.spent("y", "x").mu)
    for differs, words in [
        (ndp.gossip(nx.Graph([("y", "h"), ("h", "z")]), rounds=1), "no node 'x', and the ledger has no node 'z'"),
        (ndp.gossip(nx.Graph([("y", "h"), ("h", "x"), ("x", "w")]), rounds=1), "4 and 3: the ledger has no node 'w'"),
        (ndp.gossip(nx.Graph([("y", "h")]), rounds=1), "2 and 3: the run has no node 'x'"),
    ]:
        for ask in (ledger.record, ledger.fits):
            with pytest.raises(ndp.NdpError, match=words):
                ask(differs, sigma=2.0)
    with pytest.raises(ndp.NdpError, match="observers of the first"):
        ledger.record(first, sigma=2.0, observers=["y"])
    assert ledger.runs == [first.words, second.words] and ledger.failure < 1e-9


def test_adaptive_runs_cost_the_limit_or_the_odometer():
    p = ndp.gossip(nx.Graph([("a", "b")]), rounds=1)
    limited, gauge, neither = ndp.Ledger(limit=1.5), ndp.Ledger(odometer=(1.0, 1e-5)), ndp.Ledger()
    for ledger in (limited, gauge, neither):
        for _ in range(100):
            ledger.record(p, sigma=10.0, adaptivity="on_seen")
    assert limited.spent("a", "b").mu == ndp.UpperBound(1.5, "mu")
    spent = gauge.spent("a", "b").epsilon(1e-5)
    assert isinstance(spent, ndp.UpperBound) and float(spent) == pytest.approx(7.3875, abs=5e-5)
    assert pickle.loads(pickle.dumps(gauge)).spent("a", "b").epsilon(1e-5) == spent
    with pytest.raises(ndp.NdpError, match="not their sum"):
        neither.spent("a", "b")
    limited.record(p, sigma=0.5, adaptivity="on_seen")
    with pytest.raises(ndp.NdpError, match="beyond the limit"):
        limited.spent("a", "b")
    with pytest.raises(ndp.NdpError, match="not both"):
        ndp.Ledger(limit=1.0, odometer=(1.0, 1e-5))
    with pytest.raises(ndp.NdpError, match="rho"):
        ndp.Ledger(odometer=(0.0, 1e-5))


def test_walks():
    ring = ndp.walks.ring_sum(nodes=100)
    assert float(ring.losses(9).unit[5]) == pytest.approx(1.0)
    target = ring.account(9).profile(5, sigma=4.0).epsilon(1e-6)
    assert ndp.least_noise(ring, worst=(float(target), 1e-6), observers=[9]).sigma == pytest.approx(4.0, rel=1e-6)
    with pytest.raises(ndp.NdpError, match="without noise"):
        ring.losses(coalition=[4, 6])
    with pytest.raises(ndp.NdpError, match="noise"):
        ndp.walks.ring_sum(nodes=10, noise="uniform")
    # A token that jumps: constant data and hidden senders are accounted for by the secrecy of the path as well.
    plain, constant = (ndp.walks.complete_sum(nodes=1000, steps=300, constant=c) for c in (False, True))
    known = float(plain.account(0).profile(1, sigma=2.0).epsilon(1e-5))
    hidden = float(constant.account(0, hidden_senders=True).profile(1, sigma=2.0).epsilon(1e-5))
    assert 0 < hidden <= known
    found = ndp.least_noise(plain, worst=(1.0, 1e-6), observers=[0])
    assert plain.account(0).profile(1, found.sigma).epsilon(1e-6) <= 1.0
    counts = ndp.walks.complete_histogram(nodes=100, steps=100, labels=3).account(0, hidden_senders=True)
    assert float(counts.profile(1, sigma=1.0).epsilon(1e-5)) > float(counts.profile(1, sigma=2.0).epsilon(1e-5)) > 0
    with pytest.raises(ndp.NdpError, match="steps"):
        ndp.walks.complete_sum(nodes=10, steps=0)
    token = ndp.walks.token_walk(KARATE, steps=500)
    near, far = token.epsilon(0, 1, 1e-6, sigma=30.0), token.epsilon(11, 26, 1e-6, sigma=30.0)
    assert isinstance(near, ndp.UpperBound) and 0 < float(far) and 0 < float(near)
    pooled = token.rdp(0, [1, 2], order=2.0, sigma=30.0)
    assert float(pooled) >= float(token.rdp(0, 1, order=2.0, sigma=30.0))
    assert len(token.sample(seed=1)) == len(token.sample(seed=1)) and token.sample(1) == token.sample(1)
    with pytest.raises(ndp.NdpError, match="last|final"):
        ndp.walks.token_walk(KARATE, steps=5, last="kept").rdp(0, 1, 2.0, 1.0)


def test_the_registry_by_name():
    known = ndp.protocols()
    assert set(known["muffliato"]["parameters"]) == {"rounds"}
    named = ndp.protocol("muffliato", KARATE, rounds=8)
    assert np.array_equal(named.losses(11).unit, ndp.gossip(KARATE, rounds=8).losses(11).unit)
    with pytest.raises(ndp.NdpError, match="muffliato"):
        ndp.protocol("none", KARATE)
    with pytest.raises(ndp.NdpError, match="rounds"):
        ndp.protocol("muffliato", KARATE, steps=3)
    with pytest.raises(ndp.NdpError, match="numbers"):
        ndp.protocol("muffliato", KARATE, rounds="many")
    walk = ndp.protocol("walk", KARATE, steps=200)
    with pytest.raises(ndp.NdpError, match="profiles"):
        walk.losses(0)
    assert float(walk.account(0).profile(5, sigma=50.0).epsilon(1e-5)) > 0


def test_noise_for_fresh_noise_without_rounds():
    found = ndp.least_noise(ndp.fresh_noise(KARATE), worst=(1.0, 1e-5), observers=[33])
    assert found.loss.grade is ndp.Exact and float(found.loss) <= 1.0


def test_printed_formulas_are_no_guarantees():
    printed = ndp.printed.muffliato_theorem1(nx.path_graph(3), rounds=2, observer=2)
    assert printed.value[0] == pytest.approx(1 / 3)
    with pytest.raises(TypeError, match="a printed formula is no guarantee; .value says it anyway"):
        float(printed)
    table = ndp.printed.muffliato_theorem1(KARATE, rounds=5).value
    assert table.shape == (34, 34)
    assert table[:, 11] == pytest.approx(ndp.printed.muffliato_theorem1(KARATE, rounds=5, observer=11).value)
    # The specification of the network paper: T = n = 1000, failure 1e-6, where the truth is larger.
    assert ndp.printed.network_contributions(1000, 1000, 1e-6).value == pytest.approx(7.438, abs=5e-4)
    assert float(ndp.accountants.contributions(1000, 0.001, 1e-6)) > 7.438


def test_pictures(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    p = ndp.gossip(KARATE, rounds=4)
    for ax in [
        p.losses(0).plot(),
        p.all_losses([0, 1]).plot(),
        p.all_losses().plot(sigma=2.0),
        ndp.draw(KARATE, p.losses(0)),
        ndp.compare({"once": p}, worst=1.0).plot(),
        ndp.one_peer(3).losses(0).plot(),
    ]:
        ax.figure.savefig(tmp_path / "picture.png")
        assert (tmp_path / "picture.png").stat().st_size > 2000
    with pytest.raises(ndp.NdpError, match="another graph"):
        ndp.draw(nx.path_graph(3), p.losses(0))


def test_html_and_tables():
    p = ndp.gossip(nx.relabel_nodes(KARATE, {0: "<b>"}), rounds=4)
    text = p.losses("<b>")._repr_html_()
    assert "&lt;b&gt;" in text and "<b>'" not in text and text.count("<tr>") == 21
    assert "largest unit loss" in p.all_losses()._repr_html_()
    pytest.importorskip("pandas")
    frame = p.losses("<b>").to_frame(sigma=2.0)
    assert len(frame) == 33 and "<b>" not in set(frame["node"]) and set(frame["grade"]) == {"exact"}
    pairs = p.all_losses().to_frame(sigma=2.0)
    assert len(pairs) == 34 * 33
    row = pairs[(pairs["node"] == 5) & (pairs["observer"] == 11)].iloc[0]
    assert row["unit"] == p.losses(11).unit[p.graph.index(5)]


def test_observers_are_named_by_their_labels():
    """Two runs whose nodes are listed in another order: a place is another node in each."""
    forwards, backwards = nx.path_graph(4), nx.Graph()
    backwards.add_nodes_from([3, 2, 1, 0])
    backwards.add_edges_from(forwards.edges)
    p, q = ndp.gossip(forwards, rounds=1), ndp.gossip(backwards, rounds=1)
    assert q.account(observer=3).profile(1, sigma=1.0).against == "node 3" and "of node 3:" in repr(q.account(observer=3))
    same = ndp.Profile.compose([p.account(observer=0).profile(1, 1.0), q.account(observer=0).profile(1, 1.0)])
    assert same.against == "node 0" and float(same.mu) == pytest.approx(math.sqrt(2), rel=1e-9)
    other = ndp.Profile.compose([p.account(observer=0).profile(1, 1.0), q.account(observer=3).profile(1, 1.0)])
    assert other.against == "the observer of each part, who sees that part alone"
    ledger = ndp.Ledger()
    ledger.record(p, 1.0)
    ledger.record(q, 1.0)
    assert ledger.spent(1, 0).against == "node 0"
    texts = ndp.gossip([("x", "y"), ("y", "z")], rounds=1)
    assert texts.account(coalition=["z", "x"]).profile("y", 1.0).against == "nodes 'x', 'z' together"
    assert texts.account(coalition=[]).profile("y", 1.0).against == "an outsider"


def test_what_was_spent_is_about_the_runs_so_far():
    p, ledger = ndp.gossip(([0, 1, 2], [1, 2, 3]), rounds=3), ndp.Ledger()
    ledger.record(p, 2.0)
    one = ledger.spent(1, 0)
    said = one.statement
    ledger.record(p, 0.5)
    for again in (one, copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert float(again.mu) == float(one.mu) and again.statement == said
    two = ledger.spent(1, 0)
    assert float(two.mu) > 4 * float(one.mu) and two.statement != said and "is fixed before the first" in two.statement.line
    odometer = ndp.Ledger(odometer=(1.0, 1e-5))
    odometer.record(p, 2.0)
    assert odometer.spent(1, 0).statement.data["assumes"] == odometer.statement.data["assumes"]
    assert "chosen-by-seen" in odometer.statement.data["assumes"]


def test_what_is_guaranteed_from_below_is_rounded_down():
    assert ndp.upper(ndp.Exact(0.12345678, "type II error"), 3) == 0.123
    assert ndp.upper(ndp.Exact(0.12345678, "mu"), 3) == 0.124


@pytest.mark.parametrize("wrong", [[], nx.path_graph(3), 3.0, None])
def test_what_is_no_protocol_is_refused_in_words(wrong):
    for ask in (
        lambda: ndp.check(wrong, 1.0, worst=1.0),
        lambda: ndp.least_noise(wrong, worst=1.0),
        lambda: ndp.audit(wrong, pair=(0, 1)),
        lambda: ndp.Ledger(limit=1.0).record(wrong, 1.0),
        lambda: ndp.Ledger(limit=1.0).fits(wrong, 1.0),
        lambda: ndp.compare({"mine": wrong}, worst=1.0),
    ):
        with pytest.raises(ndp.NdpError, match="a protocol is needed, such as ndp.gossip"):
            ask()
