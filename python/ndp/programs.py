"""Bring your own protocol: state who contributes what, which noises are added and who sees what; the rest is answered.

Examples
--------
>>> import ndp
>>> p = ndp.Program(([0, 1], [1, 2]))
>>> x, z = p.contribute_all(), p.noise_all(variance=1)
>>> y = p.add_all(x, z)
>>> p.send_to_neighbors(y)
>>> p.account(observer=2).profile(1, sigma=1.0).mu
Exact(1, 'mu')
"""

from __future__ import annotations

import operator
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from . import _ndp
from ._graph import Graph, GraphLike, _matrix
from ._ndp import NdpError
from ._protocols import Protocol, _rounds, _same

__all__ = [
    "Program",
    "Sensitivity",
    "corn_dsgd",
    "decor",
    "dsgd",
    "gopa",
    "hierarchical",
    "secure_neighbor_sums",
    "zip_dl",
]

#: An exact number: an integer, a `fractions.Fraction`, a text ``"1/3"``, or a float as the fraction that it stores.
Number = Any


def _number(x: Number) -> int | float | str:
    if isinstance(x, Fraction):
        return f"{x.numerator}/{x.denominator}"
    if isinstance(x, str):
        return x
    try:
        whole = operator.index(x)
    except TypeError:
        return float(x)
    return whole if -(2**63) <= whole < 2**63 else f"{whole}/1"


def _table(rows: Iterable[Iterable[Number]]) -> list[list[int | float | str]]:
    return [[_number(x) for x in row] for row in rows]


class Sensitivity(NamedTuple):
    """What neighboring inputs are, when a node contributes several times.

    Parameters
    ----------
    kind : str
        ``"use_level"``: one use changes; ``"same_direction"``: all uses by the same vector of length at most 1; ``"signs"``: each by
        a number of size at most 1; ``"vectors"``: each by a vector of length at most 1 in ``dimension``; ``"along"``: use i by
        ``along[i]`` times one vector of length at most 1.
    along : sequence of float, optional
        For ``"along"``.
    dimension : int, optional
        For ``"vectors"``.
    period, gap, listed : optional
        Which uses can belong to one example: those a period apart, at least a gap apart, or lists of uses.
    bounds : sequence of float, optional
        Use i changes by at most ``bounds[i]`` times what the set allows.
    """

    kind: str = "use_level"
    along: Sequence[float] | None = None
    dimension: int | None = None
    period: int | None = None
    gap: int | None = None
    listed: Sequence[Sequence[int]] | None = None
    bounds: Sequence[float] | None = None

    def _native(self) -> dict[str, Any]:
        return {"word": self.kind.replace("-", "_"), **{key: value for key, value in zip(self._fields[1:], self[1:])}}


