"""Accountants against the values that the crates' own tests and documents state."""

import pickle

import pytest

import ndp
from ndp import accountants as acc


@pytest.mark.parametrize(
    ("count", "sigma", "renyi", "exact"),
    [(1, 1.0, 4.728507, 4.377178), (30, 4.0, 6.813318, 6.325715), (100, 2.0, 35.081754, 33.103732), (1000, 50.0, 2.813653, 2.594383)],
)
def test_the_table_of_the_crate(count, sigma, renyi, exact):
    """Rényi column: Google's dp_accounting 0.6; exact column: roots of the Gaussian profile."""
    release = acc.Gaussian(sigma)
    spent = acc.RdpAccountant().compose(release, count).epsilon(delta=1e-5)
    assert isinstance(spent, ndp.UpperBound) and float(spent) == pytest.approx(renyi, abs=5e-7)
    together = acc.gaussian_compose([float(release.mu)] * count)
    truth = together.epsilon(delta=1e-5)
    assert isinstance(truth, ndp.Exact) and float(truth) == pytest.approx(exact, abs=5e-7)


def test_gaussian_references():
    # Specification of Muffliato, section 12.
    assert float(acc.Gaussian(2.0).delta(1.0)) == pytest.approx(0.006829594983114575, rel=1e-13)
    assert acc.Gaussian.within(1.0, 1e-6).sigma < 4.3
    with pytest.raises(ndp.NdpError, match="1"):
        acc.classic_sigma(1.0, 1e-6)


def test_a_mechanism_of_ones_own():
    class Own:
        def rdp(self, order):
            return ndp.UpperBound(order / 32.0, "Rényi loss")

    own = acc.RdpAccountant().compose(Own(), 30).epsilon(1e-5)
    assert own == acc.RdpAccountant().compose(acc.Zcdp(1 / 32), 30).epsilon(1e-5)

    class Printed:
        def rdp(self, order):
            return ndp.Printed(order / 32.0)

    with pytest.raises(TypeError, match="a guarantee is needed"):
        acc.RdpAccountant().compose(Printed(), 30)
    with pytest.raises(TypeError, match="a guarantee is needed"):
        acc.smallest_sigma(1.0, lambda sigma: 1.0 / sigma)
    with pytest.raises(AttributeError):
        acc.RdpAccountant().compose(object())


def test_an_exception_inside_a_search_comes_out():
    def broken(sigma):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        acc.smallest_sigma(1.0, broken)


def test_a_delta_is_exact_as_far_as_what_it_was_computed_from():
    assert acc.compose_optimal_delta(0.1, 1e-9, count=3, total=0.2).grade is ndp.Exact
    assert acc.compose_optimal_delta(0.1, ndp.UpperBound(1e-9, "delta"), count=3, total=0.2).grade is ndp.UpperBound
    # The last digit of the quotient of sensitivity and noise decides here.
    assert acc.Gaussian(3.0, sensitivity=1e8).delta(5.555555555555e14).grade is ndp.UpperBound
    assert acc.Gaussian(3.0, sensitivity=1e4).delta(1.0).grade is ndp.Exact


