"""Why a page could not be had, in a few words a person can read, and who is told."""

import gzip
import logging
import zlib
from collections.abc import Callable
from typing import Any

from scrapy import exceptions
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet import error
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

from mmcrawl.engine.unreachable import RobotsUnreachableError

logger = logging.getLogger(__name__)

NO_HOST = "host not found"

_REASONS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((exceptions.CannotResolveHostError, error.DNSLookupError), NO_HOST),
    (
        (exceptions.DownloadTimeoutError, error.TimeoutError, error.TCPTimedOutError),
        "no answer in time",
    ),
    (
        (exceptions.DownloadConnectionRefusedError, error.ConnectionRefusedError),
        "connection refused",
    ),
    ((exceptions.DownloadCancelledError,), "too large"),
    (
        (
            exceptions.DownloadFailedError,
            exceptions.ResponseDataLossError,
            ResponseFailed,
            error.ConnectionLost,
        ),
        "connection broken",
    ),
    ((zlib.error, gzip.BadGzipFile), "broken compression"),
)


def reason_of(failure: Failure) -> str:
    """Return the reason of a failed request; the same words for the same kind of failure."""
    problem = failure.value
    if isinstance(problem, HttpError):
        return f"HTTP {problem.response.status}"
    for kinds, reason in _REASONS:
        if isinstance(problem, kinds):
            return reason
    if isinstance(problem, exceptions.IgnoreRequest):
        text = str(problem)
        if "robots.txt" in text:
            is_known = not isinstance(problem, RobotsUnreachableError)
            return "forbidden by robots.txt" if is_known else text
        return "too large" if "DOWNLOAD_MAXSIZE" in text else text or "ignored"
    if isinstance(problem, ValueError):
        return f"bad address: {problem}"[:200]
    return f"{type(problem).__name__}: {problem}"[:200]


class FailureReport:
    """Errback of every request handed out: notes the failure, then does what the spider asked.

    Args:
        gives_up: stops the crawl if an error is no fault of the page; tells whether it is.
        failed: notes that the link cannot be had, given the reason.
        waits: lets the link wait if its host is to be left alone for now; tells whether it is.
        errback: the spider's own, None if it asked for nothing.
    """

    def __init__(
        self,
        gives_up: Callable[[BaseException | None], bool],
        failed: Callable[[str], None],
        waits: Callable[[Failure], bool],
        errback: Callable[[Failure], Any] | None,
    ) -> None:
        self._gives_up, self._failed, self._waits = gives_up, failed, waits
        self.errback = errback

    def __call__(self, failure: Failure) -> Any:
        if self._gives_up(failure.value) or self._waits(failure):
            return None
        reason = reason_of(failure)
        self._failed(reason)
        if self.errback is not None:
            return self.errback(failure)
        logger.info("%s: %s", failure.request.url, reason)  # type: ignore[attr-defined]
        return None
