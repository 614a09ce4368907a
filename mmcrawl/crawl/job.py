"""One crawl, without the network: frontier, scoring, topic test and findings working together.

The fetcher (Scrapy's scheduler, or a test) asks for the `next` link and reports the outcome;
everything that follows from the report becomes durable in one commit.
"""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from mmcrawl.crawl.history import MovedSeeds, noted, recall, recall_words, rules_changed, why_silent
from mmcrawl.crawl.intake import Judge, LinkIntake, media_page, page_record, seed_link
from mmcrawl.crawl.listed import LinksBehind
from mmcrawl.crawl.protocol import (
    HARVEST_PAGES,
    FetchedPage,
    PageReport,
    RecentHarvest,
    Reporter,
    Totals,
)
from mmcrawl.crawl.setup import CrawlSetup
from mmcrawl.frontier.admission import REDIRECT, Admission, Sites
from mmcrawl.frontier.aliases import ALIAS, BEHIND, Aliases
from mmcrawl.frontier.findings import (
    BarrenDirectory,
    BoilerplateMedia,
    Findings,
    MediaPageRecord,
    NearMiss,
    PatternRecord,
)
from mmcrawl.frontier.records import NewLink, Status, WaitingLink
from mmcrawl.frontier.sqlite import SqliteFrontier
from mmcrawl.frontier.store import Job, SqliteStore
from mmcrawl.page.media import media_kind
from mmcrawl.page.model import (
    IN_PLAYLIST,
    LISTED_PATHS,
    SHOWN_PLAYLIST,
    Linking,
    Page,
    promises_media,
)
from mmcrawl.scoring.base import CrawledPage, scores_after
from mmcrawl.scoring.relevance import Verdict
from mmcrawl.topic.topic import Topic

logger = logging.getLogger(__name__)

_PAGES_BETWEEN_CHECKPOINTS = 500
_PAGES_LOOKED_THROUGH = 200_000  # for the last ones; it takes a second
_MOST_POINTLESS_LINKS = 200
_SURELY = 1e-6  # share of the way from the threshold to 1


