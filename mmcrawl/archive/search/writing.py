"""Writing to the search index, within a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from mmcrawl.archive.search.index import (
    KIND_NUMBERS,
    IndexedBlock,
    ReadVersion,
    packed,
    unpacked,
    words_of,
)


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
            gone = db.execute(
                "SELECT DISTINCT document FROM run WHERE page = ?", (page,)
            ).fetchall()
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
            "INSERT INTO word (word, rowid, text, pinyin, topic) VALUES ('delete', ?, ?, ?, ?)",
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
        db.execute(
            "INSERT OR IGNORE INTO page (url, host) VALUES (?, ?)", (change.url, _host(change.url))
        )
        page: int = db.execute("SELECT id FROM page WHERE url = ?", (change.url,)).fetchone()[0]
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
        words = "INSERT INTO word (rowid, text, pinyin, topic) VALUES (?, ?, ?, ?)"
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


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
