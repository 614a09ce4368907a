"""The ranks by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from mmcrawl.errors import RankError
from mmcrawl.rank.graph import ArchiveGraph, Numbers
from mmcrawl.rank.ranks import Ranking, block_pagerank, hits, pagerank, quarkrank, topic_pagerank

Progress = Callable[[int, float], None]


@dataclass(frozen=True, slots=True)
class Method:
    """A rank of pages.

    Attributes:
        name: As on the command line.
        title: What a page's rank says.
        rank: From a graph, the content of its pages (None if the method needs none), and who is
            told of each step.
        needs_topic: Whether it needs content.
    """

    name: str
    title: str
    rank: Callable[[ArchiveGraph, Numbers | None, Progress | None], Ranking]
    needs_topic: bool = False


def _topic_pagerank(
    graph: ArchiveGraph, content: Numbers | None, progress: Progress | None
) -> Ranking:
    if content is None:
        raise RankError("topic-pagerank needs a topic: name one with --topic")
    return topic_pagerank(graph, content, progress=progress)


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method(
            "quarkrank",
            "links by the importance and the kind of the blocks they stand in",
            lambda graph, _, progress: quarkrank(graph, progress=progress),
        ),
        Method(
            "block-pagerank",
            "links by the importance of the blocks they stand in",
            lambda graph, _, progress: block_pagerank(graph, progress=progress),
        ),
        Method(
            "pagerank",
            "links, all of a page alike",
            lambda graph, _, progress: pagerank(graph, progress=progress),
        ),
        Method(
            "topic-pagerank",
            "links by how near they and their neighbours are to a topic",
            _topic_pagerank,
            needs_topic=True,
        ),
        Method(
            "hits",
            "authorities: pages that good hubs link to",
            lambda graph, _, progress: hits(graph, progress=progress)[0],
        ),
        Method(
            "hubs",
            "hubs: pages that link to good authorities",
            lambda graph, _, progress: hits(graph, progress=progress)[1],
        ),
    )
}
"""All methods, by name; the first is the default."""


def method_named(name: str) -> Method:
    """Return a method.

    Raises:
        RankError: there is none of that name.
    """
    if name not in METHODS:
        near = get_close_matches(name, METHODS, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise RankError(f"there is no method {name!r}; {hint}there are {', '.join(METHODS)}")
    return METHODS[name]
