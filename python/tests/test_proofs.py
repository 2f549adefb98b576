"""Proof files from Python, read by the checker, which shares nothing with the package."""

import copy
import gzip
import json
import pathlib
import pickle
import subprocess
import sys
from fractions import Fraction

import networkx as nx
import pytest

import ndp

CHECKER = pathlib.Path(__file__).parents[2] / "checker" / "ndp_check.py"
PATH = nx.path_graph(4)


def accepted(path):
    done = subprocess.run([sys.executable, str(CHECKER), str(path)], capture_output=True, text=True)
    assert done.returncode == 0 and "accepted" in done.stdout, done.stdout + done.stderr
    return done.stdout


def pairs(text):
    lines = [json.loads(line) for line in text.splitlines() if not line.startswith("#")]
    found = {}
    for line in lines:
        if "upper" in line:
            observer = (tuple(line["observer"]["members"]), tuple(map(tuple, line["observer"]["taps"])))
            found[observer, line["source"]] = (Fraction(line["lower"]), Fraction(line["upper"]))
    return found


def test_every_pair_of_gossip_is_proved(tmp_path):
    losses = ndp.gossip(PATH, rounds=3).all_losses()
    text = losses.prove()
    # What is written as it is found is the same, and says its last line.
    assert losses.prove(tmp_path / "all.jsonl.gz") == text.splitlines()[-1]
    assert gzip.decompress((tmp_path / "all.jsonl.gz").read_bytes()).decode() == text
    assert [file.name for file in tmp_path.iterdir()] == ["all.jsonl.gz"]
    accepted(tmp_path / "all.jsonl.gz")
    found = pairs(text)
    assert len(found) == 12
    low, high = losses.enclosure
    for ((observer,), _), source in found:
        lower, upper = found[((observer,), ()), source]
        assert lower <= upper and low[source, observer] <= upper and lower <= high[source, observer]
        assert float(upper) == pytest.approx(high[source, observer], rel=1e-6, abs=1e-12)
    last = json.loads(text.splitlines()[-1])
    assert last["covers"] == "every-pair" and last["pairs"] == 12


def test_coalitions_taps_outsiders_and_labels(tmp_path):
    decor = ndp.programs.decor(nx.relabel_nodes(nx.cycle_graph(5), dict(enumerate("abcd\x1b"))))
    last = decor.account(coalition=["a", "b"]).prove(tmp_path / "one.jsonl", sources=["d"])
    one = decor.account(coalition=["a", "b"]).prove(sources=["d"])
    assert (tmp_path / "one.jsonl").read_bytes() == one.encode() and one.endswith(f"\n{last}\n")
    assert list(pairs(one)) == [(((0, 1), ()), 3)] and "# node 2: c\n" in one and "\x1b" not in one
    accepted(tmp_path / "one.jsonl")
    assert {source for _, source in pairs(decor.account(coalition=["a", "b"]).prove())} == {2, 3, 4}
    program = ndp.Program(PATH)
    y = program.add_all(program.contribute_all("nothing"), program.noise_all())
    program.send_to_neighbors(y)
    tapped = program.account(tapped=[(0, 1)])
    tapped.prove(tmp_path / "tap.jsonl")
    text = tapped.prove()
    assert pairs(text)[((), ((0, 1),)), 0] == (1, 1) and pairs(text)[((), ((0, 1),)), 3] == (0, 0)
    accepted(tmp_path / "tap.jsonl")
    # The same proof by hand, for the tapped observer.
    attack, shift = tapped.witnesses(0)
    assert program.check_attack(attack, tapped=[(0, 1)]) == program.check_shift(shift, tapped=[(0, 1)]) == 1
    with pytest.raises(ndp.NdpError):
        program.check_attack(attack, tapped=[(1, 0)])
    assert pairs(decor.account(coalition=[]).prove())[((), ()), 0] == (Fraction(5, 11), Fraction(5, 11))


def test_the_sensitivity_is_that_of_the_program(tmp_path):
    program = ndp.programs.dsgd(nx.path_graph(3), steps=3, sensitivity="same_direction")
    program.account(observer=2).prove(tmp_path / "dsgd.jsonl")
    text = program.account(observer=2).prove()
    accepted(tmp_path / "dsgd.jsonl")
    assert pairs(text)[((2,), ()), 0][1] == Fraction(9, 26)
    assert json.loads(text.splitlines()[0])["set"] == "same-direction"
    separated = ndp.programs.dsgd(nx.path_graph(3), steps=3, sensitivity=ndp.Sensitivity("same_direction", gap=2))
    with pytest.raises(ndp.NdpError, match="patterns"):
        separated.account(observer=2).prove()


@pytest.mark.parametrize("name", ["muffliato", "fresh-noise", "decor", "gopa", "zip-dl", "secure-neighbor-sums", "noisy-messages"])
def test_the_file_is_about_what_the_answer_is_about(name):
    """What a file proves and what the answer says are about the same number, for protocols by name, too."""
    protocol = ndp.protocol(name, nx.cycle_graph(5))
    answer = protocol.account(observer=0)
    for (_, source), (lower, upper) in pairs(answer.prove(sources=[1, 2])).items():
        squared = float(answer.profile(source, sigma=1.0).mu) ** 2
        assert float(upper) == pytest.approx(squared, rel=1e-5, abs=1e-9) and float(lower) <= squared * (1 + 1e-9) + 1e-300


def test_what_has_no_file_says_so(tmp_path):
    ring = ndp.walks.ring_sum(nodes=5)
    for answer in (ring.losses(observer=0), ring.account(observer=0), ndp.walks.complete_sum(5, 10).account(observer=0)):
        with pytest.raises(ndp.NdpError, match="no proof file exists"):
            answer.prove()
    gossip = ndp.gossip(PATH, rounds=2)
    for answer in (gossip.losses(observer=0, own_noise=False), gossip.account(observer=0, own_noise=False)):
        with pytest.raises(ndp.NdpError, match="own_noise"):
            answer.prove()
    with pytest.raises(ndp.NdpError, match="at least 1"):
        gossip.losses(observer=0).prove(sources=[0])
    program = ndp.Program(2)
    program.send(0, 1, program.contribute(0, "nothing"))
    with pytest.raises(ndp.NdpError, match="without noise"):
        program.account(observer=1).prove()
    # What is refused on the way leaves no file.
    with pytest.raises(ndp.NdpError, match="without noise"):
        program.account(observer=1).prove(tmp_path / "none.jsonl.gz")
    assert not list(tmp_path.iterdir())


def test_a_program_that_was_changed_since_is_not_the_one_that_is_proved():
    program = ndp.Program(2)
    y = program.add_all(program.contribute_all("nothing"), program.noise_all())
    program.send(0, 1, y[0])
    before = program.account(observer=1)
    text = before.prove()
    assert pickle.loads(pickle.dumps(before)).prove() == text == copy.deepcopy(before).prove()
    program.send(0, 1, program.add(y[0], program.noise(0)))
    assert before.prove() == text
    assert program.account(observer=1).prove() != text
    losses = ndp.gossip(PATH, rounds=2).losses(observer=0)
    assert pickle.loads(pickle.dumps(losses)).prove() == losses.prove()
    losses._origin.protocol._cache = None  # as if it had been changed
    with pytest.raises(ndp.NdpError, match="compute it anew"):
        pickle.loads(pickle.dumps(losses)).prove()
