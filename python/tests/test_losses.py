"""Losses of gossip against the reference values of the crates."""

import networkx as nx
import numpy as np
import pytest

import ndp


def test_the_reference_values_of_the_unweighted_karate_club():
    r = ndp.gossip(nx.karate_club_graph(), rounds=8).losses(observer=11)
    # Muffliato specification: unit losses of nodes 5 and 33 towards node 11.
    assert r.unit[5] == pytest.approx(0.217240691468641, rel=1e-12)
    assert r.unit[33] == pytest.approx(0.434764607615463, rel=1e-12)
    assert r.grade is ndp.Exact
    low, high = r.enclosure
    assert (low <= r.unit).all() and (high == r.unit).all() and (high - low).max() <= 1e-9
    assert r.failure < 1e-20


def test_weights_are_used_only_when_asked_for():
    G = nx.path_graph(3)
    plain = ndp.gossip(G, rounds=2).losses(observer=2)
    nx.set_edge_attributes(G, {(0, 1): 0.0, (1, 2): 0.5}, "weight")
    ignored = ndp.gossip(G, rounds=2)
    assert "not used" in ignored.words
    assert np.array_equal(ignored.losses(observer=2).unit, plain.unit)
    used = ndp.gossip(G, rounds=2, weight="weight")
    assert "own weights" in used.words
    # Node 1 passes nothing of node 0 on.
    assert used.losses(observer=2).unit == pytest.approx([0.0, 1.0, 1.0], abs=1e-9)


def test_the_end_of_a_path_learns_all_about_its_start():
    r = ndp.gossip(nx.path_graph(3), rounds=2).losses(observer=2)
    assert float(r[0]) == 1.0
    printed = 1.0 / 3.0  # Theorem 1 of the Muffliato paper
    assert float(r[0]) > printed


def test_mu_epsilon_and_delta_agree_with_each_other():
    r = ndp.gossip(nx.karate_club_graph(), rounds=8).losses(observer=11)
    mu = r.mu(sigma=2.0, sensitivity=3.0)
    assert mu == pytest.approx(1.5 * np.sqrt(r.unit), rel=1e-12)
    assert (mu >= 1.5 * np.sqrt(r.enclosure[0])).all()
    epsilon = r.epsilon(sigma=2.0, delta=1e-5)
    back = np.array([ndp.Exact(float(u), "unit loss").epsilon(2.0, 1e-5).value for u in r.unit])
    assert np.array_equal(epsilon, back)
    assert r.delta(sigma=2.0, epsilon=epsilon[5])[5] <= 1e-5 * (1 + 1e-9)
    assert r.rdp(sigma=2.0, order=3.0) == pytest.approx(3.0 / 8.0 * r.unit, rel=1e-12)


def test_coalitions_learn_more_than_their_members():
    p = ndp.gossip(nx.cycle_graph(8), rounds=3)
    alone, pooled = p.losses(observer=0), p.losses(coalition=[4, 0])
    outside = [1, 2, 3, 5, 6, 7]
    assert (pooled.unit[outside] >= alone.unit[outside] - 1e-9).all()
    assert pooled.coalition == [0, 4] and pooled.rank == 8
    assert float(pooled.mean) == pytest.approx(6 / 8)


def test_all_losses_are_those_of_each_observer():
    G = nx.karate_club_graph()
    p = ndp.gossip(G, rounds=5)
    every = p.all_losses()
    assert every.unit.shape == (34, 34)
    for v in (0, 11, 33):
        one = p.losses(observer=v)
        assert every.towards(v) == one
        assert np.array_equal(every.unit[:, v], one.unit)
    assert every[5, 11] == p.losses(11)[5]
    assert np.array_equal(every.epsilon(2.0, 1e-5)[:, 11], p.losses(11).epsilon(2.0, 1e-5))


