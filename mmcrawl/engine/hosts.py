"""Hosts whose robots.txt could not be read, and when it is requested again.

If a host answers robots.txt with a server error, or not at all, its rules are unknown: everything
counts as forbidden until it answers (RFC 9309, 2.3.1.4). Its links wait.
"""

import gzip
import logging
import re
import zlib
from collections import Counter
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from protego import Protego
from scrapy import exceptions
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.robotstxt import RobotParser
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.asyncio import call_later
from scrapy.utils.python import to_unicode
from twisted.internet import error
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

from mmcrawl.page.lists.xml_entries import as_utf8
from mmcrawl.settings import value_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

# -- Why a page could not be fetched, in a few readable words -------------------------------------

logger = logging.getLogger(__name__)

NO_HOST = "host not found"


class NoNameServerError(exceptions.CannotResolveHostError):
    """Whether a host is there cannot be told for now: the name servers do not answer."""


_REASONS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((NoNameServerError,), "the name servers do not answer"),
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
        gives_up: stops the crawl if an error is no fault of the page; returns whether it is.
        failed: notes that the link cannot be fetched, given the reason.
        waits: lets the link wait if its host is to be left alone for now; returns whether it is.
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


# -- Hosts that are left alone because their robots.txt cannot be fetched, and when it is asked for
# again

_LONGEST = 3_600.0
_ENOUGH = 3


class RobotsUnreachableError(IgnoreRequest):
    """The robots.txt of a host could not be read, as the message says."""


@dataclass(slots=True)
class _Host:
    reason: str
    asked: int
    due: float


class UnreachableHosts:
    """The hosts of a crawl whose robots.txt could not be read.

    Args:
        pause: seconds until it is asked for a second time; each further pause is twice as long, up
            to an hour.
        clock: gives seconds.

    >>> hosts = UnreachableHosts(10, clock=lambda: 0)
    >>> hosts.note("h.test", "HTTP 503"), hosts.note("h.test", "HTTP 503")
    (10.0, 20.0)
    """

    def __init__(self, pause: float, clock: Callable[[], float] = monotonic) -> None:
        self._pause, self._clock = pause, clock
        self._hosts: dict[str, _Host] = {}

    def note(self, netloc: str, reason: str) -> float:
        """Record that a robots.txt could not be read; return the seconds until the next request."""
        host = self._hosts.setdefault(netloc, _Host(reason, 0, 0.0))
        pause = min(self._pause * 2.0**host.asked, _LONGEST) if host.asked < 99 else _LONGEST
        host.reason, host.asked, host.due = reason, host.asked + 1, self._clock() + pause
        return pause

    def answered(self, netloc: str) -> None:
        """Record that a robots.txt was read."""
        self._hosts.pop(netloc, None)

    def wait(self, netloc: str) -> float:
        """Return the seconds until a host may be asked, 0 for now."""
        host = self._hosts.get(netloc)
        return max(host.due - self._clock(), 0.0) if host is not None else 0.0

    def reason(self, netloc: str) -> str:
        """Return why a robots.txt could not be read, "" if it was, or was not requested."""
        host = self._hosts.get(netloc)
        return host.reason if host is not None else ""

    def asked_enough(self, netloc: str) -> bool:
        """Return whether a crawl with nothing else to do can stop asking."""
        host = self._hosts.get(netloc)
        return host is not None and host.asked >= _ENOUGH

    def told(self) -> dict[str, int]:
        """Return how often each host was asked, with the reason."""
        return {f"{name}: {host.reason}": host.asked for name, host in self._hosts.items()}


# -- Which hosts may be sent a request now, and when the engine is to ask for one again -----------


