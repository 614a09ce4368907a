"""Opening an archive: one URI says which database it is kept in."""

from __future__ import annotations

from pathlib import Path

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.sqlite.backend import SqliteBackend
from mmcrawl.archive.uris import shown
from mmcrawl.errors import StoreError
from mmcrawl.stores.uris import file_of, is_server


def open_archive(
    uri: str, *, create: bool = True, read_only: bool = False, keep_blocks: bool = True
) -> Archive:
    """Open an archive: ``sqlite:///FILE`` (absolute: ``sqlite:////FILE``) or ``mongodb://…``.

    Args:
        uri: Where it is.
        create: Whether to make it where there is none.
        read_only: Never write; several may read while one writes.
        keep_blocks: Whether the blocks of what is stored are kept, as :class:`Archive` takes it.

    Raises:
        StoreError: it is missing, is no archive, is of a newer schema, damaged, locked, or cannot
            be reached; in one sentence.
    """
    if path := file_of(uri):
        backend = SqliteBackend(Path(path), create=create, read_only=read_only)
        return Archive(backend, keep_blocks=keep_blocks)
    if is_server(uri):
        from mmcrawl.archive.mongodb.backend import MongoBackend

        server = MongoBackend(uri, create=create, read_only=read_only)
        return Archive(server, keep_blocks=keep_blocks)
    raise StoreError(
        f"archive {shown(uri)!r} is not understood; use sqlite:///FILE or mongodb://HOST/DATABASE"
    )
