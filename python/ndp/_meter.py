"""The meter: what every observer has learned so far, step by step, and a refusal before a message would exceed a budget."""

from __future__ import annotations

import functools
import html
import json
import math
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _ndp
from ._account import Who
from ._checks import _count, _listed, _read, _several
from ._grades import Exact, Guarantee, UpperBound, number_of, target_of
from ._graph import Graph, GraphLike, _in_order, _matrix, real
from ._ndp import NdpError
from ._program_account import Number, _number
from ._rounded import shown

if TYPE_CHECKING:
    from typing import ParamSpec

    _P = ParamSpec("_P")

# How many nodes each view is that of.
_VIEWS = {"coordinator": 0, "public_schedule": 1, "own_messages": 1}
# What one contribution is compared with, as numbers say it.
_RELATIONS = {"replace": "data of one node replaced", "zero": "data of one node set to zero"}
_SETS = {"participant": "vectors", "use": "use_level", "same_direction": "same_direction", "signs": "signs"}


class Refused(NdpError):
    """A step was refused before it was taken: its message must not be sent, and the meter has not counted it."""

    def __init__(self, observer: Hashable, node: Hashable, limit: float, loss: float) -> None:
        super().__init__(
            f"the loss of node {node!r} towards {observer!r}, as squared mu, would be up to {shown(loss, '.6g')}, its limit is {shown(limit, '.6g', up=False)}: nothing may be sent"
        )
        #: Who would learn too much: a label, or a tuple of labels for a coalition.
        self.observer = observer
        #: About whom.
        self.node = node
        #: The limit on the squared ``mu``.
        self.limit = limit
        #: The squared ``mu`` after the step, at most; infinite where something would be seen without noise.
        self.loss = loss

    def __reduce__(self) -> tuple[Any, ...]:
        return (Refused, (self.observer, self.node, self.limit, self.loss))


class Reading(Mapping[Hashable, Guarantee]):
    """What one observer has learned about every other node so far: a guarantee ``mu`` for each.

    Made by `Meter.losses`.
    """

    def __init__(self, meter: Meter, number: int) -> None:
        found, limits = meter._native.reading(number), meter._native.limits(number)
        upper, lower, mu, grades, self.source, self.h, self.failure = found
        #: Who looks.
        self.observer = meter.observers[number]
        #: What may change, and what the numbers rest on beside what is computed; as `Meter.rests_on`.
        self.rests_on = meter.rests_on
        relation = {} if meter.neighbors is None else {"neighbors": _RELATIONS[meter.neighbors]}
        self._mu: dict[Hashable, Guarantee] = {}
        self._loss: dict[Hashable, tuple[float, float, float | None]] = {}
        for node, high, low, root, grade, limit in zip(meter.nodes, upper, lower, mu, grades, limits):
            if grade != "member":
                kind = Exact if grade == "exact" else UpperBound
                self._mu[node] = kind(root, "mu", relation)
                self._loss[node] = (high, low, limit)

    def __getitem__(self, node: Hashable) -> Guarantee:
        return self._mu[node]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._mu)

    def __len__(self) -> int:
        return len(self._mu)

    def epsilon(self, delta: float) -> dict[Hashable, Guarantee]:
        """The ``epsilon`` of every node.

        Parameters
        ----------
        delta : float
            At which it holds.

        Returns
        -------
        dict
        """
        return {node: _epsilon(mu, delta) for node, mu in self._mu.items()}

    def __repr__(self) -> str:
        return f"<Reading of {self.observer!r}: {self._mu!r}; {self.rests_on[0]}>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{html.escape(str(u))}</td><td>{mu:.4g}</td><td>{mu.name}</td></tr>" for u, mu in self._mu.items())
        head = f"<p>{html.escape(str(self.observer))} has learned</p>"
        return f"{head}<table><tr><th>of</th><th>mu</th><th>grade</th></tr>{rows}</table>{_said(self.rests_on)}"


def _said(rests_on: Sequence[str]) -> str:
    return "".join(f"<p>{html.escape(what[:1].upper() + what[1:])}.</p>" for what in rests_on)


def _epsilon(mu: Guarantee, delta: float) -> Guarantee:
    if math.isinf(float(mu)):
        # Refuses what is no delta.
        Exact(0.0, "mu").epsilon(delta=delta)
        return UpperBound(math.inf, "epsilon", {**mu.detail, "delta": delta})
    return mu.epsilon(delta=delta)