def test_calibration_is_verified():
    spent = lambda sigma: acc.RdpAccountant().compose(acc.PoissonGaussian(sigma, 0.02), 100).epsilon(1e-6)  # noqa: E731
    found = acc.smallest_sigma(1.0, spent)
    assert found.grade is ndp.UpperBound and spent(found.value) <= 1.0
    assert spent(0.99 * found.value) > 1.0
    assert found.detail["reached"] == float(spent(found.value))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: acc.Gaussian(0.0), "sigma must be positive and finite, got 0"),
        (lambda: acc.Gaussian(float("nan")), "got NaN"),
        (lambda: acc.Gaussian(1.0).epsilon(0.0), "delta must lie strictly between 0 and 1, got 0"),
        (lambda: acc.Gaussian(1.0).delta(-1.0), "epsilon must be nonnegative"),
        (lambda: acc.Gaussian(1.0).rdp(1.0), "above 1, got 1"),
        (lambda: acc.RdpAccountant([]), "at least 1"),
        (lambda: acc.PoissonGaussian(1.0, 1.5), "rate|probability"),
        (lambda: acc.FederatedRun(100, 20, 1.0, 4.0, 1.0, 5.0, 1.5), "step size must be positive and at most"),
        (lambda: acc.shuffle(1.0, 0, 1e-6), "at least 1|reports"),
        (lambda: acc.shuffle_delta(0.5, 1.0, 100, rule="none"), "rule must be one of"),
        (lambda: acc.hockey_stick([0.5, 0.6], [0.5, 0.5], 0.0), "sum"),
        (lambda: acc.subsample(1.0, 1e-6, 20, 10), "sample"),
        (lambda: acc.gaussian_contraction(0.0, -1.0, 1.0), "diameter"),
        (lambda: acc.WalkDescent(0, 10, 1.0, 1.0), "steps"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ndp.NdpError, match=words):
        call()


def test_counts_that_are_no_counts():
    for call in (
        lambda: acc.RdpAccountant().compose(acc.Gaussian(1.0), -1),
        lambda: acc.RdpAccountant().compose(acc.Gaussian(1.0), 2**64),
        lambda: acc.RandomizedResponse(2**32, 0.5),
        lambda: acc.subsample(1.0, 1e-6, sample=-1, population=1000),
        lambda: ndp.LossLaw.randomized_response(-1, 0.5),
    ):
        with pytest.raises(ndp.NdpError, match="a count must be a whole number from 0 to"):
            call()
    with pytest.raises(TypeError, match="count"):
        acc.RdpAccountant().compose(acc.Gaussian(1.0), 1.5)


def test_dp_accounting_agrees():
    dp_accounting = pytest.importorskip("dp_accounting")
    event = dp_accounting.SelfComposedDpEvent(acc.Gaussian(4.0).to_dp_event(), 30)
    theirs = dp_accounting.rdp.RdpAccountant().compose(event).get_epsilon(1e-5)
    ours = acc.RdpAccountant().compose(acc.Gaussian(4.0), 30).epsilon(1e-5)
    assert float(ours) == pytest.approx(theirs, rel=1e-9)
    r = ndp.gossip(([0, 1, 2], [1, 2, 3]), rounds=2).losses(0)
    assert r.to_dp_event(1, sigma=4.0).noise_multiplier == pytest.approx(4.0)
    assert r.to_dp_event(1, sigma=4.0).noise_multiplier <= 4.0
    assert isinstance(r.to_dp_event(3, sigma=4.0), dp_accounting.NoOpDpEvent)


def test_only_renyi_losses_are_added_up():
    """A mu or an epsilon is no Rényi loss, though it is a guarantee."""
    answers = {
        "'mu'|\"mu\"": lambda order: ndp.UpperBound(0.1, "mu"),
        "epsilon": lambda order: ndp.UpperBound(0.1, "epsilon", {"delta": 1e-5}),
        "does not say what it is": lambda order: ndp.UpperBound(0.1),
        "at order 2": lambda order: acc.Gaussian(4.0).rdp(2.0),
    }
    for words, rdp in answers.items():
        mechanism = type("Mechanism", (), {"rdp": staticmethod(rdp)})()
        with pytest.raises(TypeError, match=words):
            acc.RdpAccountant([4.0, 8.0]).compose(mechanism)
    with pytest.raises(TypeError, match="a number that is \"delta\" is needed, got \"epsilon\""):
        acc.smallest_epsilon(1e-6, lambda epsilon: acc.Gaussian(2.0).epsilon(1e-6))
    profile = ndp.gossip(([0, 1], [1, 2]), rounds=1).account(0).profile(1, sigma=4.0)
    once = acc.RdpAccountant().compose(profile)
    assert once.epsilon(1e-5) == acc.RdpAccountant().compose(acc.Gaussian(4.0)).epsilon(1e-5)
    assert once.neighbors == profile.neighbors == "data of one node replaced"


