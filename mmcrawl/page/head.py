"""What a page declares about itself: title, keywords, description, language, robots, base."""

import re
from html import unescape

from mmcrawl.page.looks import Attributes

LONGEST = 2_000
_TITLE = re.compile(rb"<title[^<>]*>([^<]*)</title", re.IGNORECASE)
_WITHIN = 1 << 16  # bytes of a page in which its title is looked for
_LONGEST_TITLE = 300


def title_in(body: bytes, encoding: str) -> str:
    """Return the title of a page, "" if it has none near its begin; without parsing the page.

    Args:
        body: The page.
        encoding: Python codec name.

    >>> title_in(b"<TITLE>\n Levers &amp; pulleys</TITLE>", "ascii")
    'Levers & pulleys'
    """
    found = _TITLE.search(body, 0, _WITHIN)
    text = found[1].decode(encoding, "replace") if found else ""
    return " ".join(unescape(text).split())[:_LONGEST_TITLE]


class Head:
    """Declared metadata; of each the first that says anything counts, as in browsers.

    Attributes:
        title, keywords, description: Whitespace collapsed; at most 2,000 characters of each.
        language: Lower case, or "".
        base: The first ``<base href>``, or "".
        nofollow, noindex: From the robots declaration.
    """

    def __init__(self) -> None:
        self.title = ""
        self.keywords = ""
        self.description = ""
        self.language = ""
        self.base = ""
        self.nofollow = False
        self.noindex = False

    def take_html(self, attributes: Attributes) -> None:
        self._take_language(attributes.get("lang") or attributes.get("xml:lang") or "")

    def take_base(self, attributes: Attributes) -> None:
        self.base = self.base or attributes.get("href", "").strip()

    def take_title(self, text: str) -> None:
        self.title = self.title or _collapse(text)

    def take_meta(self, name: str, content: str) -> None:
        """Take one meta tag: its name, property or header in lower case, and its content."""
        if name == "keywords":
            self.keywords = self.keywords or _collapse(content)
        elif name == "description":
            self.description = self.description or _collapse(content)
        elif name == "content-language":
            self._take_language(content)
        elif name == "robots":
            wishes = content.lower().replace(",", " ").split()
            self.nofollow |= "nofollow" in wishes or "none" in wishes
            self.noindex |= "noindex" in wishes or "none" in wishes

    def _take_language(self, code: str) -> None:
        self.language = self.language or code.strip().lower().partition(",")[0]


def _collapse(text: str) -> str:
    return " ".join(text.split())[:LONGEST].rstrip()
