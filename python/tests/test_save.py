"""What is saved comes back: ledgers and meters by computing anew, losses and comparisons as records until they are confirmed."""

import json
import math
import pathlib

import networkx as nx
import numpy as np
import pytest

import ndp
from ndp import NdpError, walks
from ndp._save import _checksum

G = nx.relabel_nodes(nx.cycle_graph(6), dict(enumerate(["a", "b", 3, ("d", 4), 5.5, True])))
WEIGHTED = nx.Graph()
WEIGHTED.add_edge("x", ("y", 1), weight=0.25)
PATH = nx.path_graph(4)


def program():
    p = ndp.Program(PATH, ndp.Sensitivity("along", along=[1.0, 0.5]))
    y = p.add_all(p.contribute_all("nothing"), p.noise_all(variance="1/3"))
    p.send_to_neighbors(y)
    y = p.add_all(p.contribute_all("nothing"), p.noise_all(variance=2))
    p.send_to_neighbors(y)
    return p


PROTOCOLS = [
    ndp.gossip(G, rounds=3),
    ndp.gossip(WEIGHTED, rounds=3, weight="weight"),
    ndp.gossip(G, rounds=3, weights=ndp.gossip(G, 1).matrix()),
    ndp.noisy_gossip(PATH, rounds=2, ratio=0.5),
    ndp.fresh_noise(PATH, rounds=3),
    ndp.randomized_gossip(PATH, steps=9, seed=2),
    ndp.one_peer(2),
    ndp.time_varying_gossip([PATH, nx.complete_graph(4)]),
    ndp.accelerated_gossip(PATH, time=5.0, seed=3),
    ndp.protocol("muffliato", PATH, rounds=2),
    walks.sum_on_path(4, [0, 3, 1, 2, 0]),
    walks.average_on_path(4, [0, 3, 1, 2, 0]),
    walks.ring_sum(4, 2),
    program(),
]


def changed(path, change):
    """The file with a change of what it says, and a checksum that fits."""
    said = json.loads(path.read_text())
    change(said["what"])
    said["crc"] = _checksum(said["what"])
    path.write_text(json.dumps(said))


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=repr)
def test_a_ledger_comes_back(protocol, tmp_path):
    ledger = ndp.Ledger(limit=(2.5, 1e-5))
    who = protocol.nodes[-1]
    ledger.record(protocol, sigma=3.0, observers=[who], name="one")
    ledger.record(protocol, sigma=4.0, observers=[who], sensitivity=0.5, name="two")
    ndp.save(ledger, tmp_path / "ledger.json")
    found = ndp.load(tmp_path / "ledger.json")
    assert isinstance(found, ndp.Ledger) and found.runs == ["one", "two"]
    assert found.limit == (2.5, 1e-5) and found.verdict == ledger.verdict
    for node, observer in ledger.pairs():
        was, now = ledger.spent(node, observer).epsilon(1e-6), found.spent(node, observer).epsilon(1e-6)
        assert was == now and type(was) is type(now)
    assert found.pairs() == ledger.pairs()
    # A second way through the file changes nothing in it.
    ndp.save(found, tmp_path / "again.json")
    if not hasattr(protocol.parameters.get("weights"), "toarray"):
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / "ledger.json").read_bytes()


@pytest.mark.parametrize("limits", [{"limit": 2.0}, {"limit": 3.0, "order": 8.0}, {"odometer": (1.0, 1e-6)}, {"limit": (math.inf, 1e-5)}, {}])
def test_limits_of_ledgers_come_back(limits, tmp_path):
    ledger = ndp.Ledger(**limits)
    ledger.record(PROTOCOLS[0], sigma=9.0, adaptivity="on_seen")
    ndp.save(ledger, tmp_path / "ledger.json")
    found = ndp.load(tmp_path / "ledger.json")
    assert (found.limit, found.order, found.odometer) == (ledger.limit, ledger.order, ledger.odometer)
    for sigma in (0.5, 9.0, 1e3):
        if limits and "odometer" not in limits:
            assert found.fits(PROTOCOLS[0], sigma, adaptivity="on_seen") == ledger.fits(PROTOCOLS[0], sigma, adaptivity="on_seen")
    assert found._records[0][4] == "on_seen"


