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
    y = p.add_all(p.contribute_all("nothing"), p.noise_all(variance=1))
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
    x, z = p.contribute(0, "nothing"), p.noise(0, variance="1/9")
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
    x, z = p.contribute_all("nothing"), p.zero_sum([0, 1, 2], variance=10)
    own = p.noise_all(variance=1)
    for u in range(3):
        p.broadcast(u, p.add(x[u], z[u], own[u]))
    mu = float(p.account(0).profile(1, sigma=1.0).mu)
    assert 0.5 < mu**2 < 0.7


def test_what_is_refused():
    p = ndp.Program(3)
    x = p.contribute(0, "nothing")
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
        ndp.programs.hierarchical([[1, 2, 3], [4, 5]]),
        ndp.programs.corn_dsgd(ring, np.eye(5).tolist(), rounds=1),
    ]:
        profile = p.account(observer=0).profile(2, sigma=2.0)
        assert 0.0 <= float(profile.mu) <= 0.5 + 1e-12
        assert pickle.loads(pickle.dumps(p)) == p
    # The crate's own documentation: DECOR on a ring of five to an outsider.
    outsider = ndp.programs.decor(ring).account(coalition=[])
    assert float(outsider.profile(0, sigma=1.0).mu) ** 2 == pytest.approx(5 / 11, abs=1e-9)


def test_constructors_are_their_fast_counterparts():
    G = nx.cycle_graph(5)
    same = [
        (ndp.programs.muffliato(G, 3), ndp.gossip(G, rounds=3)),
        (ndp.programs.fresh_noise(G, [1, "1/2", "1/2"]), ndp.fresh_noise(G, rounds=3, rho=1.0)),
        (
            ndp.programs.randomized_gossip(G, [(0, 1), (1, 2), (2, 3)]),
            ndp.randomized_gossip(G, pairs=[(0, 1), (1, 2), (2, 3)]),
        ),
    ]
    for program, protocol in same:
        losses, account = protocol.losses(2), program.account(2)
        for u in (0, 1, 3, 4):
            assert account.verdict(u).loss.value == pytest.approx(float(losses[u]), abs=1e-9)


def test_witnesses_prove_the_loss_from_both_sides(tmp_path):
    # The crate's own documentation: DECOR on a ring of five loses 5/11 to an outsider.
    p = ndp.programs.decor(nx.cycle_graph(5))
    account = p.account(coalition=[])
    attack, shift = account.witnesses(1)
    below, above = p.check_attack(attack, coalition=[]), p.check_shift(shift, coalition=[])
    loss = account.verdict(1)
    assert below == above == Fraction(5, 11)
    assert loss.lower <= below <= float(loss.loss) <= below + Fraction(1, 10**9)
    # A third party has the file, and the numbers of the values are the same there.
    p.write(tmp_path / "p.jsonl")
    again = ndp.Program.read(tmp_path / "p.jsonl", hidden="refuse")
    sent = pickle.loads(pickle.dumps((attack, shift)))
    assert again.check_attack(sent[0], coalition=[]) == below and again.check_shift(sent[1], coalition=[]) == below
    # A weaker attack proves less, and wrong proofs are refused: a shift that shows, a value that nobody sent.
    value, weight = next(iter(attack.combination.items()))
    weaker = attack._replace(combination={**attack.combination, value: 3 * weight})
    assert p.check_attack(weaker, coalition=[]) < below
    moved = {value: 2 * by for value, by in shift.noises.items()}
    with pytest.raises(ndp.NdpError, match="shows the change"):
        p.check_shift(shift._replace(noises=moved), coalition=[])
    with pytest.raises(ndp.NdpError, match="is not seen"):
        p.check_attack(attack._replace(combination={0: 1}), coalition=[])
    with pytest.raises(ndp.NdpError, match="is not one of the"):
        p.check_attack(attack._replace(combination={10_000: 1}), coalition=[])
    with pytest.raises(ndp.NdpError, match="expected 1, got 2"):
        p.check_attack(attack._replace(change=[1, 1]), coalition=[])


