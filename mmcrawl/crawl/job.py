"""One crawl, without the network: frontier, scoring, topic test and findings working together.

Whoever fetches pages (Scrapy's scheduler here, anything in a test) asks for the `next` link and
reports what became of it; all that follows from the report becomes durable in one commit.
"""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from mmcrawl.crawl.history import (
    MovedSeeds,
    noted,
    recall,
    recall_words,
    rules_changed,
    tell_elsewhere,
)
from mmcrawl.crawl.intake import Judge, LinkIntake, media_page, page_record, seed_link
from mmcrawl.crawl.listed import LinksBehind
from mmcrawl.crawl.reports import (
    HARVEST_PAGES,
    FetchedPage,
    PageElsewhere,
    PageReport,
    Partition,
    RecentHarvest,
    Reporter,
    Totals,
)
from mmcrawl.errors import StoreError
from mmcrawl.frontier.admission import REDIRECT, Admission, Limits, Sites
from mmcrawl.frontier.aliases import ALIAS, BEHIND, Aliases
from mmcrawl.frontier.findings import (
    BarrenPart,
    BoilerplateMedia,
    Findings,
    MediaPageRecord,
    NearMiss,
    PatternRecord,
)
from mmcrawl.frontier.ranking import ALL
from mmcrawl.frontier.records import NewLink, PageRecord, Status, WaitingLink
from mmcrawl.frontier.sqlite import SqliteFrontier
from mmcrawl.frontier.store import Job, SqliteStore
from mmcrawl.page.dynamic import promises_media
from mmcrawl.page.media import media_kind
from mmcrawl.page.model import IN_PLAYLIST, LISTED_PATHS, SHOWN_PLAYLIST, Linking, Page
from mmcrawl.scoring.base import CrawledPage, Scorer, scores_after
from mmcrawl.scoring.pinned_rules import PinnedRules
from mmcrawl.scoring.relevance import Verdict
from mmcrawl.topic.topic import Topic

logger = logging.getLogger(__name__)

_PAGES_BETWEEN_CHECKPOINTS = 500
_PAGES_LOOKED_THROUGH = 200_000  # for the last ones; it takes a second
_MOST_POINTLESS_LINKS = 200
_SURELY = 1e-6  # share of the way from the threshold to 1