def test_losses_are_records_until_they_are_confirmed(tmp_path):
    path, protocol = tmp_path / "losses.json", PROTOCOLS[0]
    for losses in (protocol.losses("a"), protocol.losses(coalition=["a", 3]), protocol.all_losses(), protocol.losses("a", own_noise=False)):
        ndp.save(losses, path)
        found = ndp.load(path)
        assert isinstance(found, ndp.Recorded) and found.statement == losses.statement.paragraph
        assert not hasattr(found, "epsilon") and found.nodes == list(G)
        with pytest.raises(TypeError):
            float(found)
        pairs = [(row["node"], row["observer"]) for row in found.rows]
        if isinstance(losses, ndp.PairwiseLosses):
            assert {(u, v): row["unit"] for (u, v), row in zip(pairs, found.rows)} == {p: float(x) for p, x in losses.items()}
        else:
            assert {row["node"]: row["unit"] for row in found.rows} == {p: float(x) for p, x in losses.items()}
        assert len(found.to_frame()) == len(found)
        assert found.verify(losses) is losses


def test_another_question_confirms_nothing(tmp_path):
    path, protocol = tmp_path / "losses.json", PROTOCOLS[0]
    ndp.save(protocol.losses("a"), path)
    found = ndp.load(path)
    other = nx.relabel_nodes(nx.complete_graph(6), dict(enumerate(G)))
    for anew, what in [
        (protocol.losses("b"), "observers"),
        (protocol.losses("a", own_noise=False), "statement"),
        (ndp.gossip(G, rounds=2).losses("a"), "protocol"),
        (ndp.gossip(other, rounds=3).losses("a"), "graph"),
        (protocol.all_losses(["a"]), "pairwise-losses"),
    ]:
        with pytest.raises(NdpError, match=what):
            found.verify(anew)


@pytest.mark.parametrize("by", [-1e-12, 1e-12])
def test_a_changed_number_is_not_confirmed(by, tmp_path):
    path = tmp_path / "losses.json"
    anew = ndp.gossip(nx.path_graph(5), rounds=3).losses(0)
    ndp.save(anew, path)

    def other(what):
        what["unit"][0][3] += by
        what["lower"][0][3] = min(what["lower"][0][3], what["unit"][0][3])

    changed(path, other)
    with pytest.raises(NdpError, match="node 3, observer 0: unit was recorded as exact"):
        ndp.load(path).verify(anew)


def test_an_upper_bound_is_confirmed_by_a_smaller_one_alone(tmp_path):
    path = tmp_path / "losses.json"
    anew = ndp.gossip(nx.path_graph(5), rounds=3).losses(0)
    ndp.save(anew, path)
    loss = float(anew[3])
    changed(path, lambda what: (what["grades"].__setitem__(0, "upper-bound"), what["unit"][0].__setitem__(3, loss * 1.01)))
    assert float(ndp.load(path).verify(anew)[3]) == loss
    changed(path, lambda what: (what["unit"][0].__setitem__(3, loss * 0.99), what["lower"][0].__setitem__(3, 0.0)))
    with pytest.raises(NdpError, match="unit was recorded as upper-bound"):
        ndp.load(path).verify(anew)


