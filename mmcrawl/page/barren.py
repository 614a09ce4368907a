"""What a page consists of that has neither links nor media, for whoever expected some."""

import re

from mmcrawl.page.model import Page

_LOGIN = re.compile(rb"<input\b[^<>]*\btype\s*=\s*[\"']?password", re.IGNORECASE)
_FORM = re.compile(rb"<form\b", re.IGNORECASE)
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
_FRAME = re.compile(rb"<i?frame\b", re.IGNORECASE)
_IMAGE = re.compile(rb"<(?:img|svg|canvas)\b", re.IGNORECASE)
_LITTLE_TEXT = 300  # characters


def contents_of(page: Page, body: bytes) -> str:  # noqa: PLR0911
    """Return what a page consists of, in a few words.

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
