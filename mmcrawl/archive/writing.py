"""Storing a capture (Song et al. 2008, algorithm 4).

The last version is not read to store the next one. A chunk is recognised by its digest, wherever
it was stored before; what is new goes into one pack at the end of a stream, with the entry that
says how the page is put together.

A URL that is stored for the first time goes to the stream of its host, where pages of one template
stand together. One that comes again after its segment was closed gets a stream of its own, where
its versions stand together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from urllib.parse import urlsplit

from mmcrawl.archive.backend import SHIFT, Backend, PackRow, UrlRow, VersionRow, VisitRow, place
from mmcrawl.archive.chunking import chunks_of
from mmcrawl.archive.facts import as_version, cut_by, written_facts
from mmcrawl.archive.frames import compressed
from mmcrawl.archive.manifest import Entry, pack_manifest, runs_of
from mmcrawl.archive.model import Capture, Stored
from mmcrawl.archive.pages import facts_of_page
from mmcrawl.archive.reading import Reader, holds
from mmcrawl.archive.sealing import TAIL_LEVEL, Sealer, is_closed
from mmcrawl.blocks.partition import DEFAULT_LEVEL, DEFAULT_METHOD
from mmcrawl.errors import StoreError
from mmcrawl.frontier.urls import url_key

__all__ = ["Writer", "host_of", "key_of"]

CHUNK_DIGEST = 16
_FAN_OUT = 4  # segments that a version is read from; what stands in others is stored again
_ATTEMPTS = 20
_LARGEST = 512 << 20


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A capture, cut before the transaction.

    Attributes:
        capture: It.
        digest: SHA-256 of the body.
        method, level: As wished by the caller.
        chunks: The body by digests, in order; None if nothing seemed to have changed.
    """

    capture: Capture
    digest: bytes
    method: str | None
    level: int | None
    chunks: list[tuple[bytes, bytes]] | None = None

    def cut(self) -> _Prepared:
        """Return it with chunks."""
        if self.chunks is not None:
            return self
        chunks = [
            (sha256(chunk).digest()[:CHUNK_DIGEST], chunk) for chunk in chunks_of(self.capture.body)
        ]
        return replace(self, chunks=chunks)


