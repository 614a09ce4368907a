"""Rows of URLs, versions and visits as documents, and the keys that these are found by.

Where nothing else in the archive proves a document, it has a checksum of its other fields, ``sum``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import fields
from typing import Any
from zlib import crc32

from pymongo import UpdateOne

from mmcrawl.archive.rows import UrlRow, VersionRow, VisitRow

Row = dict[str, Any]

_SIGN = 1 << 63
_VERSION = tuple(field.name for field in fields(VersionRow))
_UNSEALED = ("sum", "after")  # a visit's `after` is written once, the rest of it maybe again


def seal_of(row: Row) -> int:
    """Return the checksum of a document's fields, its key among them."""
    values = (
        f"{name}={int(value) if isinstance(value, int) else value!r}"
        for name, value in sorted(row.items())
        if name not in _UNSEALED
    )
    return crc32("\n".join(values).encode("utf-8", "surrogatepass"))


def written_kinds(key: str, old: int, kinds: Iterable[str]) -> str:
    """Return the kinds of blocks that changed, with a checksum.

    Args:
        key: Of the newer version's document.
        old: The number of the older one.
        kinds: Of blocks.
    """
    text = " ".join(sorted(kinds))
    return f"{text} {crc32(f'{key} {old} {text}'.encode()):08x}"


def read_kinds(key: str, old: int, written: str) -> frozenset[str] | None:
    """Return the kinds; None if they are not those that were written."""
    kinds = frozenset(written.split()[:-1])
    return kinds if written_kinds(key, old, kinds) == written else None


def url_key(number: int) -> str:
    """Return the key of a URL."""
    return f"{number:016x}"


def all_of(url: int) -> Row:
    """Return the condition for the keys that begin with a URL's number."""
    return {"_id": {"$gt": f"{url:016x}/", "$lt": f"{url:016x}0"}}  # "0" comes after "/"


def version_key(url: int, number: int) -> str:
    """Return the key of a version."""
    return f"{url:016x}/{number:08x}"


def visit_key(url: int, time: float) -> str:
    """Return the key of a visit: keys of one URL ascend with time."""
    (bits,) = struct.unpack(">Q", struct.pack(">d", time + 0.0))
    ascending = bits ^ (2 * _SIGN - 1) if bits & _SIGN else bits | _SIGN
    return f"{url:016x}/{ascending:016x}"


def read_url(row: Row) -> UrlRow:
    """Read a URL."""
    return UrlRow(
        id=int(row["_id"], 16),
        url=row["url"],
        host=row["host"],
        stream=row.get("stream"),
        last=row.get("last", 0),
        late=row.get("late", False),
    )


def url_update(row: UrlRow) -> UpdateOne:
    """Return what is to be changed of a URL."""
    changed: Row = {"stream": row.stream} if row.stream is not None else {}
    if row.late:
        changed["late"] = True
    update: Row = {"$max": {"last": row.last}, **({"$set": changed} if changed else {})}
    return UpdateOne({"_id": url_key(row.id)}, update)


def time_of(key: str) -> float:
    """Return the time of a visit by its key."""
    ascending = int(key.rpartition("/")[2], 16)
    bits = ascending ^ _SIGN if ascending & _SIGN else ascending ^ (2 * _SIGN - 1)
    (time,) = struct.unpack(">d", struct.pack(">Q", bits))
    return float(time)


def read_visit(row: Row) -> VisitRow:
    """Read a visit."""
    return VisitRow(row["url"], row["time"], row["number"], row["status"], row.get("head"))


def read_version(row: Row) -> VersionRow:
    """Read a version. What was taken out of it is told, and restored, by comparing it."""
    url, number = (int(part, 16) for part in row["_id"].split("/"))
    return VersionRow(
        url=url,
        number=number,
        time=row.get("time", 0.0),
        status=row.get("status", 0),
        digest=row.get("digest", b""),
        size=row.get("size", -1),
        entry=row.get("entry", -1),
        method=row.get("method", ""),
        level=row.get("level", 0),
        location=row.get("location", ""),
    )


def written_visit(visit: VisitRow) -> Row:
    """Return a visit as a document."""
    row: Row = {
        "_id": visit_key(visit.url, visit.time),
        "url": visit.url,
        "time": float(visit.time),
        "number": visit.number,
        "status": visit.status,
    }
    if visit.head is not None:
        row["head"] = visit.head
    return {**row, "sum": seal_of(row)}


def written_version(version: VersionRow) -> Row:
    """Return a version as a document."""
    return {
        **{name: getattr(version, name) for name in _VERSION},
        "_id": version_key(version.url, version.number),
        "time": float(version.time),
    }
