"""Several stored webs joined as one, with a page that leads to all of them."""

from collections import ChainMap
from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from urllib.parse import urlsplit

from mmcrawl.replay.web import (
    StoredResponse,
    StoredWeb,
    answer,
    for_method,
    host_of,
    not_found,
    split_url,
)

PORTAL_HOST = "portal.test"

PAGE = """<!doctype html>
<html>
<head><meta charset="utf-8"><title>Portal</title></head>
<body>
<ul>
{links}
</ul>
</body>
</html>
"""


class PortalWeb(StoredWeb):
    """One web made of several, for crawls that begin at a single page.

    `http://portal.test/` links to every start page of every web; all else is answered by the first
    web that knows the host. A crawl that follows links only to hosts of its seeds would stay at the
    portal: give it `sites=anywhere`.

    Args:
        webs: The webs that are joined, in the order of their links. A folder with a folder per host
            gives one link for each host, the start page that its manifest names.
    """

    def __init__(self, webs: tuple[StoredWeb, ...]) -> None:
        self._webs = webs

    def get(self, url: str, method: str = "GET") -> StoredResponse | None:
        parts = split_url(url)
        if parts is None:
            return None
        if host_of(parts) == PORTAL_HOST:
            is_front = parts.path in ("", "/") and not parts.query
            return for_method(self._front() if is_front else not_found(), method)
        answers = (web.get(url, method) for web in self._webs)
        return next((found for found in answers if found is not None), None)

    def size_hint(self, url: str) -> int:
        return max((web.size_hint(url) for web in self._webs), default=0)

    def start_urls(self) -> tuple[str, ...]:
        return (f"http://{PORTAL_HOST}/",)

    def aliases(self) -> Mapping[str, str]:
        return MappingProxyType(ChainMap(*(dict(web.aliases()) for web in self._webs)))

    def _front(self) -> StoredResponse:
        starts = dict.fromkeys(url for web in self._webs for url in web.start_urls())
        links = "\n".join(
            f'<li><a href="{escape(url)}">{escape(urlsplit(url).netloc)}</a></li>' for url in starts
        )
        return answer(200, "text/html; charset=utf-8", PAGE.format(links=links).encode())
