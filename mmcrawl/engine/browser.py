"""Pages as a browser renders them: Chromium, driven by Playwright, which never connects by itself.

Everything a page requests is fetched by Scrapy's downloader, with its robots.txt, delays, guard of
private addresses and stored web. What only a person looks at (pictures, fonts, films) is not
fetched, frames are links of their own, and nothing is downloaded.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.exceptions import CloseSpider
from scrapy.http import Response

from mmcrawl.archive.model import RENDERED, Capture
from mmcrawl.crawl.reading import ReadPage, ReceivedPage
from mmcrawl.engine.scheduler import scheduler_of
from mmcrawl.errors import ExhaustedError, MmcrawlError
from mmcrawl.frontier.urls import host_of, page_digest
from mmcrawl.page.lists.shells import Choice
from mmcrawl.page.model import Page
from mmcrawl.settings import SettingsLike, value_of
from mmcrawl.text.resources import site_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",  # it could not connect if it tried
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # there is no proxy
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--no-first-run",
)
# Connections between browsers pass every route and resolver: packets to any address, and questions
# to all of the link. Chromium has no switch for them; a window made later is another global object.
_WITHOUT_PEERS = """
for (const name of Object.getOwnPropertyNames(globalThis))
  if (/^(webkit|moz)?RTC|^WebTransport/.test(name)) delete globalThis[name];
