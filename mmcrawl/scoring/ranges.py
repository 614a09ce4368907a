"""Ranges of parameters."""

from math import isfinite

__all__ = ["check_ranges"]


def check_ranges(**parameters: tuple[float, float, float]) -> None:
    """Raise ValueError if a parameter is outside its range.

    Args:
        parameters: value, least and greatest of each, by name; `inf` for no bound.

    >>> check_ranges(beta=(0.8, 0, 1))
    """
    for name, (value, least, greatest) in parameters.items():
        if not (isfinite(value) and least <= value <= greatest):
            bounds = f"{least:g} to {greatest:g}" if isfinite(greatest) else f"{least:g} up"
            raise ValueError(f"{name} must be a number from {bounds}, not {value:g}")
