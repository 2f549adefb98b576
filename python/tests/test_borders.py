"""What stands at the borders of calls: numbers that say what they are, and lists of nodes."""

import copy
import math
import pickle

import networkx as nx
import numpy as np
import pytest

import ndp
from ndp import printed, walks

PATH = nx.path_graph(4)
LETTERS = nx.relabel_nodes(PATH, dict(enumerate("abcd")))
GOSSIP = ndp.gossip(PATH, rounds=2)

ASKED = [
    lambda **target: ndp.check(GOSSIP, 4.0, **target),
    lambda **target: ndp.least_noise(GOSSIP, **target),
    lambda **target: GOSSIP.losses(0).check(4.0, **target),
    lambda **target: GOSSIP.losses(0).least_noise(**target),
    lambda **target: ndp.compare({"once": GOSSIP}, **target),
]


@pytest.mark.parametrize("ask", ASKED)
def test_a_target_of_another_order_or_delta_is_refused(ask):
    loss = ndp.UpperBound(0.5, "Rényi loss", {"order": 2.0})
    assert ask(worst=loss, order=2.0) is not None
    for target in ({"worst": loss}, {"pairs": lambda u, v: loss}):
        with pytest.raises(TypeError, match="a Rényi loss at order 8.0 is needed, got one at order 2.0"):
            ask(order=8.0, **target)
    epsilon = ndp.Exact(1.0, "epsilon", {"delta": 1e-5})
    assert ask(worst=(epsilon, 1e-5)) is not None
    with pytest.raises(TypeError, match="an epsilon at delta 1e-06 is needed, got one at delta 1e-05"):
        ask(worst=(epsilon, 1e-6))
    with pytest.raises(TypeError, match="a delta at epsilon 1.0 is needed, got one at epsilon 2.0"):
        ask(worst=(1.0, ndp.Exact(1e-5, "delta", {"epsilon": 2.0})))


def test_the_limit_of_a_ledger_says_what_it_is():
    loss, epsilon = ndp.UpperBound(0.5, "Rényi loss", {"order": 2.0}), ndp.Exact(1.0, "epsilon", {"delta": 1e-5})
    assert ndp.Ledger(limit=(epsilon, 1e-5)).fits(GOSSIP, 4.0) == ndp.Ledger(limit=(1.0, 1e-5)).fits(GOSSIP, 4.0)
    for limit, options in ((loss, {"order": 8.0}), (loss, {}), (epsilon, {}), ((epsilon, 1e-6), {})):
        with pytest.raises(TypeError, match="is needed, got"):
            ndp.Ledger(limit=limit, **options)


@pytest.mark.parametrize("ask", ASKED)
def test_limits_of_pairs_are_of_one_kind(ask):
    with pytest.raises(ndp.NdpError, match=r"pairs= gives \(epsilon, delta\) for some pairs and 1.0 alone for another"):
        ask(pairs=lambda u, v: (1.0, 1e-5) if u == 1 else 1.0)
    # A pair without a limit is of no kind.
    assert ask(pairs=lambda u, v: (1.0, 1e-5) if u == 1 else math.inf) is not None


