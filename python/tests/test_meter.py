"""The meter: against the account of the whole program, refusals, logs, names, forks, and noise drawn as it is counted."""

import json
import math
import multiprocessing
import os
import subprocess
import sys
import zlib
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

import ndp
from ndp import Meter, NdpError, Refused

PATH = nx.path_graph(3)
RING = nx.cycle_graph(5)


def in_units(graph, **more):
    """A meter whose sigma is in units of how far a contribution moves."""
    return Meter(graph, **{"per": "same_direction", "clip": 1.0, "neighbors": "zero", **more})


def rounds(meter, count, sigma=1.0, weights="max_degree"):
    for _ in range(count):
        meter.round(weights, sigma, reads="nothing")
    return meter


def squares(reading):
    return {node: float(mu) ** 2 for node, mu in reading.items()}


#: What decentralized SGD tells after every step, same direction, derived by hand in exact rationals.
REFERENCE = [
    (PATH, 2, 0, ["0", "1/10", "9/26", "191/274", "806/725"]),
    (PATH, 2, 1, ["1", "19/10", "69/26"]),
    (RING, 0, 1, ["1", "19/10", "709/260", "4797/1370"]),
    (RING, 0, 2, ["0", "1/10", "71/260", "683/1370"]),
]


@pytest.mark.parametrize(("graph", "observer", "node", "expected"), REFERENCE)
def test_losses_after_every_step(graph, observer, node, expected):
    meter = in_units(graph)
    for loss in expected:
        meter.round(ndp_weights(graph), 1.0, reads="nothing")
        assert squares(meter.losses(observer))[node] == pytest.approx(float(Fraction(loss)), abs=1e-9)
        assert float(meter.losses(observer)[node]) ** 2 >= float(Fraction(loss)) * (1 - 1e-15)


def ndp_weights(graph):
    """Weights 1 over the largest degree and 1, exact."""
    share = Fraction(1, max(degree for _, degree in graph.degree) + 1)
    return {
        v: {**{w: share for w in graph[v]}, v: 1 - share * graph.degree[v]} for v in graph
    }


@pytest.mark.parametrize("graph", [PATH, RING], ids=["path", "ring"])
@pytest.mark.parametrize(("per", "set_of"), [("same_direction", "same_direction"), ("use", "use_level")])
def test_equal_to_the_account_of_the_program(graph, per, set_of):
    for count in (1, 2, 3):
        meter = in_units(graph, per=per)
        for _ in range(count):
            meter.round(sigma=2.0, reads="nothing")
        program = ndp.programs.dsgd(graph, count, sensitivity=set_of)
        for observer in graph:
            account = program.account(observer)
            for node, found in squares(meter.losses(observer)).items():
                assert found == pytest.approx(float(account.verdict(node).loss) / 4.0, abs=1e-9)


def test_an_upper_bound_for_whole_participants():
    """Uses that change in any direction: never below one use or all alike, and an upper bound by its grade."""
    any_way = rounds(in_units(RING, per="participant"), 3, weights=None)
    alike = rounds(in_units(RING), 3, weights=None)
    for node, mu in any_way.losses(0).items():
        assert isinstance(mu, ndp.UpperBound)
        assert float(mu) >= float(alike.losses(0)[node]) * (1 - 1e-12)
    assert any("any" in sentence or "vector" in sentence for sentence in any_way.rests_on)


def test_models_that_contributions_read_are_shown():
    """The default: dearer than contributions that depend on nothing, and quick however many rounds there are."""
    graph = nx.cycle_graph(16)
    meter = in_units(graph, clip=0.5, epsilon=3.0, delta=1e-5)
    with pytest.raises(Refused):
        for _ in range(10_000):
            meter.round(sigma=10.0)
    plain = in_units(graph)
    for _ in range(meter.rounds):
        plain.round(sigma=20.0, reads="nothing")
    assert meter.rounds == meter.remaining(sigma=10.0) + meter.rounds > 30
    for node, mu in meter.losses(0).items():
        assert float(mu) >= float(plain.losses(0)[node]) * (1 - 1e-9)
    assert {meter.losses(v).source for v in graph} == {"running"}