def test_verdicts_name_what_is_seen_without_noise():
    p = ndp.Program(3, sensitivity="use_level")
    x, y = p.contribute(0, "nothing"), p.contribute(0, "nothing")
    z = p.noise(0)
    p.send(0, 1, p.add(x, z))
    p.send(0, 1, p.combine({y: 2, z: 1}))
    p.send(0, 1, z)
    account = p.account(1)
    found = account.verdict(0)
    assert found.noiseless and found.loss is None and found.lower == np.inf and sum(map(abs, found.change)) == 1.0
    attack = ndp.programs.Attack(0, [Fraction(c) for c in found.change], found.combination)
    assert p.check_attack(attack, 1) == np.inf
    assert np.isinf(account.mu(1.0)[0])
    # The other nodes keep their answer.
    assert account.verdict(2).loss == ndp.Exact(0.0, "unit loss")
    # Seen through its noise alone, the sum of both uses has a number.
    q = ndp.Program(2, sensitivity="same_direction")
    a, b, noise = q.contribute(0, "nothing"), q.contribute(0, "nothing"), q.noise(0)
    q.send(0, 1, q.combine([(1, a), (-1, b), (1, noise)]))
    assert q.account(1).verdict(0).loss.value == pytest.approx(0.0, abs=1e-9)
    assert q.account(1).verdict(0, "signs").loss.value == pytest.approx(4.0, abs=1e-9)
    gram, error = q.account(1).gram(0)
    assert gram == pytest.approx(np.array([[1.0, -1.0], [-1.0, 1.0]]), abs=1e-9) and error.max() < 1e-9
    assert q.account(1).rank == 1 and q.account(1).adaptivity == "fixed"
    with pytest.raises(ndp.NdpError):
        q.account(1).gram(1)


def test_what_is_hidden_is_shown_or_refused():
    def reacting(**options):
        p = ndp.Program(3, sensitivity="use_level", **options)
        x, z = p.contribute(0, "nothing"), p.noise(0)
        y = p.add(x, z)
        p.send(0, 1, y)
        w = p.contribute(1, reads="hidden", values=[y])
        p.send(1, 2, p.add(w, p.noise(1)))
        return p

    shown = reacting().account(2)
    assert shown.adaptivity == "revealed"
    assert shown.verdict(0).loss.grade is ndp.UpperBound and float(shown.verdict(0).loss) == pytest.approx(1.0)
    with pytest.raises(ndp.NdpError, match="the observer does not see: there is no exact answer"):
        reacting(hidden="refuse").account(2)
    with pytest.raises(ndp.NdpError, match="one of refuse, as_declared, reveal"):
        reacting(hidden="yes").account(2)


def test_limits_of_an_account(tmp_path):
    p = muffliato(nx.cycle_graph(30), 6)
    p.write(tmp_path / "p.jsonl")
    with pytest.raises(ndp.NdpError, match="bytes"):
        ndp.Program.read(tmp_path / "p.jsonl", memory_limit=1000).account(0)
    assert ndp.Program.read(tmp_path / "p.jsonl", memory_limit=10**9).account(0).failure == p.account(0).failure
    asked = ndp.Program.read(tmp_path / "p.jsonl", asked=[3]).account(0)
    assert float(asked.verdict(3).loss) == pytest.approx(float(p.account(0).verdict(3).loss), abs=1e-9)
    with pytest.raises(ndp.NdpError):
        asked.verdict(4)
    with pytest.raises(ndp.NdpError, match="at least 1, got 0"):
        ndp.Program(3, precision_limit=0)
    for huge in (
        lambda: ndp.programs.dsgd(PATH, 2**31),
        lambda: ndp.programs.muffliato(PATH, 2**31),
        lambda: ndp.programs.decor(PATH, steps=2**31),
        lambda: ndp.programs.toeplitz(2**31, [1]),
    ):
        with pytest.raises(ndp.NdpError, match="bytes"):
            huge()