class Writer:
    """Stores captures, one thread at a time."""

    def __init__(self, backend: Backend, reader: Reader, sealer: Sealer) -> None:
        self._backend = backend
        self._reader = reader
        self._sealer = sealer

    def store(
        self, captures: Iterable[Capture], method: str | None = None, level: int | None = None
    ) -> list[Stored]:
        """Store captures in one commit."""
        prepared = [self._prepare(capture, method, level) for capture in captures]
        grown: Counter[int] = Counter()
        with self._backend.writing():
            stored = [self._keep(item, grown) for item in prepared]
        for stream, raw in grown.items():
            self._sealer.grown(stream, raw)
        return stored

    def _prepare(self, capture: Capture, method: str | None, level: int | None) -> _Prepared:
        if len(capture.body) > _LARGEST:
            raise StoreError(
                f"{capture.url} has {len(capture.body)} bytes; the archive keeps up to {_LARGEST}"
            )
        item = _Prepared(capture, sha256(capture.body).digest(), method, level)
        row = self._backend.url(capture.url)
        last = self._backend.version_at(row.id, capture.time) if row is not None else None
        if last is not None and self._is_unchanged(last, item):
            return item
        return item.cut()

    def _is_unchanged(self, last: VersionRow, item: _Prepared) -> bool:
        capture = item.capture
        if (last.digest, last.status) != (item.digest, capture.status):
            return False
        if capture.status // 100 != 3:
            return True
        before = as_version(capture.url, last, self._reader.entry(last))
        return before.header("location") == capture.header("location")

    def _keep(self, item: _Prepared, grown: Counter[int]) -> Stored:
        capture = item.capture
        url = self._backend.add_url(capture.url, key_of(capture.url), host_of(capture.url))
        for _ in range(_ATTEMPTS):
            last = self._backend.version_at(url.id, capture.time)
            if last is not None and self._is_unchanged(last, item):
                if last.time != capture.time:
                    self._backend.add_visit(
                        VisitRow(url.id, capture.time, last.number, capture.status)
                    )
                return Stored(None)
            stored = self._write(item.cut(), url, last, grown)
            if stored is not None:
                return stored
        raise StoreError(
            f"archive {self._backend.name} cannot keep {capture.url}: others write it all the time"
        )

    def _write(
        self, item: _Prepared, url: UrlRow, last: VersionRow | None, grown: Counter[int]
    ) -> Stored | None:
        """Write a pack, what is new in it, and last the version; None if its number was taken."""
        capture, backend = item.capture, self._backend
        chunks = item.chunks or []
        stream = self._stream_of(url, last)
        new, places = self._new_chunks(dict(chunks), stream)
        number = backend.last_number(url.id) + 1
        entry_number, first = backend.reserve(stream, len(new))
        places.update({digest: place(stream, first + n) for n, digest in enumerate(new)})
        entry = Entry(
            url=url.id,
            number=number,
            time=capture.time,
            status=capture.status,
            facts=self._facts(item, last),
            runs=tuple(runs_of(places[digest] for digest, _ in chunks)),
        )
        raw = self._add_pack((stream, entry_number, first), entry, list(new.values()))
        backend.add_chunks((digest, places[digest]) for digest in new)
        row = VersionRow(
            url=url.id,
            number=number,
            time=capture.time,
            status=capture.status,
            digest=item.digest,
            size=len(capture.body),
            entry=place(stream, entry_number),
        )
        if not backend.add_version(row):
            return None
        grown[stream] += raw
        return Stored(
            as_version(url.url, row, entry),
            chunks=len(chunks),
            new_chunks=len(new),
            new_bytes=raw,
        )

    def _add_pack(self, at: tuple[int, int, int], entry: Entry, chunks: Sequence[bytes]) -> int:
        """Write the pack of one version to (stream, entry, chunk); return its bytes as received."""
        stream, number, first = at
        content = b"".join(chunks)
        manifest = pack_manifest([entry], [len(chunk) for chunk in chunks], TAIL_LEVEL)
        data = compressed(content, TAIL_LEVEL)
        pack = PackRow(
            stream=stream,
            entry=number,
            entries=1,
            chunk=first,
            chunks=len(chunks),
            raw=len(content),
            level=0,
            size=len(manifest) + len(data),
        )
        self._backend.add_pack(pack, manifest, data)
        return pack.raw

    def _stream_of(self, url: UrlRow, last: VersionRow | None) -> int:
        if url.stream is not None:
            return url.stream
        if last is not None:
            pack = self._backend.pack_with_entry(last.entry)
            if pack is not None and is_closed(pack):
                stream = self._backend.stream(f"#{url.id}")
                self._backend.set_stream(url.id, stream)
                return stream
        return self._backend.stream(url.host)

    def _facts(self, item: _Prepared, last: VersionRow | None) -> bytes:
        page = facts_of_page(item.capture)
        method, level = item.method, item.level
        if last is not None and page.is_page and not (method and level):
            last_method, last_level = cut_by(self._reader.entry(last))
            method, level = method or last_method, level or last_level
        return written_facts(item.capture, page, method or DEFAULT_METHOD, level or DEFAULT_LEVEL)

    def _new_chunks(
        self, by_digest: dict[bytes, bytes], stream: int
    ) -> tuple[dict[bytes, bytes], dict[bytes, int]]:
        """Return the chunks to be stored, by digest, and the places of the others."""
        found = self._backend.find_chunks(list(by_digest))
        segments = self._segments(found.values(), stream)
        weight: Counter[tuple[int, int]] = Counter()
        for digest, at in found.items():
            if (segment := segments[at]) is not None:
                weight[segment] += len(by_digest[digest])
        read = {segment for segment, _ in weight.most_common(_FAN_OUT)} | {None}
        found = {digest: at for digest, at in found.items() if segments[at] in read}
        new = {digest: chunk for digest, chunk in by_digest.items() if digest not in found}
        return new, found

    def _segments(self, places: Iterable[int], stream: int) -> dict[int, tuple[int, int] | None]:
        """Return which segment each chunk is in; None for what is to be the stream's next one."""
        segments: dict[int, tuple[int, int] | None] = {}
        pack: PackRow | None = None
        for at in sorted(places):
            of, number = at >> SHIFT, at & ((1 << SHIFT) - 1)
            if pack is None or not holds(pack, of, number):
                pack = self._backend.pack_with_chunk(at)
            if pack is not None and is_closed(pack):
                segments[at] = (of, pack.entry)
            else:
                segments[at] = None if of == stream else (of, -1)
        return segments


def key_of(url: str) -> int:
    """Return the key under which spellings of one URL are found."""
    return url_key(0, url)


def host_of(url: str) -> str:
    """Return the host of a URL in lower case, "" if it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
