"""p2pfl: a filter between a node's training and its sending, which clips, draws the noise once for each update, and counts."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ._calibrated import Calibrated, calibrated
from ._flare import Count
from ._grades import Guarantee
from ._meter import Meter
from ._ndp import NdpError

#: Where a node keeps its filter.
_MARK = "_ndp_filter"


class P2pflFilter(Calibrated):
    """Clips every update of a p2pfl node, adds the noise once, counts, and stops when the rounds are used up; made by `p2pfl`.

    Attributes
    ----------
    sigma : float
        Standard deviation of the noise on every number of an update.
    epsilon : Guarantee
        What all rounds together cost, at `delta`: at most what was asked for.
    """

    def __init__(
        self, sigma: float, epsilon: Guarantee, delta: float, rounds: int, clip: float, public: Sequence[str], folder: str | None,
        meter: Meter | None, seed: int | None,
    ) -> None:  # fmt: skip
        if meter is not None and meter.clip != clip:
            raise NdpError(f"the meter counts contributions of norm {meter.clip}, and updates are clipped to {clip}")
        if meter is not None and meter.neighbors != "replace":
            raise NdpError(f"the noise is for replaced data: the meter needs neighbors='replace', got {meter.neighbors!r}")
        super().__init__(sigma, epsilon, delta, rounds, clip, seed)
        self.public, self.folder, self.meter, self.seed = tuple(public), folder, meter, seed
        self._lock = threading.Lock()
        self._nodes: dict[Hashable, _Attached] = {}
        # What the meter calls the noised updates that a node may have made a model of.
        self._known: dict[Hashable, dict[int, None]] = {}

    def attach(self, node: Any, name: str | None = None) -> Any:
        """Puts the filter into a node, before it learns.

        Parameters
        ----------
        node : p2pfl.node.Node
            Every node of the training, each once.
        name : str, optional
            By which `folder` knows the node after a restart, when its address may be another one; the address by default.

        Returns
        -------
        p2pfl.node.Node
            The node that was given.
        """
        attached = _Attached(self, node, name)
        if self.meter is not None:
            self.meter._place(attached.address)
        self._nodes[attached.address] = attached
        self._known.setdefault(attached.address, {})
        attached.begin()
        return node

    def spent(self) -> Guarantee:
        """The epsilon, at the filter's delta, of the node that has counted most updates here."""
        return self._spent(max((attached.used for attached in self._nodes.values()), default=0))

    def _contributed(self, address: Hashable) -> None:
        """Tells the meter of an update that has its noise."""
        if self.meter is None:
            return
        with self._lock:
            known = self._known[address]
            if self._alone():
                x = self.meter.contribute(address, "seen")
            elif known:
                x = self.meter.contribute(address, "hidden", list(known))
            else:
                x = self.meter.contribute(address, "nothing")
            y = self.meter.combine({x: 1, self.meter.noise(address, sigma=self.sigma): 1})
            known[y] = None

    def _sending(self, source: Hashable, to: Hashable) -> None:
        """Counts a message before it is sent: as every noised update that the model may depend on."""
        if self.meter is None:
            return
        with self._lock:
            if not self._alone():
                missing = [label for label in self.meter.nodes if label not in self._nodes]
                if missing:
                    raise NdpError(f"nodes {missing!r} of the meter have no filter: it would not hear of their updates")
            there = self._known.setdefault(to, {})
            for y in self._known[source]:
                if y not in there:
                    self.meter.send(source, to, y)
                    there[y] = None

    def _alone(self) -> bool:
        """Whether the meter is that of one node, which hears of nobody else's updates."""
        assert self.meter is not None
        return self.meter.view == "own_messages"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.meter is not None:
            raise TypeError("a filter with a meter is not pickled: the meter would not hear of what the copy sends")
        settings = (self.sigma, self.epsilon, self.delta, self.rounds, self.clip, self.public, self.folder, None, self.seed)
        return (P2pflFilter, settings)