def test_a_refusal_names_the_pair_and_changes_nothing():
    meter = in_units(nx.relabel_nodes(PATH, {0: "ann", 1: "bob", 2: "cem"}), limits={("cem", "ann"): 0.5})
    weights = {"ann": {"ann": 0.5, "bob": 0.5}, "bob": {"ann": 0.5, "cem": 0.5}, "cem": {"cem": 0.5, "bob": 0.5}}
    while meter.remaining(weights, 1.0, reads="nothing", most=50):
        meter.round(weights, 1.0, reads="nothing")
    before = [(v, dict(meter.losses(v))) for v in meter.nodes]
    count = meter.rounds
    assert count >= 1
    with pytest.raises(Refused, match="'ann' towards 'cem'") as refused:
        meter.round(weights, 1.0, reads="nothing")
    told = refused.value
    assert (told.observer, told.node, told.limit) == ("cem", "ann", 0.5)
    assert 0.5 < told.loss < 10
    assert [(v, dict(meter.losses(v))) for v in meter.nodes] == before
    assert meter.rounds == count
    # What was said is what it would have cost.
    free = in_units(meter.graph)
    for _ in range(count + 1):
        free.round(weights, 1.0, reads="nothing")
    assert squares(free.losses("cem"))["ann"] == pytest.approx(told.loss, rel=1e-9)
    meter.round(weights, 1e6, reads="nothing")


def test_a_budget_of_epsilon_and_delta_is_kept():
    meter = in_units(PATH, epsilon=2.0, delta=1e-6)
    with pytest.raises(Refused):
        for _ in range(10_000):
            meter.round(sigma=8.0, reads="nothing")
    assert float(meter.epsilon(1e-6)) <= 2.0
    assert meter.rounds > 3
    assert meter.remaining(sigma=8.0, reads="nothing") == 0


def test_noise_without_end_is_refused_where_there_is_none():
    meter = in_units(PATH, epsilon=2.0, delta=1e-6)
    x = meter.contribute(0, "nothing")
    with pytest.raises(Refused) as refused:
        meter.send(0, 1, x)
    assert math.isinf(refused.value.loss)
    assert float(meter.losses(1)[0]) == 0.0


def fed(meter):
    """Single steps of all kinds, a late joiner and one who leaves."""
    meter.round(sigma=2.0, reads="nothing")
    x, z = meter.contribute("a", "nothing"), meter.noise("a", sigma=3.0)
    y = meter.combine({x: 1, z: 1})
    meter.send("a", "b", y)
    meter.lost("a", "c", y)
    meter.leave("d")
    w = meter.combine({y: Fraction(1, 3)})
    meter.broadcast("a", w)
    meter.forget(w)
    return meter


LETTERS = nx.relabel_nodes(nx.cycle_graph(4), dict(enumerate("abcd")))


def everything(meter):
    return [(str(label), dict(meter.losses(list(label) if isinstance(label, tuple) else label))) for label in meter.observers]


TAPS = (
    '{"ndp-meter":1,"nodes":["ann","bob","cem"],"set":"use-level","observers":['
    '{"members":[],"own_noise":"known","senders":"known","tapped":[]},'
    '{"members":[],"own_noise":"known","senders":"known","tapped":[[0,1]]},'
    '{"members":[2],"own_noise":"known","senders":"known","tapped":[[0,1]]}]}',
    '{"contribute":"x","node":0,"reads":"nothing"}',
    '{"noise":"z","shared":[0],"variance":4}',
    '{"let":"y","sum":{"x":1,"z":1}}',
    '{"send":"y","from":0,"to":1}',
)


def framed(steps):
    """The lines of a log."""
    text, crc = "", 0
    for n, step in enumerate(steps):
        crc = zlib.crc32(f"{crc:08x}{n}:{step}".encode())
        text += f'{{"n":{n},"crc":"{crc:08x}","step":{step}}}\n'
    return text.encode()


