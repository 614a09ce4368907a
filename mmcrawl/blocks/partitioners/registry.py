"""The partitioners by name: built in, or registered by other packages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache
from inspect import signature
from typing import Any, NamedTuple

from mmcrawl.blocks.partitioners.base import Partitioner
from mmcrawl.blocks.topics import TopicRules
from mmcrawl.errors import BlockError
from mmcrawl.plugins import Registry

_NEXT_OPTION = re.compile(r";(?=\s*\w+\s*=)")

ENTRY_POINT_GROUP = "mmcrawl.partitioners"
"""Group under which a package registers `name = module:factory`."""

_PARTITIONERS: Registry[Partitioner] = Registry(
    "partitioner",
    "option",
    ENTRY_POINT_GROUP,
    {
        "bwap": "mmcrawl.blocks.partitioners.bwap:Bwap",
        "quark": "mmcrawl.blocks.partitioners.quark:Quark",
        "spcola": "mmcrawl.blocks.partitioners.spcola:Spcola",
    },
    BlockError,
)


LEARNT, RULES = "learnt", "rules"
KINDS_BY = (LEARNT, RULES)
"""What may tell the kinds of blocks: the model that was trained, or the rules of Wang & Zhu 2012.
The rules are what ``spcola``, their own method, has by default; the others have the model."""


def partitioner_names() -> list[str]:
    """Return the names of all partitioners, sorted."""
    return _PARTITIONERS.names()


class Method(NamedTuple):
    """How pages are cut, and how the topics of their blocks are found."""

    cut: Partitioner  # cuts them
    topics: TopicRules  # the rules for the topics of blocks
    kinds: str  # what tells their kinds, one of `KINDS_BY`


def make_method(method: str, **options: Any) -> Method:
    """Return the method that a text names: ``bwap``, or with options ``bwap:min_size=0;theta=9``.

    Args:
        method: Name of a partitioner, and its options. Those of
            :class:`~mmcrawl.blocks.topics.TopicRules` go with each of them that has none of its
            own with that name, and ``kinds`` (:data:`KINDS_BY`) with all. The text of an option
            ends where ``;NAME=`` follows.
        options: Further ones, which win over those of the text.

    Raises:
        BlockError: there is no such partitioner, it cannot be loaded, it takes no such option, or
            an option has a value it cannot have.
    """
    name, _, text = method.partition(":")
    given = _options(method, text) | options
    factory = _PARTITIONERS.factory(name)
    known = _parameters(factory)
    topics = [field.name for field in fields(TopicRules) if field.name not in known]
    _PARTITIONERS.check(name, given, [*known, *topics, "kinds"])
    kinds = given.pop("kinds", RULES if name == "spcola" else LEARNT)
    if kinds not in KINDS_BY:
        raise BlockError(f"partitioner {name}: kinds={kinds}; it is {' or '.join(KINDS_BY)}")
    try:
        rules = TopicRules.of(**{key: given.pop(key) for key in topics if key in given})
        return Method(factory(**given), rules, kinds)
    except (TypeError, ValueError) as error:
        raise BlockError(f"partitioner {name}: {error}") from error


def make_partitioner(method: str, **options: Any) -> Partitioner:
    """Return the partitioner that a text names, as :func:`make_method` reads it."""
    return make_method(method, **options).cut


@cache
def _parameters(factory: Callable[..., Partitioner]) -> Sequence[str]:
    return list(signature(factory).parameters)


def _options(method: str, text: str) -> dict[str, Any]:
    found = {}
    for part in filter(None, _NEXT_OPTION.split(text)):
        name, equals, value = part.partition("=")
        if not equals:
            raise BlockError(f"{method!r} is not understood; write METHOD:option=value;…")
        found[name.strip()] = value.strip()
    return found
