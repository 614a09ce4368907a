"""Opens an archive, whose URI says which database it is kept in, and copies one into another."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.index import CONTENTS, Index, VersionRow
from mmcrawl.errors import StoreError
from mmcrawl.store.documents import batches, open_documents
from mmcrawl.store.uris import file_of, is_server, shown

# Nothing refers to what is not there yet.
_KEPT = ("part", "segment")  # what has a name here is never another
_ROWS = ("version", "visit", "url", "stream", "counter", "change", "loss")
_MOST_AT_ONCE = 500  # documents


def open_archive(
    uri: str, *, create: bool = True, read_only: bool = False, keep_blocks: bool = True
) -> Archive:
    """Open an archive: ``sqlite:///FILE`` (absolute: ``sqlite:////FILE``) or ``mongodb://…``.

    Args:
        read_only: Never write; several may read while one writes.
        keep_blocks: Whether the blocks of what is stored are kept, as :class:`Archive` takes it.

    Raises:
        StoreError: it is missing, is no archive, is of a newer schema, damaged, locked, or cannot
            be reached; in one sentence.
    """
    path = Path(file_of(uri)) if file_of(uri) else None
    if path is None and not is_server(uri):
        raise StoreError(
            f"archive {shown(uri)!r} is not understood; use sqlite:///FILE or"
            " mongodb://HOST/DATABASE"
        )
    if path is not None and path.is_dir():
        raise StoreError(f"{path} is a folder, not an archive; name a file")
    if path is not None and create and not read_only and not path.parent.is_dir():
        raise StoreError(
            f"archive {path} cannot be made: there is no folder {path.parent}; make it first"
        )
    makes = create and not read_only
    store = open_documents(CONTENTS, uri, path, create=makes, read_only=read_only)
    return Archive(Index(store, read_only=read_only), keep_blocks=keep_blocks)


@dataclass(frozen=True, slots=True)
class ArchiveCopy:
    """What copying came to."""

    urls: int  # what the target holds
    versions: int
    visits: int
    copied: int  # visits that were written now; the others were there
    problems: tuple[str, ...]  # what is damaged in the copy, a sentence each


def copy_archive(source: Archive, target: Archive) -> ArchiveCopy:
    """Copy an archive, and check the copy: every version is rebuilt, and all rows are compared.

    It can be broken off and done again: what the target holds is not written twice. What is damaged
    in the source is so in the copy, unless an earlier copy has it.

    Args:
        source: Opened to read. What others store meanwhile may be left out, or missing in part,
            which the next copy makes good.
        target: Where to; it holds nothing, or what an earlier copy of the source wrote.

    Raises:
        StoreError: the target holds something else, or one of them fails.
    """
    index = target._index
    there, copied = source._index.store, 0
    _refuse_others(source._index, index)
    for table in (*_KEPT, *_ROWS):
        for documents in batches(there.range(table), _MOST_AT_ONCE):
            with index.writing():
                if table in _KEPT:
                    index.store.insert_new(table, documents)
                    continue
                known = index.store.get(table, documents)
                index.store.put(table, {k: v for k, v in documents.items() if known.get(k) != v})
                copied += len(documents.keys() - known.keys()) * (table in ("version", "visit"))
    report = target.check(repair=True)
    damaged = [fault.what for fault in report.faults if not fault.repaired]
    urls, versions, visits = map(index.store.count, ("url", "version", "visit"))
    problems = (*damaged, *report.known)
    return ArchiveCopy(urls, versions, versions + visits, copied, problems)


def _refuse_others(source: Index, target: Index) -> None:
    """Let nothing be mixed: numbers of URLs and places of records would stand for several."""
    readers = Reader(source), Reader(target)
    for some in batches(target.store.range("version")):
        there = source.versions_by_key(some)
        for reader in readers:
            reader.fetch(row.at for row in there.values())
        for key, document in some.items():
            row = there.get(key)
            digests = {_digest(reader, row) for reader in readers} - {None} if row else set()
            if row is None or row.document != document or len(digests) > 1:
                raise _others(source, target)
    for some in batches(target.store.range("url", fields=("id",))):
        known = source.store.get("url", some)
        if any(key not in known or known[key]["id"] != row["id"] for key, row in some.items()):
            raise _others(source, target)


def _digest(reader: Reader, row: VersionRow) -> bytes | None:
    """Return the digest of a version; None where its record is damaged."""
    with suppress(StoreError):
        return reader.entry(row).digest
    return None


def _others(source: Index, target: Index) -> StoreError:
    return StoreError(
        f"archive {target.name} holds other pages than {source.name}; name one that is empty, or"
        " that an earlier copy began"
    )
