"""What observers learn: losses as arrays in the order of the labels."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _ndp
from ._draw import fields_html, losses_html, pairs_html, plot_losses, plot_pairs
from ._grades import Exact, Graded, Guarantee, UpperBound, number_of, scales_of, target_of
from ._graph import Graph, real
from ._ndp import NdpError
from ._prove import Origin, prove
from ._rounded import LowerEnd, UpperEnd, lower_ends, upper_ends
from ._statement import Statement

_CLASSES: dict[str, type[Guarantee]] = {"Exact": Exact, "UpperBound": UpperBound}

#: One noise, or several, each of which has an answer of its own.
Noises = float | Sequence[float] | NDArray[Any]

#: A target: the loss that is allowed, or ``(epsilon, delta)``, or a function of the exposed node and the observer.
Target = Any


class LeastNoise(NamedTuple):
    """The least noise for a target, and the pair that needs it (None for means); ``statement`` says for whom."""

    sigma: float
    source: Hashable
    observer: Hashable
    loss: Guarantee | None
    statement: Statement
    #: Where a bound stands for what observers really see: for how many, and why. A ``loss`` that is ``Exact`` beside them is proven of
    #: its pair from below, too, so that less noise would not be enough.
    notes: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        return fields_html("Least noise", {**self._asdict(), "statement": self.statement.paragraph})


class Check(NamedTuple):
    """Whether a target is met: ``"met"``, ``"not shown"`` or ``"violated"``, and by how many pairs it is exceeded.

    ``statement`` says for whom.
    """

    verdict: str
    exceeding: int
    source: Hashable
    observer: Hashable
    loss: Guarantee | None
    statement: Statement
    #: Where a bound stands for what observers really see: for how many, and why.
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.verdict == "met"

    def _repr_html_(self) -> str:
        return fields_html("Check", {**self._asdict(), "statement": self.statement.paragraph})


class _Reports:
    """What several coalitions learn; rows are coalitions."""

    __slots__ = (
        "_origin", "_unit", "bits", "coalitions", "failures", "graph", "grades", "lower", "mean_grades", "means", "protocol", "ranks",
        "statement", "statements",
    )  # fmt: skip

    def __init__(
        self, graph: Graph | Sequence[Hashable], protocol: str, parts: Mapping[str, Any], origin: Origin | None = None
    ) -> None:
        self._origin = origin
        self.graph = graph
        self.protocol = protocol
        self._unit: NDArray[np.float64] = parts["unit"]
        self.lower: NDArray[np.float64] = parts["lower"]
        self.coalitions: list[list[int]] = parts["coalitions"]
        self.grades: list[str] = parts["grades"]
        self.ranks: list[int] = parts["ranks"]
        self.bits: list[int] = parts["bits"]
        self.failures: list[float] = parts["failures"]
        self.means: list[float] = parts["means"]
        self.mean_grades: list[str] = parts["mean_grades"]
        #: What is protected, from whom, under what, and by which theorem: of all observers together.
        self.statement = Statement(*parts["statement"])
        #: The same for each observer.
        self.statements = [Statement(*said) for said in parts["statements"]]
        self._unit.flags.writeable = False
        self.lower.flags.writeable = False

    @property
    def _labels(self) -> Sequence[Hashable]:
        return self.graph.nodes if isinstance(self.graph, Graph) else self.graph

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("lower", "coalitions", "grades", "ranks", "bits", "failures", "means", "mean_grades")
        parts = {"unit": self._unit, **{name: getattr(self, name) for name in names}}
        parts.update(statement=self.statement.__reduce__()[1], statements=[said.__reduce__()[1] for said in self.statements])
        origin = self._origin if self._origin is not None and self._origin.is_current() else None
        return (type(self), (self.graph, self.protocol, parts, origin))

    def prove(self, path: str | os.PathLike[str] | None = None, *, sources: Iterable[Hashable] | None = None) -> str:
        """A file that proves the losses to a stranger: an attack and a shift of noises for each pair, in exact fractions.

        ``python3 checker/ndp_check.py FILE`` follows both through the protocol, which stands in the file, without this package.

        Parameters
        ----------
        path : str or path, optional
            Where to write it, observer by observer; compressed where the name ends in ``.gz``.
        sources : iterable of hashable, optional
            The exposed nodes; all by default.

        Returns
        -------
        str
            The text of the file; with a path its last line: how many pairs are proved, their largest ``mu**2`` at noise 1, and
            whether these are all pairs.

        Raises
        ------
        NdpError
            Where no file exists: for walks and trainings, for sets with patterns or bounds, for observers without their own noise, where
            a change is seen without noise, and where exact numbers would be too long.

        Examples
        --------
        >>> import ndp
        >>> text = ndp.gossip(([0, 1], [1, 2]), rounds=2).losses(observer=2).prove()
        >>> text.splitlines()[-1]
        '{"covers":"these-pairs","end":"proof","largest":"1","pairs":2}'
        """
        own_noise = self._origin is None or self._origin.own_noise
        return prove(self._origin, [(members, own_noise, False, []) for members in self.coalitions], path, sources)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return (
            list(self._labels) == list(other._labels)
            and self.coalitions == other.coalitions
            and self.grades == other.grades
            and np.array_equal(self._unit, other._unit)
            and np.array_equal(self.lower, other.lower)
        )

    __hash__ = None  # type: ignore[assignment]

    def _index(self, node: Hashable) -> int:
        if isinstance(self.graph, Graph):
            return self.graph.index(node)
        # True and 1.0 are no nodes, although they equal 1.
        if isinstance(node, (bool, float)) or node not in self.graph:
            raise NdpError(f"node {node!r} is not one of the {len(self.graph)} nodes")
        return list(self.graph).index(node)

    @property
    def grade(self) -> type[Guarantee]:
        """`Exact` where every loss is known to a relative ``1e-9``, otherwise `UpperBound`."""
        return Exact if all(grade == "Exact" for grade in self.grades) else UpperBound

    @property
    def failure(self) -> float:
        """Probability, over primes drawn from a hash of what is seen, that an upper end is too small; at most.

        The upper ends of the enclosures rest on primes, the lower ends hold without. Of several observers, the sum.
        """
        # A sum of several was rounded to the nearest float.
        total = math.fsum(self.failures)
        return UpperEnd(total if len(self.failures) == 1 else math.nextafter(total, math.inf) * (total > 0.0))

    @property
    def by(self) -> list[str]:
        """The theorems by which the losses hold."""
        return self.statement.by

    @property
    def nodes(self) -> Sequence[Hashable]:
        """The labels of the nodes, in the order of all arrays."""
        return self._labels

    def _laid(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers of which each row is a coalition, in the layout of the answers."""
        raise NotImplementedError

    @property
    def unit(self) -> NDArray[np.float64]:
        """Losses as fractions of the local loss, what would be lost if the noisy value were published: upper ends.

        Of several observers, row is the exposed node, column the observer; so are all other answers for every node.
        """
        found: NDArray[np.float64] = upper_ends(self._laid(self._unit), self.grade)
        return found

    @property
    def enclosure(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Both proven ends of every unit loss."""
        return lower_ends(self._laid(self.lower)), self.unit

    def mu(self, sigma: Noises, sensitivity: float = 1.0) -> NDArray[np.float64]:
        """Gaussian parameter ``mu`` of every node's loss, rounded up.

        Parameters
        ----------
        sigma : float or array_like
            Standard deviation of the noise that every node adds. Of several, the answer has their axes first.
        sensitivity : float, optional
            How far the input of one node may move.

        Returns
        -------
        numpy.ndarray
            ``(sensitivity / sigma) * sqrt(unit)``.

        Examples
        --------
        >>> import ndp
        >>> ndp.gossip(([0, 1], [1, 2]), rounds=2).losses(observer=2).mu(sigma=[1.0, 2.0])
        array([[1. , 1. , 1. ],
               [0.5, 0.5, 0.5]])
        """
        return self._map(_ndp.mu_of_units, sigma, sensitivity=sensitivity)

    def rdp(self, sigma: Noises, order: float, sensitivity: float = 1.0) -> NDArray[np.float64]:
        """Rényi loss of every node in nats, rounded up.

        Parameters
        ----------
        sigma : float
            Standard deviation of the noise that every node adds.
        order : float
            Order of the divergence, above 1.
        sensitivity : float, optional
            How far the input of one node may move.

        Returns
        -------
        numpy.ndarray
        """
        return self._map(_ndp.rdp_of_units, sigma, order=order, sensitivity=sensitivity)

    def epsilon(self, sigma: Noises, delta: float, sensitivity: float = 1.0) -> NDArray[np.float64]:
        """The ``epsilon`` at ``delta`` of every node, in nats.

        Parameters
        ----------
        sigma : float
            Standard deviation of the noise that every node adds.
        delta : float
            Failure probability.
        sensitivity : float, optional
            How far the input of one node may move.

        Returns
        -------
        numpy.ndarray

        Examples
        --------
        >>> import ndp
        >>> r = ndp.gossip(([0, 1, 2], [1, 2, 3]), rounds=2).losses(observer=0)
        >>> r.epsilon(sigma=4.0, delta=1e-5).round(3)
        array([0.927, 0.927, 0.927, 0.   ])
        """
        return self._map(_ndp.epsilon_of_units, sigma, delta=delta, sensitivity=sensitivity)

    def delta(self, sigma: Noises, epsilon: float, sensitivity: float = 1.0) -> NDArray[np.float64]:
        """The ``delta`` at ``epsilon`` of every node.

        Parameters
        ----------
        sigma : float
            Standard deviation of the noise that every node adds.
        epsilon : float
            In nats.
        sensitivity : float, optional
            How far the input of one node may move.

        Returns
        -------
        numpy.ndarray
        """
        return self._map(_ndp.delta_of_units, sigma, epsilon=epsilon, sensitivity=sensitivity)

    def _map(self, function: Callable[..., tuple[NDArray[np.float64], bool]], sigma: Noises, **scales: float) -> NDArray[np.float64]:
        units, others = np.ascontiguousarray(self._unit).ravel(), [number_of(scale, what) for what, scale in scales.items()]
        grades = [self.grade]

        def at(noise: float) -> NDArray[np.float64]:
            values, exact = function(units, noise, *others)
            grades.append(self.grade if exact else UpperBound)
            return self._laid(values.reshape(self._unit.shape))

        values = over_noises(sigma, at)
        found: NDArray[np.float64] = upper_ends(values, Exact if set(grades) == {Exact} else UpperBound)
        return found

    def _at_noise(
        self, chosen: Any, sigma: float | None, delta: float | None, sensitivity: float | None
    ) -> dict[str, Any]:
        """Columns of a table for the entries chosen: what the losses are at a noise, where one is given."""
        if sigma is None:
            _without_sigma(delta=delta, sensitivity=sensitivity)
            return {}
        if np.ndim(sigma):
            raise NdpError("a table has one noise: ndp.sweep has a row for each of several")
        at, scale = 1e-5 if delta is None else number_of(delta, "delta"), 1.0 if sensitivity is None else number_of(sensitivity, "sensitivity")
        mu, epsilon = self.mu(sigma, scale), self.epsilon(sigma, at, scale)
        exact = mu.grade is Exact and epsilon.grade is Exact  # type: ignore[attr-defined]
        mu, epsilon = np.asarray(mu)[chosen], np.asarray(epsilon)[chosen]
        return {"mu": mu, "epsilon": epsilon, "delta": [at] * len(mu), "exact": exact}

    def least_noise(
        self,
        worst: Target = None,
        *,
        mean: Target = None,
        pairs: Callable[[Hashable, Hashable], Any] | None = None,
        order: float | None = None,
        sensitivity: float = 1.0,
    ) -> LeastNoise:
        """The least noise at which no node loses more than a target allows, rounded up.

        Parameters
        ----------
        worst : tuple or float, optional
            ``(epsilon, delta)`` for every pair; or a ``mu``; or, with ``order``, a Rényi loss in nats.
        mean : tuple or float, optional
            In place of ``worst``: for the mean towards every observer.
        pairs : callable, optional
            In place of ``worst``: the same for each exposed node and observer; ``inf`` sets no limit.
        order : float, optional
            Order of the Rényi loss.
        sensitivity : float, optional
            How far the input of one node may move.

        Returns
        -------
        LeastNoise
            ``sigma``, and the pair that needs it with its loss.

        Examples
        --------
        >>> import ndp
        >>> r = ndp.gossip(([0, 1, 2], [1, 2, 3]), rounds=2).losses(observer=0)
        >>> found = r.least_noise(worst=(1.0, 1e-5))
        >>> round(found.sigma, 3), found.source, found.observer
        (3.731, 1, 0)
        """
        limits = limits_of(self._labels, self.coalitions, worst, mean, pairs, order)
        exact = [grade == "Exact" for grade in self.grades]
        found = _ndp.least_sigma(self._unit, self.lower, self.coalitions, exact, limits, number_of(sensitivity, "sensitivity"))
        return least_noise_of(self._labels, found, limits, self.statement)

    def check(
        self,
        sigma: float,
        worst: Target = None,
        *,
        mean: Target = None,
        pairs: Callable[[Hashable, Hashable], Any] | None = None,
        order: float | None = None,
        sensitivity: float = 1.0,
    ) -> Check:
        """Whether no node loses more than a target allows.

        Parameters
        ----------
        sigma : float
            Standard deviation of the noise.
        worst, mean, pairs, order, sensitivity
            As in `least_noise`.

        Returns
        -------
        Check
            True in a condition where the target is met.
        """
        limits = limits_of(self._labels, self.coalitions, worst, mean, pairs, order)
        exact = [grade == "Exact" for grade in self.grades]
        scales = scales_of(sigma, sensitivity)
        found = _ndp.check(self._unit, self.lower, self.coalitions, exact, limits, *scales)
        return check_of(self._labels, found, limits, self.statement)


def over_noises(sigma: Noises, one: Callable[[float], NDArray[np.float64]]) -> NDArray[np.float64]:
    """The answer at a noise; of several noises all answers, the axes of the noises first."""
    if not isinstance(sigma, (list, tuple)) and np.ndim(sigma) == 0:
        return one(number_of(sigma, "sigma"))
    noises = noises_of(sigma)
    if not noises.size:
        raise NdpError("the number of noises must be at least 1, got 0")
    rows = np.stack([np.asarray(one(float(noise))) for noise in noises.ravel()])
    return rows.reshape(noises.shape + rows.shape[1:])


def noises_of(sigma: Noises) -> NDArray[np.float64]:
    """One noise or several as an array: a guarantee of another kind is refused."""
    if isinstance(sigma, (Graded, int, float, str)):
        return np.asarray(number_of(sigma, "sigma"))
    if isinstance(sigma, np.ndarray) and sigma.dtype == object:
        return np.array([number_of(noise, "sigma") for noise in sigma.ravel()]).reshape(sigma.shape)
    if isinstance(sigma, (list, tuple)):
        sigma = [number_of(noise, "sigma") if isinstance(noise, Graded) else noise for noise in sigma]
    return real(sigma, "sigma")


def _without_sigma(**given: float | None) -> None:
    for name, value in given.items():
        if value is not None:
            raise NdpError(f"{name} goes with a noise: give sigma= too")


def limits_of(
    labels: Sequence[Hashable],
    coalitions: Sequence[Sequence[int]],
    worst: Target,
    mean: Target,
    pairs: Callable[[Hashable, Hashable], Any] | None,
    order: float | None,
) -> tuple[NDArray[np.float64], bool, float | None, float | None]:
    """Limits as a table, whether they are for means, and the terms they are stated in: an order, a delta, or ``mu``."""
    if sum(target is not None for target in (worst, mean, pairs)) != 1:
        raise NdpError("give one target: worst=, mean= or pairs=")
    deltas: set[float] = set()
    # The limits that are numbers alone, but for those that are none.
    plain: list[float] = []
    at_order = None if order is None else number_of(order, "order")

    def allowed(target: Any) -> float:
        if isinstance(target, tuple):
            if order is not None:
                raise NdpError("a target is (epsilon, delta), or a loss at an order, not both")
            epsilon, delta = target_of(target)
            deltas.add(delta)
            return epsilon
        limit = number_of(target, "mu" if order is None else "Rényi loss", at_order)
        if limit != math.inf:
            plain.append(limit)
        return limit

    if pairs is None:
        table = np.array([[allowed(worst if mean is None else mean)]])
    else:
        if any(len(members) != 1 for members in coalitions):
            raise NdpError("pairs= limits what one observer learns about one node: for a coalition give worst= or mean=")
        table = np.full((len(labels), len(labels)), np.inf)
        for members in coalitions:
            for u, label in enumerate(labels):
                if u not in members:
                    table[u, members[0]] = allowed(pairs(label, labels[members[0]]))
    if len(deltas) > 1:
        raise NdpError(f"all pairs need the same delta, got {sorted(deltas)}")
    if deltas and plain:
        raise NdpError(f"pairs= gives (epsilon, delta) for some pairs and {plain[0]!r} alone for another, which would be a mu: give one kind")
    return table, mean is not None, at_order, deltas.pop() if deltas else None


def observer_of(labels: Sequence[Hashable], members: Sequence[int]) -> Hashable:
    """A label, a tuple of them for a coalition, None for an outsider."""
    return labels[members[0]] if len(members) == 1 else tuple(labels[v] for v in members) or None


def _pair_of(labels: Sequence[Hashable], pair: Any, limits: Any) -> tuple[Hashable, Hashable, Guarantee | None]:
    if pair is None:
        return None, None, None
    u, members, loss, grade = pair
    return labels[u], observer_of(labels, members), _CLASSES[grade](loss, *_what(*limits[2:]))


def least_noise_of(labels: Sequence[Hashable], found: Any, limits: Any, statement: Statement, notes: Iterable[str] = ()) -> LeastNoise:
    """What a search found, with labels."""
    return LeastNoise(UpperEnd(found[0]), *_pair_of(labels, found[1], limits), statement, tuple(notes))


def check_of(labels: Sequence[Hashable], found: Any, limits: Any, statement: Statement, notes: Iterable[str] = ()) -> Check:
    """What a check found, with labels."""
    return Check(found[0], found[1], *_pair_of(labels, found[2], limits), statement, tuple(notes))


def _what(order: float | None, delta: float | None) -> tuple[str, dict[str, Any]]:
    if delta is not None:
        return "epsilon", {"delta": delta}
    return ("mu", {}) if order is None else ("Rényi loss", {"order": order})


class Losses(_Reports):
    """What one observer (or a coalition) learns about every node: guarantees.

    Arrays are in the order of `nodes`. The entry of the observer itself is 1, its loss to itself, and counts in no
    mean, maximum or target.

    Examples
    --------
    >>> import ndp
    >>> r = ndp.gossip(([0, 1], [1, 2]), rounds=2).losses(observer=2)
    >>> r.unit
    array([1., 1., 1.])
    >>> r[0]
    Exact(1, 'unit loss')
    >>> r.mu(sigma=2.0)
    array([0.5, 0.5, 0.5])
    """

    __slots__ = ()

    @property
    def coalition(self) -> list[Hashable]:
        """Labels of those who pool what they see."""
        return [self._labels[v] for v in self.coalitions[0]]

    @property
    def observer(self) -> Hashable:
        """The label of the observer, the first of a coalition."""
        return self._labels[self.coalitions[0][0]]

    def _laid(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        row: NDArray[np.float64] = rows[0]
        return row

    @property
    def rank(self) -> int:
        """Dimension of what is seen, the observer's own noise included."""
        return self.ranks[0]

    @property
    def mean(self) -> Guarantee:
        """Mean unit loss of the nodes outside the coalition, divided by the number of all nodes."""
        return _CLASSES[self.mean_grades[0]](self.means[0], "unit loss")

    @property
    def max(self) -> Guarantee:
        """The largest unit loss of a node outside the coalition."""
        outside = np.delete(self.unit, self.coalitions[0])
        return self.grade(float(outside.max(initial=0.0)), "unit loss")

    def __getitem__(self, node: Hashable) -> Guarantee:
        """The unit loss of a node, by its label."""
        u = self._index(node)
        if u in self.coalitions[0]:
            raise NdpError(f"node {node!r} is both source and observer: its loss to itself is not a privacy loss")
        return self.grade(float(self.unit[u]), "unit loss", {"lower": LowerEnd(self.lower[0, u])})

    def to_dp_event(self, node: Hashable, sigma: float, sensitivity: float = 1.0) -> Any:
        """The loss of a node as an event of ``dp_accounting``: a Gaussian of noise multiplier ``1/mu``.

        Parameters
        ----------
        node : hashable
            The exposed node.
        sigma, sensitivity : float
            As in `mu`.

        Returns
        -------
        dp_accounting.GaussianDpEvent
            Or a ``NoOpDpEvent`` where nothing is learned.
        """
        from ._events import gaussian

        return gaussian(float(self[node].mu(sigma, sensitivity)))

    def to_frame(
        self, sigma: float | None = None, delta: float | None = None, sensitivity: float | None = None
    ) -> Any:
        """A table with a row for each node outside the coalition: pandas, or polars where pandas is not installed.

        The columns hold the numbers in full. Tables of pandas and polars are printed with a few digits, to the nearest:
        `ndp.upper` rounds a column up.

        Parameters
        ----------
        sigma : float, optional
            With it, columns ``mu``, ``epsilon`` and its ``delta`` are there too.
        delta, sensitivity : float, optional
            As in `epsilon`, beside ``sigma``; 1e-5 and 1 by default.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
        """
        outside = [u for u in range(len(self._labels)) if u not in set(self.coalitions[0])]
        columns: dict[str, Any] = {
            "node": [self._labels[u] for u in outside],
            "unit": self._unit[0][outside],
            "lower": self.lower[0][outside],
            **self._at_noise(np.array(outside, np.int64), sigma, delta, sensitivity),
        }
        grade = self.grade if columns.pop("exact", True) else UpperBound
        columns["grade"] = [grade.name] * len(outside)
        return _frame(columns)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Losses against the distance from the observer, with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw.
        **options
            Passed to ``ax.scatter``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return plot_losses(self, ax, options)

    def items(self) -> Iterator[tuple[Hashable, Guarantee]]:
        """Each node outside the coalition with its unit loss.

        Examples
        --------
        >>> import ndp
        >>> dict(ndp.gossip(([0, 1], [1, 2]), rounds=1).losses(observer=2).items())
        {0: Exact(0, 'unit loss'), 1: Exact(1, 'unit loss')}
        """
        members = set(self.coalitions[0])
        return ((label, self[label]) for u, label in enumerate(self._labels) if u not in members)

    def __len__(self) -> int:
        return len(self._labels)

    def __repr__(self) -> str:
        who = f"observer={self.observer!r}" if len(self.coalitions[0]) == 1 else f"coalition={self.coalition!r}"
        failure = f", failure={self.failure:.1g}" if self.failure else ""
        return f"<Losses {who} of {self.protocol}: {self.grade.name}, max {self.max:.4g}{failure}>"

    def _repr_html_(self) -> str:
        return losses_html(self)


class PairwiseLosses(_Reports):
    """What each of several observers learns about every node: guarantees.

    Examples
    --------
    >>> import ndp
    >>> r = ndp.gossip(([0, 1], [1, 2]), rounds=1).all_losses()
    >>> r.unit.round(3)
    array([[1., 1., 0.],
           [1., 1., 1.],
           [0., 1., 1.]])
    """

    __slots__ = ()

    @property
    def observers(self) -> list[Hashable]:
        """The observers, in the order of the columns: labels, tuples of them for coalitions."""
        return [observer_of(self._labels, members) for members in self.coalitions]

    def _laid(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return rows.T

    def towards(self, observer: Hashable) -> Losses:
        """What one of the observers learns.

        Parameters
        ----------
        observer : hashable
            Its label; a list or tuple of labels for a coalition.

        Returns
        -------
        Losses
        """
        wanted = self._members_of(observer)
        for i, members in enumerate(self.coalitions):
            if sorted(members) == wanted:
                return self._of_column(i)
        raise NdpError(f"{observer!r} is not one of the observers")

    def _of_column(self, i: int) -> Losses:
        names = ("coalitions", "grades", "ranks", "bits", "failures", "means", "mean_grades")
        parts: dict[str, Any] = {name: [getattr(self, name)[i]] for name in names}
        parts.update(unit=self._unit[i : i + 1].copy(), lower=self.lower[i : i + 1].copy())
        said = self.statements[i].__reduce__()[1]
        return Losses(self.graph, self.protocol, {**parts, "statement": said, "statements": [said]}, self._origin)

    def _members_of(self, observer: Any) -> list[int]:
        if isinstance(observer, list):
            return sorted(self._index(label) for label in observer)
        # A tuple may be a label, too.
        named = [i for i, other in enumerate(self.observers) if other == observer] if isinstance(observer, tuple) else []
        if len(named) > 1:
            raise NdpError(f"{observer!r} is a node and a coalition here: a list is the coalition, and items() has both")
        return sorted(self.coalitions[named[0]]) if named else [self._index(observer)]

    def __getitem__(self, pair: tuple[Hashable, Hashable]) -> Guarantee:
        """The unit loss of a pair: exposed node, observer."""
        source, observer = pair
        return self.towards(observer)[source]

    def items(self) -> Iterator[tuple[tuple[Hashable, Hashable], Guarantee]]:
        """Each pair of an exposed node and an observer with its unit loss."""
        for i, observer in enumerate(self.observers):
            for node, loss in self._of_column(i).items():
                yield (node, observer), loss

    @property
    def max(self) -> Guarantee:
        """The largest unit loss of a node towards another."""
        outside = self._unit.copy()
        for i, members in enumerate(self.coalitions):
            outside[i, members] = 0.0
        return self.grade(float(outside.max(initial=0.0)), "unit loss")

    def to_frame(
        self, sigma: float | None = None, delta: float | None = None, sensitivity: float | None = None
    ) -> Any:
        """A table with a row for each pair: pandas, or polars where pandas is not installed.

        Parameters
        ----------
        sigma, delta, sensitivity : float, optional
            As in `Losses.to_frame`.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
        """
        labels = self._labels
        pairs = [
            (u, i) for i, members in enumerate(self.coalitions) for u in range(len(labels)) if u not in members
        ]
        u = np.array([u for u, _ in pairs], np.int64)
        i = np.array([i for _, i in pairs], np.int64)
        columns: dict[str, Any] = {
            "node": [labels[j] for j in u],
            "observer": [observer_of(labels, self.coalitions[j]) for j in i],
            "unit": self._unit.T[u, i],
            "lower": self.lower.T[u, i],
            **self._at_noise((u, i), sigma, delta, sensitivity),
        }
        exact = columns.pop("exact", True)
        grades = [(_CLASSES[grade] if exact else UpperBound).name for grade in self.grades]
        columns["grade"] = [grades[j] for j in i]
        return _frame(columns)

    def plot(self, ax: Any = None, sigma: float | None = None, delta: float | None = None, **options: Any) -> Any:
        """A heat map of the losses, with matplotlib: row is the exposed node, column the observer.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw.
        sigma : float, optional
            With it, the map shows ``epsilon`` at ``delta`` in place of unit losses.
        delta : float, optional
            Failure probability, beside ``sigma``; 1e-5 by default.
        **options
            Passed to ``ax.imshow``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        if sigma is None:
            _without_sigma(delta=delta)
        return plot_pairs(self, ax, sigma, 1e-5 if delta is None else number_of(delta, "delta"), options)

    def __repr__(self) -> str:
        count = f"{len(self.coalitions)} observers"
        return f"<PairwiseLosses {count} of {self.protocol}: {self.grade.name}, max {self.max:.4g}>"

    def _repr_html_(self) -> str:
        return pairs_html(self)


def _frame(columns: dict[str, Any]) -> Any:
    try:
        import pandas
    except ImportError:
        try:
            import polars
        except ImportError:
            raise ImportError("to_frame() needs pandas or polars") from None
        return polars.DataFrame(columns)
    return pandas.DataFrame(columns)
