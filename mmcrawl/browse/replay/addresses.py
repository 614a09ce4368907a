"""How archived pages are addressed, and the times at which there is one to choose from.

Of ``/replay/20240517083000/http://h.test/a?b=1`` the digits are a time (UTC), as web archives write
it. Two letters and a dash below behind them say how the page is wanted (:class:`Mode`); what
follows is the URL as it was, its query included.
"""

import mimetypes
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import formatdate
from enum import StrEnum
from math import floor
from urllib.parse import quote, unquote, urlsplit

import webencodings

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Version, Visit
from mmcrawl.archive.revisits import is_answer
from mmcrawl.archive.rewriting import Links

REPLAY = "/replay/"
"""Path below which archived pages are served, and nothing else."""

PLACE = "mmcrawl.replay"
"""In the scope of a request: the `Place` of its archived pages."""

_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # years 1 to 9999
_FILL = "00000101000000"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:/", re.IGNORECASE)
_MERGED = re.compile(r"(https?|ftp):/(?!/)", re.IGNORECASE)
# Whatever a URL may hold, and the mark of what is escaped already; not "#".
_UNESCAPED = "%/:?@!$&'()*+,;=~[]"


class Mode(StrEnum):
    """The form in which an archived page is requested; follows the digits of its time."""

    PAGE = ""
    BYTES = "id_"
    """The body byte for byte, without rewritten links."""
    SCRIPTS = "sc_"
    """As a page, and its scripts may run, in an origin of their own."""
    BLOCKS = "bl_"
    """Its blocks outlined by kind."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request may find archived pages.

    Attributes:
        path: That links are rewritten to; ends with a slash.
        keyed: Whether the request itself named a path that nobody outside can guess.
    """

    path: str = REPLAY
    keyed: bool = False


def seconds(time: float) -> int:
    """Return the whole second of a time, the nearest that a calendar has.

    >>> seconds(1.9), seconds(float("inf")) == seconds(1e300)
    (1, True)
    """
    return floor(min(max(time, _FIRST), _LAST))


def stamp(time: float) -> str:
    """Return the 14 digits of a time.

    >>> stamp(1715934600.7)
    '20240517083000'
    """
    at = datetime.fromtimestamp(seconds(time), UTC)
    return f"{at.year:04}{at:%m%d%H%M%S}"


def http_date(time: float) -> str:
    """Return a time as HTTP headers write it.

    >>> http_date(1715934600)
    'Fri, 17 May 2024 08:30:00 GMT'
    """
    return formatdate(seconds(time), usegmt=True)


def read_stamp(digits: str) -> int:
    """Return Unix seconds of the digits of a time; what is left out is the earliest.

    Args:
        digits: 4 to 14 of them: year, month, day, hour, minute, second.

    Raises:
        ValueError: there is no such time.

    >>> read_stamp("2024") == read_stamp("20240101000000")
    True
    """
    if not re.fullmatch(r"[0-9]{4}(?:[0-9]{2}){0,5}", digits):
        raise ValueError(f"{digits!r} is no time; give it in digits as 20240517083000")
    try:
        at = datetime.strptime(digits + _FILL[len(digits) :], "%Y%m%d%H%M%S")
    except ValueError:
        raise ValueError(f"{digits!r} is no time: no calendar has it") from None
    return seconds(at.replace(tzinfo=UTC).timestamp())


def archived_url(path: str, query: str) -> str:
    """Return the archived URL that a request names.

    Args:
        path: The rest of the request's path, still escaped.
        query: Of the request.

    >>> archived_url("http:/h.test/a%20b", "c=1")
    'http://h.test/a%20b?c=1'
    >>> archived_url("http%3A%2F%2Fh.test%2Fa", ""), archived_url("h.test/a", "")
    ('http://h.test/a', 'http://h.test/a')
    """
    if not _SCHEME.match(path):
        whole = unquote(path)
        path = whole if _SCHEME.match(whole) else f"http://{path}"
    url = _MERGED.sub(r"\1://", path, count=1)
    return f"{url}?{query}" if query else url


def written_url(url: str) -> str:
    """Return a URL as it can stand in a path, a header, or an attribute: without a fragment.

    >>> written_url('http://h.test/"a b"?c%20d#e')
    'http://h.test/%22a%20b%22?c%20d'
    """
    return quote(url.partition("#")[0], safe=_UNESCAPED, errors="replace")


