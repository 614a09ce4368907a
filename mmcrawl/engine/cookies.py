"""Cookies, as many as a browser keeps."""

from collections.abc import Iterable
from contextlib import suppress
from http.cookiejar import Cookie
from typing import Any

from scrapy import Request
from scrapy.downloadermiddlewares.cookies import CookiesMiddleware as ScrapyCookiesMiddleware
from scrapy.http.cookies import CookieJar

from mmcrawl.frontier.addresses import host_of
from mmcrawl.text.resources import is_public_suffix, split_host

_LONGEST = 4096  # characters of name and value
_LONGEST_PATH = 1024
_MOST_OF_A_SITE = 180
_MOST = 3000


class BoundedCookieJar(CookieJar):
    """Scrapy's, without cookies over 4 kB, and with 180 a registered domain and 3,000 in all.

    Cookies that were set the longest time ago are dropped. The bounds are those of browsers, which
    RFC 6265 (6.1) asks to keep 50 a domain at least, and 3,000 in all.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Both from the one set first to the one set last; a cookie that expired may be in them.
        self._all: dict[tuple[str, str, str], None] = {}
        self._by_site: dict[str, dict[tuple[str, str, str], None]] = {}

    def set_cookie_if_ok(self, cookie: Cookie, request: Request) -> None:
        """Keep a cookie that the site may set, and drop the oldest of too many."""
        length = len(cookie.name) + len(cookie.value or "")
        if length > _LONGEST or len(cookie.path) > _LONGEST_PATH:
            return
        super().set_cookie_if_ok(cookie, request)
        key = cookie.domain, cookie.path, cookie.name
        if key[2] not in self._cookies.get(key[0], {}).get(key[1], {}):
            return
        self._forget(key)
        site = self._by_site.setdefault(_site(key[0]), {})
        site[key] = self._all[key] = None
        for cookies, most in ((site, _MOST_OF_A_SITE), (self._all, _MOST)):
            if len(cookies) > most:
                self._drop(next(iter(cookies)))

    def _forget(self, key: tuple[str, str, str]) -> None:
        if key in self._all:
            name = _site(key[0])
            del self._all[key], self._by_site[name][key]
            if not self._by_site[name]:
                del self._by_site[name]

    def _drop(self, key: tuple[str, str, str]) -> None:
        self._forget(key)
        domain, path, name = key
        with suppress(KeyError):  # it has expired
            del self._cookies[domain][path][name]
            if not self._cookies[domain][path]:
                del self._cookies[domain][path]


class CookiesMiddleware(ScrapyCookiesMiddleware):
    """Scrapy's, with bounds, and with the public suffix list that is at hand.

    Scrapy 2.19 downloads the list at the first cookie and lets everything wait for it.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self.jars.default_factory = BoundedCookieJar

    def _process_cookies(
        self, cookies: Iterable[Cookie], *, jar: CookieJar, request: Request
    ) -> None:
        """Keep cookies for later requests; of those for a public suffix only the host's own."""
        host = host_of(request.url)
        for cookie in cookies:
            domain = cookie.domain.removeprefix(".")
            if domain and is_public_suffix(domain):
                if domain != host:
                    continue
                cookie.domain = host
            jar.set_cookie_if_ok(cookie, request)


def _site(domain: str) -> str:
    host = domain.removeprefix(".")
    return split_host(host).top_domain_under_public_suffix or host