def test_a_run_is_that_of_the_program():
    G = nx.cycle_graph(6)
    p = muffliato(G, 4)
    run = p.run(np.arange(6.0), sigma=1e-9, seed=3)
    last = [run[p.value_count - 6 + u] for u in range(6)]
    assert last == pytest.approx(ndp.gossip(G, rounds=4).run(np.arange(6.0), 1e-9, 3).output, abs=1e-6)
    again = p.run(np.arange(6.0), sigma=1e-9, seed=3)
    assert np.array_equal(run.values, again.values) and len(run) == p.value_count
    assert np.array_equal(pickle.loads(pickle.dumps(run)).values, run.values)
    # The noise has the standard deviation asked for: 6 nodes by 20,000 coordinates.
    noise = p.run(np.zeros((6, 20_000)), sigma=2.0, seed=1).values[6:12]
    assert noise.std() == pytest.approx(2.0, rel=0.02)


def test_a_run_is_what_the_account_is_about():
    # Three uses whose changes are at angles of 120 degrees: numbers cannot be, and lose less.
    for chosen in ("signs", ndp.Sensitivity("vectors", dimension=1)):
        p = ndp.Program(2, chosen)
        for _ in range(3):
            p.send(0, 1, p.add(p.contribute(0, "nothing"), p.noise(0)))
        with pytest.raises(ndp.NdpError, match=r"2 coordinates .* Sensitivity\('vectors', dimension=2\)"):
            p.run(np.zeros((2, 2)), sigma=1.0, seed=0)
        assert p.run(np.zeros(2), sigma=1.0, seed=0).values.shape[0] == 9
    # A variance that is 0 as a float would be no noise, although weights make it 1 again.
    for variance, weight in ((Fraction(1, 10**330), Fraction(10**165)), (Fraction(10**400), Fraction(1, 10**200))):
        p = ndp.Program(2)
        x, z = p.contribute(0, "nothing"), p.noise(0, variance=variance)
        p.send(0, 1, p.combine({x: 1, z: weight}))
        assert p.account(observer=1).profile(0, sigma=1.0).mu == 1.0
        with pytest.raises(ndp.NdpError, match="standard deviation of a noise must be a positive float"):
            p.run(np.zeros(2), sigma=1.0, seed=1)
    p = ndp.Program(2)
    p.send(0, 1, p.combine({p.contribute(0, "nothing"): 1, p.noise(0): Fraction(1, 10**400)}))
    with pytest.raises(ndp.NdpError, match="size of a weight must be a positive float"):
        p.run(np.zeros(2), sigma=1.0, seed=1)


def test_a_run_has_the_noise_of_its_messages():
    gossip = ndp.noisy_gossip(([0, 1], [1, 2]), rounds=3, ratio=0.5)
    run = gossip.run([0.0, 0.0, 0.0], 2.0, seed=1)
    # A state is the first noise, and what was received carries that of the messages.
    assert np.array_equal(run.messages[0], run.noise) and [len(z) for z in run.later_noises] == [3, 3, 3]
    W = np.array([[2, 1, 0], [1, 1, 1], [0, 1, 2]]) / 3
    received = W @ run.messages[0] + (W - np.diag(np.diag(W))) @ run.later_noises[0] * 0.5 * 2.0
    assert received == pytest.approx(run.messages[1], abs=1e-12)
    with pytest.raises(ndp.NdpError, match="made by its name has no run"):
        ndp.protocol("decor", ([0, 1], [1, 2])).run([0.0, 0.0, 0.0], 1.0, seed=1)


