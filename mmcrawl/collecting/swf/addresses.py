"""Texts that look like addresses of files that an animation loads."""

import re
from collections.abc import Iterator

from mmcrawl.collecting.swf.model import DATA, IMAGE, MOVIE, SOUND, VIDEO

_KINDS = {
    MOVIE: "swf",
    DATA: "xml txt json",
    SOUND: "mp3 wav aac m4a",
    VIDEO: "flv f4v mp4",
    IMAGE: "jpg jpeg png gif",
}
_KIND_OF = {extension: kind for kind, names in _KINDS.items() for extension in names.split()}
_LONGEST = 1_000  # characters of an address
_ADDRESS = re.compile(
    rf"(?:https?://|[./\w~%-])[^\s<>\"'|\\^`{{}}*;,=&]{{0,{_LONGEST}}}"
    rf"\.({'|'.join(_KIND_OF)})(?:\?[^\s<>\"']{{0,{_LONGEST}}})?",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[\s<>\"'|;,=&]+")


def kind_of_address(text: str) -> str:
    """Return what a text would be loaded as, if it is the address of a file by its look; or "".

    >>> kind_of_address("movies/lens.swf"), kind_of_address(".swf"), kind_of_address("Lens.")
    ('movie', '', '')
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or len(text) > _LONGEST or match.start(1) < 2:
        return ""
    name = text[: match.start(1) - 1].rpartition("/")[2]
    return _KIND_OF[match[1].lower()] if name.strip(".") else ""


def addresses_in_text(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the addresses that a playlist names, and what each is loaded as.

    Whether it is XML, JSON or variables of a form (``song1=a.mp3&song2=b.mp3``), addresses stand
    between signs that are in none of them.

    >>> list(addresses_in_text(b'<songs><song src="a.mp3"/>b.swf</songs>'))
    [('a.mp3', 'sound'), ('b.swf', 'movie')]
    """
    seen = set()
    for text in _SEPARATORS.split(_decoded(data).replace("\\/", "/").replace("&amp;", "&")):
        kind = kind_of_address(text)
        if kind and text not in seen:
            seen.add(text)
            yield text, kind


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("gb18030", "replace")