class FreeHosts:
    """The hosts of a crawl that the downloader has room for.

    Args:
        crawler: Whose downloader and engine.

    Attributes:
        unreachable: Those whose robots.txt cannot be fetched.
        left_alone: Whether the last test found no other than these, and each was asked enough.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.unreachable = UnreachableHosts(value_of(crawler.settings, "MMCRAWL_ROBOTS_PAUSE"))
        self.left_alone = False
        self._concurrency = crawler.settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        self._asked_at = inf

    def test(self) -> Callable[[str], bool]:
        """Return a test of whether a request may be sent to an origin now.

        A host whose delay cannot be over is not free: its request would wait in the downloader,
        where it takes the place of one to another host. The engine asks again when it may be over.
        """
        has_room = self._room()
        self.left_alone = False
        others = bool(self._crawler.engine.downloader.active)

        def free(origin: str) -> bool:
            nonlocal others
            parts = urlsplit(origin)
            if pause := self.unreachable.wait(parts.netloc):
                enough = self.unreachable.asked_enough(parts.netloc)
                others |= not enough
                self.left_alone = not others
                self.ask_again(pause)
                return False
            others, self.left_alone = True, False
            return has_room(parts.hostname or "")

        return free

    def idle(self, busy: Container[str]) -> Callable[[str], bool]:
        """Return such a test for requisites: hosts with waiting pages are not free."""
        has_room = self._room()

        def idle(origin: str) -> bool:
            host = urlsplit(origin).hostname or ""
            return host not in busy and has_room(host)

        return idle

    def _room(self) -> Callable[[str], bool]:
        """Return a test of whether one more request may be sent to a host now."""
        downloader = self._crawler.engine.downloader
        busy = Counter(downloader.get_slot_key(request) for request in downloader.active)
        now = monotonic()

        def has_room(host: str) -> bool:
            slot = downloader.slots.get(host)
            if slot is None:
                most = self._concurrency if not downloader._delay else 1
            else:
                most = slot.concurrency if not slot.delay else 1
                shortest = slot.delay * (1 - min(slot.jitter, 1.0))  # the slot draws one each time
                wait = slot.lastseen + shortest - now
                if wait > 0 and slot.delay:
                    self.ask_again(wait)
                    return False
            return busy[host] < most

        return has_room

    def ask_again(self, seconds: float) -> None:
        """Make the engine ask for a request after some time, unless it will before."""
        due = monotonic() + seconds
        if due < self._asked_at:
            self._asked_at = due
            call_later(seconds, self.ask)

    def ask(self) -> None:
        """Make the engine ask for a request as soon as possible."""
        self._asked_at = inf
        slot = self._crawler.engine._slot
        if slot is not None:
            slot.nextcall.schedule()


# -- Robots.txt files of any size and make, read at a bounded cost --------------------------------

LIMIT = 500 * 1024
"""How many bytes of a robots.txt are read (RFC 9309, 2.5)."""

_LARGE = 32 * 1024
_MOST_NAMES = 16
_USER_AGENT = re.compile(r"(?im)^([ \t]*user[- \t]*agent[ \t]*:?[ \t]*)([^\r\n#]+)")


class RobotsTxtParser(RobotParser):
    """Protego's rules of the first 500 KiB of a robots.txt, a line that is cut in two left out.

    Rules take some 30 times the memory of the text, so those of large files are kept for a few
    hosts only and made again when they are needed.
    """

    def __init__(self, body: bytes) -> None:
        if len(body) > LIMIT:
            body = body[: max(body.rfind(end, 0, LIMIT) for end in (b"\n", b"\r")) + 1]
        self._text = as_utf8(body).decode("utf-8", "replace")
        self._rules = _rules_of_large if len(self._text) > _LARGE else _rules_of_small

    @classmethod
    def from_crawler(cls, crawler: "Crawler", robotstxt_body: bytes) -> Self:
        return cls(robotstxt_body)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Return whether a user agent may fetch a URL."""
        name = to_unicode(user_agent)
        return self._rules(self._text, name).can_fetch(to_unicode(url), name)

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """Return the seconds a user agent is asked to wait, None without such a line."""
        name = to_unicode(user_agent)
        return self._rules(self._text, name).crawl_delay(name)


def _rules(text: str, user_agent: str) -> Protego:
    """Return the rules of a text for one user agent.

    Every rule is kept once for each name its group is for. Names of others become one name, and of
    our own the longest are left, so that there are not as many rules as names times lines.
    """
    agent = user_agent.lower()
    names = {match[2].strip().lower() for match in _USER_AGENT.finditer(text)}
    ours = {name for name in names if name.replace("*", "") in agent} - {"*"}
    kept = {"*", *nlargest(_MOST_NAMES, ours, len)}

    def with_our_names(match: re.Match[str]) -> str:
        return match[0] if match[2].strip().lower() in kept else f"{match[1]}-"

    return Protego.parse(_USER_AGENT.sub(with_our_names, text))


_rules_of_small = lru_cache(maxsize=1024)(_rules)
_rules_of_large = lru_cache(maxsize=4)(_rules)
