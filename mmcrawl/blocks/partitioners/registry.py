"""The partitioners by name: ours, and those other packages register."""

from __future__ import annotations

from inspect import signature
from typing import Any

from mmcrawl.blocks.partitioners.base import Partitioner
from mmcrawl.errors import BlockError
from mmcrawl.plugins.registry import Registry

ENTRY_POINT_GROUP = "mmcrawl.partitioners"
"""Group under which a package registers `name = module:factory`."""

_PARTITIONERS: Registry[Partitioner] = Registry(
    "partitioner",
    "option",
    ENTRY_POINT_GROUP,
    {
        "bwap": "mmcrawl.blocks.partitioners.bwap:Bwap",
        "gdom": "mmcrawl.blocks.partitioners.gdom:Gdom",
        "nom": "mmcrawl.blocks.partitioners.nom:Nom",
        "quark": "mmcrawl.blocks.partitioners.quark:Quark",
        "spcola": "mmcrawl.blocks.partitioners.spcola:Spcola",
        "ypm": "mmcrawl.blocks.partitioners.ypm:Ypm",
    },
    BlockError,
)


def partitioner_names() -> list[str]:
    """Return the names of all partitioners, sorted."""
    return _PARTITIONERS.names()


def make_partitioner(name: str, **options: Any) -> Partitioner:
    """Return the partitioner called `name`.

    Raises:
        BlockError: there is no such partitioner, it cannot be loaded, it takes no such option, or
            an option has a value it cannot have.
    """
    factory = _PARTITIONERS.factory(name)
    _PARTITIONERS.check(name, options, list(signature(factory).parameters))
    try:
        return factory(**options)
    except (TypeError, ValueError) as error:
        raise BlockError(f"partitioner {name}: {error}") from error