def test_observers_are_named_by_what_they_tap():
    meter, *_ = Meter._of_log(framed(TAPS), None)
    tap = (("ann", "bob"),)
    assert meter.observers == [(), ((), tap), ("cem", tap)]
    assert float(meter.losses(())["ann"]) == 0.0
    assert float(meter.losses(((), tap))["ann"]) == float(meter.losses(("cem", tap))["ann"]) > 0.49
    with pytest.raises(NdpError, match="not one of the observers"):
        meter.losses("cem")


def test_numbers_say_what_a_contribution_is_compared_with():
    for neighbors, words in (("replace", "data of one node replaced"), ("zero", "data of one node set to zero")):
        meter = Meter(LETTERS, per="use", clip=1, neighbors=neighbors)
        fed(meter)
        reading = meter.losses("a")
        assert {mu.detail["neighbors"] for mu in reading.values()} == {words}
        assert {epsilon.detail["neighbors"] for epsilon in reading.epsilon(1e-5).values()} == {words}


def test_a_log_is_resumed_with_the_same_numbers(tmp_path):
    path = tmp_path / "run.log"
    kept = {"per": "use", "clip": 0.3, "neighbors": "replace", "observers": ["a", ["c", "b"], []], "limits": 50.0}
    meter = Meter(LETTERS, **kept)
    meter.log(path)
    fed(meter)
    resumed = Meter.resume(path, LETTERS)
    assert (resumed.clip, resumed.neighbors, resumed.rounds) == (0.3, "replace", 1)
    assert everything(resumed) == everything(meter) == everything(fed(Meter(LETTERS, **kept)))
    # It goes on in the same file, in the same unit.
    for more in (resumed, meter_without_log(meter, kept)):
        x, z = more.contribute("b", "nothing"), more.noise("b", sigma=0.7)
        more.broadcast("b", more.combine({x: 1, z: 1}))
    assert everything(Meter.resume(path, LETTERS)) == everything(resumed)
    # A line that was cut off was never sent.
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"n":99,"crc":"00')
    assert everything(Meter.resume(path, LETTERS)) == everything(resumed)
    assert path.read_bytes() == whole
    # One that was changed is refused.
    path.write_bytes(whole.replace(b'"variance":"', b'"variance":"9', 1))
    with pytest.raises(NdpError):
        Meter.resume(path)


def meter_without_log(meter, kept):
    return fed(Meter(LETTERS, **kept))


def test_a_log_says_its_unit(tmp_path):
    """The variances of a log are in units of how far a contribution moves: another clip would make later noises false."""
    path = tmp_path / "run.log"
    meter = Meter(PATH, per="use", clip=0.5)
    meter.log(path)
    meter.round(sigma=2.0)
    assert json.loads(path.read_text().splitlines()[0])["step"]["scale"] == {"clip": 0.5, "neighbors": "replace"}
    for wrong in ({"clip": 1.0}, {"neighbors": "zero"}):
        with pytest.raises(NdpError, match="the log says"):
            Meter.resume(path, **wrong)
    resumed = Meter.resume(path, PATH, clip=0.5, neighbors="replace")
    resumed.round(sigma=2.0)
    meter = Meter(PATH, per="use", clip=0.5)
    meter.round(sigma=2.0)
    meter.round(sigma=2.0)
    assert everything(resumed) == everything(meter)


def test_a_log_without_a_unit_takes_multipliers(tmp_path):
    path = tmp_path / "run.log"
    Meter(PATH, per="use", clip=0.5).log(path)
    first = json.loads(path.read_text())["step"]
    del first["scale"]
    import zlib

    text = json.dumps(first)
    crc = zlib.crc32(f"{0:08x}0:{text}".encode())
    path.write_text(f'{{"n":0,"crc":"{crc:08x}","step":{text}}}\n')
    with pytest.raises(NdpError, match="cannot be checked"):
        Meter.resume(path, clip=0.5)
    resumed = Meter.resume(path, PATH)
    assert resumed.clip is None and any("one unit" in sentence for sentence in resumed.rests_on)
    resumed.round(sigma=2.0, reads="nothing")
    assert everything(resumed) == everything(rounds(in_units(PATH, per="use"), 1, 2.0, None))


