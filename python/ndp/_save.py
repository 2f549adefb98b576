"""Answers and ledgers as versioned JSON; what a file says is no guarantee before it is computed anew."""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from . import _ndp
from . import _protocols as protocols
from ._grades import Graded
from ._files import write_whole
from ._graph import Graph, _rebuild
from ._losses import _CLASSES, Losses, PairwiseLosses, _frame
from ._meter import Meter
from ._ndp import NdpError
from ._program import Program
from ._program_account import Sensitivity
from ._statement import Statement
from ._tools import Comparison, Ledger, _ledger, notes_column, notes_html

#: The version of the format.
_VERSION = 1
#: What may be written as a run of a ledger, by name.
_PROTOCOLS: dict[str, type[protocols.Protocol]] = {
    kind.__name__: kind
    for kind in (
        protocols.Gossip, protocols.NoisyGossip, protocols.FreshNoise, protocols.NamedProtocol, protocols.TokenProtocol,
        protocols.RandomizedGossip, protocols.OnePeer, protocols.TimeVaryingGossip, protocols.AcceleratedGossip, Program,
    )
}  # fmt: skip
#: What says how a statement was reached, not what it is about.
_NOT_ASKED = ("version", "by", "failure")
#: What an upper bound may overstate and still be true.
_UPPER = ("unit", "mean", "failure", "sigma", "error")


