"""Noise in other people's training, calibrated for the whole run: a framework is imported only when it is used."""

from __future__ import annotations

from typing import Any

from ._flare import filter_class, flare
from ._flower import FlowerMod, flower, flower_strategy
from ._p2pfl import P2pflFilter, p2pfl

__all__ = ["FlowerMod", "P2pflFilter", "flare", "flower", "flower_strategy", "p2pfl"]


def __getattr__(name: str) -> Any:
    # In configurations of NVIDIA FLARE, which name a class.
    if name == "FlareFilter":
        return filter_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
