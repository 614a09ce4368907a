"""Opening an archive: one URI says which database it is kept in."""

from __future__ import annotations

from pathlib import Path

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.index import CONTENTS, Index
from mmcrawl.archive.uris import shown
from mmcrawl.errors import StoreError
from mmcrawl.store.documents import open_documents
from mmcrawl.store.uris import file_of, is_server


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