def test_a_comparison_is_a_record_with_its_question(tmp_path):
    path = tmp_path / "comparison.json"
    both = {"once": ndp.gossip(PATH, 3), "fresh": ndp.fresh_noise(PATH, 3), "walk": ndp.protocol("complete-sum", PATH, steps=9)}
    table = ndp.compare(both, worst=(1.0, 1e-5), observers=[0, 3])
    ndp.save(table, path)
    found = ndp.load(path)
    assert found.kind == "comparison" and [row["protocol"] for row in found.rows] == list(both)
    assert [row.get("sigma") for row in found.rows] == [row.get("sigma") for row in table]
    assert any(row.get("sigma") is not None for row in found.rows)
    assert found.verify(ndp.compare(both, worst=(1.0, 1e-5), observers=[0, 3])) is not None
    for anew in (
        ndp.compare(both, worst=(1.1, 1e-5), observers=[0, 3]),
        ndp.compare(both, worst=(1.0, 1e-6), observers=[0, 3]),
        ndp.compare(both, worst=(1.0, 1e-5), observers=[0]),
        ndp.compare(both, mean=(1.0, 1e-5), observers=[0, 3]),
        ndp.compare(both, worst=(1.0, 1e-5), observers=[0, 3], sensitivity=2.0),
    ):
        with pytest.raises(NdpError, match="another question"):
            found.verify(anew)
    changed(path, lambda what: what["rows"][0].__setitem__("sigma", what["rows"][0]["sigma"] * 0.999))
    with pytest.raises(NdpError, match="protocol 'once': sigma was recorded"):
        ndp.load(path).verify(table)
    with pytest.raises(NdpError, match="does not say what was compared"):
        ndp.save(ndp.Comparison(table.rows), path)


def test_all_that_is_recorded_of_losses_is_confirmed_or_refused(tmp_path):
    path, anew = tmp_path / "losses.json", ndp.gossip(PATH, rounds=2).losses(0)
    for change, match in [
        (lambda what: what.update(paragraph="Nobody learns anything about anybody."), "another statement"),
        (lambda what: what.update(by=["divine revelation"]), "by was recorded as"),
        (lambda what: what.update(by=[]), "by was recorded as"),
        (lambda what: what["failures"].__setitem__(0, 1e-9), "observer 0: failure was recorded as exact 1e-09, and is now exact 0.0"),
        (lambda what: what["ranks"].__setitem__(0, 0), "observer 0: rank was recorded as 0"),
        (lambda what: what["bits"].__setitem__(0, 53), "observer 0: bits was recorded as 53"),
        (lambda what: what["means"].__setitem__(0, {"grade": "exact", "value": 0.0}), "observer 0: mean was recorded as exact 0.0"),
        (lambda what: what["means"].__setitem__(0, {"grade": "upper-bound", "value": 0.1}), "mean was recorded as upper-bound 0.1"),
        (lambda what: what["lower"][0].__setitem__(1, 0.5), "node 1, observer 0: lower was recorded as exact 0.5"),
    ]:
        ndp.save(anew, path)
        changed(path, change)
        found = ndp.load(path)
        with pytest.raises(NdpError, match=match):
            found.verify(anew)
    # What is weaker than the truth is true.
    ndp.save(anew, path)
    changed(path, lambda what: what.update(grades=["upper-bound"], failures=[0.5], means=[{"grade": "upper-bound", "value": 2.0}]))
    assert ndp.load(path).verify(anew) is anew
    changed(path, lambda what: what["lower"][0].__setitem__(1, 0.5))
    assert ndp.load(path).verify(anew) is anew


def test_an_enclosure_that_leaves_out_the_truth_is_not_confirmed(tmp_path):
    path, anew = tmp_path / "losses.json", ndp.gossip(PATH, rounds=2).losses(0)
    assert float(anew[1]) == 1.0
    for low, high, match in [
        (0.5, 1.5, None),
        (1.0, 1.0, None),
        (1.2, 1.5, "lower was recorded as upper-bound 1.2"),
        (0.5, 0.9, "unit was recorded as upper-bound 0.9"),
    ]:
        ndp.save(anew, path)
        changed(path, lambda what: what.update(grades=["upper-bound"]))
        changed(path, lambda what: (what["lower"][0].__setitem__(1, low), what["unit"][0].__setitem__(1, high)))
        found = ndp.load(path)
        if match is None:
            assert found.verify(anew) is anew
        else:
            with pytest.raises(NdpError, match=match):
                found.verify(anew)


