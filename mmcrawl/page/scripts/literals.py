"""URLs and file names that stand as literals in scripts, ``javascript:`` links and events.

Nothing is executed and nothing is concatenated: ``"a/" + name + ".mp3"`` names no file.
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from mmcrawl.page.media import EXTENSION_PATTERN, FILE_PATTERN

_PAGE_EXTENSIONS = "html?|shtml?|xhtml|aspx?|jspx?|php[345]?|phtml|cgi|cfm|do|action|pl"
# A literal does not cross a line or a tag, so that a stray apostrophe costs one line.
_LITERAL = re.compile(r"""(["'])([^"'<>\r\n]{1,2000}?)\\?\1""")
_MEDIA_LITERAL = re.compile(
    rf"""["']([^"'<>\r\n]{{0,2000}}?[^"'<>\r\n/\\]\.(?:{EXTENSION_PATTERN})"""
    r"""(?:[?#&][^"'<>\r\n]{0,500})?)\\?["']""",
    re.IGNORECASE,
)
# A mask, a template, or data of a program rather than a film.
_NO_FILE = re.compile(r"[*{}$|^]|%[sd]|\.dat$", re.IGNORECASE)
_MENTIONS_MEDIA = re.compile(rf"\.(?:{EXTENSION_PATTERN})\b", re.IGNORECASE)
_MENTIONS_FILE = re.compile(rf"\.(?:{EXTENSION_PATTERN}|{FILE_PATTERN})\b", re.IGNORECASE)
_PAGE_NAME = re.compile(rf"[^\s/?]\.(?:{_PAGE_EXTENSIONS})(?:[?#]|$)", re.IGNORECASE)
_QUERY = re.compile(r"[\w./-]+\?[\w.-]+=[^\s]*$")
_NAVIGATES = re.compile(r"location|open|\bhref\b|goto|jump", re.IGNORECASE)
# What it is called with, up to the first parenthesis inside.
_FLASH_CALL = re.compile(r"AC_FL_RunContent\s*\(([^()]{0,4000})")
_FLASH_MOVIE = re.compile(r"""["'](?:movie|src)["']\s*,\s*["']([^"'<>\s]{1,500})["']""", re.I)


def page_literals(code: str) -> Iterator[str]:
    """Yield the literals in a call that look like the URL or file name of a page or a media file.

    >>> list(page_literals("window.open('show.asp?id=3','win','width=400')"))
    ['show.asp?id=3']
    """
    if "%" in code:
        code = unquote(code)
    navigates = _NAVIGATES.search(code) is not None
    for match in _LITERAL.finditer(code):
        literal = match[2].strip().rstrip("\\").replace("\\/", "/")
        if _is_whole(code, match.start(), match.end()) and looks_like_url(literal, navigates):
            yield literal


def looks_like_url(literal: str, navigates: bool) -> bool:
    """Whether a literal without quotes is a URL or file name; a bare path too if it `navigates`."""
    if " " in literal or not literal:
        return False
    if literal.lower().startswith(("http://", "https://", "//")):
        return True
    if navigates and literal.startswith(("/", "./", "../")):
        return True
    return bool(
        _PAGE_NAME.search(literal) or _QUERY.match(literal) or _MENTIONS_FILE.search(literal)
    )


def media_literals(code: str) -> Iterator[str]:
    """Yield the literals in a script that name a media file, and Flash movies it embeds by name.

    >>> list(media_literals('swfobject.embedSWF("a.swf", "box", "550", "400");'))
    ['a.swf']
    >>> list(media_literals("AC_FL_RunContent('width','550','movie','flash/lever')"))
    ['flash/lever.swf']
    """
    yield from flash_movies(code)
    for _, literal in media_matches(code):
        yield literal


def media_matches(code: str) -> Iterator[tuple[int, str]]:
    """Yield place and text of the literals in a script that name a media file."""
    if not _MENTIONS_MEDIA.search(code):
        return
    for match in _MEDIA_LITERAL.finditer(code):
        literal = match[1].strip().replace("\\/", "/").rstrip("\\")
        if not _NO_FILE.search(literal) and _is_whole(code, match.start(), match.end()):
            yield match.start(), literal


def flash_movies(code: str) -> Iterator[str]:
    """Yield the Flash movies that a script embeds by their names without an extension."""
    if "AC_FL_RunContent" not in code:
        return
    for call in _FLASH_CALL.finditer(code):
        for movie in _FLASH_MOVIE.findall(call[1]):
            yield movie if _MENTIONS_MEDIA.search(movie) else _with_swf(movie)


def _with_swf(movie: str) -> str:
    path, mark, query = movie.partition("?")
    return f"{path}.swf{mark}{query}"


def _is_whole(code: str, start: int, end: int) -> bool:
    """Whether the literal at code[start:end] is not a piece of a concatenation."""
    before = code[max(0, start - 8) : start].rstrip()
    after = code[end : end + 8].lstrip()
    return not before.endswith("+") and not after.startswith("+")
