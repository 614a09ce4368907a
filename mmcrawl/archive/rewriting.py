"""Rewrites links in HTML and SVG so that they lead to archived pages; all other bytes stay
unchanged.

Only attribute values and style sheets are replaced, at their byte positions, so a page's markup
reaches the browser as it came, faults included. A link that the rewriter misses is no leak in
replay, where a content security policy allows requests to the archive only. Browsers do not apply
that policy to every connection, so links that connect in advance, and frames, are rewritten
wherever they might be markup.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from html import escape, unescape
from typing import NamedTuple
from urllib.parse import quote

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.format.cutting import is_page, location_of
from mmcrawl.archive.model import Capture
from mmcrawl.page.html.tags import END_OF_RAW, windows
from mmcrawl.page.parse import page_tree
from mmcrawl.page.requisites import (
    page_requisites,
    rewrite_css,
    sheet_requisites,
    srcset_candidates,
)
from mmcrawl.page.urls import Resolver, absolute_url, base_url
from mmcrawl.text.patterns import linear

_ENDS = "".join(map(chr, range(0x21)))
_HARMLESS = re.compile(r"(?:mailto|tel|about:blank\Z)", re.IGNORECASE)
_DATA = re.compile(r"data:(?:image|font|audio|video)/", re.IGNORECASE)
# Nothing in it that resolving or escaping could change. Most links of most pages are like this.
_PLAIN_ADDRESS = re.compile(
    r"https?://[a-z0-9.-]+(?:/(?!\.)[A-Za-z0-9._~-]*+)+(?:\?[A-Za-z0-9._~=&-]++)?"
)
_PLAIN_PATH = re.compile(r"(?:/?[A-Za-z0-9_~-][A-Za-z0-9._~-]*+)+/?(?:\?[A-Za-z0-9._~=&-]++)?")
_REFRESH = re.compile(
    r"""\s*+([\d.]*+)(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?(?:"([^"]*+).*|'([^']*+).*|(.*))""",
    re.IGNORECASE | re.DOTALL,
)


MOST_WRITTEN = 32 << 20
"""Characters that are written for the links of one document, at most: a page may hold millions of
short links, and its own address, which each is given, may be long. Further links lead nowhere."""


FOLLOWED, EMBEDDED = "#", "about:blank"
"""What is written for an address that leads nowhere, of a link and of what is shown in the page."""


class Links:
    """Rewrites the addresses of one document.

    Args:
        write: Returns what to write for an address on the web, ASCII, given also FOLLOWED or
            EMBEDDED.
        place: What begins with it leads to archived pages already.
        base: What to write for the base of the document, None for where it leads.
    """

    def __init__(
        self,
        url: str,
        encoding: str,
        write: Callable[[str, str], str],
        place: str,
        *,
        base: str | None = None,
        scripts: bool = False,
    ) -> None:
        self._url, self._encoding = url, encoding
        self._write, self._place, self.base, self._scripts = write, place, base, scripts
        self._left = MOST_WRITTEN
        self._resolve_from(url)

    def set_base(self, reference: str) -> None:
        """Resolve what follows against another base, as ``<base href>`` says."""
        self._resolve_from(base_url(reference, self._url, self._encoding))

    def _resolve_from(self, base: str) -> None:
        self._resolve = Resolver(base, self._encoding)
        path = base.partition("?")[0].partition("#")[0]
        plain = _PLAIN_ADDRESS.fullmatch(path)
        self._directory = path[: path.rindex("/") + 1] if plain else ""
        self._root = "/".join(path.split("/", 3)[:3]) if plain else ""

    def __call__(self, reference: str, inert: str = FOLLOWED) -> str | None:
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
            return self._write(plain, inert)
        target = self._resolve(reference)
        if target is None or not target.url.startswith(("http://", "https://")):
            if _HARMLESS.match(reference) or _DATA.match(reference):
                return None
            script = reference.lower().startswith("javascript:")
            return None if script and self._scripts else inert
        address = self._write(target.url, inert)
        mark, fragment = reference.partition("#")[1:]
        return address + mark + quote(fragment, safe="%/:?@!$&*+,;=~")

    def _plain(self, reference: str) -> str:
        """Return what a reference leads to where nothing need be resolved or escaped, else ""."""
        if _PLAIN_ADDRESS.fullmatch(reference):
            return reference
        if self._root and _PLAIN_PATH.fullmatch(reference):
            return (self._root if reference[0] == "/" else self._directory) + reference
        return ""

    def leads_in(self, written: str) -> bool:
        """Whether an address leads to archived pages as it is written."""
        return written.startswith(self._place)

    def embedded(self, reference: str) -> str | None:
        """Return what to write for a reference to what is shown within the page."""
        return self(reference, EMBEDDED)

    def candidates(self, text: str) -> str | None:
        """Return what to write for a ``srcset``."""
        pieces: list[str] = []
        for address, descriptor in srcset_candidates(text):
            new = self.embedded(address) or quote(address, safe="%/:;=,+#")
            pieces.append(" ".join([new, *quote(descriptor, safe=" ").split()]))
        return ", ".join(pieces) or None

    def refresh(self, text: str) -> str | None:
        """Return what to write for the ``content`` of a refresh."""
        match = _REFRESH.fullmatch(text)
        new = self(match[2] or match[3] or match[4] or "") if match else None
        return f"{match[1]};url={new}" if match and new is not None else None


_LESS = ord("<")
# White space of HTML; a vertical tab, which \s takes too, is none.
_OPENS = re.compile(rb"<([a-zA-Z][^\t\n\f\r />]*+)")
_ATTRIBUTE = re.compile(
    rb"""[\t\n\f\r /]*+([^\t\n\f\r />][^\t\n\f\r />=]*+)
    (?:[\t\n\f\r ]*+=[\t\n\f\r ]*+("[^"]*+"|'[^']*+'|(?=["'])|[^\t\n\f\r >"'][^\t\n\f\r >]*+|))?""",
    re.VERBOSE,
)
# The attributes of most start tags, to their end, if none of them is rewritten.
_PLAIN = linear(
    rb"""(?:[\t\n\f\r ]++
        (?!href|src|style|target|content|http-equiv|action|formaction|xlink|longdesc|background|poster
        |lowsrc|dynsrc|data|code|archive|value|rel|imagesrcset|integrity|crossorigin|ping
        |attributionsrc|manifest|nonce)
        [a-zA-Z-]++(?:=(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"'][^\t\n\f\r >"'/]*+(?=[\t\n\f\r >])))?+
    )*+[\t\n\f\r ]*+>""",
    re.VERBOSE | re.IGNORECASE,
)
_TAG_END = re.compile(rb"[\t\n\f\r /]*+>")
_HIDING = re.compile(rb"<(?:link|i?frame)(?=[\t\n\f\r />])", re.IGNORECASE)
_QUOTES = (b'"', b"'")
_LONGEST_TAG = 60
# Bytes of attributes that are read, at most, for each of a page, and of any page.
_MOST_READ, _LEAST_READ = 4, 100_000
_DEEPEST = 3  # pages within the attributes of pages

_FOLLOWED = frozenset("href action formaction xlink:href longdesc".split())
_EMBEDDED = frozenset("src background poster lowsrc dynsrc data code archive".split())
_CANDIDATES = frozenset("srcset imagesrcset".split())
_SHOWN_BY_HREF = frozenset("link image use feimage script".split())
_REMOVED = frozenset("integrity crossorigin ping attributionsrc manifest nonce".split())
_PLAYER_PARAMETERS = frozenset("movie src filename url data".split())
_OUTER_FRAMES = frozenset("_blank _top _parent _new".split())
_READ = frozenset("target style content http-equiv name value rel srcdoc".split()).union(
    _FOLLOWED, _EMBEDDED, _CANDIDATES
)
_CONNECTS = frozenset("preconnect dns-prefetch prerender prefetch".split())
# Written in place of what is put out of force. To cut it out might join what stood around it.
_NOTHING = b'data-archived=""'


class _Attribute(NamedTuple):
    """An attribute of a start tag: where it stands, and what it says."""

    name: str
    start: int
    end: int
    value: str


class _Edit(NamedTuple):
    """Bytes to be written in place of others."""

    start: int
    end: int
    new: bytes


def rewrite_html(body: bytes, encoding: str, links: Links, *, depth: int = 0) -> bytes:
    """Return a page with its links rewritten.

    Args:
        encoding: Python codec name of the body; one in which ASCII is ASCII.
        depth: How many pages it stands within, as the value of an attribute.
    """
    body = _spliced(body, _Rewriter(body, encoding, links).edits())
    return _spliced(body, _hidden(body, encoding, links, depth))


class _Rewriter:
    def __init__(self, body: bytes, encoding: str, links: Links) -> None:
        self._body, self._encoding, self._links = body, encoding, links
        self._based = False

    def edits(self) -> Iterator[_Edit]:
        place = 0
        for tokens in windows(self._body, 0):
            for token in tokens:
                if token[0] == _LESS and (name := _OPENS.match(token)):
                    tag = name[1][:_LONGEST_TAG].lower().decode("latin-1")
                    if tag == "plaintext":
                        return
                    if tag == "style" or not _PLAIN.match(token, name.end()):
                        yield from self._of_token(tag, place + name.end(), place + len(token))
                place += len(token)

    def _of_token(self, tag: str, behind_name: int, stop: int) -> Iterator[_Edit]:
        attributes, end = _attributes(self._body, behind_name, self._encoding, stop)
        if end < 0:  # the file ends inside a tag: a browser drops it
            return
        yield from self._of_tag(tag, attributes)
        if tag == "style":
            closed = END_OF_RAW[tag].search(self._body, end, stop)
            stop = closed.start() if closed else stop
            sheet = rewrite_css(self._body[end:stop], self._encoding, self._links.embedded)
            yield _Edit(end, stop, sheet)

    def _of_tag(self, tag: str, attributes: list[_Attribute]) -> Iterator[_Edit]:
        values = {a.name: a.value for a in reversed(attributes)}
        if tag == "base" and "href" in values and not self._based:
            self._based = True
            self._links.set_base(values["href"])
        for attribute in attributes:
            if attribute.name in _REMOVED:
                yield _Edit(attribute.start, attribute.end, _NOTHING)
                continue
            new = self._new_value(tag, attribute, values)
            if new is not None:
                written = f'{attribute.name}="{escape(new)}"'.encode(self._encoding, "replace")
                yield _Edit(attribute.start, attribute.end, written)

    def _new_value(self, tag: str, attribute: _Attribute, values: dict[str, str]) -> str | None:
        name, value = attribute.name, attribute.value
        if tag == "base" and name == "href" and self._links.base is not None:
            return self._links.base
        if name in _EMBEDDED or (name in ("href", "xlink:href") and tag in _SHOWN_BY_HREF):
            return self._links.embedded(value)
        if name in _FOLLOWED:
            return self._links(value)
        if name in _CANDIDATES:
            return self._links.candidates(value)
        if name == "style":
            return self._new_style(value)
        return self._new_setting(tag, name, value, values)

    def _new_style(self, value: str) -> str | None:
        if "url(" not in value.lower():
            return None
        sheet = value.encode(self._encoding, "replace")
        new = rewrite_css(sheet, self._encoding, self._links.embedded)
        return new.decode(self._encoding, "replace")

    def _new_setting(self, tag: str, name: str, value: str, values: dict[str, str]) -> str | None:
        """Return what to write for a value that means an address, or a frame, only with others."""
        if name == "target":
            return "_self" if value.strip().lower() in _OUTER_FRAMES else None
        if tag == "param" and name == "value":
            player = values.get("name", "").lower() in _PLAYER_PARAMETERS
            return self._links.embedded(value) if player else None
        effect = values.get("http-equiv", "").strip().lower() if tag == "meta" else ""
        if effect == "refresh" and name == "content":
            return self._links.refresh(value)
        # A page's own policy was made for its own addresses, not for those it is given here.
        if effect.startswith("content-security-policy") and name == "http-equiv":
            return "x-archived-policy"
        return None


def _attributes(body: bytes, place: int, encoding: str, stop: int) -> tuple[list[_Attribute], int]:
    """Return the attributes of a start tag, and where it ends; -1 if it does not before a place."""
    found: list[_Attribute] = []
    while not (end := _TAG_END.match(body, place, stop)):
        match = _ATTRIBUTE.match(body, place, stop)
        if match is None or (not match[2] and body[match.end() : match.end() + 1] in _QUOTES):
            return found, -1  # the file, or a value in quotes, does not end
        name = match[1].lower().decode("latin-1")
        written = match[2] or b""
        if written[:1] in _QUOTES:
            written = written[1:-1]
        read = name in _READ and written
        value = unescape(written.decode(encoding, "replace")) if read else ""
        found.append(_Attribute(name, match.start(1), match.end(), value))
        place = match.end()
    return found, end.end()


def _hidden(body: bytes, encoding: str, links: Links, depth: int) -> Iterator[_Edit]:
    """Yield what must be changed wherever it stands, be it within a script or a comment.

    A tag whose attributes do not end, or too many of which hold one another, is renamed: to read
    them all again for each would take the square of the time.
    """
    behind, left = 0, _MOST_READ * len(body) + _LEAST_READ
    for match in _HIDING.finditer(body):
        if match.start() < behind:
            continue
        attributes: list[_Attribute] = []
        end = -1
        if left > 0:
            attributes, end = _attributes(body, match.end(), encoding, len(body))
        left -= (end if end >= 0 else len(body)) - match.end()
        if end < 0:
            yield _Edit(match.start() + 1, match.end(), b"x-archived")
            behind = match.end()
        for attribute in attributes if end >= 0 else ():
            if (new := _harmless(attribute, encoding, links, depth)) is not None:
                yield _Edit(attribute.start, attribute.end, new)
                behind = attribute.end


def _harmless(attribute: _Attribute, encoding: str, links: Links, depth: int) -> bytes | None:
    """Return what to write for an attribute of a link or a frame; None to leave it."""
    if attribute.name == "rel":
        words = attribute.value.lower().split()
        return None if _CONNECTS.isdisjoint(words) else _NOTHING
    if attribute.name == "src" and not links.leads_in(attribute.value):
        new = links.embedded(attribute.value)
        return f'src="{escape(new)}"'.encode() if new is not None else None
    if attribute.name == "srcdoc":
        return _page_within(attribute.value, encoding, links, depth)
    return None


def _page_within(page: str, encoding: str, links: Links, depth: int) -> bytes:
    """Return the attribute that holds a page, with its links rewritten."""
    if depth >= _DEEPEST:
        return _NOTHING
    within = rewrite_html(page.encode("utf-8", "replace"), "utf-8", links, depth=depth + 1)
    written = escape(within.decode("utf-8", "replace"))
    return b'srcdoc="' + written.encode(encoding, "xmlcharrefreplace") + b'"'


def _spliced(body: bytes, edits: Iterator[_Edit]) -> bytes:
    pieces, place = [], 0
    for edit in edits:
        pieces += [body[place : edit.start], edit.new]
        place = edit.end
    return b"".join([*pieces, body[place:]])


_LARGEST_SHEET = 4 << 20  # bytes; of a larger one is not read what it names


def named_by(capture: Capture) -> tuple[str, ...]:
    """Return the addresses that a page, a style sheet or a redirect needs to be seen."""
    if location := location_of(capture.status, capture.headers):
        target = (absolute_url(capture.url, location) or "").partition("#")[0]
        return (target,) if target.startswith("http") else ()
    if is_page(capture):
        return page_requisites(page_tree(capture.body, capture.media_type or None), capture.url)
    if capture.media_type.lower().startswith("text/css") and len(capture.body) <= _LARGEST_SHEET:
        return sheet_requisites(capture.body, capture.url)
    return ()


def requisites_of(archive: Archive, page: Capture, seen: set[str]) -> Iterator[Capture]:
    """Yield what a page needs to be seen, as it was nearest to the page's time; adds to `seen`."""
    waiting = deque(named_by(page))
    while waiting:
        url = waiting.popleft()
        found = archive.found(url) if url not in seen else []
        seen.add(url)
        if found:
            _, version = min(found, key=lambda pair: abs(pair[0].time - page.time))
            capture = archive.rebuild(version)
            yield capture
            # A page in place of a picture needs nothing here; redirects come with pages too.
            if capture.status // 100 == 3 or not is_page(capture):
                waiting += named_by(capture)
