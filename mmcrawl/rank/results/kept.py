"""A result of an archive's pages: columns of numbers, found by URL in any spelling.

Of each name one result is kept, the last. Its document tells what it is; *parts* hold the sorted
64-bit keys of the URLs, the columns in their order, and the URLs themselves, which are read only
when they are iterated over: ten million scores are found by URL in 200 MB. Parts are written under
a number that is new each time, the document that names it last; then the parts of the former one
go, and what a process left that was killed.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from mmcrawl.archive.archive import Archive
from mmcrawl.errors import MissingStoreError, StoreError
from mmcrawl.frontier.urls import url_key
from mmcrawl.stores.documents import (
    BLOB,
    KEY,
    Contents,
    Document,
    Store,
    Table,
    get_blob,
    open_documents,
    put_blob,
)
from mmcrawl.stores.uris import file_of, is_server

_LEVEL = 3  # of zstandard
_CONTENTS = Contents(
    noun="table of ranks",
    mark="mmrk",
    version=1,
    prefix="rank_",
    tables=(Table("result", {"written": int, "facts": dict}), Table("part", BLOB)),
    missing="`scrapy rank` computes it",
    instead="another archive, or move it away",
    damaged="compute the ranks anew with `scrapy rank`",
)


def open_results(uri: str, *, create: bool = False) -> Store:
    """Open the results of an archive.

    Args:
        uri: Of the archive. Results of ``sqlite:///crawl.db`` are in the file ``crawl.db-rank``,
            those of a MongoDB database in its collections ``rank_result`` and ``rank_part``.
        create: Whether they are made where there are none.

    Raises:
        MissingStoreError: there are none.
        StoreError: they cannot be opened.
    """
    path = file_of(uri)
    if not path and not is_server(uri):
        raise StoreError(f"archive {uri!r} is not understood; use sqlite:///FILE or mongodb://…")
    return open_documents(_CONTENTS, uri, Path(path + "-rank") if path else None, create=create)


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
    with closing(open_results(uri, create=True)) as store:
        before = store.get("result", [name]).get(name)
        written = max(time.time_ns(), before["written"] + 1 if before else 0)
        for part, content in parts.items():
            put_blob(store, "part", f"{name}/{written}/{part}", compress(content))
        result = {"written": written, "facts": dict(facts)}
        if before:
            same = (KEY, "=", name), ("written", "=", before["written"])
            is_kept = store.change("result", [(same, result)]) == 1
        else:
            is_kept = not store.insert_new("result", {name: result})
        if not is_kept:
            raise StoreError(
                f"{name} in {store.name} was computed by another process at the same time, whose"
                " result is kept; compute it again if it is of an older archive"
            )
        store.delete("part", (KEY, ">=", f"{name}/"), (KEY, "<", f"{name}/{written}"))


class Kept:
    """A result that is kept.

    Args:
        store: Open for as long as this is used; :meth:`close` closes it.
        name: Of the result; also an attribute.
        document: As the store has it.
        anew: What to do if it cannot be read, as the end of a sentence.

    Attributes:
        facts: What else is known of it.

    Raises:
        StoreError: it cannot be read.
    """

    def __init__(self, store: Store, name: str, document: Document, anew: str) -> None:
        self._store = store
        self.name = name
        self._written = document["written"]
        self._anew = anew
        self.facts: dict[str, Any] = document["facts"]
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
        found = get_blob(self._store, "part", f"{self.name}/{self._written}/{part}")
        now = self._store.get("result", [self.name]).get(self.name)
        if now is None or now["written"] != self._written:
            raise StoreError(f"{what} was computed anew while it was read; read it again")
        try:
            return zstandard.ZstdDecompressor().decompress(found or b"")
        except zstandard.ZstdError as error:
            raise StoreError(f"{what} is damaged ({error}); {self._anew}") from error


def open_kept(uri: str, choose: Callable[[dict[str, Document]], str], anew: str) -> Kept | None:
    """Return a result that is kept of an archive, None if there is none.

    Args:
        uri: Of the archive.
        choose: Returns the name of the result, given what is known of each by name.
        anew: What to do if it cannot be read, as the end of a sentence.

    Raises:
        StoreError: it cannot be read.
    """
    try:
        store = open_results(uri)
    except MissingStoreError:
        return None
    with ExitStack() as stack:
        stack.callback(store.close)
        found = dict(store.range("result"))
        name = choose({name: one["facts"] for name, one in found.items()})
        if name not in found:
            return None
        kept = Kept(store, name, found[name], anew)
        stack.pop_all()
        return kept


def _keys(urls: Iterable[str]) -> NDArray[np.int64]:
    return np.fromiter(map(_key, urls), dtype="<i8")


def _key(url: str) -> int:
    try:
        return url_key(0, url)
    except ValueError:  # no URL: of no page
        return 0
