"""The archive in one SQLite file.

Several processes may read and write at the same time: writers wait for each other, readers for
nobody (WAL). What was committed survives a power cut (``synchronous = FULL``).

A pack's id is the place of its first entry; entries and chunks of a stream ascend together, so the
last pack that begins at or before a number holds it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from mmcrawl.archive.common import PAGE, guarded
from mmcrawl.archive.rows import SHIFT, Disproved, PackRow, VersionRow, place
from mmcrawl.archive.sqlite.file import give_back
from mmcrawl.archive.sqlite.urls import UrlTables
from mmcrawl.errors import StoreError
from mmcrawl.stores.sqlite_files import raise_if_interrupted

_NUMBER = (1 << SHIFT) - 1
_AT_ONCE = 500
_PACK = "SELECT id, entries, chunk, chunks, raw, level, size FROM pack"


class SqliteBackend(UrlTables):
    """A :class:`~mmcrawl.archive.backend.Backend` in a file."""

    # -- streams ------------------------------------------------------------------------------

    def streams_named(self, names: Iterable[str]) -> dict[str, int]:
        with self.writing():
            return {name: self._numbered("stream", name) for name in names}

    @guarded
    def streams(self) -> list[int]:
        return [number for (number,) in self._db.execute("SELECT id FROM stream ORDER BY id")]

    def reserve(self, wanted: Mapping[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
        with self.writing():
            free = {}
            for stream, (entries, chunks) in wanted.items():
                entry, chunk = free[stream] = self._db.execute(
                    "SELECT entries, chunks FROM stream WHERE id = ?", (stream,)
                ).fetchone()
                self._proofs.remove_where("stream", "id = ?", (stream,))
                self._db.execute(
                    "UPDATE stream SET entries = ?, chunks = ? WHERE id = ?",
                    (entry + entries, chunk + chunks, stream),
                )
                self._proofs.add_where("stream", "id = ?", (stream,))
            return free

    # -- packs --------------------------------------------------------------------------------

    def add_packs(self, packs: Sequence[tuple[PackRow, bytes, bytes]]) -> None:
        with self.writing():
            for pack, manifest, data in packs:
                row = (
                    place(pack.stream, pack.entry),
                    pack.entries,
                    place(pack.stream, pack.chunk),
                    pack.chunks,
                    pack.raw,
                    pack.level,
                    pack.size,
                )
                self._db.execute(
                    "INSERT INTO pack (id, entries, chunk, chunks, raw, level, size, manifest,"
                    " data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*row, manifest, data),
                )
                self._proofs.add("pack", row)

    @guarded
    def pack_with_entry(self, entry: int) -> PackRow | None:
        row = self._db.execute(
            f"{_PACK} WHERE id <= ? AND id >= ? ORDER BY id DESC LIMIT 1",
            (entry, entry & ~_NUMBER),
        ).fetchone()
        pack = _pack(row) if row else None
        covers = pack is not None and (entry & _NUMBER) < pack.entry + pack.entries
        return pack if covers else None

    @guarded
    def pack_with_chunk(self, chunk: int) -> PackRow | None:
        row = self._db.execute(
            f"{_PACK} WHERE chunk <= ? AND chunk >= ? ORDER BY chunk DESC, id DESC LIMIT 1",
            (chunk, chunk & ~_NUMBER),
        ).fetchone()
        pack = _pack(row) if row else None
        covers = pack is not None and (chunk & _NUMBER) < pack.chunk + pack.chunks
        return pack if covers else None

    @guarded
    def packs_with_entries(self, entries: Iterable[int]) -> dict[int, PackRow]:
        return _held(entries, self.pack_with_entry, lambda pack: (pack.entry, pack.entries))

    @guarded
    def packs_with_chunks(self, chunks: Iterable[int]) -> dict[int, PackRow]:
        return _held(chunks, self.pack_with_chunk, lambda pack: (pack.chunk, pack.chunks))

    @guarded
    def packs(self, stream: int) -> list[PackRow]:
        return self._packs_from(place(stream, 0))

    @guarded
    def tail(self, stream: int) -> list[PackRow]:
        first = place(stream, 0)
        sealed = self._db.execute(
            "SELECT id FROM pack WHERE level > 0 AND id >= ? AND id < ? ORDER BY id DESC LIMIT 1",
            (first, place(stream + 1, 0)),
        ).fetchone()
        return self._packs_from(sealed[0] if sealed else first)

    @guarded
    def tails(self) -> list[int]:
        rows = self._db.execute(
            "SELECT DISTINCT id >> 32 FROM (SELECT id FROM pack INDEXED BY pack_chunk"
            " EXCEPT SELECT id FROM pack INDEXED BY pack_sealed WHERE level > 0)"
        )
        return [stream for (stream,) in rows]

    def _packs_from(self, first: int) -> list[PackRow]:
        end = place((first >> SHIFT) + 1, 0)
        rows = self._db.execute(f"{_PACK} WHERE id >= ? AND id < ? ORDER BY id", (first, end))
        return [_pack(row) for row in rows]

    @guarded
    def manifest(self, pack: PackRow) -> bytes | None:
        return self._blob("manifest", pack)

    def manifests(self, packs: Sequence[PackRow]) -> dict[PackRow, bytes]:
        found = ((pack, self.manifest(pack)) for pack in packs)
        return {pack: frame for pack, frame in found if frame is not None}

    @guarded
    def data(self, pack: PackRow) -> bytes | None:
        return self._blob("data", pack)

    def _blob(self, column: str, pack: PackRow) -> bytes | None:
        row = self._db.execute(
            f"SELECT {column} FROM pack WHERE id = ? AND entries = ? AND raw = ? AND size = ?",  # noqa: S608
            (place(pack.stream, pack.entry), pack.entries, pack.raw, pack.size),
        ).fetchone()
        return row[0] if row else None

    def replace_packs(
        self,
        old: Sequence[PackRow],
        new: PackRow,
        manifest: bytes,
        data: bytes,
        needed: Collection[PackRow] = (),
    ) -> bool:
        with self.writing():
            for packs in (list(old), *([pack] for pack in needed)):
                first = place(packs[0].stream, packs[0].entry)
                if self._packs_from(first)[: len(packs)] != packs:
                    return False
            for pack in old:
                self.remove_pack(pack)
            self.add_packs([(new, manifest, data)])
            return True

    def remove_pack(self, pack: PackRow) -> None:
        with self.writing():
            named = (place(pack.stream, pack.entry), pack.entries)
            self._remove("pack", "id = ? AND entries = ?", named)

    # -- chunks -------------------------------------------------------------------------------

    @guarded
    def find_chunks(self, digests: Sequence[bytes]) -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        for start in range(0, len(digests), _AT_ONCE):
            part = digests[start : start + _AT_ONCE]
            marks = ",".join("?" * len(part))
            rows = self._db.execute(
                f"SELECT digest, place FROM chunk WHERE digest IN ({marks})",  # noqa: S608
                part,
            )
            found.update(rows)
        return found

    def add_chunks(self, chunks: Iterable[tuple[bytes, int]]) -> None:
        with self.writing():
            self._db.executemany("INSERT OR IGNORE INTO chunk VALUES (?, ?)", sorted(chunks))

    def remove_chunks(self, digests: Iterable[bytes]) -> None:
        with self.writing():
            self._db.executemany(
                "DELETE FROM chunk WHERE digest = ?", ((digest,) for digest in digests)
            )

    @guarded
    def _chunks_after(self, digest: bytes) -> list[tuple[bytes, int]]:
        return self._db.execute(
            "SELECT digest, place FROM chunk WHERE digest > ? ORDER BY digest LIMIT ?",
            (digest, PAGE),
        ).fetchall()

    # -- the whole ----------------------------------------------------------------------------

    @guarded
    def counts(self) -> dict[str, int]:
        names = {"urls": "url", "versions": "version", "visits": "visit", "packs": "pack"}
        names["chunks"] = "chunk"
        return {
            key: self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
            for key, table in names.items()
        }

    @guarded
    def totals(self) -> dict[str, tuple[int, int, int]]:
        rows = self._db.execute(
            "SELECT name, count(DISTINCT url.id), count(number), coalesce(sum(size), 0)"
            " FROM host JOIN url ON url.host = host.id LEFT JOIN version ON version.url = url.id"
            " GROUP BY name ORDER BY name"
        )
        return {name: (urls, versions, size) for name, urls, versions, size in rows}

    def size(self) -> int:
        return sum(
            path.stat().st_size for path in (self._path, Path(f"{self._path}-wal")) if path.exists()
        )

    @guarded
    @guarded
    def problems(self) -> list[str]:
        try:
            rows = self._db.execute("PRAGMA integrity_check").fetchall()
        except sqlite3.ProgrammingError:  # it is closed
            raise
        except sqlite3.DatabaseError as error:
            raise_if_interrupted(error)
            return [f"the database is damaged: {error}"]
        return [f"the database is damaged: {text}" for (text,) in rows if text != "ok"]

    @guarded
    def disproved(self) -> list[Disproved]:
        # A flipped bit may have made something of a text that is none.
        self._db.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        try:
            return self._proofs.disproved()
        finally:
            self._db.text_factory = str

    def restore(self, group: Disproved) -> bool:
        try:
            with self.writing():
                return self._proofs.restore(group)
        except StoreError:
            return False  # something else stands in its place

    def settle(self, losses: Iterable[str]) -> None:
        if not self.problems():  # a file that is damaged itself is told of again
            with self.writing():
                self._proofs.settle(losses)

    @guarded
    def settled(self) -> set[str]:
        return self._proofs.settled()

    @guarded
    def proves_versions(self, url: int) -> bool | None:
        return self._proofs.is_right("version", url)

    def put_versions(self, rows: Sequence[VersionRow], untrue: Sequence[VersionRow] = ()) -> None:
        with self.writing():
            urls = {row.url for row in (*rows, *untrue)}
            right = [url for url in urls if self._proofs.is_right("version", url)]
            for row in (*untrue, *rows):
                named = (row.url, row.number)
                self._db.execute("DELETE FROM version WHERE url = ? AND number = ?", named)
            self._insert_versions(rows)
            # A group that was wrong is proved by what it was before that.
            for url in right:
                self._proofs.take("version", url)

    @guarded
    def nameless(self) -> list[int]:
        rows = self._db.execute(
            "SELECT url FROM version UNION SELECT url FROM visit EXCEPT SELECT id FROM url"
        )
        return [number for (number,) in rows]

    @guarded
    def reserved(self, stream: int) -> tuple[int, int]:
        find = "SELECT entries, chunks FROM stream WHERE id = ?"
        row = self._db.execute(find, (stream,)).fetchone()
        return (row[0], row[1]) if row else (0, 0)

    @guarded
    def compact(self) -> None:
        give_back(self._db)

    def close(self) -> None:
        with self._lock:
            self._db.close()


def _pack(row: tuple[int, int, int, int, int, int, int]) -> PackRow:
    first, entries, chunk, chunks, raw, level, size = row
    return PackRow(
        first >> SHIFT, first & _NUMBER, entries, chunk & _NUMBER, chunks, raw, level, size
    )


def _held(
    places: Iterable[int],
    find: Callable[[int], PackRow | None],
    span: Callable[[PackRow], tuple[int, int]],
) -> dict[int, PackRow]:
    """Return packs by place; one that holds several places is looked up once."""
    found: dict[int, PackRow] = {}
    pack: PackRow | None = None
    end = -1
    for at in sorted(places):
        if at >= end:
            pack = find(at)
            end = place(pack.stream, sum(span(pack))) if pack is not None else at
        if pack is not None:
            found[at] = pack
    return found
