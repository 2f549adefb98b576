"""Calls in a child that was forked after its parent made calls: as ``multiprocessing`` and the data loaders of PyTorch do it."""

import multiprocessing
import os
import signal
import threading
import time

import networkx as nx
import numpy as np
import pytest

import ndp

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")

G = nx.random_regular_graph(4, 60, seed=1)


def long_gossip():
    """A view whose account is computed in parallel."""
    return ndp.gossip(nx.random_regular_graph(4, 200, seed=1), rounds=10).losses(0).unit


#: Calls that look at many observers, and those that use threads beneath one.
CALLS = {
    "losses": long_gossip,
    "all losses": lambda: ndp.gossip(G, rounds=5).all_losses().unit,
    "least noise": lambda: ndp.least_noise(ndp.gossip(G, 3), worst=(1.0, 1e-5), observers=[0, 1]).sigma,
    "least noise of losses": lambda: ndp.gossip(G, 3).all_losses([0, 1]).least_noise(worst=(1.0, 1e-5)).sigma,
    "check": lambda: ndp.gossip(G, 3).all_losses([0, 1]).check(4.0, worst=(1.0, 1e-5)).verdict,
    "named": lambda: ndp.fresh_noise(G).account(0).profile(1, 2.0).mu.value,
    "gap": lambda: ndp.gossip(G, 3).gap(),
    "accelerated": lambda: ndp.accelerated_gossip(G, time=20.0, seed=1).losses(0).unit,
    "program": lambda: ndp.programs.decor(G).account(0).profile(1, 1.0).mu.value,
    "witnesses": lambda: str(ndp.programs.decor(nx.cycle_graph(9)).account(coalition=[]).witnesses(0)),
    "walk": lambda: ndp.walks.complete_sum(100, 300).account(0).profile(1, 2.0).epsilon(1e-5).value,
    "training": lambda: ndp.training.gossip_sgd(
        G, 5, gossip_steps=2, step_size=0.1, lipschitz=1.0, smoothness=1.0
    ).mean(0, sigma=10.0, order=2.0).value,
    "printed": lambda: ndp.printed.muffliato_theorem1(G, rounds=5).value,
    "accountant": lambda: ndp.accountants.WalkDescent(300, 100, 1.0, 40.0).epsilon(1e-6).value,
    "audit": lambda: ndp.audit(ndp.gossip(nx.path_graph(3), 2), (0, 2), runs=1000).measured_mu.value,
}


def answer_all(results):
    for name, call in CALLS.items():
        results.put((name, call()))


def forked(target, *arguments, seconds=120):
    """What a forked child puts into a queue; fails where it does not end."""
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=target, args=(results, *arguments))
    child.start()
    found, until = [], time.monotonic() + seconds
    while time.monotonic() < until and (child.is_alive() or not results.empty()):
        try:
            found.append(results.get(timeout=0.2))
        except Exception:  # noqa: BLE001  # empty
            continue
    if child.is_alive():
        child.kill()
        pytest.fail(f"the child hangs, after {found[-1:]}")
    child.join()
    assert child.exitcode == 0
    return found


def test_every_call_answers_in_a_forked_child():
    here = {name: call() for name, call in CALLS.items()}
    there = dict(forked(answer_all))
    assert there.keys() == here.keys()
    for name, found in there.items():
        assert np.array_equal(found, here[name]), name


def grandchild(results):
    long_gossip()
    results.put(forked(lambda inner: inner.put(long_gossip()))[0])


def test_children_of_children_answer():
    expected = long_gossip()
    assert np.array_equal(forked(grandchild)[0], expected)


def fork_while_others_compute(results):
    threads = [threading.Thread(target=long_gossip) for _ in range(3)]
    for thread in threads:
        thread.start()
    results.put(forked(lambda inner: inner.put(long_gossip()))[0])
    for thread in threads:
        thread.join()


def test_a_fork_in_the_middle_of_calls():
    assert np.array_equal(forked(fork_while_others_compute)[0], long_gossip())


def interrupted(results):
    def stop(_number, _frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        ndp.gossip(nx.random_regular_graph(4, 3000, seed=1), rounds=200).losses(observer=0)
    except KeyboardInterrupt:
        # The threads of the pool serve later calls.
        results.put(long_gossip())


def test_a_child_is_interrupted_and_goes_on():
    expected = long_gossip()
    assert np.array_equal(forked(interrupted)[0], expected)


def test_a_pool_of_forked_workers():
    expected = ndp.gossip(G, rounds=5).losses(0).unit
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(lambda_free, [0] * 6).get(timeout=120)
    assert all(np.array_equal(one, expected) for one in found)


def lambda_free(observer):
    return ndp.gossip(G, rounds=5).losses(observer).unit