def test_a_run_asks_for_contributions_when_they_are_due():
    p = ndp.Program(2, sensitivity="same_direction")
    asked = []
    first = p.add(p.contribute(0, "nothing"), p.noise(0, variance=0))
    p.send(0, 1, first)
    second = p.contribute(1, reads="seen", values=[first])

    def give(node, use, so_far):
        asked.append((node, use, len(so_far)))
        return 3.0 if node == 0 else so_far[first] + 1.0

    run = p.run(give, sigma=1.0, seed=1)
    assert run[second] == pytest.approx([4.0]) and asked == [(0, 0, 0), (1, 0, 3)]
    with pytest.raises(ndp.NdpError, match="not made yet"):
        p.run(lambda node, use, so_far: so_far[second], sigma=1.0, seed=1)
    with pytest.raises(ZeroDivisionError, match="mine"):
        p.run(lambda *_: (_ for _ in ()).throw(ZeroDivisionError("mine")), sigma=1.0, seed=1)
    with pytest.raises(ndp.NdpError, match="is not finite"):
        p.run(lambda *_: float("nan"), sigma=1.0, seed=1)
    with pytest.raises(ndp.NdpError, match="has 2 coordinates"):
        p.run(lambda *_: [1.0, 2.0, 3.0], sigma=1.0, seed=1, dimension=2)
    with pytest.raises(ndp.NdpError, match="one row for each of the 2 nodes, got 3"):
        p.run([1.0, 2.0, 3.0], sigma=1.0, seed=1)
    with pytest.raises(ndp.NdpError, match="positive"):
        p.run([1.0, 2.0], sigma=0.0, seed=1)
    with pytest.raises(ndp.NdpError, match="is not one of the"):
        run[99]


def test_exact_matrices():
    p = ndp.Program(3)
    y = p.add_all(p.contribute_all("nothing"), p.noise_all())
    mixed = p.mix(y, {0: {1: "1/3", 2: "2/3"}})
    p.send(0, 1, mixed[0])
    # Of node 2 the share 2/3 through its own noise of 2/3; node 1 knows its part.
    assert float(p.account(1).profile(2, 1.0).mu) == pytest.approx(1.0)
    p.send(1, 2, mixed[1])
    assert float(p.account(2).profile(1, 1.0).mu) == pytest.approx(1.0)
    with pytest.raises(ndp.NdpError, match="node 7 is not one of"):
        p.mix(y, {0: {7: 1}})
    with pytest.raises(ndp.NdpError, match="values"):
        p.mix(y[:2], {})
    rows = ndp.programs.toeplitz(3, [1, "1/2"])
    inverse = ndp.programs.inverse_of_lower(rows)
    product = [[sum(a[k] * inverse[k][j] for k in range(j, i + 1)) for j in range(i + 1)] for i, a in enumerate(rows)]
    assert product == [[Fraction(int(i == j)) for j in range(i + 1)] for i in range(3)]
    with pytest.raises(ndp.NdpError):
        ndp.programs.inverse_of_lower([[0]])


def test_a_program_that_was_read_goes_on(tmp_path):
    p = ndp.Program(2)
    y = p.add(p.contribute(0, "nothing"), p.noise(0))
    p.write(tmp_path / "p.jsonl")
    for again in (ndp.Program.read(tmp_path / "p.jsonl"), pickle.loads(pickle.dumps(p))):
        again.send(0, 1, y)
        assert float(again.account(1).profile(0, 1.0).mu) == 1.0
    zero = ndp.Program(2)
    masks = zero.zero_sum_of(0, 2)
    zero.send(0, 1, zero.add(zero.contribute(0, "nothing"), *masks))
    # Masks that cancel hide nothing from who gets both.
    assert zero.account(1).verdict(0).noiseless


def test_what_a_contribution_reads_is_stated():
    p = ndp.Program(2)
    for call in (lambda: p.contribute(0), lambda: p.contribute_all()):
        with pytest.raises(TypeError, match="reads"):
            call()
    # The difference that a default would hide: what node 1 sends back depends on what node 0 sent it.
    y = p.add(p.contribute(0, "nothing"), p.noise(0))
    p.send(0, 1, y)
    z = p.add(p.contribute(1, "seen", values=[y]), p.noise(1))
    p.send(1, 0, z)
    assert p.account(0).adaptivity == "checked"


