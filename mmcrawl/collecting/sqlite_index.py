"""The index of a collection in an SQLite file, which several processes may use at once."""

import json
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import astuple, fields, replace
from itertools import islice

from mmcrawl.collecting.index import Summary
from mmcrawl.collecting.model import EVERY_KIND, MediaFile, State
from mmcrawl.frontier.addresses import host_of
from mmcrawl.stores.sqlite_file import Form, SqliteFile

_PAGE = 1_000  # records read at a time
_COLUMNS = tuple(field.name for field in fields(MediaFile))
_SCHEMA = """
CREATE TABLE file (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, state TEXT NOT NULL,
    digest TEXT NOT NULL, size INTEGER NOT NULL, content_type TEXT NOT NULL, etag TEXT NOT NULL,
    last_modified TEXT NOT NULL, final_url TEXT NOT NULL, parent TEXT NOT NULL,
    page TEXT NOT NULL, title TEXT NOT NULL, tries INTEGER NOT NULL, reason TEXT NOT NULL,
    added_at REAL NOT NULL, changed_at REAL NOT NULL, owner TEXT NOT NULL,
    lease_until REAL NOT NULL, host TEXT NOT NULL
) STRICT;
CREATE INDEX file_state ON file (state);
CREATE INDEX file_digest ON file (digest) WHERE digest <> '';
"""
_FORM = Form(
    "an index",
    "there is no collection {}; `scrapy collect` begins one for a crawl",
    (0x6D6D636D, 2),  # "mmcm"
    _SCHEMA,
    instead="another one with -s MMCRAWL_MEDIA=FOLDER",
)
_ALL = ", ".join(_COLUMNS)
_INSERT = (
    f"INSERT OR IGNORE INTO file ({_ALL}, host) VALUES"  # noqa: S608 - our own names
    f" ({', '.join('?' * (len(_COLUMNS) + 1))})"
)
_TAKE = (
    "UPDATE file SET state = 'taken', owner = ?, lease_until = ?, changed_at = ?,"  # noqa: S608
    " tries = tries + 1 WHERE id IN (SELECT id FROM file WHERE state = 'waiting'"
    " AND kind IN (SELECT value FROM json_each(?))"
    " AND host NOT IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT ?)"
    f" RETURNING id, {_ALL}"
)
_SETTLE = (
    f"UPDATE file SET {' = ?, '.join(_COLUMNS)} = ?"  # noqa: S608
    " WHERE url = ? AND state = 'taken' AND owner = ?"
)
_FREE = "state = 'waiting', owner = '', lease_until = 0"


class SqliteIndex(SqliteFile):
    """A `MediaIndex` in a file."""

    form = _FORM

    def add(self, files: Iterable[MediaFile]) -> int:
        added, rest = 0, iter(files)
        while rows := [(*astuple(file), host_of(file.url)) for file in islice(rest, _PAGE)]:
            with self._writing() as db:
                added += db.executemany(_INSERT, rows).rowcount
        return added

    def take(
        self,
        owner: str,
        now: float,
        until: float,
        most: int,
        *,
        kinds: Collection[str] = EVERY_KIND,
        busy: Collection[str] = (),
    ) -> list[MediaFile]:
        with self._writing() as db:
            db.execute(
                f"UPDATE file SET {_FREE} WHERE state = 'taken' AND lease_until < ?",  # noqa: S608
                (now,),
            )
            kept = json.dumps([*kinds]), json.dumps([*busy])
            taken = db.execute(_TAKE, (owner, until, now, *kept, most)).fetchall()
        return [_file(row[1:]) for row in sorted(taken)]

    def renew(self, owner: str, until: float) -> None:
        with self._writing() as db:
            db.execute(
                "UPDATE file SET lease_until = ? WHERE state = 'taken' AND owner = ?",
                (until, owner),
            )

    def settle(self, files: Sequence[MediaFile], owner: str) -> int:
        rows = [
            (*astuple(replace(file, owner="", lease_until=0.0)), file.url, owner) for file in files
        ]
        with self._writing() as db:
            return max(db.executemany(_SETTLE, rows).rowcount, 0)

    def give_back(self, owner: str) -> None:
        with self._writing() as db:
            db.execute(
                f"UPDATE file SET {_FREE} WHERE state = 'taken' AND owner = ?",  # noqa: S608
                (owner,),
            )

    def owners(self) -> set[str]:
        with self._reading() as db:
            rows = db.execute("SELECT DISTINCT owner FROM file WHERE state = 'taken'")
            return {row[0] for row in rows}

    def again(self, states: Collection[State]) -> int:
        with self._writing() as db:
            changed = db.execute(
                f"UPDATE file SET {_FREE}, changed_at = ?"  # noqa: S608
                " WHERE state IN (SELECT value FROM json_each(?))",
                (time.time(), json.dumps([*states])),
            )
            return changed.rowcount

    def find(self, url: str) -> MediaFile | None:
        with self._reading() as db:
            row = db.execute(f"SELECT {_ALL} FROM file WHERE url = ?", (url,)).fetchone()  # noqa: S608
        return None if row is None else _file(row)

    def files(self, states: Collection[State] = ()) -> Iterator[MediaFile]:
        wanted, last = json.dumps([*(states or State)]), 0
        while True:
            with self._reading() as db:
                rows = db.execute(
                    f"SELECT id, {_ALL} FROM file WHERE id > ?"  # noqa: S608
                    " AND state IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT ?",
                    (last, wanted, _PAGE),
                ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            yield from (_file(row[1:]) for row in rows)

    def summary(self) -> Summary:
        with self._reading() as db:
            states = db.execute("SELECT state, count(*) FROM file GROUP BY state").fetchall()
            held = db.execute(
                "SELECT kind, count(*), sum(size) FROM (SELECT min(kind) AS kind, max(size) AS size"
                " FROM file WHERE state = 'held' GROUP BY digest) GROUP BY kind"
            ).fetchall()
            reasons = db.execute(
                "SELECT reason, count(*) FROM file WHERE state IN ('failed', 'skipped')"
                " GROUP BY reason"
            ).fetchall()
        return Summary(
            {State(state): count for state, count in states},
            {kind: count for kind, count, _ in held},
            {kind: size for kind, _, size in held},
            dict(reasons),
        )


def _file(row: tuple[object, ...]) -> MediaFile:
    file = MediaFile(*row)  # type: ignore[arg-type]
    return replace(file, state=State(file.state))