"""
_AT_ONCE = 2  # pages
_SECONDS = 60.0  # for a page; delays between requests count
_LAST_SECONDS = 10.0  # for a script that does not let go
_MOST_REQUESTS = 150  # of a page
_MOST_BYTES = 8 << 20  # of an answer, and of a rendered page
_CACHED_BYTES = 32 << 20  # of scripts
_STARTS = 3  # attempts to start the browser
_ATTEMPTS = 2  # at a page: a browser that ends takes along the page beside the one at fault
_FETCHED = frozenset({"script", "xhr", "fetch"})
_NOT_HANDED_ON = frozenset(
    {"content-encoding", "content-length", "set-cookie", "transfer-encoding"}
)
_ASKED_WITH = frozenset({"accept", "content-type", "referer", "x-requested-with"})


def browser_program(settings: SettingsLike) -> str:
    """Return the program of the browser.

    Raises:
        MmcrawlError: Playwright is not installed, or there is no browser.
    """
    if find_spec("playwright") is None:
        raise MmcrawlError("render needs Playwright: pip install 'mmcrawl[render]'")
    named: str | None = value_of(settings, "MMCRAWL_CHROMIUM")
    found = [path for name in ([named] if named else _PROGRAMS) if (path := shutil.which(name))]
    if not found:
        raise MmcrawlError(
            f"render needs Chromium: there is no {named or 'chromium'}; install it, or name it with"
            " -s MMCRAWL_CHROMIUM=PROGRAM"
        )
    return found[0]


class Browser:
    """Renders pages; started when it is first asked, and again when it or its driver died.

    Args:
        crawler: Whose downloader fetches.
        program: Of Chromium.
    """

    def __init__(self, crawler: Crawler, program: str) -> None:
        self._crawler, self._program = crawler, program
        self._starting = asyncio.Lock()
        self._playwright: Any = None
        self._browser: Any = None
        self._scripts: OrderedDict[str, Response] = OrderedDict()

    async def rendered(self, response: Response) -> bytes:
        """Return a page as its scripts have made it, in UTF-8.

        Args:
            response: As fetched; it is not fetched again.

        Raises:
            MmcrawlError: it could not be rendered.
            ExhaustedError: the browser cannot be started.
        """
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as SlowError

        problem = ""
        for _ in range(_ATTEMPTS):
            await self._started()  # the page's time begins then
            try:
                rendering = self._rendered(response)
                return await asyncio.wait_for(rendering, _SECONDS + _LAST_SECONDS)
            except (TimeoutError, SlowError):
                await self._stop()  # a script that runs for ever may hold all of it
                raise MmcrawlError(f"it was not finished after {_SECONDS:g} s") from None
            except Error as error:
                problem = error.message.partition("\n")[0]
        raise MmcrawlError(problem)

    async def close(self) -> None:
        """End the browser, and what drives it."""
        playwright, self._playwright = self._playwright, None
        await self._stop()
        if playwright is not None:
            with suppress(Exception):
                await asyncio.wait_for(playwright.stop(), _LAST_SECONDS)

    async def _new_context(self) -> Any:
        from playwright.async_api import Error

        asked = {
            "user_agent": self._crawler.settings["USER_AGENT"],
            "accept_downloads": False,
            "service_workers": "block",
        }
        browser = await self._started()
        try:
            return await browser.new_context(**asked)
        except Error:
            # Its driver died: the browser is said to be connected all the same.
            if browser is self._browser:
                await self.close()
            browser = await self._started()
            return await browser.new_context(**asked)

    async def _rendered(self, response: Response) -> bytes:
        from playwright.async_api import TimeoutError as SlowError

        context = await self._new_context()
        try:
            await context.add_init_script(_WITHOUT_PEERS)
            page = await context.new_page()
            context.on("page", lambda other: asyncio.ensure_future(_closed(other)))
            await context.route("**/*", _Requests(self, response, page).answer)
            await context.route_web_socket("**/*", lambda socket: socket.close())
            end = asyncio.get_running_loop().time() + _SECONDS
            await page.goto(response.url, wait_until="domcontentloaded", timeout=1_000 * _SECONDS)
            left = max(0.1, end - asyncio.get_running_loop().time())
            with suppress(SlowError):  # then it is taken as far as it is
                await page.wait_for_load_state("networkidle", timeout=1_000 * left)
            html: str = await asyncio.wait_for(page.content(), _LAST_SECONDS)
        finally:
            with suppress(Exception):
                await asyncio.wait_for(context.close(), _LAST_SECONDS)
        made = html.encode("utf-8", "replace")
        if len(made) > _MOST_BYTES:
            raise MmcrawlError(f"the rendered page is larger than {_MOST_BYTES:,} bytes")
        return made

    async def _started(self) -> Any:
        async with self._starting:
            if self._browser is None or not self._browser.is_connected():
                self._browser = await self._start()
            return self._browser

    async def _start(self) -> Any:
        """Start the browser.

        Raises:
            ExhaustedError: it cannot be started; it could not for the pages that follow.
        """
        from playwright.async_api import Error, async_playwright

        problem = ""
        for _ in range(_STARTS):
            try:
                if self._playwright is None:
                    self._playwright = await async_playwright().start()
                return await self._playwright.chromium.launch(
                    executable_path=self._program,
                    args=[*_ARGUMENTS],
                    chromium_sandbox=os.geteuid() != 0,  # as root it has none
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
            except Error as error:
                problem = error.message.partition("\n")[0]
                await self.close()
        raise ExhaustedError(
            f"{self._program}, which render= needs, cannot be started ({problem}); see why, and run"
            " the same command again"
        )

    async def _stop(self) -> None:
        browser, self._browser = self._browser, None
        if browser is not None:
            with suppress(Exception):
                await asyncio.wait_for(browser.close(), _LAST_SECONDS)

    async def fetched(self, asked: Any) -> Response:
        """Return the response to a request of a page; scripts are cached for other pages.

        Args:
            asked: Playwright's request.
        """
        is_script = asked.resource_type == "script"
        if is_script and asked.url in self._scripts:
            self._scripts.move_to_end(asked.url)
            return self._scripts[asked.url]
        headers = {k: v for k, v in asked.headers.items() if k.lower() in _ASKED_WITH}
        request = Request(
            asked.url,
            method=asked.method,
            headers=headers,
            body=asked.post_data_buffer or b"",
            meta={"download_maxsize": _MOST_BYTES, "dont_retry": True, "dont_merge_cookies": True},
        )
        response: Response = await self._crawler.engine.download_async(request)
        self._crawler.stats.inc_value("mmcrawl/render/requests")
        if is_script:
            self._scripts[asked.url] = response
            while sum(len(one.body) for one in self._scripts.values()) > _CACHED_BYTES:
                self._scripts.popitem(last=False)
        return response


class _Requests:
    """Answers the requests of one page."""

    def __init__(self, browser: Browser, response: Response, page: Any) -> None:
        self._browser, self._response, self._page = browser, response, page
        self._number = 0
        self._site = _site(response.url)

    async def answer(self, route: Any) -> None:
        """Answer a request, or have it fail."""
        from playwright.async_api import Error

        with suppress(Error):  # the page has been closed
            asked = route.request
            if asked.is_navigation_request():
                await self._navigate(route)
            elif asked.resource_type == "stylesheet":
                await route.fulfill(status=200, content_type="text/css", body="")
            elif self._is_fetched(asked):
                await self._fetch(route)
            else:
                await route.abort()

    def _is_fetched(self, asked: Any) -> bool:
        if asked.resource_type not in _FETCHED or self._number >= _MOST_REQUESTS:
            return False
        if not asked.url.startswith(("http://", "https://")):
            return False
        # What asks by POST for what it shows asks its own site; others count visitors.
        return asked.method == "GET" or (asked.method == "POST" and _site(asked.url) == self._site)

    async def _navigate(self, route: Any) -> None:
        """Show the page that was fetched; no other one, and no frames."""
        is_first = self._number == 0 and route.request.frame == self._page.main_frame
        if not is_first:
            await route.abort()
            return
        self._number = 1
        await _fulfil(route, self._response)

    async def _fetch(self, route: Any) -> None:
        self._number += 1
        try:
            response = await self._browser.fetched(route.request)
        except Exception as error:  # noqa: BLE001 - whatever the downloader and what is in it raises
            logger.debug("%s: %s", route.request.url, error)
            await route.abort()
            return
        await _fulfil(route, response)


async def _fulfil(route: Any, response: Response) -> None:
    headers = {
        name.decode("latin-1"): ", ".join(value.decode("latin-1") for value in values)
        for name, values in response.headers.items()
        if name.decode("latin-1").lower() not in _NOT_HANDED_ON
    }
    await route.fulfill(status=response.status, headers=headers, body=response.body)


async def _closed(page: Any) -> None:
    with suppress(Exception):
        await page.close()


def _site(url: str) -> str:
    return site_of(urlsplit(url).hostname or "")


# -- Rendering in a crawl: which pages, what they are joined to, what is archived of them ---------

_TYPE = "text/html; charset=utf-8"


class Rendering:
    """Renders the pages of a crawl that are worth it.

    Stats: `mmcrawl/render/` `pages`, of them `gained` with further links or media, `failed`,
    `requests` beside the pages themselves, `ms` of waiting.

    Args:
        crawler: Of the crawl.
        most: Pages that are rendered at most.
        every: Whether any page is, not only one that seems to be an empty shell.

    Raises:
        MmcrawlError: there is no browser, or not what drives it.
    """

    def __init__(self, crawler: Crawler, most: int, *, every: bool) -> None:
        self._crawler = crawler
        self._choice = Choice(most, every=every)
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._browser = Browser(crawler, browser_program(crawler.settings))
        crawler.signals.connect(self._browser.close, signals.spider_closed)

    async def rendered(
        self, response: Response, page: Page, read: Callable[[ReceivedPage], Awaitable[ReadPage]]
    ) -> tuple[ReadPage, Capture] | None:
        """Render a page if that is worthwhile.

        Args:
            response: As fetched.
            page: Parsed from it.
            read: Reads what the browser makes of it.

        Returns:
            The page with what its scripts added, and what the browser made of it; None for a page
            that stays as it is.

        Raises:
            CloseSpider: the browser cannot be started; nothing is recorded of the page.
        """
        if not self._choice.suits(page, response.body):
            return None
        async with self._room:
            return await self._rendered(response, page, read)

    async def _rendered(
        self, response: Response, page: Page, read: Callable[[ReceivedPage], Awaitable[ReadPage]]
    ) -> tuple[ReadPage, Capture] | None:
        host = host_of(response.url)
        if not self._choice.chooses(host, page, response.body):
            return None
        stats, began = self._crawler.stats, time.time()
        try:
            body = await self._browser.rendered(response)
        except ExhaustedError as error:  # no page of those that follow could be rendered
            if scheduler := scheduler_of(self._crawler):
                scheduler.gives_up(error)
            raise CloseSpider("store_error") from error
        except MmcrawlError as error:
            self._choice.failed(host)
            stats.inc_value("mmcrawl/render/failed")
            logger.info("%s: not rendered: %s", response.url, error)
            return None
        finally:
            stats.inc_value("mmcrawl/render/pages")
            stats.inc_value("mmcrawl/render/ms", round(1_000 * (time.time() - began)))
        made = await read(ReceivedPage(response.url, body, _TYPE))
        if not self._choice.note(host, page, made.page):
            return None
        stats.inc_value("mmcrawl/render/gained")
        headers = (("Content-Type", _TYPE),)
        page = joined(page, made.page)
        digest = page_digest(response.url, body, (one.url for one in page.media))
        capture = Capture(RENDERED + response.url, body, began, 200, headers)
        return replace(made, page=page, digest=digest), capture


def joined(fetched: Page, made: Page) -> Page:
    """Return a rendered page, with links and media that only the fetched one has behind its own."""
    links = {link.url for link in made.links}
    media = {medium.url for medium in made.media}
    return replace(
        made,
        links=(
            *made.links,
            *(replace(link, group=-1) for link in fetched.links if link.url not in links),
        ),
        media=(*made.media, *(one for one in fetched.media if one.url not in media)),
        nofollow=made.nofollow or fetched.nofollow,
        noindex=made.noindex or fetched.noindex,
    )
