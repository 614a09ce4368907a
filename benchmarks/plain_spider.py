"""A spider as in Scrapy's tutorial, which the crawl is compared with: it follows links.

    python benchmarks/plain_spider.py URL,URL [SETTING=VALUE ...]

It starts without Scrapy's command line, which would load the commands of this project. It goes
after every `<a href>` that leads to one of the seeds' hosts and does not name a file that is no
page, and makes an item of each page's title.
"""

import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.linkextractors import IGNORED_EXTENSIONS

_NO_PAGES = frozenset(IGNORED_EXTENSIONS)


class PlainSpider(Spider):
    name = "plain"

    def __init__(self, seeds: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = seeds.split(",")
        self.hosts = {urlsplit(url).netloc for url in self.start_urls}

    def parse(self, response: Response) -> Iterator[Request | dict[str, Any]]:
        yield {"url": response.url, "title": response.css("title::text").get()}
        for href in response.css("a::attr(href)"):
            try:
                request = response.follow(href, callback=self.parse)
            except ValueError:  # mailto: and the like
                continue
            parts = urlsplit(request.url)
            if parts.netloc in self.hosts and not self._is_file(parts.path):
                yield request

    def _is_file(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        return "." in name and name.rpartition(".")[2].lower() in _NO_PAGES


if __name__ == "__main__":
    process = CrawlerProcess(dict(setting.split("=", 1) for setting in sys.argv[2:]))
    process.crawl(PlainSpider, seeds=sys.argv[1])
    process.start()
