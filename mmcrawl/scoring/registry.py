"""The algorithms by name: ours, and those other packages register."""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any

from mmcrawl.errors import MmcrawlError
from mmcrawl.scoring.base import LinkSource, Scorer
from mmcrawl.scoring.breadth import Breadth
from mmcrawl.scoring.similarity import LinkSimilarity
from mmcrawl.scoring.urlrule import UrlRule

__all__ = ["ENTRY_POINT_GROUP", "algorithm_names", "make_scorer"]

ENTRY_POINT_GROUP = "mmcrawl.scorers"
"""Group under which a package registers `name = module:factory`; the factory is called like the
constructor of a scorer: `factory(source, similarity, **parameters)`."""

_OURS: Mapping[str, Callable[..., Scorer]] = {
    "breadth": lambda source, similarity: Breadth(),
    "urlrule": UrlRule,
}


def algorithm_names() -> list[str]:
    """Return the names of all algorithms, sorted."""
    return sorted({*_OURS, *(entry.name for entry in entry_points(group=ENTRY_POINT_GROUP))})


def make_scorer(
    name: str, source: LinkSource, similarity: LinkSimilarity, **parameters: Any
) -> Scorer:
    """Return a new scorer of the algorithm called `name`.

    Raises:
        MmcrawlError: there is no such algorithm, or it takes no such parameter.
    """
    factory = _OURS.get(name)
    if factory is None:
        found = entry_points(group=ENTRY_POINT_GROUP, name=name)
        if not found:
            raise MmcrawlError(
                f"unknown algorithm {name!r}; there are {', '.join(algorithm_names())}"
            )
        factory = next(iter(found)).load()
    try:
        return factory(source, similarity, **parameters)
    except TypeError as error:
        raise MmcrawlError(f"algorithm {name}: {error}") from error
