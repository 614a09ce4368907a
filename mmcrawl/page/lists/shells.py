"""Pages with little in them: what they consist of, and which of them need a browser to render."""

import re
from dataclasses import dataclass

from mmcrawl.page.model import Page

_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
# An element that frameworks fill, with nothing in it: React, Vue, Angular, Next, Nuxt and others.
_EMPTY_ROOT = re.compile(
    rb"<(?:div|main|section)\b[^<>]*\bid\s*=\s*[\"']?(?:app|root|main-app|__next|___gatsby|__nuxt"
    rb"|q-app|svelte|react-root|app-root)\b[^<>]*>\s*(?:<!--[^<>]*-->\s*)*</"
    rb"|<([a-z]+-(?:app|root)|app-[a-z]+)\b[^<>]*>\s*</\1\s*>",
    re.IGNORECASE,
)
_NEEDS_SCRIPT = re.compile(
    rb"<noscript\b[^<>]*>(?:(?!</noscript).){0,500}?(?:java\s?script|\xe8\x84\x9a\xe6\x9c\xac)",
    re.IGNORECASE | re.DOTALL,
)
_LITTLE_TEXT = 300  # characters, of text and anchors
_NEXT_TO_NO_TEXT, _FEW_LINKS = 100, 3
_SAMPLE = 3  # shells of a host that are rendered before it is judged


def is_shell(page: Page, body: bytes) -> bool:
    """Return whether a page seems to be made by its scripts.

    >>> is_shell(Page("http://h.test/"), b'<div id="root"></div><script src="a.js"></script>')
    True
    >>> is_shell(Page("http://h.test/", text="Levers. " * 99), b"<p>Levers<script></script>")
    False
    """
    if page.media or not _SCRIPT.search(body):
        return False
    said = len(page.text) + sum(len(link.anchor) for link in page.links)
    if said > _LITTLE_TEXT:
        return False
    return (
        (said <= _NEXT_TO_NO_TEXT and len(page.links) < _FEW_LINKS)
        or _EMPTY_ROOT.search(body) is not None
        or _NEEDS_SCRIPT.search(body) is not None
    )


@dataclass(slots=True)
class _Host:
    judged: int = 0  # pages that were rendered, or could not be
    gained: int = 0


class Choice:
    """Chooses at most `most` pages that are rendered: shells, or with `every` all."""

    def __init__(self, most: int, *, every: bool = False) -> None:
        self._most, self._every = most, every
        self._hosts: dict[str, _Host] = {}
        self.rendered = 0

    def suits(self, page: Page, body: bytes) -> bool:
        """Return whether a page may be chosen."""
        return self._every or is_shell(page, body)

    def chooses(self, host: str, page: Page, body: bytes) -> bool:
        """Return whether to render a page, by its host's pages rendered so far; counts it then."""
        if self.rendered >= self._most or not self.suits(page, body):
            return False
        known = self._hosts.setdefault(host, _Host())
        if not self._every and known.judged >= _SAMPLE and not known.gained:
            return False
        self.rendered += 1
        return True

    def failed(self, host: str) -> None:
        """Record that a page could not be rendered."""
        self._hosts.setdefault(host, _Host()).judged += 1

    def note(self, host: str, fetched: Page, rendered: Page) -> bool:
        """Record the rendering of a page; return whether it has more links or media than before."""
        before = {link.url for link in fetched.links} | {medium.url for medium in fetched.media}
        after = {link.url for link in rendered.links} | {medium.url for medium in rendered.media}
        gains = not after <= before
        known = self._hosts.setdefault(host, _Host())
        known.judged += 1
        known.gained += gains
        return gains


_LOGIN = re.compile(rb"<input\b[^<>]*\btype\s*=\s*[\"']?password", re.IGNORECASE)
_FORM = re.compile(rb"<form\b", re.IGNORECASE)
_FRAME = re.compile(rb"<i?frame\b", re.IGNORECASE)
_IMAGE = re.compile(rb"<(?:img|svg|canvas)\b", re.IGNORECASE)


def contents_of(page: Page, body: bytes) -> str:  # noqa: PLR0911
    """Return the contents of a page in a few words.

    Args:
        page: Parsed from the body; it has neither links nor media.
        body: As received, ASCII-compatible.

    >>> contents_of(Page("http://h.test/"), b"<script src=app.js></script>")
    'a script only; try -a render=playwright'
    """
    if not body.strip():
        return "an empty page"
    if _LOGIN.search(body):
        return "a login form"
    if _SCRIPT.search(body) and len(page.text) <= _LITTLE_TEXT:
        only = "a script only" if not page.text else "a script and little text"
        return f"{only}; try -a render=playwright"
    if _FORM.search(body):
        return "a form"
    if _FRAME.search(body):
        return "frames without an address"
    if page.text:
        return "text without a link"
    return "pictures without a link" if _IMAGE.search(body) else "a page without text or links"
