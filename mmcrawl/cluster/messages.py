"""Links that a partition found for another one, on their way.

* ``message``: ``JOB/PART/WRITER/NUMBER``; ``at`` and ``bytes``, what a worker wrote to a partition
  at once. Its owner takes the links in, and removes the message once its log has what that brought.

A message is written before the log says that its page was fetched, so that none is lost; it may
come twice then, and links that are known are left alone.
"""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from mmcrawl.cluster.changes import packed, unpacked
from mmcrawl.cluster.partition import PageElsewhere
from mmcrawl.cluster.store import SharedStore
from mmcrawl.frontier.records import NewLink
from mmcrawl.store.plain_values import PlainForm

_LINKS_AT_ONCE = 2_000
_AT_ONCE = 200  # messages that are read at once; the others come next time


@dataclass(frozen=True, slots=True)
class LinksOfPage:
    """Links for a partition.

    Attributes:
        page: that they were found on; None for links that come from no page.
        links: as they were found.
    """

    page: PageElsewhere | None
    links: tuple[NewLink, ...]


_FORM = PlainForm[tuple[LinksOfPage, ...]](tuple[LinksOfPage, ...])


def encode_message(links: Sequence[LinksOfPage]) -> bytes:
    """Return the links of some pages as bytes."""
    return packed(json.dumps(_FORM.write(tuple(links)), separators=(",", ":")).encode())


def decode_message(data: bytes) -> tuple[LinksOfPage, ...]:
    """Return what `encode_message` wrote.

    Raises:
        ValueError: it did not write this.
    """
    try:
        return _FORM.read(json.loads(unpacked(data)))
    except RecursionError as error:
        raise ValueError(f"this is no message: {error}") from error


class Outbox:
    """Links by the partition they are for, those of one page together."""

    def __init__(self) -> None:
        self._links: defaultdict[int, dict[PageElsewhere | None, list[NewLink]]] = defaultdict(dict)

    def __bool__(self) -> bool:
        return bool(self._links)

    def add(self, part: int, page: PageElsewhere | None, link: NewLink) -> None:
        """Add a link for a partition."""
        self._links[part].setdefault(page, []).append(link)

    def take(self) -> list[tuple[int, bytes]]:
        """Take out all, encoded, each with its partition."""
        taken = [
            (part, encode_message(some))
            for part, pages in self._links.items()
            for some in _batches(LinksOfPage(page, tuple(links)) for page, links in pages.items())
        ]
        self._links.clear()
        return taken


def _batches(pages: Iterable[LinksOfPage]) -> Iterator[list[LinksOfPage]]:
    """Yield pages by some thousands of links."""
    some: list[LinksOfPage] = []
    for page in pages:
        some.append(page)
        if sum(len(one.links) for one in some) > _LINKS_AT_ONCE:
            yield some
            some = []
    if some:
        yield some


class Messages:
    """The messages of a job.

    Args:
        documents: where they are.
    """

    def __init__(self, documents: SharedStore) -> None:
        self._documents = documents
        self._writer = secrets.token_hex(6)
        self._number = 0

    def send(self, messages: Iterable[tuple[int, bytes]]) -> None:
        """Write messages, each with its partition."""
        rows = []
        for part, data in messages:
            name = f"{self._writer}/{self._number:09d}"
            rows.append(self._documents.row_of(part, name, bytes=data))
            self._number += 1
        self._documents.insert("message", rows)

    def receive(self, parts: Collection[int]) -> dict[str, tuple[int, bytes]]:
        """Return some of what lies there for partitions, by name: partition and bytes."""
        found = self._documents.at("message", parts, _AT_ONCE)
        return {
            row["_id"].partition("/")[2]: (int(row["at"].rpartition("/")[2]), row.get("bytes", b""))
            for row in found
        }

    def wait(self, parts: Collection[int]) -> bool:
        """Return whether a message for one of some partitions is on its way."""
        names = self._documents.names("message")
        return any(int(name.partition("/")[0]) in parts for name in names)

    def remove(self, names: Collection[str]) -> None:
        """Remove what was taken in."""
        self._documents.delete("message", names)
