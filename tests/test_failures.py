import gzip
import zlib

from scrapy import exceptions
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet import error
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

from mmcrawl.engine import reason_of
from mmcrawl.errors import fatal_error
from tests.tables import each

REPLY = Response("http://a.test/", status=418)
BOMB = "Ignored response <200 http://a.test/> because its body exceeded DOWNLOAD_MAXSIZE (9 B)"


@each(
    "problem, reason",
    [
        (HttpError(REPLY, "Ignoring non-200 response"), "HTTP 418"),
        (error.DNSLookupError("no results"), "host not found"),
        (exceptions.DownloadTimeoutError("took longer"), "no answer in time"),
        (exceptions.DownloadConnectionRefusedError("111"), "connection refused"),
        (exceptions.DownloadCancelledError("5 bytes"), "too large"),
        (exceptions.IgnoreRequest(BOMB), "too large"),
        (exceptions.DownloadFailedError("lost"), "connection broken"),
        (ResponseFailed([Failure(error.ConnectionDone())]), "connection broken"),
        (zlib.error("Error -3 while decompressing data"), "broken compression"),
        (gzip.BadGzipFile("Not a gzipped file (b'<t')"), "broken compression"),
        (exceptions.IgnoreRequest("Forbidden by robots.txt"), "forbidden by robots.txt"),
        (exceptions.IgnoreRequest("max redirections reached"), "max redirections reached"),
        (exceptions.IgnoreRequest(), "ignored"),
        (ValueError("Invalid IPv6 URL"), "bad address: Invalid IPv6 URL"),
        (RuntimeError("odd"), "RuntimeError: odd"),
    ],
)
def test_a_failure_is_told_in_a_few_words(problem: Exception, reason: str) -> None:
    assert reason_of(Failure(problem)) == reason


def test_a_long_failure_is_cut_and_one_that_is_its_own_cause_looked_at_once() -> None:
    assert len(reason_of(Failure(ValueError("x" * 9999)))) == 200
    problem = ValueError("odd")
    problem.__cause__ = problem
    assert fatal_error(problem) is None
