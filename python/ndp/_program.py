"""A protocol of one's own, stated step by step."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _ndp
from ._account import Account
from ._grades import number_of, target_of
from ._graph import Graph, GraphLike, _matrix, real
from ._ndp import NdpError
from ._program_account import (
    Attack,
    Designed,
    NoiseShift,
    Options,
    Number,
    ProgramAccount,
    ProgramRun,
    Sensitivity,
    _number,
    _sensitivity,
    _table,
    _weighted,
)
from ._checks import _count, _listed, _mapping, _read, _same, _seed, _several
from ._protocols import Protocol


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
    hidden : str, optional
        What to do about contributions that read what an observer has not seen: ``"as_declared"`` shows it what is declared as
        hidden, which gives an upper bound; ``"reveal"`` whatever is read; ``"refuse"`` refuses them.
    directions : mapping, optional
        For nodes of whose uses something leaks: changes of the uses whose losses are wanted for themselves, a list for each.
    asked : iterable of hashable, optional
        The nodes that are asked about; all by default. A large program takes less work for a few.
    memory_limit, precision_limit : int, optional
        The most bytes an account may take, and the most bits of a number.
    some_lost : bool, optional
        Whether messages may not reach the observer, independently of data and noises: the account counts all of them, as an upper bound.
        What the other nodes compute and send is as if all had arrived; a sum that goes on without an addend lacks its noise, and is
        another program.

    Examples
    --------
    >>> import ndp
    >>> p = ndp.Program(([0, 1], [1, 2]))
    >>> y = p.add_all(p.contribute_all("nothing"), p.noise_all(variance=1))
    >>> for _ in range(2):
    ...     p.send_to_neighbors(y)
    ...     y = p.gossip(y)
    >>> ndp.audit(p, pair=(0, 2), runs=10_000).refuted
    False
    """

    # The program as accounts and ledgers keep it, with the steps so far.
    _lent: Program | None = None

    def __init__(
        self,
        graph: GraphLike | int,
        sensitivity: str | Sensitivity | None = None,
        *,
        weight: str | bool | None = None,
        hidden: str = "as_declared",
        directions: Mapping[Hashable, Iterable[Iterable[Number]]] | None = None,
        asked: Iterable[Hashable] | None = None,
        memory_limit: int | None = None,
        precision_limit: int | None = None,
        some_lost: bool = False,
    ) -> None:
        nodes: Graph | range
        if isinstance(graph, (int, np.integer)) and not isinstance(graph, bool):
            if graph < 1:
                raise NdpError(f"the number of nodes must be at least 1, got {graph}")
            nodes = range(int(graph))
        else:
            nodes = Graph(graph, weight=weight)
        chosen = None if sensitivity is None else _sensitivity(sensitivity)
        limits = tuple(None if x is None else _count(x, "a limit") for x in (memory_limit, precision_limit))
        super().__init__(nodes, "a program", sensitivity=chosen, limits=limits, hidden=str(hidden))
        self._program = _ndp.Program(len(self.nodes))
        named = [] if directions is None else list(_mapping(directions, "directions").items())
        self._parameters["directions"] = [(self._index(v), [_number(x) for x in row]) for v, rows in named for row in rows]
        self._parameters["some_lost"] = bool(some_lost)
        self._parameters["asked"] = None if asked is None else [self._index(v) for v in _listed(asked, "asked")]

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        graph: GraphLike | None = None,
        sensitivity: str | Sensitivity | None = None,
        **options: Any,
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
        **options
            The other options of `Program`.

        Returns
        -------
        Program
        """
        with open(path, "rb") as file:
            return cls._of(_ndp.Program.read(file.read()), graph, sensitivity, **options)

    @classmethod
    def _of(
        cls,
        native: _ndp.Program,
        graph: GraphLike | None,
        sensitivity: str | Sensitivity | None,
        words: str = "a program",
        **options: Any,
    ) -> Program:
        count = native.node_count()
        made = cls(count if graph is None else graph, sensitivity, **options)
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
        return {**self.__dict__, "_cache": None, "_program": self._program.write(), "_lent": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _program=_ndp.Program.read(state["_program"]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        same = list(self.nodes) == list(other.nodes) and _same(self._parameters, other._parameters)
        return same and self._program.write() == other._program.write()

    __hash__ = None  # type: ignore[assignment]

    def _chosen(self) -> Sensitivity:
        chosen: Sensitivity | None = self._parameters["sensitivity"]
        if chosen is None:
            most = max(self._program.uses(u) for u in range(len(self.nodes)))
            if most > 1:
                raise NdpError(f"a node contributes {most} times: say what neighboring inputs are, sensitivity=\"use_level\", say")
            chosen = Sensitivity()
        return chosen

    def _options(self) -> Options:
        p = self._parameters
        memory, bits = p["limits"]
        return memory, bits, p["hidden"], p["directions"], p["asked"], p.get("some_lost", False)

    def _build(self) -> _ndp.Protocol:
        return self._program.declared(self._chosen()._native(), self._options())

    @overload
    def account(
        self,
        observer: Hashable | None = None,
        *,
        coalition: Iterable[Hashable] | None = None,
        own_noise: bool = True,
        hidden_senders: bool = False,
        tapped: Iterable[tuple[Hashable, Hashable]] = (),
        patience: None = None,
    ) -> ProgramAccount: ...

    @overload
    def account(
        self,
        observer: Hashable | None = None,
        *,
        coalition: Iterable[Hashable] | None = None,
        own_noise: bool = True,
        hidden_senders: bool = False,
        tapped: Iterable[tuple[Hashable, Hashable]] = (),
        patience: float | None = None,
    ) -> Account: ...

    def account(
        self,
        observer: Hashable | None = None,
        *,
        coalition: Iterable[Hashable] | None = None,
        own_noise: bool = True,
        hidden_senders: bool = False,
        tapped: Iterable[tuple[Hashable, Hashable]] = (),
        patience: float | None = None,
    ) -> Account:
        """What an observer sees of the program: as `Protocol.account`, with verdicts, Gram matrices and witnesses beside.

        Parameters
        ----------
        observer, coalition, own_noise, hidden_senders, tapped
            As in `Protocol.account`; an empty coalition is an outsider, who sees what is broadcast or published.
        patience : float, optional
            As in `Protocol.account`; the answer is then an `Account`, without what only programs have.

        Returns
        -------
        ProgramAccount
        """
        if patience is not None:
            return super().account(
                observer, coalition=coalition, own_noise=own_noise, hidden_senders=hidden_senders, tapped=tapped, patience=patience
            )
        return ProgramAccount(self, self._who(observer, coalition, own_noise, hidden_senders, tapped))

    def check_attack(
        self,
        attack: Attack,
        observer: Hashable | None = None,
        *,
        coalition: Iterable[Hashable] | None = None,
        own_noise: bool = True,
        hidden_senders: bool = False,
        tapped: Iterable[tuple[Hashable, Hashable]] = (),
    ) -> Fraction | float:
        """The loss that a combination of messages proves at least, exactly; infinite where it shows the change without noise.

        Parameters
        ----------
        attack : Attack
            Found by `ProgramAccount.witnesses`, or by anybody else.
        observer, coalition, own_noise, hidden_senders, tapped
            As in `account`, for the same observer.

        Returns
        -------
        fractions.Fraction or float

        Raises
        ------
        NdpError
            For a value that this observer does not see.
        """
        change = [_number(x) for x in attack.change]
        who = self._who(observer, coalition, own_noise, hidden_senders, tapped)
        found = _ndp.check_attack(self._program, who, self._index(attack.source), change, _weighted(attack.combination))
        return math.inf if found is None else Fraction(found)

    def check_shift(
        self,
        shift: NoiseShift,
        observer: Hashable | None = None,
        *,
        coalition: Iterable[Hashable] | None = None,
        own_noise: bool = True,
        hidden_senders: bool = False,
        tapped: Iterable[tuple[Hashable, Hashable]] = (),
    ) -> Fraction:
        """The loss of a change that a shift of noises proves at most, exactly.

        Parameters
        ----------
        shift : NoiseShift
            Found by `ProgramAccount.witnesses`, or by anybody else.
        observer, coalition, own_noise, hidden_senders, tapped
            As in `account`, for the same observer.

        Returns
        -------
        fractions.Fraction

        Raises
        ------
        NdpError
            Where the shift and the change look different in some message, or a noise is shifted that the observer knows.
        """
        change = [_number(x) for x in shift.change]
        who = self._who(observer, coalition, own_noise, hidden_senders, tapped)
        return Fraction(_ndp.check_shift(self._program, who, self._index(shift.source), change, _weighted(shift.noises)))

    def run(  # type: ignore[override]
        self,
        values: ArrayLike | Callable[[Hashable, int, Any], ArrayLike],
        sigma: float,
        seed: int,
        dimension: int | None = None,
    ) -> ProgramRun:
        """Runs the program on real values.

        Parameters
        ----------
        values : array_like or callable
            What nodes contribute: a number, or a row of numbers, for each node, the same in every use; or a function of the node, the
            number of its use and the run so far (``run[value]`` is an array), asked whenever a contribution is due. It may look at any
            earlier value; the account holds where it uses those alone that its contribution was declared to read.
        sigma : float
            Standard deviation of a noise of variance 1.
        seed : int
            The same seed gives the same run: whoever knows it knows the noise.
        dimension : int, optional
            Length of the vectors, for a function; 1 by default. Changes by ``"signs"`` are of numbers, those by ``"vectors"`` have
            the dimension that was declared: longer vectors are refused.

        Returns
        -------
        ProgramRun

        Examples
        --------
        >>> import ndp
        >>> p = ndp.Program(2)
        >>> y = p.add(p.contribute(0, "nothing"), p.noise(0))
        >>> z = p.contribute(1, reads="seen", values=[y])
        >>> p.send(0, 1, y)
        >>> run = p.run(lambda node, use, so_far: [5.0] if node == 0 else 2 * so_far[y], sigma=1e-6, seed=1)
        >>> round(float(run[z][0]), 4)
        10.0
        """
        labels, flat = self.nodes, False
        if callable(values):
            asked = values
            width = 1 if dimension is None else _count(dimension, "dimension")
        else:
            if dimension is not None:
                raise NdpError("the dimension is that of the values: give it with a function")
            table, flat = self._values(values)
            if len(table) != len(labels):
                raise NdpError(f"values needs one row for each of the {len(labels)} nodes, got {len(table)}")
            if not np.isfinite(table).all():
                raise NdpError("all values must be finite")
            width = table.shape[1]
        chosen = self._parameters["sensitivity"] or Sensitivity()
        if chosen.kind == "vectors" and chosen.dimension is None:
            raise NdpError(f"this sensitivity needs dimension=: Sensitivity('vectors', dimension={width})")
        room = {"signs": 1, "vectors": chosen.dimension}.get(chosen.kind.replace("-", "_"))
        if room is not None and width > room:
            raise NdpError(
                f"values of {width} coordinates may change in more ways than the account is about ({chosen.kind}, {_several(room, 'coordinate')}): "
                f"declare Sensitivity('vectors', dimension={width})"
            )

        def contribution(node: int, use: int, so_far: Any) -> NDArray[np.float64]:
            if not callable(values):
                row: NDArray[np.float64] = table[node]
                return row
            given = real(asked(labels[node], use, so_far), "a contribution")
            if given.shape not in ((width,), ()) or (given.shape == () and width > 1):
                raise NdpError(f"a contribution has {width} coordinates, got an array of shape {given.shape}")
            if not np.isfinite(given).all():
                raise NdpError(f"contribution {use} of node {labels[node]!r} is not finite")
            return np.ascontiguousarray(given.reshape(width))

        return ProgramRun(_ndp.run_program(self._program, width, number_of(sigma, "sigma"), contribution, _seed(seed)), flat)

    @property
    def value_count(self) -> int:
        """Number of values made so far."""
        return self._program.value_count()

    def _network(self) -> Graph:
        if not isinstance(self.graph, Graph):
            raise NdpError("this program was made without a graph: it has no neighbors")
        return self.graph

    def _kept(self) -> Program:
        if self._lent is None:
            self._lent = Program.__new__(type(self))
            self._lent.__dict__.update(self.__dict__, _lent=None)
        return self._lent

    def _changed(self) -> _ndp.Program:
        self._cache = None
        if self._lent is not None:
            # What was kept keeps the steps so far, and the next ones are of another.
            self._program, self._lent = self._program.copy(), None
        return self._program

    def contribute(self, node: Hashable, reads: str, values: Iterable[int] | None = None) -> int:
        """A contribution of a node: a vector that depends on its data, in units of the sensitivity.

        Parameters
        ----------
        node : hashable
            Who contributes.
        reads : str
            What else it depends on: ``"nothing"``, ``"seen"`` (values that the observer has seen) or ``"hidden"``. There is no
            default: a gradient at a model that was received reads this model, and ``"nothing"`` would promise too much.
        values : iterable of int, optional
            Which values it reads; without a list what is ``"seen"`` is an assumption, and what is ``"hidden"`` has no bound.

        Returns
        -------
        int
        """
        read = _read(reads, values)
        return self._changed().contribute(self._index(node), read)

    def contribute_all(self, reads: str, values: Iterable[int] | None = None) -> list[int]:
        """A contribution of every node, as in `contribute`.

        Parameters
        ----------
        reads : str
            As in `contribute`: there is no default.
        values : iterable of int, optional
            As in `contribute`.

        Returns
        -------
        list of int
        """
        read = _read(reads, values)
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
        return self._changed().shared_noise([self._index(v) for v in _listed(holders, "holders")], _number(variance))

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
        return self._changed().correlated([self._index(v) for v in _listed(group, "group")], _table(covariance))

    def zero_sum(self, group: Iterable[Hashable], variance: Number = 1) -> list[int]:
        """Noises of a group that add up to 0, each known to its node: their covariance is ``variance * (I - J / m)``.

        ``m`` is their number and ``J`` has all entries 1, so that the variance of each is ``variance * (1 - 1/m)``.

        Parameters
        ----------
        group : iterable of hashable
            The nodes; one that is named several times holds as many of the noises.
        variance : number, optional
            Of each before their mean is taken off, in units of the square of ``sigma``.

        Returns
        -------
        list of int
        """
        return self._changed().zero_sum([self._index(v) for v in _listed(group, "group")], _number(variance))

    def zero_sum_of(self, node: Hashable, count: int, variance: Number = 1) -> list[int]:
        """Noises that add up to 0, all drawn by one node: the variance of each is ``variance * (1 - 1/count)``, as in `zero_sum`.

        Parameters
        ----------
        node : hashable
            Who draws them.
        count : int
            How many, at least 2.
        variance : number, optional
            Of each before their mean is taken off, in units of the square of ``sigma``.

        Returns
        -------
        list of int
        """
        return self._changed().zero_sum_of(self._index(node), _count(count, "count"), _number(variance))

    def noise_over_time(
        self, node: Hashable, rows: Iterable[Iterable[Number]], variance: Number = 1
    ) -> list[int]:
        """Noises of a node at several times: row t says which independent noises make the one of time t.

        Parameters
        ----------
        node : hashable
            Who draws them.
        rows : iterable of iterables of numbers
            Lower triangular; for a noise matrix in the sense of matrix factorization those of its inverse (`inverse_of_lower`).
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

    def mix(self, values: Sequence[int], rows: Mapping[Hashable, Mapping[Hashable, Number]]) -> list[int]:
        """What every node makes of everybody's values, with exact weights that need be neither symmetric nor means.

        Parameters
        ----------
        values : sequence of int
            One for each node.
        rows : mapping
            For each node the weights of the nodes whose values it takes; a node without a row keeps its value.

        Returns
        -------
        list of int

        Examples
        --------
        >>> import ndp
        >>> p = ndp.Program(2)
        >>> y = p.add_all(p.contribute_all("nothing"), p.noise_all())
        >>> p.send(0, 1, p.mix(y, {0: {0: "1/3", 1: "2/3"}})[0])
        >>> round(float(p.account(observer=1).profile(0, sigma=1.0).mu), 9)
        1.0
        """
        given = {v: _mapping(row, "a row of weights") for v, row in _mapping(rows, "rows").items()}
        taken = {self._index(v): [(self._index(w), _number(x)) for w, x in row.items()] for v, row in given.items()}
        whole: list[list[tuple[int, int | float | str]]] = [taken.get(u, [(u, 1)]) for u in range(len(self.nodes))]
        return self._changed().mix(whole, list(values))

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
        """Sends a value from a node to everybody, outsiders included.

        Parameters
        ----------
        source : hashable
            Who sends.
        value : int
            What is sent.
        """
        self._changed().broadcast(self._index(source), value)

    def broadcast_all(self, values: Sequence[int]) -> None:
        """Every node sends its value to all others, and outsiders see it.

        Parameters
        ----------
        values : sequence of int
            One for each node.
        """
        if len(values) != len(self.nodes):
            raise NdpError(f"values needs one entry for each of the {len(self.nodes)} nodes, got {len(values)}")
        for node, value in zip(self.nodes, values):
            self.broadcast(node, value)

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

    def result(self, ends: Mapping[Hashable, int]) -> None:
        """What nodes end with: `error_bound` then says how far that is from the mean of all contributions.

        Parameters
        ----------
        ends : mapping
            A value for each node that ends with one.

        Raises
        ------
        NdpError
            For a node that has a result already.

        Examples
        --------
        >>> import ndp
        >>> p = ndp.Program(2)
        >>> y = p.add_all(p.contribute_all("nothing"), p.noise_all())
        >>> p.broadcast_all(y)
        >>> mean = p.combine({y[0]: "1/2", y[1]: "1/2"})
        >>> p.result({0: mean, 1: mean})
        >>> round(float(p.error_bound(sigma=2.0)), 4)
        1.4142
        """
        self._changed().result([(self._index(v), value) for v, value in ends.items()])

    def check_holdings(self) -> None:
        """Refuses a program in which a node sends, mixes or ends with what it cannot form from what it holds.

        Raises
        ------
        NdpError
            With the node and the value. An account does not need this: it is that of the messages as they are said.

        Examples
        --------
        >>> import ndp
        >>> p = ndp.Program(2)
        >>> y = p.add_all(p.contribute_all("nothing"), p.noise_all())
        >>> p.result({0: p.add(*y)})
        >>> p.check_holdings()
        Traceback (most recent call last):
        ndp.NdpError: ...
        """
        self._program.check_holdings()

    def design(
        self,
        groups: Sequence[Iterable[int]],
        worst: Any = None,
        *,
        mean: float | None = None,
        observers: Iterable[Hashable] | None = None,
        prices: Sequence[float] | None = None,
        floors: Sequence[float] | None = None,
        tolerance: float = 1e-3,
        steps: int = 300,
    ) -> Designed:
        """The strengths of noises that make the error of the `result` least under a limit on what observers learn.

        A strength multiplies the variances of the noises of its group: rounds of a schedule, own noise and masks. The problem is convex,
        and the answer carries a lower bound on what any strengths cost.

        Parameters
        ----------
        groups : sequence of iterables of int
            Values that noises are made of; each noise belongs to one group.
        worst : float or tuple
            The largest ``mu`` that any observer may have about any node, where sigma and sensitivity are 1; or ``(epsilon, delta)``.
        mean : float, optional
            In place of it: the mean of ``mu**2`` over all pairs.
        observers : iterable of hashable, optional
            Who observes, each alone, lists being coalitions; by default every node.
        prices, floors : sequence of float, optional
            What a unit of each strength costs beside its share in the error, and its least value. Masks that cancel cost nothing in the
            error, and need a price.
        tolerance : float, optional
            The search stops when the cost is within this factor (minus 1) of its lower bound.
        steps : int, optional
            After so many steps in any case.

        Returns
        -------
        Designed

        Examples
        --------
        >>> import ndp
        >>> p = ndp.Program(2)
        >>> z = p.noise_all()
        >>> y = p.add_all(p.contribute_all("nothing"), z)
        >>> p.broadcast_all(y)
        >>> mean = p.combine({y[0]: "1/2", y[1]: "1/2"})
        >>> p.result({0: mean, 1: mean})
        >>> found = p.design([[z[0]], [z[1]]], worst=0.5, floors=[9.0, 0.0])
        >>> [round(x, 1) for x in found.strengths], bool(found.loss <= 0.25)
        ([9.0, 4.0], True)
        """
        if (worst is None) == (mean is None):
            raise NdpError("give one limit: worst= or mean=")
        if isinstance(worst, tuple):
            if len(worst) != 2:
                raise NdpError(f"a limit is (epsilon, delta), got {len(worst)} numbers")
            worst = _ndp.gaussian_mu(*target_of(worst))
        limit = number_of(worst, "mu") if mean is None else number_of(mean, "mean of mu**2")
        if not 0.0 < limit < math.inf:
            raise NdpError(f"a limit must be positive and finite, got {limit}")
        if mean is None:
            # Rounded down: what keeps the smaller limit keeps this one, too.
            limit = math.nextafter(limit * limit, 0.0)
        who = self._observers(observers)
        asked = self._parameters["asked"]
        pairs = [(one, [u for u in (range(len(self.nodes)) if asked is None else asked) if u not in one[0]]) for one in who]
        given = ([list(group) for group in groups], None if prices is None else [float(x) for x in prices])
        asking = (*given, None if floors is None else [float(x) for x in floors])
        allowed = (limit, mean is not None, number_of(tolerance, "tolerance"), _count(steps, "steps"))
        found = _ndp.design_noises(self._program, asking, pairs, self._chosen()._native(), allowed)
        program = Program.__new__(Program)
        program.__dict__.update(self.__dict__, _parameters=dict(self._parameters), _cache=None, _program=found[0], _lent=None)
        return Designed(program, *found[1:])

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
