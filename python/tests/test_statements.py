"""What is said beside numbers: true of those who were looked at, and lost on no way."""

import copy
import pickle

import pytest

import ndp

GRAPH = ([0, 1, 2], [1, 2, 3])


def test_who_is_covered_is_who_was_looked_at():
    p = ndp.gossip(GRAPH, rounds=2)
    whole = p.all_losses()
    assert "every one of 4 nodes alone" in whole.statement.line
    some = p.all_losses(observers=[0, 2, 3])
    assert "every" not in some.statement.line and some.statement.line.endswith("observed by 0, 2, 3, each alone")
    # As many accounts as nodes, but not of all nodes.
    twice = ndp.check(p, 9.0, worst=(1.0, 1e-5), observers=[0, 0, 2, 3])
    assert "every" not in twice.statement.line
    pairs = ndp.check(p, 9.0, worst=(1.0, 1e-5), coalition_size=2).statement
    assert "every coalition of at most 2 of 4 nodes" in pairs.line
    five = ndp.check(p, 9.0, worst=(1.0, 1e-5), observers=[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3]]).statement
    assert "every" not in five.line
    mixed = ndp.check(p, 9.0, worst=(1.0, 1e-5), observers=[0, 1, 2, [1, 3]]).statement
    assert "every" not in mixed.line
    assert p.account(coalition=[], tapped=[(0, 1)]).statement.line.endswith("somebody outside the network, overhearing 0 to 1")


def test_statements_go_with_the_answers():
    p = ndp.gossip((GRAPH[0], GRAPH[1]), rounds=2)
    whole = p.all_losses()
    one = p.losses(observer=1)
    assert one.statement == whole.towards(1).statement == p.account(observer=1).statement != whole.statement
    assert one.by and one.by == whole.by and all(theorem in one.statement.paragraph for theorem in one.by)
    assert one.statement.data["runs"] == 1 and one.statement.data["own_noise"] != p.losses(observer=1, own_noise=False).statement.data["own_noise"]
    least = ndp.least_noise(p, worst=(1.0, 1e-5))
    assert least.statement == whole.least_noise(worst=(1.0, 1e-5)).statement == whole.statement
    for answer in (whole, one, least, ndp.check(p, 9.0, worst=(1.0, 1e-5))):
        for again in (pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):
            assert again.statement == answer.statement and again.statement.paragraph == str(answer.statement)
    assert least[0] == least.sigma and least._fields[-1] == "statement"


def test_labels_stand_in_the_words():
    networkx = pytest.importorskip("networkx")
    graph = networkx.relabel_nodes(networkx.path_graph(3), {0: "ann", 1: "bob", 2: "<eve>"})
    p = ndp.gossip(graph, rounds=1)
    said = p.losses("<eve>").statement
    assert said.line.endswith("observed by <eve>") and "&lt;eve&gt;" in said._repr_html_()
    assert p.losses("<eve>").statement != p.losses("ann").statement