def test_all_that_is_recorded_of_a_comparison_is_confirmed_or_refused(tmp_path):
    path = tmp_path / "comparison.json"
    both = {"once": ndp.gossip(PATH, 3), "walk": ndp.protocol("complete-sum", PATH, steps=9), "none": "told why"}
    anew = ndp.compare(both, worst=(1.0, 1e-5), observers=[0, 3])
    assert [row["grade"] for row in anew] == ["exact", "upper-bound", None]
    sigma, error = anew[1]["sigma"], anew[1]["error"]
    for row, change, match in [
        (0, {"messages": 0}, "protocol 'once': messages was recorded as 0.0"),
        (0, {"failure": 0.5}, "failure was recorded as exact 0.5"),
        (0, {"source": 2}, "source was recorded as 2"),
        (0, {"observer": 2}, "observer was recorded as 2"),
        (0, {"sigma": None}, "sigma was recorded as exact None"),
        (0, {"error": None}, "error was recorded as exact None"),
        (0, {"grade": None}, "grade was recorded as None"),
        (0, {"statement": None}, "another statement"),
        (0, {"reason": "it has none"}, "reason was recorded as 'it has none'"),
        (1, {"grade": "exact"}, "grade was recorded as 'exact', and is now 'upper-bound'"),
        (1, {"grade": "estimate"}, "grade was recorded as 'estimate'"),
        (1, {"sigma": sigma * 0.999}, "sigma was recorded as upper-bound"),
        (1, {"error": error * 0.999}, "error was recorded as upper-bound"),
        # At more noise the error is another one, which nobody computed.
        (1, {"sigma": 99.0}, "error was recorded at sigma 99.0"),
        (1, {"messages": 1e9}, "messages was recorded"),
        (2, {"reason": "another"}, "reason was recorded as 'another'"),
        (2, {"sigma": 1.0}, "sigma was recorded as None 1.0"),
    ]:
        ndp.save(anew, path)
        changed(path, lambda what: what["rows"][row].update(change))
        found = ndp.load(path)
        with pytest.raises(NdpError, match=match):
            found.verify(anew)
    # What may differ is not the same in each row: there is no statement of all.
    assert anew.statement is None
    ndp.save(anew, path)
    changed(path, lambda what: what.update(paragraph="Nobody learns anything about anybody."))
    with pytest.raises(NdpError, match="another statement"):
        ndp.load(path).verify(anew)
    ndp.save(anew, path)
    changed(path, lambda what: what["rows"][1].update(error=error * 2, failure=0.5))
    assert ndp.load(path).verify(anew) is anew


def test_a_record_of_a_comparison_shows_what_was_cut_short(tmp_path):
    path, G = tmp_path / "comparison.json", nx.random_regular_graph(4, 60, seed=1)
    asked = {"local": ndp.protocol("local", G), "decor": ndp.programs.decor(G), "walk": ndp.protocol("walk", G, steps=400)}
    table = ndp.compare(asked, worst=(1.0, 1e-5), patience=0)
    ndp.save(table, path)
    found, note = ndp.load(path), table[0]["notes"][0]
    assert [row.get("notes") for row in found.rows] == [[note], None, [note]]
    assert found._repr_html_().endswith(f"<p>local, walk: {note}</p>") and found._repr_html_().count(note) == 1
    assert list(found.to_frame()["notes"]) == [note, "", note]
    assert found.verify(table) is table and found.verify(ndp.compare(asked, worst=(1.0, 1e-5), patience=0)) is not None
    # Files whose rows have no notes are read as before, and notes are texts.
    for wrong in ("text", [1], {}):
        ndp.save(table, path)
        changed(path, lambda what: what["rows"][0].update(notes=wrong))
        with pytest.raises(NdpError, match="text"):
            ndp.load(path)
    ndp.save(table, path)
    changed(path, lambda what: [row.pop("notes", None) for row in what["rows"]])
    assert ndp.load(path).verify(table) is table and note not in ndp.load(path)._repr_html_()