class Recorded:
    """Losses or a comparison as a file says them, made by `load`: no guarantee until `verify` confirms them.

    Whoever can edit a file can write any number and any grade into it.

    Attributes
    ----------
    kind : str
        ``"losses"``, ``"pairwise-losses"`` or ``"comparison"``.
    nodes : list
        The labels of the nodes.
    rows : list of dict
        What is recorded, a row for each pair or protocol; ``grade`` is the one that it had.
    statement : str or None
        What was said beside the losses, or of all rows of a comparison.

    Examples
    --------
    >>> import ndp, os, tempfile
    >>> protocol = ndp.gossip(([0, 1], [1, 2]), rounds=2)
    >>> path = os.path.join(tempfile.mkdtemp(), "losses.json")
    >>> ndp.save(protocol.losses(observer=2), path)
    >>> recorded = ndp.load(path)
    >>> recorded
    <Recorded losses, 3 nodes: no guarantee until verify(...) confirms them>
    >>> recorded.verify(protocol.losses(observer=2))[0]
    Exact(1, 'unit loss')
    """

    __slots__ = ("_what", "kind", "nodes", "rows", "statement")

    def __init__(self, what: Mapping[str, Any]) -> None:
        self._what = what
        self.kind: str = what["kind"]
        asked = what["asked"]
        self.nodes: list[Hashable] = _labels(asked["nodes"])
        self.statement: str | None = None
        if self.kind == "comparison":
            _keys(asked, "nodes", "observers", "limits", "mean", "order", "delta", "sensitivity")
            self.statement = None if what.get("paragraph") is None else _text(what["paragraph"])
            self.rows: list[dict[str, Any]] = [_row(row) for row in what["rows"]]
        else:
            _keys(asked, "nodes", "graph", "protocol", "observers", "statement")
            self.statement = _text(what["paragraph"])
            self.rows = list(self._losses())

    def _losses(self) -> Iterator[dict[str, Any]]:
        what, count = self._what, len(self.nodes)
        observers = what["asked"]["observers"]
        if not all(len(what[key]) == len(observers) for key in ("unit", "lower", "grades", "ranks", "bits", "failures", "means")):
            raise NdpError("the parts of the losses differ in size")
        for rank, bits, failure, mean in zip(what["ranks"], what["bits"], what["failures"], what["means"]):
            if type(rank) is not int or type(bits) is not int or min(rank, bits) < 0:
                raise NdpError(f"a rank and bits are whole numbers, got {rank!r} and {bits!r}")
            _keys(mean, "grade", "value")
            if min(_number(failure), _number(mean["value"])) < 0.0 or mean["grade"] not in ("exact", "upper-bound"):
                raise NdpError(f"a failure probability of {failure!r} or a mean loss of {mean['value']!r}, {mean['grade']!r}, is none")
        if not isinstance(what["by"], list) or not all(isinstance(theorem, str) for theorem in what["by"]):
            raise NdpError("the theorems are a list of texts")
        for members, unit, lower, grade in zip(observers, what["unit"], what["lower"], what["grades"]):
            if len(unit) != count or len(lower) != count or not all(type(v) is int and 0 <= v < count for v in members):
                raise NdpError(f"an observer of the losses has not {count} of them")
            if grade not in ("exact", "upper-bound"):
                raise NdpError(f"losses are exact or an upper-bound, got {grade!r}")
            observer = self._observer(members)
            for u, (high, low) in enumerate(zip(map(_number, unit), map(_number, lower))):
                if not 0.0 <= low <= high:
                    raise NdpError(f"a loss between {low} and {high} is none")
                if u not in members:
                    yield {"node": self.nodes[u], "observer": observer, "unit": high, "lower": low, "grade": grade}

    def verify(self, anew: Any) -> Any:
        """The same answer, computed anew, if it confirms everything that is recorded: numbers, grades and sentences.

        A recorded upper bound is confirmed by one that is not larger, an exact number by the same one. Beside an upper bound a failure
        probability is confirmed by one that is not larger, a lower end by one that is not smaller, and an error only where the noise is
        the same. All else must be the same, sentences word for word; but for notes, which say how a number was reached.

        Parameters
        ----------
        anew : Losses, PairwiseLosses or Comparison
            What the same question is answered by now; about the same nodes, observers and target.

        Returns
        -------
        Losses, PairwiseLosses or Comparison
            What was given: guarantees, since they were computed.

        Raises
        ------
        NdpError
            Where the question is another one, or something recorded is not confirmed, by its pair, observer or protocol.
        """
        found = _saved(anew)
        if found["kind"] != self.kind:
            raise NdpError(f"recorded are {self.kind}, which {found['kind']} cannot confirm")
        differ = [key for key, value in _parsed(found["asked"]).items() if value != self._what["asked"].get(key)]
        if differ:
            raise NdpError(f"what was recorded answers another question: {', '.join(differ)} differ")
        recorded, now = list(self._claims()), list(Recorded(_parsed(found))._claims())
        if [about for about, _ in recorded] != [about for about, _ in now]:
            names = "protocol differs" if self.kind == "comparison" else "node and observer differ"
            raise NdpError(f"recorded are other rows than those computed now: their {names}")
        # Files that were written before comparisons had a statement have none, nor have their rows.
        unsaid = {"statement"} if self.kind == "comparison" and "paragraph" not in self._what else set()
        for (about, old), (_, new) in zip(recorded, now):
            for name in dict.fromkeys((*new, *old)):
                # How an answer was reached is not what it says: the same number may be known by now without a bound.
                if name != "notes" and (name in old or name not in unsaid):
                    _confirm(about, name, old, new)
        return anew

    def _observer(self, members: Sequence[int]) -> Any:
        """A node by its label, several by theirs."""
        labels = tuple(self.nodes[v] for v in members)
        return labels[0] if len(labels) == 1 else labels

    def _claims(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """What is recorded, by what it is about."""
        names = ("protocol",) if self.kind == "comparison" else ("node", "observer")
        for row in self.rows:
            yield ", ".join(f"{name} {row[name]!r}" for name in names), row
        if self.kind == "comparison":
            yield "all rows", {"statement": self.statement} if "paragraph" in self._what else {}
            return
        what = self._what
        parts = (what["grades"], map(_number, what["failures"]), what["ranks"], what["bits"], what["means"])
        for members, grade, failure, rank, bits, mean in zip(what["asked"]["observers"], *parts):
            about = f"observer {self._observer(members)!r}"
            yield about, {"grade": grade, "failure": failure, "rank": rank, "bits": bits}
            yield about, {"grade": mean["grade"], "mean": _number(mean["value"])}
        yield "all rows", {"statement": self.statement, "by": what["by"]}

    def to_frame(self) -> Any:
        """A table of the rows: pandas, or polars where pandas is not installed."""
        names = list(dict.fromkeys(name for row in self.rows for name in row if name != "notes"))
        notes = {"notes": notes_column(self.rows)} if self.kind == "comparison" else {}
        return _frame({**{name: [row.get(name) for row in self.rows] for name in names}, **notes})

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Recorded {self.kind}, {len(self.nodes)} nodes: no guarantee until verify(...) confirms them>"

    def _repr_html_(self) -> str:
        import html

        names = list(dict.fromkeys(name for row in self.rows for name in row if name != "notes"))
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        rows = ("".join(f"<td>{html.escape(str(row.get(name, '')))}</td>" for name in names) for row in self.rows[:20])
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        more = f"<p>and {len(self.rows) - 20} more</p>" if len(self.rows) > 20 else ""
        said = "" if self.statement is None else f"<p>Recorded beside it: {html.escape(self.statement)}</p>"
        return f"<p>{html.escape(repr(self))}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}{said}{notes_html(self.rows)}"


def _confirm(about: str, name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Refuses what was recorded under a name where it does not follow from what is computed now."""
    was, found = old.get(name), new.get(name)
    follows = was == found
    if old.get("grade") == "upper-bound" and was is not None and found is not None:
        if name == "error" and old.get("sigma") != new.get("sigma"):
            raise NdpError(f"{about}: error was recorded at sigma {old.get('sigma')!r}, and is computed now at sigma {new.get('sigma')!r}")
        if name in _UPPER:
            follows = was >= found
        elif name == "lower":
            follows = was <= found
        elif name == "grade":
            follows = found in ("exact", "upper-bound")
    if follows:
        return
    if name == "statement":
        raise NdpError(f"{about}: another statement was recorded than holds now")
    graded = name in (*_UPPER, "lower")
    was, found = (f"{claim.get('grade')} {x!r}" if graded else repr(x) for claim, x in ((old, was), (new, found)))
    raise NdpError(f"{about}: {name} was recorded as {was}, and is now {found}")


def save(thing: Losses | PairwiseLosses | Comparison | Ledger | Meter, path: str | os.PathLike[str]) -> None:
    """Writes losses, a comparison, a ledger or a meter to a file, which is replaced in one step.

    All but a meter are JSON (``docs/formats.md``). A meter is its log: what it has written so far is copied.

    Parameters
    ----------
    thing : Losses, PairwiseLosses, Comparison, Ledger or Meter
        What is kept. Labels of nodes are numbers, texts, True, False, None, or tuples of them.
    path : str or path
        Where to.

    Raises
    ------
    NdpError
        For labels and parameters of other types, which `pickle` keeps; for a meter without a log, and for a copy of it over itself.

    Examples
    --------
    >>> import ndp, os, tempfile
    >>> protocol, ledger = ndp.gossip(([0, 1, 2], [1, 2, 3]), rounds=3), ndp.Ledger(limit=(2.5, 1e-5))
    >>> ledger.record(protocol, sigma=2.0)
    >>> path = os.path.join(tempfile.mkdtemp(), "ledger.json")
    >>> ndp.save(ledger, path)
    >>> ndp.load(path).spent(1, observer=0).mu
    Exact(0.5, 'mu')
    """
    if isinstance(thing, Meter):
        if thing._log and os.path.exists(path) and os.path.samefile(path, thing._log):
            raise NdpError("this file is the meter's log, which has every step already: a copy needs another path")
        write_whole(path, thing._logged())
        return
    what = _saved(thing)
    head = {"ndp-saved": _VERSION, "ndp": _ndp.__version__, "crc": _checksum(what), "what": what}
    write_whole(path, (_json(head) + "\n").encode())


def load(path: str | os.PathLike[str]) -> Recorded | Ledger | Meter:
    """Reads what `save` wrote.

    A ledger and a meter are lists of what took place: their losses are computed anew, and are guarantees about runs as they are
    listed; for runs that were chosen by what was seen, if the limit or the odometer stood before the first of them and every run fitted,
    which a list does not show. Losses and comparisons come back as `Recorded`, because a file is no proof.

    Parameters
    ----------
    path : str or path
        The file; also the log of a meter.

    Returns
    -------
    Recorded, Ledger or Meter
        A meter can be asked and takes no steps, which its log would miss: `Meter.resume` goes on with a log.

    Raises
    ------
    NdpError
        For a file that was cut or changed, or that another version of the format is in.
    """
    with open(path, "rb") as file:
        text = file.read()
    if b'"ndp-meter"' in text.partition(b"\n")[0]:
        return Meter._of_log(text, None)[0]
    try:
        head = json.loads(text, object_pairs_hook=_once, parse_constant=_number)
        if not isinstance(head, dict) or "ndp-saved" not in head:
            raise NdpError("the first key is not ndp-saved")
        if head["ndp-saved"] != _VERSION:
            raise NdpError(f"the format has version {head['ndp-saved']!r}, and {_VERSION} is read")
        _keys(head, "ndp-saved", "ndp", "crc", "what")
        what = head["what"]
        if head["crc"] != _checksum(what):
            raise NdpError("the checksum does not fit: the file was changed or cut")
        return _read_ledger(what) if what["kind"] == "ledger" else _recorded(what)
    except Exception as wrong:  # whatever is wrong with a file, it is the file that is named
        said = str(wrong) if isinstance(wrong, NdpError) else f"{type(wrong).__name__}: {wrong}"
        raise NdpError(f"{os.fspath(path)} holds nothing that ndp.save wrote: {said}") from None


def _recorded(what: Mapping[str, Any]) -> Recorded:
    if what["kind"] == "comparison":
        # Files that were written before comparisons had a statement have none.
        _keys({"paragraph": None, **what}, "paragraph", "kind", "asked", "rows")
    elif what["kind"] in ("losses", "pairwise-losses"):
        _keys(what, "kind", "asked", "unit", "lower", "grades", "ranks", "bits", "failures", "means", "paragraph", "by")
    else:
        raise NdpError(f"{what['kind']!r} is none of losses, pairwise-losses, comparison, ledger")
    return Recorded(what)


def _saved(thing: Any) -> dict[str, Any]:
    if isinstance(thing, (Losses, PairwiseLosses)):
        return _losses(thing)
    if isinstance(thing, Comparison):
        return _comparison(thing)
    if isinstance(thing, Ledger):
        return _of_ledger(thing)
    raise NdpError(f"losses, comparisons, ledgers and meters are saved, got {type(thing).__name__}")


def _losses(losses: Losses | PairwiseLosses) -> dict[str, Any]:
    said: Statement = losses.statement
    asked = {
        "nodes": [_out(label) for label in losses.nodes],
        "graph": _graph(losses.graph) if isinstance(losses.graph, Graph) else None,
        "protocol": losses.protocol,
        "observers": losses.coalitions,
        "statement": {key: value for key, value in said.data.items() if key not in _NOT_ASKED},
    }
    words = [_CLASSES[grade].name for grade in losses.grades]
    means = [{"grade": _CLASSES[grade].name, "value": _float(x)} for grade, x in zip(losses.mean_grades, losses.means)]
    return {
        "kind": "losses" if isinstance(losses, Losses) else "pairwise-losses",
        "asked": asked,
        "unit": [[_float(x) for x in row] for row in losses._unit],
        "lower": [[_float(x) for x in row] for row in losses.lower],
        "grades": words,
        "ranks": losses.ranks,
        "bits": losses.bits,
        "failures": [_float(x) for x in losses.failures],
        "means": means,
        "paragraph": said.paragraph,
        "by": said.by,
    }


def _comparison(table: Comparison) -> dict[str, Any]:
    if table.asked is None:
        raise NdpError("this comparison does not say what was compared: ndp.compare makes one that does")
    asked = {**table.asked, "nodes": [_out(label) for label in table.asked["nodes"]]}
    asked["limits"] = [[_float(x) for x in row] for row in asked["limits"]]

    def cell(x: Any) -> Any:
        return x.paragraph if isinstance(x, Statement) else _float(x) if isinstance(x, float) else _out(x)

    # A row without notes is written as in files that were written before rows had any.
    rows = [{key: cell(x) for key, x in row.items() if key != "notes" or x} for row in table.rows]
    said = None if table.statement is None else table.statement.paragraph
    return {"kind": "comparison", "asked": asked, "rows": rows, "paragraph": said}


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    known = ("protocol", "sigma", "error", "messages", "grade", "failure", "reason", "source", "observer", "statement", "notes")
    if not set(row) <= set(known):
        raise NdpError(f"a row of a comparison has the keys {', '.join(row)}")
    if not isinstance(row.get("notes", []), list):
        raise NdpError("the notes of a row are a list of texts")
    for note in row.get("notes", []):
        _text(note)
    numbers = ("sigma", "error", "messages", "failure")
    return {key: _in(x) if x is None or key not in numbers else _number(x) for key, x in row.items()}


def _of_ledger(ledger: Ledger) -> dict[str, Any]:
    made: list[Any] = []
    runs = []
    for protocol, name, who, scales, adaptivity in ledger._records:
        at = next((i for i, other in enumerate(made) if other is protocol), len(made))
        if at == len(made):
            made.append(protocol)
        told = {"protocol": at, "name": name, "observers": _out(who), "sigma": _float(scales[0])}
        runs.append({**told, "sensitivity": _float(scales[1]), "adaptivity": adaptivity})
    limits = {"limit": _out(ledger.limit), "order": _out(ledger.order), "odometer": _out(ledger.odometer)}
    return {"kind": "ledger", **limits, "protocols": [_protocol(p) for p in made], "runs": runs}


def _read_ledger(what: Mapping[str, Any]) -> Ledger:
    _keys(what, "kind", "limit", "order", "odometer", "protocols", "runs")
    made = [_read_protocol(p) for p in what["protocols"]]
    records = []
    for run in what["runs"]:
        _keys(run, "protocol", "name", "observers", "sigma", "sensitivity", "adaptivity")
        if type(run["protocol"]) is not int or not 0 <= run["protocol"] < len(made):
            raise NdpError(f"a run is one of protocol {run['protocol']!r}, and there are {len(made)}")
        scales = (_number(run["sigma"]), _number(run["sensitivity"]))
        records.append((made[run["protocol"]], _text(run["name"]), _in(run["observers"]), scales, _text(run["adaptivity"])))
    return _ledger(_in(what["limit"]), _in(what["order"]), _in(what["odometer"]), records)


def _protocol(protocol: protocols.Protocol) -> dict[str, Any]:
    name = type(protocol).__name__
    if _PROTOCOLS.get(name) is not type(protocol):
        raise NdpError(f"a ledger with a run of {type(protocol).__qualname__} is not written as JSON: pickle keeps it")
    where = _out(protocol.graph) if isinstance(protocol.graph, (Graph, range)) else [_out(label) for label in protocol.graph]
    said = {"class": name, "words": protocol.words, "graph": where, "parameters": _out(protocol._parameters)}
    return {**said, "text": protocol.to_text()} if isinstance(protocol, Program) else said


def _read_protocol(said: Mapping[str, Any]) -> protocols.Protocol:
    kind = _PROTOCOLS.get(said["class"])
    if kind is None:
        raise NdpError(f"{said['class']!r} is none of the protocols {', '.join(_PROTOCOLS)}")
    _keys(said, "class", "words", "graph", "parameters", *(["text"] if kind is Program else []))
    made = kind.__new__(kind)
    protocols.Protocol.__init__(made, _in(said["graph"]), _text(said["words"]))
    made._parameters = _in(said["parameters"])
    if isinstance(made, Program):
        made._program = _ndp.Program.read(said["text"].encode())
        if made._program.node_count() != len(made.nodes):
            raise NdpError(f"a program has {made._program.node_count()} nodes, its graph {len(made.nodes)}")
    return made


def _graph(graph: Graph) -> dict[str, Any]:
    weights = None if graph.weights is None else [part.tolist() for part in graph.weights]
    nodes = _out(graph.nodes if isinstance(graph.nodes, range) else list(graph.nodes))
    return {"nodes": nodes, "edges": graph.edges.tolist(), "weights": weights, "ignored": graph.ignored}


def _read_graph(said: Mapping[str, Any]) -> Graph:
    _keys(said, "nodes", "edges", "weights", "ignored")
    nodes = _in(said["nodes"])
    if not isinstance(nodes, range):
        nodes = _labels(said["nodes"])
    ends = np.array(said["edges"], np.int64).reshape(-1, 2)
    weights = said["weights"]
    if weights is not None:
        u, v, w = weights
        weights = (np.array(u, np.int64), np.array(v, np.int64), np.array([_number(x) for x in w], np.float64))
    return _rebuild(nodes, ends[:, 0].copy(), ends[:, 1].copy(), weights, bool(said["ignored"]))


def _out(x: Any) -> Any:
    """A value as JSON: lists, texts, numbers, True, False and None as they are, the rest as an object of one key, its type."""
    if isinstance(x, Graded):
        return _out(float(x))  # type: ignore[arg-type]  # refused for what is no guarantee
    if isinstance(x, np.generic):
        x = x.item()
    if x is None or isinstance(x, (bool, int, str)):
        return x
    if isinstance(x, float):
        return x if math.isfinite(x) else {"float": _float(x)}
    if isinstance(x, Sensitivity):
        return {"sensitivity": [_out(part) for part in x]}
    if isinstance(x, Fraction):
        return {"fraction": str(x)}
    if isinstance(x, range):
        if x != range(len(x)):
            raise NdpError(f"nodes are numbered from 0 where they have no labels, got {x!r}")
        return {"range": len(x)}
    if isinstance(x, tuple):
        return {"tuple": [_out(part) for part in x]}
    if isinstance(x, list):
        return [_out(part) for part in x]
    if isinstance(x, dict):
        return {"dict": [[_out(key), _out(value)] for key, value in x.items()]}
    if isinstance(x, Graph):
        return {"graph": _graph(x)}
    if hasattr(x, "toarray"):
        x = x.toarray()
    if isinstance(x, np.ndarray) and x.dtype.kind in "fiu":
        return {"array": [_out(part) for part in x.ravel().tolist()], "shape": list(x.shape)}
    raise NdpError(f"{x!r} is of type {type(x).__name__}, which is not written as JSON: pickle keeps it")


def _in(x: Any) -> Any:
    if isinstance(x, list):
        return [_in(part) for part in x]
    if not isinstance(x, dict):
        return x
    match x:
        case {"float": said, **more} if not more:
            return _number(said)
        case {"sensitivity": parts, **more} if not more:
            return Sensitivity(*(_in(part) for part in parts))
        case {"fraction": said, **more} if not more:
            # Without exponents: "1e999999999" would be written out.
            return Fraction(*(int(part) for part in _text(said).split("/")))
        case {"range": count, **more} if not more and type(count) is int and count >= 0:
            return range(count)
        case {"tuple": parts, **more} if not more:
            return tuple(_in(part) for part in parts)
        case {"dict": pairs, **more} if not more:
            return {_in(key): _in(value) for key, value in pairs}
        case {"graph": said, **more} if not more:
            return _read_graph(said)
        case {"array": parts, "shape": shape, **more} if not more:
            return np.array([_number(_in(part)) for part in parts], np.float64).reshape(shape)
    raise NdpError(f"an object with the keys {', '.join(x)} is nothing that is known")


def _labels(said: Any) -> list[Hashable]:
    found = _in(said)
    if not isinstance(found, list) or len(set(found)) != len(found):
        raise NdpError("the labels of the nodes are a list in which none is twice")
    return found


def _float(x: float) -> float | str:
    if math.isnan(x):
        raise NdpError("NaN is no number that is written")
    return float(x) if math.isfinite(x) else "inf" if x > 0 else "-inf"


def _number(said: Any) -> float:
    if said in ("inf", "-inf") or (isinstance(said, (int, float)) and not isinstance(said, bool) and math.isfinite(said)):
        return float(said)
    raise NdpError(f"{said!r} is no number")


def _text(said: Any) -> str:
    if not isinstance(said, str):
        raise NdpError(f"{said!r} is no text")
    return said


def _keys(said: Mapping[str, Any], *names: str) -> None:
    if set(said) != set(names):
        raise NdpError(f"the keys should be {', '.join(names)}, got {', '.join(said)}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NdpError("a key is given twice")
    return found


def _json(x: Any) -> str:
    return json.dumps(x, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _parsed(x: Any) -> Any:
    """As it is after it was written and read."""
    return json.loads(_json(x))


def _checksum(what: Any) -> str:
    return f"{zlib.crc32(_json(what).encode()):08x}"
