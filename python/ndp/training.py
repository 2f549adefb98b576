"""What private training costs: by gossip here; by a walk, by a server and locally in `ndp.accountants`.

Examples
--------
>>> import ndp
>>> run = ndp.training.gossip_sgd(
...     ([0, 1, 2, 3], [1, 2, 3, 0]), rounds=20, gossip_steps=3, step_size=0.1, lipschitz=1.0, smoothness=1.0
... )
>>> bool(run.loss(2, observer=0) <= 20.0)
True
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _ndp
from ._grades import UpperBound, number_of
from ._graph import Graph, GraphLike, OnNodes, _matrix
from ._ndp import NdpError
from ._checks import Progress, _held, _reporter, _rounds, _several
from ._protocols import _on_matrix
from ._rounded import upper_ends

__all__ = ["GossipSgd", "gossip_sgd"]


class GossipSgd(OnNodes):
    """Decentralized SGD: in every round a noisy gradient step, then some steps of gossip; made by `gossip_sgd`."""

    graph: Graph

    def __init__(self, graph: Graph, words: str, parameters: dict[str, Any]) -> None:
        self.graph = graph
        self.words = words
        self._parameters = _held(parameters)
        self._cache: dict[int, _ndp.TrainingObserver] | None = None

    def _observer(self, observer: Hashable) -> _ndp.TrainingObserver:
        v = self.graph.index(observer)
        if self._cache is None:
            self._cache = {}
        if v not in self._cache:
            p = self._parameters
            matrix = _matrix(self.graph, p["weights"], p["laziness"])
            shape = (self.graph.node_count, p["rounds"], p["gossip_steps"])
            steps = (p["chebyshev"], p["step_size"], p["constants"], p["clip"])
            self._cache[v] = _ndp.TrainingObserver(matrix, *shape, *steps, v)
        return self._cache[v]

    def loss(self, node: Hashable, observer: Hashable) -> UpperBound:
        """What an observer learns about a node over all rounds, in units of the local loss of one round.

        It holds as long as nobody hands its last model to the observer.

        Parameters
        ----------
        node, observer : hashable
            Their labels.

        Returns
        -------
        UpperBound
        """
        return self._observer(observer).loss(self.graph.index(node))

    def losses(self, observer: Hashable, progress: Progress = False) -> NDArray[np.float64]:
        """What an observer learns about every node, as in `loss`; infinite for the observer itself.

        Parameters
        ----------
        observer : hashable
            Its label.
        progress : bool or callable, optional
            As in `ndp.Protocol.all_losses`.

        Returns
        -------
        numpy.ndarray
        """
        v = self.graph.index(observer)
        others = [u for u in range(self.graph.node_count) if u != v]
        losses = np.full(self.graph.node_count, np.inf)
        losses[others] = self._observer(observer).losses(others, _reporter(progress))
        found: NDArray[np.float64] = upper_ends(losses, UpperBound)
        return found

    def epsilon(self, node: Hashable, observer: Hashable, sigma: float, delta: float) -> UpperBound:
        """The ``epsilon`` at ``delta`` of a node towards an observer, over all rounds.

        Parameters
        ----------
        node, observer : hashable
            Their labels.
        sigma : float
            Standard deviation of the noise on every gradient.
        delta : float
            Failure probability.

        Returns
        -------
        UpperBound
        """
        return self._observer(observer).epsilon(self.graph.index(node), number_of(sigma, "sigma"), number_of(delta, "delta"))

    def mean(self, observer: Hashable, sigma: float, order: float) -> UpperBound:
        """The mean Rényi loss over all nodes towards an observer, who counts as 0, in nats.

        Parameters
        ----------
        observer : hashable
            Its label.
        sigma : float
            Standard deviation of the noise on every gradient.
        order : float
            Above 1.

        Returns
        -------
        UpperBound
        """
        return self._observer(observer).mean(number_of(order, "order"), number_of(sigma, "sigma"))


def gossip_sgd(
    graph: GraphLike,
    rounds: int,
    *,
    gossip_steps: int,
    step_size: float,
    lipschitz: float,
    smoothness: float,
    convexity: float = 0.0,
    sensitivity: float | None = None,
    clip: float | None = None,
    chebyshev: float | None = None,
    weight: str | bool | None = None,
    weights: Any = None,
    laziness: float = 0.0,
) -> GossipSgd:
    """Decentralized SGD with noise on every gradient (Muffliato-SGD), as its nodes see it.

    Parameters
    ----------
    graph, weight, weights, laziness, chebyshev
        As in `ndp.gossip`.
    rounds : int
        Gradient steps.
    gossip_steps : int
        Steps of gossip after each.
    step_size : float
        Of the gradient steps.
    lipschitz, smoothness, convexity : float
        Largest gradient, largest and smallest curvature of the loss of an example over all models that may be met.
    sensitivity : float, optional
        Largest distance of the gradients of two data sets of a node; twice ``lipschitz`` by default.
    clip : float, optional
        Norm that the gradient of a node is clipped to, before noise.

    Returns
    -------
    GossipSgd

    References
    ----------
    Cyffers, Even, Bellet, Massoulié, *Muffliato*, NeurIPS 2022, arXiv:2206.05091, Algorithm 3; the accountant is the shift
    accountant of this project, not the paper's composition over hidden states.

    Examples
    --------
    >>> import ndp
    >>> run = ndp.training.gossip_sgd(
    ...     ([0, 1, 2, 3], [1, 2, 3, 0]), 10, gossip_steps=2, step_size=0.5, lipschitz=1.0, smoothness=1.0
    ... )
    >>> run.epsilon(2, observer=0, sigma=20.0, delta=1e-5) <= run.epsilon(1, observer=0, sigma=20.0, delta=1e-5)
    True
    """
    network, matrix = _on_matrix(graph, weight, weights, laziness)
    count, steps = _rounds(rounds), _rounds(gossip_steps, "gossip_steps")
    steepest = number_of(lipschitz, "lipschitz")
    apart = 2.0 * steepest if sensitivity is None else number_of(sensitivity, "sensitivity")
    if apart > 2.0 * steepest:
        raise NdpError(f"the sensitivity must be at most twice the Lipschitz constant, got {apart}")
    parameters = {
        "rounds": count,
        "gossip_steps": steps,
        "step_size": number_of(step_size, "step_size"),
        "constants": (steepest, apart, number_of(smoothness, "smoothness"), number_of(convexity, "convexity")),
        "clip": None if clip is None else number_of(clip, "clip"),
        "chebyshev": None if chebyshev is None else number_of(chebyshev, "chebyshev"),
        **matrix,
    }
    return GossipSgd(network, f"decentralized SGD of {_several(count, 'round')} with {_several(steps, 'step')} of gossip", parameters)
