"""What a crawl found and learnt: media pages with their resources (MultiMedia), and URL
patterns.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import astuple, dataclass, replace
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlsplit

from mmcrawl.frontier.reading import JOB_SHIFT
from mmcrawl.frontier.store import Job, SqliteStore
from mmcrawl.frontier.urls import hash64
from mmcrawl.page.model import MediaResource
from mmcrawl.page.urls import resource_key
from mmcrawl.text.media_kinds import DEFAULT_KINDS

_MEDIA_PAGES = (
    "SELECT url, title, topic_score, words, status, visited_at, extra FROM media_page WHERE job = ?"
)


_LEAST_BARREN = 20  # pages
_LAST_PAGES = 500  # of a job, that are looked at for barren parts


class NearMiss(NamedTuple):
    """A page with media that is a little below the threshold of its topic."""

    url: str
    title: str
    topic_score: float

    def is_below(self, threshold: float) -> bool:
        """Whether it has at least half the score that the threshold asks for."""
        return threshold / 2 <= self.topic_score < threshold


class BarrenDirectory(NamedTuple):
    """A directory that took many pages and yielded none on topic, and the rule that ends that."""

    rule: str
    pages: int
    of: int  # the pages that were looked at


def barren_directories(pages: Iterable[tuple[str, bool]]) -> list[BarrenDirectory]:
    """Return the directories that took a quarter of some pages, and at least 20, for nothing.

    A part is a directory, or a script that answers many queries; of one in another the outer.

    Args:
        pages: URL of each, and whether it is on topic.
    """
    taken, good, count = Counter[str](), set[str](), 0
    for url, is_good in pages:
        count += 1
        path, query, _ = url.partition("?")
        ends = [match.end() for match in re.finditer("(?<=[^/])/(?!/)", path)][1:]
        parts = [path[:end] for end in ends] + ([f"{path}?"] if query else [])
        taken.update(parts)
        good.update(parts if is_good else ())
    least = max(_LEAST_BARREN, count / 4)
    found: list[BarrenDirectory] = []
    for part in sorted(part for part, n in taken.items() if n >= least and part not in good):
        if not any(part.startswith(outer.rule.partition("**")[0]) for outer in found):
            found.append(BarrenDirectory(f"{part}** never", taken[part], count))
    return found


@dataclass(frozen=True, slots=True)
class MediaPageRecord:
    """A page on topic with media (the paper's MultiMedia)."""

    url: str  # address of the page
    title: str
    topic_score: float  # what the topic test gave it, in [0, 1]
    words: tuple[str, ...]  # the topic words it matched
    status: int  # HTTP status it came with
    visited_at: float  # Unix time
    resources: tuple[MediaResource, ...]  # its media of the wanted kinds
    extra: str = ""  # what pipelines added for the feeds, a JSON object; "" for nothing

    def with_resources(self, resources: tuple[MediaResource, ...]) -> "MediaPageRecord":
        """Return the record with other resources."""
        return replace(self, resources=resources)

    def count(self, kind: str) -> int:
        """Return how many resources of a kind the page has."""
        return sum(resource.kind == kind for resource in self.resources)


@dataclass(frozen=True, slots=True)
class PatternRecord:
    """A learnt URL pattern and how it has done."""

    host: str  # the host it is of
    pattern: str  # as `str` of a pattern gives it
    urls: int  # media pages it generalises
    hits: int  # fetched pages it led to that were media pages, those it was learnt from included
    misses: int  # fetched pages it led to that were none

    @property
    def rate(self) -> float:
        """Share of media pages among those it led to, in [0, 1]; 0 if it led to none."""
        return self.hits / (self.hits + self.misses) if self.hits else 0.0


class Findings:
    """The media and patterns of one job. Writes can be repeated; they become durable with the
    store's next commit.

    Attributes:
        changed: set by who wants to know: addresses of the media pages that were added, changed or
            dropped since `take_changes`.
    """

    def __init__(self, store: SqliteStore, job: Job) -> None:
        self._store = store
        self._job = job.number
        self._counts: dict[str, int] | None = None
        self.changed: set[str] | None = None

    def add_media_page(self, page: MediaPageRecord) -> None:
        """Keep a media page, in place of what was kept for its URL."""
        self._note_change(page.url)
        with self._store.writing() as db:
            db.execute(
                "DELETE FROM media_resource WHERE job = ? AND page = ?", (self._job, page.url)
            )
            db.execute(
                "INSERT OR REPLACE INTO media_page VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    self._job,
                    page.url,
                    page.title,
                    page.topic_score,
                    json.dumps(page.words, ensure_ascii=False),
                    page.status,
                    page.visited_at,
                    page.extra,
                ),
            )
            db.executemany(
                "INSERT OR REPLACE INTO media_resource VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (self._job, r.url, page.url, r.kind, r.tag, r.text, _key(r.url), place, others)
                    for place, r in enumerate(page.resources)
                    for others in (json.dumps(r.others, ensure_ascii=False),)
                ],
            )

    def count_new(self, resources: Iterable[MediaResource]) -> int:
        """Return how many of some media no media page shows yet, under whatever address."""
        known = "SELECT 1 FROM media_resource WHERE job = ? AND key = ? LIMIT 1"
        keys = {_key(resource.url) for resource in resources}
        return sum(not self._store.db.execute(known, (self._job, key)).fetchone() for key in keys)

    def pages_showing(self, resources: Iterable[str]) -> list[MediaPageRecord]:
        """Return the media pages that name any of some resources, best topic score first."""
        pages = {
            row[0]
            for resource in resources
            for row in self._store.db.execute(
                "SELECT page FROM media_resource WHERE job = ? AND key = ? AND url = ?",
                (self._job, _key(resource), resource),
            )
        }
        found = [
            record
            for page in pages
            for record in self._records(f"{_MEDIA_PAGES} AND url = ?", page)
        ]
        return sorted(found, key=lambda record: (-record.topic_score, record.url))

    def at(self, url: str) -> MediaPageRecord | None:
        """Return the media page at an address, None if there is none."""
        return next(self._records(f"{_MEDIA_PAGES} AND url = ?", url), None)

    def drop_media_page(self, url: str) -> None:
        """Remove a page that turned out to be no media page."""
        self._note_change(url)
        with self._store.writing() as db:
            db.execute("DELETE FROM media_page WHERE job = ? AND url = ?", (self._job, url))
            db.execute("DELETE FROM media_resource WHERE job = ? AND page = ?", (self._job, url))

    def take_changes(self) -> tuple[list[MediaPageRecord], list[str]]:
        """Return the media pages `changed`, and addresses of dropped ones; none is changed then."""
        urls = sorted(self.changed or ())
        self.changed = set()
        pages = [page for url in urls for page in self._records(f"{_MEDIA_PAGES} AND url = ?", url)]
        there = {page.url for page in pages}
        return pages, [url for url in urls if url not in there]

    def recent_pages(self, most: int) -> list[tuple[int, bool]]:
        """Return the last pages of the job, the last one last: link, and whether it is relevant."""
        rows = self._store.db.execute(
            "SELECT id & ?, relevant FROM page JOIN link USING (id)"
            " WHERE id >> ? = ? AND error = ''"  # else other partitions' pages, which they count
            " ORDER BY visited_at DESC, id DESC LIMIT ?",
            ((1 << JOB_SHIFT) - 1, JOB_SHIFT, self._job, most),
        )
        return [(link, bool(relevant)) for link, relevant in rows][::-1]

    def best(self, most: int) -> list[MediaPageRecord]:
        """Return the media pages with the best topic scores, but for lists of what others show."""
        pages = list(self.media_pages(most=3 * most))
        fewest: dict[str, int] = {}
        for page in sorted(pages, key=lambda page: len(page.resources), reverse=True):
            fewest |= dict.fromkeys((one.url for one in page.resources), len(page.resources))
        own = (p for p in pages if len(p.resources) in {0, *(fewest[r.url] for r in p.resources)})
        return list(islice(own, most))

    def media_pages(self, first: int = 0, most: int = -1) -> Iterator[MediaPageRecord]:
        """Yield media pages by topic score, without the `first`; `most` of them, below 0 all."""
        best = f"{_MEDIA_PAGES} ORDER BY topic_score DESC, url LIMIT ? OFFSET ?"
        return self._records(best, most, first)

    def near_misses(self, threshold: float) -> list[NearMiss]:
        """Return the pages with media that scored at least half the threshold, the best first."""
        rows = self._store.db.execute(
            "SELECT url, title, topic_score FROM page WHERE id >> ? = ? AND contains_media"
            " AND NOT relevant AND topic_score >= ? AND topic_score < ?"
            " ORDER BY topic_score DESC, url",
            (JOB_SHIFT, self._job, threshold / 2, threshold),
        )
        return [NearMiss(*row) for row in rows]

    def barren_directories(self) -> list[BarrenDirectory]:
        """Return the directories that took many of the job's last pages for nothing."""
        rows = self._store.db.execute(
            "SELECT url, relevant FROM page WHERE id >> ? = ?"
            " ORDER BY visited_at DESC, id DESC LIMIT ?",
            (JOB_SHIFT, self._job, _LAST_PAGES),
        )
        return barren_directories((url, bool(relevant)) for url, relevant in rows)

    def take_near_miss(self, page: MediaPageRecord) -> None:
        """Keep a page below the threshold as one on topic."""
        self.add_media_page(page)
        with self._store.writing() as db:
            db.execute(
                "UPDATE page SET relevant = 1 WHERE id >> ? = ? AND url = ?",
                (JOB_SHIFT, self._job, page.url),
            )

    def counts(self) -> dict[str, int]:
        """Return the number of media pages, and of distinct resources of each kind."""
        if self._counts is None:
            self._counts = self._count()
        return dict(self._counts)

    def keep_patterns(self, patterns: Iterable[PatternRecord]) -> None:
        """Keep the learnt patterns, replacing the former ones; only what changed is written."""
        kept = {pattern.pattern: pattern for pattern in self.patterns()}
        new = {pattern.pattern: pattern for pattern in patterns}
        changed = [pattern for pattern in new.values() if kept.get(pattern.pattern) != pattern]
        with self._store.writing() as db:
            db.executemany(
                "DELETE FROM pattern WHERE job = ? AND pattern = ?",
                [(self._job, pattern) for pattern in kept.keys() - new.keys()],
            )
            db.executemany(
                "INSERT OR REPLACE INTO pattern VALUES (?, ?, ?, ?, ?, ?)",
                [(self._job, *astuple(pattern)) for pattern in changed],
            )

    def patterns(self) -> list[PatternRecord]:
        """Return the learnt patterns, the most general first."""
        rows = self._store.db.execute(
            "SELECT host, pattern, urls, hits, misses FROM pattern WHERE job = ?"
            " ORDER BY urls DESC, pattern",
            (self._job,),
        )
        return [PatternRecord(*row) for row in rows]

    def _records(self, query: str, *values: object) -> Iterator[MediaPageRecord]:
        """Yield the media pages that a query, begun as `_MEDIA_PAGES`, finds."""
        db = self._store.db
        for url, title, score, words, status, visited_at, extra in db.execute(
            query, (self._job, *values)
        ).fetchall():
            resources = db.execute(
                "SELECT url, kind, tag, text, others FROM media_resource WHERE job = ? AND page = ?"
                " ORDER BY place",
                (self._job, url),
            )
            yield MediaPageRecord(
                url,
                title,
                score,
                tuple(json.loads(words)),
                status,
                visited_at,
                tuple(
                    MediaResource(address, kind, tag, text, tuple(json.loads(others)))
                    for address, kind, tag, text, others in resources
                ),
                extra,
            )

    def _note_change(self, url: str) -> None:
        self._counts = None
        if self.changed is not None:
            self.changed.add(url)

    def _count(self) -> dict[str, int]:
        db = self._store.db
        pages = db.execute("SELECT count(*) FROM media_page WHERE job = ?", (self._job,))
        kinds = db.execute(
            "SELECT kind, count(DISTINCT url) FROM media_resource WHERE job = ? GROUP BY kind",
            (self._job,),
        )
        counts = {"pages": int(pages.fetchone()[0])} | dict.fromkeys(DEFAULT_KINDS, 0)
        return counts | {kind: int(number) for kind, number in kinds}


