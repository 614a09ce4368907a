"""Why a page could not be had, in a few words a person can read."""

import gzip
import zlib

from scrapy import exceptions
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet import error
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

_REASONS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((exceptions.CannotResolveHostError, error.DNSLookupError), "host not found"),
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
            return "forbidden by robots.txt"
        return "too large" if "DOWNLOAD_MAXSIZE" in text else text or "ignored"
    if isinstance(problem, ValueError):
        return f"bad address: {problem}"[:200]
    return f"{type(problem).__name__}: {problem}"[:200]
