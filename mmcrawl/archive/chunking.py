"""A body cut into chunks: runs of elements, the units of storing.

Single blocks are too small to be worth a row in an index, and where they begin depends on how a
page is cut. A chunk is a run of neighbours of some size that begins with an element a block may
begin with, whatever the method and the level. Where it ends is decided by the bytes at its end
alone, so that something that comes or goes changes the chunks around it and no others
(content-defined chunking: Muthitacharoen et al. 2001, LBFS, section 3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from zlib import crc32

__all__ = ["chunks_of"]

LEAST = 8_192
MOST = 32_768
_LARGE = 1 << 20  # of bodies that no element cuts
_LOOK = 32  # bytes behind a boundary that decide
_ONE_IN = 2

_ELEMENTS = (
    b"div section article table tbody tr ul ol li dl nav header footer main aside form fieldset p "
    b"h1 h2 h3 h4 h5 h6 figure script style head body svg button picture noscript template iframe "
    b"blockquote pre center hr"
)
_BOUNDARY = re.compile(rb"<(?:" + b"|".join(_ELEMENTS.split()) + rb")(?=[\s>/])", re.IGNORECASE)


def chunks_of(body: bytes) -> list[bytes]:
    """Cut a body; the chunks in order are the body.

    They have at least 8 KB (the last one may have less) and end at the first good boundary behind;
    what has no boundary is cut every 1 MB.

    >>> [len(chunk) for chunk in chunks_of(b"x" * 9_000 + b"<hr>" + b"y" * 40_000 + b"<hr>")]
    [9000, 40004]
    """
    return [
        body[at : min(at + _LARGE, end)]
        for start, end in _ranges(body)
        for at in range(start, end, _LARGE)
    ]


def _ranges(body: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(body):
        end = _end_of_chunk(body, start)
        yield start, end
        start = end


def _end_of_chunk(body: bytes, start: int) -> int:
    for match in _BOUNDARY.finditer(body, start + LEAST):
        at = match.start()
        if at - start >= MOST or crc32(body[at : at + _LOOK]) % _ONE_IN == 0:
            return at
    return len(body)