def test_a_log_is_synced_before_a_step_returns(tmp_path, monkeypatch):
    path, synced = tmp_path / "run.log", []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (real(fd), synced.append(path.read_bytes().count(b"\n"))))
    meter = Meter(PATH, per="use", clip=1.0)
    meter.log(path)
    meter.round(sigma=1.0)
    assert synced[-1] == path.read_bytes().count(b"\n") >= 2
    with pytest.raises(FileExistsError):
        Meter(PATH, per="use", clip=1.0).log(path)
    with pytest.raises(NdpError):
        meter.log(tmp_path / "later.log")


def test_a_log_is_not_lost_under_its_meter(tmp_path):
    path = tmp_path / "run.log"
    meter = Meter(PATH, per="use", clip=1.0)
    meter.log(path)
    meter.round(sigma=1.0)
    with pytest.raises(NdpError, match="the meter's log"):
        ndp.save(meter, path)
    ndp.save(meter, tmp_path / "copy.log")
    meter.round(sigma=1.0)
    # Replaced, as an editor or a rotation of logs does, and deleted.
    os.replace(tmp_path / "copy.log", path)
    with pytest.raises(NdpError, match="deleted or replaced"):
        meter.round(sigma=1.0)
    meter = Meter.resume(path, PATH)
    path.unlink()
    with pytest.raises(NdpError, match="deleted or replaced"):
        meter.round(sigma=1.0)


def test_what_cannot_be_logged_is_not_sent(tmp_path, monkeypatch):
    meter = Meter(PATH, per="use", clip=1.0)
    meter.log(tmp_path / "run.log")

    def full(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NdpError, match="No space left"):
        meter.round(sigma=1.0)
    monkeypatch.undo()
    with pytest.raises(NdpError):
        meter.round(sigma=1.0)


def test_names_not_positions():
    order = ["c", "a", "d", "b"]
    other = nx.Graph()
    other.add_nodes_from(order)
    other.add_edges_from(LETTERS.edges)
    one, two = (rounds(in_units(g, observers=["a", ("b", "c")]), 3, weights=None) for g in (LETTERS, other))
    for who in ("a", ("b", "c"), ("c", "b"), ["b", "c"]):
        assert squares(one.losses(who)) == pytest.approx(squares(two.losses(who)))
    with pytest.raises(NdpError, match="is not one of"):
        one.losses("b")
    with pytest.raises(NdpError, match="'x'"):
        one.send("x", "a", 0)
    with pytest.raises(NdpError, match="twice"):
        in_units(LETTERS, observers=[["a", "b"], ["b", "a"]])
    with pytest.raises(NdpError, match="twice"):
        in_units(4, observers=[1, [1]])
    grid = in_units(nx.grid_2d_graph(2, 2), observers=[(0, 1), [(0, 0), (1, 1)]])
    assert grid.observers == [(0, 1), ((0, 0), (1, 1))]
    assert set(grid.losses((0, 1))) == {(0, 0), (1, 0), (1, 1)}


def test_who_left_contributes_no_more():
    meter = in_units(LETTERS, observers=["a"])
    meter.round(sigma=1.0, reads="nothing")
    meter.leave("c")
    known = squares(meter.losses("a"))
    with pytest.raises(NdpError):
        meter.round(sigma=1.0, reads="nothing")
    with pytest.raises(NdpError):
        meter.contribute("c", "nothing")
    assert squares(meter.losses("a")) == known
    # A message that is lost counts as sent.
    sent, lost = in_units(LETTERS), in_units(LETTERS)
    for meter, step in ((sent, "send"), (lost, "lost")):
        y = meter.combine({meter.contribute("a", "nothing"): 1, meter.noise("a", sigma=2.0): 1})
        getattr(meter, step)("a", "b", y)
    assert everything(sent) == everything(lost)
    assert squares(lost.losses("b"))["a"] == pytest.approx(0.25)


