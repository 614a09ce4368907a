"""Reads the links of a job from its SQLite store."""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mmcrawl.frontier.database import damaged
from mmcrawl.frontier.records import KnownLink, Status
from mmcrawl.frontier.store import SqliteStore
from mmcrawl.frontier.urls import url_key

JOB_SHIFT = 40
"""Ids of links in the store are `job << JOB_SHIFT` and up; those of a job are counted from 0."""

ELSEWHERE = "another part of the crawl fetched it"
"""Stands where the error does of a link, for one that stands for a page of others."""

_MOST_KNOWN = 4_096  # links of a store that are kept in memory
_READ_AHEAD, _NEAR = 256, 16  # links that are read at once, and how far from the last one
_KEYS_AT_ONCE = 500  # SQLite takes 999 values in its oldest versions


@dataclass(frozen=True, slots=True)
class PastPage:
    """A crawled page as the scorer needs it when a crawl is taken up again.

    `settled` is how many links had ended with it; `elsewhere` is a page that another part of the
    crawl fetched.
    """

    id: int
    url: str
    relevant: bool
    contains_media: bool
    topic_score: float
    new_media: int
    links: list[int]
    settled: int
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class PastFailure:
    """A link that was fetched and led to no page: an error, or a redirect."""

    id: int
    url: str
    error: str
    settled: int