@pytest.mark.parametrize(
    "ask",
    [
        GOSSIP.losses(0).mu,
        lambda sigma: GOSSIP.losses(0).mu([2.0, sigma]),
        lambda sigma: GOSSIP.all_losses().epsilon(sigma, 1e-5),
        lambda sigma: GOSSIP.losses(0).check(sigma, worst=1.0),
        lambda sigma: ndp.check(GOSSIP, sigma, worst=1.0),
        lambda sigma: ndp.sweep(PATH, rounds=2, sigma=sigma),
        lambda sigma: ndp.sweep(PATH, rounds=2, sigma=[sigma]),
        lambda sigma: ndp.audit(GOSSIP, (1, 0), sigma=sigma, runs=100),
        lambda sigma: ndp.Ledger(limit=1.0).fits(GOSSIP, sigma),
        lambda sigma: ndp.Ledger().record(GOSSIP, sigma),
        GOSSIP.account(0).mu,
        lambda sigma: GOSSIP.account(0).profile(1, sigma),
        lambda sigma: GOSSIP.run(np.ones(4), sigma, seed=1),
        lambda sigma: GOSSIP.error(np.ones(4), sigma),
        GOSSIP.error_bound,
        GOSSIP.losses(0)[1].mu,
        lambda sigma: ndp.Meter(2, per="use", clip=1.0).noise(0, sigma=sigma),
        lambda sigma: walks.token_walk(PATH, steps=20).rdp(0, 2, order=2.0, sigma=sigma),
        lambda sigma: printed.walk_losses(PATH, 20, order=2.0, sigma=sigma),
    ],
)
def test_a_noise_is_no_number_of_another_kind(ask):
    with pytest.raises(TypeError, match="a sigma is needed, got a mu"):
        ask(ndp.Exact(4.0, "mu"))
    with pytest.raises(TypeError, match="no guarantee"):
        ask(ndp.Printed(4.0, "sigma"))
    ask(ndp.UpperBound(4.0, "sigma"))


@pytest.mark.parametrize(
    "ask",
    [
        lambda p: p.losses(coalition="ab"),
        lambda p: p.account(coalition="ab"),
        lambda p: p.bound(coalition="ab"),
        lambda p: p.all_losses("ab"),
        lambda p: ndp.least_noise(p, worst=1.0, observers="ab"),
        lambda p: ndp.compare({"once": p}, worst=1.0, observers="ab"),
        lambda p: ndp.plan(LETTERS, worst=1.0, protocols=["muffliato"], observers="ab"),
        lambda p: ndp.sweep(LETTERS, 2, 4.0, observers="ab"),
        lambda p: ndp.Ledger().record(p, 4.0, observers="ab"),
        lambda p: p.losses("a").prove(sources="bc"),
        lambda p: ndp.Meter(LETTERS, per="use", clip=1.0, observers="ab"),
        lambda p: ndp.Program(LETTERS, asked="ab"),
        lambda p: ndp.Program(LETTERS).zero_sum("ab"),
        lambda p: ndp.Program(LETTERS).shared_noise("ab"),
        lambda p: ndp.Program(LETTERS).correlated("ab", [[1, 0], [0, 1]]),
        lambda p: printed.muffliato_theorem12(LETTERS, 2, "ab"),
        lambda p: printed.muffliato_corollary3(LETTERS, 2, "ab"),
    ],
)
def test_a_text_is_no_list_of_nodes(ask):
    with pytest.raises(ndp.NdpError, match="must be a list of nodes, got the text '(ab|bc)'"):
        ask(ndp.gossip(LETTERS, rounds=2))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: ndp.Program(3).account(observer=True),
        lambda: ndp.Program(3).contribute(False, "nothing"),
        lambda: walks.ring_sum(5, 2).account(observer=True),
        lambda: walks.sum_on_path(4, [0, 1, 2]).losses(0)[True],
        lambda: ndp.Meter(3, per="use", clip=1.0).contribute(True, "nothing"),
        lambda: ndp.Meter(PATH, per="use", clip=1.0).losses(True),
    ],
)
def test_true_is_no_node(ask):
    with pytest.raises(ndp.NdpError, match="node (True|False) is not one of"):
        ask()


@pytest.mark.parametrize("name", ["ring-sum-discrete-laplace", "complete-sum-discrete-laplace", "ring-histogram"])
def test_noise_on_whole_numbers_and_labels_does_not_scale(name):
    graph = ndp.Graph([(u, (u + 1) % 8) for u in range(8)])
    protocol = ndp.protocol(name, graph)
    account = protocol.account(5)
    for ask in (
        lambda s: account.profile(1, sigma=2.0, sensitivity=s),
        lambda s: ndp.least_noise(protocol, worst=(1.0, 1e-5), sensitivity=s),
        lambda s: ndp.check(protocol, 5.0, worst=(9.0, 1e-5), sensitivity=s),
    ):
        ask(1.0)
        with pytest.raises(ndp.NdpError, match="the sensitivity must be 1"):
            ask(2.0)
    rows = ndp.compare({name: protocol, "local": ndp.protocol("local", graph)}, worst=(1.0, 1e-5), sensitivity=2.0)
    assert "whole numbers" in rows[0]["reason"] and "sigma" in rows[1], rows


