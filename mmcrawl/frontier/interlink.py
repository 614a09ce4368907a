"""The link database (InterLink; Yang 2009, table 5-4) of a job: everything known of its links, and
the selection and order of a listing.
"""

from array import array
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import nlargest, nsmallest
from typing import TypeAlias

from mmcrawl.frontier.ranking import Ranking
from mmcrawl.frontier.reading import LinkTable
from mmcrawl.frontier.records import HELD, LinkRecord, Status
from mmcrawl.frontier.store import SqliteStore
from mmcrawl.frontier.urls import host_of, split_origin

_HELD = "held(link.id, origin || link.path, score, priority, block)"
_STATES = {
    "waiting": f"status = 'W' AND NOT {_HELD}",
    "held": f"status = 'W' AND {_HELD}",
    "running": "status = 'R'",
    "fetched": "status = 'C'",
    "error": "status = 'E'",
}
_ORDERS = {
    "found": "link.id",
    "place": "page.id IS NULL, settled, link.id",
    "score": "score DESC, link.id",
    "words": "content DESC, link.id",
    "structure": "structure DESC, link.id",
    "layer": "physical_layer, link.id",
    "clicks": "logical_layer, link.id",
    "url": "origin, link.path, link.id",
}
STATES, ORDERS = tuple(_STATES), tuple(_ORDERS)
"""What `LinkRecord.state` can be, and names of orders."""

