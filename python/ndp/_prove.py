"""Proof files: what an answer says, in fractions that a stranger can follow."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any

from . import _ndp
from ._checks import _listed
from ._files import whole_file
from ._ndp import NdpError
from ._statement import names_of

#: Who observes: members, whether they use their own noise, whether senders are hidden, which edges they overhear.
Who = tuple[list[int], bool, bool, list[tuple[int, int]]]


class Origin:
    """The protocol of an answer, as it was when it was asked, and whether observers use their own noise."""

    __slots__ = ("native", "own_noise", "protocol")

    def __init__(self, protocol: Any, own_noise: bool = True) -> None:
        self.protocol = protocol
        self.own_noise = own_noise
        self.native: _ndp.Protocol = protocol._native

    def is_current(self) -> bool:
        """Whether the protocol is still the one that was asked: steps can be added to a program."""
        return self.protocol._cache is self.native

    def __reduce__(self) -> tuple[Any, ...]:
        return (Origin, (self.protocol, self.own_noise))


def prove(
    origin: Origin | None,
    observers: Sequence[Who],
    path: str | os.PathLike[str] | None,
    sources: Iterable[Hashable] | None,
) -> str:
    """The proof of an answer: its text, or, written to a path as it is found, its last line."""
    if origin is None:
        raise NdpError("this answer no longer knows its protocol, as it was read or its program was changed: compute it anew")
    protocol = origin.protocol
    if not isinstance(origin.native, _ndp.Protocol):
        raise NdpError("no proof file exists for this protocol: there are files for gossip, ndp.Program and ndp.programs")
    chosen = getattr(protocol, "_chosen", None)
    if chosen is None:
        declared: dict[str, Any] = {**dict.fromkeys(("along", "dimension", "period", "gap", "listed", "bounds")), "word": "use_level"}
    else:
        if protocol._parameters["hidden"] == "reveal":
            raise NdpError('no proof speaks of values that are revealed: give the program hidden="as_declared"')
        declared = chosen()._native()
    asked = protocol._parameters.get("asked")
    nodes = range(len(protocol.nodes)) if asked is None else asked
    if sources is not None:
        nodes = list(dict.fromkeys(protocol._index(u) for u in _listed(sources, "sources")))  # a pair stands once
    pairs = [(who, [u for u in nodes if u not in who[0]]) for who in {repr(who): who for who in observers}.values()]
    if not any(others for _, others in pairs):
        raise NdpError("the number of pairs to prove must be at least 1, got 0")
    names = names_of(protocol.nodes)
    if path is None:
        parts: list[str] = []
        _ndp.prove(origin.native, declared, pairs, names, parts.append)
        return "".join(parts)
    with whole_file(path) as file, ExitStack() as stack:
        to: Any = file
        if os.fspath(path).endswith(".gz"):
            import gzip

            to = stack.enter_context(gzip.GzipFile(filename="", mode="wb", compresslevel=4, fileobj=file, mtime=0))
        return _ndp.prove(origin.native, declared, pairs, names, lambda part: to.write(part.encode()))