def test_different_neighbors_do_not_add_up():
    added, replaced = acc.PoissonGaussian(1.0, 0.01), acc.SampledGaussian(0.01, 1.0)
    assert added.neighbors == "one record added or removed" and replaced.neighbors == "data of one node replaced"
    assert acc.Gaussian(1.0).neighbors is None and acc.RdpAccountant().neighbors is None
    spent = acc.RdpAccountant().compose(added, 10).compose(acc.Gaussian(4.0)).compose(acc.Zcdp(0.1))
    assert spent.neighbors == added.neighbors and pickle.loads(pickle.dumps(spent)).neighbors == added.neighbors
    profile = ndp.gossip(([0], [1]), rounds=1).account(0).profile(1, sigma=4.0)
    users = [acc.FederatedRun(100, 20, 1.0, 4.0, 1.0, 0.5, 1.5), acc.CappedWalk(10, 1.0, 40.0, 100), acc.WalkDescent(9, 9, 1.0, 40.0)]
    for other in (replaced, profile, acc.RandomizedResponse(4, 0.25), *users):
        for accountant in (spent, pickle.loads(pickle.dumps(spent))):
            with pytest.raises(ndp.NdpError, match="added or removed so far, data of one node replaced in this release"):
                accountant.compose(other)
        assert acc.RdpAccountant().compose(replaced).compose(other).neighbors == replaced.neighbors
    own = type("Own", (), {"neighbors": "one user", "rdp": lambda self, order: ndp.UpperBound(0.1, "Rényi loss")})()
    with pytest.raises(ndp.NdpError, match="neighbors must be"):
        spent.compose(own)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda mu, epsilon: acc.gaussian_compose([mu, epsilon]), "\"mu\" is needed, got \"epsilon\""),
        (lambda mu, epsilon: acc.gaussian_epsilon(epsilon, 1e-5), "\"mu\" is needed"),
        (lambda mu, epsilon: acc.compose([(mu, 1e-6, 3)], 1e-5), "\"epsilon\" is needed, got \"mu\""),
        (lambda mu, epsilon: acc.compose_advanced(mu, 1e-6, 3, 1e-6), "\"epsilon\" is needed"),
        (lambda mu, epsilon: acc.subsample(mu, 1e-6, 1, 10), "\"epsilon\" is needed"),
        (lambda mu, epsilon: acc.rdp_to_epsilon(mu, 2.0, 1e-5), "\"Rényi loss\" is needed"),
        (lambda mu, epsilon: acc.mixture([(1.0, epsilon)], 2.0), "\"Rényi loss\" is needed"),
    ],
)
def test_what_is_given_is_of_the_kind_that_is_needed(call, words):
    mu = ndp.Exact(0.5, "mu")
    with pytest.raises(TypeError, match=words):
        call(mu, mu.epsilon(delta=1e-5))


def test_an_epsilon_composes_at_its_own_delta():
    epsilon = ndp.Exact(0.5, "mu").epsilon(delta=1e-5)
    assert acc.compose_naive([(epsilon, 1e-5, 2)]) == acc.compose_naive([(epsilon.value, 1e-5, 2)])
    for call in (
        lambda: acc.compose_naive([(epsilon, 1e-6, 2)]),
        lambda: acc.compose([(epsilon, 0.0, 2)], 1e-5),
        lambda: acc.subsample_poisson(epsilon, 1e-6, 0.1),
        lambda: acc.shuffle(epsilon, 100, 1e-6),
    ):
        with pytest.raises(ndp.NdpError, match="this epsilon holds at delta 0.00001 and above"):
            call()
    local = acc.RandomizedResponse.with_epsilon(4, 1.0).local_epsilon
    assert acc.shuffle(local, 1000, 1e-6) == acc.shuffle(local.value, 1000, 1e-6)