Counts: TypeAlias = MutableSequence[int]
"""A number for each link, by its id."""
Path: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""All anchors and all URLs from the seed to a link."""

_RECENT_PATHS = 256  # of pages whose links are listed
_COLUMNS = (
    "SELECT host, link.path, status, url_words, anchor, group_title, score, content, structure,"
    " logical_layer, physical_layer, error, title, keywords, description, contains_media, relevant,"
    " links, links_on_page, visited_at, block, priority, parent"
    " FROM link LEFT JOIN page USING (id) WHERE id = ?"
)


@dataclass(frozen=True, slots=True)
class Selection:
    """Some links, or all.

    Attributes:
        match: what the whole address is like: `*` stands for anything, `?` for a character, `[ab]`
            for one of several; "" for any.
        order: one of `ORDERS`: as found, by the place at which pages were fetched, best score
            first, best words first, best structure first, nearest to the root of the site, nearest
            to the seed, by address.
    """

    state: str = ""  # one of `STATES`, "" for any
    host: str = ""  # of their addresses, "" for any
    match: str = ""
    media: bool = False  # only of pages with media of the wanted kinds
    min_score: float | None = None  # least score; None for any
    order: str = "found"
    limit: int = 0  # most links, 0 for all

    def __post_init__(self) -> None:
        if self.state not in {"", *STATES}:
            raise ValueError(f"there is no status {self.state!r}; there are {', '.join(STATES)}")
        if self.order not in ORDERS:
            raise ValueError(f"there is no order {self.order!r}; there are {', '.join(ORDERS)}")

    def query(self, origins: Sequence[str]) -> tuple[str, dict[str, object]]:
        """Return the query for the ids, with values for all but `:job`, `:first` and `:last`.

        It asks a function `held` of id, address, score, priority and block whether a link that
        waits must not be fetched for now.

        Args:
            origins: of the job, by number.
        """
        conditions = ["link.id >= :first", "link.id < :last"]
        if self.state:
            conditions.append(_STATES[self.state])
        if self.host:
            hosts = [str(n) for n, one in enumerate(origins) if host_of(one) == self.host.lower()]
            conditions.append(f"link.host IN ({', '.join(hosts)})")
        if self.match:
            conditions.append("origin || link.path GLOB :match")
        if self.media:
            conditions.append("contains_media")
        if self.min_score is not None:
            conditions.append("score >= :min_score")
        text = (
            "SELECT link.id FROM link JOIN host ON host.job = :job AND host.id = link.host"  # noqa: S608 - our own words
            f" LEFT JOIN page ON page.id = link.id WHERE {' AND '.join(conditions)}"
            f" ORDER BY {_ORDERS[self.order]} LIMIT :limit"
        )
        return text, {"match": self.match, "min_score": self.min_score, "limit": self.limit or -1}


ALL = Selection()


@dataclass(frozen=True, slots=True)
class PlacedPage:
    """A link beside another one in the order of the crawl."""

    url: str
    score: float  # as it was when it was fetched; of a waiting link, as it is
    place: int | None = None  # at which its page was fetched, see `LinkRecord`
    relevant: bool = False  # whether that was relevant


@dataclass(frozen=True, slots=True)
class _Counted:
    """Facts of a link that come from counting others: place, pages, relevant pages, path."""

    place: Callable[[int], int]
    through: Callable[[int], tuple[int, int]]
    path_to: Callable[[int], Path]


class InterLink(LinkTable):
    """The links of one job with everything known of them."""

    def __init__(self, store: SqliteStore, job: int, ranking: Ranking) -> None:
        super().__init__(store, job)
        self._ranking = ranking

    def record(self, link: int) -> LinkRecord:
        """Return everything known of a link (table 5-4), counted over all links; or a KeyError."""
        return self._record(link, _Counted(self._pages_until, self._pages_through, self._path_to))

    def records(self, selection: Selection = ALL) -> Iterator[LinkRecord]:
        """Yield everything known of links (table 5-4), one by one, in 12 bytes of RAM a link."""
        pages, relevant, places = (array("I", bytes(4 * len(self))) for _ in range(3))
        self._count_pages(pages, relevant, places)
        counted = _Counted(
            lambda link: places[link],
            lambda link: (pages[link], relevant[link]),
            lru_cache(maxsize=_RECENT_PATHS)(self._path_to),
        )
        self.store.db.create_function("held", 5, self._is_held)
        query, values = selection.query(self._origins)
        values |= {"job": self.job, "first": self._ours[0], "last": self._ours[1]}
        for (number,) in self.store.db.execute(query, values):
            yield self._record(number - self._base, counted)

    def around(self, link: int, most: int) -> tuple[list[PlacedPage], list[PlacedPage]]:
        """Return the pages that were fetched just before an ended link's page, and just after."""
        (settled,) = self._read("settled FROM link", link)
        place = self._pages_until(link)
        earlier = self._placed("settled < ? ORDER BY settled DESC", settled, most)
        later = self._placed("settled > ? ORDER BY settled", settled, most)
        is_page = self.digest(link) is not None
        first = place - is_page  # of those before it
        return (
            [replace(page, place=first - n) for n, page in enumerate(earlier)][::-1],
            [replace(page, place=place + 1 + n) for n, page in enumerate(later)],
        )

    def ahead(self, link: int, most: int) -> tuple[int, list[PlacedPage], list[PlacedPage]]:
        """Return how many waiting links precede one; the first of them, and the last.

        Among equals by when they were found; which host may be asked is not known here. None is
        told of twice. It takes as long as there are links that wait.

        Args:
            link: id of a link that waits and may be fetched.
            most: of either.
        """
        rank = self._ranking.rank
        places = [(rank(one, score), -one, score) for one, _, score in self._noted()]
        own = next(place for place in places if place[1] == -link)
        before = [place for place in places if place > own]
        first = nlargest(most, before)
        last = nsmallest(min(most, len(before) - len(first)), before)

        def told(places: list[tuple[float, int, float]]) -> list[PlacedPage]:
            return [PlacedPage(self.url(-one), score) for _, one, score in places]

        return len(before), told(first), told(last[::-1])

    def spelled(self, url: str) -> int | None:
        """Return the id of the first link with exactly this address, also refused; scans all."""
        origin, path = split_origin(url)
        row = self.store.db.execute(
            "SELECT min(link.id) FROM link JOIN host ON host.job = ? AND host.id = link.host"
            " WHERE link.id >= ? AND link.id < ? AND origin = ? AND link.path = ?",
            (self.job, *self._ours, origin, path),
        ).fetchone()
        return None if row[0] is None else int(row[0]) - self._base

    def was_taken(self, link: int) -> bool:
        """Return whether a link has been fetched, whatever the outcome."""
        return self._read("settled FROM link", link)[0] is not None

    def hosts(self) -> set[str]:
        """Return the names of the hosts that links lead to."""
        return set(map(host_of, self._origins))

    # -- inside ---------------------------------------------------------------------------------

    def _noted(self) -> Iterator[tuple[int, int, float]]:
        """Add the waiting links to the ranking; yield id, host and score of each."""
        rows = self.store.db.execute(
            "SELECT id, host, path, score, priority, block FROM link"
            " WHERE id >= ? AND id < ? AND status = 'W'",
            self._ours,
        )
        for number, host, path, score, priority, block in rows:
            link = number - self._base
            self._ranking.note(link, self._origins[host] + path, priority, block)
            yield link, host, score

    def _is_held(self, number: int, url: str, score: float, priority: int, block: str) -> bool:
        """Return whether a link that waits must not be fetched for now."""
        link = number - self._base
        self._ranking.note(link, url, priority, block)
        return self._ranking.rank(link, score) == HELD

    def _record(self, link: int, counted: _Counted) -> LinkRecord:
        row = self.store.db.execute(_COLUMNS, (self._base + link,)).fetchone()
        if row is None:
            raise KeyError(link)
        url, is_page, parent = self._origins[row[0]] + row[1], row[19] is not None, row[22]
        anchors, urls = ((), ()) if parent is None else counted.path_to(parent - self._base)
        pages, relevant = counted.through(link) if is_page else (0, 0)
        return LinkRecord(
            id=link,
            url=url,
            status=Status(row[2]),
            place=counted.place(link) if is_page else None,
            url_words=row[3],
            anchor=row[4],
            group_title=row[5],
            score=row[6],
            words_score=row[7],
            structure_score=row[8],
            logical_layer=row[9],
            physical_layer=row[10],
            error=row[11],
            title=row[12] or "",
            keywords=row[13] or "",
            description=row[14] or "",
            contains_media=bool(row[15]),
            relevant=bool(row[16]),
            internal_urls=tuple(self.url(child) for child in array("I", row[17] or b"")),
            links_on_page=row[18] or 0,
            visited_at=row[19],
            path_score=relevant,
            total_path_score=pages,
            block=row[20],
            held=row[2] == Status.WAITING
            and self._is_held(self._base + link, url, row[6], row[21], row[20]),
            priority=row[21],
            anchor_path=(*anchors, row[4]) if row[4] else anchors,
            url_path=(*urls, url),
        )

    def _placed(self, condition: str, settled: int, most: int) -> list[PlacedPage]:
        rows = self.store.db.execute(
            "SELECT link.host, link.path, score, relevant FROM link JOIN page USING (id)"  # noqa: S608 - our own words
            f" WHERE id >= ? AND id < ? AND {condition} LIMIT ?",
            (*self._ours, settled, most),
        )
        return [self._placed_page(*row) for row in rows]

    def _placed_page(self, host: int, path: str, score: float, relevant: int) -> PlacedPage:
        return PlacedPage(self._origins[host] + path, score, relevant=bool(relevant))

    def _pages_until(self, link: int) -> int:
        """Return how many pages were fetched by the time that a link came to an end."""
        row = self.store.db.execute(
            "SELECT count(*) FROM link JOIN page USING (id) WHERE id >= ? AND id < ?"
            " AND settled <= (SELECT settled FROM link WHERE id = ?)",
            (*self._ours, self._base + link),
        )
        return int(row.fetchone()[0])

    def _count_pages(self, pages: Counts, relevant: Counts, places: Counts) -> None:
        """Count over all links by id: pages through each, relevant ones, and the place of each."""
        rows = self.store.db.execute(
            "SELECT id, parent, relevant FROM link LEFT JOIN page USING (id)"
            " WHERE id >= ? AND id < ? ORDER BY id DESC",  # a parent is found before its links
            self._ours,
        )
        for number, parent, is_relevant in rows:
            link = number - self._base
            pages[link] += is_relevant is not None
            relevant[link] += is_relevant or 0
            if parent is not None:
                pages[parent - self._base] += pages[link]
                relevant[parent - self._base] += relevant[link]
        rows = self.store.db.execute(
            "SELECT id FROM link JOIN page USING (id) WHERE id >= ? AND id < ? ORDER BY settled",
            self._ours,
        )
        for place, (number,) in enumerate(rows, 1):
            places[number - self._base] = place

    def _pages_through(self, link: int) -> tuple[int, int]:
        """Return how many pages were crawled through a page, itself included; how many relevant."""
        row = self.store.db.execute(
            "WITH RECURSIVE found (id, parent) AS MATERIALIZED"
            " (SELECT id, parent FROM link WHERE id >= :first AND id < :last),"
            " below (id) AS (VALUES (:link) UNION"
            " SELECT found.id FROM below JOIN found ON found.parent = below.id)"
            " SELECT count(*), sum(relevant) FROM below JOIN page USING (id)",
            {"link": self._base + link, "first": self._ours[0], "last": self._ours[1]},
        ).fetchone()
        return int(row[0]), int(row[1])

    def _path_to(self, link: int) -> Path:
        steps = self.steps(link)
        return tuple(anchor for _, anchor in steps if anchor), tuple(url for url, _ in steps)

    def steps(self, link: int) -> tuple[tuple[str, str], ...]:
        """Return the addresses from the seed to a link, each with the anchor that led there."""
        rows = self.store.db.execute(
            "WITH RECURSIVE up (id, step) AS (VALUES (?, 0) UNION ALL SELECT link.parent, step + 1"
            " FROM link JOIN up ON link.id = up.id WHERE link.parent IS NOT NULL)"
            " SELECT anchor, host, path FROM up JOIN link USING (id) ORDER BY step DESC",
            (self._base + link,),
        ).fetchall()
        return tuple((self._origins[row[1]] + row[2], row[0]) for row in rows)
