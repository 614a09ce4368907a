"""One crawl, without the network: frontier, scoring, topic test and findings working together.

Whoever fetches pages (Scrapy's scheduler here, anything in a test) asks for the `next` link and
reports what became of it; all that follows from the report becomes durable in one commit.
"""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from mmcrawl.errors import StoreError
from mmcrawl.frontier import (
    TRAP,
    Admission,
    Findings,
    Job,
    Limits,
    LinkScores,
    MediaPageRecord,
    MediaResourceRecord,
    NewLink,
    PageRecord,
    PastFailure,
    Sightings,
    SqliteFrontier,
    SqliteStore,
    WaitingLink,
    host_of,
)
from mmcrawl.page import Link, Page, physical_layer
from mmcrawl.scoring import CrawledPage, LinkSimilarity, LinkText, Scorer, TopicTest, Verdict
from mmcrawl.text import translate_url, url_text
from mmcrawl.topic import Topic

__all__ = ["CrawlJob", "media_page"]

logger = logging.getLogger(__name__)

_PAGES_BETWEEN_CHECKPOINTS = 500
_HARVEST_PAGES = 500
_MOST_POINTLESS_LINKS = 200
_REDIRECT = "redirects to "


class CrawlJob:
    """The state of a crawl and what is done with each page of it.

    Args:
        store: an open store.
        job: which job of the store this is; one that was begun goes on where it stood.
        test: tells whether a page is relevant.
        similarity: scores the words of links; its counts are kept with the job.
        make_scorer: makes the algorithm, given the frontier to look links up in.
        limits: which links may be followed.
        seeds: addresses the crawl starts from, in order. Hosts they redirect to count as theirs.
        aliases: other names of hosts; links to them are followed under the name they stand for.
        obey_nofollow: leave links alone that the page asks not to follow.
        later_blocks: kinds of blocks whose links come later, see `SqliteFrontier`.
    """

    def __init__(
        self,
        store: SqliteStore,
        job: Job,
        *,
        test: TopicTest,
        similarity: LinkSimilarity,
        make_scorer: Callable[[SqliteFrontier], Scorer],
        limits: Limits,
        seeds: Sequence[str],
        aliases: Mapping[str, str] | None = None,
        obey_nofollow: bool = True,
        later_blocks: Mapping[str, float] | None = None,
    ) -> None:
        self.store = store
        self.job = job
        self.frontier = SqliteFrontier(store, job, later_blocks)
        self.findings = Findings(store, job)
        self.scorer = make_scorer(self.frontier)
        self.refused: Counter[str] = Counter()
        self.interrupted = False
        self._moved_seeds: set[int] = set()
        self._sightings = Sightings(store, job)
        self._aliases = dict(aliases or {})
        seeds = [self._real(seed) for seed in seeds]
        self._admission = Admission(limits, seeds)
        self._test = test
        self._similarity = similarity
        self._obey_nofollow = obey_nofollow
        self._patterns = self.findings.patterns()
        self._recent: deque[tuple[int, bool]] = deque(maxlen=_HARVEST_PAGES)
        self._recall()
        self._add([_seed_link(seed) for seed in seeds], None)
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
        """Share of relevant pages among the last 500 crawled in this run, in [0, 1]."""
        found = sum(relevant for _, relevant in self._recent)
        return found / len(self._recent) if self._recent else 0.0

    @property
    def private_allowed(self) -> bool:
        """Whether pages of private networks belong to this crawl."""
        return self._admission.private_allowed

    # -- what a fetcher calls -------------------------------------------------------------------

    def next(self, ready: Callable[[str], bool] = lambda origin: True) -> WaitingLink | None:
        """Take the best link of a host that is `ready` (given its origin) to be fetched.

        A link that has become pointless while it waited, because pages like it hold nothing, is
        marked in error with that reason, and the one after it taken. After many such links None is
        returned although there are more, so that a trap left behind does not hold up everything
        else; `interrupted` tells.
        """
        self.interrupted = False
        for _ in range(_MOST_POINTLESS_LINKS):
            link = self.frontier.next(ready)
            if link is None:
                return None
            self.frontier.apply(self.scorer.started(link.id))
            reason = None if link.parent is None else self._admission.exhausted(link.url)
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
        own = [resource for resource in page.media if resource.url not in self._sightings]
        verdict = self._test.judge(page, own)
        twin = self.frontier.twin(page.url, digest) if verdict.relevant else None
        return replace(verdict, relevant=False, twin=twin) if twin else verdict

    def crawled(
        self,
        link: int,
        page: Page,
        verdict: Verdict | None = None,
        requests: Sequence[NewLink] = (),
        *,
        layer: int = 1,
        digest: int = 0,
        http_status: int = 200,
        link_kinds: Callable[[], Mapping[str, str]] | None = None,
    ) -> bool:
        """Take in a fetched page: its record, its links, its media, and what they change.

        Args:
            link: id of the link that led to the page.
            page: the parsed page.
            verdict: what `judge` said of it; asked now if it was not before.
            requests: further links the spider asked for.
            layer: logical layer of the link.
            digest: the page's `page_digest`.
            http_status: status it came with.
            link_kinds: gives the kind of the block that a link stands in, by its address; asked
                only if there are new links.

        Returns:
            Whether the page is relevant after all: its media may turn out to be site-wide, or the
            same page may have come in under another address since it was judged.
        """
        visited_at = time.time()
        self._see_media(page, link)
        if verdict is None or verdict.relevant:
            verdict = self.judge(page, digest)
        if verdict.relevant:
            self.findings.add_media_page(media_page(page, verdict, http_status, visited_at))
        words = self._similarity.observe(page)
        links = self._links_of(page, link, layer, link_kinds)
        links += [number for number, _ in self.frontier.add(list(requests), link)]
        record = PageRecord(
            url=page.url,
            title=page.title,
            keywords=page.keywords,
            description=page.description,
            contains_media=bool(verdict.media),
            relevant=verdict.relevant,
            links_on_page=len(page.links),
            visited_at=visited_at,
            digest=digest,
            topic_score=verdict.score,
        )
        links = list(dict.fromkeys(links))
        self.frontier.complete(link, record, links)
        self._admission.crawled(page.url, relevant=verdict.relevant)
        crawled = CrawledPage(
            link, page.url, verdict.relevant, bool(verdict.media), links, verdict.score
        )
        self.frontier.apply(self._scores_after(crawled))
        self.store.note(self.job.number, self._similarity.note(words))
        self._recent.append((link, verdict.relevant))
        if self.frontier.pages % _PAGES_BETWEEN_CHECKPOINTS == 0:
            self._remember()
        return verdict.relevant

    def redirected(self, link: int, target: NewLink) -> bool:
        """Note that a link only leads on; tell whether its target is new and may be followed."""
        real = self._real(target.url)
        self._follow_seed(link, real)
        reason = self._admission.refuse(real, target.physical_layer, target.logical_layer)
        self.frontier.leave(link, _REDIRECT + real)
        self.frontier.apply(self.scorer.failed(link))
        if reason is not None:
            self.refused[reason] += 1
            return False
        return self.add([replace(target, url=real)], link)

    def retry(self, link: int, request: bytes | None, priority: int) -> None:
        """Let a link that is being fetched wait again."""
        self.frontier.requeue(link, request, priority)

    def failed(self, link: int, reason: str) -> None:
        """Note that a link that is being fetched cannot be had, and why."""
        self._count_failure(self.frontier.url(link), reason)
        self.frontier.fail(link, reason)
        self.frontier.apply(self.scorer.failed(link))

    def add(self, links: Sequence[NewLink], parent: int | None = None) -> bool:
        """Add links that come from no page; tell whether any of them is new."""
        return bool(self._add(links, parent))

    def commit(self) -> None:
        """Make everything reported so far durable."""
        patterns = self.scorer.patterns()
        if patterns != self._patterns:
            self.findings.keep_patterns(patterns)
            self._patterns = patterns
        self.frontier.commit()

    def stop(self, reason: str, *, finished: bool) -> None:
        """Commit, and note why the crawl stopped and whether the job is done."""
        self._remember()
        self.commit()
        self.store.stop_job(self.job.number, reason, finished=finished)

    # -- inside ---------------------------------------------------------------------------------

    def _add(self, links: Sequence[NewLink], parent: int | None) -> list[int]:
        new = [number for number, is_new in self.frontier.add(links, parent) if is_new]
        self.frontier.apply(self.scorer.added(new))
        return new

    def _links_of(
        self,
        page: Page,
        parent: int,
        layer: int,
        link_kinds: Callable[[], Mapping[str, str]] | None,
    ) -> list[int]:
        """Add the links of a page that may be followed; return the ids of all such links."""
        if self._obey_nofollow and page.nofollow:
            self.refused["nofollow"] += len(page.links)
            return []
        known, new = [], []
        kinds: Mapping[str, str] | None = None
        for link in page.links:
            url = self._real(link.url)
            number = self.frontier.lookup(url)
            if number is not None:
                known.append(number)
                continue
            if self._obey_nofollow and link.nofollow:
                self.refused["nofollow"] += 1
                continue
            depth = physical_layer(url)
            reason = self._admission.refuse(url, depth, layer + 1)
            if reason is None:
                if kinds is None:
                    kinds = link_kinds() if link_kinds else {}
                block = kinds.get(link.url, "")
                new.append(self._new_link(page, link, url, depth, layer=layer + 1, block=block))
            else:
                self.refused[reason] += 1
        return known + [number for number, _ in self.frontier.add(new, parent)]

    def _new_link(
        self, page: Page, link: Link, url: str, depth: int, *, layer: int, block: str
    ) -> NewLink:
        title = page.groups[link.group].title if link.group >= 0 else ""
        words = LinkText(link.anchor, url_text(url), title, link.from_script)
        return NewLink(
            url=url,
            anchor=link.anchor,
            group_title=title,
            url_words=" ".join(translate_url(url)),
            logical_layer=layer,
            physical_layer=depth,
            content_score=self.scorer.content(words),
            block=block,
        )

    def _see_media(self, page: Page, link: int) -> None:
        """Count the page's media; take back pages whose only media turn out to be site-wide.

        `link` is the page itself, which is not crawled yet.
        """
        wanted = [r.url for r in page.media if r.kind in self._test.kinds]
        site_wide = self._sightings.add(page.url, wanted)
        if not site_wide:
            return
        lost = []
        for record in self.findings.pages_showing(site_wide):
            left = tuple(r for r in record.resources if r.url not in self._sightings)
            if left:
                self.findings.add_media_page(record.with_resources(left))
                continue
            self.findings.drop_media_page(record.url)
            number = self.frontier.lookup(record.url)
            if number is not None:
                lost.append(number)
        for number in lost:
            self._admission.revised(self.frontier.url(number))
        for resource in site_wide:
            logger.info("%s stands on most pages of its site and counts for none", resource)
        recent = ((link, relevant and link not in lost) for link, relevant in self._recent)
        self._recent = deque(recent, maxlen=_HARVEST_PAGES)
        self.frontier.revise(lost)
        self.frontier.apply(self.scorer.revised(lost))

    def _real(self, url: str) -> str:
        """Return `url` under the real name of its host."""
        if not self._aliases:
            return url
        parts = urlsplit(url)
        host = self._aliases.get(parts.netloc)
        return parts._replace(netloc=host).geturl() if host else url

    def _remember(self) -> None:
        self.store.remember(self.job.number, {"similarity": self._similarity.state()})

    def _recall(self) -> None:
        """Bring the scorer and the bounds to where they stood when the job was left."""
        memory = self.store.memory(self.job.number)
        if state := memory.get("similarity"):
            self._similarity.restore(state)
        for note in self.store.notes(self.job.number):
            self._similarity.take_note(note)
        self.scorer.added(self.frontier.without_parent())
        for past in self.frontier.history():
            self.scorer.started(past.id)
            if isinstance(past, PastFailure):
                self.scorer.failed(past.id)
                self._count_failure(past.url, past.error)
                if past.error.startswith(_REDIRECT):
                    self._recall_redirect(past.id, past.error.removeprefix(_REDIRECT))
            else:
                self.scorer.crawled(
                    CrawledPage(
                        past.id,
                        past.url,
                        past.relevant,
                        past.contains_media,
                        past.links,
                        past.topic_score,
                    )
                )
                self._admission.crawled(past.url, relevant=past.relevant)
        self.scorer.added(self.frontier.waiting())
        self.frontier.apply(self.scorer.added(self.frontier.held()))

    def _recall_redirect(self, link: int, target: str) -> None:
        self._follow_seed(link, target)
        number = self.frontier.lookup(target)
        if number is not None and self.frontier.known(number).parent == link:
            self.scorer.added([number])

    def _scores_after(self, page: CrawledPage) -> LinkScores:
        """Return what the algorithm says to a page; one that fails there loses no link."""
        try:
            return self.scorer.crawled(page)
        except StoreError:
            raise
        except Exception:
            logger.exception("Algorithm %s failed at %s", self.scorer.name, page.url)
            nothing = [0.0] * len(page.links)
            return LinkScores(list(page.links), nothing, nothing)

    def _follow_seed(self, link: int, target: str) -> None:
        """Take the host a seed redirects to, at once or by steps, for one of the crawl's."""
        known = self.frontier.known(link)
        if known.parent is None or known.parent in self._moved_seeds:
            self._moved_seeds.add(link)
            self._admission.admit(target)
            self._test.moved(host_of(known.url), host_of(target))

    def _count_failure(self, url: str, reason: str) -> None:
        """Count a page that cannot be had against the bounds: dead links can be endless too."""
        if not reason.startswith((TRAP, _REDIRECT)):
            self._admission.crawled(url, relevant=False)


def media_page(
    page: Page, verdict: Verdict, http_status: int, visited_at: float
) -> MediaPageRecord:
    """Return the record of a relevant page with its media (the paper's MultiMedia)."""
    return MediaPageRecord(
        url=page.url,
        title=page.title,
        topic_score=verdict.score,
        words=verdict.words,
        status=http_status,
        visited_at=visited_at,
        resources=tuple(MediaResourceRecord(r.url, r.kind, r.tag, r.text) for r in verdict.media),
    )


def _seed_link(url: str) -> NewLink:
    return NewLink(url, url_words=" ".join(translate_url(url)), physical_layer=physical_layer(url))
