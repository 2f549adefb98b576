"""Counts, seeds and progress, as every call takes them."""

from __future__ import annotations

import operator
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ._ndp import NdpError

#: ``True`` for a line on standard error, or a function of the observers done and all observers.
Progress = bool | Callable[[int, int], Any]


class Parameters:
    """Something that answers by what it was made with, and so does its pickle."""

    _parameters: dict[str, Any]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What it was made with, for reading; to change something, make another."""
        return MappingProxyType({name: _held(x) for name, x in self._parameters.items()})


def _held(x: Any) -> Any:
    """A copy of what somebody else could change; arrays as ones that cannot be written."""
    if isinstance(x, np.ndarray):
        # What was copied once is not copied at every reading.
        if x.base is None and not x.flags.writeable:
            return x
        kept = np.array(x)
        kept.flags.writeable = False
        return kept
    if hasattr(x, "toarray"):
        return x.copy()
    if isinstance(x, dict):
        return {key: _held(part) for key, part in x.items()}
    if isinstance(x, list):
        return [_held(part) for part in x]
    if isinstance(x, tuple):
        parts = [_held(part) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    return x


def _listed(nodes: Iterable[Hashable], name: str) -> Iterable[Hashable]:
    """Nodes that a caller lists: a text would be read letter by letter."""
    if isinstance(nodes, str):
        raise NdpError(f"{name} must be a list of nodes, got the text {nodes!r}: give [{nodes!r}] for one node of this name")
    return nodes


def _mapping(x: Any, name: str) -> Mapping[Any, Any]:
    """A mapping that a caller gives."""
    if not isinstance(x, Mapping):
        raise NdpError(f"{name} must be a mapping, got {_told(x)}")
    return x


def _same(one: Any, other: Any) -> bool:
    """Whether two parameters are equal, arrays entry by entry."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if hasattr(one, "toarray") and hasattr(other, "toarray"):
        return bool(one.shape == other.shape and abs(one - other).sum() == 0)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return bool(np.array_equal(one, other))
    return bool(one == other)


def _told(x: Any) -> str:
    """A value as it stands in a message, cut where it is long."""
    try:
        text = repr(x)
    except ValueError:  # Python writes out no whole number of more than 4300 digits
        return f"a number too long to be written, of type {type(x).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _read(reads: str, values: Iterable[int] | None) -> tuple[str, list[int] | None]:
    """What a contribution reads, as the library takes it."""
    if not isinstance(reads, str):
        raise NdpError(f"reads must be 'nothing', 'seen' or 'hidden', with values= beside it, got {_told(reads)}")
    if reads == "nothing" and values is not None:
        raise NdpError("a contribution that reads nothing has no values that it reads: say 'seen' or 'hidden' of them")
    return reads, None if values is None else list(values)


def _as_float(x: Any, name: str) -> float:
    """A number as a float: a text that is none, and a whole number beyond all floats, are refused by name."""
    try:
        return float(x)
    except (OverflowError, TypeError, ValueError):
        raise NdpError(f"{name} must be a number that a float can hold, got {_told(x)}") from None


def _rounds(rounds: int, name: str = "rounds") -> int:
    return _count(rounds, name)


def _count(count: int, name: str) -> int:
    number = _whole(count, name)
    if number >= 1 << 32:
        raise NdpError(f"{name} must be below 2**32, got {_told(number)}")
    return number


def _several(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _whole(count: Any, name: str, least: int = 1) -> int:
    """A number of things, however many; a fraction is refused, of which a comparison would let one more through."""
    try:
        number = operator.index(count)
    except TypeError:
        raise NdpError(f"{name} must be a whole number, got {count!r}") from None
    if number < least:
        raise NdpError(f"{name} must be at least {least}, got {_told(number)}")
    return number


def _seed(seed: int) -> int:
    try:
        number = operator.index(seed)
    except TypeError:
        raise NdpError(f"a seed is a whole number, got {seed!r}") from None
    if not 0 <= number < 1 << 64:
        raise NdpError(f"a seed must lie between 0 and 2**64 - 1, got {_told(number)}")
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
