"""Addresses that only a sitemap or a feed names: found, but no page links to them yet.

They lie in a table of the store and cost no RAM, so that a site of millions of pages can be listed.
A link on a page to one of them is a link like any other; what the list says of it is added. The
others become links a few at a time, see `mmcrawl.crawl.listed`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mmcrawl.frontier.store import SqliteStore
from mmcrawl.frontier.urls import hash64, shape, url_key
from mmcrawl.page.model import Link, MediaResource

_FILE = re.compile(r"[^/.]+((?:\.\w{1,8})?/?)\Z")


@dataclass(frozen=True, slots=True)
class Listed:
    """An address as a list names it.

    Attributes:
        url: the address.
        words: what is said of it: title, kind of media, date; "" for nothing.
        tag_path: what names it, as `Link.tag_path`.
        parent: the link that the list is.
        place: `place_of` its address.
    """

    url: str
    words: str
    tag_path: str
    parent: int
    place: int


@lru_cache(maxsize=16_384)
def place_of(url: str) -> int:
    """Return what addresses of a kind share, as a number: all but numbers and the last name.

    >>> place_of("http://h.test/2014/05/a-post/") == place_of("http://h.test/2019/11/another/")
    True
    """
    form = shape(url)
    return hash64(form if "?" in form else _FILE.sub(r"*\1", form))


class ListedAddresses:
    """The listed addresses of one job that are no links yet; durable with the next commit.

    Args:
        store: an open store.
        job: number of the job.
    """

    def __init__(self, store: SqliteStore, job: int) -> None:
        self._store, self._job = store, job
        row = store.db.execute("SELECT 1 FROM listed WHERE job = ? LIMIT 1", (job,)).fetchone()
        self._any = row is not None

    def __bool__(self) -> bool:
        """Return whether there may be some."""
        return self._any

    def keep(self, listed: Iterable[Listed]) -> int:
        """Add addresses, each once; return how many are new."""
        rows = (
            (self._job, url_key(self._job, one.url), one.url, one.words, one.tag_path, one.parent,
             one.place) for one in listed
        )  # fmt: skip
        with self._store.writing() as db:
            added = db.executemany(
                "INSERT OR IGNORE INTO listed (job, key, url, words, tag_path, parent, place)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            ).rowcount
        self._any = self._any or added > 0
        return int(added)

    def keep_media(self, links: Iterable[Link], list_url: str) -> None:
        """Keep the media that a list says the pages of its links show, each once a page."""
        rows = (
            (self._job, url_key(self._job, link.url), list_url, *_row(medium))
            for link in links
            for medium in link.media
        )
        with self._store.writing() as db:
            db.executemany(
                "INSERT OR IGNORE INTO listed_media (job, key, list, url, kind, tag, text, others)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )

    def media(self, url: str) -> tuple[tuple[str, MediaResource], ...]:
        """Return the media that lists say a page shows, each with the address of the list."""
        rows = self._store.db.execute(
            "SELECT list, url, kind, tag, text, others FROM listed_media"
            " WHERE job = ? AND key = ? ORDER BY url",
            (self._job, url_key(self._job, url)),
        )
        return tuple(
            (found, MediaResource(medium, kind, tag, text, tuple(json.loads(others))))
            for found, medium, kind, tag, text, others in rows
        )

    def words(self, url: str) -> str:
        """Return what lists say of an address, "" for nothing."""
        if not self._any:
            return ""
        row = self._store.db.execute(
            "SELECT words FROM listed WHERE job = ? AND key = ?",
            (self._job, url_key(self._job, url)),
        ).fetchone()
        return str(row[0]) if row else ""

    def take(self, place: int, most: int) -> list[Listed]:
        """Take out the first addresses of a place."""
        return list(self._take("AND place = ?", (place,), most)) if self._any else []

    def take_first(self, most: int) -> list[Listed]:
        """Take out the first addresses of any place."""
        taken = list(self._take("", (), most)) if self._any else []
        self._any = bool(taken)
        return taken

    def followed(self, links: Sequence[int], settled: int) -> None:
        """Note that addresses became links, for who tells the crawl again.

        Args:
            links: their ids, which follow each other.
            settled: how many links had ended by then.
        """
        with self._store.writing() as db:
            row = (self._job, min(links), max(links), settled)
            db.execute("INSERT INTO followed (job, first, last, settled) VALUES (?, ?, ?, ?)", row)

    def _take(self, where: str, values: tuple[int, ...], most: int) -> Iterator[Listed]:
        with self._store.writing() as db:
            rows = db.execute(
                "SELECT id, url, words, tag_path, parent, place FROM listed"  # noqa: S608 - ours
                f" WHERE job = ? {where} ORDER BY id LIMIT ?",
                (self._job, *values, most),
            ).fetchall()
            db.executemany("DELETE FROM listed WHERE id = ?", [row[:1] for row in rows])
        for _, *values_of in rows:
            yield Listed(*values_of)


def _row(medium: MediaResource) -> tuple[str, str, str, str, str]:
    others = json.dumps(medium.others, ensure_ascii=False)
    return medium.url, medium.kind, medium.tag, medium.text, others
