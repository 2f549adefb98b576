"""Programs: a protocol of one's own, from Python."""

import pickle
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import ndp

PATH = nx.path_graph(3)


def muffliato(graph, rounds):
    p = ndp.Program(graph)
    y = p.add_all(p.contribute_all(), p.noise_all(variance=1))
    for _ in range(rounds):
        p.send_to_neighbors(y)
        y = p.gossip(y)
    return p


def test_a_program_that_is_gossip_loses_what_gossip_loses():
    G = nx.relabel_nodes(nx.karate_club_graph(), lambda v: f"n{v}")
    p = muffliato(G, 8)
    r = ndp.gossip(G, rounds=8).losses("n11")
    account = p.account("n11")
    for node in ("n5", "n33"):
        mu = account.profile(node, sigma=1.0).mu
        assert mu.grade is ndp.Exact
        assert float(mu) ** 2 == pytest.approx(float(r[node]), abs=1e-9)
    found = ndp.least_noise(p, worst=(1.0, 1e-5), observers=["n11"])
    assert found.sigma == pytest.approx(r.least_noise(worst=(1.0, 1e-5)).sigma, rel=1e-9)
    assert not ndp.audit(p, pair=("n33", "n11"), runs=5_000).refuted


def test_weights_are_exact():
    p = ndp.Program(2)
    x, z = p.contribute(0), p.noise(0, variance="1/9")
    p.send(0, 1, p.combine({x: Fraction(1, 3), z: 1}))
    # (1/3)^2 / (1/9) = 1, also where 1/3 is no float.
    assert float(p.account(1).profile(0, sigma=1.0).mu) == 1.0


def test_repeated_use_needs_a_sensitivity():
    p = ndp.programs.dsgd(PATH, steps=3)
    with pytest.raises(ndp.NdpError, match="contributes 3 times: say what"):
        p.account(2)
    same = ndp.programs.dsgd(PATH, steps=3, sensitivity="same_direction").account(2).profile(0, sigma=1.0)
    # The crate's own documentation: 9/26.
    assert float(same.mu) ** 2 == pytest.approx(9 / 26, abs=1e-9)
    one = ndp.programs.dsgd(PATH, steps=3, sensitivity="use_level").account(2).profile(0, sigma=1.0)
    assert float(one.mu) <= float(same.mu)
    along = ndp.Sensitivity("along", along=[1.0, 0.0, 0.0])
    assert float(ndp.programs.dsgd(PATH, 3, along).account(2).profile(0, 1.0).mu) <= float(same.mu)
    with pytest.raises(ndp.NdpError, match="needs along"):
        ndp.programs.dsgd(PATH, 3, "along").account(2)
    with pytest.raises(ndp.NdpError, match="one of use_level"):
        ndp.programs.dsgd(PATH, 3, "none").account(2)


def test_files_and_pickles(tmp_path):
    G = nx.relabel_nodes(PATH, {0: "a", 1: "b", 2: "c"})
    p = muffliato(G, 2)
    p.write(tmp_path / "mine.jsonl")
    again = ndp.Program.read(tmp_path / "mine.jsonl", G)
    assert again == p and pickle.loads(pickle.dumps(p)) == p
    assert again.to_text() == p.to_text() and p.to_text().startswith("{")
    assert float(again.account("c").profile("a", 1.0).mu) == float(p.account("c").profile("a", 1.0).mu)
    profile = pickle.loads(pickle.dumps(p.account("c").profile("a", 1.0)))
    assert float(profile.mu) == 1.0
    (tmp_path / "bad.jsonl").write_text('{"ndp-program": 1, "nodes": 2}\n{"leave": 5}')
    with pytest.raises(ndp.NdpError, match="line 2: node 5 is out of range"):
        ndp.Program.read(tmp_path / "bad.jsonl")
    with pytest.raises(ndp.NdpError, match="the program has 3 nodes, the graph 4"):
        ndp.Program.read(tmp_path / "mine.jsonl", nx.path_graph(4))


def test_masks_that_cancel():
    p = ndp.Program(nx.complete_graph(3))
    x, z = p.contribute_all(), p.zero_sum([0, 1, 2], variance=10)
    own = p.noise_all(variance=1)
    for u in range(3):
        p.broadcast(u, p.add(x[u], z[u], own[u]))
    mu = float(p.account(0).profile(1, sigma=1.0).mu)
    assert 0.5 < mu**2 < 0.7


def test_what_is_refused():
    p = ndp.Program(3)
    x = p.contribute(0)
    with pytest.raises(ndp.NdpError, match="node 3 is not one of"):
        p.noise(3)
    with pytest.raises(ndp.NdpError, match="value 99 is not one of"):
        p.send(0, 1, 99)
    with pytest.raises(ndp.NdpError, match="at least 0, got -1"):
        p.noise(0, variance=-1)
    with pytest.raises(ndp.NdpError):
        p.noise(0, variance=float("nan"))
    with pytest.raises(ndp.NdpError):
        p.noise(0, variance="a third")
    with pytest.raises(ndp.NdpError, match="without a graph"):
        p.gossip([x, x, x])
    with pytest.raises(ndp.NdpError, match="at least 1, got 0"):
        ndp.Program(0)
    with pytest.raises(ndp.NdpError, match="reads must be one of"):
        p.contribute(0, reads="all")
    p.send(0, 1, x)
    # Sent without noise: infinite, and said so.
    assert np.isinf(float(p.account(1).profile(0, sigma=1.0).epsilon(1e-5)))
    with pytest.raises(ndp.NdpError):
        ndp.least_noise(p, worst=1.0, observers=[1])


def test_published_programs():
    ring = nx.cycle_graph(5)
    for p in [
        ndp.programs.decor(ring),
        ndp.programs.zip_dl(ring),
        ndp.programs.gopa(ring, silent=[3]),
        ndp.programs.secure_neighbor_sums(ring, rounds=1),
        ndp.programs.hierarchical([[0, 1, 2], [3, 4]]),
        ndp.programs.corn_dsgd(ring, np.eye(5).tolist(), rounds=1),
    ]:
        profile = p.account(observer=0).profile(2, sigma=2.0)
        assert 0.0 <= float(profile.mu) <= 0.5 + 1e-12
        assert pickle.loads(pickle.dumps(p)) == p
    # The crate's own documentation: DECOR on a ring of five to an outsider.
    outsider = ndp.programs.decor(ring).account(coalition=[])
    assert float(outsider.profile(0, sigma=1.0).mu) ** 2 == pytest.approx(5 / 11, abs=1e-9)