def test_witnesses_towards_an_eavesdropper():
    p = ndp.programs.decor(nx.cycle_graph(5))
    who = {"coalition": [], "tapped": [(0, 1)]}
    attack, shift = p.account(**who).witnesses(2)
    below, above = p.check_attack(attack, **who), p.check_shift(shift, **who)
    loss = p.account(**who).verdict(2)
    assert below == above and loss.lower <= below <= loss.loss.value
    # What only the eavesdropper sees proves nothing to an outsider, and a coalition's own noise is part of who it is.
    private = ndp.Program(nx.path_graph(3))
    y = private.add_all(private.contribute_all("nothing"), private.noise_all())
    private.send(0, 1, y[0])
    seen = ndp.programs.Attack(0, [Fraction(1)], {y[0]: Fraction(1)})
    assert private.check_attack(seen, coalition=[], tapped=[(0, 1)]) == 1
    with pytest.raises(ndp.NdpError, match="is not seen"):
        private.check_attack(seen, coalition=[])
    mine = ndp.programs.Attack(0, [Fraction(1)], {y[0]: Fraction(1), 3: Fraction(-1)})
    with pytest.raises(ndp.NdpError):
        private.check_attack(mine, coalition=[], tapped=[(0, 1)])


def test_sums_of_sums_have_a_server():
    # Two groups of two: the server sees four noises of 1/4 and two of 1/2, a leader one noise of another.
    p = ndp.programs.hierarchical([[1, 2], [3, 4]], own="1/4", leaders="1/2")
    assert list(p.nodes) == [0, 1, 2, 3, 4]
    assert float(p.account(0).profile(1, sigma=1.0).mu) ** 2 == pytest.approx(1 / 2, abs=1e-9)
    assert float(p.account(1).profile(2, sigma=1.0).mu) ** 2 == pytest.approx(4.0, abs=1e-9)
    assert float(p.account(4).profile(1, sigma=1.0).mu) == 0.0
    for groups in ([[0, 1], [2, 3]], [[1, 2], [2, 3]], [[1, 2], [4, 5]], []):
        with pytest.raises(ndp.NdpError, match="node 0 being the server|at least"):
            ndp.programs.hierarchical(groups)


def test_profiles_of_different_nodes_do_not_compose():
    account = ndp.gossip(nx.path_graph(4), rounds=2).account(0)
    one, other = account.profile(1, sigma=2.0), account.profile(2, sigma=2.0)
    both = ndp.Profile.compose([one, one])
    assert one.node == both.node == pickle.loads(pickle.dumps(both)).node == 1
    for parts in ([one, other], [both, other]):
        with pytest.raises(ndp.NdpError, match="about the same node, got 1 and 2"):
            ndp.Profile.compose(parts)


def test_a_decimal_is_the_number_it_says():
    from decimal import Decimal

    p = ndp.Program(2)
    p.send(0, 1, p.combine({p.contribute(0, "nothing"): 1, p.noise(0, variance=Decimal("0.1")): 1}))
    # A tenth, and not the float beside it: the loss is 10 exactly.
    attack, _ = p.account(1).witnesses(0)
    assert p.check_attack(attack, 1) == 10


def told_of(account):
    """Everything that an account says about node 0."""
    return (
        account.profile(0, 1.0).mu, account.verdict(0), account.rank, account.bits, account.adaptivity, account.gram(0)[0].tolist(),
        account.witnesses(0), account.mu(1.0).tolist(), account.statement, account.prove(),
    )  # fmt: skip


def test_an_account_is_about_the_program_as_it_was():
    p = ndp.Program(2)
    x = p.contribute(0, "nothing")
    p.send(0, 1, p.add(x, p.noise(0)))
    account, unread, bound = p.account(1), p.account(1), p.account(1, patience=60)
    before = told_of(account)
    assert before[0] == ndp.Exact(1.0, "mu")
    ledger = ndp.Ledger()
    ledger.record(p, sigma=1.0)
    profile = account.profile(0, 1.0)
    # From here on the observer sees the contribution without noise.
    p.send(0, 1, x)
    assert p.account(1).verdict(0).noiseless and p.account(1) is not account
    for one in (account, unread, pickle.loads(pickle.dumps(account)), pickle.loads(pickle.dumps(unread))):
        assert told_of(one) == before
    for one in (bound, pickle.loads(pickle.dumps(bound))):
        assert one.profile(0, 1.0).mu == before[0]
    assert pickle.loads(pickle.dumps(profile)).mu == profile.mu == before[0]
    assert pickle.loads(pickle.dumps(ledger)).spent(0, 1).mu == ledger.spent(0, 1).mu == before[0]
    # Nor does an account change with the program that its pickle brings along.
    copied = pickle.loads(pickle.dumps(account))
    copied.protocol.send(0, 1, x)
    assert told_of(copied) == before and copied.protocol.account(1).verdict(0).noiseless


