"""The encoding of a page: as declared, unless the bytes contradict it.

Order: byte order mark, ``Content-Type`` header, meta tag, then the bytes themselves. A declaration
is overruled only by evidence: the body is strictly valid UTF-8 with enough characters outside
ASCII, or decoding leaves many replacement characters, or a Western European encoding is declared
for what reads as Chinese (servers that add ``charset=iso-8859-1`` to every page).
"""

import re

import webencodings
from w3lib.encoding import (
    read_bom,
    resolve_encoding,
    to_unicode,
)

from mmcrawl.page.headers import bounded
from mmcrawl.page.html.guessed_encoding import (
    CERTAINLY_CHINESE,
    GB,
    UTF8,
    WESTERN,
    chinese_encoding,
    guess_encoding,
    is_short_chinese,
    sample_characters,
    shifted_encoding,
    wide_encoding,
)

# Python names of the encodings that browsers know, and of those that older programs wrote; other
# codecs (rot13, hex, utf-7) are no charsets.
_KNOWN = frozenset(
    """
    utf-8 utf-16 utf-16-le utf-16-be gb18030 big5hkscs hz euc_jp iso2022_jp iso2022_kr johab cp932
    cp949 cp874 koi8-r koi8-u koi8-t mac-roman mac-cyrillic mac-greek mac-latin2 mac-turkish
    cp437 cp737 cp775 cp850 cp852 cp855 cp857 cp858
    """.split()
).union(
    (f"cp125{n}" for n in range(9)),
    (f"cp86{n}" for n in range(10) if n != 7),
    (f"iso8859-{n}" for n in range(2, 17)),
)
_IN_ASCII = ("utf-16", "hz", "iso2022")  # encodings that write other characters in ASCII's bytes
# A declaration by a label that browsers know and Python does not: windows-949, x-gbk.
_HEADER_LABEL = re.compile(r"""charset\s{0,99}=\s*+["']?+\s*+([\w.:-]{1,40})""", re.IGNORECASE)
_META_LABEL = re.compile(
    rb"""<(?:meta\s[^>]{0,500}?charset|\?xml\s[^>]{0,500}?encoding)\s{0,9}=\s{0,9}["']?\s{0,9}"""
    rb"([\w.:-]{1,40})",
    re.IGNORECASE,
)
_COMMENT = re.compile(rb"<!--.*?(?:-->|$)", re.DOTALL)
_HEAD = 4_096  # bytes that are searched first
_MANY_ERRORS = 0.02  # share of the characters outside ASCII
_LEAST_ERRORS = 4
_SAMPLE = 200_000  # bytes
_UTF8_LONG = re.compile(rb"[\xe0-\xf4][\x80-\xbf]{2,3}")
_UTF8_SHORT = re.compile(rb"[\xc2-\xdf][\x80-\xbf]")
_UTF_32 = re.compile(rb"(?P<be>\0\0\xfe\xff|(?:\0{3}\s)*\0{3}<)|\xff\xfe\0\0|(?:\s\0{3})*<\0{3}")


def page_encoding(body: bytes, content_type: str | None = None) -> str:
    """Return the Python name of a page's encoding.

    Args:
        body: The page as received.
        content_type: The header's value, if any.
    """
    bom_encoding, _ = read_bom(body)
    if bom_encoding == "utf-32-le":
        return "utf-16-le"  # as browsers read these bytes; the mark of utf-32-be is none to them
    if bom_encoding is None or bom_encoding == "utf-32-be":
        return _encoding_without_bom(body, content_type)
    return bom_encoding


def text_of_utf_32(body: bytes) -> str | None:
    """Return the text of a page in UTF-32, which browsers do not read; None if it is in another.

    >>> text_of_utf_32("<p>a".encode("utf-32-be")), text_of_utf_32(b"<p>a")
    ('<p>a', None)
    """
    wide = _UTF_32.match(body)
    if wide is None:
        return None
    return body.decode("utf-32-be" if wide["be"] else "utf-32-le", "replace").lstrip("\ufeff")


def codec_of(label: str) -> str | None:
    """Return the Python name of an encoding that browsers know, by any of its labels, or None.

    >>> codec_of("GBK"), codec_of("latin1"), codec_of("utf-7")
    ('gb18030', 'cp1252', None)
    """
    try:
        return _by_label(label)
    except ValueError:  # not a label at all: a NUL in it
        return None


