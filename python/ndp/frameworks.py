"""Noise in other people's training, calibrated for the whole run: a framework is imported only when it is used."""

from __future__ import annotations

from typing import Any

from ._flare import filter_class, flare
from ._flower import FlowerMod, flower, flower_strategy

__all__ = ["FlowerMod", "flare", "flower", "flower_strategy"]


def __getattr__(name: str) -> Any:
    # In configurations of NVIDIA FLARE, which name a class.
    if name == "FlareFilter":
        return filter_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