def test_a_secure_sum_hides_its_addends():
    meter = in_units(3)
    ys = [meter.combine({meter.contribute(v, "nothing"): 1, meter.noise(v, sigma=1.0): 1}) for v in range(3)]
    meter.secure_sum(2, [(0, 1, ys[0]), (1, 1, ys[1])])
    assert squares(meter.losses(2)) == pytest.approx({0: 0.5, 1: 0.5})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_fork_may_read_and_feeds_nothing(tmp_path):
    meter = Meter(PATH, per="use", clip=1.0)
    meter.log(tmp_path / "run.log")
    meter.round(sigma=3.0)
    said = multiprocessing.get_context("fork").Queue()

    def child():
        try:
            meter.round(sigma=3.0)
            said.put("fed")
        except NdpError as error:
            said.put(str(error))
        said.put(everything(meter) == expected)

    expected = everything(meter)
    before = (tmp_path / "run.log").read_bytes()
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    assert "forked" in said.get(timeout=60)
    assert said.get(timeout=60)
    process.join(60)
    assert (tmp_path / "run.log").read_bytes() == before
    meter.round(sigma=3.0)


def test_a_crash_at_any_moment_loses_nothing_that_was_sent(tmp_path):
    """A process that is killed after it "sent" a message: the log has it."""
    script = (
        "import sys, ndp\n"
        "m = ndp.Meter([(0, 1), (1, 2)], per='use', clip=1.0)\n"
        "m.log(sys.argv[1])\n"
        "while True:\n"
        "    m.round(sigma=5.0, reads='nothing')\n"
        "    print(m.rounds, flush=True)\n"
    )
    for stop in (1, 4, 9):
        path = tmp_path / f"{stop}.log"
        process = subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE, text=True)
        for _ in range(stop):
            sent = int(process.stdout.readline())
        process.kill()
        rest = [int(line) for line in process.stdout.read().split()]
        process.wait()
        sent = max([sent, *rest])
        assert Meter.resume(path).rounds in (sent, sent + 1)


def test_bad_arguments_say_what_is_wrong():
    for arguments, said in [
        ({"per": "user"}, "per must be"),
        ({"clip": 0.0}, "clip must be"),
        ({"clip": math.nan}, "clip must be"),
        ({"neighbors": "both"}, "neighbors must be"),
        ({"epsilon": 1.0}, "give both"),
        ({"observers": [7]}, "node 7"),
        ({"limits": {(9, 0): 1.0}}, "node 9"),
        ({"limits": -1.0}, "at least 0"),
        ({"view": ("nobody", 0)}, "view must be"),
    ]:
        with pytest.raises(NdpError, match=said):
            in_units(PATH, **arguments)
    meter = in_units(PATH)
    for sigma in (-1.0, math.inf, math.nan):
        with pytest.raises(NdpError, match="sigma"):
            meter.round(sigma=sigma)
    with pytest.raises(NdpError):
        meter.send(0, 1, 5)
    with pytest.raises(TypeError, match="log"):
        import pickle

        pickle.dumps(meter)
    with pytest.raises(TypeError):
        Meter(PATH, clip=1.0)


def test_weights_of_a_data_frame_are_those_of_its_names():
    pandas = pytest.importorskip("pandas")
    weights = pandas.DataFrame([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1.0]], index=["c", "b", "a"], columns=["c", "b", "a"])
    graph = ndp.Graph([("a", "b"), ("b", "c")])
    found = []
    for given in (weights, weights.loc[["a", "b", "c"], ["a", "b", "c"]], weights[["b", "a", "c"]]):
        meter = ndp.Meter(graph, per="use", clip=1.0)
        meter.round(given, sigma=1.0)
        found.append([float(meter.losses(v).get(u, -1.0)) for v in "abc" for u in "abc"])
    assert found[0] == found[1] == found[2] == [-1.0, 0.0, 0.0, 0.0, -1.0, found[0][5], 0.0, found[0][5], -1.0]
    assert found[0][5] >= 2.0
    meter = ndp.Meter(graph, per="use", clip=1.0)
    with pytest.raises(ndp.NdpError, match="rows of the weights are named"):
        meter.round(weights.rename(index={"a": "d"}), sigma=1.0)
    with pytest.raises(ndp.NdpError, match="masked"):
        meter.round(np.ma.masked_equal(weights.to_numpy(), 0.0), sigma=1.0)
    gossip = ndp.gossip(graph, 2, weights=weights).all_losses()
    assert gossip["b", "c"] == ndp.gossip(graph, 2, weights=weights.loc[["a", "b", "c"], ["a", "b", "c"]]).all_losses()["b", "c"]