def _key(resource: str) -> int:
    """Return 64 bits that the addresses of one resource share."""
    return hash64(resource_key(resource))


# -- Media that belong to a site, not to a page: the animation in a navigation bar ----------------
# A resource is *site-wide* once it stands on at least five pages of a section and on more than half
# of those crawled there. Sections are the whole host and each of its first directories, since a
# site's parts often have frames of their own; for animations, which frames are made of, each
# directory below them too: there a list, its pages and its feed may well repeat one song. What was
# found site-wide stays so: a page's own media is not seen on five pages that make up most of a
# section.

_FEWEST_PAGES = 5
_DEEPEST = 8  # sections of a page; directories can be nested without end
_FOR_ALL_MEDIA = 2  # sections: the host and the first directory


class BoilerplateMedia:
    """On how many pages of each section a resource was seen; durable with the next commit."""

    def __init__(self, store: SqliteStore, job: Job) -> None:
        self._store = store
        self._job = job.number
        rows = store.db.execute("SELECT url FROM site_wide WHERE job = ?", (self._job,))
        self._site_wide = {row[0] for row in rows}

    def __contains__(self, resource: str) -> bool:
        return resource in self._site_wide

    def add(
        self, page: str, resources: Iterable[str], animations: Collection[str] = ()
    ) -> list[str]:
        """Count a page and its media; return those now known as site-wide."""
        found = []
        resources = list(dict.fromkeys(resources))
        with self._store.writing() as db:
            for depth, section in enumerate(islice(_sections(page), _DEEPEST)):
                if depth == _FOR_ALL_MEDIA:
                    resources = [resource for resource in resources if resource in animations]
                pages = db.execute(
                    "INSERT INTO section VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET"
                    " pages = pages + 1 RETURNING pages",
                    (self._job, section),
                ).fetchone()[0]
                for resource in resources:
                    if resource in self._site_wide:
                        continue
                    seen = db.execute(
                        "INSERT INTO section_media VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET"
                        " pages = pages + 1 RETURNING pages",
                        (self._job, section, resource),
                    ).fetchone()[0]
                    if seen >= _FEWEST_PAGES and 2 * seen > pages:
                        self._site_wide.add(resource)
                        db.execute("INSERT INTO site_wide VALUES (?, ?)", (self._job, resource))
                        found.append(resource)
        return found


def _sections(page: str) -> Iterator[str]:
    """Yield the names of the sections a page is in, the largest first.

    >>> list(_sections("http://h/a/b/c.htm"))
    ['h/', 'h/a/', 'h/a/b/']
    """
    parts = urlsplit(page)
    section = f"{parts.netloc}/"
    yield section
    for directory in parts.path.lstrip("/").split("/")[:-1]:
        section += f"{directory}/"
        yield section