class Meter:
    """An account that runs along: what every observer has learned about every node so far.

    Parameters
    ----------
    graph : graph-like or int
        As in `ndp.Graph`, or a number of nodes.
    per : str
        What every number is about: ``"participant"`` (all uses of a node, in any directions), ``"use"`` (one use), or
        ``"same_direction"`` (all uses by one and the same vector, optimistic: changes may cancel), ``"signs"`` (numbers). There is no default.
    clip : float
        The largest norm of a contribution; ``sigma`` of a noise is in the same unit.
    neighbors : str
        ``"replace"``: the data are replaced by other data, so that a contribution moves by up to ``2 * clip``; ``"zero"``: a contribution
        is compared with 0, and moves by up to ``clip``.
    observers : iterable, optional
        Labels, or lists of labels for coalitions; an empty list is an outsider. Every node alone by default.
    epsilon, delta : float, optional
        The budget of every pair, fixed before the run.
    limits : float or mapping, optional
        The largest squared ``mu`` of all pairs, or of single ones, by ``(observer, node)``: a label, or a tuple for a coalition. A pair
        that has a limit of its own is held to that one, and not to the budget.
    view : str or tuple
        Who runs the meter: ``"coordinator"``, ``("public_schedule", node)``, ``("own_messages", node)``.
    record : bool
        False keeps no record of the steps: only whole rounds can be fed then.
    dimension : int
        Of the contributions, for ``per="participant"``.

    Examples
    --------
    >>> import ndp
    >>> meter = ndp.Meter([(0, 1), (1, 2), (2, 3)], per="participant", clip=1.0, epsilon=3.0, delta=1e-5)
    >>> meter.round(sigma=20.0)
    >>> meter.losses(0)[1]
    UpperBound(0.100001, 'mu')
    """

    def __init__(
        self,
        graph: GraphLike | int,
        *,
        per: str,
        clip: float,
        neighbors: str = "replace",
        observers: Iterable[Any] | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        limits: float | Mapping[tuple[Hashable, Hashable], float] | None = None,
        view: str | tuple[str, Hashable] = "coordinator",
        record: bool = True,
        dimension: int = 2**31,
    ) -> None:
        plain = isinstance(graph, (int, np.integer)) and not isinstance(graph, bool)
        self.graph = None if plain else Graph(graph)
        self.nodes: Sequence[Hashable] = range(int(graph)) if self.graph is None else self.graph.nodes
        self._places = {node: i for i, node in enumerate(self.nodes)}
        if per not in _SETS:
            raise NdpError(f"per must be one of {', '.join(_SETS)}, got {per!r}")
        if not (math.isfinite(clip) and clip > 0):
            raise NdpError(f"clip must be positive and finite, got {clip}")
        if neighbors not in ("replace", "zero"):
            raise NdpError(f"neighbors must be replace or zero, got {neighbors!r}")
        if (epsilon is None) != (delta is None):
            raise NdpError("a budget is an epsilon and a delta: give both")
        given = [self._members(o) for o in (self.nodes if observers is None else _listed(observers, "observers"))]
        whos: list[Who] = [([self._place(v) for v in members], True, False, []) for members in given]
        self._numbers: dict[frozenset[int], int] = {}
        self._tapping: dict[Hashable, int] = {}
        for number, (members, *_) in enumerate(whos):
            if self._numbers.setdefault(frozenset(members), number) != number:
                raise NdpError(f"observer {given[number]!r} is given twice")
        asked = limits.items() if isinstance(limits, Mapping) else ()
        pairs = [(self._number_of(watcher), self._place(exposed), number_of(most, "squared mu")) for (watcher, exposed), most in asked]
        worst = None if limits is None or isinstance(limits, Mapping) else number_of(limits, "squared mu")
        target = None if epsilon is None or delta is None else target_of((epsilon, delta))
        word, *whose = view if isinstance(view, tuple) else (view,)
        if _VIEWS.get(word, len(whose)) != len(whose):
            raise NdpError(f"the views are 'coordinator', ('public_schedule', node) and ('own_messages', node), got {view!r}")
        declared: dict[str, Any] = {"word": _SETS[per], "along": None, "period": None, "gap": None, "listed": None, "bounds": None}
        declared["dimension"] = _count(dimension, "dimension") if per == "participant" else None
        place = self._place(whose[0]) if _VIEWS.get(word) else 0
        #: Who runs the meter: ``"coordinator"``, ``"public_schedule"`` or ``"own_messages"``.
        self.view: str = word
        names = [str(v) for v in self.nodes]
        self._native = _ndp.Meter(names, whos, declared, (worst, pairs, target), (word, place), (number_of(clip, "clip"), neighbors), record)
        self._left: set[Hashable] = set()
        self._log: str | None = None
        self._settle()

    def _settle(self) -> None:
        found = self._native.scale()
        #: The largest norm of a contribution, and what one is compared with; None where a log does not say them: then ``sigma`` is
        #: the noise multiplier, in units of how far a contribution moves.
        self.clip: float | None = None if found is None else found[0]
        self.neighbors: str | None = None if found is None else found[1]
        self._unit = Fraction(1) if found is None else Fraction(found[0]) * (2 if found[1] == "replace" else 1)
        _, observers, *_ = self._native.facts()
        self._numbers = {frozenset(members): number for number, (members, taps) in enumerate(observers) if not taps}
        self.observers = [self._label(members, taps) for members, taps in observers]
        self._tapping = {self.observers[number]: number for number, (_, taps) in enumerate(observers) if taps}
        self._process = os.getpid()

    def _members(self, observer: Any) -> list[Hashable]:
        if isinstance(observer, list):
            return observer
        if isinstance(observer, (tuple, set, frozenset)) and not (isinstance(observer, Hashable) and observer in self._places):
            return list(observer)
        return [observer]

    def _number_of(self, observer: Any) -> int:
        if isinstance(observer, tuple) and isinstance(observer, Hashable) and observer in self._tapping:
            return self._tapping[observer]
        found = self._numbers.get(frozenset(self._place(v) for v in self._members(observer)))
        if isinstance(observer, tuple) and observer in self._places and all(v in self._places for v in observer):
            # A tuple that is a label, too.
            together = self._numbers.get(frozenset(self._place(v) for v in observer))
            if found is not None and together is not None:
                raise NdpError(f"{observer!r} is a node and a coalition here: a frozenset is the coalition, [{observer!r}] the node")
            found = together if found is None else found
        if found is None:
            raise NdpError(f"{observer!r} is not one of the observers of this meter")
        return found

    def _label(self, members: Sequence[int], taps: Sequence[tuple[int, int]]) -> Hashable:
        who = self.nodes[members[0]] if len(members) == 1 else tuple(self.nodes[v] for v in members)
        return (who, tuple((self.nodes[v], self.nodes[w]) for v, w in taps)) if taps else who

    def _place(self, node: Hashable) -> int:
        try:
            if isinstance(node, bool) and isinstance(self.nodes, range):
                raise KeyError(node)
            return self._places[node]
        except (KeyError, TypeError):
            raise NdpError(f"node {node!r} is not one of the {len(self.nodes)} nodes of this meter") from None

    def _variance(self, sigma: float) -> int | float | str:
        deviation = number_of(sigma, "sigma")
        if not (math.isfinite(deviation) and deviation >= 0):
            raise NdpError(f"sigma must be finite and not negative, got {deviation}")
        return _number((Fraction(deviation) / self._unit) ** 2)

    def _taken(self, step: Any, *arguments: Any) -> Any:
        if os.getpid() != self._process:
            raise NdpError("this process was forked from the one of the meter, which would not count its messages: feed it there")
        if self._log == "":
            raise NdpError("this meter was loaded, and a step would not be in its log: Meter.resume goes on with a log")
        try:
            return step(*arguments)
        except OverflowError as wrong:
            raise NdpError(f"values have the numbers that the steps return: {wrong}") from None
        except _ndp.OverBudget as refused:
            _, members, taps, node, limit, loss = refused.args
            raise Refused(self._label(members, taps), self.nodes[node], limit, loss) from None

    @classmethod
    def resume(
        cls,
        path: str | os.PathLike[str],
        graph: GraphLike | None = None,
        *,
        clip: float | None = None,
        neighbors: str | None = None,
    ) -> Meter:
        """Goes on with a log; a last line that was cut off is dropped, nothing was sent for it.

        Parameters
        ----------
        path : str or path
            The log, which is also that of ``ndp meter``.
        graph : graph-like, optional
            The graph, whose labels must be those of the log.
        clip, neighbors : optional
            As in `Meter`. The log says them; what is given must be the same. A log of another program may leave them out: then
            `clip` is None, and ``sigma`` of a noise is its multiple of how far a contribution moves.

        Returns
        -------
        Meter
        """
        with open(path, "rb") as file:
            text = file.read()
        meter, kept, dropped = cls._of_log(text, graph)
        for what, given, found in (("clip", clip, meter.clip), ("neighbors", neighbors, meter.neighbors)):
            if given is not None and given != found:
                raise NdpError(
                    f"the log says {what}={found!r}, not {given!r}: noises would count for more or less than they are"
                    if found is not None
                    else f"the log does not say {what}, so {what}={given!r} cannot be checked: leave it out, and give noise multipliers"
                )
        if dropped is not None:
            os.truncate(path, kept)
        meter._native.continue_in(_appender(path, "ab"))
        meter._log = os.path.abspath(path)
        return meter

    @classmethod
    def _of_log(cls, text: bytes, graph: GraphLike | None) -> tuple[Meter, int, str | None]:
        """What a log says, to be asked and not fed; how many bytes of it count, and what was cut off."""
        meter = cls.__new__(cls)
        meter._native, kept, dropped = _ndp.Meter.resume(text)
        names = meter._native.facts()[0]
        numbered = names == [str(i) for i in range(len(names))]
        meter.graph = None if graph is None else Graph(graph)
        meter.nodes = meter.graph.nodes if meter.graph is not None else range(len(names)) if numbered else names
        if [str(v) for v in meter.nodes] != names:
            raise NdpError("the nodes of the graph are not those of the log, or in another order")
        meter._places = {node: i for i, node in enumerate(meter.nodes)}
        meter._left, meter._log = set(), ""
        said = json.loads(text.partition(b"\n")[0])
        view = said.get("step", said).get("view", "coordinator")
        meter.view = (view if isinstance(view, str) else next(iter(view))).replace("-", "_")
        for line in text[:kept].splitlines() if b'"leave"' in text else ():
            left = json.loads(line)["step"].get("leave", [])
            meter._left.update(meter.nodes[v] for v in (left if isinstance(left, list) else [left]))
        meter._settle()
        return meter, kept, dropped

    def _logged(self) -> bytes:
        """Its log so far, up to the last whole line."""
        if not self._log:
            raise NdpError("this meter has no log: meter.log(path) before the first step begins one")
        with open(self._log, "rb") as file:
            return file.read().rpartition(b"\n")[0] + b"\n"

    def log(self, path: str | os.PathLike[str]) -> None:
        """Writes every step to a new file, flushed and synced before the step returns, and so before a message is sent.

        Parameters
        ----------
        path : str or path
            The file, which must not exist; nothing may have been fed.
        """
        if self._log == "":
            raise NdpError("this meter was loaded: Meter.resume goes on with its log")
        self._native.log(_appender(path, "xb"))
        self._log = os.path.abspath(path)

    def contribute(self, node: Hashable, reads: str, values: Iterable[int] | None = None) -> int:
        """A contribution of a node, clipped; as `Program.contribute`.

        Parameters
        ----------
        node : hashable
            Who contributes.
        reads : str
            ``"nothing"``, ``"seen"`` or ``"hidden"``.
        values : iterable of int, optional
            Which values it reads.

        Returns
        -------
        int
        """
        return int(self._taken(self._native.contribute, self._place(node), *_read(reads, values)))

    def noise(self, *holders: Hashable, sigma: float) -> int:
        """A noise that these nodes know; nobody where there are none.

        Parameters
        ----------
        *holders : hashable
            Who knows it.
        sigma : float
            Its standard deviation, in the unit of ``clip``.

        Returns
        -------
        int
        """
        return int(self._taken(self._native.noise, [self._place(v) for v in holders], self._variance(sigma)))

    def combine(self, terms: Mapping[int, Number]) -> int:
        """A weighted sum of values.

        Parameters
        ----------
        terms : mapping
            The weight of each value.

        Returns
        -------
        int
        """
        return int(self._taken(self._native.combine, [(_number(w), v) for v, w in terms.items()]))

    def mix(self, values: Sequence[int], weights: Any = None) -> list[int]:
        """The weighted sums that every node takes of everybody's values.

        Parameters
        ----------
        values : sequence of int
            One for each node.
        weights
            As in `round`.

        Returns
        -------
        list of int
        """
        return list(self._taken(self._native.mix, self._mixing(weights), list(values)))

    def send(self, source: Hashable, to: Hashable, value: int) -> None:
        """Counts a message; call it before the message is sent.

        Parameters
        ----------
        source, to : hashable
            The nodes.
        value : int
            What is sent.
        """
        self._taken(self._native.send, self._place(source), self._place(to), value)

    def lost(self, source: Hashable, to: Hashable, value: int) -> None:
        """Counts a message that was lost, which counts as sent.

        Parameters
        ----------
        source, to, value
            As in `send`.
        """
        self.send(source, to, value)

    def broadcast(self, source: Hashable, value: int) -> None:
        """Counts a message to everybody, outsiders included.

        Parameters
        ----------
        source : hashable
            Who sends.
        value : int
            What is sent.
        """
        self._taken(self._native.broadcast, self._place(source), value)

    def secure_sum(self, to: Hashable, addends: Iterable[tuple[Hashable, Number, int]]) -> int:
        """A weighted sum that a node sees, and nothing of the addends.

        Parameters
        ----------
        to : hashable
            Who sees it.
        addends : iterable of (node, weight, value)
            Who gives what.

        Returns
        -------
        int
        """
        given = [(self._place(v), _number(w), value) for v, w, value in addends]
        return int(self._taken(self._native.secure_sum, self._place(to), given))

    def join(self, node: Hashable) -> None:
        """A node takes part from here on.

        Parameters
        ----------
        node : hashable
            Who joins.
        """
        self._taken(self._native.join, self._place(node))

    def leave(self, node: Hashable) -> None:
        """A node takes no part from here on; its noises stay unknown.

        Parameters
        ----------
        node : hashable
            Who leaves.
        """
        self._taken(self._native.leave, self._place(node))
        self._left.add(node)

    def forget(self, *values: int) -> None:
        """Says that no later step reads these values: later steps take less work, and no loss changes.

        Parameters
        ----------
        *values : int
            The values.
        """
        self._taken(self._native.forget, list(values))

    def round(self, weights: Any = None, sigma: float = 0.0, *, reads: str = "model-hidden") -> None:
        """Counts a whole round, before it is run: every node adds an update and noise to its model, sends it and takes the mean.

        A node sends to those who take it with a weight that is not 0. What goes over other edges of the graph is counted if it is told
        by `send`.

        Parameters
        ----------
        weights : str, array or mapping, optional
            A rule or a matrix (row v: what v takes from whom); the Metropolis weights of the graph by default.
        sigma : float
            The noise on every update, in the unit of ``clip``.
        reads : str
            What updates depend on: ``"model-hidden"``, the node's model, which observers are shown (the safe answer for gradients);
            ``"model-seen"`` (checked); ``"seen"`` (assumed); ``"nothing"``.
        """
        self._taken(self._native.round, self._mixing(weights), self._variance(sigma), reads)

    def private(
        self,
        *,
        sigma: float,
        weights: Any = None,
        reads: str = "model-hidden",
        seed: int | np.random.Generator | None = None,
    ) -> Callable[[Callable[_P, Mapping[Hashable, Any]]], Callable[_P, dict[Hashable, Any]]]:
        """A decorator for the function that computes the updates of a round: it counts the round, clips, and adds the noise.

        The round is counted, or refused, before the function is called. What it returns, an update for every node, is clipped to
        the meter's ``clip`` in the Euclidean norm of all its parts together; then every number gets Gaussian noise of deviation
        ``sigma``, the one that was counted. Send what comes out added to the model, and take the means with the same weights.

        The noise is that of floats, and the guarantee that of real numbers: who can read the last digits may learn more.

        Parameters
        ----------
        sigma, weights, reads
            As in `round`.
        seed : int or numpy.random.Generator, optional
            For tests alone: whoever knows the seed knows the noise. The system's entropy by default.

        Returns
        -------
        callable
            Of a function that returns a mapping: for every node that has not left a NumPy array, a PyTorch tensor, a number, or a
            list of them. The decorated function returns the same as a dict.

        Raises
        ------
        Refused
            By the decorated function, where the round does not fit; nothing is computed then.
        NdpError
            Where a node is missing or unknown, or an update is not finite. The round stays counted.

        Examples
        --------
        >>> import ndp
        >>> import numpy as np
        >>> meter = ndp.Meter([(0, 1), (1, 2)], per="participant", clip=1.0, epsilon=3.0, delta=1e-5)
        >>> @meter.private(sigma=20.0)
        ... def updates(models):
        ...     return {v: -model for v, model in models.items()}
        >>> noised = updates({v: np.ones(5) for v in range(3)})
        >>> noised[0].shape, meter.rounds
        ((5,), 1)
        """
        if self.clip is None:
            raise NdpError("the log of this meter does not say the clip: count rounds by their noise multipliers")
        clip, mixing = self.clip, self._mixing(weights)
        self._variance(sigma)
        deviation = number_of(sigma, "sigma")
        # Without a seed every round draws from new entropy of the system: a process that is forked would draw the same noise again.
        seeded = None if seed is None else np.random.default_rng(seed)

        def wrapped(updates: Callable[_P, Mapping[Hashable, Any]]) -> Callable[_P, dict[Hashable, Any]]:
            @functools.wraps(updates)
            def run(*args: _P.args, **kwargs: _P.kwargs) -> dict[Hashable, Any]:
                self.round(mixing, deviation, reads=reads)
                found = dict(updates(*args, **kwargs))
                for node in found:
                    self._place(node)
                for node in self.nodes:
                    if node in self._left:
                        found.pop(node, None)
                    elif node not in found:
                        raise NdpError(f"node {node!r} has no update: one of zeros gets the noise that was counted")
                rng = np.random.default_rng() if seeded is None else seeded
                return {node: _private(update, clip, deviation, rng, node) for node, update in found.items()}

            return run

        return wrapped

    def remaining(
        self, weights: Any = None, sigma: float = 0.0, *, reads: str = "model-hidden", most: int = 1000
    ) -> int:
        """How many more such rounds fit below all limits.

        Parameters
        ----------
        weights, sigma, reads
            As in `round`.
        most : int
            Where to stop counting.

        Returns
        -------
        int
        """
        return self._native.remaining(self._mixing(weights), self._variance(sigma), reads, _count(most, "most"))

    def _mixing(self, weights: Any) -> _ndp.Mixing:
        if isinstance(weights, _ndp.Mixing):
            return weights
        if weights is None or isinstance(weights, str):
            if self.graph is None:
                raise NdpError("this meter was made without a graph: give the weights")
            return _ndp.Mixing.of(_matrix(self.graph, weights, 0.0))
        if isinstance(weights, Mapping):
            taken = {self._place(v): [(self._place(w), _number(x)) for w, x in row.items()] for v, row in weights.items()}
            return _ndp.Mixing.rows([taken.get(u, [(u, 1)]) for u in range(len(self.nodes))])
        dense = real(_in_order(weights, self.nodes), "weights")
        if dense.ndim != 2:
            raise NdpError(f"weights have two dimensions, got {dense.ndim}")
        return _ndp.Mixing.rows([[(int(j), float(row[j])) for j in np.flatnonzero(row)] for row in dense])

    def losses(self, observer: Any) -> Reading:
        """What an observer has learned about every node.

        Parameters
        ----------
        observer : hashable
            One of `observers`: a label, a list or tuple of labels for a coalition; with the edges that it taps, where a log watches
            such an observer: ``("cem", (("ann", "bob"),))``.

        Returns
        -------
        Reading
        """
        return self._reading(self._number_of(observer))

    def _reading(self, number: int) -> Reading:
        return Reading(self, number)

    def worst(self, count: int = 1) -> list[tuple[Hashable, Hashable, Guarantee]]:
        """The pairs that have lost most: observer, node, ``mu``.

        Parameters
        ----------
        count : int
            How many.

        Returns
        -------
        list of tuple
        """
        pairs = [(r.observer, u, mu) for r in map(self._reading, range(len(self.observers))) for u, mu in r.items()]
        return sorted(pairs, key=lambda pair: -float(pair[2]))[:count]

    def epsilon(self, delta: float) -> Guarantee:
        """The ``epsilon`` of the worst pair.

        Parameters
        ----------
        delta : float
            At which it holds.

        Returns
        -------
        Guarantee
        """
        found = self.worst()
        if not found:
            raise NdpError("this meter watches no pair")
        return _epsilon(found[0][2], delta)

    @property
    def rounds(self) -> int:
        """Whole rounds so far."""
        return self._native.facts()[2]

    @property
    def rests_on(self) -> list[str]:
        """What all numbers rest on beside what is computed."""
        said = self._native.facts()[4]
        if self.clip is None:
            said.append("no contribution moves by more than one unit, and noises are Gaussian and as large as stated in it")
        return said

    def __repr__(self) -> str:
        of, by = _several(len(self.nodes), "node"), _several(len(self.observers), "observer")
        return f"<Meter of {of}, {by}, {_several(self.rounds, 'round')}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(str(u))}</td><td>{html.escape(str(o))}</td><td>{mu:.4g}</td><td>{mu.name}</td></tr>"
            for o, u, mu in self.worst(10)
        )
        return f"<table><tr><th>exposed</th><th>observer</th><th>mu</th><th>grade</th></tr>{rows}</table>{_said(self.rests_on)}"

    def __reduce__(self) -> Any:
        raise TypeError("a meter is not pickled: keep a log, and resume it")


