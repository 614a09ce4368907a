"""Pages that people marked as right or wrong for a topic, from which it is learnt."""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mmcrawl.collecting.shelf.records import MARKS, Record
from mmcrawl.collecting.shelf.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Mark:
    """What somebody said of a page.

    Attributes:
        topic: Name of the topic.
        url: Of the page, as it is archived.
        is_good: Whether it is right for the topic.
        marked_at: Unix time.
    """

    topic: str
    url: str
    is_good: bool
    marked_at: float


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of a shelf. Of two marks of a page for a topic the later one counts."""

    shelf: Shelf
    _now: Callable[[], float] = field(default=time.time)

    def of(self, topic: str) -> list[Mark]:
        """Return the marks for a topic, the latest first."""
        found = (_from_record(record) for record in self.shelf.records(MARKS).values())
        own = [mark for mark in found if mark.topic == topic]
        return sorted(own, key=lambda mark: (-mark.marked_at, mark.url))

    def of_page(self, url: str) -> dict[str, bool]:
        """Return for which topics a page is marked, and whether as right."""
        found = (_from_record(record) for record in self.shelf.records(MARKS).values())
        return {mark.topic: mark.is_good for mark in found if mark.url == url}

    def topics(self) -> list[str]:
        """Return the topics that pages were marked for, by name."""
        return sorted({str(record["topic"]) for record in self.shelf.records(MARKS).values()})

    def put(self, topic: str, url: str, *, is_good: bool | None) -> None:
        """Mark a page, or take its mark back with None."""
        id_ = hashlib.blake2b(
            f"{topic}\0{url}".encode(errors="surrogatepass"), digest_size=12
        ).hexdigest()
        record: Record = {}
        if is_good is not None:
            record = {"topic": topic, "url": url, "good": is_good, "at": self._now()}

        def change(_: Mapping[str, Record]) -> dict[str, Record]:
            return {id_: record}

        self.shelf.change(MARKS, change)


def _from_record(record: Record) -> Mark:
    return Mark(str(record["topic"]), str(record["url"]), bool(record["good"]), float(record["at"]))
