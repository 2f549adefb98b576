"""Plans, design, results, lost messages and capped sums, from Python."""

import pickle

import networkx as nx
import numpy as np
import pytest

import ndp

KARATE = nx.karate_club_graph()


def test_a_plan_is_that_of_the_command():
    """The first rows of the transcript in docs/cli.md, observer 1, epsilon 1."""
    found = ndp.plan(KARATE, worst=(1.0, 1e-5), observers=[1])
    assert found.searched == 58 and not found.unanswered
    told = [
        ("decor", "metropolis", {}, "2.70538", "0.46397", 1122),
        ("gopa", "metropolis", {}, "2.70538", "0.46397", 1122),
        ("muffliato-accelerated", "max_degree", {"rounds": 40}, "3.73064", "0.63981", 6240),
        ("muffliato-accelerated", "metropolis", {"rounds": 40}, "3.73064", "0.63981", 6240),
        ("push-sum", "metropolis", {"rounds": 40}, "3.73064", "0.63991", 6240),
    ]
    for row, (name, weights, parameters, sigma, error, messages) in zip(found, told):
        assert (row["protocol"], row["weights"], row["parameters"], row["messages"]) == (name, weights, parameters, messages)
        assert (f"{row['sigma']:.5f}", f"{row['error']:.5f}", row["grade"]) == (sigma, error, "exact")
    assert found.why[0] == (
        "decor is first because its error is at most 0.46397, the smallest bound found. "
        "Next is gopa, at most 0.46397 (the same but for 0.05 %), with as many messages."
    )
    assert "any_topology=True tries them): one-peer, hierarchical, ring-sum" in found.why[1]
    errors = [row["error"] for row in found]
    assert errors == sorted(errors) and found.statement.line.startswith("the value of one node") and "observed by 1" in found.statement.line
    best = found.protocol()
    assert ndp.check(best, found[0]["sigma"], worst=(1.0, 1e-5), observers=[1])
    assert "decor" in repr(found) and "<table>" in found._repr_html_() and pickle.loads(pickle.dumps(found)).why == found.why


def test_a_plan_covers_whom_it_was_asked_about():
    ring = nx.cycle_graph(5)
    found = ndp.plan(ring, worst=(1.0, 1e-5), protocols=["muffliato", "ring_sum"])
    assert {row["protocol"] for row in found} == {"muffliato", "ring-sum"} and found.statement.data["coverage"] == ndp.gossip(ring, 1).all_losses().statement.data["coverage"]
    for i in (0, len(found) - 1):
        assert ndp.check(found.protocol(i), found[i]["sigma"], worst=(1.0, 1e-5))
        assert not ndp.check(found.protocol(i), found[i]["sigma"] * 0.9, worst=(1.0, 1e-5))
    with pytest.raises(ndp.NdpError, match="finds a mean"):
        ndp.plan(ring, worst=1.0, protocols=["ring-histogram"])
    with pytest.raises(ndp.NdpError):
        ndp.plan(ring, worst=1.0, protocols=["nothing"])
    with pytest.raises(ndp.NdpError, match="one target"):
        ndp.plan(ring)


def published(n=2):
    p = ndp.Program(n)
    z = p.noise_all()
    y = p.add_all(p.contribute_all("nothing"), z)
    p.broadcast_all(y)
    mean = p.combine({v: f"1/{n}" for v in y})
    p.result(dict.fromkeys(range(n), mean))
    return p, z


def test_results_have_an_error():
    p, _ = published(4)
    # The mean of four noises: sigma / 2.
    assert p.error_bound(sigma=3.0) == pytest.approx(1.5) and p.error_bound(sigma=3.0) >= 1.5
    p.check_holdings()
    with pytest.raises(ndp.NdpError, match="twice"):
        p.result({0: 0})
    q = ndp.Program(2)
    y = q.add_all(q.contribute_all("nothing"), q.noise_all())
    with pytest.raises(ndp.NdpError):
        q.error_bound(sigma=1.0)
    q.result({0: q.add(*y)})
    with pytest.raises(ndp.NdpError, match="node 0"):
        q.check_holdings()
    assert pickle.loads(pickle.dumps(p)).error_bound(sigma=3.0) == p.error_bound(sigma=3.0)


def test_designed_noise_keeps_its_limit_and_is_nearly_least():
    p, z = published()
    found = p.design([[z[0]], [z[1]]], worst=0.5, floors=[9.0, 0.0])
    assert np.allclose(found.strengths, [9.0, 4.0], rtol=1e-2) and found.lower_bound <= found.cost <= 1.01 * found.lower_bound
    assert isinstance(found.loss, ndp.UpperBound) and found.loss <= 0.25 and found.adaptivity == "fixed"
    # The program has the strengths: its own account says so.
    for observer, node in ((0, 1), (1, 0)):
        mu = found.program.account(observer).profile(node, sigma=1.0).mu
        assert mu <= 0.5 + 1e-12 and float(mu) == pytest.approx(found.strengths[node] ** -0.5, rel=1e-9)
    assert float(found.program.error_bound(sigma=1.0)) ** 2 == pytest.approx(found.cost, rel=1e-9)
    assert p.account(0).profile(1, sigma=1.0).mu == 1.0  # the program itself is as before
    by_epsilon = p.design([z], worst=(1.0, 1e-5))
    least = ndp.least_noise(p, worst=(1.0, 1e-5)).sigma
    assert by_epsilon.strengths[0] == pytest.approx(least**2, rel=1e-2)
    assert float(by_epsilon.program.account(0).profile(1, sigma=1.0).epsilon(1e-5)) <= 1.0 + 1e-9
    assert np.allclose(p.design([z], mean=0.25).strengths, 4.0, rtol=2e-2)
    for wrong in ({}, {"worst": 0.5, "mean": 0.5}, {"worst": -1.0}, {"worst": 0.5, "floors": [1.0]}, {"worst": (1.0, 1e-5, 2)}):
        with pytest.raises(ndp.NdpError):
            p.design([[z[0]], [z[1]]], **wrong)
    with pytest.raises(ndp.NdpError, match="no group"):
        p.design([[z[0]]], worst=0.5)


