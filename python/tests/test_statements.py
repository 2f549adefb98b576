"""What is said beside numbers: true of those who were looked at, and lost on no way."""

import copy
import pickle

import networkx as nx
import pytest

import ndp

GRAPH = ([0, 1, 2], [1, 2, 3])
PATH = nx.path_graph(4)


def test_who_is_covered_is_who_was_looked_at():
    p = ndp.gossip(GRAPH, rounds=2)
    whole = p.all_losses()
    assert "every one of 4 nodes alone" in whole.statement.line
    some = p.all_losses(observers=[0, 2, 3])
    assert "every" not in some.statement.line and "; observed by 0, 2, 3, each alone; assumed: nobody" in some.statement.line
    # As many accounts as nodes, but not of all nodes.
    twice = ndp.check(p, 9.0, worst=(1.0, 1e-5), observers=[0, 0, 2, 3])
    assert "every" not in twice.statement.line
    pairs = ndp.check(p, 9.0, worst=(1.0, 1e-5), coalition_size=2).statement
    assert "every coalition of at most 2 of 4 nodes" in pairs.line
    five = ndp.check(p, 9.0, worst=(1.0, 1e-5), observers=[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3]]).statement
    assert "every" not in five.line
    mixed = ndp.check(p, 9.0, worst=(1.0, 1e-5), observers=[0, 1, 2, [1, 3]]).statement
    assert "every" not in mixed.line
    tapping = p.account(coalition=[], tapped=[(0, 1)]).statement.line
    assert "observed by somebody outside the network, overhearing 0 to 1; assumed: nobody hands out" in tapping


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
    assert least[0] == least.sigma and least._fields[-2:] == ("statement", "notes")


def test_labels_stand_in_the_words():
    networkx = pytest.importorskip("networkx")
    graph = networkx.relabel_nodes(networkx.path_graph(3), {0: "ann", 1: "bob", 2: "<eve>"})
    p = ndp.gossip(graph, rounds=1)
    said = p.losses("<eve>").statement
    assert "; observed by <eve>; " in said.line and "&lt;eve&gt;" in said._repr_html_()
    assert p.losses("<eve>").statement != p.losses("ann").statement


class TestEveryAnswerHasItsStatement:
    """Comparisons, ledgers, audits, sweeps and profiles say what their numbers are about, and show it."""

    def shown(self, thing, said):
        import html

        assert said.paragraph and html.escape(said.paragraph) in thing._repr_html_()

    def test_comparisons(self):
        once, fresh = ndp.gossip(PATH, 2), ndp.fresh_noise(PATH, 2)
        table = ndp.compare({"once": once, "fresh": fresh, "none": "not here"}, worst=(1.0, 1e-5))
        # Everybody was asked about: no observer is named. A neighbor learns as much as the bound says, so that no account is needed.
        nodes = once.all_losses().statement.data["coverage"]["nodes"]
        assert table.statement.data["coverage"] == {"covers": "bounded", "looked_at": 0, "nodes": nodes, "seed": None}
        assert table.statement.data["observers"] == [] and table.statement.data["runs"] == 1
        for row, protocol in zip(table, (once, fresh)):
            everybody, bound = protocol.all_losses().statement.line, ", by a bound that holds whoever observes and that one of them is proven to reach"
            assert row["statement"].line == everybody.replace("; assumed", f"{bound}; assumed")
            assert set(row["statement"].by) <= set(table.statement.by)
        assert "statement" not in table[2]
        self.shown(table, table.statement)
        assert table.statement.line in repr(table)
        # Who is named is said by name.
        named = ndp.compare({"once": once}, worst=(1.0, 1e-5), observers=[1])
        assert named.statement == once.losses(1).statement and named.statement != table.statement

    def test_what_one_row_assumes_all_assume(self):
        def twice(reads):
            program = ndp.Program(PATH, "use_level")
            for what in ("nothing", reads):
                program.send_to_neighbors(program.add_all(program.contribute_all(what), program.noise_all()))
            return program

        plain, assumes = twice("nothing"), twice("seen")
        table = ndp.compare({"plain": plain, "assumes": assumes}, worst=(1.0, 1e-5))
        alone = ndp.compare({"plain": plain}, worst=(1.0, 1e-5))
        theirs = table[1]["statement"].data
        assert theirs["assumes"] or theirs["rests_on"]
        for key in ("assumes", "rests_on", "changes"):
            assert set(map(str, theirs[key])) <= set(map(str, table.statement.data[key]))
        assert table.statement != alone.statement

    def test_rows_about_different_changes_have_no_statement_of_all(self):
        """One answer for gradients that move alike, one for gradients that move in any direction: neither holds for both."""
        alike, free = (ndp.protocol("dsgd", nx.cycle_graph(5), steps=4, correlation=-0.5, **given) for given in ({"alike": 1}, {}))
        table = ndp.compare({"alike": alike, "free": free}, worst=(1.0, 1e-5))
        assert table.statement is None and table[0]["statement"] != table[1]["statement"]
        for row in table:
            self.shown(table, row["statement"])
        ledger = ndp.Ledger(limit=(1.0, 1e-5))
        ledger.record(alike, sigma=5.6)
        ledger.record(free, sigma=1000.0)
        assert "in some of the runs" in ledger.statement.line and "in others of them" in ledger.statement.line

    def test_ledgers(self):
        ledger, protocol = ndp.Ledger(limit=(5.0, 1e-5)), ndp.gossip(PATH, 2)
        assert ledger.statement is None
        ledger.record(protocol, sigma=3.0)
        assert ledger.statement == protocol.all_losses().statement
        ledger.record(ndp.fresh_noise(PATH, 2), sigma=3.0)
        said = ledger.statement
        assert said.data["runs"] == 2 and set(said.by) >= set(protocol.all_losses().statement.by)
        self.shown(ledger, said)
        assert said.line in repr(ledger)
        again = pickle.loads(pickle.dumps(ledger))
        assert again.statement == said
        # What one observer could tell is said of this one alone.
        spent = ledger.spent(0, observer=1)
        assert spent.statement.data["runs"] == 2 and len(spent.statement.data["observers"]) == 1
        self.shown(spent, spent.statement)

    def test_ledgers_know_nodes_by_their_labels(self):
        """The same node observes in both runs, though it has another place in the second."""
        first = ndp.gossip(([0, 1], [1, 2]), 2)
        second = ndp.gossip(nx.relabel_nodes(nx.path_graph(3), {0: 2, 1: 1, 2: 0}), 2)
        assert list(second.nodes) != list(first.nodes)
        ledger = ndp.Ledger()
        for protocol in (first, second):
            ledger.record(protocol, sigma=3.0, observers=[0])
        assert "observed by 0" in ledger.statement.line and ledger.spent(1, 0).statement.data["runs"] == 2

    def test_audits_sweeps_and_profiles(self):
        protocol = ndp.gossip(PATH, 2)
        found = ndp.audit(protocol, (0, 1), runs=100)
        assert found.statement == protocol.losses(1).statement
        self.shown(found, found.statement)
        rows = ndp.sweep({"path": PATH, "ring": nx.cycle_graph(5)}, rounds=[1, 2], sigma=[2.0, 4.0])
        assert rows[0]["statement"] == ndp.gossip(PATH, 1).all_losses().statement
        assert len(rows) == 8 and 1 <= len(rows.statements) <= 4
        for said in rows.statements:
            self.shown(rows, said)
            assert said.line in repr(rows)
        profile = protocol.account(1).profile(0, 3.0)
        assert profile.statement == protocol.account(1).statement
        self.shown(profile, profile.statement)
        two = ndp.Profile.compose([profile, ndp.fresh_noise(PATH, 2).account(1).profile(0, 3.0)])
        assert two.statement.data["runs"] == 2 and pickle.loads(pickle.dumps(two)).statement == two.statement
        # Of different observers nothing is said in common.
        assert ndp.Profile.compose([profile, protocol.account(2).profile(0, 3.0)]).statement is None


