"""What an archived answer may still say when it is given again: its type, its headers, its policy.

Archived pages are hostile. The policy that is sent with everything of theirs makes a browser put
them into an origin of their own, without scripts, forms, pop-ups, and lets them ask for nothing but
other archived things. A connection that is opened and not used is no request to it; browsers that
know ``Connection-Allowlist`` (https://github.com/mikewest/anti-exfil) do not open it either.

Of the headers that they came with none is given again as such; they are named ``X-Archive-Orig-…``
as in other archives.
"""

import mimetypes
import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

import webencodings

from mmcrawl.archive.model import Version

ALONE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-DNS-Prefetch-Control": "off",
    "Connection-Allowlist": "(response-origin)",
    "X-Robots-Tag": "noindex",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), display-capture=()",
}
"""Headers of everything that is replayed, beside the policy."""

PAGES = frozenset("text/html application/xhtml+xml".split())
_KEPT = frozenset(
    """
    text/plain text/css text/javascript application/javascript application/x-javascript
    application/json application/x-shockwave-flash application/ogg text/vtt image/png image/jpeg
    image/gif image/webp image/avif image/bmp image/x-icon image/vnd.microsoft.icon image/svg+xml
    audio/mpeg audio/mp3 audio/mp4 audio/aac audio/ogg audio/wav audio/x-wav audio/webm audio/flac
    audio/midi audio/x-ms-wma video/mp4 video/webm video/ogg video/mpeg video/quicktime
    video/x-msvideo video/x-ms-wmv video/x-flv font/woff font/woff2 font/ttf font/otf
    application/font-woff
    """.split()
)
_SHOWN_AS_TEXT = frozenset(
    """
    text/xml application/xml application/rss+xml application/atom+xml text/csv
    """.split()
)
_UNDECLARED = frozenset("application/octet-stream unknown/unknown".split()).union([""])
# A drawing of this kind is a document with scripts and links when it is opened by itself.
_NEVER_OPENED = frozenset("image/svg+xml application/octet-stream".split())
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
        origin: ``http://HOST:PORT`` that the request was sent to.
        place: Path below which archived pages are served.
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

    Args:
        version: What is replayed.
        raw: Whether its links are not rewritten, so that no browser should open it as a page.
    """
    kind = essence(version)
    if kind in _UNDECLARED and version.encoding:
        kind = "text/html"
    elif kind in _UNDECLARED:
        kind = mimetypes.guess_type(urlsplit(version.url.partition("?")[0]).path)[0] or ""
    if kind in PAGES:
        return "text/html", raw
    if kind in _SHOWN_AS_TEXT:
        return "text/plain", False
    kind = kind if kind in _KEPT else "application/octet-stream"
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
