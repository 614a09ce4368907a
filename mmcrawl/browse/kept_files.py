"""Answers with the bytes of files that are kept, or a range of them: strangers made them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO
from urllib.parse import quote

from starlette.responses import FileResponse, Response, StreamingResponse

from mmcrawl.collecting.files import FolderFiles, MediaFiles
from mmcrawl.collecting.parts import SWF

_PORTION = 1 << 18  # bytes
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


def kept_file(
    files: MediaFiles, digest: str, *, mime: str, size: int, path: str, wanted: str
) -> Response:
    """Return a file; nothing in it runs here.

    Args:
        files: The media store.
        digest, mime, size: Of the file; 0 for a size that is not known.
        path: Under which it is asked for.
        wanted: The header ``Range`` of the request, "" for none.

    Raises:
        StoreError: it is not there any more.
    """
    is_media = mime.startswith(("audio/", "video/")) or mime == SWF
    name = quote(path.rpartition("/")[2])
    headers = {
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Content-Disposition": f"{'inline' if is_media else 'attachment'}; filename*=utf-8''{name}",
    }
    media_type = mime if is_media else "application/octet-stream"
    if isinstance(files, FolderFiles) and files.path(digest).is_file():
        return FileResponse(files.path(digest), media_type=media_type, headers=headers)
    source = files.open(digest)
    if not size:
        return StreamingResponse(_portions(source), media_type=media_type, headers=headers)
    headers["Accept-Ranges"] = "bytes"
    part = _part(wanted, size)
    if part is not None and not part:
        source.close()
        return Response(status_code=416, headers={"Content-Range": f"bytes */{size}"})
    status = 200 if part is None else 206
    part = range(size) if part is None else part
    headers["Content-Length"] = str(len(part))
    if status == 206:
        headers["Content-Range"] = f"bytes {part[0]}-{part[-1]}/{size}"
    source.seek(part.start)
    return StreamingResponse(_portions(source, len(part)), status, headers, media_type)


def _part(wanted: str, size: int) -> range | None:
    """Return the bytes that a header ``Range`` asks for; None for all, also where it is no range.

    >>> _part("bytes=-4", 10), _part("bytes=12-", 10), _part("lines=1-2", 10)
    (range(6, 10), range(12, 10), None)
    """
    found = _RANGE.fullmatch(wanted.strip())
    first, last = found.groups() if found else ("", "")
    if first and not (last and int(last) < int(first)):
        return range(int(first), min(int(last) + 1, size) if last else size)
    return range(max(0, size - int(last)), size) if last and not first else None


def _portions(source: BinaryIO, left: int | None = None) -> Iterator[bytes]:
    """Yield the bytes of an opened file, or so many of them; close it."""
    with source:
        while portion := source.read(_PORTION if left is None else min(left, _PORTION)):
            yield portion
            left = None if left is None else left - len(portion)
