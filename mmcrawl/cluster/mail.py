"""Links that a part found for another one, on their way.

* ``mail``: ``JOB/PART/WRITER/NUMBER``; ``at`` and ``bytes``, the letters that a worker wrote to a
  part at once. Who has the part takes them in, and removes them once its log has what they brought.

A letter is written before the log says that its page was fetched, so that none is lost; it may come
twice then, and links that are known are left alone.
"""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mmcrawl.cluster.packing import packed, unpacked
from mmcrawl.cluster.store import Row, SharedStore
from mmcrawl.crawl.portion import PageElsewhere
from mmcrawl.frontier.records import NewLink
from mmcrawl.store.plain_values import PlainForm

_AT_ONCE = 2_000  # links


@dataclass(frozen=True, slots=True)
class Letter:
    """Links for a part.

    Attributes:
        page: that they were found on; None for links that come from no page.
        links: as they were found.
    """

    page: PageElsewhere | None
    links: tuple[NewLink, ...]


_LETTERS = PlainForm[tuple[Letter, ...]](tuple[Letter, ...])


def encode_letters(letters: Sequence[Letter]) -> bytes:
    """Return letters as bytes."""
    text = json.dumps(_LETTERS.write(tuple(letters)), separators=(",", ":"))
    return packed(text.encode())


def decode_letters(data: bytes) -> tuple[Letter, ...]:
    """Return the letters that `encode_letters` wrote.

    Raises:
        ValueError: it did not write this.
    """
    try:
        return _LETTERS.read(json.loads(unpacked(data)))
    except RecursionError as error:
        raise ValueError(f"these are no letters: {error}") from error


class Outgoing:
    """Letters by the part they are for, links of one page together."""

    def __init__(self) -> None:
        self._links: defaultdict[int, dict[PageElsewhere | None, list[NewLink]]] = defaultdict(dict)

    def __bool__(self) -> bool:
        return bool(self._links)

    def add(self, part: int, page: PageElsewhere | None, link: NewLink) -> None:
        """Add a link for a part."""
        self._links[part].setdefault(page, []).append(link)

    def take(self) -> list[tuple[int, bytes]]:
        """Take out all letters, encoded, each with its part."""
        taken = [
            (part, encode_letters(some))
            for part, pages in self._links.items()
            for some in _portions(Letter(page, tuple(links)) for page, links in pages.items())
        ]
        self._links.clear()
        return taken


def _portions(letters: Iterable[Letter]) -> Iterator[list[Letter]]:
    """Yield letters by some thousands of links."""
    some: list[Letter] = []
    for letter in letters:
        some.append(letter)
        if sum(len(one.links) for one in some) > _AT_ONCE:
            yield some
            some = []
    if some:
        yield some


class Mailboxes:
    """The mail of a job.

    Args:
        documents: where it is.
        parts: into how many parts the job is divided.
    """

    def __init__(self, documents: SharedStore, parts: int) -> None:
        self._documents = documents
        self._parts = parts
        self._writer = secrets.token_hex(6)
        self._number = 0
        self._received: set[str] = set()

    def send(self, letters: Iterable[tuple[int, bytes]]) -> None:
        """Write letters. One round trip."""
        rows: list[Row] = []
        for part, data in letters:
            name = f"{self._writer}/{self._number:09d}"
            rows.append(self._documents.row_of(part, name, bytes=data))
            self._number += 1
        self._documents.insert("mail", rows)

    def receive(self, parts: Collection[int]) -> Mapping[str, tuple[int, bytes]]:
        """Return what lies there for parts and was not received yet, by name: part and bytes.

        One round trip.
        """
        if 2 * len(parts) < self._parts:
            rows = self._documents.at("mail", parts)
        else:
            rows = self._documents.all("mail")
        letters = {}
        for row in rows:
            name = row["_id"].partition("/")[2]
            if (part := _part(row)) in parts and name not in self._received:
                letters[name] = part, row["bytes"]
        self._received.update(letters)
        return letters

    def leave(self, part: int) -> None:
        """Count no letters of a part as received: whoever has it next gets them."""
        self._received = {name for name in self._received if int(name.split("/")[0]) != part}

    def is_empty(self, but: Collection[int]) -> bool:
        """Tell whether no mail is on its way, but for some parts. One round trip."""
        return all(_part(row) in but for row in self._documents.all("mail"))

    def remove(self, names: Collection[str]) -> None:
        """Remove what was taken in. One round trip."""
        self._documents.delete("mail", names)
        self._received.difference_update(names)


def _part(row: Row) -> int:
    """Return the part that a letter is for."""
    return int(row["_id"].split("/")[1])