class CrawlJob:
    """The state of a crawl, and what happens with each page.

    Args:
        store: an open store.
        job: which job of the store this is; one that was begun goes on where it stood.
        reporter: makes the reports of pages; what its similarity counts is kept with the job.
        make_scorer: makes the algorithm, given the frontier to look links up in.
        limits: which links may be followed.
        seeds: addresses the crawl starts from, in order. Hosts they redirect to count as theirs.
        obey_nofollow: leave links alone that the page asks not to follow.
        links: which are to be followed, see `SqliteFrontier`. A job may go on with others.
        rules: which links come first, and which never. A job may go on with others.
        partition: what makes it a part of a larger crawl, if it is one. Words of pages, and what is
            noted of rules, are kept by who has all parts.

    Attributes:
        shared: False, other than of a crawl that several processes work on.
        interrupted: whether the last `next` gave up early, see there.
        moved_seeds: the hosts that seeds turned out to redirect to.
    """

    shared = False

    def __init__(
        self,
        store: SqliteStore,
        job: Job,
        *,
        reporter: Reporter,
        make_scorer: Callable[[SqliteFrontier], Scorer],
        limits: Limits,
        seeds: Sequence[str],
        obey_nofollow: bool = True,
        links: str = ALL,
        rules: PinnedRules | None = None,
        partition: Partition | None = None,
    ) -> None:
        self.store = store
        self.job = job
        self.frontier = SqliteFrontier(
            store,
            job,
            links,
            rules.weight_of if rules else None,
            elsewhere=partition.elsewhere if partition else None,
            siblings=partition.siblings if partition else 1,
        )
        self.findings = Findings(store, job)
        self.scorer = make_scorer(self.frontier)
        self._is_part = partition is not None
        self._is_elsewhere = partition.elsewhere if partition else lambda url: False
        if partition is not None and partition.link_model is not None:
            self.scorer.load_model(partition.link_model)
        self.interrupted = False
        self.reporter = reporter
        seeds = [reporter.real(seed) for seed in seeds]
        self._admission = Admission(limits, partition.sites if partition else seeds)
        self.moved_seeds = MovedSeeds(self.frontier, self._admission.sites, reporter.test)
        self._aliases = Aliases(self.frontier)
        self._intake = LinkIntake(
            self.frontier, self._admission, self.scorer, self._aliases, obey_nofollow=obey_nofollow
        )
        self._listed = self._intake.listed
        self.refused = self._intake.refused
        self._test, self._similarity = reporter.test, reporter.similarity
        self._judge = Judge(self._test, BoilerplateMedia(store, job), self.frontier, self.findings)
        self._patterns = self.findings.patterns()
        self._recent = RecentHarvest()
        if partition is None and self.frontier.pages <= _PAGES_LOOKED_THROUGH:
            self._recent.recall(self.findings.recent_pages(HARVEST_PAGES))
        self._behind = LinksBehind(self.frontier, self._admission)
        self._rules, self._links = rules or PinnedRules(), links
        self._seeds, self._learnt_links = seeds, partition.learnt_links if partition else None
        if partition is None:
            deque(self.begin(), maxlen=0)

    def begin(self) -> Iterator[int]:
        """Bring all to where the job was left, little by little. Of a part, its owner calls it.

        Yields:
            How many of the links that have ended the algorithm knows of.
        """
        yield from self._recall(self._seeds, self._learnt_links)
        self._add([seed_link(seed) for seed in self._seeds], None)
        self._follow_listed()
        self.commit()

    @property
    def topic(self) -> Topic:
        """What the crawl looks for."""
        return self._test.topic

    @property
    def kinds(self) -> frozenset[str]:
        """The media kinds it looks for."""
        return self._test.kinds

    @property
    def harvest_rate(self) -> float:
        """Share of relevant pages among the last 500 of the crawl, in [0, 1].

        Of a crawl of more pages than are looked through, among those of this run.
        """
        return self._recent.rate

    @property
    def pages(self) -> int:
        """How many pages were crawled, earlier runs of the job included."""
        return self.frontier.pages

    @property
    def algorithm(self) -> str:
        """Name of the algorithm that orders the frontier."""
        return self.scorer.name

    @property
    def more_may_come(self) -> bool:
        """Whether links may come from elsewhere: never, this crawl is this process's own."""
        return False

    def best(self, most: int) -> list[MediaPageRecord]:
        """Return the media pages with the best topic scores."""
        return self.findings.best(most)

    def near_misses(self) -> list[NearMiss]:
        """Return the pages with media a little below the threshold, the best first."""
        return self.findings.near_misses(self._test.threshold)

    def barren_parts(self) -> list[BarrenPart]:
        """Return what took much of the last pages for nothing."""
        return self.findings.barren_parts()

    def media_pages(self) -> Iterator[MediaPageRecord]:
        """Yield the media pages, best topic score first."""
        return self.findings.media_pages()

    def patterns(self) -> list[PatternRecord]:
        """Return the learnt patterns."""
        return self.findings.patterns()

    def error_reasons(self) -> Counter[str]:
        """Return how many links ended in error, by reason."""
        return self.frontier.errors()

    def totals(self) -> Totals:
        """Return where the crawl stands."""
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
        """How many links wait and may be fetched."""
        return self.frontier.ready

    @property
    def kept(self) -> bool:
        """Whether the job can be taken up again by another process."""
        return self.store.path is not None

    @property
    def sites(self) -> Sites:
        """The hosts that the crawl keeps to, and those in private networks that may be asked."""
        return self._admission.sites

    # -- what a fetcher calls -------------------------------------------------------------------

    def watch(
        self,
        *,
        updated: Callable[[], object],
        stopped: Callable[[str], object],
        failed: Callable[[StoreError], object],
        left_alone: Callable[[], bool],
        contents: Mapping[int, str],
    ) -> None:
        """Do nothing: there is nobody else to hear from."""

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
        """Return whether a page is relevant, and why.

        Site-wide media do not count, and a page whose bytes were found at another address of its
        host is not found again. `digest` is the page's `page_digest`.
        """
        return self._judge.verdict(page.url, self._test.signs(page), page.media, digest)

    def with_listed_media(self, page: Page, urls: Sequence[str]) -> Page:
        """Return a page with the media that sitemaps and feeds say it shows.

        Args:
            page: fetched.
            urls: its addresses, those that led to it included.
        """
        return self._listed.with_media(page, urls)

    def linking(self, link: int) -> Linking:
        """Return what led to a link, also over redirects."""
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
        """Take in a fetched page: its record, its links, its media, and what they change.

        Args:
            link: id of the link that led to the page.
            fetched: the page; it is judged now if it was not before.
            requests: further links the spider asked for.

        Returns:
            Whether the page is relevant after all: its media may turn out to be site-wide, or the
            same page may have come in under another address since it was judged.

        Raises:
            ItemError: what pipelines added cannot be kept; nothing was taken in.
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
        """Take in the report of a page; for the rest see `crawled`."""
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
        if not self._is_part:
            self.store.note(self.job.number, self._similarity.note(report.words))
        self._recent.add(link, relevant=verdict.relevant)
        self._follow_listed()
        if self.frontier.pages % _PAGES_BETWEEN_CHECKPOINTS == 0:
            self._remember()
        return verdict.relevant

    def redirected(self, link: int, target: NewLink) -> bool:
        """Note that a link only leads on; tell whether its target is new and may be followed.

        On another site, where it may be a medium: who parses takes nothing else from there.
        """
        real = self.reporter.real(target.url)
        self.moved_seeds.follow(link, real)
        led_by, layers = self.linking(link), (target.physical_layer, target.logical_layer)
        promised = promises_media(led_by.anchor, real, *led_by.urls)
        anywhere = promised or media_kind(real) in self.kinds
        reason = self._admission.refuse(real, *layers, anywhere=anywhere)
        known = self.frontier.lookup(real) not in {None, link}
        self.frontier.leave(link, REDIRECT + real)
        self.frontier.apply(self.scorer.repeated(link) if known else self.scorer.failed(link))
        self._bring_forward(link)
        if reason is not None:
            self.refused[reason] += 1
        added = reason is None and self._add([replace(target, url=real)], link)
        self._follow_listed()
        return bool(added)

    def is_running(self, link: int) -> bool:
        """Return whether a link is being fetched."""
        return self.frontier.is_running(link)

    def referrer(self, link: WaitingLink) -> str | None:
        """Return the address of the page a link was found on, None for a seed."""
        return None if link.parent is None else self.frontier.url(link.parent)

    def retry(self, link: int, request: bytes | None, priority: int) -> None:
        """Let a link that is being fetched wait again."""
        self.frontier.requeue(link, request, priority)

    def failed(self, link: int, reason: str, requests: Sequence[NewLink] = ()) -> None:
        """Note that a link that is being fetched cannot be had, and why.

        `requests` are links the spider asked for all the same.
        """
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
        """Note that a page that was taken in cannot be kept, and why; its links stay."""
        if (page := self.frontier.page(link)) is not None:
            self._take_back([link])
            self.findings.drop_media_page(page[0])
            self.frontier.void(link, reason)

    def add(self, links: Sequence[NewLink]) -> bool:
        """Add links that come from no page; tell whether any of them is new."""
        return bool(self._add(links, None))

    def request_before(self, link: NewLink) -> bytes | None:
        """Return the request in the way of a link's own, see `SqliteFrontier.request_before`."""
        return self.frontier.request_before(link)

    def receive(self, page: PageElsewhere, links: Sequence[NewLink]) -> None:
        """Take in links that were found on a page of another part; those known are left alone."""
        record = PageRecord(
            page.url, "", "", "", page.contains_media, page.relevant, len(links), time.time(),
            topic_score=page.topic_score, new_media=page.new_media,
        )  # fmt: skip
        number = self.frontier.add_elsewhere(record, page.layer)
        found = self._intake.receive(links, number)
        if new := self.frontier.link_from(number, found):
            crawled = CrawledPage(
                number, page.url, page.relevant, page.contains_media, new,
                page.topic_score, page.new_media, page.on_topic,
            )  # fmt: skip
            self.frontier.apply(tell_elsewhere(self.scorer, crawled))

    def page_above(self, link: int) -> PageElsewhere | None:
        """Return what other parts are told of the page that a link is, or was found on.

        None for a link that comes from no page.
        """
        at: int | None = link
        while at is not None and (page := self.frontier.page(at)) is None:
            at = self.frontier.known(at).parent
        if at is None or page is None:
            return None
        url, relevant, media, score, new_media = page
        layer, on_topic = self.frontier.known(at).logical_layer, self._test.on_topic(url, score)
        return PageElsewhere(url, layer, relevant, media, score, new_media, on_topic)

    def commit(self) -> None:
        """Make everything reported so far durable."""
        patterns = self.scorer.patterns()
        if patterns != self._patterns:
            self.findings.keep_patterns(patterns)
            self._patterns = patterns
        self.frontier.commit()

    def stop(self, reason: str, *, finished: bool) -> None:
        """Commit, and note why the crawl stopped and whether the job is done."""
        for remark in self.scorer.remarks():
            logger.warning("%s: %s", self.scorer.name, remark)
        self._remember()
        self.commit()
        self.store.stop_job(self.job.number, reason, finished=finished)

    def roll_back(self) -> None:
        """Give up what was not committed."""
        self.store.roll_back()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    # -- inside ---------------------------------------------------------------------------------

    def _pointless(self, link: WaitingLink) -> str | None:
        """Return why a link is not worth fetching, None if it is."""
        if link.request is None and self._aliases.was_fetched(link.id, link.url):
            return ALIAS
        return self._admission.exhausted(link.url)

    def _bring_forward(self, link: int) -> None:
        """Let the aliases of a link that led to no page wait in their own right."""
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
        """Note that crawled pages called relevant are not.

        One that only leads to media was never called so, whatever is found on it.
        """
        links = [link for link in links if (page := self.frontier.page(link)) and page[1]]
        if not links:
            return
        for link in links:
            self._admission.revised(self.frontier.url(link))
            self._listed.revised(self.frontier.url(link), self.frontier.known(link).tag_path)
        self._recent.revise(links)
        self.frontier.revise(links)
        self.frontier.apply(self.scorer.revised(links))

    def _remember(self) -> None:
        if self._is_part:
            return
        memory = {"similarity": self._similarity.state()} | noted(self._rules, self._links)
        self.store.remember(self.job.number, memory)

    def _recall(self, seeds: Sequence[str], learnt_links: int | None) -> Iterator[int]:
        """Bring all to where the job was left, but for rules and links, which are as given now."""
        if not self._is_part:
            recall_words(self.store, self.job, self._similarity)
        known = self._admission, self.moved_seeds, self._aliases
        yield from recall(
            self.frontier, self.scorer, *known, listed=self._listed, learnt_links=learnt_links
        )
        self.frontier.apply(self.scorer.added(self.frontier.held()))
        if self._is_part:
            return
        given = self._rules, self._links
        if rules_changed(self.store, self.job, *given, seeds, begun=self.pages > 0):
            self._remember()
            if self.ready:  # of a job that was at its end
                self.job = replace(self.job, finished_at=None)