def replay_address(url: str, time: float | str, mode: Mode = Mode.PAGE, place: str = REPLAY) -> str:
    """Return the path at which a page is replayed.

    Args:
        time: In Unix seconds, or its 14 digits. The version seen nearest to it is shown.
        place: Path below which archived pages are served.

    >>> replay_address("http://h.test/", 1715934600, Mode.BYTES)
    '/replay/20240517083000id_/http://h.test/'
    """
    digits = time if isinstance(time, str) else stamp(time)
    return f"{place}{digits}{mode}/{written_url(url)}"


def replaying_links(url: str, encoding: str, digits: str, mode: Mode, place: str) -> Links:
    """Return what leads the links of a document to what was archived nearest to its time."""
    start = replay_address("", digits, mode, place)
    scripts = mode is Mode.SCRIPTS
    return Links(url, encoding, lambda to, _: start + written_url(to), place, scripts=scripts)


# -- when a URL was seen --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Memento:
    """A version, as it can be asked for by time.

    Attributes:
        time: Whole Unix seconds: when it was captured.
    """

    time: int
    number: int


class History:
    """What was seen of a URL.

    Attributes:
        mementos: The versions in order of time, of several within a second the last one stored.
            Empty for a URL that is not stored.
    """

    def __init__(self, visits: Sequence[Visit]) -> None:
        self._by_time: dict[int, Memento] = {}
        statuses = {}
        for visit in visits:
            if visit.changed and visit.version is not None:
                at, statuses[visit.version] = seconds(visit.time), visit.status
                if at not in self._by_time or self._by_time[at].number < visit.version:
                    self._by_time[at] = Memento(at, visit.version)
        self.mementos = list(self._by_time.values())
        # One that another of its second hides was seen as that other.
        shown = {v.version: self._by_time[seconds(v.time)] for v in visits if v.changed}
        self._seen = [
            (seconds(visit.time), shown[visit.version])
            for visit in visits
            if visit.version in statuses
            and (is_answer(visit.status) or visit.status == statuses[visit.version])
        ]

    def nearest(self, time: float) -> Memento:
        """Return what was seen nearest to a time, by a visit that found nothing new too.

        A version captured at the very second comes first; of two equally near, the earlier.
        ValueError is raised where there are no mementos.
        """
        at = seconds(time)
        if at in self._by_time:
            return self._by_time[at]
        behind = bisect_right(self._seen, at, key=lambda seen: seen[0])
        near = self._seen[max(behind - 1, 0) : behind + 1]
        return min(near, key=lambda seen: (abs(seen[0] - at), seen[0]))[1]

    def around(self, memento: Memento) -> tuple[Memento | None, Memento | None]:
        """Return the mementos before and behind one."""
        at, padded = self.mementos.index(memento), [None, *self.mementos, None]
        return padded[at], padded[at + 2]


def history_of(archive: Archive, url: str) -> tuple[str, History]:
    """Return a URL as it is found in an archive, and what was seen of it.

    One that was stored with characters that no address can be written with is found by its escapes.
    """
    history = History(archive.visits(url))
    if not history.mementos and (unescaped := unquote(url)) != url:
        other = History(archive.visits(unescaped))
        if other.mementos:
            return unescaped, other
    return url, history


ALONE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-DNS-Prefetch-Control": "off",
    "Connection-Allowlist": "(response-origin)",
    "X-Robots-Tag": "noindex",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), display-capture=()",
}
"""Headers of everything that is replayed, beside the policy."""

PAGES = ("text/html", "application/xhtml+xml")
_KEPT = re.compile(  # what browsers draw, play or apply; SVG is the only one with scripts
    r"(?:image|audio|video|font)/[a-z0-9.-]+|image/svg\+xml|text/(?:plain|css|javascript|vtt)"
    r"|application/(?:(?:x-)?javascript|json|x-shockwave-flash|ogg|font-woff)"
)
_SHOWN_AS_TEXT = re.compile(r"(?:text|application)/xml|application/(?:rss|atom)\+xml|text/csv")
_UNDECLARED = ("", "application/octet-stream", "unknown/unknown")
# A drawing of this kind is a document with scripts and links when it is opened by itself.
_NEVER_OPENED = ("image/svg+xml", "application/octet-stream")
# Browsers' labels of encodings that Python names otherwise.
_LABELS = {
    "big5hkscs": "big5",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "cp874": "windows-874",
    "euc_jp": "euc-jp",
    "mac-roman": "macintosh",
    "mac-cyrillic": "x-mac-cyrillic",
}
_HOST = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]+")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_LONGEST_HEADER = 2_000
_MOST_OF_HEADERS = 16_000


