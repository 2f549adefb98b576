"""Formulas of the papers as they stand, to redraw their figures; several are false and none is a guarantee.

Every function answers with a `Printed`, which does not convert to ``float``; its ``value`` says the number.

Examples
--------
>>> import ndp
>>> printed = ndp.printed.muffliato_theorem1(([0, 1], [1, 2]), rounds=2, observer=2)
>>> round(float(printed.value[0]), 6)
0.333333
>>> float(ndp.gossip(([0, 1], [1, 2]), rounds=2).losses(observer=2)[0])
1.0
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from . import _ndp
from ._grades import Printed, number_of, scales_of
from ._graph import GraphLike, _matrix
from ._ndp import (
    gossip_noise,
    muffliato_corollary4,
    muffliato_theorem4,
    network_contributions,
    network_lemma1,
    network_theorem3,
    network_theorem4,
    network_theorem6,
    walk_noise,
)
from ._checks import _listed, _rounds
from ._protocols import network_of

__all__ = [
    "gossip_noise",
    "muffliato_corollary1",
    "muffliato_corollary3",
    "muffliato_corollary4",
    "muffliato_theorem1",
    "muffliato_theorem4",
    "muffliato_theorem12",
    "network_contributions",
    "network_lemma1",
    "network_theorem3",
    "network_theorem4",
    "network_theorem6",
    "walk_losses",
    "walk_losses_from",
    "walk_noise",
]


def muffliato_theorem1(
    graph: GraphLike,
    rounds: int,
    observer: Hashable | None = None,
    *,
    weight: str | bool | None = None,
    weights: Any = None,
    from_one: bool = False,
) -> Printed:
    """Theorem 1 of Muffliato: losses as sums over messages, as fractions of the local loss.

    False: messages share their noise, so that costs do not add up, and they may exceed or fall short of the truth.

    Parameters
    ----------
    graph, rounds, weight, weights
        As in `ndp.gossip`.
    observer : hashable, optional
        A row of losses towards this node; without it all pairs, row exposed, column observer.
    from_one : bool, optional
        Whether the sum begins with the first power of the matrix, as the paper's program has it.

    Returns
    -------
    Printed

    Examples
    --------
    >>> import ndp
    >>> ndp.printed.muffliato_theorem1(([0, 1], [1, 2]), rounds=2, observer=2).value.round(4)
    array([0.3333, 1.3333, 0.3333])
    """
    network = network_of(graph, weight, weights)
    matrix = _matrix(network, weights, 0.0)
    if observer is None:
        return _ndp.theorem1_all(matrix, _rounds(rounds), bool(from_one))
    return _ndp.theorem12_towards(matrix, [network.index(observer)], _rounds(rounds), bool(from_one))


def muffliato_theorem12(
    graph: GraphLike,
    rounds: int,
    coalition: Iterable[Hashable],
    *,
    weight: str | bool | None = None,
    weights: Any = None,
    from_one: bool = False,
) -> Printed:
    """Theorem 12 of Muffliato: losses towards colluders as sums over messages.

    False, as `muffliato_theorem1`.

    Parameters
    ----------
    graph, rounds, weight, weights, from_one
        As in `muffliato_theorem1`.
    coalition : iterable of hashable
        Labels of those who pool what they see.

    Returns
    -------
    Printed

    Examples
    --------
    >>> import ndp
    >>> ndp.printed.muffliato_theorem12(([0, 1, 2], [1, 2, 3]), 2, coalition=[2, 3]).value.shape
    (4,)
    """
    network = network_of(graph, weight, weights)
    members = [network.index(v) for v in _listed(coalition, "coalition")]
    return _ndp.theorem12_towards(_matrix(network, weights, 0.0), members, _rounds(rounds), bool(from_one))


def muffliato_corollary1(
    graph: GraphLike, rounds: int, observer: Hashable, *, weight: str | bool | None = None, weights: Any = None
) -> Printed:
    """Corollary 1 of Muffliato: every node loses the mean.

    Parameters
    ----------
    graph, rounds, observer, weight, weights
        As in `muffliato_theorem1`.

    Returns
    -------
    Printed

    Examples
    --------
    >>> import ndp
    >>> ndp.printed.muffliato_corollary1(([0, 1], [1, 2]), 2, observer=2).value.shape
    (3,)
    """
    network = network_of(graph, weight, weights)
    return _ndp.corollary3_towards(_matrix(network, weights, 0.0), [network.index(observer)], _rounds(rounds))


def muffliato_corollary3(
    graph: GraphLike,
    rounds: int,
    coalition: Iterable[Hashable],
    *,
    weight: str | bool | None = None,
    weights: Any = None,
) -> Printed:
    """Corollary 3 of Muffliato: every node loses the mean to colluders.

    Parameters
    ----------
    graph, rounds, coalition, weight, weights
        As in `muffliato_theorem12`.

    Returns
    -------
    Printed

    Examples
    --------
    >>> import ndp
    >>> ndp.printed.muffliato_corollary3(([0, 1, 2], [1, 2, 3]), 2, coalition=[2, 3]).value.shape
    (4,)
    """
    network = network_of(graph, weight, weights)
    members = [network.index(v) for v in _listed(coalition, "coalition")]
    return _ndp.corollary3_towards(_matrix(network, weights, 0.0), members, _rounds(rounds))


def walk_losses(
    graph: GraphLike,
    steps: int,
    *,
    order: float,
    sigma: float,
    sensitivity: float = 1.0,
    known_senders: bool = False,
    weight: str | bool | None = None,
    weights: Any = None,
) -> Printed:
    """Theorem 3 of the random-walk paper for all pairs, by the log matrix, in nats: row exposed, column observer.

    False: contributions that are observed together cost more than their sum.

    Parameters
    ----------
    graph, weight, weights
        As in `ndp.gossip`.
    steps : int
        Length of the walk.
    order, sigma, sensitivity : float
        Order of the divergence, noise of a contribution, how far a contribution may move.
    known_senders : bool, optional
        Whether observers know from whom the token comes.

    Returns
    -------
    Printed

    Examples
    --------
    >>> import ndp
    >>> ndp.printed.walk_losses(([0, 1], [1, 2]), 100, order=2.0, sigma=10.0).value.shape
    (3, 3)
    """
    network = network_of(graph, weight, weights)
    matrix = _matrix(network, weights, 0.0)
    scales = (number_of(order, "order"), *scales_of(sigma, sensitivity))
    return _ndp.walk_matrix(matrix, network._native, _rounds(steps, "steps"), bool(known_senders), *scales)


def walk_losses_from(
    graph: GraphLike,
    steps: int,
    node: Hashable,
    *,
    order: float,
    sigma: float,
    sensitivity: float = 1.0,
    weight: str | bool | None = None,
    weights: Any = None,
) -> Printed:
    """Theorem 3 of the random-walk paper from one node, by sums over powers, in nats.

    False, as `walk_losses`.

    Parameters
    ----------
    graph, steps, order, sigma, sensitivity, weight, weights
        As in `walk_losses`.
    node : hashable
        The exposed node.

    Returns
    -------
    Printed

    Examples
    --------
    >>> import ndp
    >>> ndp.printed.walk_losses_from(([0, 1], [1, 2]), 100, 0, order=2.0, sigma=10.0).value.shape
    (3,)
    """
    network = network_of(graph, weight, weights)
    matrix = _matrix(network, weights, 0.0)
    scales = (number_of(order, "order"), *scales_of(sigma, sensitivity))
    return _ndp.walk_row(matrix, network.index(node), _rounds(steps, "steps"), *scales)
