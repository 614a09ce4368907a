"""A result of an archive's pages: columns of numbers, found by URL in any spelling.

Of each name one result is kept, the last. It is written in *parts* (bytes), and a *head* (a short
JSON text) that tells what they are; the head is written last. Parts are the sorted 64-bit keys of
the URLs, the columns in their order, and the URLs themselves, which are read only when they are
iterated over: ten million scores are found by URL in 200 MB.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import zstandard
from numpy.typing import NDArray

from mmcrawl.archive.archive import Archive
from mmcrawl.errors import MissingStoreError, StoreError
from mmcrawl.frontier.urls import url_key
from mmcrawl.stores.uris import file_of, is_server

_FORMAT = 1
_LEVEL = 3  # of zstandard


class ResultStore(Protocol):
    """Where results are kept; methods raise StoreError when it fails."""

    name: str

    def heads(self) -> dict[str, str]:
        """Return what is kept: the head of each result, by name."""
        ...

    def part(self, name: str, head: str, part: str) -> bytes | None:
        """Return a part of the result with this head; None if another took its place."""
        ...

    def replace(self, name: str, head: str, parts: Mapping[str, bytes]) -> None:
        """Keep a result in place of the one before; readers see the one or the other."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


def open_store(uri: str, *, read_only: bool = False) -> ResultStore:
    """Open the results of an archive.

    Args:
        uri: Of the archive. Results of ``sqlite:///crawl.db`` are in the file ``crawl.db-rank``,
            those of a MongoDB database in its collections ``rank_head`` and ``rank_part``.
        read_only: Make neither.

    Raises:
        MissingStoreError: it is opened to be read, and there is none.
        StoreError: it cannot be opened.
    """
    from mmcrawl.rank.results.stores import MongoResults, SqliteResults  # pymongo is slow to load

    if path := file_of(uri):
        return SqliteResults(Path(path + "-rank"), create=not read_only)
    if is_server(uri):
        return MongoResults(uri, create=not read_only)
    raise StoreError(f"archive {uri!r} is not understood; use sqlite:///FILE or mongodb://…")


def keep(
    uri: str,
    name: str,
    facts: Mapping[str, Any],
    urls: Sequence[str],
    columns: Mapping[str, NDArray[Any]],
) -> None:
    """Keep a result beside its archive, in place of the one of the same name.

    Args:
        uri: Of the archive.
        name: Of the result.
        facts: What else is known of it, as JSON can say it.
        urls: Of the pages.
        columns: Numbers of 64 bits, of each page one.

    Raises:
        StoreError: it cannot be written.
    """
    keys = _keys(urls)
    order = np.argsort(keys, kind="stable")
    parts = {"keys": keys[order].tobytes()}
    parts |= {column: values[order].tobytes() for column, values in columns.items()}
    parts["urls"] = "\n".join(urls[i] for i in order).encode("utf-8", "surrogatepass")
    compress = zstandard.ZstdCompressor(level=_LEVEL).compress
    store = open_store(uri)
    try:
        head = json.dumps({"format": _FORMAT, **facts}, sort_keys=True)
        store.replace(name, head, {part: compress(content) for part, content in parts.items()})
    finally:
        store.close()


def read_head(head: str, anew: str) -> dict[str, Any]:
    """Return what a head says.

    Args:
        head: Of a result.
        anew: What to do if it cannot be read, as the end of a sentence.

    Raises:
        StoreError: it is damaged, or of another version of mmcrawl.
    """
    try:
        facts: dict[str, Any] = json.loads(head)
    except ValueError as error:
        raise StoreError(f"the results of the archive are damaged; {anew}") from error
    if facts.get("format") != _FORMAT:
        raise StoreError(f"the results are of another version of mmcrawl; {anew}")
    return facts


class Kept:
    """A result that is kept.

    Args:
        store: Open for as long as this is used; :meth:`close` closes it.
        name: Of the result; also an attribute.
        head: As the store has it.
        anew: What to do if it cannot be read, as the end of a sentence.

    Attributes:
        facts: What else is known of it.

    Raises:
        StoreError: it cannot be read.
    """

    def __init__(self, store: ResultStore, name: str, head: str, anew: str) -> None:
        self._store = store
        self.name = name
        self._head = head
        self._anew = anew
        self.facts = read_head(head, anew)
        self._keys = self.column("keys", "<i8")

    def __len__(self) -> int:
        return len(self._keys)

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    @cached_property
    def urls(self) -> list[str]:
        """Of the pages, as stored, in no particular order."""
        return self._part("urls").decode("utf-8", "surrogatepass").split("\n") if len(self) else []

    def column(self, name: str, kind: str) -> NDArray[Any]:
        """Return a column.

        Args:
            name: As it was kept.
            kind: Of its numbers, as numpy names it: ``<i8``, ``<f8``.

        Raises:
            StoreError: it cannot be read, or the result was replaced.
        """
        return np.frombuffer(self._part(name), dtype=kind)

    def places(self, urls: Iterable[str]) -> NDArray[np.int64]:
        """Return the places of pages in the columns, -1 for those that are not in it."""
        keys = _keys(urls)
        if not len(self):
            return np.full(len(keys), -1)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self) - 1)
        return np.where(self._keys[places] == keys, places, -1)

    def is_stale(self, archive: Archive) -> bool:
        """Whether the archive has changed since: it holds more or fewer URLs or versions."""
        counts = archive.counts()
        known = (self.facts["archive_urls"], self.facts["archive_versions"])
        return (counts["urls"], counts["versions"]) != known

    def _part(self, part: str) -> bytes:
        what = f"{self.name} in {self._store.name}"
        found = self._store.part(self.name, self._head, part)
        if found is None:
            raise StoreError(f"{what} was computed anew while it was read; read it again")
        try:
            return zstandard.ZstdDecompressor().decompress(found)
        except zstandard.ZstdError as error:
            raise StoreError(f"{what} is damaged ({error}); {self._anew}") from error


def open_kept(uri: str, choose: Callable[[dict[str, str]], str], anew: str) -> Kept | None:
    """Return a result that is kept of an archive, None if there is none.

    Args:
        uri: Of the archive.
        choose: Returns the name of the result, given the heads of all by name.
        anew: What to do if it cannot be read, as the end of a sentence.

    Raises:
        StoreError: it cannot be read.
    """
    try:
        store = open_store(uri, read_only=True)
    except MissingStoreError:
        return None
    try:
        heads = store.heads()
        name = choose(heads)
        kept = Kept(store, name, heads[name], anew) if name in heads else None
    except BaseException:
        store.close()
        raise
    if kept is None:
        store.close()
    return kept


def _keys(urls: Iterable[str]) -> NDArray[np.int64]:
    return np.fromiter(map(_key, urls), dtype="<i8")


def _key(url: str) -> int:
    try:
        return url_key(0, url)
    except ValueError:  # no URL: of no page
        return 0
