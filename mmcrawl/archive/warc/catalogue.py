"""A temporary catalogue of the captures in WARC files, used while importing them.

A revisit may refer to a record of any file, and the captures of a URL may come in any order, so all
records must be known before the first is stored.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple, Self

from mmcrawl.archive.warc.heads import as_time
from mmcrawl.archive.warc.records import Record

_SCHEMA = """
CREATE TABLE record (
    number INTEGER PRIMARY KEY, file INTEGER, offset INTEGER, is_response INTEGER,
    uri TEXT, date REAL, id TEXT, digest TEXT
);
CREATE INDEX by_id ON record (id);
CREATE INDEX by_uri ON record (uri, date);
CREATE INDEX by_digest ON record (digest);
"""
_BY_DIGEST = """
SELECT file, offset FROM record WHERE is_response AND digest = :digest
ORDER BY id = :id DESC, uri = :uri AND abs(date - :date) < 1 DESC, uri = :own DESC,
    abs(date - :date), number LIMIT 1
"""
# A record with another digest is not the one meant, even if its position matches.
_BY_NAME = """
SELECT file, offset FROM record
WHERE is_response AND (id = :id OR uri = :uri AND date BETWEEN :date - 1 AND :date + 1)
    AND (digest = '' OR :digest = '')
ORDER BY id = :id DESC, abs(date - :date), number LIMIT 1
"""


class Place(NamedTuple):
    """Where a record is."""

    file: int  # its number
    offset: int


class Catalogue:
    """The records of several files. A temporary database that goes when it is closed."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(_SCHEMA)
        self._database.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def add(self, record: Record, file: int) -> bool:
        """Add the record of a visit; False if it has no URL or no date."""
        uri, date = record.field("WARC-Target-URI"), as_time(record.field("WARC-Date"))
        if not uri or date is None:
            return False
        named = record.field("WARC-Record-ID"), record.field("WARC-Payload-Digest")
        row = file, record.offset, record.has_body, _text(uri), date, *named
        self._database.execute("INSERT INTO record VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", row)
        return True

    def in_order(self) -> Iterator[Place]:
        """Yield all, URL by URL, each URL's in order of time."""
        rows = self._database.execute("SELECT file, offset FROM record ORDER BY uri, date, number")
        return (Place(*row) for row in rows)

    def original(self, revisit: Record) -> Place | None:
        """Return the response that a revisit refers to (WARC 1.1, section 6.7).

        By its payload digest, and of several with that the one that is named; a record that is
        named by its id, or by URI and date, also without a digest.
        """
        uri = revisit.field("WARC-Refers-To-Target-URI")
        own = revisit.field("WARC-Target-URI")
        date = as_time(revisit.field("WARC-Refers-To-Date") or revisit.field("WARC-Date"))
        wanted = {
            "id": revisit.field("WARC-Refers-To") or None,
            "uri": _text(uri or own),
            "own": _text(own),
            "date": date,
            "digest": revisit.field("WARC-Payload-Digest"),
        }
        row = None
        if wanted["digest"]:
            row = self._database.execute(_BY_DIGEST, wanted).fetchone()
        if row is None and (wanted["id"] or uri):
            row = self._database.execute(_BY_NAME, wanted).fetchone()
        return Place(*row) if row is not None else None


def _text(url: str) -> str:
    """Return a URL as SQLite takes it, without surrogates."""
    return url.encode("utf-8", "surrogatepass").decode("utf-8", "backslashreplace")
