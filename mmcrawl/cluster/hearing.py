"""What a worker's crawl does when it hears news of the shared store."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Generator
from functools import partial

from mmcrawl.cluster.exchange import Exchange
from mmcrawl.cluster.messages import (
    Arrived,
    Heard,
    Lost,
    Moved,
    News,
    Over,
    SnapshotDue,
    Taken,
    Wanted,
)
from mmcrawl.cluster.mixing import Mixture
from mmcrawl.cluster.own_parts import OwnParts
from mmcrawl.crawl.silent import name_silent
from mmcrawl.errors import StoreError, raise_if_fatal
from mmcrawl.scoring.relevance import TopicTest

logger = logging.getLogger(__name__)

_LONGEST_HEARING = 1.0  # seconds in which news are taken in before anything else is done
_STEPS_AT_ONCE = 50  # of hearing, if there are pages to fetch: links of a part, for one


class Hearing:
    """Takes in news in their order, step by step.

    Args:
        exchange: where they come from.
        parts: of the worker.
        mixture: of what workers learnt.
        test: which looks for the topics of seeds where these have moved to.

    Attributes:
        stopped: is called with the reason when the crawl is over.
        is_over: it is.
        due_snapshots: parts of which snapshots are to be made.
        heard: how many news were taken in.
    """

    def __init__(
        self, exchange: Exchange, parts: OwnParts, mixture: Mixture, test: TopicTest
    ) -> None:
        self.stopped: Callable[[str], object] = lambda reason: None
        self.is_over = False
        self.due_snapshots: set[int] = set()
        self.heard = 0
        self._exchange, self._parts = exchange, parts
        self._mixture, self._test = mixture, test
        self._news: deque[News] = deque()
        self._taking: Generator[None] | None = None
        self._taken = -1

    @property
    def is_done(self) -> bool:
        """Whether all that was heard is taken in."""
        return self._taking is None and not self._news

    def hear(self) -> None:
        """Do what follows from news of the shared store; of much, a part, if pages can be fetched.

        A part that is taken over takes many steps, and what comes after it waits for that; but from
        parts that are lost no page is fetched any more.
        """
        while some := self._exchange.take_news():
            for news in some:
                if isinstance(news, Lost):
                    self._lose(news.part)
                else:
                    self._news.append(news)
        end, steps = time.monotonic() + _LONGEST_HEARING, 0
        while (steps < _STEPS_AT_ONCE or not self._parts.ready) and self._step():
            steps += 1
            if time.monotonic() > end:
                break

    def _step(self) -> bool:
        """Take the next step of what follows from news; tell whether there was one."""
        if self._taking is not None:
            for _ in self._taking:
                return True
            self._taking = None
        if not self._news:
            return False
        self.heard += 1
        self._hear(self._news.popleft())
        return True

    def _hear(self, news: News) -> None:
        match news:
            case Taken():
                self._taking, self._taken = self._take(news), news.part
            case Arrived():
                self._receive(news)
            case Wanted():
                self._parts.choose(news.to, news.active, news.others)
            case SnapshotDue():
                self.due_snapshots.add(news.part)
            case Heard():
                self._mixture.hear(news.learnt, as_own=news.as_own)
            case Moved():
                for host, target in news.hosts:
                    self._parts.sites.admit(target)
                    self._test.moved(host, target)
            case Over():
                self.is_over = True
                name_silent(news.silent)
                self.stopped(news.reason)

    def _lose(self, part: int) -> None:
        """Forget a part, also one that was to be taken over."""
        self.heard += 1
        self._news = deque(
            news for news in self._news if not (isinstance(news, Taken) and news.part == part)
        )
        if self._taking is not None and self._taken == part:
            self._taking.close()
            self._taking = None
        self._parts.forget(part)

    def _take(self, news: Taken) -> Generator[None]:
        """Take a part over, little by little; one that cannot be read is left alone."""
        try:
            yield from self._parts.take(news.part, news.stored, news.taught)
        except (ValueError, LookupError, OverflowError, sqlite3.Error, StoreError) as error:
            raise_if_fatal(error)
            self._parts.forget(news.part)
            why = f"{type(error).__name__}: {error}"
            set_aside = self._exchange.holdings.set_aside
            self._exchange.hand(partial(set_aside, news.part, news.stored.term + 1, why))

    def _receive(self, news: Arrived) -> None:
        """Take in letters; of a part that is another's by now they are left to that one."""
        if news.part not in self._parts.held:
            return
        job = self._parts.job_of(news.part)
        try:
            for letter in news.letters:
                if letter.page is None:
                    job.add(letter.links)
                else:
                    job.receive(letter.page, letter.links)
        except Exception as error:
            raise_if_fatal(error)
            logger.exception("Links for part %d could not be taken in", news.part)
            set_aside = self._exchange.documents.set_aside
            why = f"{type(error).__name__}: {error}"
            self._exchange.hand(partial(set_aside, "mail", news.name, why))
            self._parts.note(news.part)
            return
        self._parts.took_in(news.name, news.part)
