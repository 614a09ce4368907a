"""CDXJ: the index of WARC files that web archives share, a line of text for a record."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


def sort_key(url: str) -> str:
    """Return the key that CDX files are sorted by: the host from behind, then the path.

    Parameters are in order, so that a player that asks with them turned round finds the record.

    >>> sort_key("https://www.Physics.h.test:8080/A?b=1")
    'test,h,physics:8080)/a?b=1'
    >>> sort_key("http://h.test/?z=1&a=2")
    'test,h)/?a=2&z=1'
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", f":{parts.port}" if parts.port else ""
    except ValueError:
        return url.lower()
    reversed_host = ",".join(reversed(host.removeprefix("www.").split(".")))
    query = "&".join(sorted(parts.query.split("&")))
    return f"{reversed_host}{port}){parts.path or '/'}{'?' if query else ''}{query}".lower()


class Index:
    """The lines of a WARC file while its records are written; they come out in order.

    They wait in a file that SQLite makes for itself, and sorts: an index may be larger than memory.

    Args:
        filename: Of the WARC file, without a folder.
    """

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self._listed = sqlite3.connect("")
        self._listed.execute("CREATE TABLE record (line TEXT)")

    def add(self, fields: Any, mime: str, status: int, offset: int, length: int) -> None:
        """List a record by its named fields; the type of a revisit is ``warc/revisit``."""
        uri = str(fields.get("WARC-Target-URI"))
        facts = {
            "url": uri,
            "mime": mime,
            "status": str(status),
            "digest": str(fields.get("WARC-Payload-Digest")),
            "length": str(length),
            "offset": str(offset),
            "filename": self._filename,
        }
        stamp = "".join(filter(str.isdigit, fields.get("WARC-Date")[:19]))
        line = f"{sort_key(uri)} {stamp} {json.dumps(facts)}\n"
        self._listed.execute("INSERT INTO record VALUES (?)", (line,))

    def lines(self) -> Iterator[bytes]:
        """Yield the lines, sorted by their bytes."""
        rows = self._listed.execute("SELECT line FROM record ORDER BY line")
        return (line.encode() for (line,) in rows)

    def close(self) -> None:
        """Forget the lines."""
        self._listed.close()


def index_beside(path: Path) -> Path:
    """Return where the index of a WARC file is: the ending ``.cdxj`` in place of its own.

    >>> index_beside(Path("crawls/all.warc.gz")).name
    'all.cdxj'
    """
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".warc") + ".cdxj")
