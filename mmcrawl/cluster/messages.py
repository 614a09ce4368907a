"""Links that a partition found for another one, on their way.

* ``message``: ``JOB/PART/WRITER/NUMBER``; ``at`` and ``bytes``, what a worker wrote to a partition
  at once. Its owner takes the links in, and removes the message once its log has what that brought.

A message is written before the log says that its page was fetched, so that none is lost; it may
come twice then, and links that are known are left alone.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable

from mmcrawl.cluster.packing import decoded, encoded
from mmcrawl.cluster.partition import PageElsewhere
from mmcrawl.cluster.store import SharedStore
from mmcrawl.frontier.records import NewLink
from mmcrawl.store.plain_values import PlainForm

_AT_ONCE = 200  # messages that are read at once; the others come next time


LinksOfPage = tuple[PageElsewhere | None, tuple[NewLink, ...]]
"""Links for a partition, and the page that they were found on; None for links from no page."""
_FORM = PlainForm[tuple[LinksOfPage, ...]](tuple[LinksOfPage, ...])


def encode_message(links: Iterable[LinksOfPage]) -> bytes:
    """Return the links of some pages as bytes."""
    return encoded(_FORM, tuple(links))


def decode_message(data: bytes) -> tuple[LinksOfPage, ...]:
    """Return what `encode_message` wrote.

    Raises:
        ValueError: it did not write this.
    """
    return decoded(_FORM, data)


class Messages:
    """The messages of a job."""

    def __init__(self, documents: SharedStore) -> None:
        self._documents = documents
        self._writer = secrets.token_hex(6)
        self._number = 0

    def send(self, messages: Iterable[tuple[int, bytes]]) -> None:
        """Write messages, each with its partition."""
        rows = {}
        for partition, data in messages:
            name, row = self._documents.row_of(
                partition, f"{self._writer}/{self._number:09d}", bytes=data
            )
            rows[name] = row
            self._number += 1
        self._documents.insert("message", rows)

    def receive(self, partitions: Collection[int]) -> dict[str, tuple[int, bytes]]:
        """Return some of what lies there for partitions, by name: partition and bytes."""
        found = self._documents.at("message", partitions, _AT_ONCE)
        return {
            name: (int(name.partition("/")[0]), row.get("bytes", b""))
            for name, row in found.items()
        }

    def wait(self, partitions: Collection[int]) -> bool:
        """Return whether a message for one of some partitions is in progress."""
        names = self._documents.names("message")
        return any(int(name.partition("/")[0]) in partitions for name in names)

    def remove(self, names: Collection[str]) -> None:
        """Remove processed messages."""
        self._documents.delete("message", names)
