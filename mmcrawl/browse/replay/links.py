"""Where the links of an archived page lead when it is replayed: into the archive, nowhere else."""

import re
from collections.abc import Callable
from urllib.parse import quote

from mmcrawl.browse.replay.addresses import Mode, replay_address
from mmcrawl.page.urls import Resolver, base_url
from mmcrawl.text.patterns import linear

_ENDS = "".join(map(chr, range(0x21)))
_HARMLESS = re.compile(r"(?:mailto|tel|about:blank\Z)", re.IGNORECASE)
_DATA = re.compile(r"data:(?:image|font|audio|video)/", re.IGNORECASE)
# Nothing in it that resolving or escaping could change. Most links of most pages are like this.
_PLAIN = re.compile(r"https?://[a-z0-9.-]+(?:/(?!\.)[A-Za-z0-9._~-]*+)+(?:\?[A-Za-z0-9._~=&-]++)?")
_PLAIN_PATH = re.compile(r"(?:/?[A-Za-z0-9_~-][A-Za-z0-9._~-]*+)+/?(?:\?[A-Za-z0-9._~=&-]++)?")
_CANDIDATE = re.compile(r"[\s,]*+(\S++)")
_DESCRIPTOR = linear(r"[^,(]*+(?:\([^)]*+\)?[^,(]*+)*+")
_REFRESH = re.compile(
    r"""\s*+([\d.]*+)(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?(?:"([^"]*+).*|'([^']*+).*|(.*))""",
    re.IGNORECASE | re.DOTALL,
)


MOST_WRITTEN = 32 << 20
"""Characters that are written for the links of one document, at most: a page may hold millions of
short links, and its own address, which each is given, may be long. Further links lead nowhere."""
# Comments are matched so that nothing is found in them; strings but for those of @import likewise.
_ADDRESS = linear(
    rb"""/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)
    | (?P<import>@import\s++)(?P<string>"[^"\n]*+"|'[^'\n]*+')
    | \burl\(\s*+(?P<url>"[^"\n]*+"|'[^'\n]*+'|[^\s"'()]++)\s*+\)
    | "(?:[^"\\\n]++|\\.)*+"? | '(?:[^'\\\n]++|\\.)*+'?""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(\n)|(.))", re.IGNORECASE | re.DOTALL)


class Links:
    """Rewrites the addresses of one document.

    Args:
        url: Of the document.
        encoding: Its Python codec name.
        stamp: The digits of its time.
        mode: How what it links to is wanted.
        place: Path below which archived pages are served.
    """

    def __init__(self, url: str, encoding: str, stamp: str, mode: Mode, place: str) -> None:
        self._url, self._encoding = url, encoding
        self._stamp, self._mode, self._place = stamp, mode, place
        self._left = MOST_WRITTEN
        self._start = replay_address("", stamp, mode, place)
        self._resolve_from(url)

    def set_base(self, reference: str) -> None:
        """Resolve what follows against another base, as ``<base href>`` says."""
        self._resolve_from(base_url(reference, self._url, self._encoding))

    def _resolve_from(self, base: str) -> None:
        self._resolve = Resolver(base, self._encoding)
        path = base.partition("?")[0].partition("#")[0]
        plain = _PLAIN.fullmatch(path)
        self._directory = path[: path.rindex("/") + 1] if plain else ""
        self._root = "/".join(path.split("/", 3)[:3]) if plain else ""

    def __call__(self, reference: str, inert: str = "#") -> str | None:
        """Return what to write for a reference, ASCII; None to leave it as it is.

        Args:
            reference: As the document means it, without escapes of its format.
            inert: To write for what leads neither to the web nor is harmless.
        """
        reference = reference.strip(_ENDS)
        if not reference or reference.startswith("#"):
            return None
        new = self._leading(reference, inert) if self._left > 0 else inert
        self._left -= len(new or "")
        return new

    def _leading(self, reference: str, inert: str) -> str | None:
        plain = self._plain(reference)
        if plain:
            return self._start + plain
        target = self._resolve(reference)
        if target is None or not target.url.startswith(("http://", "https://")):
            if _HARMLESS.match(reference) or _DATA.match(reference):
                return None
            script = reference.lower().startswith("javascript:")
            return None if script and self._mode is Mode.SCRIPTS else inert
        address = replay_address(target.url, self._stamp, self._mode, self._place)
        mark, fragment = reference.partition("#")[1:]
        return address + mark + quote(fragment, safe="%/:?@!$&*+,;=~")

    def _plain(self, reference: str) -> str:
        """Return what a reference leads to where nothing need be resolved or escaped, else ""."""
        if _PLAIN.fullmatch(reference):
            return reference
        if self._root and _PLAIN_PATH.fullmatch(reference):
            return (self._root if reference[0] == "/" else self._directory) + reference
        return ""

    def leads_in(self, written: str) -> bool:
        """Whether an address leads to archived pages as it is written."""
        return written.startswith(self._place)

    def embedded(self, reference: str) -> str | None:
        """Return what to write for a reference to what is shown within the page."""
        return self(reference, "about:blank")

    def candidates(self, text: str) -> str | None:
        """Return what to write for a ``srcset``."""
        pieces: list[str] = []
        place = 0
        while match := _CANDIDATE.match(text, place):
            place = match.end()
            address, descriptor = match[1].rstrip(","), ""
            if address == match[1] and (found := _DESCRIPTOR.match(text, place)):
                descriptor, place = found[0], found.end()
            new = self.embedded(address) or quote(address, safe="%/:;=,+#")
            pieces.append(" ".join([new, *quote(descriptor, safe=" ").split()]))
        return ", ".join(pieces) or None

    def refresh(self, text: str) -> str | None:
        """Return what to write for the ``content`` of a refresh."""
        match = _REFRESH.fullmatch(text)
        new = self(match[2] or match[3] or match[4] or "") if match else None
        return f"{match[1]};url={new}" if match and new is not None else None


# -- style sheets ---------------------------------------------------------------------------------


def rewrite_css(sheet: bytes, encoding: str, rewrite: Callable[[str], str | None]) -> bytes:
    """Return a style sheet with other addresses in ``url()`` and ``@import``.

    Args:
        sheet: As received, or the value of a ``style`` attribute.
        encoding: Python codec name; one in which ASCII is ASCII.
        rewrite: Returns what to write for an address, ASCII without double quotes and
            backslashes, or None to leave it.

    >>> rewrite_css(b"a{background:url( 'b.gif' )}", "utf-8", lambda url: "/r/" + url)
    b'a{background:url("/r/b.gif")}'
    """

    def replaced(match: re.Match[bytes]) -> bytes:
        written = match["string"] or match["url"]
        if written is None:
            return match[0]
        new = rewrite(_text(written, encoding))
        if new is None:
            return match[0]
        quoted = b'"' + new.encode("ascii", "replace") + b'"'
        return match["import"] + quoted if match["string"] else b"url(" + quoted + b")"

    return _ADDRESS.sub(replaced, sheet)


def _text(written: bytes, encoding: str) -> str:
    """Return what a string or a bare address of a sheet says."""
    text = written.decode(encoding, "replace")
    if text[:1] in ('"', "'"):
        text = text[1:-1]
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return match[3] or ""
