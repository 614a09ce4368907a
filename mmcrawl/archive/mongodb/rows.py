"""Rows of URLs, versions and visits as documents, and the keys that these are found by."""

from __future__ import annotations

import struct
from dataclasses import fields
from typing import Any

from pymongo import UpdateOne

from mmcrawl.archive.rows import UrlRow, VersionRow, VisitRow

Row = dict[str, Any]

_SIGN = 1 << 63
_VERSION = tuple(field.name for field in fields(VersionRow))


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


def read_visit(row: Row) -> VisitRow:
    """Read a visit."""
    return VisitRow(row["url"], row["time"], row["number"], row["status"], row.get("head"))


def read_version(row: Row) -> VersionRow:
    """Read a version."""
    return VersionRow(**{name: row[name] for name in _VERSION})


def written_visit(visit: VisitRow) -> Row:
    """Return a visit as a document without its key."""
    row: Row = {
        "url": visit.url,
        "time": float(visit.time),
        "number": visit.number,
        "status": visit.status,
    }
    return row if visit.head is None else {**row, "head": visit.head}


def written_version(version: VersionRow) -> Row:
    """Return a version as a document."""
    return {
        **{name: getattr(version, name) for name in _VERSION},
        "_id": version_key(version.url, version.number),
        "time": float(version.time),
    }