def policy(origin: str, place: str, *, scripts: bool = False, keyed: bool = False) -> str:
    """Return the Content-Security-Policy of what is replayed.

    Args:
        scripts: Whether its scripts may run, still in an origin of its own.
        keyed: Whether nobody outside can guess the address. A frame of an archived page, which has
            no origin, may hold another only then.
    """
    source = f"{origin}{place}" if _HOST.fullmatch(origin) else "'none'"
    rules = [
        "sandbox allow-scripts" if scripts else "sandbox",
        f"default-src {source}",
        f"script-src {source} 'unsafe-inline' 'unsafe-eval'" if scripts else "script-src 'none'",
        f"style-src {source} 'unsafe-inline'",
        f"img-src {source} data:",
        f"font-src {source} data:",
        f"media-src {source} data:",
        f"connect-src {source}" if scripts else "connect-src 'none'",
        f"base-uri {source}",
        "object-src 'none'",
        "worker-src 'none'",
        "form-action 'none'",
        "webrtc 'block'",
    ]
    return "; ".join(rules if keyed else [*rules, "frame-ancestors 'self'"])


def locked(*, keyed: bool = False) -> str:
    """Return the policy of what needs nothing: messages, drawings of blocks."""
    rules = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    rules += "base-uri 'none'; form-action 'none'"
    return rules if keyed else f"{rules}; frame-ancestors 'self'"


def essence(version: Version) -> str:
    """Return the declared type of a version without parameters, lower case, or ""."""
    declared = version.content_type or version.header("content-type")
    return declared.partition(";")[0].strip().lower()


def served_type(version: Version, *, raw: bool) -> tuple[str, bool]:
    """Return the content type to serve a version with, and whether it is to be saved, not opened.

    Types that no archived page needs are not kept: the body is served as bytes to be saved.
    """
    kind = essence(version)
    if kind in _UNDECLARED and version.encoding:
        kind = "text/html"
    elif kind in _UNDECLARED:
        kind = mimetypes.guess_type(urlsplit(version.url.partition("?")[0]).path)[0] or ""
    if kind in PAGES:
        return "text/html", raw
    if _SHOWN_AS_TEXT.fullmatch(kind):
        return "text/plain", False
    kind = kind if _KEPT.fullmatch(kind) else "application/octet-stream"
    return kind, kind in _NEVER_OPENED


def declared_charset(version: Version) -> str:
    """Return the label of the declared encoding of a version if browsers know it, else ""."""
    declared = _CHARSET.search(version.content_type or version.header("content-type"))
    found = webencodings.lookup(declared[1]) if declared else None
    return found.name if found is not None else ""


def charset_label(codec: str) -> str:
    """Return what browsers call a Python codec in which ASCII is ASCII; "" for others."""
    label = _LABELS.get(codec, codec)
    found = webencodings.lookup(label)
    wide = codec.startswith(("utf-16", "utf-32", "iso2022", "hz"))
    return found.name if found is not None and not wide else ""


def original_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return what an answer said when it was archived, under names that no client acts upon.

    Values of one name are joined, as HTTP allows; what is too long is cut off.
    """
    found: dict[str, str] = {}
    left = _MOST_OF_HEADERS
    for name, value in headers:
        if not _TOKEN.fullmatch(name):
            continue
        # Visible ASCII and blanks stay; all else is escaped, line breaks with it.
        written = quote(value[:_LONGEST_HEADER], safe=_VISIBLE, errors="replace").strip()
        left -= len(name) + len(written)
        if left < 0:
            break
        own = f"X-Archive-Orig-{name.title()}"
        found[own] = f"{found[own]}, {written}" if own in found else written
    return found


_VISIBLE = "".join(chr(code) for code in range(0x20, 0x7F))
