"""Claims of others, refuted by machine, from Python."""

import io
import math
import pickle
from contextlib import redirect_stdout
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import ndp

THEOREM = "alpha / (2 * sigma^2) * sum(t, 0, T - 1, neighbors(w, v, W[t][w,u]^2 / sum(x, 0, n - 1, W[t][w,x]^2)))"


def theorem(graph, rounds, weights, order, observer, source):
    """Theorem 1 of Muffliato at sigma 1, in fractions."""
    power, total = np.array([[Fraction(int(i == j)) for j in range(len(weights))] for i in range(len(weights))], object), Fraction(0)
    for _ in range(rounds):
        total += sum(power[w][source] ** 2 / sum(x * x for x in power[w]) for w in range(len(weights)) if w != observer and weights[observer][w])
        power = weights.dot(power)
    return order / 2 * total


def alike(one, other):
    """Whether two counterexamples are the same but for how the claim was rounded."""
    near = float(other.claimed) == pytest.approx(float(one.claimed), rel=1e-12)
    return near and one == other._replace(claimed=one.claimed, script=one.script, attack=one.attack)


def test_a_false_theorem_falls_in_both_languages():
    by_formula, by_function = ndp.refute(THEOREM), ndp.refute(theorem)
    one, other = by_formula.counterexample, by_function.counterexample
    assert by_formula.refuted and one.true_loss == 1 and (one.nodes, one.rounds, len(one.edges)) == (3, 2, 2)
    assert one.claimed >= Fraction(1, 3) and float(one.claimed) == pytest.approx(1 / 3)
    # The function has the least float above a third; all else is the same.
    assert other.claimed == Fraction(math.nextafter(1 / 3, 1)) and alike(one, other)
    assert by_function.cases == by_formula.cases and by_function.claim == "theorem"
    # The account agrees with the truth.
    graph = nx.Graph(one.edges)
    loss = ndp.gossip(graph, rounds=one.rounds).losses(observer=one.observers[0])[one.source]
    assert loss.value == pytest.approx(float(one.true_loss), rel=1e-9)
    assert np.allclose(np.array(one.matrix(), float), ndp.gossip(ndp.Graph(graph), 1).matrix().toarray()[np.ix_(*[[list(graph).index(v) for v in range(3)]] * 2)])


@pytest.mark.parametrize("rule", ["metropolis", "max_degree", "lazy"])
def test_functions_are_given_the_weights_of_the_search(rule):
    """A claim that is the same in both languages has the same counterexample under every rule, order and noise."""
    formula = "alpha * W[1][u,v]"
    one = ndp.refute(formula, weights=rule, order=3.0, sigma=2.0, nodes=4)
    other = ndp.refute(lambda g, t, w, order, v, u: order * w[u][v], weights=rule, order=3.0, sigma=2.0, nodes=4)
    assert one.refuted and one.cases == other.cases
    assert other.counterexample.claimed <= one.counterexample.claimed
    assert alike(one.counterexample, other.counterexample)
    k = {"metropolis": 4, "max_degree": 3, "lazy": 8}[rule]
    star = one.counterexample._replace(nodes=4, edges=[(0, 1), (0, 2), (0, 3)]).matrix()
    assert star[0][1] == Fraction(1, k) and star[1][1] == 1 - Fraction(1, k) and star[1][2] == 0 and sum(star[0]) == 1
    assert one.counterexample.sigma == 2 and one.counterexample.weights == rule


def test_true_claims_are_not_refuted_and_say_how_far():
    local = ndp.refute(lambda graph, rounds, weights, order, observer, source: order / 2, nodes=4, rounds=3)
    assert not local.refuted and local.counterexample is None and not local.ran_out
    assert (local.complete_to, local.thin_to, local.rounds, local.undecided) == (4, 0, 3, 0)
    assert "proves nothing" in repr(local) and "up to 4 nodes" in repr(local) and "<li>" in local._repr_html_()
    few = ndp.refute("alpha", cases=10)
    assert few.ran_out and few.cases == 10 and "before the cases ran out" in repr(few)
    assert ndp.refute("alpha", nodes=2, thin_nodes=8, rounds=1).thin_to == 8
    nothing = ndp.refute(lambda *given: math.inf, nodes=3)
    assert not nothing.refuted and nothing.without_value > nothing.cases == 0


def test_a_true_bound_is_not_refuted_by_rounding():
    """A third is no float: the claim that is the truth itself is left alone, and one just below it falls."""
    truth = ndp.refute("0", nodes=3, rounds=1).counterexample
    assert truth.true_loss > 0
    exact = truth.true_loss
    # Of two nodes there is one case, up to symmetry.
    assert not ndp.refute(lambda *given: exact, nodes=2, rounds=1).refuted
    assert ndp.refute(lambda *given: exact - Fraction(1, 2**40), nodes=2, rounds=1).refuted
    third = Fraction(1, 3)
    assert ndp._refute._around(third)[0] < third < ndp._refute._around(third)[1]
    assert ndp._refute._around(Fraction(1, 2)) == (0.5, 0.5)
    assert ndp._refute._around(Fraction(10) ** 400)[1] == math.inf


