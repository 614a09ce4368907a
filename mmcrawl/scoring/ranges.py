"""Ranges of parameters."""

from collections.abc import Mapping
from math import inf
from typing import TypeAlias

__all__ = ["Ranges", "check_ranges"]

Ranges: TypeAlias = Mapping[str, tuple[float, float]]
"""Least and greatest value of parameters, by name; `inf` for no bound."""


def check_ranges(ranges: Ranges, **values: float) -> None:
    """Raise ValueError if a value is outside its range, or no finite number.

    >>> check_ranges({"beta": (0, 1)}, beta=0.8)
    """
    for name, value in values.items():
        least, greatest = ranges[name]
        if not (least <= value <= greatest and value < inf):  # False for nan
            bounds = f"{least:g} to {greatest:g}" if greatest < inf else f"{least:g} up"
            raise ValueError(f"{name} must be a number from {bounds}, not {value}")
