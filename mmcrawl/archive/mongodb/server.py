"""An archive's MongoDB database: its collections, and what tells it from others.

How it is reached and what is said when it cannot be used, see :mod:`mmcrawl.stores.mongodb`. All
collections begin with ``archive_``, so that a crawl's store may live in the same database.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mmcrawl.archive.rows import SCHEMA_VERSION
from mmcrawl.errors import StoreError
from mmcrawl.stores import mongodb
from mmcrawl.stores.mongodb import Server

PREFIX = "archive_"
TABLES = ("url", "stream", "claim", "version", "visit", "pack", "part", "chunk", "counter", "lease")

_ARCHIVE = mongodb.Kind(
    noun="archive",
    application="mmcrawl archive",
    version=SCHEMA_VERSION,
    prefix=PREFIX,
    tables=TABLES,
    missing="store a page there first, or name another database",
    indexes={
        "url": (({"url": 1}, True), ({"key": 1}, False), ({"host": 1, "url": 1}, False)),
        "stream": (({"name": 1}, True),),
        "version": (({"url": 1, "time": 1, "number": 1}, False),),
        "pack": (({"chunk": 1, "entry": 1}, False),),
    },
    compressed=frozenset({"part"}),
)


def connect(uri: str, *, create: bool, read_only: bool) -> Server:
    """Connect, and set the archive up if wished.

    Raises:
        StoreError: it cannot be reached, is missing, or is no archive that this version can use.
    """
    return mongodb.connect(_ARCHIVE, uri, create=create, read_only=read_only)


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn what the driver raises, and what a damaged document leads to, into a StoreError.

    Args:
        name: of the archive.
    """
    with mongodb.explained(f"archive {name}"):
        try:
            yield
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"archive {name} is damaged: a document is not as it was written; check it"
            ) from error