def test_a_limit_is_a_squared_mu():
    for wrong in (ndp.Exact(0.5, "mu"), {(0, 1): ndp.Exact(0.5, "epsilon", {"delta": 1e-5})}):
        with pytest.raises(TypeError, match="squared mu"):
            ndp.Meter(2, per="use", clip=1.0, limits=wrong)
    with pytest.raises(TypeError, match="delta"):
        ndp.Meter(2, per="use", clip=1.0, epsilon=ndp.Exact(1.0, "epsilon", {"delta": 1e-3}), delta=1e-5)


def test_what_reads_nothing_has_no_values():
    meter = ndp.Meter(2, per="use", clip=1.0)
    x = meter.contribute(0, "nothing")
    for made in (meter, ndp.Program(2)):
        with pytest.raises(ndp.NdpError, match="reads nothing"):
            made.contribute(1, "nothing", [x])


def test_a_hidden_value_that_was_only_read_costs_something_when_it_is_sent():
    meter = ndp.Meter(2, per="use", clip=1.0, observers=[0])
    x = meter.contribute(1, "nothing")
    double = meter.combine({x: 2})
    meter.forget(meter.contribute(1, "hidden", [x, double]))
    meter.send(1, 0, x)
    assert math.isinf(float(meter.losses(0)[1]))
    with pytest.raises(ndp.NdpError, match="delta"):
        meter.epsilon(delta=2.0)


def test_two_who_write_one_log_are_found(tmp_path):
    path = tmp_path / "run.log"
    meter = ndp.Meter(2, per="use", clip=1.0)
    meter.log(path)
    meter.round([[0.5, 0.5], [0.5, 0.5]], sigma=3.0)
    one, other = ndp.Meter.resume(path), ndp.Meter.resume(path)
    one.round([[0.5, 0.5], [0.5, 0.5]], sigma=3.0)
    with pytest.raises(Exception, match="somebody else writes"):
        other.round([[0.5, 0.5], [0.5, 0.5]], sigma=3.0)
    assert ndp.Meter.resume(path).rounds == 2


def test_who_left_before_the_log_began_is_not_forgotten(tmp_path):
    meter = ndp.Meter(3, per="use", clip=1.0)
    meter.leave(2)
    with pytest.raises(ndp.NdpError):
        meter.log(tmp_path / "run.log")