def test_lost_messages_make_a_bound():
    def stated(**options):
        p = ndp.Program(nx.path_graph(3), **options)
        p.send_to_neighbors(p.add_all(p.contribute_all("nothing"), p.noise_all()))
        return p

    sure, lossy = stated(), stated(some_lost=True)
    assert sure.account(0).profile(1, sigma=1.0).mu.grade is ndp.Exact
    assert lossy.account(0).profile(1, sigma=1.0).mu.grade is ndp.UpperBound
    assert lossy.account(0).profile(1, sigma=1.0).mu >= sure.account(0).profile(1, sigma=1.0).mu
    assert sure != lossy and pickle.loads(pickle.dumps(lossy)) == lossy


def test_vectors_and_patterns_are_sensitivities():
    p = ndp.programs.dsgd(nx.path_graph(3), steps=4, sensitivity="same_direction")
    account = p.account(observer=2)
    same = account.verdict(0).loss
    vectors = account.verdict(0, ndp.Sensitivity("vectors", dimension=4)).loss
    cyclic = account.verdict(0, ndp.Sensitivity("same_direction", period=4)).loss
    assert float(vectors) >= float(same) * (1 - 1e-9) and float(cyclic) <= float(same)
    assert float(cyclic) == pytest.approx(float(account.verdict(0, "use_level").loss), rel=1e-9)


@pytest.mark.parametrize("law", ["laplace", "discrete-laplace"])
def test_sums_answer_as_those_of_the_registry(law):
    ring = nx.cycle_graph(6)
    mine = [ndp.walks.ring_sum(6, noise=law, last="masked"), ndp.walks.complete_sum(6, 40, noise=law)]
    named = [ndp.protocol(f"ring-sum-{law}", ring), ndp.protocol(f"complete-sum-{law}", ring, steps=40)]
    for one, other in zip(mine, named):
        a, b = one.account(observer=0).profile(2, sigma=8.0), other.account(observer=0).profile(2, sigma=8.0)
        assert a.epsilon(1e-6) == b.epsilon(1e-6) and a.delta(0.5) == b.delta(0.5)


def test_a_cap_protects():
    free, capped = ndp.walks.complete_sum(20, 2000), ndp.walks.complete_sum(20, 2000, cap=5)
    a, b = (p.account(observer=0).profile(1, sigma=20.0).epsilon(1e-6) for p in (free, capped))
    assert b < a and b.grade is ndp.UpperBound and capped != free and pickle.loads(pickle.dumps(capped)) == capped
    # It is that of five contributions, each behind noise of its own: not below their composition, and near it.
    together = float(ndp.accountants.gaussian_epsilon(5**0.5 / 20.0, 1e-6))
    assert together <= float(b) <= 1.1 * together
    for law in ("laplace", "gaussian"):
        with pytest.raises(ndp.NdpError, match="cap"):
            ndp.walks.complete_sum(20, 2000, noise=law, cap=0)
    with pytest.raises(ndp.NdpError):
        ndp.walks.complete_sum(20, 2000, noise="cauchy")
    # At most so many contributions are counted: in many steps that many, in few steps those that take place.
    walks = (ndp.walks.complete_sum(20, steps, noise="laplace", cap=3) for steps in (30, 2000, 4000))
    short, long, longer = (float(walk.account(0).profile(1, 20.0).epsilon(1e-6)) for walk in walks)
    assert short < long == longer


def test_a_plan_says_what_it_protects():
    found = ndp.plan(nx.cycle_graph(5), worst=(1.0, 1e-5), protocols=["muffliato", "decor"], observers=[0])
    assert f"the first, decor: {found.statement.line}" in repr(found).splitlines()
    assert found.statement._repr_html_() in found._repr_html_()


def test_a_plan_shows_what_was_cut_short():
    found = ndp.plan(nx.random_regular_graph(4, 60, seed=1), worst=(1.0, 1e-5), protocols=["walk", "gopa", "decor"], patience=0)
    cut = {row["protocol"] for row in found if row["notes"]}
    (note,) = {note for row in found for note in row["notes"] or ()}
    assert "walk" in cut and "patience=0 asks for it" in note
    named = next(line for line in repr(found).splitlines() if line.endswith(f": {note}"))
    assert set(named.removesuffix(f": {note}").split(", ")) == cut and repr(found).count(note) == 1
    assert f"<p>{named}</p>" in found._repr_html_() and found._repr_html_().count(note) == 1
    assert list(found.to_frame()["notes"]) == [note if row["protocol"] in cut else "" for row in found]
