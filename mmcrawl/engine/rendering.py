"""Rendering in a crawl: which pages, what they are joined to, what is archived of them."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.http import Response
from scrapy.utils.asyncio import run_in_thread

from mmcrawl.archive.model import RENDERED, Capture
from mmcrawl.engine.browser import Browser, browser_program
from mmcrawl.errors import MmcrawlError
from mmcrawl.frontier.addresses import host_of
from mmcrawl.page.lists.heads import Choice
from mmcrawl.page.model import Page
from mmcrawl.page.parse import parse_page

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

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
        self._browser = Browser(crawler, browser_program(crawler.settings))
        crawler.signals.connect(self._browser.close, signals.spider_closed)

    async def rendered(self, response: Response, page: Page) -> tuple[Page, Capture] | None:
        """Render a page if it is worth it.

        Args:
            response: As fetched.
            page: Parsed from it.

        Returns:
            The page with what its scripts added, and what the browser made of it; None for a page
            that stays as it is.
        """
        host = host_of(response.url)
        if not self._choice.chooses(host, page, response.body):
            return None
        stats, began = self._crawler.stats, time.time()
        try:
            body = await self._browser.rendered(response)
        except MmcrawlError as error:
            stats.inc_value("mmcrawl/render/failed")
            logger.info("%s: not rendered: %s", response.url, error)
            return None
        finally:
            stats.inc_value("mmcrawl/render/pages")
            stats.inc_value("mmcrawl/render/ms", round(1_000 * (time.time() - began)))
        made = await run_in_thread(parse_page, body, response.url, _TYPE)
        if not self._choice.note(host, page, made):
            return None
        stats.inc_value("mmcrawl/render/gained")
        headers = (("Content-Type", _TYPE),)
        return joined(page, made), Capture(RENDERED + response.url, body, began, 200, headers)


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
