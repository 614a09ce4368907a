"""The markup of a page, byte for byte, whatever its encoding.

A tokenizer looks for ``<``, ``>``, quotes and letters. In nearly every encoding of the web these
bytes mean nothing else (the trail bytes of GBK, Big5 and Shift_JIS never equal them). In UTF-16
they take two bytes, and in ISO-2022 and HZ they occur inside of characters: there, a view of the
body is read instead, in which each unit is one byte and all that is no ASCII character is masked.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import numpy as np

from mmcrawl.errors import BlockError
from mmcrawl.page.encoding import codec_of

__all__ = ["MarkupView", "codec_name", "markup_view"]

_MASK = 0xFF
_ISO_2022 = re.compile(rb"\x1b(?:\$[@ABCD()*]|\([^BJ]).*?(?=\x1b\([BJ]|\Z)", re.DOTALL)
_HZ = re.compile(rb"~~|~\{.*?(?=~\}|\n|\Z)", re.DOTALL)
_UTF16 = {"utf-16": "<u2", "utf-16-le": "<u2", "utf-16-be": ">u2"}


@dataclass(frozen=True, slots=True)
class MarkupView:
    """What to tokenize in place of a body, and how to come back.

    Attributes:
        markup: The bytes to tokenize.
        unit: Bytes of the body for each byte of `markup`.
    """

    markup: bytes
    unit: int = 1


def markup_view(body: bytes, encoding: str) -> MarkupView:
    """Return the view of a body in an encoding (a Python codec name)."""
    if encoding in _UTF16:
        kind = ">u2" if body.startswith(b"\xfe\xff") else _UTF16[encoding]
        units = np.frombuffer(body, dtype=kind, count=len(body) // 2)
        return MarkupView(np.where(units < 128, units, _MASK).astype(np.uint8).tobytes(), 2)
    if encoding.startswith("iso2022"):
        return MarkupView(_masked(_ISO_2022, body))
    if encoding == "hz":
        return MarkupView(_masked(_HZ, body))
    return MarkupView(body)


def codec_name(name: str, body: bytes) -> str:
    """Return the Python name of an encoding; of UTF-16, with the order that a mark gives.

    Raises:
        BlockError: browsers know no such encoding.

    >>> codec_name("UTF16", "\ufeff<p>".encode("utf-16-be"))
    'utf-16-be'
    """
    known = codec_of(name)
    if known is None:
        raise BlockError(f"unknown encoding {name!r}: give one that browsers know, as gb18030")
    if known.startswith("utf-16"):
        if body.startswith(codecs.BOM_UTF16_BE):
            return "utf-16-be"
        if known == "utf-16" or body.startswith(codecs.BOM_UTF16_LE):
            return "utf-16-le"
    return known


def _masked(runs: re.Pattern[bytes], body: bytes) -> bytes:
    return runs.sub(lambda run: bytes((_MASK,)) * len(run[0]), body)
