"""From a response of Scrapy's to a capture for the archive."""

import time
from http import HTTPStatus

from scrapy.http import Response

from mmcrawl.archive.model import Capture


def capture_of(response: Response, url: str = "") -> Capture:
    """Return what a server answered.

    The reason of the status line is the standard one: Scrapy does not hand on what was sent.
    `Content-Length` and the like are as sent, so they may tell of the body as it was compressed.

    Args:
        response: As a spider gets it.
        url: Address to keep it under, by default the response's.
    """
    headers = tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in response.headers.items()
        for value in values
    )
    return Capture(
        url=url or response.url,
        body=response.body,
        time=requested_at(response),
        status=response.status,
        headers=headers,
        reason=_REASONS.get(response.status, ""),
    )


def requested_at(response: Response) -> float:
    """Return when a response was asked for, in Unix seconds, give or take the time of its body."""
    latency = response.meta.get("download_latency", 0.0) if response.request else 0.0
    return time.time() - float(latency)


_REASONS = {status.value: status.phrase for status in HTTPStatus}
