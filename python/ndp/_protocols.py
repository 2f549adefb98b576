"""Protocols on a graph: gossip with noise at the start, on messages, or fresh in every round."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _ndp
from ._account import Account, Who
from ._checks import Progress, _count, _held, _listed, _reporter, _rounds, _seed, _several, _told
from ._grades import Guarantee, UpperBound, number_of, scales_of
from ._graph import Graph, GraphLike, OnNodes, _matrix, real
from ._losses import Losses, PairwiseLosses
from ._ndp import NdpError
from ._prove import Origin
from ._statement import names_of


#: The most bytes that one answer may take.
_MEMORY = 16 << 30


class Run(NamedTuple):
    """A run of a protocol on real values; arrays have a row for each node, in the order of the labels."""

    #: What every node ends with.
    output: NDArray[np.float64]
    #: The noise that every node added to its value.
    noise: NDArray[np.float64]
    #: The states of all nodes before each round. This is not a transcript of messages: nodes that send nothing in a round are in it,
    #: and the noise of messages, which their receivers see, is not. With momentum: just before each ring.
    messages: list[NDArray[np.float64]]
    #: What was drawn after the first noise: noise of later rounds; or the noise of messages, in units of ``ratio * sigma``, one row a
    #: node, or a link ``w`` to ``a`` in the order of ``a``, then of ``w``.
    later_noises: list[NDArray[np.float64]]


class Protocol(OnNodes):
    """A protocol whose observers see linear combinations of Gaussians; made by `gossip` and its like.

    Two protocols with the same parameters are equal, and every protocol pickles.
    """

    _cache: _ndp.Protocol | None

    def __init__(self, graph: Graph | Sequence[Hashable], words: str, **parameters: Any) -> None:
        self.graph = graph
        self.words = words
        self._parameters = _held(parameters)
        self._cache = None

    def _build(self) -> _ndp.Protocol:
        raise NotImplementedError

    @property
    def _native(self) -> _ndp.Protocol:
        if self._cache is None:
            self._cache = self._build()
        return self._cache

    def _made(self) -> _ndp.Protocol | Callable[[], _ndp.Protocol] | tuple[_ndp.Matrix, str, list[tuple[str, float]]]:
        """What was made before, or how to make it; then nothing is kept."""
        return self._build if self._cache is None else self._cache

    def _kept(self) -> Protocol:
        """The protocol as it is now, for what must answer by it later: steps can be added to a program."""
        return self

    def _index(self, node: Hashable) -> int:
        if isinstance(self.graph, Graph):
            return self.graph.index(node)
        if isinstance(node, (int, np.integer)) and not isinstance(node, bool) and node in self.graph:
            return int(node)
        raise NdpError(f"node {node!r} is not one of the {len(self.graph)} nodes, 0 to {len(self.graph) - 1}")

    def _who(
        self,
        observer: Hashable | None,
        coalition: Iterable[Hashable] | None = None,
        own_noise: bool = True,
        hidden_senders: bool = False,
        tapped: Iterable[tuple[Hashable, Hashable]] = (),
    ) -> Who:
        edges = [(self._index(u), self._index(v)) for u, v in tapped]
        if observer is not None and coalition is not None:
            raise NdpError("give an observer or a coalition, not both")
        if observer is None and coalition is None and not edges:
            raise NdpError("say who observes: observer=label, or coalition=[labels]")
        chosen = _listed(coalition, "coalition") if coalition is not None else (() if observer is None else (observer,))
        members = sorted(self._index(v) for v in chosen)
        return members, bool(own_noise), bool(hidden_senders), edges

    def losses(
        self,
        observer: Hashable | None = None,
        *,
        coalition: Iterable[Hashable] | None = None,
        own_noise: bool = True,
    ) -> Losses:
        """What an observer, or a coalition, learns about every node, as unit losses.

        The observer is honest but curious: it follows the protocol, sees every message of its neighbors, knows the graph and
        the weights, and its own noise.

        Parameters
        ----------
        observer : hashable, optional
            The label of a node.
        coalition : iterable of hashable, optional
            In place of it: nodes that pool what they see and what they drew.
        own_noise : bool, optional
            False for observers who throw away the noise they drew: weaker than a real node, for comparison with papers.

        Returns
        -------
        Losses
            ``Exact`` where every loss is enclosed to a relative ``1e-9``, otherwise an ``UpperBound``.

        Raises
        ------
        NdpError
            For a label that is no node, an empty coalition, a node given twice; for a protocol whose losses are no unit losses,
            which `account` answers for.

        Examples
        --------
        >>> import ndp
        >>> p = ndp.gossip(([0, 1, 2], [1, 2, 3]), rounds=3)
        >>> p.losses(observer=0).unit.round(4)
        array([1., 1., 1., 1.])
        >>> p.losses(coalition=[0, 3]).rank
        4
        """
        parts = self._native.losses([self._who(observer, coalition, own_noise)], names_of(self.nodes))
        return Losses(self.graph, self.words, parts, Origin(self, own_noise))

    def all_losses(
        self,
        observers: Iterable[Hashable] | None = None,
        *,
        coalition_size: int | None = None,
        neighbors: int | None = None,
        own_noise: bool = True,
        progress: Progress = False,
    ) -> PairwiseLosses:
        """What each of several observers learns about every node, as unit losses.

        Parameters
        ----------
        observers : iterable of hashable, optional
            Their labels, each alone, lists being coalitions; all nodes by default.
        coalition_size, neighbors : int, optional
            In place of them: every coalition of at most so many nodes, or of so many neighbors of one and the same node, by the largest
            ones, which learn most. Of more than 10,000 nothing is listed: `least_noise` and `check` cover them by a bound.
        own_noise : bool, optional
            As in `losses`.
        progress : bool or callable, optional
            True for a line on standard error, or a function of the number of observers done and of all.

        Returns
        -------
        PairwiseLosses

        Examples
        --------
        >>> import ndp
        >>> ndp.gossip(([0, 1], [1, 2]), rounds=1).all_losses().max
        Exact(1, 'unit loss')
        """
        every = None
        if coalition_size is not None or neighbors is not None:
            every = audience_of(self, observers, coalition_size, neighbors)
            if not every.is_listed():
                raise NdpError("there are too many such coalitions to list them: least_noise and check cover them by a bound")
            observers = [[self.nodes[v] for v in members] for members in every.looked_at()]  # type: ignore[misc]  # lists are coalitions
        who = self._observers(observers, own_noise)
        parts = self._native.losses(who, names_of(self.nodes), _reporter(progress), every)
        return PairwiseLosses(self.graph, self.words, parts, Origin(self, own_noise))

    def _observers(self, observers: Iterable[Hashable] | None, own_noise: bool = True) -> list[Who]:
        """Each of the observers alone; a list among them is a coalition."""
        chosen: Iterable[Hashable] = self.nodes if observers is None else _listed(observers, "observers")
        alone = isinstance(chosen, range)
        who = [
            self._who(None, v, own_noise) if isinstance(v, list) and not alone else self._who(v, None, own_noise)
            for v in chosen
        ]
        if not who:
            raise NdpError("the number of observers must be at least 1, got 0")
        return who

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
        """What an observer sees, ready to be asked about nodes and noises: every protocol has one.

        Parameters
        ----------
        observer, coalition, own_noise
            As in `losses`.
        hidden_senders : bool, optional
            Whether messages come through an anonymous channel.
        tapped : iterable of pairs, optional
            Directions of edges that are overheard: ``(u, v)`` is everything that ``u`` sends to ``v``, and nothing of what ``v`` sends to
            ``u``. Who overhears both gives both, ``[(u, v), (v, u)]``. Gossip by the same matrix in every round has an account of them
            without an observer, a program also beside one; other protocols refuse them.
        patience : float, optional
            Seconds for this call, and for each question to the account. What is not known by then is answered by `bound`; by default, and
            with ``math.inf``, it takes as long as it takes.

        Returns
        -------
        Account

        Raises
        ------
        NdpError
            Where the protocol has no accountant for what this observer knows; where nothing is known in time and the protocol
            has no `bound`.

        Examples
        --------
        >>> import ndp
        >>> account = ndp.gossip(([0, 1, 2], [1, 2, 3]), rounds=2).account(observer=0)
        >>> account.profile(1, sigma=2.0).epsilon(delta=1e-6)
        Exact(2.25409, 'epsilon', {'delta': 1e-06})
        """
        who = self._who(observer, coalition, own_noise, hidden_senders, tapped)
        return Account(self, who, None if patience is None else number_of(patience, "patience"))

    def bound(
        self,
        observer: Hashable | None = None,
        *,
        coalition: Iterable[Hashable] | None = None,
        own_noise: bool = True,
        hidden_senders: bool = False,
        tapped: Iterable[tuple[Hashable, Hashable]] = (),
    ) -> Account:
        """What is proven about an observer at no cost, by what leaves each node alone: an upper bound, known at once.

        Parameters
        ----------
        observer, coalition, own_noise, hidden_senders, tapped
            As in `account`.

        Returns
        -------
        Account

        Raises
        ------
        NdpError
            Where the protocol has no such bound.

        Examples
        --------
        >>> import ndp
        >>> p = ndp.gossip(([0, 1, 2, 3], [1, 2, 3, 4]), rounds=2)
        >>> first = p.bound(observer=0)
        >>> last = p.account(observer=0, patience=10)
        >>> first.profile(4, sigma=2.0).mu, last.profile(4, sigma=2.0).mu
        (UpperBound(0.5, 'mu'), Exact(0, 'mu'))
        """
        who = self._who(observer, coalition, own_noise, hidden_senders, tapped)
        return Account(self, who, "bound")

    def run(self, values: ArrayLike, sigma: float, seed: int) -> Run:
        """Runs the protocol on real values.

        Parameters
        ----------
        values : array_like
            A number, or a row of numbers, for each node.
        sigma : float
            Standard deviation of the noise.
        seed : int
            The same seed gives the same run: whoever knows it knows the noise.

        Returns
        -------
        Run
        """
        table, flat = self._values(values)
        p = self._parameters
        count = p.get("rounds") or p.get("dimension") or len(p.get("pairs") or p.get("rings") or p.get("graphs") or ())
        if 8 * count * table.size > _MEMORY:
            raise NdpError(f"the messages of {count} rounds would take {8 * count * table.size} bytes, more than {_MEMORY}")
        parts = self._native.simulate(table, number_of(sigma, "sigma"), _seed(seed))
        squeeze: Callable[[Any], Any] = (lambda array: array[:, 0]) if flat else (lambda array: array)
        several = ([squeeze(each) for each in parts[name]] for name in ("messages", "later_noises"))
        return Run(squeeze(parts["output"]), squeeze(parts["noise"]), *several)

    def error(self, values: ArrayLike, sigma: float) -> Guarantee:
        """The mean squared error of what the nodes end with, over all nodes and all noises.

        Parameters
        ----------
        values : array_like
            A number, or a row of numbers, for each node.
        sigma : float
            Standard deviation of the noise.

        Returns
        -------
        Guarantee
        """
        return self._native.error(self._values(values)[0], number_of(sigma, "sigma"))

    def error_bound(self, sigma: float, sensitivity: float = 1.0) -> UpperBound:
        """Root mean square error of the mean that a node ends with, over nodes and runs, at most; for programs computed in floats.

        Parameters
        ----------
        sigma : float
            Standard deviation of the noise.
        sensitivity : float, optional
            Length of the interval that the values come from.

        Returns
        -------
        UpperBound

        Raises
        ------
        NdpError
            Where it is not known.
        """
        return UpperBound(self._native.error_bound(*scales_of(sigma, sensitivity)), "root mean square error")

    def messages(self) -> float:
        """Messages sent in a run, on average."""
        return self._native.message_count()

    def _values(self, values: ArrayLike) -> tuple[NDArray[np.float64], bool]:
        table = real(values, "values")
        if table.ndim not in (1, 2):
            raise NdpError(f"values have one or two dimensions, got {table.ndim}")
        flat = table.ndim == 1
        return np.ascontiguousarray(table.reshape(len(table), -1) if flat else table), flat


def protocol_of(asked: Any) -> Protocol:
    """What a caller gives as a protocol, if it is one."""
    if isinstance(asked, Protocol):
        return asked
    raise NdpError(f"a protocol is needed, such as ndp.gossip(graph, rounds=10) or an ndp.Program, got {_told(asked)}")


class _OnMatrix(Protocol):
    """A protocol that averages with a gossip matrix."""

    @property
    def _weights(self) -> _ndp.Matrix:
        assert isinstance(self.graph, Graph)
        return _matrix(self.graph, self._parameters["weights"], self._parameters["laziness"])

    def matrix(self) -> Any:
        """The gossip matrix as a SciPy sparse array."""
        assert isinstance(self.graph, Graph)
        return self.graph.matrix(self._parameters["weights"], self._parameters["laziness"])

    def gap(self) -> float:
        """The spectral gap of the gossip matrix: 1 minus the largest absolute value of its other eigenvalues."""
        return self._weights.gap()


class Gossip(_OnMatrix):
    """Synchronous gossip; made by `gossip`."""

    def _build(self) -> _ndp.Protocol:
        p = self._parameters
        return _ndp.Protocol.gossip(self._weights, p["rounds"], p["chebyshev"])


class NoisyGossip(_OnMatrix):
    """Gossip with noise on every message; made by `noisy_gossip`."""

    def _build(self) -> _ndp.Protocol:
        p = self._parameters
        return _ndp.Protocol.noisy(self._weights, p["rounds"], p["ratio"], p["kind"])

    def _who(self, *arguments: Any, **options: Any) -> Who:
        who = super()._who(*arguments, **options)
        if who[0] and self._parameters["kind"] == "overheard":
            raise NdpError(
                "noise on what is overheard protects against an outsider who taps edges: the nodes themselves average clean messages, "
                "which is plain gossip"
            )
        return who


class FreshNoise(_OnMatrix):
    """Gossip with fresh noise in every round; made by `fresh_noise`."""

    def _build(self) -> _ndp.Protocol:
        p = self._parameters
        return _ndp.Protocol.fresh(self._weights, p["variances"])


class NamedProtocol(_OnMatrix):
    """A protocol of the registry; made by `protocol`."""

    def _build(self) -> _ndp.Protocol:
        p = self._parameters
        return _ndp.Protocol.named(self._weights, p["name"], p["given"])

    def _made(self) -> Any:
        p = self._parameters
        return (self._weights, p["name"], list(p["given"])) if self._cache is None else self._cache


class TokenProtocol(Protocol):
    """A protocol in which a token collects what nodes add; made by functions of `ndp.walks`."""

    def _build(self) -> _ndp.Protocol:
        p = self._parameters
        match p["kind"]:
            case "sum":
                return _ndp.Protocol.sum_on_path(p["nodes"], p["holders"], p["published"], p["cap"], p["edge_uses"])
            case "average":
                return _ndp.Protocol.averaging(p["nodes"], p["holders"], p["contributes"], p["step"], p["last"])
            case "ring sum":
                return _ndp.Protocol.ring_sum(p["nodes"], p["rounds"], p["noise"], p["distributed"], p["last"])
            case "ring histogram":
                return _ndp.Protocol.ring_histogram(p["nodes"], p["rounds"], p["labels"], p["last"])
            case "complete sum":
                return _ndp.Protocol.complete_sum(p["nodes"], p["steps"], p["published"], p["constant"], p["noise"], p["cap"])
        return _ndp.Protocol.complete_histogram(p["nodes"], p["steps"], p["labels"], p["published"])


class RandomizedGossip(Protocol):
    """Gossip over given or drawn pairs; made by `randomized_gossip` and `one_peer`."""

    @property
    def pairs(self) -> list[tuple[Hashable, Hashable]]:
        """The pairs that meet, one a step."""
        nodes = self.nodes
        return [(nodes[a], nodes[b]) for a, b in self._parameters["pairs"]]

    def _build(self) -> _ndp.Protocol:
        assert isinstance(self.graph, Graph)
        return _ndp.Protocol.pairs(self.graph._native, self._parameters["pairs"])


class OnePeer(Protocol):
    """One-peer gossip on a hypercube; made by `one_peer`."""

    def _build(self) -> _ndp.Protocol:
        return _ndp.Protocol.one_peer(self._parameters["dimension"])


class TimeVaryingGossip(Protocol):
    """Gossip on another graph in every round; made by `time_varying_gossip`."""

    def _build(self) -> _ndp.Protocol:
        p = self._parameters
        matrices = [_matrix(graph, p["weights"], p["laziness"]) for graph in p["graphs"]]
        return _ndp.Protocol.matrices(matrices)


class AcceleratedGossip(Protocol):
    """Accelerated randomized gossip; made by `accelerated_gossip`."""

    def _build(self) -> _ndp.Protocol:
        assert isinstance(self.graph, Graph)
        p = self._parameters
        momentum = (p["mixing"], p["push"])
        return _ndp.Protocol.accelerated(self.graph._native, p["rings"], p["rest"], momentum)


def audience_of(
    protocol: Protocol, observers: Iterable[Hashable] | None, coalition_size: int | None, neighbors: int | None
) -> _ndp.Audience:
    """Every coalition of a size, of all nodes or of neighbors of one."""
    if sum(given is not None for given in (observers, coalition_size, neighbors)) != 1:
        raise NdpError("of observers, coalition_size and neighbors give one, not both")
    if coalition_size is not None:
        size = _count(coalition_size, "coalition_size")
        return _ndp.Audience.coalitions(len(protocol.nodes), size, hearing_little(protocol, size))
    assert neighbors is not None
    size = _count(neighbors, "neighbors")
    if not isinstance(protocol.graph, Graph):
        raise NdpError(f"{protocol.words} has no graph whose neighbors could observe together: give coalition_size")
    if isinstance(protocol, TimeVaryingGossip) and any(graph != protocol.graph for graph in protocol._parameters["graphs"]):
        raise NdpError("who is a neighbor changes from round to round: give coalition_size")
    return _ndp.Audience.neighbors(protocol.graph._native, size)


def hearing_little(protocol: Protocol, count: int) -> list[int]:
    """Nodes of which to know exactly what they learn costs little: those of the fewest neighbors, if they have any."""
    if not isinstance(protocol.graph, Graph):
        return list(range(min(count, len(protocol.nodes))))
    degrees = np.bincount(protocol.graph.edges.ravel(), minlength=len(protocol.nodes))
    some = np.where(degrees == 0, np.iinfo(degrees.dtype).max, degrees)
    return [int(v) for v in np.argsort(some, kind="stable")[:count]]


def _words_of_weights(graph: Graph, weights: Any) -> str:
    if weights is None and graph.weights is not None:
        return "the graph's own weights"
    if weights is None or isinstance(weights, str):
        ignored = " (the graph's own are not used)" if graph.ignored else ""
        return f"{weights or 'metropolis'} weights{ignored}"
    return "given weights"


def network_of(graph: GraphLike, weight: str | bool | None, weights: Any) -> Graph:
    """The graph, for an average by its own weights, by a rule or by a matrix."""
    if weight is not None and weight is not False and weights is not None:
        raise NdpError("give weight= (the graph's own weights) or weights= (a rule or a matrix), not both")
    return Graph(graph, weight=weight)


def _on_matrix(graph: GraphLike, weight: str | bool | None, weights: Any, laziness: float) -> tuple[Graph, dict[str, Any]]:
    laziness = number_of(laziness, "laziness")
    if not 0.0 <= laziness < 1.0:
        raise NdpError(f"laziness must lie in [0, 1), got {laziness}")
    return network_of(graph, weight, weights), {"weights": weights, "laziness": laziness}


def protocols() -> dict[str, dict[str, Any]]:
    """Every protocol that this package knows by name, with its parameters.

    Returns
    -------
    dict
        For each name ``about``, what it is, and ``parameters``, what each of them is and its default.

    Examples
    --------
    >>> import ndp
    >>> known = ndp.protocols()
    >>> len(known) >= 20, "rho" in known["fresh-noise"]["parameters"]
    (True, True)
    """
    return {
        name: {"about": about, "parameters": dict(parameters)} for name, about, parameters in _ndp.protocols()
    }


def protocol(
    name: str,
    graph: GraphLike,
    *,
    weight: str | bool | None = None,
    weights: Any = None,
    laziness: float = 0.0,
    **parameters: float,
) -> NamedProtocol:
    """A protocol by its name, with parameters as data; `protocols` lists them.

    Parameters
    ----------
    name : str
        ``"muffliato"``, ``"fresh-noise"``, ``"walk"``, ``"ring-sum"``, ``"gossip-sgd"``, ...; underscores stand for hyphens.
    graph, weight, weights, laziness
        As in `gossip`; some protocols take no more than the number of its nodes.
    **parameters : float
        As `protocols` says; those not given have their defaults.

    Returns
    -------
    NamedProtocol

    Raises
    ------
    NdpError
        For a name or a parameter that is not known.

    Examples
    --------
    >>> import ndp
    >>> p = ndp.protocol("complete-sum", ([0, 1, 2, 3], [1, 2, 3, 0]), steps=100)
    >>> profile = p.account(observer=0).profile(2, sigma=20.0)
    >>> profile.epsilon(delta=1e-5).grade
    <class 'ndp._grades.UpperBound'>
    """
    made = named(name, graph, parameters, weight=weight, weights=weights, laziness=laziness)
    made._native  # noqa: B018  # a wrong name is refused here, not at the first question
    return made


def named(
    name: str,
    graph: GraphLike,
    parameters: Mapping[str, float],
    *,
    weight: str | bool | None = None,
    weights: Any = None,
    laziness: float = 0.0,
) -> NamedProtocol:
    """The same, which is made only when it is asked."""
    network, matrix = _on_matrix(graph, weight, weights, laziness)
    known = protocols()
    chosen = name if name in known else str(name).replace("_", "-")
    try:
        given = [(key.replace("_", "-"), float(value)) for key, value in sorted(parameters.items())]
    except (TypeError, ValueError):
        raise NdpError(f"the parameters of a protocol are numbers, got {parameters}") from None
    return NamedProtocol(network, f"{chosen} of the registry", name=chosen, given=given, **matrix)


def every_protocol(graph: GraphLike) -> dict[str, Protocol]:
    """Every protocol of the registry on a graph, made when it is asked."""
    network = Graph(graph)
    return {name: named(name, network, {}) for name in protocols()}


def gossip(
    graph: GraphLike,
    rounds: int,
    *,
    weight: str | bool | None = None,
    weights: Any = None,
    laziness: float = 0.0,
    chebyshev: float | None = None,
) -> Gossip:
    """Gossip averaging with noise once at the start (Muffliato): every node averages with its neighbors in every round.

    Parameters
    ----------
    graph : graph-like
        See `Graph`.
    rounds : int
        How often everybody sends its state to its neighbors.
    weight : str or bool, optional
        The edge attribute that holds the weights of the average, the rest staying at the node. Without it the graph's own
        weights are not used.
    weights : str or array, optional
        The rule ``"metropolis"`` (the default), ``"max_degree"``, ``"sum_degree"`` or ``"regular"``; or a gossip matrix,
        dense or sparse, which is checked to be symmetric, doubly stochastic and supported on the graph.
    laziness : float, optional
        Share of the identity that is mixed in, from 0 to 1. With noise once and one fixed matrix it does not change what is
        learned; with noise in every round, on messages or with changing graphs it does.
    chebyshev : float, optional
        Parameter of the acceleration, in ``[1, 2)``. It does not change what is learned.

    Returns
    -------
    Gossip

    Raises
    ------
    NdpError
        For a graph or parameters that are refused, naming condition and value.

    References
    ----------
    Cyffers, Even, Bellet, Massoulié, *Muffliato: Peer-to-Peer Privacy Amplification for Decentralized Optimization and
    Averaging*, NeurIPS 2022, arXiv:2206.05091. Losses are those of the whole view, not the sum over messages of its
    Theorem 1, which is no bound.

    Examples
    --------
    >>> import ndp
    >>> r = ndp.gossip(([0, 1], [1, 2]), rounds=2).losses(observer=2)
    >>> float(r[0])
    1.0
    """
    network, matrix = _on_matrix(graph, weight, weights, laziness)
    count = _rounds(rounds)
    words = f"gossip of {_several(count, 'round')}, {_words_of_weights(network, weights)}"
    number = None if chebyshev is None else number_of(chebyshev, "chebyshev")
    return Gossip(network, words, rounds=count, chebyshev=number, **matrix)


def noisy_gossip(
    graph: GraphLike,
    rounds: int,
    *,
    ratio: float,
    kind: str = "broadcast",
    weight: str | bool | None = None,
    weights: Any = None,
    laziness: float = 0.0,
) -> NoisyGossip:
    """Gossip with noise at the start and on every message.

    Parameters
    ----------
    graph, rounds, weight, weights, laziness
        As in `gossip`.
    ratio : float
        Standard deviation of the noise of a message, in units of that of the values.
    kind : str, optional
        ``"broadcast"``: one noise per node and round, the same for all its neighbors; ``"per_link"``: an independent one for
        every neighbor; ``"overheard"``: one noise per node and round, the same on all its edges, on what an outsider hears who taps
        edges. The nodes themselves average clean messages then, as in `gossip`, so that they are refused as observers: ``account(tapped=[(u, v)])`` asks about the outsider.

    Returns
    -------
    NoisyGossip

    Examples
    --------
    >>> import ndp
    >>> p = ndp.noisy_gossip(([0, 1], [1, 2]), rounds=2, ratio=1.0)
    >>> p.losses(observer=2).unit.round(4)
    array([0.087 , 0.5218, 1.    ])
    """
    network, matrix = _on_matrix(graph, weight, weights, laziness)
    count = _rounds(rounds)
    words = f"gossip of {_several(count, 'round')} with noisy messages ({kind}), {_words_of_weights(network, weights)}"
    parameters = {"rounds": count, "ratio": number_of(ratio, "ratio"), "kind": str(kind), **matrix}
    return NoisyGossip(network, words, **parameters)


def fresh_noise(
    graph: GraphLike,
    rounds: int | None = None,
    *,
    rho: float | None = None,
    variances: Sequence[float] | None = None,
    weight: str | bool | None = None,
    weights: Any = None,
    laziness: float = 0.0,
) -> FreshNoise | NamedProtocol:
    """Gossip in which every node adds fresh noise to its state in every round.

    Losses are fractions of what the first noise alone would allow; all noises are scaled with ``sigma``, the standard deviation
    of the first.

    Parameters
    ----------
    graph, weight, weights, laziness
        As in `gossip`.
    rounds : int, optional
        As in `gossip`; by default those of the stopping rule of the registry.
    rho : float, optional
        Sum of the variances of the later noises in units of the first, which are equal; 1 by default.
    variances : sequence of float, optional
        In place of ``rho``: the variances of all rounds, the first positive; their number is ``rounds``.

    Returns
    -------
    FreshNoise

    Examples
    --------
    >>> import ndp
    >>> p = ndp.fresh_noise(([0, 1, 2], [1, 2, 3]), rounds=3, rho=1.0)
    >>> p.losses(observer=0).unit.round(4)
    array([1.    , 1.    , 0.1962, 0.0214])
    """
    network, matrix = _on_matrix(graph, weight, weights, laziness)
    if rho is not None and variances is not None:
        raise NdpError("give rho= or variances=, not both")
    total = 1.0 if rho is None else number_of(rho, "rho")
    if rounds is None:
        if variances is not None:
            raise NdpError("variances go with rounds: give both")
        return protocol("fresh-noise", network, weights=weights, laziness=laziness, rho=total)
    count = _rounds(rounds)
    if 100 * count > _MEMORY:
        raise NdpError(f"the variances of {count} rounds would take {100 * count} bytes, more than {_MEMORY}")
    if variances is None:
        later = total / (count - 1) if count > 1 else 0.0
        schedule = [1.0] + [later] * (count - 1)
    else:
        schedule = [float(variance) for variance in variances]
        if len(schedule) != count:
            raise NdpError(f"variances needs one entry for each of the {count} rounds, got {len(schedule)}")
    words = f"gossip of {_several(count, 'round')} with fresh noise, {_words_of_weights(network, weights)}"
    return FreshNoise(network, words, rounds=count, variances=schedule, **matrix)


def randomized_gossip(
    graph: GraphLike,
    steps: int | None = None,
    *,
    seed: int | None = None,
    pairs: Iterable[tuple[Hashable, Hashable]] | None = None,
) -> RandomizedGossip:
    """Gossip in which one pair of neighbors averages in every step; noise once at the start.

    The pairs are public: losses are conditional on them.

    Parameters
    ----------
    graph : graph-like
        See `Graph`.
    steps : int, optional
        Number of pairs to draw, every edge being equally likely.
    seed : int, optional
        The same seed draws the same pairs.
    pairs : iterable of pairs, optional
        In place of ``steps`` and ``seed``: the pairs that meet.

    Returns
    -------
    RandomizedGossip

    Examples
    --------
    >>> import ndp
    >>> p = ndp.randomized_gossip(([0, 1], [1, 2]), pairs=[(0, 1), (1, 2)])
    >>> p.losses(observer=2).unit.round(6)
    array([0.500001, 0.500001, 1.      ])
    """
    network = Graph(graph)
    if (pairs is None) == (steps is None) or (pairs is not None and seed is not None):
        raise NdpError("give steps= and seed= to draw the pairs, or pairs=")
    if pairs is None:
        if seed is None:
            raise NdpError("a seed is needed to draw the pairs")
        met = _ndp.draw_pairs(network._native, _count(steps or 0, "steps"), _seed(seed))
    else:
        met = [(network.index(a), network.index(b)) for a, b in pairs]
        _count(len(met), "the number of pairs")
    words = f"randomized gossip of {_several(len(met), 'step')}"
    return RandomizedGossip(network, words, pairs=met)


def one_peer(dimension: int) -> OnePeer:
    """One-peer gossip on the hypercube of ``2**dimension`` nodes: in step ``k`` everybody averages with its neighbor along ``k``.

    Parameters
    ----------
    dimension : int
        Number of steps.

    Returns
    -------
    OnePeer

    Examples
    --------
    >>> import ndp
    >>> ndp.one_peer(2).losses(observer=0).unit.round(6)
    array([1.      , 1.      , 0.500001, 0.500001])
    """
    d = _count(dimension, "dimension")
    if d > 26:
        raise NdpError(f"dimension must be at most 26, got {d}")
    return OnePeer(range(1 << d), f"one-peer gossip of {_several(d, 'step')}", dimension=d)


def time_varying_gossip(
    graphs: Iterable[GraphLike],
    *,
    weight: str | bool | None = None,
    weights: Any = None,
    laziness: float = 0.0,
) -> TimeVaryingGossip:
    """Gossip on another graph in every round; noise once at the start.

    Parameters
    ----------
    graphs : iterable of graph-like
        The graph of each round, all on the same nodes in the same order.
    weight, weights, laziness
        As in `gossip`, for every graph.

    Returns
    -------
    TimeVaryingGossip

    Examples
    --------
    >>> import ndp
    >>> p = ndp.time_varying_gossip([ndp.Graph(([0], [1]), nodes=3), ndp.Graph(([1], [2]))])
    >>> p.losses(observer=2).unit.round(6)
    array([0.500001, 0.500001, 1.      ])
    """
    networks = []
    for graph in graphs:
        network, matrix = _on_matrix(graph, weight, weights, laziness)
        networks.append(network)
    _count(len(networks), "the number of graphs")
    first = networks[0]
    for network in networks[1:]:
        if list(network.nodes) != list(first.nodes):
            raise NdpError("the graphs of all rounds need the same nodes in the same order")
    words = f"gossip over {_several(len(networks), 'changing graph')}, {_words_of_weights(first, weights)}"
    return TimeVaryingGossip(first, words, graphs=networks, **matrix)


def accelerated_gossip(
    graph: GraphLike,
    time: float,
    *,
    seed: int,
    mixing: float | None = None,
    push: float | None = None,
) -> AcceleratedGossip:
    """Accelerated randomized gossip: pairs meet at random times, with momentum; noise once at the start.

    The times are public: losses are conditional on them.

    Parameters
    ----------
    graph : graph-like
        See `Graph`.
    time : float
        How long it runs; a unit of time holds one pair on average.
    seed : int
        The same seed draws the same times.
    mixing, push : float, optional
        The momentum; by default the one whose rate is proven.

    Returns
    -------
    AcceleratedGossip

    Examples
    --------
    >>> import ndp
    >>> p = ndp.accelerated_gossip(([0, 1], [1, 2]), time=4.0, seed=1)
    >>> bool((p.losses(observer=2).unit <= 1.0).all())
    True
    """
    network = Graph(graph)
    until = number_of(time, "time")
    rings, mixing_used, push_used = _ndp.draw_rings(network._native, until, _seed(seed), mixing, push)
    rest = max(0.0, until - sum(wait for wait, _, _ in rings))
    words = f"accelerated gossip of {_several(len(rings), 'meeting')}"
    parameters = {"rings": rings, "rest": rest, "mixing": mixing_used, "push": push_used}
    return AcceleratedGossip(network, words, **parameters)