def test_the_script_says_the_same():
    found = ndp.refute(THEOREM, weights=["max_degree", "lazy"], nodes=4).counterexample
    said = io.StringIO()
    with redirect_stdout(said):
        exec(found.script, {})
    assert said.getvalue().split("true loss ")[1].split(" claimed")[0] == str(found.true_loss)


def test_what_is_refused():
    for claim, match in [(lambda *a: 0.5, "rounded"), (lambda *a: math.nan, "infinite"), (lambda *a: True, "fraction"), (3, "function"),
                         ("alpha +", "expected"), ("beta", "not known")]:  # fmt: skip
        with pytest.raises(ndp.NdpError, match=match):
            ndp.refute(claim)
    with pytest.raises(ZeroDivisionError):
        ndp.refute(lambda *a: 1 // 0)
    with pytest.raises(ndp.NdpError, match="muffliato, accelerated"):
        ndp.refute("alpha", protocol="walks")
    with pytest.raises(ndp.NdpError, match="formula"):
        ndp.refute(lambda *given: 1, protocol="pairs")
    for wrong in ({"weights": "best"}, {"weights": []}, {"rounds": 0}, {"nodes": 8}, {"order": 1.0}, {"sigma": 0.0}, {"cases": 0}, {"coalition": 0}, {"runs": 9},
                  {"error_rate": 0.0}, {"where": "u +"}):  # fmt: skip
        with pytest.raises(ndp.NdpError):
            ndp.refute("alpha", **wrong)


def test_it_pickles():
    found = ndp.refute(THEOREM)
    assert pickle.loads(pickle.dumps(found)) == found and found != ndp.refute("alpha", nodes=3)
    assert "<pre>" in found._repr_html_() and "the claim is false" in repr(found)


@pytest.mark.parametrize(("protocol", "parameter"), [("accelerated", 1.25), ("fresh_noise", 0.5), ("noisy-messages", 0.5), ("pairs", 1.0), ("walk", 1.0)])
def test_other_protocols_have_truths_that_their_scripts_find(protocol, parameter):
    found = ndp.refute("alpha / 1000", protocol, parameter=parameter, nodes=3, where="hops - 1 / 2").counterexample
    said = io.StringIO()
    with redirect_stdout(said):
        exec(found.script, {})
    assert said.getvalue().split(f"{found.truth} ")[1].split(" claimed")[0] == str(found.true_loss)
    assert (found.attack is None) == (protocol == "walk") and (found.pairs != []) == (protocol == "pairs")
    # Each node sees its own noise and what it is sent: the local loss is never exceeded.
    if protocol != "walk":
        assert found.attack.shown <= found.true_loss <= 1
        assert not ndp.refute("alpha / (2 * sigma^2)", protocol, parameter=parameter, nodes=3, rounds=2).refuted or protocol == "accelerated"


def test_coalitions_means_and_domains():
    """Two ends of a path about its middle; the mean over all nodes; only pairs that are far from each other."""
    seen = []

    def at_least_two(graph, rounds, weights, order, observer, source):
        seen.append(observer)
        return order

    assert not ndp.refute(at_least_two, coalition=2, nodes=3, rounds=2).refuted
    assert set(seen) == {(0, 1), (0, 2), (1, 2)}
    one, two = (ndp.refute("0", coalition=k, nodes=4, rounds=1, where="n - 7 / 2").counterexample for k in (1, 2))
    assert len(one.observers) == 1 and len(two.observers) == 2 and one.nodes == two.nodes == 4
    far = ndp.refute("0", where="hops - 3 / 2")
    assert far.outside > 0 and far.counterexample.nodes == 3 and far.counterexample.true_loss > 0
    mean = ndp.refute("0", mean=True, nodes=2).counterexample
    assert mean.attack is None and mean.true_loss == ndp.refute("0", nodes=2).counterexample.true_loss / 2


def test_a_simple_walk_has_its_own_weights():
    rows = []
    ndp.refute(lambda g, t, w, order, v, u: rows.append(w) or math.inf, "walk", weights="simple", nodes=3, rounds=1)
    assert all(sum(row) == 1 for w in rows for row in w)
    assert any(w[0][1] == Fraction(1, 2) and w[1][0] == 1 for w in rows)


def test_cases_without_a_value_are_not_compared():
    found = ndp.refute("1/0", nodes=3)
    assert found.cases == 0 and found.without_value == 84 and "nothing was compared" in repr(found)
