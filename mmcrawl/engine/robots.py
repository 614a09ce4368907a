"""Robots.txt files of any size and make, read at a bounded cost."""

import re
from functools import lru_cache
from heapq import nlargest
from typing import TYPE_CHECKING, Self

from protego import Protego
from scrapy.robotstxt import RobotParser
from scrapy.utils.python import to_unicode

from mmcrawl.page.xml_events import as_utf8

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

LIMIT = 500 * 1024
"""How many bytes of a robots.txt are read (RFC 9309, 2.5)."""

_LARGE = 32 * 1024
_MOST_NAMES = 16
_USER_AGENT = re.compile(r"(?im)^([ \t]*user[- \t]*agent[ \t]*:?[ \t]*)([^\r\n#]+)")


class RobotsTxtParser(RobotParser):
    """Protego's rules of the first 500 KiB of a robots.txt, a line that is cut in two left out.

    Rules take some 30 times the memory of the text, so those of large files are kept for a few
    hosts only and made again when they are needed.
    """

    def __init__(self, body: bytes) -> None:
        if len(body) > LIMIT:
            body = body[: max(body.rfind(end, 0, LIMIT) for end in (b"\n", b"\r")) + 1]
        self._text = as_utf8(body).decode("utf-8", "replace")
        self._rules = _rules_of_large if len(self._text) > _LARGE else _rules_of_small

    @classmethod
    def from_crawler(cls, crawler: "Crawler", robotstxt_body: bytes) -> Self:
        return cls(robotstxt_body)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Tell whether a user agent may fetch a URL."""
        name = to_unicode(user_agent)
        return self._rules(self._text, name).can_fetch(to_unicode(url), name)

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """Return how many seconds a user agent is asked to wait, None if nothing is said."""
        name = to_unicode(user_agent)
        return self._rules(self._text, name).crawl_delay(name)


def _rules(text: str, user_agent: str) -> Protego:
    """Return the rules of a text for one user agent.

    Every rule is kept once for each name its group is for. Names of others become one name, and of
    our own the longest are left, so that there are not as many rules as names times lines.
    """
    agent = user_agent.lower()
    names = {match[2].strip().lower() for match in _USER_AGENT.finditer(text)}
    ours = {name for name in names if name.replace("*", "") in agent} - {"*"}
    kept = {"*", *nlargest(_MOST_NAMES, ours, len)}

    def with_our_names(match: re.Match[str]) -> str:
        return match[0] if match[2].strip().lower() in kept else f"{match[1]}-"

    return Protego.parse(_USER_AGENT.sub(with_our_names, text))


_rules_of_small = lru_cache(maxsize=1024)(_rules)
_rules_of_large = lru_cache(maxsize=4)(_rules)