class TestManyNodes:
    """Of more than 500 nodes one is looked at, the others are covered by what is proven of them, and the statement says so."""

    def test_a_ring_is_looked_at_once(self):
        protocol = ndp.gossip(nx.cycle_graph(600), rounds=4)
        found = ndp.least_noise(protocol, worst=(1.0, 1e-5))
        exact = ndp.least_noise(protocol, worst=(1.0, 1e-5), observers=[17])
        assert found.sigma == exact.sigma and type(found.loss) is ndp.Exact
        assert "every one of 600 nodes alone" in found.statement.line and exact.statement != found.statement
        assert ndp.check(protocol, found.sigma, worst=(1.0, 1e-5)).verdict == "met"
        assert ndp.check(protocol, found.sigma * 0.99, worst=(1.0, 1e-5)).verdict == "violated"

    def test_a_bound_covers_whom_nobody_looked_at(self):
        G = nx.random_tree(520, seed=3) if hasattr(nx, "random_tree") else nx.random_labeled_tree(520, seed=3)
        protocol = ndp.fresh_noise(G, rounds=3)
        found = ndp.least_noise(protocol, worst=(1.0, 1e-5))
        assert "520 nodes alone" in found.statement.line
        each = ndp.least_noise(protocol, worst=(1.0, 1e-5), observers=list(range(0, 520, 40)))
        assert found.sigma >= each.sigma
        assert ndp.check(protocol, found.sigma, worst=(1.0, 1e-5)).verdict == "met"
        # Where the bound exceeds the limit and nobody who was looked at does, nothing is shown.
        checked = ndp.check(protocol, 0.2, worst=(1.0, 1e-5))
        assert checked.verdict in ("violated", "not shown") and checked.exceeding > 0

    def test_who_is_named_is_looked_at(self):
        protocol = ndp.gossip(nx.cycle_graph(502), rounds=2)
        named = ndp.least_noise(protocol, worst=(1.0, 1e-5), observers=[3])
        assert "observed by 3" in named.statement.line
        with pytest.raises(ndp.NdpError, match="one target"):
            ndp.least_noise(protocol, worst=(1.0, 1e-5), mean=(1.0, 1e-5))


def test_no_grade_is_made_of_another():
    for value in (ndp.Estimate(0.1), ndp.printed.muffliato_theorem1(ndp.Graph(([0, 1], [1, 2])), rounds=2, observer=2)):
        for grade in (ndp.Exact, ndp.UpperBound):
            with pytest.raises(TypeError, match="has its grade already"):
                grade(value)


def test_labels_that_read_alike_are_told_apart():
    alike = ndp.gossip(nx.Graph([(1, "1"), ("1", "b")]), rounds=1)
    said = [alike.losses(node).statement.line for node in (1, "1", "b")]
    assert len(set(said)) == 3 and "1" in said[0] and "'1'" not in said[0] and "'1'" in said[1]