def test_an_account_does_not_follow_a_second_contribution():
    p = ndp.Program(2)
    p.send(0, 1, p.add(p.contribute(0, "nothing"), p.noise(0)))
    account = p.account(1)
    p.contribute(0, "nothing")
    assert account.verdict(0).loss == 1.0 and len(account.witnesses(0)[0].change) == 1
    with pytest.raises(ndp.NdpError, match="contributes 2 times"):
        p.account(1)


def test_noises_that_add_up_to_zero_have_the_variance_that_is_said():
    for group in ([0, 1], [0, 1, 2, 3]):
        for noises in (lambda p: p.zero_sum(group, 4), lambda p: p.zero_sum_of(0, len(group), 4)):
            p = ndp.Program(5)
            p.send(0, 4, p.add(p.contribute(0, "nothing"), noises(p)[0]))
            assert float(p.account(4).verdict(0).loss) == pytest.approx(1.0 / (4.0 * (1.0 - 1.0 / len(group))), rel=1e-9)
    assert "variance * (1 - 1/m)" in ndp.Program.zero_sum.__doc__ and "variance * (1 - 1/count)" in ndp.Program.zero_sum_of.__doc__


def test_an_edge_is_tapped_in_one_direction():
    p = ndp.Program(2)
    y = p.add_all(p.contribute_all("nothing"), p.noise_all())
    p.send(0, 1, y[0])
    p.send(1, 0, y[1])
    assert p.account(coalition=[], tapped=[(0, 1)]).mu(1.0).tolist() == [1.0, 0.0]
    assert p.account(coalition=[], tapped=[(0, 1), (1, 0)]).mu(1.0).tolist() == [1.0, 1.0]
    assert "everything that ``u`` sends to ``v``" in ndp.Protocol.account.__doc__


@pytest.mark.parametrize("reads", [{"hidden": [3]}, ("seen", [1]), None, 7])
def test_reads_that_are_no_word_are_refused(reads):
    program = ndp.Program(3)
    with pytest.raises(ndp.NdpError, match="reads must be 'nothing', 'seen' or 'hidden', with values= beside it"):
        program.contribute(0, reads)
    with pytest.raises(ndp.NdpError, match="reads must be"):
        program.contribute_all(reads)


def test_a_shift_proves_nothing_of_what_reads_hidden_values():
    p = ndp.Program(3, "use_level")
    h = p.add(p.contribute(0, "nothing"), p.noise(0, 10))
    p.send(0, 1, h)
    p.send(1, 2, p.add(p.contribute(1, "hidden", [h]), p.noise(1)))
    with pytest.raises(ndp.NdpError, match="reads values that the observer does not see"):
        p.check_shift(ndp.programs.NoiseShift(0, [1], {}), observer=2)


def test_what_may_be_seen_without_noise_is_no_fact():
    p = ndp.Program(3, "use_level")
    p.send(1, 2, p.add(p.contribute(1, "hidden", [p.contribute(0, "nothing")]), p.noise(1, 1000)))
    verdict = p.account(observer=2).verdict(0)
    assert verdict.loss == ndp.UpperBound(float("inf"), "unit loss") and verdict.lower == 0.0 and not verdict.noiseless


@pytest.mark.parametrize("wrong", [3, ndp.programs.Sensitivity(3)])
def test_a_sensitivity_is_a_word(wrong):
    with pytest.raises(ndp.NdpError, match="a sensitivity is a word such as 'use_level'"):
        ndp.Program(2, wrong)