def decode_page(body: bytes, content_type: str | None) -> tuple[str, bytes]:
    """Return the encoding of a page and the page as UTF-8, without byte order mark and NULs.

    Args:
        body: The page as received.
        content_type: The header's value, if any.
    """
    bom_encoding, bom = read_bom(body)
    if bom_encoding is not None and bom is not None:
        encoding, body = bom_encoding, body[len(bom) :]
    else:
        encoding = _encoding_without_bom(body, content_type)
    if encoding == UTF8 and _is_utf8(body):
        utf8 = body
    else:
        utf8 = to_unicode(body, encoding).encode(UTF8, "replace")
    return encoding, utf8.replace(b"\x00", b"") if b"\x00" in utf8 else utf8


def _encoding_without_bom(body: bytes, content_type: str | None) -> str:
    wide = wide_encoding(body)
    if wide is not None:
        return wide
    declared = _in_header(content_type) or _in_meta(body[:_HEAD])
    if body.isascii() and not (declared or "").startswith(_IN_ASCII):
        return declared or shifted_encoding(body) or UTF8
    valid_utf8 = _is_utf8(body)
    if declared is None and valid_utf8:
        return GB if is_short_chinese(body) else UTF8
    declared = declared or _in_meta(body)
    if declared is None:
        return guess_encoding(body)
    return _overruled(body, declared, valid_utf8) or declared


def _in_header(content_type: str | None) -> str | None:
    label = _HEADER_LABEL.search(bounded(content_type or ""))
    return _by_label(label[1]) if label else None


def _in_meta(body: bytes) -> str | None:
    """Return the encoding that a meta tag or an XML declaration names, as browsers read it."""
    label = _META_LABEL.search(_COMMENT.sub(b"", body))
    declared = _by_label(label[1].decode("ascii", "replace")) if label else None
    # It could not have been read if it were in UTF-16.
    return UTF8 if declared is not None and declared.startswith("utf-16") else declared


def _by_label(label: str) -> str | None:
    """Return the Python name of an encoding that the WHATWG standard lists, or Python knows."""
    encoding = webencodings.lookup(label)
    name = resolve_encoding(encoding.codec_info.name if encoding is not None else label)
    return name if name in _KNOWN else None


def _overruled(body: bytes, declared: str, valid_utf8: bool) -> str | None:
    """Return the encoding that the bytes show in place of the declared one, or None."""
    if declared == UTF8:
        return None if valid_utf8 else _in_place_of_utf8(body)
    if declared.startswith("utf-16"):
        # Markup in UTF-16 has NULs.
        return UTF8 if valid_utf8 and b"\0" not in body else None
    if valid_utf8 and (declared == WESTERN or _is_surely_utf8(body)):
        return UTF8
    if declared == WESTERN:
        return chinese_encoding(body, CERTAINLY_CHINESE)
    share = _error_share(body, declared)
    if share <= _MANY_ERRORS:
        return None
    guessed = guess_encoding(body)
    return guessed if _error_share(body, guessed) < share else None


def _in_place_of_utf8(body: bytes) -> str | None:
    """Return the encoding of bytes declared as UTF-8 that are not; None for broken UTF-8."""
    characters = sample_characters(body, UTF8)
    errors = characters.count("\ufffd")
    # In another encoding hardly a character is valid; one broken byte is no other encoding.
    if 2 * errors <= len(characters):
        return None
    return guess_encoding(body) if errors >= _LEAST_ERRORS else chinese_encoding(body)


def _is_surely_utf8(body: bytes) -> bool:
    """Whether bytes are too many to be valid UTF-8 by chance."""
    sample = body[:_SAMPLE]
    return len(_UTF8_LONG.findall(sample)) >= 3 or len(_UTF8_SHORT.findall(sample)) >= 6


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode(UTF8)
    except UnicodeDecodeError as error:
        # A body cut off in the middle of a character is UTF-8 all the same.
        cut_off = error.reason == "unexpected end of data"
        return cut_off and not body[: error.start].isascii()
    return True


def _error_share(body: bytes, encoding: str) -> float:
    characters = sample_characters(body, encoding)
    return characters.count("\ufffd") / len(characters) if characters else 0.0