def test_loss_laws_have_two_ends():
    """The first value is that of a well-kept library, without a proof and from above; the crate's own tests have it too."""
    training = ndp.LossLaw.sampled_gaussian(sigma=1.0, rate=0.01) * 1000
    spent = training.epsilon(delta=1e-5)
    assert isinstance(spent, ndp.UpperBound)
    assert spent.detail["lower"] < 1.8282371 and float(spent) < 1.8283
    assert float(training.delta(float(spent))) <= 1.001e-5
    both = training * 1 + ndp.LossLaw.laplace(2.0, neighbors="one record added or removed") * 10
    assert float(both.epsilon(1e-6)) > float(training.epsilon(1e-6))
    assert both == acc.LossLaw.compose([training, ndp.LossLaw.laplace(2.0, neighbors="one record added or removed") * 10])
    remove, add = (float(training.only(direction).epsilon(1e-5)) for direction in ("remove", "add"))
    assert max(remove, add) == float(spent) and remove != add
    one = training.only("remove")
    assert "remove alone" in repr(one.epsilon(1e-5)) and "remove" in repr(one)
    with pytest.raises(TypeError, match="remove alone is not compared"):
        one.epsilon(1e-5) <= spent
    # An accountant of Rényi losses is about both directions.
    with pytest.raises((TypeError, ndp.NdpError), match="remove alone"):
        acc.RdpAccountant().compose(one, 10)
    with pytest.raises(ndp.NdpError, match="neighbor"):
        training + ndp.LossLaw.laplace(2.0)
    with pytest.raises(ndp.NdpError, match="direction"):
        training.only("both")


def test_trade_off_curves_of_laws():
    lower, upper = ndp.LossLaw.gaussian(1.0).tradeoff([0.0, 0.5, 1.0])
    assert lower[1] <= 0.15865525 + 1e-8 and 0.15865525 - 1e-8 <= upper[1] < lower[1] + 1e-5
    assert lower[0] > 0.999 and upper[2] == 0.0
    with pytest.raises(ndp.NdpError, match="level"):
        ndp.LossLaw.gaussian(1.0).tradeoff([1.5])


def test_largest_losses_can_be_asked():
    assert float(acc.Laplace(scale=2.0).pure_epsilon()) == 0.5
    assert float(acc.DiscreteLaplace(scale=2.0, sensitivity=3).pure_epsilon()) == 1.5
    assert float(acc.Gaussian(1.0).pure_epsilon()) == float("inf")
    assert acc.Laplace(1.0).pure_epsilon().detail["delta"] == ndp.LossLaw.laplace(4.0).pure_epsilon().detail["delta"] == 0.0
    assert float((ndp.LossLaw.laplace(4.0) * 16).pure_epsilon()) == 4.0


def test_a_loss_of_another_order_is_refused():
    release = acc.Gaussian(2.0)
    loss = release.rdp(2.0)
    assert acc.rdp_to_epsilon(loss, 2.0, 1e-5) == acc.rdp_to_epsilon(loss.value, 2.0, 1e-5)
    assert acc.mixture([(1.0, loss)], 2.0) == acc.mixture([(1.0, loss.value)], 2.0)
    for call in (
        lambda: acc.rdp_to_epsilon(loss, 8.0, 1e-5),
        lambda: acc.rdp_to_delta(loss, 8.0, 1.0),
        lambda: acc.mixture([(1.0, loss)], 8.0),
        lambda: acc.mixture([(0.5, loss), (0.5, release.rdp(8.0))], 8.0),
    ):
        with pytest.raises(TypeError, match="the Rényi loss at order 8 is needed, got that at order 2"):
            call()


def test_a_delta_at_another_epsilon_is_refused():
    release = acc.Gaussian(2.0)
    with pytest.raises(TypeError, match="the delta at epsilon .* is needed, got that at epsilon 5"):
        acc.smallest_epsilon(1e-5, lambda e: release.delta(5.0))
    found = acc.smallest_epsilon(1e-5, release.delta)
    assert isinstance(found, ndp.Exact) and float(found) == pytest.approx(float(release.epsilon(1e-5)), rel=1e-9)


