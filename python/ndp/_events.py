"""Gaussian losses as events of ``dp_accounting``."""

from __future__ import annotations

from typing import Any


def gaussian(mu: float) -> Any:
    """A Gaussian release of parameter ``mu``, as ``dp_accounting`` counts it."""
    try:
        from dp_accounting import dp_event
    except ImportError:
        raise ImportError("to_dp_event() needs the package dp-accounting") from None
    if mu == 0.0:
        return dp_event.NoOpDpEvent()
    # Rounded towards less noise, so that the event never promises more than the loss.
    import math

    return dp_event.GaussianDpEvent(math.nextafter(1.0 / mu, 0.0))