def test_a_comparison_that_was_written_without_statements_is_confirmed(tmp_path):
    path, anew = tmp_path / "comparison.json", ndp.compare({"once": ndp.gossip(PATH, 3)}, worst=(1.0, 1e-5))
    ndp.save(anew, path)
    changed(path, lambda what: (what.pop("paragraph"), what["rows"][0].pop("statement")))
    found = ndp.load(path)
    assert found.statement is None and found.verify(anew) is anew
    # A statement that is there is compared.
    changed(path, lambda what: what["rows"][0].update(statement="Nobody learns anything about anybody."))
    with pytest.raises(NdpError, match="another statement"):
        ndp.load(path).verify(anew)


def test_limits_for_pairs_are_part_of_the_question(tmp_path):
    table = ndp.compare({"once": ndp.gossip(PATH, 3)}, pairs=lambda u, v: (1.0, 1e-5) if v == 3 else math.inf)
    ndp.save(table, tmp_path / "c.json")
    text = (tmp_path / "c.json").read_text()
    assert '"inf"' in text and "Infinity" not in text and "NaN" not in text
    assert ndp.load(tmp_path / "c.json").verify(table) is table


def test_a_meter_is_its_log(tmp_path):
    meter = ndp.Meter(G, per="use", clip=1.0, epsilon=3.0, delta=1e-5)
    with pytest.raises(NdpError, match="no log"):
        ndp.save(meter, tmp_path / "copy")
    meter.log(tmp_path / "log")
    for _ in range(3):
        meter.round(sigma=30.0, reads="nothing")
    ndp.save(meter, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "log").read_bytes()
    found = ndp.load(tmp_path / "copy")
    assert isinstance(found, ndp.Meter) and found.rounds == 3
    assert [float(x) for x in found.losses("a").values()] == [float(x) for x in meter.losses("a").values()]
    # Asked, not fed: what it counted would be in no log.
    for step in (lambda: found.round(np.eye(6), 30.0), lambda: found.leave("a"), lambda: found.log(tmp_path / "new")):
        with pytest.raises(NdpError, match="resume"):
            step()
    assert found.rounds == 3 and (tmp_path / "copy").read_bytes() == (tmp_path / "log").read_bytes()
    # A log that was cut off is read as far as it goes, and left as it is.
    whole = (tmp_path / "log").read_bytes()
    (tmp_path / "cut").write_bytes(whole[:-5])
    assert ndp.load(tmp_path / "cut").rounds == 2 and (tmp_path / "cut").read_bytes() == whole[:-5]
    on = ndp.Meter.resume(tmp_path / "copy", G)
    on.round(sigma=30.0, reads="nothing")
    ndp.save(on, tmp_path / "more")
    assert ndp.load(tmp_path / "more").rounds == 4


def test_every_changed_bit_is_found(tmp_path):
    path = tmp_path / "ledger.json"
    ledger = ndp.Ledger(limit=2.0)
    ledger.record(ndp.gossip(nx.path_graph(2), 1), sigma=2.0)
    ndp.save(ledger, path)
    whole = path.read_bytes()
    start = whole.index(b'"what"') + 7
    for place in range(start, len(whole) - 2):
        for bit in (0, 2, 5):
            changed_text = bytearray(whole)
            changed_text[place] ^= 1 << bit
            path.write_bytes(bytes(changed_text))
            with pytest.raises(NdpError):
                ndp.load(path)
    for end in range(0, len(whole) - 2, 7):
        path.write_bytes(whole[:end])
        with pytest.raises(NdpError):
            ndp.load(path)