class CrawlJob:
    """The state of a crawl, and the processing of each page; `Crawl` is the interface.

    Args:
        job: the job in the store; one that has begun continues where it stopped.
        setup: what it is made of. A job may continue with other links to be followed, and rules.
        reporter: makes the reports of pages, and keeps its counts of words with the job; None for
            one of its own.
        seeds: addresses the crawl starts from, in order, if not at all of the setup's. Hosts they
            redirect to count as theirs.
        sites, elsewhere, siblings: of a larger crawl that this is a part of: the hosts that it
            keeps to, what tells of an address whether it belongs to another part, and among how
            many parts of this process memory is divided.

    Attributes:
        moved_seeds: the hosts that seeds turned out to redirect to.
    """

    round_trips = 0

    def __init__(
        self,
        store: SqliteStore,
        job: Job,
        setup: CrawlSetup,
        *,
        reporter: Reporter | None = None,
        seeds: Sequence[str] | None = None,
        sites: Sites | None = None,
        elsewhere: Callable[[str], bool] | None = None,
        siblings: int = 1,
    ) -> None:
        self.store, self.job, self._setup = store, job, setup
        reporter = self.reporter = reporter or setup.reporter()
        self.frontier = SqliteFrontier(
            store,
            job,
            setup.links,
            setup.rules.weight_of if setup.rules else None,
            elsewhere=elsewhere,
            siblings=siblings,
        )
        self.findings = Findings(store, job)
        self.scorer = setup.scorer(self.frontier, reporter.similarity)
        self._is_elsewhere = elsewhere or (lambda url: False)
        self.interrupted = False  # whether the last `next` gave up early, see there
        self._seeds = [reporter.real(seed) for seed in (setup.seeds if seeds is None else seeds)]
        self._admission = Admission(setup.limits, sites or self._seeds)
        self.moved_seeds = MovedSeeds(self.frontier, self._admission.sites, reporter.test)
        self._aliases = Aliases(self.frontier)
        self._intake = LinkIntake(
            self.frontier,
            self._admission,
            self.scorer,
            self._aliases,
            obey_nofollow=setup.obey_nofollow,
        )
        self._listed = self._intake.listed
        self.refused = self._intake.refused
        self._test, self._similarity = reporter.test, reporter.similarity
        self._judge = Judge(self._test, BoilerplateMedia(store, job), self.frontier, self.findings)
        self._patterns = self.findings.patterns()
        self._recent = RecentHarvest()
        self._behind = LinksBehind(self.frontier, self._admission)
        self._contents: Mapping[int, str] = {}
        self._start()

    def _start(self) -> None:
        deque(self.begin(), maxlen=0)

    def begin(self) -> Iterator[int]:
        """Restore the state in which the job was left; yield how many links the algorithm has."""
        yield from self._recall()
        self._add([seed_link(seed) for seed in self._seeds], None)
        self._follow_listed()
        self.commit()

    @property
    def topic(self) -> Topic:
        return self._test.topic

    @property
    def kinds(self) -> frozenset[str]:
        return self._test.kinds

    @property
    def harvest_rate(self) -> float:
        """Share of relevant pages among the last 500 of the crawl, or of this run, in [0, 1]."""
        return self._recent.rate

    @property
    def pages(self) -> int:
        return self.frontier.pages

    @property
    def algorithm(self) -> str:
        return self.scorer.name

    @property
    def more_may_come(self) -> bool:
        return False

    def best(self, most: int) -> list[MediaPageRecord]:
        return self.findings.best(most)

    def near_misses(self) -> list[NearMiss]:
        return self.findings.near_misses(self._test.threshold)

    def barren_directories(self) -> list[BarrenDirectory]:
        return self.findings.barren_directories()

    def media_pages(self) -> Iterator[MediaPageRecord]:
        return self.findings.media_pages()

    def patterns(self) -> list[PatternRecord]:
        return self.findings.patterns()

    def error_reasons(self) -> Counter[str]:
        return self.frontier.errors()

    def totals(self) -> Totals:
        counts, media = self.frontier.counts, self.findings.counts()
        return Totals(
            pages=self.frontier.pages,
            media_pages=media.pop("pages"),
            media=media,
            harvest_rate=self.harvest_rate,
            waiting=self.frontier.ready,
            held=counts[Status.WAITING] - self.frontier.ready,
            patterns=len(self.scorer.patterns()),
            errors=counts[Status.ERROR],
            refused=dict(self.refused),
        )

    @property
    def ready(self) -> int:
        return self.frontier.ready

    @property
    def kept(self) -> bool:
        return self.store.path is not None

    @property
    def sites(self) -> Sites:
        return self._admission.sites

    # -- what a fetcher calls -------------------------------------------------------------------

    def watch(self, *, contents: Mapping[int, str], **_: object) -> None:
        self._contents = contents  # there is nobody else to hear from

    def is_full(self, most: int, under_way: int) -> bool:
        return 0 < most <= self.pages + under_way

    def silent(self) -> list[str] | None:
        return why_silent(self.frontier, self._contents)

    def next(self, ready: Callable[[str], bool] = lambda origin: True) -> WaitingLink | None:
        """Take the best link of a host that is `ready` (given its origin) to be fetched.

        A link that has become pointless while it waited, because pages like it hold nothing, is
        marked in error with that reason, and the one after it taken; one whose area brought little
        so far waits again, behind those of others. After many such links None is
        returned although there are more, so that a trap left behind does not hold up everything
        else; `interrupted` tells.
        """
        self.interrupted = False
        for _ in range(_MOST_POINTLESS_LINKS):
            link = self.frontier.next(ready)
            if link is None:
                return None
            if self._behind.falls(link):
                continue
            self.frontier.apply(self.scorer.started(link.id))
            reason = None if link.parent is None else self._pointless(link)
            if reason is None:
                return link
            self.failed(link.id, reason)
        self.interrupted = True
        return None

    def judge(self, page: Page, digest: int = 0) -> Verdict:
        """Return whether a page is relevant, and why; `digest` is its `page_digest`."""
        return self._judge.verdict(page.url, self._test.signs(page), page.media, digest)

    def with_listed_media(self, page: Page, urls: Sequence[str]) -> Page:
        """Return a page with the media that lists say its addresses show, redirects included."""
        return self._listed.with_media(page, urls)

    def linking(self, link: int) -> Linking:
        anchor, urls, at = "", list[str](), link
        while True:
            known = self.frontier.known(at)
            anchor, urls = anchor or known.anchor, [known.url, *urls]
            if known.tag_path in LISTED_PATHS:
                return Linking(anchor, tuple(urls))
            if known.parent is None:
                # A seed that is a medium: there is little to read, but somebody has named it.
                least = self._test.threshold
                return Linking(anchor, tuple(urls), score=least + (1 - least) * _SURELY)
            at, is_inner = known.parent, known.tag_path == IN_PLAYLIST
            if not is_inner and (page := self.frontier.page(at)) is not None:
                url, score, title = page[0], page[3], self.frontier.title(at)
                return Linking(anchor, tuple(urls), url, title, score, self._is_elsewhere(url))

    def crawled(self, link: int, fetched: FetchedPage, requests: Sequence[NewLink] = ()) -> bool:
        """Record a fetched page: its links, its media, and what they change.

        Args:
            fetched: the page; it is judged now if it was not before.

        Returns:
            Whether the page is relevant after all: its media may turn out to be site-wide, or the
            same page may have come in under another address since it was judged.

        Raises:
            ItemError: what pipelines added cannot be stored; nothing was recorded.
        """
        report = self.reporter.report(fetched, time.time())
        return self.take_in(link, report, requests, fetched.verdict)

    def take_in(
        self,
        link: int,
        report: PageReport,
        requests: Sequence[NewLink] = (),
        verdict: Verdict | None = None,
    ) -> bool:
        """Record the report of a page; see `crawled`."""
        page = report.page
        self._take_back(self._judge.see(page, report.digest))
        verdict = self._judge.confirmed(verdict, report)
        if verdict.relevant:
            said = self._listed.media(page.url, self.frontier.url(link))
            self._take_back(self._judge.hand_over(said))
        new_media = self.findings.count_new(verdict.media) if verdict.relevant else 0
        if verdict.relevant:
            found = media_page(page, verdict, report.http_status, report.visited_at, report.extra)
            self.findings.add_media_page(self._judge.on_its_page(found, page.led_by))
        self._similarity.count(report.words)
        known = self.frontier.known(link)
        if known.tag_path == SHOWN_PLAYLIST:  # the page that shows it counts already
            verdict = replace(verdict, relevant=False)
        if not self._admission.expands(verdict.score, known.logical_layer):
            self.refused["page off topic"] += len(page.links) + report.links_left
            report = replace(report, page=replace(page, links=()), links_left=0)
        for target in report.page.links:
            if target.is_move:
                self.moved_seeds.follow(link, target.url, stays=True)
        links = self._intake.take(report, link, requests, verdict.media if verdict.relevant else ())
        self.frontier.complete(link, page_record(report, verdict, new_media), links)
        self._aliases.crawled(link, self.frontier.url(link))
        if self._admission.crawled(page.url, relevant=verdict.relevant):
            self._behind.lift()
        has_media, on_topic = bool(verdict.media), self._test.on_topic(page.url, verdict.score)
        crawled = CrawledPage(
            link, page.url, verdict.relevant, has_media, links, verdict.score, new_media, on_topic
        )
        self.frontier.apply(scores_after(self.scorer, crawled))
        self._listed.crawled(page.url, known.tag_path, relevant=verdict.relevant)
        self._note_words(report)
        self._recent.add(link, relevant=verdict.relevant)
        self._follow_listed()
        if self.frontier.pages % _PAGES_BETWEEN_CHECKPOINTS == 0:
            self._remember()
        return verdict.relevant

    def redirected(self, link: int, target: NewLink) -> bool:
        """Record that a link redirects; return whether its target is new and may be followed."""
        real = self.reporter.real(target.url)
        self.moved_seeds.follow(link, real)
        led_by, layers = self.linking(link), (target.physical_layer, target.logical_layer)
        promised = promises_media(led_by.anchor, real, *led_by.urls)
        anywhere = promised or media_kind(real) in self.kinds
        reason = self._admission.refuse(real, *layers, anywhere=anywhere)
        known = self.frontier.lookup(real) not in {None, link}
        is_mere = self.frontier.request_before(NewLink(self.frontier.url(link))) == b""
        if is_mere and self._aliases.was_fetched(link, real):
            target = replace(target, request=None)  # left out in its turn, as if it were linked
        self.frontier.leave(link, REDIRECT + real)
        self.frontier.apply(self.scorer.repeated(link) if known else self.scorer.failed(link))
        self._bring_forward(link)
        if reason is not None:
            self.refused[reason] += 1
        if real != target.url:  # a request for the other name is none for this one
            target = replace(target, url=real, request=None)
        added = reason is None and self._add([target], link)
        self._follow_listed()
        return bool(added)

    def is_running(self, link: int) -> bool:
        return self.frontier.is_running(link)

    def referrer(self, link: WaitingLink) -> str | None:
        return None if link.parent is None else self.frontier.url(link.parent)

    def retry(self, link: int, request: bytes | None, priority: int) -> None:
        self.frontier.requeue(link, request, priority)

    def failed(self, link: int, reason: str, requests: Sequence[NewLink] = ()) -> None:
        """Record that a link failed, and why; `requests` are links the spider still asks for."""
        self.frontier.fail(link, reason)
        if reason == ALIAS:
            self.frontier.apply(self.scorer.repeated(link))
            return
        self._admission.failed(self.frontier.url(link), reason)
        self.frontier.apply(self.scorer.failed(link))
        self._bring_forward(link)
        if requests:
            self._add(requests, link)
        self._follow_listed()

    def not_stored(self, link: int, reason: str) -> None:
        """Record that a page cannot be stored after all, and why; its links stay."""
        if (page := self.frontier.page(link)) is not None:
            self._take_back([link])
            self.findings.drop_media_page(page[0])
            self.frontier.void(link, reason)

    def add(self, links: Sequence[NewLink]) -> bool:
        return bool(self._add(links, None))

    def request_before(self, link: NewLink) -> bytes | None:
        return self.frontier.request_before(link)

    def commit(self) -> None:
        patterns = self.scorer.patterns()
        if patterns != self._patterns:
            self.findings.keep_patterns(patterns)
            self._patterns = patterns
        self.frontier.commit()

    def stop(self, reason: str, *, finished: bool) -> None:
        for remark in self.scorer.remarks():
            logger.warning("%s: %s", self.scorer.name, remark)
        self._remember()
        self.commit()
        self.store.stop_job(self.job.number, reason, finished=finished)

    def roll_back(self) -> None:
        self.store.roll_back()

    def close(self) -> None:
        self.store.close()

    # -- inside ---------------------------------------------------------------------------------

    def _pointless(self, link: WaitingLink) -> str | None:
        """Return why a link is not worth fetching, None if it is."""
        if link.request is None and self._aliases.was_fetched(link.id, link.url):
            return ALIAS
        return self._admission.exhausted(link.url)

    def _bring_forward(self, link: int) -> None:
        """Queue the aliases of a link that led to no page."""
        for alias in self._aliases.left(link, self.frontier.url(link)):
            self.frontier.prioritise(alias, 0, instead_of=BEHIND)

    def _add(self, links: Sequence[NewLink], parent: int | None) -> list[int]:
        new = [number for number, is_new in self.frontier.add(links, parent) if is_new]
        self.frontier.apply(self.scorer.added(new))
        return new

    def _follow_listed(self) -> None:
        """Add links that only sitemaps and feeds name, when it is their turn."""
        while links := self._intake.take_listed(empty=not self.frontier.ready):
            self.frontier.apply(self.scorer.added(links))

    def _take_back(self, links: Sequence[int]) -> None:
        """Record that crawled pages reported as relevant are not; leads to media never were."""
        links = [link for link in links if (page := self.frontier.page(link)) and page[1]]
        if not links:
            return
        for link in links:
            self._admission.revised(self.frontier.url(link))
            self._listed.revised(self.frontier.url(link), self.frontier.known(link).tag_path)
        self._recent.revise(links)
        self.frontier.revise(links)
        self.frontier.apply(self.scorer.revised(links))

    def _note_words(self, report: PageReport) -> None:
        self.store.note(self.job.number, self._similarity.note(report.words))

    def _remember(self) -> None:
        memory = {"similarity": self._similarity.state()} | noted(
            self._setup.rules, self._setup.links
        )
        self.store.remember(self.job.number, memory)

    def _retell(self, learnt_links: int | None = None) -> Iterator[int]:
        """Restore the state of algorithm and limits, see `recall`."""
        if self.frontier.pages <= _PAGES_LOOKED_THROUGH:
            self._recent.recall(self.findings.recent_pages(HARVEST_PAGES))
        known = self._admission, self.moved_seeds, self._aliases
        yield from recall(
            self.frontier, self.scorer, *known, listed=self._listed, learnt_links=learnt_links
        )
        self.frontier.apply(self.scorer.added(self.frontier.held()))

    def _recall(self) -> Iterator[int]:
        """Restore the state of the job, except rules and followed links, which are as given now."""
        recall_words(self.store, self.job, self._similarity)
        yield from self._retell()
        given = self._setup.rules, self._setup.links
        if rules_changed(self.store, self.job, *given, self._seeds, begun=self.pages > 0):
            self._remember()
            if self.ready:  # of a job that was at its end
                self.job = replace(self.job, finished_at=None)
