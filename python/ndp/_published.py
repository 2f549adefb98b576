"""Published protocols as programs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from . import _ndp
from ._graph import Graph, GraphLike, _matrix
from ._program import Program
from ._program_account import Number, Sensitivity, _number, _table
from ._checks import _count, _rounds
from ._ndp import NdpError
from ._protocols import network_of


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
    network = network_of(graph, weight, weights)
    parts = ([_number(x) for x in numbers], count, [list(group) for group in groups], _table(rows))
    native = _ndp.Program.published(name, network._native, _matrix(network, weights, 0.0), *parts)
    return Program._of(native, network, sensitivity, f"the program {name}")


def muffliato(
    graph: GraphLike, rounds: int, *, weight: str | bool | None = None, weights: Any = None
) -> Program:
    """Gossip with one noise per node, as a program; `ndp.gossip` answers the same question more quickly.

    Parameters
    ----------
    graph, rounds, weight, weights
        As in `ndp.gossip`.

    Returns
    -------
    Program

    Examples
    --------
    >>> import ndp
    >>> p = ndp.programs.muffliato(([0, 1], [1, 2]), rounds=2)
    >>> p.account(observer=2).verdict(0).loss
    Exact(1, 'unit loss')
    """
    return _published("muffliato", graph, None, weight=weight, weights=weights, count=_rounds(rounds))


def fresh_noise(
    graph: GraphLike, variances: Sequence[Number], *, weight: str | bool | None = None, weights: Any = None
) -> Program:
    """Gossip with noise anew in every round, as a program.

    Parameters
    ----------
    graph, weight, weights
        As in `ndp.gossip`.
    variances : sequence of numbers
        Of the noises of all rounds.

    Returns
    -------
    Program

    Examples
    --------
    >>> import ndp
    >>> p = ndp.programs.fresh_noise(([0, 1], [1, 2]), [1, "1/2"])
    >>> bool(p.account(observer=2).verdict(0).loss < 1.0)
    True
    """
    return _published("fresh_noise", graph, None, weight=weight, weights=weights, numbers=variances)


def randomized_gossip(graph: GraphLike, pairs: Iterable[tuple[Hashable, Hashable]]) -> Program:
    """Gossip over a known sequence of pairs, as a program.

    Parameters
    ----------
    graph : graph-like
        As in `ndp.gossip`.
    pairs : iterable of pairs
        Who meets, one pair a step.

    Returns
    -------
    Program

    Examples
    --------
    >>> import ndp
    >>> p = ndp.programs.randomized_gossip(([0, 1], [1, 2]), [(0, 1), (1, 2)])
    >>> p.account(observer=2).verdict(0).loss
    Exact(0.500001, 'unit loss')
    """
    network = Graph(graph)
    met = [[network.index(a), network.index(b)] for a, b in pairs]
    return _published("randomized_gossip", network, None, groups=met)


def inverse_of_lower(rows: Iterable[Iterable[Number]]) -> list[list[Fraction]]:
    """The exact inverse of a lower triangular matrix, such as a noise matrix for `Program.noise_over_time`.

    Parameters
    ----------
    rows : iterable of iterables of numbers
        Row ``k`` has ``k + 1`` entries.

    Returns
    -------
    list of lists of fractions.Fraction

    Examples
    --------
    >>> import ndp
    >>> ndp.programs.inverse_of_lower([[2], [1, 1]])
    [[Fraction(1, 2)], [Fraction(-1, 2), Fraction(1, 1)]]
    """
    return [[Fraction(x) for x in row] for row in _ndp.lower_inverse(_table(rows))]


def toeplitz(steps: int, band: Iterable[Number]) -> list[list[Fraction]]:
    """A banded lower triangular Toeplitz matrix, row by row up to the diagonal.

    Parameters
    ----------
    steps : int
        Number of rows.
    band : iterable of numbers
        How the first column starts.

    Returns
    -------
    list of lists of fractions.Fraction

    Examples
    --------
    >>> import ndp
    >>> ndp.programs.toeplitz(2, [1, "-1/2"])
    [[Fraction(1, 1)], [Fraction(-1, 2), Fraction(1, 1)]]
    """
    return [[Fraction(x) for x in row] for row in _ndp.lower_toeplitz(_count(steps, "steps"), [_number(x) for x in band])]


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
    """CorN-DSGD: noise of a chosen covariance across nodes, added once, then gossip.

    Parameters
    ----------
    graph, weight, weights
        As in `ndp.gossip`.
    covariance : sequence of sequences of numbers
        Of the noises that the nodes add to their values before the first round; every node knows its own alone.
    rounds : int
        How often everybody sends what it has to its neighbors and takes the mean.
    sensitivity : str or Sensitivity, optional
        As in `Program`.

    Returns
    -------
    Program

    References
    ----------
    Rodio, Chen, Larsson, *Optimizing privacy-utility trade-off in decentralized learning with generalized correlated noise*, 2025,
    arXiv:2501.14644.

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

    References
    ----------
    Biswas, Frey, Gaudel, Kermarrec, Lerévérend, Pires, Sharma, Taïani, *Low-cost privacy-preserving decentralized learning*, PoPETs
    2025.

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
        Which independent noises make the noise of each step, a row for each, with an entry for each step up to its own; the identity by default.

    Returns
    -------
    Program

    References
    ----------
    Bellet, Cyffers, Frey, Gaudel, Lerévérend, Taïani, *Unified privacy guarantees for decentralized learning via matrix
    factorization*, 2025, arXiv:2510.17480.

    Examples
    --------
    >>> import ndp
    >>> p = ndp.programs.dsgd(([0, 1], [1, 2]), steps=3, sensitivity="same_direction")
    >>> round(float(p.account(observer=2).profile(0, sigma=1.0).mu) ** 2, 6) == round(9 / 26, 6)
    True
    """
    if len(noise) not in (0, _rounds(steps, "steps")):
        raise NdpError(f"noise needs one row for each of the {steps} steps, got {len(noise)}")
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

    Node 0 is the server. The first node of a group leads it: it sees the sum of the group's values with their noises, and the server
    sees the sum of what the leaders have, each with a noise of the leader.

    Parameters
    ----------
    groups : sequence of sequences of int
        Nodes 1, 2, ..., each in one group; the server is in none.
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
    >>> p = ndp.programs.hierarchical([[1, 2], [3, 4]], own="1/4", leaders="1/2")
    >>> p.account(observer=0).verdict(1).loss
    Exact(0.500001, 'unit loss')
    """
    members = sorted(int(node) for group in groups for node in group)
    count = 1 + len(members)
    if members != list(range(1, count)):
        raise NdpError(f"the groups need to hold each of the nodes 1, 2, ... once, node 0 being the server, got {members[:10]}")
    network = Graph(([], []), nodes=count)
    return _published("hierarchical", network, sensitivity, numbers=(own, leaders), groups=groups)
