"""Noise in other people's training, calibrated for the whole run: a framework is imported only when it is used."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import accountants
from ._grades import Guarantee
from ._meter import _clipped
from ._ndp import NdpError

__all__ = ["FlowerMod", "flower"]


class FlowerMod:
    """A mod for Flower clients: clips an update, adds the noise, counts the rounds, and stops when they are used up; made by `flower`.

    Attributes
    ----------
    sigma : float
        Standard deviation of the noise on every number of an update.
    epsilon : Guarantee
        What all rounds together cost, at `delta`: at most what was asked for.
    """

    def __init__(
        self, sigma: float, epsilon: Guarantee, delta: float, rounds: int, clip: float, public: Sequence[str], seed: int | None
    ) -> None:
        self.sigma, self.epsilon, self.delta = sigma, epsilon, delta
        self.rounds, self.clip, self.public_metrics = rounds, clip, tuple(public)
        # With entropy of the system every update draws from a generator of its own: the copies of a mod that a framework sends to
        # processes, and processes that are forked, would draw the same noise from one that they share.
        self._rng = None if seed is None else np.random.default_rng(seed)

    def __call__(self, message: Any, context: Any, call_next: Callable[[Any, Any], Any]) -> Any:
        """What Flower calls."""
        flwr: Any = importlib.import_module("flwr.app")
        kind = str(message.metadata.message_type)
        if kind.split(".")[0] != "train":
            raise NdpError(
                f"a reply to a message of type {kind!r} would be sent without noise: evaluate on the server, "
                "or give the mod to @app.train(mods=[...]) alone and take what evaluation tells for public"
            )
        found = context.state.config_records.get("ndp")
        used = 0 if found is None else int(found["rounds"])
        if used >= self.rounds:
            raise NdpError(f"the noise was calibrated for {self.rounds} rounds, and this client has sent as many updates: it sends no more")
        name, old = _only_record(message, "the message of the server")
        reply = call_next(message, context)
        if reply.has_error():
            return reply
        answered, new = _only_record(reply, "the reply of the client")
        noised = self._noised(_arrays(old), _arrays(new))
        # Before the reply is handed over: Flower takes the state and the reply together.
        context.state["ndp"] = flwr.ConfigRecord({"rounds": used + 1})
        for key in [key for key in reply.content if key != answered]:
            record = reply.content[key]
            shown = [metric for metric in self.public_metrics if isinstance(record, flwr.MetricRecord) and metric in record]
            del reply.content[key]
            if shown:
                reply.content[key] = flwr.MetricRecord({metric: record[metric] for metric in shown})
        reply.content[answered] = flwr.ArrayRecord({key: flwr.Array(x) for key, x in noised.items()})
        return reply

    def _noised(self, old: dict[str, NDArray[Any]], new: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        if list(old) != list(new) or any(old[key].shape != new[key].shape for key in old):
            raise NdpError("the arrays of the client's model have other names or shapes than the server's")
        trained = [key for key in old if old[key].dtype.kind == "f" and old[key].size]
        update = [np.asarray(new[key], np.float64) - np.asarray(old[key], np.float64) for key in trained]
        noised = dict(old)
        rng = np.random.default_rng() if self._rng is None else self._rng
        for key, change in zip(trained, _clipped(update, self.clip, "of this client")):
            change += self.sigma * rng.standard_normal(change.shape)
            noised[key] = np.asarray(old[key] + change, old[key].dtype)
        return noised

    def __repr__(self) -> str:
        return f"<FlowerMod: {self.rounds} rounds, clip {self.clip:g}, sigma {self.sigma:.6g}, {self.epsilon!r}>"


def _only_record(message: Any, whose: str) -> tuple[str, Any]:
    records = list(message.content.array_records.items())
    if len(records) != 1:
        raise NdpError(f"{whose} must have one record of arrays, got {len(records)}")
    name, record = records[0]
    return str(name), record


def _arrays(record: Any) -> dict[str, NDArray[Any]]:
    return {key: array.numpy() for key, array in record.items()}


def flower(
    *,
    epsilon: float,
    delta: float,
    rounds: int,
    clip: float,
    public_metrics: Sequence[str] = (),
    seed: int | None = None,
) -> FlowerMod:
    """A mod for Flower clients whose noise keeps ``(epsilon, delta)`` over all rounds of a training.

    Protected are all data of one client, replaced by other data, from whoever sees every update that it sends: the server, too. Each
    update is clipped to ``clip``, so that it moves by up to ``2 * clip``, and gets Gaussian noise of deviation ``sigma``; after
    ``rounds`` updates a client sends no more. Other clients see what the server makes of the updates, and learn no more. Numbers that
    are integers stay as the server sent them. Metrics are dropped but for those named.

    Not protected is who takes part, and in which rounds, and that a client fails. Assumed is that Flower keeps the client's state as
    long as the run; another run about the same data is another release, whose losses add. The noise is that of floats, and the
    guarantee that of real numbers.

    Parameters
    ----------
    epsilon, delta : float
        What is kept over all rounds.
    rounds : int
        How many updates a client may send; counted in the state of its context.
    clip : float
        The largest Euclidean norm of an update, all its arrays together.
    public_metrics : sequence of str
        Metrics of a reply that are sent as they are, because they are public; as ``"num-examples"`` must be where a strategy weights by it.
    seed : int, optional
        For tests alone: whoever knows the seed knows the noise. The system's entropy by default.

    Returns
    -------
    FlowerMod

    Examples
    --------
    >>> from ndp import frameworks
    >>> mod = frameworks.flower(epsilon=3.0, delta=1e-5, rounds=100, clip=1.0)
    >>> print(f"{mod.sigma:.3f}")
    27.812
    >>> float(mod.epsilon) <= 3.0
    True
    """
    if not (math.isfinite(clip) and clip > 0):
        raise NdpError(f"clip must be positive and finite, got {clip}")
    if rounds < 1:
        raise NdpError(f"rounds must be at least 1, got {rounds}")
    # Rounds of one deviation are one release of a change that is larger by the root of their number, rounded up.
    change = 2.0 * clip * math.sqrt(rounds) * (1.0 + 2.0**-50)
    whole = accountants.Gaussian.within(epsilon=epsilon, delta=delta, sensitivity=change)
    return FlowerMod(whole.sigma, whole.epsilon(delta=delta), delta, rounds, clip, public_metrics, seed)
