"""When reported pages become durable: every second, once the archive holds the pages; the first
page at once, since somebody who began the crawl looks for it.

The crawl learns from a page while the page is being stored, so the next links benefit from it and
the archive can store many pages at once. A page must not count as crawled before the archive has
it. So a commit waits until all reported pages are stored, and further reports wait for the commit.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from scrapy.exceptions import DropItem
from scrapy.utils.asyncio import create_looping_call
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

_SECONDS = 1.0
_REPORTS = 100


class Commits:
    """Commits reports at the right time.

    Args:
        commit: makes durable what was reported; returns whether it could.
        not_stored: called with a reported page that could not be stored, and why.
    """

    def __init__(
        self, commit: Callable[[], bool], not_stored: Callable[[int, str], object]
    ) -> None:
        self._commit, self._not_stored = commit, not_stored
        self._clock = create_looping_call(self._falls_due)
        self._reports, self._most = 0, 1  # of the first commit; then _REPORTS
        self._is_due = False
        self._storing: Counter[int] = Counter()
        self._reported: set[int] = set()  # of those that are being stored
        self._refused: dict[int, str] = {}
        self._held: list[Callable[[], object]] = []

    def begin(self) -> None:
        """Commit from now on."""
        self._clock.start(_SECONDS, now=False)

    def end(self) -> None:
        """Stop committing by the clock."""
        if self._clock.running:
            self._clock.stop()

    @property
    def under_way(self) -> bool:
        """Whether reports wait for a commit, or pages are being stored: one may yet fail."""
        return bool(self._held or self._storing)

    def hold(self, link: int, report: Callable[[], object]) -> bool:
        """Keep a report until the commit that is due, if it is to come after; tell whether."""
        if not self._is_due or link not in self._storing:
            return False
        self._held.append(report)
        return True

    def refusal(self, link: int) -> str | None:
        """Return why a page could not be stored before it was reported; None if it could."""
        return self._refused.pop(link, None)

    def reports(self, link: int) -> None:
        """Record that a page is being reported: no commit before it is stored."""
        if link in self._storing:
            self._reported.add(link)

    def count(self) -> None:
        """Count a report that was made."""
        self._reports += 1
        if self._is_due or self._reports >= self._most:
            self._falls_due()

    def stores(self, link: int, stored: Deferred[Any]) -> None:
        """Record that a page that was not reported yet is being stored."""
        self._storing[link] += 1
        stored.addBoth(self._end_storing, link)

    def _end_storing(self, outcome: object, link: int) -> None:
        if isinstance(outcome, Failure):
            if outcome.check(DropItem):  # type: ignore[no-untyped-call]
                return  # the archive has failed: nothing more is committed
            reason = str(outcome.value)[:200]
            if link in self._reported:
                self._not_stored(link, reason)
            else:
                self._refused[link] = reason
        self._storing -= Counter({link})
        if link not in self._storing:
            self._reported.discard(link)
        if self._is_due:
            self._falls_due()

    def _falls_due(self) -> None:
        self._is_due = True
        if self._reported or not self._commit():
            return
        self._most = _REPORTS if self._reports else self._most
        self._is_due, self._reports = False, 0
        held, self._held = self._held, []
        for report in held:
            report()
