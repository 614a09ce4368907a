"""The interface of partitioners, and the default one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from mmcrawl.page.html.tree import PageTree

DEFAULT_METHOD = "bwap"
DEFAULT_LEVEL = 3
MAX_LEVEL = 50
"""The kinds of the blocks are found level by level: each costs as much as the page."""

N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A block as a partitioner found it.

    Attributes:
        start, end: Byte range of the page as received; not empty.
        children: The cuts of the next level: inside this one, in order, not overlapping.
    """

    node: int  # the element it was cut from, an index into the tree
    start: int
    end: int
    children: tuple[Cut, ...] = ()


class Partitioner(Protocol):
    """Chooses the block boundaries of a page.

    Another package registers its own as an entry point of the group ``mmcrawl.partitioners``: a
    factory, called with the keyword parameters that the user gives, that returns a partitioner.
    """

    def __call__(self, tree: PageTree, level: int) -> list[Cut]:
        """Return the blocks of a page: in order, not overlapping; cut again up to `level` times."""
        ...


def number(name: str, value: float | str, kind: type[N], least: int) -> N:
    """Return a numeric option, which may be text; a ValueError if it is none, or below `least`."""
    try:
        found = kind(value)
    except (ValueError, OverflowError) as error:
        fraction = " without a fraction" if kind is int else ""
        raise ValueError(f"{name} must be a number{fraction}, not {value!r}") from error
    if not found >= least:
        raise ValueError(f"{name} must be at least {least}, not {value!r}")
    return found


def switch(name: str, value: bool | str) -> bool:
    """Return an option that is on or off, which may be text; a ValueError if it is neither."""
    found = {"1": True, "true": True, "0": False, "false": False}.get(str(value).lower())
    if found is None:
        raise ValueError(f"{name} must be true or false, not {value!r}")
    return found