def test_what_contradicts_itself_is_refused(tmp_path):
    path = tmp_path / "losses.json"
    losses = ndp.gossip(PATH, rounds=3).losses(0)
    for change, match in [
        (lambda what: what["unit"][0].pop(), "losses|them"),
        (lambda what: what["unit"].append([0.0] * 4), "differ in size"),
        (lambda what: what["unit"][0].__setitem__(1, -1.0), "is none"),
        (lambda what: what["unit"][0].__setitem__(1, "nan"), "no number"),
        (lambda what: what["unit"][0].__setitem__(1, True), "no number"),
        (lambda what: what["grades"].__setitem__(0, "estimate"), "exact or an upper-bound"),
        (lambda what: what["ranks"].pop(), "differ in size"),
        (lambda what: what["ranks"].__setitem__(0, "3"), "whole numbers"),
        (lambda what: what["bits"].__setitem__(0, True), "whole numbers"),
        (lambda what: what["failures"].__setitem__(0, -1.0), "is none"),
        (lambda what: what["means"].__setitem__(0, {"grade": "estimate", "value": 0.5}), "is none"),
        (lambda what: what["means"].__setitem__(0, {"value": 0.5}), "keys"),
        (lambda what: what.update(by={"a": 1}), "list of texts"),
        (lambda what: what["asked"]["nodes"].__setitem__(1, 0), "twice"),
        (lambda what: what["asked"]["observers"][0].__setitem__(0, 9), "observer"),
        (lambda what: what.update(more=1), "keys"),
        (lambda what: what.update(kind="wish"), "none of"),
    ]:
        ndp.save(losses, path)
        changed(path, change)
        with pytest.raises(NdpError, match=match):
            ndp.load(path)
    ledger = ndp.Ledger(limit=2.0)
    ledger.record(ndp.gossip(PATH, 1), sigma=2.0)
    for change, match in [
        (lambda what: what["runs"][0].__setitem__("protocol", -1), "there are 1"),
        (lambda what: what["runs"][0].__setitem__("sigma", "inf-"), "no number"),
        (lambda what: what["protocols"][0].__setitem__("class", "Ledger"), "none of the protocols"),
        (lambda what: what["protocols"][0]["graph"].__setitem__("eval", 1), "keys"),
        (lambda what: what["protocols"][0]["graph"]["graph"]["edges"].append([0, 77]), "."),
    ]:
        ndp.save(ledger, path)
        changed(path, change)
        with pytest.raises(NdpError, match=match):
            ndp.load(path)
    # Valid but for a key that is there twice, with one value.
    ndp.save(ledger, path)
    twice = path.read_text().replace('"kind":"ledger"', '"kind":"ledger","kind":"ledger"')
    assert json.loads(twice) == json.loads(path.read_text())
    path.write_text(twice)
    with pytest.raises(NdpError, match="given twice"):
        ndp.load(path)
    for text in ("", "[]", "3", '{"ndp-saved":2,"what":{}}', '{"ndp-saved":1,"ndp-saved":1}', '{"ndp-saved":NaN}', "not json"):
        path.write_text(text)
        with pytest.raises(NdpError):
            ndp.load(path)


def test_what_json_has_no_words_for_is_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("kept")
    labels = nx.relabel_nodes(nx.path_graph(2), {0: frozenset([1]), 1: "b"})
    for thing, match in [(ndp.gossip(labels, 1).losses("b"), "frozenset"), (3, "int"), (ndp.gossip(PATH, 1), "Gossip")]:
        with pytest.raises(NdpError, match=match):
            ndp.save(thing, path)
    assert path.read_text() == "kept" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError):
        ndp.save(ndp.gossip(PATH, 1).losses(0), tmp_path / "none" / "x.json")


