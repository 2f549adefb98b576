"""Everything pickles, and works where other people's schedulers send it."""

import copy
import multiprocessing
import pickle

import networkx as nx
import numpy as np
import pytest

import ndp
from ndp import accountants, walks

G = nx.relabel_nodes(nx.cycle_graph(6), dict(enumerate("abcdef")))
WEIGHTED = nx.Graph()
WEIGHTED.add_edge("x", ("y", 1), weight=0.25)

PROTOCOLS = [
    ndp.gossip(G, rounds=3),
    ndp.gossip(WEIGHTED, rounds=3, weight="weight"),
    ndp.gossip(G, rounds=3, weights=ndp.gossip(G, 1).matrix()),
    ndp.noisy_gossip(G, rounds=3, ratio=0.5),
    ndp.fresh_noise(G, rounds=3),
    ndp.randomized_gossip(G, steps=9, seed=2),
    ndp.one_peer(3),
    ndp.time_varying_gossip([G, nx.relabel_nodes(nx.complete_graph(6), dict(enumerate("abcdef")))]),
    ndp.accelerated_gossip(G, time=5.0, seed=3),
    ndp.protocol("muffliato", G, rounds=2),
    walks.sum_on_path(6, [0, 3, 1, 5, 0]),
    walks.average_on_path(6, [0, 3, 1, 5, 0]),
    walks.ring_sum(10, 2),
]
MECHANISMS = [
    accountants.Gaussian(2.0, 3.0),
    accountants.LossLaw.sampled_gaussian(1.0, 0.01) * 100 + accountants.LossLaw.laplace(2.0, neighbors="one record added or removed"),
    accountants.Laplace(2.0),
    accountants.DiscreteLaplace(2.0),
    accountants.RandomizedResponse(4, 0.25),
    accountants.Zcdp(0.5),
    accountants.PoissonGaussian(1.0, 0.01),
    accountants.SampledGaussian(0.01, 1.0),
    accountants.FederatedRun(100, 20, 1.0, 4.0, 1.0, 0.5, 1.5),
    accountants.CappedWalk(10, 1.0, 40.0, 100),
    accountants.WalkDescent(100, 100, 1.0, 40.0),
    walks.ring_histogram(100, labels=4),
    walks.complete_sum(100, 1000),
    walks.complete_histogram(100, 1000, labels=3),
    walks.token_walk(G, steps=30, cap=3),
    ndp.training.gossip_sgd(G, 5, gossip_steps=2, step_size=0.1, lipschitz=1.0, smoothness=1.0),
]


@pytest.mark.parametrize("thing", [ndp.Graph(G), ndp.Graph(WEIGHTED, weight="weight"), *PROTOCOLS, *MECHANISMS], ids=repr)
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_what_comes_back_is_equal(thing, protocol):
    assert pickle.loads(pickle.dumps(thing, protocol)) == thing
    assert copy.deepcopy(thing) == thing


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_losses_profiles_and_accounts_come_back(protocol):
    first, second = protocol.nodes[0], protocol.nodes[1]
    losses = protocol.losses(first)
    copied = pickle.loads(pickle.dumps(losses))
    assert copied == losses and copied.grade is losses.grade and copied.coalition == [first]
    assert np.array_equal(copied.epsilon(2.0, 1e-5), losses.epsilon(2.0, 1e-5))
    every = protocol.all_losses()
    assert pickle.loads(pickle.dumps(every)) == every
    # A protocol that has been used pickles as one that has not.
    assert pickle.loads(pickle.dumps(protocol)).losses(first) == losses
    account = protocol.account(first)
    profile = account.profile(second, sigma=2.0)
    assert pickle.loads(pickle.dumps(account)).profile(second, 2.0).mu == profile.mu
    assert pickle.loads(pickle.dumps(profile)).epsilon(1e-5) == profile.epsilon(1e-5)