class Program(Protocol):
    """A linear Gaussian protocol stated step by step; a protocol like all others.

    Values are numbered: every method that makes some returns their numbers. Weights and variances are exact: 0.1 is the fraction that
    the float stores, ``"1/10"`` is a tenth. All variances are in units of the square of ``sigma``.

    Parameters
    ----------
    graph : graph-like or int
        The graph, or a number of nodes.
    sensitivity : str or Sensitivity, optional
        What neighboring inputs are; needed as soon as a node contributes more than once.
    weight : str or bool, optional
        As in `ndp.gossip`, for `gossip`.

    Examples
    --------
    >>> import ndp
    >>> p = ndp.Program(([0, 1], [1, 2]))
    >>> y = p.add_all(p.contribute_all(), p.noise_all(variance=1))
    >>> for _ in range(2):
    ...     p.send_to_neighbors(y)
    ...     y = p.gossip(y)
    >>> ndp.audit(p, pair=(0, 2), runs=10_000).refuted
    False
    """

    def __init__(
        self,
        graph: GraphLike | int,
        sensitivity: str | Sensitivity | None = None,
        *,
        weight: str | bool | None = None,
    ) -> None:
        nodes: Graph | range
        if isinstance(graph, int) and not isinstance(graph, bool):
            if graph < 1:
                raise NdpError(f"the number of nodes must be at least 1, got {graph}")
            nodes = range(graph)
        else:
            nodes = Graph(graph, weight=weight)
        chosen = Sensitivity(sensitivity) if isinstance(sensitivity, str) else sensitivity
        super().__init__(nodes, "a program", sensitivity=chosen)
        self._program = _ndp.Program(len(self.nodes))

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        graph: GraphLike | None = None,
        sensitivity: str | Sensitivity | None = None,
    ) -> Program:
        """A program from a file of JSON lines, which the command and the crates read and write too.

        Parameters
        ----------
        path : str or path
            The file.
        graph : graph-like, optional
            The labels of the nodes; 0, 1, ... without it.
        sensitivity : str or Sensitivity, optional
            As in `Program`.

        Returns
        -------
        Program
        """
        with open(path, "rb") as file:
            return cls._of(_ndp.Program.read(file.read()), graph, sensitivity)

    @classmethod
    def _of(
        cls, native: _ndp.Program, graph: GraphLike | None, sensitivity: str | Sensitivity | None, words: str = "a program"
    ) -> Program:
        count = native.node_count()
        made = cls(count if graph is None else graph, sensitivity)
        if len(made.nodes) != count:
            raise NdpError(f"the program has {count} nodes, the graph {len(made.nodes)}")
        made._program, made.words = native, words
        return made

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the program to a file of JSON lines.

        Parameters
        ----------
        path : str or path
            The file, which is replaced.
        """
        with open(path, "wb") as file:
            file.write(self._program.write())

    def to_text(self) -> str:
        """The program as JSON lines."""
        return self._program.write().decode()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": None, "_program": self._program.write()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _program=_ndp.Program.read(state["_program"]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        same = list(self.nodes) == list(other.nodes) and _same(self.parameters, other.parameters)
        return same and self._program.write() == other._program.write()

    __hash__ = None

    def _build(self) -> _ndp.Protocol:
        chosen = self.parameters["sensitivity"]
        if chosen is None:
            most = max(self._program.uses(u) for u in range(len(self.nodes)))
            if most > 1:
                raise NdpError(f"a node contributes {most} times: say what neighboring inputs are, sensitivity=\"use_level\", say")
            chosen = Sensitivity()
        return self._program.declared(chosen._native())

    def _network(self) -> Graph:
        if not isinstance(self.graph, Graph):
            raise NdpError("this program was made without a graph: it has no neighbors")
        return self.graph

    def _changed(self) -> _ndp.Program:
        self._cache = None
        return self._program

    def contribute(
        self, node: Hashable, reads: str = "nothing", values: Iterable[int] | None = None
    ) -> int:
        """A contribution of a node: a vector that depends on its data, in units of the sensitivity.

        Parameters
        ----------
        node : hashable
            Who contributes.
        reads : str, optional
            What else it depends on: ``"nothing"``, ``"seen"`` (values that the observer has seen) or ``"hidden"``.
        values : iterable of int, optional
            Which values it reads; without a list what is ``"seen"`` is an assumption, and what is ``"hidden"`` has no bound.

        Returns
        -------
        int
        """
        read = (reads, None if values is None else list(values))
        return self._changed().contribute(self._index(node), read)

    def contribute_all(self, reads: str = "nothing", values: Iterable[int] | None = None) -> list[int]:
        """A contribution of every node, as in `contribute`.

        Parameters
        ----------
        reads, values
            As in `contribute`.

        Returns
        -------
        list of int
        """
        read = (reads, None if values is None else list(values))
        program = self._changed()
        return [program.contribute(u, read) for u in range(len(self.nodes))]

    def noise(self, node: Hashable, variance: Number = 1) -> int:
        """A noise that a node draws, and knows.

        Parameters
        ----------
        node : hashable
            Who draws it.
        variance : number, optional
            In units of the square of ``sigma``.

        Returns
        -------
        int
        """
        return self._changed().shared_noise([self._index(node)], _number(variance))

    def noise_all(self, variance: Number = 1) -> list[int]:
        """A noise of every node, each known to its node alone.

        Parameters
        ----------
        variance : number, optional
            In units of the square of ``sigma``.

        Returns
        -------
        list of int
        """
        program, number = self._changed(), _number(variance)
        return [program.shared_noise([u], number) for u in range(len(self.nodes))]

    def shared_noise(self, holders: Iterable[Hashable], variance: Number = 1) -> int:
        """A noise that all holders know; nobody where there are none.

        Parameters
        ----------
        holders : iterable of hashable
            Who knows it.
        variance : number, optional
            In units of the square of ``sigma``.

        Returns
        -------
        int
        """
        return self._changed().shared_noise([self._index(v) for v in holders], _number(variance))

    def pairwise(self, a: Hashable, b: Hashable, variance: Number = 1) -> tuple[int, int]:
        """A mask that two nodes share and that cancels: one gets it with a plus, the other with a minus.

        Parameters
        ----------
        a, b : hashable
            The two.
        variance : number, optional
            In units of the square of ``sigma``.

        Returns
        -------
        tuple of int
        """
        return self._changed().pairwise(self._index(a), self._index(b), _number(variance))

    def correlated(self, group: Iterable[Hashable], covariance: Iterable[Iterable[Number]]) -> list[int]:
        """Noises of a group with a given covariance, each known to its node.

        Parameters
        ----------
        group : iterable of hashable
            The nodes.
        covariance : iterable of iterables of numbers
            Symmetric and positive semidefinite.

        Returns
        -------
        list of int
        """
        return self._changed().correlated([self._index(v) for v in group], _table(covariance))

    def zero_sum(self, group: Iterable[Hashable], variance: Number = 1) -> list[int]:
        """Noises of a group that add up to 0, each known to its node.

        Parameters
        ----------
        group : iterable of hashable
            The nodes.
        variance : number, optional
            Of each, in units of the square of ``sigma``.

        Returns
        -------
        list of int
        """
        return self._changed().zero_sum([self._index(v) for v in group], _number(variance))

    def noise_over_time(
        self, node: Hashable, rows: Iterable[Iterable[Number]], variance: Number = 1
    ) -> list[int]:
        """Noises of a node at several times: row t says which independent noises make the one of time t.

        Parameters
        ----------
        node : hashable
            Who draws them.
        rows : iterable of iterables of numbers
            Lower triangular.
        variance : number, optional
            Of the independent noises, in units of the square of ``sigma``.

        Returns
        -------
        list of int
        """
        return self._changed().noise_over_time(self._index(node), _table(rows), _number(variance))

    def combine(self, terms: Mapping[int, Number] | Iterable[tuple[Number, int]]) -> int:
        """A weighted sum of values.

        Parameters
        ----------
        terms : mapping or iterable of pairs
            The weight of each value, or pairs of a weight and a value.

        Returns
        -------
        int
        """
        pairs = [(w, v) for v, w in terms.items()] if isinstance(terms, Mapping) else list(terms)
        return self._changed().combine([(_number(weight), value) for weight, value in pairs])

    def add(self, *values: int) -> int:
        """The sum of values.

        Parameters
        ----------
        *values : int
            The values.

        Returns
        -------
        int
        """
        return self._changed().combine([(1, value) for value in values])

    def add_all(self, a: Sequence[int], b: Sequence[int]) -> list[int]:
        """Sums of values, one by one.

        Parameters
        ----------
        a, b : sequence of int
            Of the same length.

        Returns
        -------
        list of int
        """
        if len(a) != len(b):
            raise NdpError(f"the values to add must be as many, got {len(a)} and {len(b)}")
        return [self.add(x, y) for x, y in zip(a, b)]

    def gossip(self, values: Sequence[int], weights: Any = None, laziness: float = 0.0) -> list[int]:
        """The means that every node takes of its neighbors' values, with a gossip matrix of the graph.

        Parameters
        ----------
        values : sequence of int
            One for each node.
        weights, laziness
            As in `ndp.gossip`.

        Returns
        -------
        list of int
        """
        matrix = _matrix(self._network(), weights, laziness)
        return self._changed().gossip(matrix, list(values))

    def send(self, source: Hashable, to: Hashable, value: int) -> None:
        """Sends a value from a node to another.

        Parameters
        ----------
        source, to : hashable
            The nodes.
        value : int
            What is sent.
        """
        self._changed().send(self._index(source), self._index(to), value)

    def send_to_neighbors(self, values: Sequence[int]) -> None:
        """Every node sends its value to all its neighbors.

        Parameters
        ----------
        values : sequence of int
            One for each node.
        """
        self._changed().send_to_neighbors(self._network()._native, list(values))

    def broadcast(self, source: Hashable, value: int) -> None:
        """Sends a value from a node to all others.

        Parameters
        ----------
        source : hashable
            Who sends.
        value : int
            What is sent.
        """
        self._changed().broadcast(self._index(source), value)

    def publish(self, value: int) -> None:
        """Shows a value to everybody, outsiders too.

        Parameters
        ----------
        value : int
            What is shown.
        """
        self._changed().publish(value)

    def secure_sum(self, to: Hashable, addends: Iterable[tuple[Hashable, Number, int]]) -> int:
        """A weighted sum that a node sees, and nothing of the addends.

        Parameters
        ----------
        to : hashable
            Who sees the sum.
        addends : iterable of (node, weight, value)
            Who gives what, with which weight.

        Returns
        -------
        int
        """
        given = [(self._index(v), _number(weight), value) for v, weight, value in addends]
        return self._changed().secure_sum(self._index(to), given)

    def join(self, node: Hashable) -> None:
        """A node takes part from here on.

        Parameters
        ----------
        node : hashable
            Who joins.
        """
        self._changed().join(self._index(node))

    def leave(self, node: Hashable) -> None:
        """A node takes no part from here on.

        Parameters
        ----------
        node : hashable
            Who leaves.
        """
        self._changed().leave(self._index(node))

    def uses(self, node: Hashable) -> int:
        """How often a node contributes.

        Parameters
        ----------
        node : hashable
            Its label.

        Returns
        -------
        int
        """
        return self._program.uses(self._index(node))


def _published(
    name: str,
    graph: GraphLike,
    sensitivity: str | Sensitivity | None,
    *,
    weight: str | bool | None = None,
    weights: Any = None,
    numbers: Sequence[Number] = (),
    count: int = 1,
    groups: Sequence[Sequence[int]] = (),
    rows: Sequence[Sequence[Number]] = (),
) -> Program:
    network = Graph(graph, weight=weight)
    parts = ([_number(x) for x in numbers], count, [list(group) for group in groups], _table(rows))
    native = _ndp.Program.published(name, network._native, _matrix(network, weights, 0.0), *parts)
    return Program._of(native, network, sensitivity, f"the program {name}")


def decor(graph: GraphLike, own: Number = 1, shared: Number = 1, steps: int = 1, sensitivity: str | Sensitivity | None = None) -> Program:
    """DECOR: own noise and pairwise cancelling noise on every edge, broadcast in every step.

    Parameters
    ----------
    graph : graph-like
        As in `ndp.gossip`.
    own, shared : number, optional
        Variances of the own noise and of the noise of an edge.
    steps : int, optional
        How often everybody broadcasts.
    sensitivity : str or Sensitivity, optional
        As in `Program`.

    Returns
    -------
    Program

    References
    ----------
    Allouah et al., *The privacy power of correlated noise in decentralized learning*, ICML 2024.

    Examples
    --------
    >>> import ndp
    >>> p = ndp.programs.decor(([0, 1, 2, 3, 4], [1, 2, 3, 4, 0]))
    >>> round(float(p.account(coalition=[], tapped=[(0, 1)]).profile(2, sigma=1.0).mu) ** 2, 3) > 0
    True
    """
    return _published("decor", graph, sensitivity, numbers=(own, shared), count=_rounds(steps, "steps"))


def corn_dsgd(
    graph: GraphLike,
    covariance: Sequence[Sequence[Number]],
    rounds: int,
    sensitivity: str | Sensitivity | None = None,
    *,
    weight: str | bool | None = None,
    weights: Any = None,
) -> Program:
    """Decentralized SGD with noise of a chosen covariance in every round.

    Parameters
    ----------
    graph, weight, weights
        As in `ndp.gossip`.
    covariance : sequence of sequences of numbers
        Of the noises of the nodes.
    rounds : int
        Number of rounds.
    sensitivity : str or Sensitivity, optional
        As in `Program`.

    Returns
    -------
    Program

    Examples
    --------
    >>> import ndp
    >>> p = ndp.programs.corn_dsgd(([0], [1]), [[1, 0], [0, 1]], rounds=2)
    >>> p.uses(0)
    1
    """
    options = {"weight": weight, "weights": weights, "count": _rounds(rounds), "rows": covariance}
    return _published("corn_dsgd", graph, sensitivity, **options)


def zip_dl(graph: GraphLike, own: Number = 1, mask: Number = 1, sensitivity: str | Sensitivity | None = None) -> Program:
    """ZIP-DL: own noise, and masks that cancel over a node's own messages.

    Parameters
    ----------
    graph : graph-like
        As in `ndp.gossip`.
    own, mask : number, optional
        Variances of the own noise and of the masks.
    sensitivity : str or Sensitivity, optional
        As in `Program`.

    Returns
    -------
    Program

    Examples
    --------
    >>> import ndp
    >>> p = ndp.programs.zip_dl(([0, 1, 2], [1, 2, 0]))
    >>> bool(p.account(observer=0).profile(1, sigma=1.0).mu < 1.0)
    True
    """
    return _published("zip_dl", graph, sensitivity, numbers=(own, mask))


def gopa(
    graph: GraphLike,
    own: Number = 1,
    mask: Number = 1,
    silent: Iterable[Hashable] = (),
    sensitivity: str | Sensitivity | None = None,
) -> Program:
    """GOPA: pairwise masks that cancel, own noise, some nodes silent.

    Parameters
    ----------
    graph : graph-like
        As in `ndp.gossip`.
    own, mask : number, optional
        Variances of the own noise and of a mask.
    silent : iterable of hashable, optional
        Who drops out after the masks were drawn.
    sensitivity : str or Sensitivity, optional
        As in `Program`.

    Returns
    -------
    Program

    References
    ----------
    Sabater, Bellet, Ramon, *An accurate, scalable and verifiable protocol for federated differentially private averaging*,
    Machine Learning 2022.

    Examples
    --------
    >>> import ndp
    >>> p = ndp.programs.gopa(([0, 1, 2], [1, 2, 0]), mask=10)
    >>> bool(p.account(observer=0).profile(1, sigma=1.0).mu < 1.0)
    True
    """
    network = Graph(graph)
    away = [network.index(v) for v in silent]
    return _published("gopa", network, sensitivity, numbers=(own, mask), groups=[away])


def dsgd(
    graph: GraphLike,
    steps: int,
    sensitivity: str | Sensitivity | None = None,
    *,
    sends: int = 1,
    noise: Sequence[Sequence[Number]] = (),
    weight: str | bool | None = None,
    weights: Any = None,
) -> Program:
    """Decentralized SGD: in every step a contribution and a noise, then the model is sent and mixed.

    Contributions that depend on models which the observer does not see are not covered: state such a program step by step and
    say what they read.

    Parameters
    ----------
    graph, weight, weights
        As in `ndp.gossip`.
    steps : int
        Number of steps.
    sensitivity : str or Sensitivity, optional
        As in `Program`.
    sends : int, optional
        Times that a step sends and mixes.
    noise : sequence of sequences of numbers, optional
        Which independent noises make the noise of each step: lower triangular; the identity by default.

    Returns
    -------
    Program

    References
    ----------
    Bellet, Cyffers, Davidson, Dupré la Tour, Kulkarni, *Matrix factorization for decentralized learning*, 2025,
    arXiv:2510.17480.

    Examples
    --------
    >>> import ndp
    >>> p = ndp.programs.dsgd(([0, 1], [1, 2]), steps=3, sensitivity="same_direction")
    >>> round(float(p.account(observer=2).profile(0, sigma=1.0).mu) ** 2, 6) == round(9 / 26, 6)
    True
    """
    options = {"weight": weight, "weights": weights, "count": _rounds(steps, "steps"), "rows": noise}
    return _published("dsgd", graph, sensitivity, groups=[[_rounds(sends, "sends")]], **options)


def secure_neighbor_sums(
    graph: GraphLike,
    rounds: int,
    sensitivity: str | Sensitivity | None = None,
    *,
    weight: str | bool | None = None,
    weights: Any = None,
) -> Program:
    """Gossip in which every node sees the weighted sum of its neighbors alone.

    Parameters
    ----------
    graph, rounds, weight, weights
        As in `ndp.gossip`.
    sensitivity : str or Sensitivity, optional
        As in `Program`.

    Returns
    -------
    Program

    Examples
    --------
    >>> import ndp
    >>> p = ndp.programs.secure_neighbor_sums(([0, 1], [1, 2]), rounds=1)
    >>> bool(p.account(observer=1).profile(0, sigma=1.0).mu < 1.0)
    True
    """
    options = {"weight": weight, "weights": weights, "count": _rounds(rounds)}
    return _published("secure_neighbor_sums", graph, sensitivity, **options)


def hierarchical(
    groups: Sequence[Sequence[int]],
    own: Number = 1,
    leaders: Number = 0,
    sensitivity: str | Sensitivity | None = None,
) -> Program:
    """Secure sums within groups, then of groups.

    Parameters
    ----------
    groups : sequence of sequences of int
        Nodes 0, 1, ..., each in one group.
    own, leaders : number, optional
        Variances of the noise of a node and of a leader.
    sensitivity : str or Sensitivity, optional
        As in `Program`.

    Returns
    -------
    Program

    Examples
    --------
    >>> import ndp
    >>> p = ndp.programs.hierarchical([[0, 1, 2], [3, 4, 5]])
    >>> bool(p.account(observer=3).profile(0, sigma=1.0).mu < 1.0)
    True
    """
    count = sum(len(group) for group in groups)
    network = Graph(([], []), nodes=count)
    return _published("hierarchical", network, sensitivity, numbers=(own, leaders), groups=groups)
