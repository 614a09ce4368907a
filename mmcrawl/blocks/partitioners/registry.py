"""The partitioners by name: ours, and those other packages register."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from inspect import signature
from pkgutil import resolve_name
from typing import Any, cast

from mmcrawl.blocks.partitioners.base import Partitioner
from mmcrawl.errors import BlockError

ENTRY_POINT_GROUP = "mmcrawl.partitioners"
"""Group under which a package registers `name = module:factory`."""

_OURS: Mapping[str, str] = {
    "bwap": "mmcrawl.blocks.partitioners.bwap:Bwap",
    "gdom": "mmcrawl.blocks.partitioners.gdom:Gdom",
    "nom": "mmcrawl.blocks.partitioners.nom:Nom",
    "quark": "mmcrawl.blocks.partitioners.quark:Quark",
    "spcola": "mmcrawl.blocks.partitioners.spcola:Spcola",
    "ypm": "mmcrawl.blocks.partitioners.ypm:Ypm",
}


def partitioner_names() -> list[str]:
    """Return the names of all partitioners, sorted."""
    return sorted({*_OURS, *(entry.name for entry in entry_points(group=ENTRY_POINT_GROUP))})


def make_partitioner(name: str, **options: Any) -> Partitioner:
    """Return the partitioner called `name`.

    Raises:
        BlockError: there is no such partitioner, it cannot be loaded, it takes no such option, or
            an option has a value it cannot have.
    """
    factory = _factory(name)
    known = list(signature(factory).parameters)
    for option in options:
        if option not in known:
            has = "; it has " + ", ".join(known) if known else "; it has none"
            raise BlockError(f"partitioner {name} has no option {option!r}{has}")
    try:
        return factory(**options)
    except (TypeError, ValueError) as error:
        raise BlockError(f"partitioner {name}: {error}") from error


def _factory(name: str) -> Callable[..., Partitioner]:
    if name in _OURS:
        return cast("Callable[..., Partitioner]", resolve_name(_OURS[name]))
    found = entry_points(group=ENTRY_POINT_GROUP, name=name)
    if not found:
        known = ", ".join(partitioner_names())
        raise BlockError(f"unknown partitioner {name!r}; there are {known}")
    entry = next(iter(found))
    try:
        return cast("Callable[..., Partitioner]", entry.load())
    except (ImportError, AttributeError) as error:
        raise BlockError(f"partitioner {name}: {entry.value} cannot be loaded ({error})") from error