def test_an_account_that_was_cut_short_comes_back_as_one():
    p = ndp.gossip(nx.path_graph(5), rounds=2)
    known = p.account(0).profile(4, 2.0).mu
    for account in (p.bound(0), p.account(0, patience=0)):
        mu = account.profile(4, 2.0).mu
        assert isinstance(mu, ndp.UpperBound) and float(mu) > float(known) == 0.0
        for copied in (pickle.loads(pickle.dumps(account)), copy.deepcopy(account)):
            assert copied.profile(4, 2.0).mu == mu and copied.statement == account.statement
        assert pickle.loads(pickle.dumps(account.profile(4, 2.0))).mu == mu
        assert pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(account)))).profile(4, 2.0).mu == mu
    patient = pickle.loads(pickle.dumps(p.account(0, patience=60)))
    assert patient.profile(4, 2.0).mu == known
    # A program that is asked with patience has the account of every protocol.
    bound = ndp.programs.decor(nx.cycle_graph(5)).account(0, patience=60)
    assert pickle.loads(pickle.dumps(bound)).profile(1, 2.0).mu == bound.profile(1, 2.0).mu


def test_a_ledger_comes_back():
    ledger = ndp.Ledger(limit=(2.5, 1e-5))
    ledger.record(PROTOCOLS[0], sigma=2.0)
    copied = pickle.loads(pickle.dumps(ledger))
    assert copied.spent("a", "b").mu == ledger.spent("a", "b").mu
    assert copied.fits(PROTOCOLS[0], sigma=2.0) == ledger.fits(PROTOCOLS[0], sigma=2.0) is False


def test_accountants_come_back():
    spent = accountants.RdpAccountant().compose(accountants.Gaussian(4.0), 30)
    copied = pickle.loads(pickle.dumps(spent))
    assert copied.spent == spent.spent and copied.epsilon(1e-5) == spent.epsilon(1e-5)


def test_errors_come_back():
    with pytest.raises(ndp.NdpError) as caught:
        ndp.gossip(G, rounds=0)
    copied = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(copied, ndp.NdpError) and str(copied) == str(caught.value)


def losses_of(rounds):
    return ndp.gossip(G, rounds=rounds).losses("a")


def test_other_processes():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(losses_of, [1, 2]) == [losses_of(1), losses_of(2)]


def test_joblib():
    joblib = pytest.importorskip("joblib")
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(p.losses)(p.nodes[0]) for p in PROTOCOLS[:3])
    assert found == [p.losses(p.nodes[0]) for p in PROTOCOLS[:3]]


def test_cloudpickle():
    cloudpickle = pytest.importorskip("cloudpickle")
    ask = pickle.loads(cloudpickle.dumps(lambda rounds: ndp.gossip(G, rounds).losses("a")))
    assert ask(2) == losses_of(2)


def test_submitit(tmp_path):
    submitit = pytest.importorskip("submitit")
    executor = submitit.LocalExecutor(folder=tmp_path)
    executor.update_parameters(timeout_min=2)
    # A lambda travels by value: the worker has no module of this name.
    assert executor.submit(lambda p: p.losses("a"), PROTOCOLS[0]).result() == PROTOCOLS[0].losses("a")


def test_dask():
    pytest.importorskip("dask")
    import dask

    found = dask.compute(*(dask.delayed(losses_of)(rounds) for rounds in (1, 2)), scheduler="processes", num_workers=2)
    assert list(found) == [losses_of(1), losses_of(2)]


def test_ray(monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        ask = ray.remote(lambda p: p.losses("a"))
        assert ray.get(ask.remote(PROTOCOLS[0])) == PROTOCOLS[0].losses("a")
    finally:
        ray.shutdown()


THINGS = [*PROTOCOLS, walks.token_walk(G, steps=30), ndp.training.gossip_sgd(G, 5, gossip_steps=2, step_size=0.1, lipschitz=1.0, smoothness=1.0)]


@pytest.mark.parametrize("thing", [*THINGS, ndp.Program(3, asked=[1])], ids=repr)
def test_parameters_are_for_reading(thing):
    name, value = next(iter(thing.parameters.items()))
    with pytest.raises(TypeError):
        thing.parameters[name] = 3
    with pytest.raises(AttributeError):
        thing.parameters = {}
    for x in thing.parameters.values():
        if isinstance(x, list):
            x.append(3)
    assert pickle.loads(pickle.dumps(thing)) == thing and copy.deepcopy(thing).parameters.keys() == thing.parameters.keys()


def test_weights_that_are_changed_later_change_nothing():
    weights = np.full((3, 3), 1 / 3)
    p = ndp.gossip(nx.complete_graph(3), rounds=2, weights=weights)
    weights[:] = np.eye(3)
    assert p.losses(0).unit[1] > 0.0 and pickle.loads(pickle.dumps(p)).losses(0) == p.losses(0)
    with pytest.raises(ValueError, match="read-only"):
        p.parameters["weights"][0, 0] = 1.0
