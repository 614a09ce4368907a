"""What the archive asks of a database: rows and packs of bytes, no knowledge of pages.

*Streams* are append-only logs, one for each host and one for each URL that is visited again and
again. A stream numbers its *entries* (stored versions) and its *chunks* (runs of bytes) from 0; a
*pack* holds a range of entries and the chunks that were new with them, compressed together. A place
(:func:`mmcrawl.archive.rows.place`) is the number of either with that of its stream.

Which steps must be atomic
--------------------------
A database with transactions makes what happens inside of :meth:`Backend.writing` durable at once.
One without must see to these, each by itself:

* :meth:`Backend.reserve` hands out every number once (insertions under a unique key). Numbers lost
  by a process that died are never used: a gap, which the archive expects.
* :meth:`Backend.add_urls` and :meth:`Backend.streams_named` return one row to all who ask (a unique
  key; on a duplicate, read).
* :meth:`Backend.add_versions` refuses numbers that are taken (a unique key of url and number).
* :meth:`Backend.add_packs` writes parts before the documents that name them.

Methods of writing take all that a batch of pages needs of one kind, so that a server is asked as
often for many pages as for one. Within ``writing`` the archive calls, for each batch: ``reserve``,
``add_packs``, ``add_chunks``, ``note_urls``, ``add_versions``, ``add_visits``. Each must be durable
before the next begins, so that nothing refers to what is not there; what one call writes may become
durable in any order. All can be repeated. What a dead process leaves is a pack without versions:
harmless, and reported by a check as a leftover.

:meth:`Backend.replace_packs` puts one pack in place of several with the same entries and chunks:
first the new one becomes durable, then the old ones go. A reader between the two finds either,
which hold the same; one that comes too late for :meth:`Backend.manifest` or :meth:`Backend.data`
gets None and looks the place up again. Of two packs that hold a number, either may be given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from mmcrawl.archive.rows import Disproved, PackRow, UrlRow, VersionRow, VisitRow


class Backend(Protocol):
    """A database that an archive is kept in. Methods raise StoreError when it fails.

    Any thread may call any method; inside of ``writing``, other threads of the process wait.
    Iterators may be left and gone on with while other methods are called.

    Attributes:
        name: How messages call it: a path, or a URI without password.
        read_only: Whether writing is refused.
        others_wait: Whether other processes cannot write while one is inside of ``writing``.
    """

    name: str
    read_only: bool
    others_wait: bool

    def writing(self) -> AbstractContextManager[None]:
        """Changes made inside are durable when it ends; if it fails they are undone, or harmless.

        It may be entered again inside of itself; the outermost counts.
        """
        ...

    def sole(self) -> AbstractContextManager[None]:
        """As :meth:`writing`, and no other process writes at the same time, for a purge.

        A store without transactions keeps a lease that ``writing`` of other processes waits for.
        """
        ...

    # -- URLs and streams

    def url(self, url: str) -> UrlRow | None:
        """Return the row of exactly this URL."""
        ...

    def urls_by_key(self, key: int) -> list[UrlRow]:
        """Return the rows with this key, a 64-bit signed integer, by id."""
        ...

    def url_by_id(self, number: int) -> UrlRow | None:
        """Return a row by its number."""
        ...

    def urls(self, host: str | None = None, prefix: str | None = None) -> Iterator[UrlRow]:
        """Yield rows in the order of their URLs (code points)."""
        ...

    def hosts(self) -> list[str]:
        """Return the hosts of all URLs in order."""
        ...

    def urls_named(self, urls: Iterable[str]) -> dict[str, UrlRow]:
        """Return the rows of those that are known of some URLs, given exactly."""
        ...

    def add_urls(self, urls: Mapping[str, tuple[int, str]]) -> dict[str, UrlRow]:
        """Return the rows of URLs (keys and hosts are given), made now where there is none."""
        ...

    def note_urls(self, rows: Sequence[UrlRow]) -> None:
        """Keep what has changed of URLs: `stream`, `late` if true, `last` if it is greater."""
        ...

    def remove_url(self, url: int) -> None:
        """Forget a URL that has neither versions nor visits."""
        ...

    def streams_named(self, names: Iterable[str]) -> dict[str, int]:
        """Return the numbers, below 2³¹, of streams by name, made now where there is none."""
        ...

    def streams(self) -> list[int]:
        """Return the numbers of all streams in order."""
        ...

    def reserve(self, wanted: Mapping[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
        """Take the next numbers of streams.

        Args:
            wanted: How many entries, at least one, and how many chunks, by stream.

        Returns:
            The first entry and the first chunk, by stream.
        """
        ...

    # -- packs

    def add_packs(self, packs: Sequence[tuple[PackRow, bytes, bytes]]) -> None:
        """Write packs, each with its manifest and its data."""
        ...

    def pack_with_entry(self, entry: int) -> PackRow | None:
        """Return a pack that holds the entry at a place."""
        ...

    def pack_with_chunk(self, chunk: int) -> PackRow | None:
        """Return a pack that holds the chunk at a place."""
        ...

    def packs_with_entries(self, entries: Iterable[int]) -> dict[int, PackRow]:
        """Return packs that hold entries, by place; what is in none is left out."""
        ...

    def packs_with_chunks(self, chunks: Iterable[int]) -> dict[int, PackRow]:
        """Return packs that hold chunks, by place; what is in none is left out."""
        ...

    def packs(self, stream: int) -> list[PackRow]:
        """Return the packs of a stream in order of entries."""
        ...

    def tail(self, stream: int) -> list[PackRow]:
        """Return the packs of a stream from its last sealed one on, in order of entries."""
        ...

    def tails(self) -> list[int]:
        """Return the streams that have packs that are not sealed, if that is cheap to tell."""
        ...

    def manifest(self, pack: PackRow) -> bytes | None:
        """Return what was written; None if the pack is gone."""
        ...

    def manifests(self, packs: Sequence[PackRow]) -> dict[PackRow, bytes]:
        """Return the manifests of packs, asked for at once; a pack that is gone is left out."""
        ...

    def data(self, pack: PackRow) -> bytes | None:
        """Return what was written; None if the pack is gone."""
        ...

    def replace_packs(
        self,
        old: Sequence[PackRow],
        new: PackRow,
        manifest: bytes,
        data: bytes,
        needed: Collection[PackRow] = (),
    ) -> bool:
        """Put a pack in place of some; False, and nothing done, if one of those is gone.

        Also if one is gone of those that are `needed` to decompress it.
        """
        ...

    def remove_pack(self, pack: PackRow) -> None:
        """Remove a pack that nothing refers to."""
        ...

    # -- chunks

    def find_chunks(self, digests: Sequence[bytes]) -> dict[bytes, int]:
        """Return the places of those of the digests (16 bytes each) that are known."""
        ...

    def add_chunks(self, chunks: Iterable[tuple[bytes, int]]) -> None:
        """Note digests and places; of one digest the place noted first stays."""
        ...

    def remove_chunks(self, digests: Iterable[bytes]) -> None:
        """Forget digests."""
        ...

    def chunks(self) -> Iterator[tuple[bytes, int]]:
        """Yield all digests with their places, in any order."""
        ...

    # -- versions and visits

    def add_versions(self, versions: Sequence[VersionRow]) -> list[VersionRow]:
        """Write versions; return those that were not written because their number is taken."""
        ...

    def version(self, url: int, number: int) -> VersionRow | None:
        """Return one version."""
        ...

    def versions(self, url: int) -> list[VersionRow]:
        """Return the versions of a URL by number."""
        ...

    def version_at(self, url: int, time: float | None) -> VersionRow | None:
        """Return the version with the greatest time up to `time`, of several the last number."""
        ...

    def version_after(self, url: int, time: float) -> VersionRow | None:
        """Return the version with the least time after `time`, of several the first number."""
        ...

    def last_versions(self, urls: Sequence[UrlRow]) -> dict[int, VersionRow]:
        """Return the versions with the greatest numbers, by URL, of those from `UrlRow.last` on."""
        ...

    def last_number(self, url: int) -> int:
        """Return the greatest number that a version of the URL ever had, 0 for none."""
        ...

    def remove_versions(self, url: int, numbers: Sequence[int]) -> None:
        """Forget versions."""
        ...

    def changes(self, url: int) -> dict[tuple[int, int], frozenset[str]]:
        """Return what is noted of two versions of a URL, by their numbers; their order counts."""
        ...

    def note_changes(self, url: int, changes: Mapping[tuple[int, int], frozenset[str]]) -> None:
        """Note the kinds of blocks that changed between versions; it goes when they do."""
        ...

    def add_visits(self, visits: Sequence[VisitRow]) -> None:
        """Write visits, of several at the same time the last, in place of one written before."""
        ...

    def visits(self, url: int) -> list[VisitRow]:
        """Return the visits of a URL that found nothing new, by time."""
        ...

    def visit_at(self, url: int, time: float | None) -> VisitRow | None:
        """Return the visit with the greatest time up to `time`, of those that found nothing new."""
        ...

    def visit_after(self, url: int, time: float) -> VisitRow | None:
        """Return the visit with the least time after `time`, of those that found nothing new."""
        ...

    def visit_with_head(self, version: VersionRow, after: float, until: float) -> VisitRow | None:
        """Return the last visit in a time that found a version and has a head."""
        ...

    def visited_since(self, times: Mapping[int, float]) -> set[int]:
        """Return which URLs have visits, that found nothing new, at their time or later."""
        ...

    def remove_visits(self, url: int, times: Sequence[float]) -> None:
        """Forget visits."""
        ...

    # -- the whole

    def counts(self) -> dict[str, int]:
        """Return how many ``urls``, ``versions``, ``visits``, ``packs``, ``chunks`` there are."""
        ...

    def totals(self) -> dict[str, tuple[int, int, int]]:
        """Return URLs, versions and bytes of bodies by host."""
        ...

    def size(self) -> int:
        """Return the bytes that it takes, indexes included."""
        ...

    def problems(self) -> list[str]:
        """Return what the database itself finds damaged, a sentence each."""
        ...

    def disproved(self) -> list[Disproved]:
        """Return the groups of rows that are not those that were written, if that can be told."""
        ...

    def restore(self, group: Disproved) -> bool:
        """Write the one row of a group as it was; False if it could not be told, or is no more."""
        ...

    def settle(self, losses: Iterable[str]) -> None:
        """Take rows as they stand, and keep what is lost and was told, a sentence each."""
        ...

    def settled(self) -> set[str]:
        """Return what is lost and was told."""
        ...

    def proves_versions(self, url: int) -> bool | None:
        """Return whether a URL's versions are those that were written; None if it cannot tell."""
        ...

    def put_versions(self, rows: Sequence[VersionRow], untrue: Sequence[VersionRow] = ()) -> None:
        """Write versions as their entries prove them, also where others have their numbers.

        Args:
            rows: To write.
            untrue: To remove: their entries are those of others.
        """
        ...

    def nameless(self) -> list[int]:
        """Return the numbers of URLs that are gone and have versions or visits, in order."""
        ...

    def reserved(self, stream: int) -> tuple[int, int]:
        """Return the next entry and the next chunk of a stream."""
        ...

    def compact(self) -> None:
        """Give free space back."""
        ...

    def close(self) -> None:
        """Close; may be called twice."""
        ...
