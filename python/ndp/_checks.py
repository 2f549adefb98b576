"""Counts, seeds and progress, as every call takes them."""

from __future__ import annotations

import operator
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ._ndp import NdpError

#: ``True`` for a line on standard error, or a function of the observers done and all observers.
Progress = bool | Callable[[int, int], Any]


def _same(one: Any, other: Any) -> bool:
    """Whether two parameters are equal, arrays entry by entry."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if hasattr(one, "toarray") and hasattr(other, "toarray"):
        return bool(one.shape == other.shape and abs(one - other).sum() == 0)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return bool(np.array_equal(one, other))
    return bool(one == other)


def _rounds(rounds: int, name: str = "rounds") -> int:
    return _count(rounds, name)


def _count(count: int, name: str) -> int:
    try:
        number = operator.index(count)
    except TypeError:
        raise NdpError(f"{name} must be a whole number, got {count!r}") from None
    if number < 1:
        raise NdpError(f"{name} must be at least 1, got {number}")
    if number >= 1 << 32:
        raise NdpError(f"{name} must be below 2**32, got {number}")
    return number


def _seed(seed: int) -> int:
    try:
        number = operator.index(seed)
    except TypeError:
        raise NdpError(f"a seed is a whole number, got {seed!r}") from None
    if not 0 <= number < 1 << 64:
        raise NdpError(f"a seed must lie between 0 and 2**64 - 1, got {number}")
    return number


def _reporter(progress: Progress, what: str = "observers") -> Callable[[int, int], Any] | None:
    if callable(progress):
        return progress
    if not progress:
        return None
    last = [-1.0]

    def tell(done: int, total: int) -> None:
        now = time.monotonic()
        if done == total or now - last[0] >= 1.0:
            last[0] = now
            print(f"\r{done} of {total} {what}", end="\n" if done == total else "", file=sys.stderr, flush=True)

    return tell