def test_the_coalition_of_all_nodes_is_one_coalition():
    """Nobody is exposed to it, so that no smaller coalition is a part of what it is about."""
    gossip = ndp.gossip(nx.star_graph(4), 2)
    everybody = [0, 1, 2, 3, 4]
    for said in (gossip.losses(coalition=everybody).statement, ndp.check(gossip, 1.0, worst=1.0, observers=[everybody]).statement):
        assert said is not None and "every coalition" not in said.line and "0, 1, 2, 3, 4 together" in said.line
    fours = [[v for v in everybody if v != u] for u in everybody]
    assert "every coalition of at most 4 of 5" in ndp.check(gossip, 1.0, worst=1.0, observers=fours).statement.line


def test_a_target_is_a_plain_number():
    """An epsilon at delta 1e-6 was compared with one at delta 1e-5."""
    graded = ndp.Exact(1.0, "epsilon", {"delta": 1e-6})
    accountants = ndp.accountants
    for search in (
        lambda target: accountants.smallest_sigma(target, lambda sigma: accountants.Gaussian(sigma).epsilon(1e-5)),
        lambda target: accountants.largest_count(target, 10, lambda k: accountants.Gaussian(9.0 / k).epsilon(1e-5)),
        lambda target: accountants.smallest_epsilon(target, accountants.Gaussian(2.0).delta),
    ):
        with pytest.raises(ndp.NdpError, match="a target is a plain number"):
            search(graded)
        assert search(0.5) is not None


def test_neighbors_of_a_changing_graph_are_not_those_of_its_first_round():
    rounds = [ndp.Graph(([0, 1], [1, 2]), nodes=5), ndp.Graph(([0, 3, 4], [3, 4, 1]), nodes=5)]
    with pytest.raises(ndp.NdpError, match="who is a neighbor changes from round to round"):
        ndp.check(ndp.time_varying_gossip(rounds), 2.0, worst=1.0, neighbors=2)
    assert ndp.check(ndp.time_varying_gossip(rounds[:1] * 2), 2.0, worst=1.0, neighbors=2).statement is not None


def test_what_a_ledger_keeps_is_fixed_and_said():
    path = ndp.gossip(([0, 1], [1, 2]), 1)
    for asked in ({"limit": 0.5}, {"odometer": (1.0, 1e-5)}):
        ledger = ndp.Ledger(**asked)
        ledger.record(path, 4.0)
        for name in ("limit", "order", "odometer"):
            with pytest.raises(AttributeError):
                setattr(ledger, name, None)
        by_whom = "what the same observer has seen of the earlier ones"
        assert (by_whom in ledger.statement.paragraph) == ("odometer" in asked)
    ledger.record(path, 4.0, adaptivity="on_seen")
    assert by_whom in ledger.statement.paragraph


def test_a_mu_of_a_gaussian_view_holds_at_every_rate():
    assert ndp.audit(GOSSIP, pair=(0, 2), runs=400).allowed_at is None


def test_a_plan_says_of_which_row_its_statement_is():
    plan = ndp.plan(([0, 1, 2, 3, 4], [1, 2, 3, 4, 0]), worst=(1.0, 1e-5), observers=[0])
    assert f"the first, {plan.rows[0]['protocol']}: " in repr(plan)


