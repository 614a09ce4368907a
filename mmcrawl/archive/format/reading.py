"""From a place in the archive to the bytes of a page."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Generic, TypeVar

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.frames import decompressed
from mmcrawl.archive.format.manifest import Entry, Manifest, Run, read_manifest
from mmcrawl.archive.rows import SHIFT, PackRow, VersionRow, place
from mmcrawl.errors import StoreError

_NUMBER = (1 << SHIFT) - 1
_MANIFESTS = 8 << 20  # bytes kept
_FRAMES = 64 << 20  # a segment, those that it needs, and another
_ATTEMPTS = 4

_K = TypeVar("_K")
_V = TypeVar("_V")
_R = TypeVar("_R")


class _Kept(Generic[_K, _V]):
    """What was used last, up to a weight."""

    def __init__(self, most: int, weight: Callable[[_V], int]) -> None:
        self._most = most
        self._weigh = weight
        self._weight = 0
        self._items: OrderedDict[_K, _V] = OrderedDict()

    def get(self, key: _K) -> _V | None:
        item = self._items.get(key)
        if item is not None:
            self._items.move_to_end(key)
        return item

    def put(self, key: _K, item: _V) -> None:
        self.drop(key)
        self._items[key] = item
        self._weight += self._weigh(item)
        while self._weight > self._most and len(self._items) > 1:
            self.drop(next(iter(self._items)))

    def drop(self, key: _K) -> None:
        if (item := self._items.pop(key, None)) is not None:
            self._weight -= self._weigh(item)


class GoneError(StoreError):
    """A pack was replaced by another while it was read: look it up again."""

    def __init__(self) -> None:
        super().__init__("a pack was replaced by another process; do it again")


class Reader:
    """Finds entries and chunks, and keeps what it decoded last. Any thread may ask.

    Packs do not change: what was decoded stays true, also when another process replaces a pack.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._lock = threading.Lock()  # of what is kept; nobody waits for anything inside of it
        self._manifests: _Kept[PackRow, Manifest] = _Kept(_MANIFESTS, lambda item: item.weight)
        self._frames: _Kept[PackRow, bytes] = _Kept(_FRAMES, len)

    def entry(self, version: VersionRow, pack: PackRow | None = None) -> Entry:
        """Return the entry of a version.

        Args:
            version: Its row.
            pack: That holds the entry, if it was looked up already.

        Raises:
            StoreError: it is missing or damaged.
        """
        if pack is not None:
            with suppress(GoneError):  # another process replaced it meanwhile
                return self._entry_in(pack, version)
        return self.again_if_gone(lambda: self._entry_in(self._pack_of(version), version))

    def entry_and_written(self, version: VersionRow) -> tuple[Entry, int]:
        """Return the entry of a version, and the bytes of the chunks that were stored with it.

        Raises:
            StoreError: it is missing or damaged.
        """

        def attempt() -> tuple[Entry, int]:
            holder = self._pack_of(version)
            written = self.manifest(holder).written(place(holder.stream, holder.chunk))
            entry = self._entry_in(holder, version)
            return entry, written[(version.entry & _NUMBER) - holder.entry]

        return self.again_if_gone(attempt)

    def read(self, version: VersionRow) -> tuple[Entry, bytes]:
        """Return the entry and the body of a version; their packs are looked up once each.

        Raises:
            StoreError: it is missing, or not what was stored.
        """

        def attempt() -> tuple[Entry, bytes]:
            pack = self._pack_of(version)
            entry = self._entry_in(pack, version)
            return entry, self._body(entry.runs, [pack])

        entry, body = self.again_if_gone(attempt)
        if sha256(body).digest() != version.digest:
            raise StoreError("its bytes are not those that were stored")
        return entry, body

    def fetch(self, versions: Iterable[VersionRow]) -> dict[int, PackRow]:
        """Read the manifests of versions at once; return the packs by the places of their entries.

        Entries are at hand then.
        """
        found = self._backend.packs_with_entries(row.entry for row in versions)
        with self._lock:
            missing = [pack for pack in set(found.values()) if self._manifests.get(pack) is None]
        for pack, frame in self._backend.manifests(missing).items():
            with suppress(StoreError):  # told to whoever asks for an entry of it
                self._read_manifest(pack, frame)
        return found

    def _pack_of(self, version: VersionRow) -> PackRow:
        pack = self._backend.pack_with_entry(version.entry)
        if pack is None:
            raise StoreError(f"archive {self._backend.name} is damaged: an entry is missing")
        return pack

    def _entry_in(self, pack: PackRow, version: VersionRow) -> Entry:
        entry = self.manifest(pack).entry((version.entry & _NUMBER) - pack.entry)
        if (entry.url, entry.number) != (version.url, version.number):
            raise StoreError(f"archive {self._backend.name} is damaged: an entry is another's")
        return entry

    def manifest(self, pack: PackRow) -> Manifest:
        """Return the manifest of a pack."""
        with self._lock:
            manifest = self._manifests.get(pack)
        if manifest is None:
            frame = self._backend.manifest(pack)
            if frame is None:
                raise GoneError
            manifest = self._read_manifest(pack, frame)
        return manifest

    def _read_manifest(self, pack: PackRow, frame: bytes) -> Manifest:
        manifest = read_manifest(frame)
        if (len(manifest), len(manifest.offsets)) != (pack.entries, pack.chunks + 1):
            raise StoreError(f"{named(pack)} is damaged: its manifest is another's")
        with self._lock:
            self._manifests.put(pack, manifest)
        return manifest

    def content(self, pack: PackRow, up_to: int | None = None) -> bytes:
        """Return the bytes of a pack's chunks, or at least the first of them.

        Decoding stops where it may. Whoever reads on in the same pack gets all of it decoded.
        """
        needed = pack.raw if up_to is None else up_to
        if not needed:
            return b""
        with self._lock:
            known = self._frames.get(pack)
        if known is not None and len(known) >= needed:
            return known
        like = self.like(pack)
        frame = self._backend.data(pack)
        if frame is None:
            raise GoneError
        try:
            content = decompressed(frame, pack.raw, up_to=None if known else up_to, like=like)
        except StoreError:
            if like and self._is_outdated(pack):
                raise GoneError from None
            raise
        with self._lock:
            self._frames.put(pack, content)
        return content

    def _is_outdated(self, pack: PackRow) -> bool:
        """Return whether a purge took from what a pack was compressed with, and wrote it anew."""
        before = self.manifest(pack)
        with self._lock:
            self._manifests.drop(pack)
        frame = self._backend.manifest(pack)
        return frame is None or read_manifest(frame).like != before.like

    def like(self, pack: PackRow) -> bytes:
        """Return the bytes that a pack was compressed with, b"" if it was compressed alone.

        They stand before it: in its own stream, or in one that was begun before. So no pack ever
        needs itself, whatever is put together later.
        """
        runs = self.manifest(pack).like
        if any(start + count > place(pack.stream, pack.chunk) for start, count in runs):
            raise StoreError(f"{named(pack)} is damaged: it is like what came after it")
        return self.body(runs)

    def body(self, runs: Sequence[Run]) -> bytes:
        """Return the chunks of an entry, put together."""
        return self.again_if_gone(lambda: self._body(runs))

    def _body(self, runs: Sequence[Run], met: Sequence[PackRow] = ()) -> bytes:
        slices: list[tuple[PackRow, int, int]] = []
        needed: dict[PackRow, int] = {}
        for pack, first, count in self.spans(runs, met):
            offsets = self.manifest(pack).offsets
            start, end = offsets[first], offsets[first + count]
            slices.append((pack, start, end))
            needed[pack] = max(end, needed.get(pack, 0))
        contents = {pack: self.content(pack, up_to) for pack, up_to in needed.items()}
        return b"".join(contents[pack][start:end] for pack, start, end in slices)

    def spans(
        self, runs: Iterable[Run], met: Iterable[PackRow] = ()
    ) -> Iterator[tuple[PackRow, int, int]]:
        """Yield where runs of chunks are: the pack, the first of its chunks, and how many.

        Packs that were `met` need not be looked up.
        """
        packs = [*met]
        for start, count in runs:
            stream, number, left = start >> SHIFT, start & _NUMBER, count
            while left:
                pack = next((p for p in reversed(packs) if holds(p, stream, number)), None)
                if pack is None:
                    pack = self._backend.pack_with_chunk(place(stream, number))
                    if pack is None:
                        raise StoreError(
                            f"archive {self._backend.name} is damaged: chunks are missing"
                        )
                    packs.append(pack)
                first = number - pack.chunk
                taken = min(left, pack.chunks - first)
                yield pack, first, taken
                number += taken
                left -= taken

    def again_if_gone(self, read: Callable[[], _R]) -> _R:
        """Return what is read; once more if a pack is replaced by another process meanwhile."""
        for _ in range(_ATTEMPTS):
            try:
                return read()
            except GoneError:
                continue
        raise StoreError(f"archive {self._backend.name} is damaged: a pack cannot be found")


def live_entry(backend: Backend, pack: PackRow, index: int, entry: Entry) -> VersionRow | None:
    """Return the version that an entry of a pack belongs to, None if it is nobody's.

    A number may be another's: two processes may have written it at once, and one was refused.
    """
    row = backend.version(entry.url, entry.number) if entry.number else None
    return row if row and row.entry == place(pack.stream, pack.entry + index) else None


def holds(pack: PackRow, stream: int, chunk: int) -> bool:
    """Return whether a pack holds a chunk."""
    return pack.stream == stream and pack.chunk <= chunk < pack.chunk + pack.chunks


def named(pack: PackRow) -> str:
    """Return how messages call a pack."""
    return f"pack {pack.stream}/{pack.entry}"