def test_the_schema_knows_all_keys(tmp_path):
    """The documented schema names the keys that are written, and no others."""
    schema = json.loads((pathlib.Path(__file__).parents[2] / "docs/schemas/saved.json").read_text())
    ledger = ndp.Ledger(limit=2.0)
    ledger.record(PROTOCOLS[0], sigma=2.0)
    table = ndp.compare({"once": ndp.gossip(PATH, 3)}, worst=2.0)
    for thing, kind in [(PROTOCOLS[0].losses("a"), "losses"), (PROTOCOLS[0].all_losses(), "losses"), (table, "comparison"), (ledger, "ledger")]:
        ndp.save(thing, tmp_path / "x.json")
        said = json.loads((tmp_path / "x.json").read_text())
        assert set(said) == set(schema["required"]) == set(schema["properties"])
        assert set(said["what"]) == set(schema["$defs"][kind]["required"]) == set(schema["$defs"][kind]["properties"])
        assert said["what"]["kind"] in json.dumps(schema["$defs"][kind]["properties"]["kind"])


def parts(tree):
    """Every list and object of a JSON tree, with each of its places."""
    places = list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for place in places:
        yield tree, place
        yield from parts(tree[place])


DEEP = json.loads("[" * 900 + "]" * 900)
STRANGE = [
    None, True, -1, 0, 3, 10**30, -(10**400), 0.5, -0.0, 1e308, "", "inf", "nan", "a\0b", [], [[]], {}, {"range": 10**30}, {"range": 2},
    {"fraction": "1/0"}, {"fraction": "1e999999999"}, {"fraction": "1/3/5"}, {"float": "-inf"}, {"tuple": []}, {"tuple": [[1]]}, {"array": [1.0], "shape": [10**12]},
    {"array": [0.5], "shape": [1]}, {"dict": [[[1], 2]]}, {"graph": {}}, {"sensitivity": [1, 2, 3, 4, 5, 6, 7]}, DEEP,
]  # fmt: skip


def used(found):
    """Everything that somebody would look at in what was loaded."""
    repr(found)
    if isinstance(found, ndp.Recorded):
        assert all(0.0 <= row["lower"] <= row["unit"] for row in found.rows if "unit" in row)
        found._repr_html_()
    else:
        for node, observer in found.pairs()[:2]:
            assert float(found.spent(node, observer).epsilon(1e-5)) >= 0.0


def test_whatever_a_file_says_it_is_read_or_refused(tmp_path):
    path, random = tmp_path / "x.json", np.random.default_rng(5)
    ledger = ndp.Ledger(limit=(2.0, 1e-5))
    ledger.record(ndp.gossip(G, 2), sigma=2.0, observers=["a"])
    ledger.record(ndp.fresh_noise(G, rounds=2), sigma=2.0, observers=["a"])
    table = ndp.compare({"once": ndp.gossip(PATH, 3)}, worst=(2.0, 1e-5))
    refused = 0
    for thing in (ledger, table, PROTOCOLS[0].losses("a"), PROTOCOLS[0].all_losses()):
        ndp.save(thing, path)
        whole = path.read_text()
        for _ in range(150):
            path.write_text(whole)

            def change(what):
                for _ in range(1 + int(random.integers(2))):
                    places = list(parts(what))
                    tree, place = places[int(random.integers(len(places)))]
                    match int(random.integers(4)):
                        case 0 if isinstance(tree, list):
                            tree.insert(place, tree[place])
                        case 1:
                            del tree[place]
                        case 2:
                            tree[place] = places[int(random.integers(len(places)))][0]
                            tree[place] = json.loads(json.dumps(tree[place])) if tree[place] is not tree else 7
                        case _:
                            tree[place] = STRANGE[int(random.integers(len(STRANGE)))]

            try:
                changed(path, change)
            except (RecursionError, ValueError):  # this test cannot write it
                continue
            try:
                used(ndp.load(path))
            except NdpError:
                refused += 1
    assert refused > 300


def test_a_file_that_is_nested_too_deeply_is_refused(tmp_path):
    path = tmp_path / "x.json"
    for text in ("[" * 100_000, '{"ndp-saved":' * 50_000):
        path.write_text(text)
        with pytest.raises(NdpError, match="nothing that ndp.save wrote"):
            ndp.load(path)