def test_only_entries_that_are_taken_out_keep_their_grade():
    report = ndp.gossip(nx.karate_club_graph(), 8).losses(observer=11)
    unit, mu = report.unit, report.mu(2.0)
    for kept in (unit, unit[3:], unit[[1, 2]], copy.deepcopy(unit), pickle.loads(pickle.dumps(unit))):
        assert kept.grade is ndp.Exact
        # Nothing can be written where a grade is.
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 0.0
    made = [unit.astype(np.float32), unit.astype(int), unit.imag, unit.view(np.int64), unit.dot(-np.ones(34)), 0.1 * unit]
    made += [np.full_like(unit, 0.01), np.zeros_like(unit), np.empty_like(unit), np.dot(unit, np.ones(34)), np.stack([unit, unit])]
    assert all(getattr(array, "grade", None) is None for array in made)
    with pytest.raises(ValueError, match="read-only"):
        np.multiply(mu, 0.1, out=mu)
    changed = mu.copy()
    changed[0] = 0.0
    assert changed.grade is None and mu.grade is ndp.Exact
    assert repr(unit[..., 33]) == repr(unit[33]) and unit[..., 33] == unit[33]
    assert not isinstance(unit + unit, type(unit)) and unit.sum() == np.asarray(unit).sum()


@pytest.mark.parametrize("laziness", [float("nan"), -0.1, 1.0, 1.5])
def test_a_laziness_out_of_range_is_refused_at_once(laziness: float) -> None:
    for build, more in [(ndp.gossip, {}), (ndp.noisy_gossip, {"ratio": 1.0}), (ndp.fresh_noise, {})]:
        with pytest.raises(ndp.NdpError, match=r"laziness must lie in \[0, 1\), got " + str(laziness)):
            build(PATH, rounds=2, laziness=laziness, **more)


@pytest.mark.parametrize("mean", [float("nan"), -1.0])
def test_a_limit_on_a_mean_is_a_limit(mean):
    with pytest.raises(ndp.NdpError, match="the mean loss allowed must be nonnegative, got"):
        ndp.check(GOSSIP, 3.0, mean=mean, order=2.0)


def test_what_several_observers_learn_is_a_bound_for_each():
    one, other = (GOSSIP.account(v).profile(1, 2.0) for v in (0, 3))
    assert ndp.Profile.compose([one, one]).epsilon(1e-5).grade is ndp.Exact
    assert ndp.Profile.compose([one, other]).epsilon(1e-5).grade is ndp.UpperBound


@pytest.mark.parametrize("odometer", [[], (1.0,), (1.0, 1e-5, 3.0), "a", 3.0])
def test_an_odometer_is_two_numbers(odometer):
    with pytest.raises(ndp.NdpError, match=r"an odometer is \(rho, delta\), got"):
        ndp.Ledger(odometer=odometer)
    assert ndp.Ledger(odometer=[1.0, 1e-5]).odometer == (1.0, 1e-5)