@pytest.mark.parametrize(
    "call",
    [
        lambda mu: acc.gaussian_epsilon(mu, 1e-5),
        lambda mu: acc.gaussian_delta(mu, 1.0),
        lambda mu: acc.gaussian_log_delta(mu, 1.0),
        lambda mu: acc.gaussian_compose([0.5, mu]),
        lambda mu: acc.gaussian_trade_off(mu, 0.3),
    ],
)
def test_nothing_exact_is_made_of_an_upper_bound(call):
    plain, exact, bound = call(1.0), call(ndp.Exact(1.0, "mu")), call(ndp.UpperBound(1.0, "mu"))
    assert type(plain) is type(exact) is ndp.Exact and type(bound) is ndp.UpperBound
    assert bound.value == exact.value == plain.value and bound.what == plain.what and bound.detail == plain.detail
    for grade in (ndp.Printed, ndp.Estimate):
        with pytest.raises(TypeError, match="no guarantee; .value says it anyway"):
            call(grade(1.0, "mu"))


def test_optimal_composition_has_the_grade_of_its_epsilon():
    def together(epsilon):
        return acc.compose_optimal_delta(epsilon, 1e-6, count=10, total=2.0)

    at = {"delta": 1e-6}
    assert type(together(0.1)) is type(together(ndp.Exact(0.1, "epsilon", at))) is ndp.Exact
    assert type(together(ndp.UpperBound(0.1, "epsilon", at))) is ndp.UpperBound
    # At a larger delta than its own an epsilon is an upper bound.
    assert type(together(ndp.Exact(0.1, "epsilon", {"delta": 1e-7}))) is ndp.UpperBound
    with pytest.raises(TypeError, match="no guarantee"):
        together(ndp.Printed(0.1, "epsilon", at))


@pytest.mark.parametrize(
    "call",
    [
        acc.Gaussian,
        lambda sigma: acc.PoissonGaussian(sigma, 0.1),
        lambda sigma: acc.CappedWalk(10, 1.0, sigma, 100),
        lambda sigma: acc.WalkDescent(100, 100, 1.0, sigma),
        lambda sigma: acc.FederatedRun(100, 20, 1.0, 4.0, 1.0, 0.5, sigma),
        lambda sigma: acc.LossLaw.gaussian(sigma),
        lambda sigma: acc.iterated_mu(1.0, sigma, 4),
        lambda sigma: acc.gaussian_contraction(0.0, 2.0, sigma),
        lambda sigma: acc.hidden_graph(100, 1, 5, 3, 2.0, sigma),
    ],
)
def test_a_noise_is_no_number_of_another_kind(call):
    with pytest.raises(TypeError, match="\"sigma\" is needed, got \"mu\""):
        call(ndp.Exact(4.0, "mu"))
    assert call(ndp.UpperBound(4.0, "sigma")) == call(4.0)


def test_a_needed_noise_is_shown_rounded_up():
    needed = acc.Gaussian.within(epsilon=3.0, delta=1e-5, sensitivity=8.0**0.5)
    sigma = needed.sigma
    assert isinstance(sigma, float) and float(f"{sigma:.3f}") >= sigma and float(f"{sigma:.2f}") - 0.01 < sigma < float(f"{sigma:.2f}")
    assert repr(needed) == f"Gaussian(sigma={float(sigma)!r}, sensitivity={needed.sensitivity!r})"
    assert pickle.loads(pickle.dumps(needed)) == needed == acc.Gaussian(sigma, needed.sensitivity)