def _appender(path: str | os.PathLike[str], mode: str) -> Any:
    # Whatever folder the process is in later.
    path = os.path.abspath(path)
    file, process = open(path, mode), os.getpid()
    size = os.fstat(file.fileno()).st_size

    def append(line: str) -> None:
        nonlocal size
        if os.getpid() != process:
            raise OSError("the log belongs to the process that opened it, and this one was forked")
        here = os.fstat(file.fileno())
        if here.st_size != size:
            raise OSError("somebody else writes to the log, and this meter does not count that: resume it again")
        if not os.path.exists(path) or not os.path.samestat(os.stat(path), here):
            raise OSError("the log was deleted or replaced, and its next lines would be lost: resume it again")
        size += len(line.encode()) + 1
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())

    return append


def _private(update: Any, clip: float, sigma: float, rng: np.random.Generator, node: Hashable) -> Any:
    """The update, clipped in the norm of all its parts, with noise, of the types that it came in."""
    parts = list(update) if isinstance(update, (list, tuple)) else [update]
    numbers = [_floats(part, node) for part in parts]
    clipped = _clipped(numbers, clip, node)
    noised = [_like(part, x + sigma * rng.standard_normal(x.shape)) for part, x in zip(parts, clipped)]
    if isinstance(update, (list, tuple)):
        return tuple(noised) if isinstance(update, tuple) else noised
    return noised[0]


