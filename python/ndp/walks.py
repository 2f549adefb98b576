"""Protocols in which a token walks: around a ring, between the nodes of a complete graph, on any graph.

Examples
--------
>>> import ndp
>>> walk = ndp.walks.token_walk(([0, 1, 2, 3], [1, 2, 3, 0]), steps=200, cap=5)
>>> bool(walk.rdp(0, observer=2, order=2.0, sigma=10.0) < 0.2)
True
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Sequence
from typing import Any

from . import _ndp
from ._grades import UpperBound, number_of, scales_of
from ._graph import Graph, GraphLike, OnNodes, _matrix
from ._ndp import NdpError
from ._checks import _count, _held, _rounds, _seed, _several, _whole
from ._protocols import TokenProtocol, _on_matrix

__all__ = [
    "TokenWalk",
    "average_on_path",
    "complete_histogram",
    "complete_sum",
    "ring_histogram",
    "ring_sum",
    "sum_on_path",
    "token_walk",
]


class TokenWalk(OnNodes):
    """A token that walks on a graph, adding a noisy contribution at every visit; made by `token_walk`."""

    graph: Graph

    def __init__(self, graph: Graph, words: str, parameters: dict[str, Any]) -> None:
        self.graph = graph
        self.words = words
        self._parameters = _held(parameters)
        self._cache: _ndp.GraphWalk | None = None

    @property
    def _native(self) -> _ndp.GraphWalk:
        if self._cache is None:
            p = self._parameters
            matrix = _matrix(self.graph, p["weights"], p["laziness"])
            keys = ("steps", "start", "burn_in", "cap", "refractory", "edge_uses", "last")
            self._cache = _ndp.GraphWalk(matrix, *(p[key] for key in keys))
        return self._cache

    def _pair(self, node: Hashable, observer: Hashable) -> tuple[int, list[int]]:
        members = observer if isinstance(observer, list) else [observer]
        return self.graph.index(node), [self.graph.index(v) for v in members]

    def rdp(
        self, node: Hashable, observer: Hashable, order: float, sigma: float, sensitivity: float = 1.0
    ) -> UpperBound:
        """Rényi loss in nats of a node towards an observer, over all its contributions.

        It holds for contributions that do not depend on the token, as those of sums, and for gradient steps that bring no two
        tokens further apart (convex losses, steps of one size, at most 2 over the smoothness). Where the last token is
        ``"withheld"``, it holds as long as whoever keeps it hands it to nobody.

        Parameters
        ----------
        node, observer : hashable
            The exposed node, and the observer or a list of colluders.
        order : float
            Above 1.
        sigma : float
            Standard deviation of the noise of a contribution.
        sensitivity : float, optional
            How far a contribution may move.

        Returns
        -------
        UpperBound
        """
        return self._native.rdp(*self._pair(node, observer), number_of(order, "order"), *scales_of(sigma, sensitivity))

    def epsilon(
        self, node: Hashable, observer: Hashable, delta: float, sigma: float, sensitivity: float = 1.0
    ) -> UpperBound:
        """The ``epsilon`` at ``delta`` of a node towards an observer, by the best order, for what `rdp` holds for.

        Parameters
        ----------
        node, observer, sigma, sensitivity
            As in `rdp`.
        delta : float
            Failure probability.

        Returns
        -------
        UpperBound
        """
        return self._native.epsilon(*self._pair(node, observer), number_of(delta, "delta"), *scales_of(sigma, sensitivity))

    def sample(self, seed: int) -> list[Hashable]:
        """Who holds the token on a random walk, step by step.

        Parameters
        ----------
        seed : int
            The same seed gives the same walk.

        Returns
        -------
        list
            Of labels.
        """
        return [self.nodes[v] for v in self._native.sample(_seed(seed))]


def token_walk(
    graph: GraphLike,
    steps: int,
    *,
    start: Hashable | None = None,
    burn_in: int = 0,
    cap: int | None = None,
    refractory: int = 0,
    edge_uses: int | None = None,
    last: str = "withheld",
    weight: str | bool | None = None,
    weights: Any = None,
    laziness: float = 0.0,
) -> TokenWalk:
    """A token that walks on a graph by a symmetric transition matrix, adding a noisy contribution at every visit.

    Parameters
    ----------
    graph, weight, weights, laziness
        As in `ndp.gossip`; the gossip matrix is where the token goes next.
    steps : int
        Length of the walk.
    start : hashable, optional
        Who holds the token first; uniform by default.
    burn_in : int, optional
        Steps before the first contribution.
    cap : int, optional
        Contributions of a node, at most; further visits add noise alone.
    refractory : int, optional
        Steps after a contribution of a node in which it adds noise alone.
    edge_uses : int, optional
        A holder adds noise alone if the token came over an edge that it has crossed so many times, or goes on over one.
    last : str, optional
        What becomes of the last token: ``"withheld"``, ``"published"`` or ``"masked"``.

    Returns
    -------
    TokenWalk

    Examples
    --------
    >>> import ndp
    >>> walk = ndp.walks.token_walk(([0, 1, 2, 3], [1, 2, 3, 0]), steps=100)
    >>> near, far = (walk.epsilon(0, v, delta=1e-6, sigma=20.0) for v in (1, 2))
    >>> far <= near
    True
    """
    network, matrix = _on_matrix(graph, weight, weights, laziness)
    count = _rounds(steps, "steps")
    parameters = {
        "steps": count,
        "start": None if start is None else network.index(start),
        "burn_in": _from_zero(burn_in, "burn_in"),
        "cap": None if cap is None else _rounds(cap, "cap"),
        "refractory": _from_zero(refractory, "refractory"),
        "edge_uses": None if edge_uses is None else _rounds(edge_uses, "edge_uses"),
        "last": str(last),
        **matrix,
    }
    return TokenWalk(network, f"a walk of {_several(count, 'step')}", parameters)


def sum_on_path(
    nodes: int,
    holders: Sequence[int],
    *,
    published: bool = False,
    cap: int | None = None,
    edge_uses: int | None = None,
) -> TokenProtocol:
    """A sum that a token collects along a known path on the complete graph: what its observers learn is exact.

    Parameters
    ----------
    nodes : int
        Number of nodes, which are 0 to ``nodes - 1``.
    holders : sequence of int
        Who holds the token, step by step; each adds its value and noise.
    published : bool, optional
        Whether the last token is seen by everybody.
    cap : int, optional
        Each node contributes at most so many times, on the first visits on which it may; on all by default.
    edge_uses : int, optional
        A node contributes at most so many times just after any given other node, and at most so many times just before it; it adds
        noise alone otherwise.

    Returns
    -------
    TokenProtocol

    Examples
    --------
    >>> import ndp
    >>> ndp.walks.sum_on_path(4, [0, 1, 2, 3]).losses(observer=3).unit.round(4)
    array([0.3334, 0.3334, 0.3334, 1.    ])
    """
    count, path = _path(nodes, holders, 1)
    parameters = {"kind": "sum", "nodes": count, "holders": path, "published": bool(published)}
    limits = {
        "cap": None if cap is None else _rounds(cap, "cap"),
        "edge_uses": None if edge_uses is None else _rounds(edge_uses, "edge_uses"),
    }
    return TokenProtocol(range(count), f"a sum along a path of {len(path)} steps", **limits, **parameters)


def _path(nodes: int, holders: Sequence[int], least: int) -> tuple[int, list[int]]:
    count = _rounds(nodes, "nodes")
    try:
        path = [operator.index(v) for v in holders]
    except TypeError:
        raise NdpError(f"the holders of a token are whole numbers, got {list(holders)[:10]}") from None
    if len(path) < least or not all(0 <= v < count for v in path):
        raise NdpError(f"a path holds nodes from 0 to {count - 1}, at least {least}, got {path[:10]}")
    return count, path


def _from_zero(count: int, name: str) -> int:
    return _whole(count, name, least=0) and _rounds(count, name)


def average_on_path(
    nodes: int,
    holders: Sequence[int],
    *,
    contributes: Sequence[bool] | None = None,
    step: float | None = None,
    last: str = "withheld",
) -> TokenProtocol:
    """An average that a token carries along a known path: what its observers learn is exact.

    Parameters
    ----------
    nodes : int
        Number of nodes, which are 0 to ``nodes - 1``.
    holders : sequence of int
        Who holds the token, from the first holder on.
    contributes : sequence of bool, optional
        For each step, one fewer than the holders, whether the holder contributes or adds noise alone; all by default.
    step : float, optional
        A constant size ``g`` of steps: a contribution makes the token ``(1 - 2 g) token + 2 g (value + noise)``, and a step of noise
        alone makes it ``token + 2 g noise``. By default the token is the running average of what was contributed.
    last : str, optional
        As in `token_walk`.

    Returns
    -------
    TokenProtocol

    Examples
    --------
    >>> import ndp
    >>> r = ndp.walks.average_on_path(3, [0, 1, 2], step=0.5).losses(observer=2)
    >>> bool(r.unit[1] > r.unit[0] > 0.0)
    True
    """
    count, path = _path(nodes, holders, 2)
    acts = [True] * (len(path) - 1) if contributes is None else [bool(yes) for yes in contributes]
    parameters = {"kind": "average", "nodes": count, "holders": path, "contributes": acts}
    words = f"an average along a path of {_several(len(path) - 1, 'step')}"
    rate = None if step is None else float(step)
    return TokenProtocol(range(count), words, step=rate, last=str(last), **parameters)


def _tokens(nodes: int, words: str, **parameters: Any) -> TokenProtocol:
    made = TokenProtocol(range(_rounds(nodes, "nodes")), words, nodes=int(nodes), **parameters)
    made._native  # noqa: B018  # what is refused is refused here, not at the first question
    return made


def ring_sum(
    nodes: int, rounds: int = 1, *, noise: str = "gaussian", distributed: bool = False, last: str = "withheld"
) -> TokenProtocol:
    """A sum of real numbers that a token carries around a ring.

    Parameters
    ----------
    nodes, rounds : int
        Size of the ring, and how often the token goes around.
    noise : str, optional
        The law of the noise: ``"gaussian"``, ``"laplace"`` or ``"discrete-laplace"``.
    distributed : bool, optional
        A share of the noise on every step but the first, which has all of it, in place of full noise on one step in ``nodes - 1``; protects against colluders.
    last : str, optional
        What becomes of the last token: ``"withheld"``, ``"published"`` or ``"masked"``.

    Returns
    -------
    TokenProtocol

    References
    ----------
    Cyffers and Bellet, *Privacy Amplification by Decentralization*, AISTATS 2022, arXiv:2012.05326, Algorithm 1.

    Examples
    --------
    >>> import ndp
    >>> ring = ndp.walks.ring_sum(nodes=100)
    >>> ring.losses(observer=9).max
    Exact(1.00001, 'unit loss')
    >>> bool(ring.account(observer=9).profile(5, sigma=4.0).epsilon(delta=1e-6) < 1.2)
    True
    """
    count = _rounds(rounds)
    words = f"a sum on a ring, {_several(count, 'round')}"
    law = {"noise": str(noise), "distributed": bool(distributed), "last": str(last)}
    return _tokens(nodes, words, kind="ring sum", rounds=count, **law)


def ring_histogram(nodes: int, rounds: int = 1, *, labels: int = 2, last: str = "withheld") -> TokenProtocol:
    """A histogram of randomized responses that a token carries around a ring; noise is one over the epsilon of a report.

    The first holder starts the token with a share of uniform labels, among which the first reports hide; with a masked last token the
    last holder adds as many.

    Parameters
    ----------
    nodes, rounds, last
        As in `ring_sum`.
    labels : int, optional

    Returns
    -------
    TokenProtocol

    Examples
    --------
    >>> import ndp
    >>> ring = ndp.walks.ring_histogram(nodes=1000, labels=4)
    >>> bool(ring.account(observer=0).profile(5, sigma=1.0).epsilon(delta=1e-6) < 1.0)
    True
    """
    words = f"a histogram of {_several(labels, 'label')} on a ring"
    counts = {"rounds": _rounds(rounds), "labels": _rounds(labels, "labels")}
    return _tokens(nodes, words, kind="ring histogram", last=str(last), **counts)


def complete_sum(
    nodes: int, steps: int, *, noise: str = "gaussian", cap: int | None = None, published: bool = False, constant: bool = False
) -> TokenProtocol:
    """A sum that a token collects while it jumps between all nodes, uniformly at random.

    Parameters
    ----------
    nodes, steps : int
    noise : str, optional
        The law of the noise: ``"gaussian"``, ``"laplace"`` or ``"discrete-laplace"``.
    cap : int, optional
        Each node contributes on so many of its first visits only; on all by default. Under a cap, and behind other noise than Gaussian,
        every contribution counts by itself; under a cap as many as it allows are counted.
    published : bool, optional
        Whether the last token is seen by everybody.
    constant : bool, optional
        Whether a node contributes the same at every visit, and the values of all nodes lie in one interval as long as the
        sensitivity: the secrecy of the path then protects it too, most where the account has ``hidden_senders``.

    Returns
    -------
    TokenProtocol

    Examples
    --------
    >>> import ndp
    >>> walk = ndp.walks.complete_sum(nodes=50, steps=5000)
    >>> near = walk.account(observer=0).profile(1, sigma=20.0).epsilon(delta=1e-6)
    >>> near.grade, bool(near < 3.0)
    (<class 'ndp._grades.UpperBound'>, True)
    >>> capped = ndp.walks.complete_sum(nodes=50, steps=5000, cap=2)
    >>> bool(capped.account(observer=0).profile(1, sigma=20.0).epsilon(delta=1e-6) < near)
    True
    """
    count = _rounds(steps, "steps")
    words = f"a sum along a uniform walk of {_several(count, 'step')}"
    law = {"noise": str(noise), "cap": None if cap is None else _count(cap, "cap")}
    return _tokens(nodes, words, kind="complete sum", steps=count, published=bool(published), constant=bool(constant), **law)


def complete_histogram(nodes: int, steps: int, *, labels: int = 2, published: bool = False) -> TokenProtocol:
    """A histogram of randomized responses that a token collects while it jumps between all nodes, uniformly at random.

    A node reports the same label at each of its visits. Noise is one over the epsilon of a report.

    Parameters
    ----------
    nodes, steps, published
        As in `complete_sum`.
    labels : int, optional

    Returns
    -------
    TokenProtocol

    Examples
    --------
    >>> import ndp
    >>> walk = ndp.walks.complete_histogram(nodes=100, steps=100, labels=3)
    >>> account = walk.account(observer=0, hidden_senders=True)
    >>> account.profile(1, sigma=1.0).epsilon(delta=1e-5).grade
    <class 'ndp._grades.UpperBound'>
    """
    counts = {"steps": _rounds(steps, "steps"), "labels": _rounds(labels, "labels")}
    words = f"a histogram of {_several(labels, 'label')} along a uniform walk of {_several(counts['steps'], 'step')}"
    return _tokens(nodes, words, kind="complete histogram", published=bool(published), **counts)
