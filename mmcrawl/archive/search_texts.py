"""The texts of the documents of a segment, kept to be shown.

Reading them back from the archive would mean to cut a page into blocks for every hit, which takes
longer than the search. They are stored in *bundles* of about 64 KB, so that a hit costs one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mmcrawl.archive.search_codec import (
    DamagedError,
    as_ints,
    decoded,
    encoded,
    pack_columns,
    unpack_columns,
)

__all__ = ["Text", "read_texts", "text_bundles"]

_BUNDLE = 65_536  # characters before compression
_LONGEST = 1_000_000  # characters of a block that are kept


class Text(NamedTuple):
    """What a document says: the topic of its block, and its visible text, line by line."""

    topic: str
    text: str


def text_bundles(texts: Sequence[Text]) -> Iterator[tuple[int, bytes]]:
    """Yield what is to be stored of some documents: the place of the first, and a bundle."""
    first = size = 0
    for place, text in enumerate(texts):
        if size > _BUNDLE:
            yield first, _written(texts[first:place])
            first, size = place, 0
        size += len(text.topic) + len(text.text)
    if texts:
        yield first, _written(texts[first:])


def _written(texts: Sequence[Text]) -> bytes:
    parts = [part[:_LONGEST].encode("utf-8", "surrogatepass") for text in texts for part in text]
    return pack_columns((encoded(as_ints([len(part) for part in parts])), b"".join(parts)))


def read_texts(bundle: bytes) -> list[Text]:
    """Return the texts of a bundle in order.

    Raises:
        DamagedError: it is.
    """
    lengths, content = unpack_columns(bundle)
    parts = []
    start = 0
    for length in decoded(lengths).tolist():
        parts.append(content[start : start + length].decode("utf-8", "surrogatepass"))
        start += length
    if len(parts) % 2 or start != len(content):
        raise DamagedError("texts are cut off")
    return [Text(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
