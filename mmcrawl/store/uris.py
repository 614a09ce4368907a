"""URIs of stores (a file, or a database reached over the network) and of the archive beside one."""

from __future__ import annotations

import os
import re
from pathlib import PurePath

FILE = "sqlite:///"

_BESIDE = "-archive"
_PATH = re.compile(r"(?![\w+.-]{2,}:)(?=.*[./\\])")  # no scheme; a folder or an ending


def file_of(uri: str) -> str:
    """Return the path of the file a store is kept in, "" if it is kept elsewhere.

    >>> file_of("sqlite:///crawl.db")
    'crawl.db'
    """
    return uri.removeprefix(FILE) if uri.startswith(FILE) else ""


def is_server(uri: str) -> bool:
    """Return whether a store is a database server, which several processes share.

    >>> is_server("mongodb://localhost/crawls")
    True
    """
    return uri.startswith(("mongodb://", "mongodb+srv://"))


def archive_uri(named: str | None, store: str) -> str | None:
    """Return the URI of a crawl's archive; None for no archive.

    Args:
        named: URI or file as a user gives it; "" or ``none`` for no archive, None for the default.

    Raises:
        ValueError: `named` is not understood.
    """
    return archive_beside(store) if named is None else as_archive_uri(named)


def as_archive_uri(named: str) -> str | None:
    """Return an archive's URI in its full form; None for no archive.

    >>> as_archive_uri("pages.db")
    'sqlite:///pages.db'
    """
    named = named.strip()
    if named.lower() in ("", "none"):
        return None
    if is_server(named):
        return named
    return file_uri(named)


def file_uri(named: str) -> str:
    """Return the URI of a file that is given as one or by its path.

    A bare word is treated as a misunderstood value (`archive=yes`), not as a file.

    Raises:
        ValueError: it is neither.

    >>> file_uri("crawl.db"), file_uri("sqlite:///crawl")
    ('sqlite:///crawl.db', 'sqlite:///crawl')
    """
    path = named.removeprefix(FILE)
    is_uri = path != named
    if not path or "://" in path or (not is_uri and not _PATH.match(path)):
        raise ValueError(f"{shown(named)!r} is not understood")
    return FILE + os.path.expanduser(path)


def archive_beside(store: str) -> str | None:
    """Return the archive that belongs to a crawl's store; None if that is kept in memory.

    >>> archive_beside("sqlite:///crawls/crawl.db")
    'sqlite:///crawls/crawl-archive.db'
    """
    if is_server(store):
        return store
    path = PurePath(file_of(store))
    if not path.name:
        return None
    if path.stem.endswith(_BESIDE):
        return store
    return FILE + str(path.with_name(path.stem + _BESIDE + (path.suffix or ".db")))


def shown(uri: str) -> str:
    """Return how messages call an archive: its file, or its URI without user and password.

    >>> shown("mongodb://ann:secret@db.example.org/pages?w=1")
    'mongodb://db.example.org/pages'
    """
    if uri.startswith(FILE):
        return uri.removeprefix(FILE)
    scheme, sign, rest = uri.partition("://")
    if not sign:
        return uri
    # A password that should have been percent-encoded may hold any character: all before the last
    # @ is left out, whatever it looks like.
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"
