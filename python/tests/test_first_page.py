"""The first page of the package, as it was promised, runs as it stands."""

import networkx as nx
import pytest

import ndp


def test_the_promised_calls(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    G = nx.karate_club_graph()
    r = ndp.gossip(G, rounds=20).losses(observer=33)
    assert len(r.unit) == len(r.mu(4.0)) == len(r.epsilon(4.0, delta=1e-5)) == len(r.nodes) == 34
    assert r.grade is ndp.Exact and r.failure < 1e-20 and len(r.enclosure) == 2

    found = ndp.least_noise(ndp.fresh_noise(G), worst=(1.0, 1e-5))
    assert found.sigma > 3.0 and float(found.loss) <= 1.0 and found.observer in G

    table = ndp.compare(G, worst=(1.0, 1e-5))
    assert [row["protocol"] for row in table] == list(ndp.protocols())
    # Every protocol has a number or its stated reason, and at least twelve have numbers.
    numbers = [row for row in table if row.get("sigma") is not None]
    assert len(numbers) >= 12 and all(row["grade"] in ("exact", "upper-bound") for row in numbers)
    assert all(row.get("sigma") is not None or row["reason"] for row in table)
    table.plot().figure.savefig("comparison.png")

    p = ndp.Program(G)
    y = p.add_all(p.contribute_all("nothing"), p.noise_all(variance=1))
    for _ in range(8):
        p.send_to_neighbors(y)
        y = p.gossip(y)
    p.write("mine.jsonl")
    p = ndp.Program.read("mine.jsonl")
    found = ndp.audit(p, pair=(0, 33), runs=100_000)
    assert not found.refuted and 0.9 < found.measured_mu.value < 1.0

    spent = ndp.accountants.RdpAccountant().compose(ndp.accountants.Gaussian(4.0), 30).epsilon(1e-5)
    assert isinstance(spent, ndp.UpperBound)

    printed = ndp.printed.muffliato_theorem1(G, rounds=20, observer=33)
    with pytest.raises(TypeError, match="a printed formula is no guarantee; .value says it anyway"):
        float(printed)
    assert printed.value.shape == (34,)


def test_the_unweighted_karate_club():
    r = ndp.gossip(nx.karate_club_graph(), rounds=8).losses(observer=11)
    assert (r.unit[5], r.unit[33]) == (
        pytest.approx(0.217240691468641, abs=1e-9),
        pytest.approx(0.434764607615463, abs=1e-9),
    )
    assert "the graph's own are not used" in repr(r)