def test_progress_is_told_to_the_end():
    told = []
    ndp.gossip(nx.karate_club_graph(), rounds=3).all_losses(progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (34, 34)


def test_noise_for_a_target_meets_it_and_less_does_not():
    p = ndp.gossip(nx.karate_club_graph(), rounds=6)
    losses = p.all_losses()
    found = losses.least_noise(worst=(1.0, 1e-5))
    assert losses.check(found.sigma, worst=(1.0, 1e-5))
    assert losses.check(0.999 * found.sigma, worst=(1.0, 1e-5)).verdict == "violated"
    assert losses.epsilon(found.sigma, 1e-5).max() <= 1.0 + 1e-12
    assert ndp.least_noise(p, worst=(1.0, 1e-5)) == found
    far = losses.least_noise(pairs=lambda u, v: (1.0, 1e-5) if u + v == 44 and u == 33 else float("inf"))
    assert (far.source, far.observer) == (33, 11) and far.sigma < found.sigma
    assert losses.least_noise(worst=0.5, order=2.0).loss.value <= 0.5
    assert losses.least_noise(mean=0.1, order=2.0).sigma < losses.least_noise(worst=0.1, order=2.0).sigma


@pytest.mark.parametrize("weights", ["metropolis", "max_degree", "sum_degree"])
def test_a_given_matrix_is_the_named_one(weights):
    G = nx.karate_club_graph()
    named = ndp.gossip(G, rounds=4, weights=weights)
    for matrix in (named.matrix(), named.matrix().toarray()):
        given = ndp.gossip(G, rounds=4, weights=matrix)
        assert given.losses(0).unit == pytest.approx(named.losses(0).unit, abs=1e-8)


def test_acceleration_and_laziness_change_nothing():
    G = nx.karate_club_graph()
    plain = ndp.gossip(G, rounds=4).losses(0).unit
    assert ndp.gossip(G, rounds=4, chebyshev=1.3).losses(0).unit == pytest.approx(plain, abs=1e-9)
    assert ndp.gossip(G, rounds=4, laziness=0.25).losses(0).unit == pytest.approx(plain, abs=1e-9)


def test_every_gossip_answers():
    G = nx.cycle_graph(6)
    for protocol in [
        ndp.noisy_gossip(G, rounds=3, ratio=0.5),
        ndp.noisy_gossip(G, rounds=3, ratio=0.5, kind="per_link"),
        ndp.fresh_noise(G, rounds=3),
        ndp.randomized_gossip(G, steps=40, seed=1),
        ndp.accelerated_gossip(G, time=40.0, seed=1),
        ndp.time_varying_gossip([G, nx.complete_graph(6), nx.path_graph(6)]),
    ]:
        r = protocol.losses(observer=2)
        assert r.grade is ndp.Exact and (0 <= r.unit).all() and (r.unit <= 1).all()
        found = ndp.audit(protocol, (1, 2), runs=5_000)
        assert not found.refuted and found.measured_mu.value <= float(found.allowed_mu)
        run = protocol.run(np.arange(6.0), sigma=0.1, seed=3)
        assert run.output.shape == (6,)
        assert float(protocol.error(np.arange(6.0), sigma=0.1)) > 0.0


def test_the_sequence_that_is_constant_is_gossip():
    G = nx.cycle_graph(6)
    varying = ndp.time_varying_gossip([G] * 4).losses(0)
    assert varying.unit == pytest.approx(ndp.gossip(G, rounds=4).losses(0).unit, abs=1e-9)


def test_one_peer_halves_with_every_step():
    r = ndp.one_peer(4).losses(observer=0)
    # Muffliato specification: node u is learned 2^-k, k the step at which it first arrives.
    assert sorted(set(r.unit)) == pytest.approx([0.125, 0.25, 0.5, 1.0])


def test_a_run_averages():
    p = ndp.gossip(nx.complete_graph(5), rounds=3)
    values = np.arange(10.0).reshape(5, 2)
    run = p.run(values, sigma=1e-9, seed=1)
    assert run.output == pytest.approx(np.tile(values.mean(axis=0), (5, 1)), abs=1e-6)
    again = p.run(values, sigma=1e-9, seed=1)
    assert np.array_equal(run.output, again.output) and len(run.messages) == 3


def test_noise_on_what_is_overheard_protects_against_outsiders_alone():
    p = ndp.noisy_gossip(nx.path_graph(3), rounds=1, ratio=1.0, kind="overheard")
    # The nodes average clean messages: their own state holds what their neighbors sent.
    for who in ({"observer": 1}, {"coalition": [0, 2]}):
        with pytest.raises(ndp.NdpError, match="the nodes themselves average clean messages"):
            p.losses(**who)
        with pytest.raises(ndp.NdpError, match="the nodes themselves average clean messages"):
            p.account(**who)
    with pytest.raises(ndp.NdpError, match="the nodes themselves average clean messages"):
        ndp.audit(p, (0, 1), runs=1_000)


def test_tuples_that_are_labels_are_told_from_coalitions():
    """In a factor graph a coalition of two nodes has the name of the factor between them."""
    edges = [(0, (0, 1)), ((0, 1), 1), (1, (1, 2)), ((1, 2), 2), (2, (2, 3)), ((2, 3), 3)]
    p = ndp.fresh_noise(nx.Graph(edges), 4)
    r = p.all_losses([[0, 1], (0, 1), [2, 3], 0])
    alone = {members: p.losses(coalition=list(members)) for members in ((0, 1), (2, 3))}
    # All pairs, in the order of the observers: two coalitions, a factor and a node.
    found = [(pair, float(loss)) for pair, loss in r.items()]
    assert len(found) == 5 + 6 + 5 + 6
    assert found[:5] == [((u, (0, 1)), float(loss)) for u, loss in alone[0, 1].items()]
    assert found[5:11] == [((u, (0, 1)), float(loss)) for u, loss in p.losses((0, 1)).items()]
    assert r._repr_html_().count("(0, 1)") >= 2
    with pytest.raises(ndp.NdpError, match="a node and a coalition here"):
        r.towards((0, 1))
    assert float(r.towards([0, 1]).max) == float(alone[0, 1].max)
    # (2, 3) is a coalition here, though it is the name of a factor.
    assert float(r.towards((2, 3)).max) == float(alone[2, 3].max)
    letters, observers = nx.Graph([("a", "b"), ("b", "c"), ("c", ("a", "b"))]), [["a", "b"], [("a", "b")]]
    with pytest.raises(ndp.NdpError, match="a node and a coalition here"):
        ndp.Meter(letters, per="participant", clip=1.0, observers=observers, limits={(("a", "b"), "c"): 0.1})


def test_coalitions_without_their_noise_learn_no_less_than_members():
    p = ndp.gossip(([0, 1, 1, 2], [3, 2, 3, 3]), 2)
    assert p.losses(1, own_noise=False)[0] == 1.0 == p.losses(coalition=[1, 2], own_noise=False)[0]


def test_conversions_have_grades_of_their_own():
    losses, delta = ndp.gossip(([0, 1], [1, 2]), rounds=1).losses(observer=0), 0.003989406181481643
    # The true epsilon is 2.98966e-18 (mpmath, 80 digits); no ninth digit is known.
    found = losses[1].epsilon(sigma=100.0, delta=delta)
    assert isinstance(found, ndp.UpperBound) and found >= 2.98966e-18
    assert losses.epsilon(100.0, delta).grade is ndp.UpperBound
    assert set(losses.to_frame(sigma=100.0, delta=delta)["grade"]) == {"upper-bound"}
    assert set(losses.to_frame(sigma=100.0)["grade"]) == {"exact"} == set(losses.to_frame()["grade"])
    # Beyond all floats, and below those with all digits.
    assert isinstance(losses[1].epsilon(sigma=1e-300, delta=1e-5), ndp.UpperBound)
    assert isinstance(ndp.Exact(1.0, "unit loss").mu(sigma=5e-324), ndp.UpperBound)
    assert isinstance(ndp.Exact(1e-300, "unit loss").mu(sigma=1e170), ndp.UpperBound)
    assert isinstance(ndp.Exact(1.0, "unit loss").mu(sigma=2.0), ndp.Exact)
    for call in (
        lambda: losses.epsilon(sigma=2.0, delta=ndp.Exact(1e-5, "mu")),
        lambda: losses.delta(sigma=2.0, epsilon=ndp.Exact(1.0, "delta")),
        lambda: losses.mu(2.0, sensitivity=ndp.Exact(2.0, "mu")),
    ):
        with pytest.raises(TypeError, match="is needed, got"):
            call()


def test_no_ufunc_writes_into_graded_losses():
    losses = ndp.gossip(([0, 1], [1, 2]), rounds=2).losses(observer=2)
    for ufunc, given in ((np.subtract, (1.0,)), (np.add, (1.0,)), (np.multiply, (0.5,)), (np.negative, ())):
        for array in (losses.unit, losses.epsilon(1.0, 1e-5)):
            with pytest.raises(ValueError, match="read-only"):
                ufunc.at(array, [0], *given)
    assert losses[0] == 1.0
    free = losses.unit.copy()
    np.subtract.at(free, [0], 0.25)
    assert free[0] == 0.75