def _file_name(name: str) -> str:
    """A name of a folder for any name; an address has signs that not every system allows."""
    return quote(name, safe="").replace(".", "%2E")


class _Held:
    """A count in the memory of one process."""

    def __init__(self, rounds: int) -> None:
        self.rounds, self.used, self._process = rounds, 0, os.getpid()

    def take(self) -> int:
        if os.getpid() != self._process:
            raise NdpError("this process was forked from the one that counts the updates of the node: give folder=, where processes count together")
        if self.used >= self.rounds:
            raise NdpError(f"the noise was calibrated for {self.rounds} rounds, and this node has counted as many updates: it sends no more")
        self.used += 1
        return self.used


class _Attached:
    """A node, between whose training and sending a filter stands."""

    def __init__(self, filter: P2pflFilter, node: Any, name: str | None) -> None:
        self.filter, self.node = filter, node
        self.learner: Any = getattr(node, "learner", None)
        self.protocol: Any = getattr(node, "_communication_protocol", None)
        for whole, names in ((self.learner, ("fit", "evaluate", "get_model")), (self.protocol, ("gossip_weights",))):
            for needed in names:
                if not callable(getattr(whole, needed, None)):
                    raise NdpError(f"a p2pfl node has {needed}, and {type(node).__name__} has not: version 0.4.4 is known here")
        if hasattr(self.learner, _MARK) or hasattr(self.protocol, _MARK):
            raise NdpError(f"node {node.addr!r} has a filter already")
        if node.state.round is not None:
            raise NdpError(f"node {node.addr!r} is learning: attach the filter before")
        self.address: Hashable = node.addr
        self.used = 0
        self._count: Count | _Held = (
            _Held(filter.rounds)
            if filter.folder is None
            else Count(os.path.join(filter.folder, _file_name(str(self.address if name is None else name))), filter._settings)
        )
        # False while the model may hold an update without noise.
        self._open = True

    def begin(self) -> None:
        """From here on the node trains and sends through the filter."""
        self._fit: Callable[[], Any] = self.learner.fit
        self._evaluate: Callable[[], dict[str, float]] = self.learner.evaluate
        self._gossip: Callable[..., None] = self.protocol.gossip_weights
        self.learner.fit, self.learner.evaluate, self.protocol.gossip_weights = self.fit, self.evaluate, self.gossip_weights
        for whole in (self.learner, self.protocol):
            setattr(whole, _MARK, self)

    def fit(self) -> Any:
        """Trains, and leaves in the model the noised update alone."""
        model = self.learner.get_model()
        old = [np.array(x) for x in model.get_parameters()]
        info = dict(model.additional_info)
        self._open = False
        try:
            self._fit()
            model = self.learner.get_model()
            sent = self._noised(old, [np.asarray(x) for x in model.get_parameters()])
            told = self._told(info, model.additional_info)
            # What is counted and then not sent is lost.
            self.used = self._count.take()
            self.filter._contributed(self.address)
            model.set_parameters(sent)
            model.additional_info = told
            if "num_samples" not in self.filter.public:
                model.set_contribution([self.address], 1)
        except BaseException:
            # As before the training; where this fails, too, nothing is sent any more.
            model = self.learner.get_model()
            model.set_parameters(old)
            model.additional_info = info
            self._open = True
            raise
        self._open = True
        return model

    def _noised(self, old: list[NDArray[Any]], new: list[NDArray[Any]]) -> list[NDArray[Any]]:
        if [x.shape for x in old] != [x.shape for x in new]:
            raise NdpError("the parameters after the training have other shapes than before")
        before, after = ({str(i): x for i, x in enumerate(arrays)} for arrays in (old, new))
        return list(self.filter._changes(before, after).values())

    def _told(self, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
        """What goes along with a model: what was there before the training, and what is public."""
        public = {key: after[key] for key in self.filter.public if key in after}
        secret = [key for key, value in after.items() if key not in before and key not in public and value is not None]
        if secret:
            raise NdpError(f"the training adds {', '.join(secret)} to the model, which would be sent without noise: take another aggregator")
        return {**before, **public}

    def evaluate(self) -> dict[str, float]:
        """What is evaluated is broadcast by p2pfl: of it only what is public."""
        return {key: value for key, value in self._evaluate().items() if key in self.filter.public}

    def gossip_weights(self, stop: Any, candidates: Any, status: Any, model_of: Callable[[str], Any], *more: Any, **options: Any) -> None:
        """Every model that is sent is asked for here, for one receiver."""

        def of(receiver: str) -> Any:
            if not self._open or self.node.learner is not self.learner:
                raise NdpError(f"the model of node {self.address!r} may hold an update without noise: it is not sent")
            found = model_of(receiver)
            if not self._open:
                raise NdpError(f"the training of node {self.address!r} began meanwhile: its model is not sent")
            if found[0] is not None:
                self.filter._sending(self.address, receiver)
            return found

        self._gossip(stop, candidates, status, of, *more, **options)

    def __reduce__(self) -> Any:
        raise TypeError("a node with a filter is not pickled: the copy would count for itself")


def p2pfl(
    *,
    epsilon: float,
    delta: float,
    rounds: int,
    clip: float = 1.0,
    public: Sequence[str] = (),
    folder: str | os.PathLike[str] | None = None,
    meter: Meter | None = None,
    seed: int | None = None,
) -> P2pflFilter:
    """A filter for p2pfl nodes whose noise keeps ``(epsilon, delta)`` over all rounds of a training.

    Protected are all data of one node, replaced by other data, from whoever sees every model that it sends. After each training the
    change of the model is clipped to ``clip``, so that it moves by up to ``2 * clip``, and gets Gaussian noise of deviation ``sigma``,
    once: the model itself holds the noised change from then on, and whatever is sent of it, to whom and how often, costs no more.
    After ``rounds`` updates the node trains and sends no more. Numbers that are integers stay as they were.

    What a node computes on its data beside the model is sent only where it is named as public: metrics of its evaluation (p2pfl
    broadcasts them), the number of its samples (aggregators weight by it; each counts as 1 without), what an aggregator's callbacks add
    to a model. Not protected is who takes part and when, and what p2pfl's loggers are told: they send it on where its web services or
    others are connected. The noise is that of floats, and the guarantee that of real numbers.

    Parameters
    ----------
    epsilon, delta : float
        What is kept over all rounds.
    rounds : int
        How many updates a node may send.
    clip : float
        The largest Euclidean norm of an update, all its arrays together.
    public : sequence of str
        ``"num_samples"``, names of metrics, and of what callbacks add to a model, that may be sent as they are.
    folder : str or path, optional
        Where updates are counted, on disk before they are sent, so that the count goes on after a restart. Without it the count lasts
        as long as the process: a second run about the same data is another release, whose losses add.
    meter : Meter, optional
        Hears of every update, and of every model before it is sent, and refuses what exceeds its limits. Its nodes are the addresses;
        each needs the filter, unless the meter is that of one node (``view=("own_messages", address)``). A model counts as all
        noised updates that it may depend on: an upper bound, whatever the aggregator.
    seed : int, optional
        For tests alone: whoever knows the seed knows the noise. The system's entropy by default.

    Returns
    -------
    P2pflFilter

    Examples
    --------
    >>> from ndp import frameworks
    >>> private = frameworks.p2pfl(epsilon=3.0, delta=1e-5, rounds=100)
    >>> print(f"{private.sigma:.3f}")
    27.812
    >>> float(private.epsilon) <= 3.0
    True
    """
    whole = calibrated(epsilon, delta, rounds, clip)
    where = None if folder is None else os.fspath(folder)
    return P2pflFilter(whole.sigma, whole.epsilon(delta=delta), delta, rounds, clip, public, where, meter, seed)
