"""Factories by name: ours, and those other packages register as entry points."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from mmcrawl.errors import MmcrawlError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Registry(Generic[T]):
    """The factories of one kind of thing.

    Attributes:
        kind: what messages call it: ``algorithm``.
        option: what messages call an argument of a factory: ``parameter``.
        group: entry points under which other packages register `name = module:factory`.
        ours: `module:factory` of our own, by name; imported when they are asked for.
        error: what is raised.
    """

    kind: str
    option: str
    group: str
    ours: Mapping[str, str]
    error: type[MmcrawlError]

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted({*self.ours, *(entry.name for entry in _entry_points(self.group))})

    @cache  # noqa: B019 - registries last as long as the process
    def factory(self, name: str) -> Callable[..., T]:
        """Return the factory of that name.

        Raises:
            MmcrawlError: there is none, or it cannot be loaded.
        """
        if name in self.ours:
            return cast("Callable[..., T]", resolve_name(self.ours[name]))
        found = _entry_points(self.group).select(name=name)
        if not found:
            raise self.error(f"unknown {self.kind} {name!r}; there are {', '.join(self.names())}")
        entry = next(iter(found))
        try:
            return cast("Callable[..., T]", entry.load())
        except (ImportError, AttributeError) as error:
            raise self.error(
                f"{self.kind} {name}: {entry.value} cannot be loaded ({error})"
            ) from error

    def check(self, name: str, given: Iterable[str], known: Sequence[str]) -> None:
        """Raise the error if one of the arguments given is not known."""
        for option in given:
            if option not in known:
                has = "; it has " + ", ".join(known) if known else "; it has none"
                raise self.error(f"{self.kind} {name} has no {self.option} {option!r}{has}")


def _entry_points(group: str) -> EntryPoints:
    return _installed(group, *sys.path)


@cache
def _installed(group: str, *_: str) -> EntryPoints:
    """Return what is installed on some paths: to look takes 6 ms."""
    from importlib.metadata import entry_points  # which loads a reader of mails

    return entry_points(group=group)