def test_private_clips_and_draws_the_noise_that_is_counted():
    meter = Meter(PATH, per="participant", clip=2.0, epsilon=4.0, delta=1e-5)
    called = []

    @meter.private(sigma=15.0, seed=3)
    def updates(scale):
        """What they do."""
        called.append(meter.rounds)
        return {v: [scale * np.ones((50, 40)), np.zeros(2000, dtype=np.float32)] for v in meter.nodes}

    assert updates.__doc__ == "What they do."
    found = updates(1e300)
    assert called == [1], "counted before it is computed"
    plain = Meter(PATH, per="participant", clip=2.0)
    plain.round(sigma=15.0)
    assert everything(meter) == everything(plain)
    noises = []
    for weights, biases in found.values():
        assert (weights.dtype, biases.dtype, weights.shape) == (np.float64, np.float32, (50, 40))
        noises += [weights.ravel() - 2.0 / math.sqrt(2000), biases.ravel()]
    noise = np.concatenate(noises)
    assert abs(noise.mean()) < 5 * 15.0 / math.sqrt(noise.size)
    assert noise.std() == pytest.approx(15.0, rel=5 / math.sqrt(2 * noise.size))
    assert len(np.unique(np.concatenate([noises[0], noises[2], noises[4]]))) == 6000, "a noise for each node"
    with pytest.raises(Refused):
        while True:
            updates(1.0)
    assert len(called) == meter.rounds, "not called when refused"
    assert float(meter.epsilon(1e-5)) <= 4.0


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-3, 1.0, 1e200])
def test_private_clips_to_the_bound(size, scale):
    meter = Meter(PATH, per="use", clip=0.1)
    rng = np.random.default_rng(5)
    given = {v: scale * rng.standard_normal(size) for v in range(3)}
    for v, x in meter.private(sigma=0.0)(lambda: given)().items():
        norm = math.sqrt(math.fsum(float(y) ** 2 for y in x))
        short = scale < 1e100 and math.fsum(float(y) ** 2 for y in given[v]) < 0.0999**2
        assert norm <= 0.1 and (np.array_equal(x, given[v]) if short else norm > 0.0999), "no more and hardly less"


class Tensor:
    """What is used of a tensor of PyTorch."""

    def __init__(self, values, dtype="float32"):
        self.values, self.dtype = np.asarray(values, dtype=dtype), dtype

    def detach(self):
        return self

    def cpu(self):
        return self

    def double(self):
        return Tensor(self.values, "float64")

    def numpy(self):
        return self.values

    def new_tensor(self, values):
        return Tensor(values, self.dtype)


def tensors():
    found = [Tensor]
    try:
        import torch
    except ImportError:
        return found
    return [*found, lambda values: torch.tensor(values, dtype=torch.float32, requires_grad=True)]


@pytest.mark.parametrize("tensor", tensors())
def test_private_takes_tensors(tensor):
    meter = Meter(PATH, per="use", clip=1.0)
    given = [3.0, 4.0, 0.0]
    found = meter.private(sigma=0.0)(lambda: {v: tensor(given) for v in range(3)})()
    assert type(found[0]) is type(tensor(given)) and found[0].dtype == tensor(given).dtype
    assert np.asarray(found[0].double().numpy()) == pytest.approx([0.6, 0.8, 0.0], abs=1e-6)


def test_private_says_what_is_wrong():
    meter = Meter(LETTERS, per="use", clip=1.0)
    full = dict.fromkeys("abcd", 0.5)
    for given, said in [
        ({**full, "x": 1.0}, "'x'"),
        ({"a": 1.0, "b": 1.0, "c": 1.0}, "'d' has no update"),
        ({**full, "b": math.nan}, "'b' is not finite"),
        ({**full, "b": np.array([1j])}, "complex"),
    ]:
        with pytest.raises(NdpError, match=said):
            meter.private(sigma=1.0)(lambda given=given: given)()
    assert meter.rounds == 4, "counted, though nothing was sent"
    assert set(meter.private(sigma=1.0)(lambda: full)()) == set("abcd")
    for sigma in (-1.0, math.nan):
        with pytest.raises(NdpError, match="sigma"):
            meter.private(sigma=sigma)


@pytest.mark.parametrize("given", [0.11, 0.15, 0.19, 0.3])
def test_private_clips_what_is_a_little_too_long(given):
    meter = Meter(PATH, per="use", clip=0.1)
    found = meter.private(sigma=0.0)(lambda: {v: np.array([0.6, 0.8]) * given for v in range(3)})()
    assert 0.0999 < math.hypot(*found[1]) <= 0.1


@pytest.mark.parametrize(("neighbors", "loss"), [("zero", 0.25), ("replace", 1.0)])
def test_sigma_is_in_the_unit_of_the_clip(neighbors, loss):
    """A contribution of norm 3 that is replaced moves by 6: noise of 6 costs 1; compared with 0 it moves by 3."""
    meter = Meter(2, per="use", clip=3.0, neighbors=neighbors)
    meter.send(0, 1, meter.combine({meter.contribute(0, "nothing"): 1, meter.noise(0, sigma=6.0): 1}))
    assert squares(meter.losses(1))[0] == pytest.approx(loss, rel=1e-12)