class LinkTable:
    """The links and pages of one job in the store."""

    def __init__(self, store: SqliteStore, job: int) -> None:
        self.store = store
        self.job = job
        self._base = job << JOB_SHIFT
        self._ours = (self._base, self._base + (1 << JOB_SHIFT))
        rows = store.db.execute("SELECT origin FROM host WHERE job = ? ORDER BY id", (job,))
        self._origins = [row[0] for row in rows]
        self._read_to = 0  # the link after the last one that `known` read

    def _read(self, asked: str, link: int) -> Any:
        """Return some columns of a link or its page, None if there is none."""
        row = self.store.db.execute(f"SELECT {asked} WHERE id = ?", (self._base + link,))
        return row.fetchone()

    def url(self, link: int) -> str:
        """Return the address of a link."""
        host, path = self._read("host, path FROM link", link)
        return f"{self._origins[host]}{path}"

    def links_from(self, first: int) -> Iterator[tuple[str, int | None]]:
        """Yield address and parent of the links from a number on, in order."""
        rows = self.store.db.execute(
            "SELECT host, path, parent FROM link WHERE id >= ? AND id < ? ORDER BY id",
            (self._base + first, self._ours[1]),
        )
        for host, path, parent in rows:
            yield self._origins[host] + path, None if parent is None else parent - self._base

    def known(self, link: int) -> KnownLink:
        """Return what scoring asks of a link, which never changes; reads those after it ahead."""
        number, known = self._base + link, self.store.known_links
        if number not in known:
            is_next = 0 <= link - self._read_to < _NEAR
            if len(known) > _MOST_KNOWN:
                known.clear()
            for one in self.store.db.execute(
                "SELECT id, host, path, content, physical_layer, parent, logical_layer, anchor,"
                " group_title, tag_path FROM link WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
                (number, self._ours[1], _READ_AHEAD if is_next else 1),
            ):
                last, host, path, content, layer, parent, *more = one
                url = self._origins[host] + path
                above = None if parent is None else parent - self._base
                known[last] = KnownLink(url, content, layer, above, *more)
                self._read_to = last - self._base + 1
        return known[number]

    def __len__(self) -> int:
        """Return how many links are known, whatever their status."""
        last = self.store.db.execute(
            "SELECT max(id) FROM link WHERE id >= ? AND id < ?", self._ours
        ).fetchone()[0]
        return 0 if last is None else int(last) - self._base + 1

    def lookup(self, url: str) -> int | None:
        """Return the id of the link that `url` is, None if it was never seen."""
        row = self.store.db.execute(
            "SELECT id FROM link WHERE key = ?", (url_key(self.job, url, b""),)
        ).fetchone()
        return None if row is None else int(row[0]) - self._base

    def outlinks(self, page: int) -> Sequence[int]:
        """Return the ids of the links on a crawled page; none for a link that is no page yet."""
        row = self._read("links FROM page", page)
        return array("I", row[0]) if row else ()

    def page(self, link: int) -> tuple[str, bool, bool, float, int] | None:
        """Return of the page that a link led to its address, whether it is relevant and holds
        media, its topic score and how many new media it holds; None if there is none.
        """
        asked = "url, relevant, contains_media, topic_score, new_media FROM page"
        row = self._read(asked, link)
        return None if row is None else (row[0], bool(row[1]), bool(row[2]), row[3], row[4])

    def title(self, link: int) -> str:
        """Return the title of the page that a link led to, "" if there is none."""
        row = self._read("title FROM page", link)
        return "" if row is None else str(row[0])

    def alike(self, key: int, most: int) -> list[int]:
        """Return the first links with a certain `alias_key`."""
        rows = self.store.db.execute(
            "SELECT id FROM link WHERE alias_key = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?",
            (key, *self._ours, most),
        )
        return [row[0] - self._base for row in rows]

    def known_alias_keys(self, keys: Sequence[int]) -> set[int]:
        """Return those of some `alias_key`s that links have."""
        known: set[int] = set()
        for first in range(0, len(keys), _KEYS_AT_ONCE):
            some = keys[first : first + _KEYS_AT_ONCE]
            marks = ", ".join("?" * len(some))
            rows = self.store.db.execute(
                f"SELECT alias_key FROM link WHERE alias_key IN ({marks}) AND id >= ? AND id < ?",  # noqa: S608
                (*some, *self._ours),
            )
            known.update(row[0] for row in rows)
        return known

    def fetched_alike(self) -> list[int]:
        """Return the `alias_key`s that several links have of which a page was fetched."""
        rows = self.store.db.execute(
            "SELECT alias_key FROM page JOIN link USING (id) WHERE id >= ? AND id < ?"
            " AND alias_key IS NOT NULL GROUP BY alias_key HAVING count(*) > 1",
            self._ours,
        )
        return [row[0] for row in rows]

    def alias(self, page: str, digest: int) -> str | None:
        """Return the address of a relevant page with this digest, other than `page` itself."""
        row = self.store.db.execute(
            "SELECT url FROM page WHERE digest = ? AND url <> ? AND relevant"
            " AND id >= ? AND id < ? LIMIT 1",
            (digest, page, *self._ours),
        ).fetchone()
        return str(row[0]) if row and digest else None

    def digest(self, link: int) -> int | None:
        """Return the digest of a link's page, 0 if it was not taken; None if there is no page."""
        row = self._read("digest FROM page", link)
        return None if row is None else int(row[0])

    def is_running(self, link: int) -> bool:
        """Return whether a link is being fetched."""
        return bool(self._read("status FROM link", link)[0] == Status.RUNNING)

    def waiting(self) -> list[int]:
        """Return the waiting links, held ones included, in the order they were found."""
        return list(self.each_waiting())

    def each_waiting(self) -> Iterator[int]:
        """Yield the waiting links, which may be many millions, as `waiting` returns them."""
        rows = self.store.db.execute(
            "SELECT id FROM link WHERE id >= ? AND id < ? AND status = 'W' ORDER BY id", self._ours
        )
        return (row[0] - self._base for row in rows)

    def followed(self) -> list[tuple[int, range]]:
        """Return links that only a list named, after the number of links that had ended before."""
        rows = self.store.db.execute(
            "SELECT settled, first, last FROM followed WHERE job = ? ORDER BY first", (self.job,)
        )
        return [(settled, range(first, last + 1)) for settled, first, last in rows]

    def without_parent(self) -> list[int]:
        """Return the links found on no page: seeds and the spider's requests, less refused ones."""
        rows = self.store.db.execute(
            "SELECT id FROM link WHERE id >= ? AND id < ? AND parent IS NULL"
            " AND (status <> 'E' OR settled IS NOT NULL) ORDER BY id",
            self._ours,
        )
        return [row[0] - self._base for row in rows]

    def history(self) -> Iterator[PastPage | PastFailure]:
        """Yield in order what became of fetched links; a StoreError if pages name unknown ones."""
        count = self.store.db.execute(
            "SELECT count(*) FROM link WHERE id >= ? AND id < ?", self._ours
        ).fetchone()[0]
        rows = self.store.db.execute(
            "SELECT id, url, relevant, contains_media, topic_score, new_media, links, error,"
            " settled"
            " FROM link LEFT JOIN page USING (id) WHERE id >= ? AND id < ? AND settled IS NOT NULL"
            " ORDER BY settled",
            self._ours,
        )
        for number, url, relevant, media, score, new_media, links, error, settled in rows:
            link = number - self._base
            if url is None:
                yield PastFailure(link, self.url(link), error, settled)
            else:
                outlinks = list(array("I", links))
                if outlinks and max(outlinks) >= count:
                    raise damaged(self.store.name, "links are missing")
                found = bool(relevant), bool(media), score, new_media
                yield PastPage(link, url, *found, outlinks, settled, bool(error))

    def errors(self) -> Counter[str]:
        """Return how many links ended in error, by reason."""
        rows = self.store.db.execute(
            "SELECT error, count(*) FROM link WHERE id >= ? AND id < ? AND status = 'E'"
            " GROUP BY error",
            self._ours,
        )
        return Counter(dict(rows))
