"""What a worker sends its requests with, so that the server learns when they were allowed."""

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.http import Response


class TellingHandler(HTTP11DownloadHandler):
    """Sends with each request when the delay of its host allowed it, by the monotonic clock."""

    async def download_request(self, request: Request) -> Response:
        downloader = self._crawler.engine.downloader
        slot = downloader.slots[downloader.get_slot_key(request)]
        request.headers["Allowed"] = repr(slot.lastseen)
        return await super().download_request(request)