def hidden_program(graph, weights, words, sigma_squares):
    """Decentralized SGD whose contributions read hidden models, or nothing, stated step by step."""
    program, models = ndp.Program(graph, sensitivity="use_level"), None
    for word, square in zip(words, sigma_squares):
        sums = {}
        for v in graph:
            before = [] if models is None else [models[v]]
            x = program.contribute(v, word, before) if before and word == "hidden" else program.contribute(v, "nothing")
            sums[v] = program.add(*before, x, program.noise(v, variance=square))
        for v in graph:
            for w in graph[v]:
                program.send(v, w, sums[v])
        models = {v: program.combine({sums[w]: share for w, share in weights[v].items()}) for v in graph}
    return program


@pytest.mark.parametrize("record", [True, False])
@pytest.mark.parametrize(("graph", "invertible"), [(PATH, True), (RING, True), (nx.cycle_graph(6), False), (nx.star_graph(3), True)])
@pytest.mark.parametrize("words", ["hhh", "hnh", "nhn"])
def test_hidden_models_as_in_the_account(graph, invertible, words, record):
    """Never below the account of the program, and the same where the matrix has an inverse."""
    weights, squares_of = ndp_weights(graph), [1, 2, Fraction(1, 3), 5]
    words = ["nothing"] + ["hidden" if word == "h" else "nothing" for word in words]
    program = hidden_program(graph, weights, words, squares_of)
    for per, name in (("use", "use_level"), ("same_direction", "same_direction")):
        meter = in_units(graph, per=per, observers=[0, [1, 2]], record=record)
        for word, square in zip(words, squares_of):
            meter.round(weights, math.sqrt(square), reads="model-hidden" if word == "hidden" else word)
        for who, account in ((0, program.account(0)), ([1, 2], program.account(coalition=[1, 2]))):
            reading = meter.losses(who)
            assert reading.source == "running"
            for node, mu in reading.items():
                truth = float(account.verdict(node, name).loss)
                assert float(mu) ** 2 >= truth * (1 - 1e-9)
                assert float(mu) ** 2 <= truth * (1 + 1e-6) or not invertible
                assert isinstance(mu, ndp.UpperBound)


@pytest.mark.parametrize("order", [1, -1])
def test_updates_that_are_not_finite_are_refused_in_any_part(order):
    meter = ndp.Meter(2, per="participant", clip=1.0)

    @meter.private(sigma=1.0, weights={0: {1: 1}, 1: {0: 1}})
    def updates():
        return {0: [np.ones(2), np.array([math.nan])][::order], 1: [np.ones(2), np.ones(1)]}

    with pytest.raises(ndp.NdpError, match="the update of node 0 is not finite"):
        updates()


def test_views_and_numbers_that_are_none_are_refused_with_the_reason():
    for view in ("x", "own_messages", ("own_messages",), ("coordinator", 0), ("x", 0)):
        with pytest.raises(ndp.NdpError, match="view"):
            ndp.Meter([(0, 1)], per="use", clip=1.0, view=view)
    with pytest.raises(ndp.NdpError, match="dimension must be a whole number"):
        ndp.Meter([(0, 1)], per="participant", clip=1.0, dimension=1.5)
    with pytest.raises(ndp.NdpError, match="period must be at least 1"):
        ndp.Program(2, ndp.Sensitivity("use_level", period=-1)).account(observer=0)
    assert len(ndp.Program(np.int64(3), "use_level").nodes) == 3
    meter = ndp.Meter([(0, 1)], per="use", clip=1.0, epsilon=1.0, delta=1e-5)
    with pytest.raises(ndp.Refused, match="as squared mu, would be up to 4"):
        meter.round(sigma=1.0)
    assert repr(meter).startswith("<Meter of 2 nodes, 2 observers, 0 rounds")
    assert "1 round," in repr(ndp.gossip(([0], [1]), rounds=1))