@pytest.mark.parametrize("wrong", [10**400, 10**5000, "a", [None]], ids=["large", "larger", "text", "list"])
@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("sigma", lambda x: ndp.check(GOSSIP, x, worst=1.0)),
        ("sigma", lambda x: GOSSIP.account(0).profile(1, x)),
        ("mu", lambda x: ndp.least_noise(GOSSIP, worst=x)),
        ("epsilon", lambda x: ndp.least_noise(GOSSIP, worst=(x, 1e-5))),
        ("delta", lambda x: ndp.compare({"once": GOSSIP}, worst=(1.0, x))),
        ("order", lambda x: ndp.least_noise(GOSSIP, worst=1.0, order=x)),
        ("mu", lambda x: ndp.Ledger(limit=x)),
        ("order", lambda x: ndp.Ledger(limit=1.0, order=x)),
        ("rho", lambda x: ndp.Ledger(odometer=(x, 1e-5))),
        ("delta", lambda x: ndp.Ledger(odometer=(1.0, x))),
        ("patience", lambda x: GOSSIP.account(0, patience=x)),
        ("sensitivity", lambda x: ndp.check(GOSSIP, 1.0, worst=1.0, sensitivity=x)),
        ("sensitivity", lambda x: ndp.least_noise(GOSSIP, worst=1.0, sensitivity=x)),
        ("sensitivity", lambda x: GOSSIP.account(0).profile(1, 1.0, sensitivity=x)),
        ("sensitivity", lambda x: GOSSIP.error_bound(1.0, sensitivity=x)),
        ("delta", lambda x: GOSSIP.account(0).profile(1, 1.0).epsilon(x)),
        ("epsilon", lambda x: GOSSIP.account(0).profile(1, 1.0).delta(x)),
        ("order", lambda x: GOSSIP.account(0).profile(1, 1.0).rdp(x)),
        ("laziness", lambda x: ndp.gossip(PATH, rounds=1, laziness=x)),
        ("ratio", lambda x: ndp.noisy_gossip(PATH, rounds=1, ratio=x)),
    ],
)
def test_what_no_float_holds_is_refused_by_its_name(name, ask, wrong):
    said = f"{name} must be a number that a float can hold, got (10000|a number too long|'a'|.None.)"
    with pytest.raises(ndp.NdpError, match=said) as caught:
        ask(wrong)
    assert len(str(caught.value)) < 200


def test_large_numbers_are_refused_in_lists_and_counts():
    for ask in (GOSSIP.losses(0).mu, lambda x: GOSSIP.run([x] * 4, 1.0, 0), lambda x: GOSSIP.losses(0).mu([2.0, x])):
        with pytest.raises(ndp.NdpError, match="that (a float|floats) can hold"):
            ask(10**400)
    for count in (10**5000, -(10**5000)):
        with pytest.raises(ndp.NdpError, match="rounds must be (below|at least) .*, got a number too long to be written"):
            ndp.gossip(PATH, rounds=count)
    with pytest.raises(ndp.NdpError, match="a seed must lie between"):
        GOSSIP.run(np.ones(4), 1.0, seed=10**5000)


def test_overheard_edges_are_for_outsiders_and_beside_observers_of_programs():
    """As the documentation of ``tapped`` says."""
    for gossip in (GOSSIP, ndp.noisy_gossip(PATH, rounds=2, ratio=0.5), ndp.fresh_noise(PATH, rounds=2)):
        assert gossip.account(tapped=[(0, 1)]).profile(0, 2.0).mu is not None
        with pytest.raises(ndp.NdpError, match="overhear"):
            gossip.account(observer=3, tapped=[(0, 1)])
    program = ndp.programs.decor(PATH)
    alone, beside = program.account(tapped=[(0, 1)]), program.account(observer=3, tapped=[(0, 1)])
    assert beside.profile(0, 2.0).mu >= alone.profile(0, 2.0).mu
    for other in (ndp.randomized_gossip(PATH, steps=9, seed=2), walks.ring_sum(10, 2), ndp.protocol("walk", PATH)):
        with pytest.raises(ndp.NdpError, match="overhear"):
            other.account(tapped=[(0, 1)])


def test_a_largest_count_is_guaranteed_from_below():
    found = ndp.accountants.largest_count(1.0, 10**9, lambda n: ndp.Exact(n / 1234567.0, "epsilon"))
    assert found == ndp.Exact(1234567, "largest count") and f"{found:.3g}" == "1.23e+06" and ndp.upper(found, 3) == 1230000.0
    # More than were tried may be within the target.
    assert type(ndp.accountants.largest_count(1.0, 100, lambda n: ndp.Exact(0.001 * n, "epsilon"))) is ndp.UpperBound
    assert type(ndp.accountants.smallest_epsilon(1e-304, ndp.accountants.Laplace(1.0, 1e-303).delta)) is ndp.UpperBound


def test_shuffles_have_their_default_rule_with_labels():
    assert ndp.accountants.shuffle_delta(0.1, 1.0, 100, labels=3) == ndp.accountants.shuffle_delta(0.1, 1.0, 100)
