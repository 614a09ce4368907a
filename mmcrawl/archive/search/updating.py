"""Brings the search index up to date with the archive.

For each page, versions that the index lacks are read. A version later than all others continues the
page. If a version was purged, or inserted between others, the page is *reset*: it is removed, with
all documents that are on no other page, and indexed again. Results are written every few seconds,
so that they can be found and an interrupted update loses little.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.search.blocks import PageToRead, read_versions
from mmcrawl.archive.search.index import (
    KIND_NUMBERS,
    Index,
    IndexedBlock,
    ReadVersion,
    packed,
    unpacked,
    words_of,
)
from mmcrawl.errors import StoreError
from mmcrawl.frontier.urls import host_of

logger = logging.getLogger(__name__)

_COMMIT_SECONDS = 2.0  # between two transactions
_PIECE = 64  # versions of a page that are written at once
_ATTEMPTS = 20

Tell = Callable[[int, int], None]
"""Is told how many versions were read, and how many there are to be read in this update."""


@dataclass(frozen=True, slots=True)
class Updated:
    """What an update did."""

    versions: int = 0  # that were indexed
    blocks: int = 0  # of them, distinct ones that were new to the index
    reset: int = 0  # pages indexed again or removed, since versions were purged or inserted
    failed: tuple[tuple[str, int], ...] = ()
    """URL and number of versions that could not be read; they are not looked at again."""


class Updater:
    """Updates one index from one archive."""

    def __init__(
        self, archive: Archive, index: Index, *, processes: int = 1, tell: Tell | None = None
    ) -> None:
        self._archive = archive
        self._index = index
        self._processes = processes
        self._tell = tell or (lambda done, total: None)
        self._versions = self._blocks = 0
        self._reset: set[str] = set()
        self._failed: list[tuple[str, int]] = []

    def update(self) -> Updated:
        """Take in what is new, forget what was purged; each part that is written is durable."""
        for _ in range(_ATTEMPTS):
            reset, changes = self._compared()
            dropped = self._forget(reset)
            try:
                self._take_in(changes)
            except LostError:
                continue
            self._finish(dropped)
            return Updated(self._versions, self._blocks, len(self._reset), tuple(self._failed))
        raise StoreError(
            f"search index {self._index.name} is written by others all the time; try again"
        )

    def _finish(self, dropped: bool) -> None:
        if not (dropped or self._versions):
            return
        with self._index.reading() as db:
            blocks = db.execute("SELECT count(*) FROM document").fetchone()[0]
        # Most of the index is new: as small and fast as it can be from here on.
        self._index.tidy(thoroughly=dropped or 2 * self._blocks > blocks)

    # ---------------------------------------------------------------- comparing with the archive

    def _compared(self) -> tuple[list[str], list[Change]]:
        """Return which pages are to be forgotten, and what is to be told then."""
        reset: list[str] = []
        changes: list[Change] = []
        with self._index.reading() as db:
            pages = dict(db.execute("SELECT url, id FROM page"))
            # Exactly these: of another spelling the archive gives the visits, too.
            there = {*self._archive.urls()}
            for url in sorted(there.union(pages)):
                indexed = rows_of(db, pages[url]) if url in pages else []
                archived = self._archived(url) if url in there else []
                if archived == indexed:
                    continue
                if not _is_continued(indexed, archived):
                    reset.append(url)
                    indexed = []
                changes += _pieces(url, indexed, archived)
        return reset, changes

    def _archived(self, url: str) -> list[Row]:
        """Return the versions of a URL, as the archive has them."""
        rows: dict[int, Row] = {}
        for visit in self._archive.visits(url):
            if visit.version is None:
                continue
            known = rows.get(visit.version)
            if visit.changed:  # its time names it; visits before that found it are no part of it
                rows[visit.version] = Row(visit.version, visit.time, visit.time)
            elif known is not None:
                rows[visit.version] = known._replace(until=max(known.until, visit.time))
        return sorted(rows.values(), key=lambda row: (row.time, row.number))

    # ---------------------------------------------------------------- taking in

    def _take_in(self, changes: Sequence[Change]) -> None:
        total, done = sum(len(change.new) for change in changes), 0
        if total:
            self._tell(0, total)
        batch: list[tuple[Change, list[ReadVersion]]] = []
        began = time.monotonic()
        pages = self._pages(changes)
        with closing(read_versions(pages, total, self._processes)) as versions:
            for change in changes:
                read: list[ReadVersion] = []
                batch.append((change, read))
                for _ in change.new:
                    read.append(next(versions))
                    done += 1
                    self._tell(done, total)
                if time.monotonic() - began > _COMMIT_SECONDS:
                    self._write(batch)
                    batch, began = [], time.monotonic()
        if batch:
            self._write(batch)

    def _pages(self, changes: Sequence[Change]) -> Iterator[PageToRead | ReadVersion]:
        for change in changes:
            known = frozenset(self._known(change.url)) if change.known else frozenset()
            for row in change.new:
                yield self._page(change.url, row.number, known)

    def _page(self, url: str, number: int, known: Set[tuple[str, str]]) -> PageToRead | ReadVersion:
        """Return a version to be read, without blocks whose digest and encoding are known."""
        try:
            version = self._archive.version(url, number)
            if not version.encoding:
                return ReadVersion(version.language)
            page = self._archive.page(version)
        except StoreError as error:
            self._archive.visits(url)  # if the store fails altogether, so does this
            return ReadVersion(problem=str(error))
        here = frozenset(digest for digest, encoding in known if encoding == version.encoding)
        return PageToRead(page, here)

    def _known(self, url: str) -> list[tuple[str, str]]:
        """Return digest and encoding of the documents of the last version of a page."""
        query = (
            "SELECT DISTINCT lower(hex(digest)), name.text FROM page"
            " JOIN run INDEXED BY run_page ON run.page = page.id"
            " AND last = (SELECT max(place) FROM version WHERE version.page = page.id)"
            " JOIN document ON document.id = run.document JOIN name ON name.id = encoding"
            " WHERE url = ?"
        )
        with self._index.reading() as db:
            return db.execute(query, (url,)).fetchall()

    def _write(self, batch: Sequence[tuple[Change, Sequence[ReadVersion]]]) -> None:
        with self._index.writing() as db:
            writer = Writer(db)
            for change, versions in batch:
                writer.write(change, versions)
        self._blocks += writer.documents
        for change, versions in batch:
            for row, version in zip(change.new, versions, strict=True):
                self._versions += not version.problem
                if why := version.problem:
                    name = row.number, change.url
                    logger.warning("Version %s of %s is not searchable: %s", *name, why)
                    self._failed.append((change.url, row.number))

    # ---------------------------------------------------------------- forgetting

    def _forget(self, urls: Sequence[str]) -> bool:
        """Forget pages; return whether there were documents on no other page."""
        if not urls:
            return False
        self._reset.update(urls)
        with self._index.writing() as db:
            return forget(db, urls)


def _pieces(url: str, indexed: Sequence[Row], archived: Sequence[Row]) -> Iterator[Change]:
    """Yield what is to be told of a page that is continued, in pieces of a few versions."""
    known = len(indexed)
    until = archived[known - 1].until if known else None
    for start in range(known, max(len(archived), known + 1), _PIECE):
        before = indexed if start == known else archived[:start]
        if before or archived:
            yield Change(url, before, until, archived[start : start + _PIECE])
        until = None


def _is_continued(indexed: Sequence[Row], archived: Sequence[Row]) -> bool:
    """Return whether all that is indexed is still so; the last version may be seen for longer."""
    if not indexed:
        return True
    known = len(indexed)
    if len(archived) < known or list(archived[: known - 1]) != list(indexed[:-1]):
        return False
    last, now = indexed[-1], archived[known - 1]
    return (last.number, last.time) == (now.number, now.time) and now.until >= last.until


class Row(NamedTuple):
    """A version, as the index knows it."""

    number: int
    time: float
    until: float


class Change(NamedTuple):
    """What is to be told of a page: versions behind those `known`, the last of which may be seen
    for longer now."""

    url: str
    known: Sequence[Row]
    until: float | None
    new: Sequence[Row]


class LostError(Exception):
    """Another process changed the index in the meantime."""


def forget(db: sqlite3.Connection, urls: Iterable[str]) -> bool:
    """Forget pages; return whether there were documents on no other page."""
    dead: list[tuple[int, str, bytes]] = []
    for url in urls:
        for (page,) in db.execute("SELECT id FROM page WHERE url = ?", (url,)).fetchall():
            of_page = "SELECT DISTINCT document FROM run WHERE page = ?"
            gone = db.execute(of_page, (page,)).fetchall()
            for table, column in (("run", "page"), ("version", "page"), ("page", "id")):
                db.execute(f"DELETE FROM {table} WHERE {column} = ?", (page,))  # noqa: S608
            for document in gone:
                dead += db.execute(
                    "SELECT id, topic, text FROM document WHERE id = ?1"
                    " AND NOT EXISTS (SELECT 1 FROM run WHERE document = ?1)",
                    document,
                ).fetchall()
    for document, topic, text in dead:
        # A table without contents is told what it holds of a row.
        db.execute(
            "INSERT INTO word (word, rowid, text, topic) VALUES ('delete', ?, ?, ?)",
            (document, *words_of(topic, unpacked(text))),
        )
        db.execute("DELETE FROM document WHERE id = ?", (document,))
    if dead:  # without this, what is deleted stays in the table until its parts are merged
        db.execute("INSERT INTO word (word) VALUES ('optimize')")
    return bool(dead)


class Writer:
    """Writes versions within a transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.documents = 0  # new ones
        self._names: dict[str, int] = dict(db.execute("SELECT text, id FROM name"))

    def write(self, change: Change, versions: Sequence[ReadVersion]) -> None:
        """Take in what is new of a page.

        Raises:
            LostError: the index is not as it was when it was compared.
        """
        db, last = self._db, len(change.known) - 1
        named = change.url, host_of(change.url)
        db.execute("INSERT OR IGNORE INTO page (url, host) VALUES (?, ?)", named)
        page: int = db.execute("SELECT id FROM page WHERE url = ?", named[:1]).fetchone()[0]
        if rows_of(db, page) != list(change.known):
            raise LostError
        if change.until is not None:
            until = "UPDATE version SET until = ? WHERE page = ? AND place = ?"
            db.execute(until, (change.until, page, last))
        spoken = "SELECT language FROM version WHERE page = ? AND place = ?"
        language = db.execute(spoken, (page, last)).fetchone()
        standing = "SELECT document, kind, media, first FROM run WHERE page = ? AND last = ?"
        open_ = {(*key,): first for *key, first in db.execute(standing, (page, last))}
        runs: dict[tuple[int, ...], int] = {}
        for place, (row, version) in enumerate(zip(change.new, versions, strict=True), last + 1):
            spoken_now = (self._name(version.language),)
            blocks = {self._placed(version.encoding, block) for block in version.blocks}
            before = open_ if spoken_now == language else {}
            open_ = {key: before.get(key, place) for key in blocks}
            runs.update({(*key, first): place for key, first in open_.items()})
            insert = "INSERT INTO version VALUES (?, ?, ?, ?, ?, ?)"
            db.execute(insert, (page, place, *row, *spoken_now))
            language = spoken_now
        db.executemany(
            "INSERT OR REPLACE INTO run (page, document, kind, media, first, last)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            ((page, *key, last) for key, last in runs.items()),
        )

    def _placed(self, encoding: str, block: IndexedBlock) -> tuple[int, int, int]:
        """Return document, kind and media of a block, made a document if it is new."""
        key = bytes.fromhex(block.digest), self._name(encoding)
        found = self._db.execute(
            "SELECT id, media FROM document WHERE substr(digest, 1, 4) = substr(?1, 1, 4)"
            " AND digest = ?1 AND encoding = ?2",
            key,
        ).fetchone()
        if found is None and block.text is None:  # the index had it when it was compared
            raise LostError
        document, inside = found or (self._new(block, key), block.inside)
        return document, KIND_NUMBERS[block.kind], inside | block.around

    def _new(self, block: IndexedBlock, key: tuple[bytes, int]) -> int:
        text, topic = block.text or "", block.topic.encode("utf-8", "replace").decode()
        row = (*key, block.inside, topic, packed(text))
        insert = "INSERT INTO document VALUES (NULL, ?, ?, ?, ?, ?)"
        document = self._db.execute(insert, row).lastrowid or 0
        words = "INSERT INTO word (rowid, text, topic) VALUES (?, ?, ?)"
        self._db.execute(words, (document, *words_of(topic, unpacked(row[-1]))))
        self.documents += 1
        return document

    def _name(self, text: str) -> int:
        if text not in self._names:
            insert = "INSERT INTO name (text) VALUES (?)"
            self._names[text] = self._db.execute(insert, (text,)).lastrowid or 0
        return self._names[text]


def rows_of(db: sqlite3.Connection, page: int) -> list[Row]:
    """Return the versions of a page in the index."""
    query = "SELECT number, time, until FROM version WHERE page = ? ORDER BY place"
    return [Row(*row) for row in db.execute(query, (page,))]