@pytest.mark.parametrize(
    "asked",
    [
        lambda A: A.Zcdp(A.Gaussian(0.25).mu),
        lambda A: A.SampledGaussian(1.0, ndp.Exact(0.25, "unit loss")),
        lambda A: A.Gaussian.within(A.Gaussian(1.0).epsilon(0.1), 1e-6),
        lambda A: A.gaussian_mu(A.Gaussian(1.0).epsilon(0.1), 1e-6),
        lambda A: A.classic_sigma(A.Gaussian(1.0).epsilon(0.1), 1e-6, 1.0),
        lambda A: A.local_sigma(1, 1.0, A.Gaussian(1.0).epsilon(0.1), 1e-6),
        lambda A: A.RandomizedResponse.with_epsilon(4, A.Gaussian(1.0).epsilon(0.1)),
        lambda A: A.Laplace(A.Gaussian(1.0).rdp(2.0)),
        lambda A: A.Gaussian(1.0, A.Gaussian(1.0).rdp(2.0)),
        lambda A: A.Gaussian(1.0).delta(A.Gaussian(1.0).mu),
        lambda A: A.Laplace(1.0).epsilon(ndp.Exact(1e-3, "mu")),
        lambda A: A.LossLaw.gaussian(1.0).epsilon(ndp.Exact(1e-3, "mu")),
        lambda A: A.LossLaw.gaussian(1.0).rdp(A.Gaussian(1.0).mu),
        lambda A: A.shuffle_delta(ndp.Exact(0.2, "mu"), 100, 0.1),
        lambda A: A.subsample_poisson(ndp.Exact(1.0, "epsilon", {"delta": 1e-6}), 1e-6, ndp.Exact(0.1, "delta", {"epsilon": 1.0})),
    ],
)
def test_a_guarantee_of_another_kind_is_refused(asked):
    with pytest.raises((TypeError, ndp.NdpError)):
        asked(ndp.accountants)


def test_a_guarantee_of_the_right_kind_is_taken():
    accountants = ndp.accountants
    one = acc.Gaussian(1.0)
    assert accountants.Gaussian.within(one.epsilon(1e-6), 1e-6).sigma == pytest.approx(1.0, rel=1e-9)
    assert float(accountants.SampledGaussian(1.0, one.mu).rdp(2.0)) == pytest.approx(1.0, rel=1e-9)
    assert float(one.delta(one.epsilon(1e-3))) == pytest.approx(1e-3, rel=1e-9)
    response = accountants.RandomizedResponse.with_epsilon(4, 1.0)
    assert accountants.RandomizedResponse.with_epsilon(4, response.local_epsilon).gamma == pytest.approx(response.gamma, rel=1e-12)


def test_numbers_know_which_data_sets_they_compare():
    delta = 1e-5
    added = ndp.LossLaw.gaussian(1.0, 1.0, "one record added or removed").epsilon(delta)
    replaced = ndp.LossLaw.randomized_response(2, 0.5).epsilon(delta)
    for call in (
        lambda: acc.subsample(added, delta, sample=10, population=10),
        lambda: acc.subsample_poisson(replaced, delta, rate=0.5),
        lambda: acc.shuffle(ndp.LossLaw.laplace(1.0, 1.0, "one record added or removed").pure_epsilon(), 100, delta=1e-6),
        lambda: acc.compose([(added, delta, 1), (replaced, delta, 1)], delta=2e-5),
        lambda: acc.compose_naive([(added, delta, 1), (replaced, delta, 1)]),
        lambda: acc.mixture(
            [(0.5, acc.PoissonGaussian(1.0, 0.5).rdp(2.0)), (0.5, acc.RandomizedResponse(2, 0.5).rdp(2.0))], 2.0
        ),
    ):
        with pytest.raises(ndp.NdpError, match="one record added or removed"):
            call()
    with pytest.raises(TypeError, match="is not compared with one for"):
        added < replaced
    assert added != replaced
    # What is computed says it, too.
    together = acc.compose([(replaced, delta, 2)], delta=2e-5)
    assert together.detail["neighbors"] == "data of one node replaced"
    assert acc.subsample_poisson(added, delta, rate=0.5).detail["neighbors"] == "one record added or removed"
    # A sensitivity that does not say it is taken for what is needed.
    assert acc.subsample(acc.Gaussian(1.0).epsilon(delta), delta, sample=10, population=10) > 4.3


def test_a_search_that_ends_at_its_border_is_a_bound():
    free = acc.smallest_sigma(1.0, lambda sigma: ndp.Exact(0.5, "mu"))
    assert isinstance(free, ndp.UpperBound) and free < 1e-299