def _floats(part: Any, node: Hashable) -> NDArray[np.float64]:
    """A copy; of a tensor, too."""
    if hasattr(part, "detach"):
        part = part.detach().cpu().double().numpy()
    found = np.asarray(part)
    if found.dtype.kind not in "fiu":
        raise NdpError(f"the update of node {node!r} has numbers of type {found.dtype}, not real ones")
    return np.array(found, dtype=np.float64)


def _clipped(parts: list[NDArray[np.float64]], clip: float, node: Hashable) -> list[NDArray[np.float64]]:
    # Each part for itself: a largest entry of all may leave out what is no number.
    if not all(np.isfinite(x).all() for x in parts):
        raise NdpError(f"the update of node {node!r} is not finite")
    largest = max((float(np.abs(x).max(initial=0.0)) for x in parts), default=0.0)
    # What rounding may hide of a sum of so many squares.
    slack = 1.0 + (sum(x.size for x in parts) + 16) * 2.0**-52
    while largest > 0.0:
        # In the scale of the largest, so that no square overflows or underflows.
        norm = largest * math.sqrt(sum(float(np.sum((x / largest) ** 2)) for x in parts)) * slack
        if norm <= clip:
            break
        by = clip / norm
        parts = [x * (by * (1.0 - 2.0**-50)) for x in parts]
        largest = max(float(np.abs(x).max(initial=0.0)) for x in parts)
    return parts


def _like(part: Any, numbers: NDArray[np.float64]) -> Any:
    if hasattr(part, "detach"):
        return part.new_tensor(numbers)
    if isinstance(part, np.ndarray):
        return numbers.astype(part.dtype) if part.dtype.kind == "f" else numbers
    return numbers if numbers.ndim else float(numbers)
