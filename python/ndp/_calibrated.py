"""The noise of all updates that somebody sends: calibrated once, drawn for each of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import accountants
from ._checks import _whole
from ._grades import Exact, Guarantee
from ._meter import _clipped
from ._ndp import NdpError
from ._rounded import UpperEnd, digits_of


def calibrated(epsilon: float, delta: float, rounds: int, clip: float) -> accountants.Gaussian:
    """The Gaussian mechanism of all rounds together, at the noise that keeps ``(epsilon, delta)``."""
    if not (math.isfinite(clip) and clip > 0):
        raise NdpError(f"clip must be positive and finite, got {clip}")
    rounds = _whole(rounds, "rounds")
    # A meter that runs along rounds every message up, and is to allow the last one at the same budget.
    enough = accountants.Gaussian.within(epsilon=epsilon, delta=delta, sensitivity=moved(clip, rounds) * (1.0 + 1e-10))
    return accountants.Gaussian(enough.sigma, sensitivity=moved(clip, rounds))


def moved(clip: float, rounds: int) -> float:
    """How far so many clipped updates of replaced data are apart, at most."""
    # Rounds of one deviation are one release of a change that is larger by the root of their number, rounded up.
    return 2.0 * clip * math.sqrt(rounds) * (1.0 + 2.0**-50)


def noised(update: dict[str, NDArray[Any]], clip: float, sigma: float, rng: np.random.Generator | None) -> dict[str, NDArray[np.float64]]:
    """The arrays, clipped in the norm of all of them together, each number with noise; of new entropy where there is no generator."""
    clipped = _clipped([np.asarray(x, np.float64) for x in update.values()], clip, "of this client")
    rng = np.random.default_rng() if rng is None else rng
    return {key: x + sigma * rng.standard_normal(x.shape) for key, x in zip(update, clipped)}


class Calibrated:
    """What the filters of all frameworks are: the noise of one update, what all rounds cost together, and how many there may be."""

    def __init__(self, sigma: float, epsilon: Guarantee, delta: float, rounds: int, clip: float, seed: int | None) -> None:
        # A noise that is needed is shown rounded up.
        self.sigma, self.epsilon, self.delta = UpperEnd(sigma), epsilon, delta
        self.rounds, self.clip = _whole(rounds, "rounds"), clip
        # With entropy of the system every update draws from a generator of its own: the copies of a filter that a framework sends to
        # processes, and processes that are forked, would draw the same noise from one that they share.
        self._rng = None if seed is None else np.random.default_rng(seed)

    @property
    def _settings(self) -> dict[str, int | float]:
        return {"rounds": self.rounds, "clip": float(self.clip), "sigma": float(self.sigma)}

    def _changes(self, old: dict[str, NDArray[Any]], new: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The old arrays with the clipped and noised change of each that has real numbers, in its type."""
        trained = [key for key in old if old[key].dtype.kind == "f" and old[key].size]
        update = {key: np.asarray(new[key], np.float64) - np.asarray(old[key], np.float64) for key in trained}
        changes = noised(update, self.clip, self.sigma, self._rng)
        return {**old, **{key: np.asarray(old[key] + change, old[key].dtype) for key, change in changes.items()}}

    def _spent(self, sent: int) -> Guarantee:
        """The epsilon of so many updates, at the delta of all."""
        if not sent:
            return Exact(0.0, "epsilon", {"delta": self.delta})
        return accountants.Gaussian(self.sigma, sensitivity=moved(self.clip, sent)).epsilon(delta=self.delta)

    def __repr__(self) -> str:
        clip = digits_of(self.clip, up=False)
        return f"<{type(self).__name__}: {self.rounds} rounds, clip {clip}, sigma {self.sigma:.6g}, {self.epsilon!r}>"
