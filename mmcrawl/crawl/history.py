"""The history of a crawl's links: the origin of each seed, and a replay of all outcomes.

When a crawl is continued, the algorithm and the limits receive the outcomes again, in order.
"""

import logging
from collections import Counter, deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from itertools import islice
from typing import Any

from mmcrawl.crawl.listed import ListedLinks
from mmcrawl.frontier.admission import REDIRECT, Admission, Sites
from mmcrawl.frontier.aliases import ALIAS, Aliases
from mmcrawl.frontier.database import damaged
from mmcrawl.frontier.interlink import InterLink
from mmcrawl.frontier.ranking import ALL, Ranking
from mmcrawl.frontier.reading import LinkTable, PastFailure, PastPage
from mmcrawl.frontier.records import LinkRecord, LinkScores, Status
from mmcrawl.frontier.sqlite import SqliteFrontier
from mmcrawl.frontier.store import Job, SqliteStore
from mmcrawl.frontier.urls import host_of
from mmcrawl.page.model import MOVE
from mmcrawl.scoring.base import CrawledPage, Scorer, scores_after
from mmcrawl.scoring.link_model import LinkModel
from mmcrawl.scoring.pinned_rules import PinnedRule, PinnedRules
from mmcrawl.scoring.relevance import TopicTest
from mmcrawl.scoring.similarity import LinkSimilarity

_LINKS_AT_ONCE = 50_000  # those of a crawl may be many millions
_SCORED_AT_ONCE = 500  # between two of these others may have their turn

_MOST_MOVED = 5  # places that a page moves a browser to; they are its first links

logger = logging.getLogger(__name__)


class MovedSeeds:
    """The hosts that seeds lead to, directly or in steps: they count among the crawl's own.

    A seed leads on by a redirect, or by what moves a browser from its page.

    Attributes:
        hosts: the hosts of seeds and those they redirect to, as they turned out.
    """

    def __init__(self, frontier: SqliteFrontier, sites: Sites, test: TopicTest) -> None:
        self.hosts: list[tuple[str, str]] = []
        self.test = test  # the one given
        self._frontier, self._sites = frontier, sites
        self._links: set[int] = set()
        self._pages: set[int] = set()

    def follow(self, link: int, target: str, *, stays: bool = False) -> None:
        """Record that a link leads on; with `stays`, from a page that has other links as well."""
        known = self._frontier.known(link)
        is_move = known.tag_path.startswith(MOVE)
        if (
            known.parent is None
            or known.parent in self._links
            or (is_move and known.parent in self._pages)
        ):
            (self._pages if stays else self._links).add(link)
            move = host_of(known.url), host_of(target)
            self._sites.admit(move[1])
            self.test.moved(*move)
            if move[0] != move[1] and move not in self.hosts:
                self.hosts.append(move)


def recall(
    frontier: SqliteFrontier,
    scorer: Scorer,
    admission: Admission,
    moved: MovedSeeds,
    aliases: Aliases,
    *,
    listed: ListedLinks,
    learnt_links: int | None = None,
) -> Iterator[int]:
    """Bring algorithm and bounds to where they stood when the job was left, little by little.

    The scores they answer with are in the frontier already; but those of a part that is taken over
    may be out of date.

    Args:
        learnt_links: for a partition that is taken over: how many of its ended links the model
            learnt from already.

    Yields:
        The number of ended links that the algorithm has received.
    """

    def count(past: PastPage | PastFailure) -> None:
        """Count a link that ended against the bounds of the crawl."""
        if isinstance(past, PastFailure):
            if past.error != ALIAS:
                admission.failed(past.url, past.error)
            if past.error.startswith(REDIRECT):
                moved.follow(past.id, past.error.removeprefix(REDIRECT))
        elif not past.elsewhere:
            for link in past.links[:_MOST_MOVED]:
                target = frontier.known(link)
                if target.parent == past.id and target.tag_path.startswith(MOVE):
                    moved.follow(past.id, target.url, stays=True)
            admission.crawled(past.url, relevant=past.relevant)
            known = frontier.known(past.id)
            listed.recall(past.url, known.tag_path, relevant=past.relevant)
            aliases.learn_parameters(past.id, known.url)

    told = LastScores(scorer) if learnt_links is not None and scorer.link_model is None else scorer
    scorer.silent = learnt_links is not None and scorer.link_model is not None
    try:
        for past in retold(frontier, told, moved.test):
            if isinstance(told, LastScores) and len(told) > _LINKS_AT_ONCE:
                frontier.apply(told.take())
            count(past)
            if scorer.link_model is not None:
                scorer.link_model.is_learning = True  # for others, whose turn it may be
            yield past.settled - 1
            if scorer.link_model is not None:
                scorer.link_model.is_learning = past.settled > (learnt_links or 0)
    finally:
        if scorer.link_model is not None:
            scorer.link_model.is_learning = True
    waiting = frontier.each_waiting()
    scorer.silent = False
    while some := list(islice(waiting, _SCORED_AT_ONCE)):
        scores = told.added(some)
        if learnt_links is not None and told is scorer:
            frontier.apply(scores)
        yield frontier.settled
    if isinstance(told, LastScores):
        frontier.apply(told.take())


def recall_words(store: SqliteStore, job: Job, similarity: LinkSimilarity) -> None:
    """Restore the counts of words; raises StoreError if what the store has of them is damaged."""
    try:
        if state := store.memory(job.number).get("similarity"):
            similarity.restore(state)
        for note in store.notes(job.number):
            similarity.take_note(note)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise damaged(store.name, "its word counts") from error


def noted(rules: PinnedRules, links: str) -> dict[str, Any]:
    """Return what a store keeps of the rules for addresses, and of which links are followed."""
    return {"rules": rules.digest, "pinned": rules.plain(), "links": links}


def noted_rules(store: SqliteStore, job: int) -> tuple[PinnedRules, str]:
    """Return the rules for addresses, and which links were followed, in the last run of a job."""
    memory = store.memory(job)
    rules = (PinnedRule(*fields) for fields in memory.get("pinned", ()))
    return PinnedRules(rules), memory.get("links", ALL)


def looked_at(store: SqliteStore, job: Job) -> InterLink:
    """Return the links of a job as its last run ranked them."""
    rules, links = noted_rules(store, job.number)
    return InterLink(store, job.number, Ranking(links, rules.weight_of if rules else None))


def rules_changed(
    store: SqliteStore,
    job: Job,
    rules: PinnedRules,
    links: str,
    seeds: Sequence[str],
    *,
    begun: bool,
) -> bool:
    """Tell of the rules in the log; return whether other ones, or other links, were noted last."""
    memory = store.memory(job.number)
    changed = bool(memory.get("rules", "") != rules.digest)
    links_before = memory.get("links", ALL)
    if rules:
        logger.info("Rules for addresses that count in this crawl: %d", len(rules.rules))
    if changed and begun:
        logger.info("Rules for addresses have changed since the last run; these count from now on")
    if links != links_before and begun:
        logger.info("links=%s counts from now on; until now it was %s", links, links_before)
    for seed in seeds:
        if rules.weight_of(seed) == 0:
            logger.warning("The seed %s is not fetched: a rule says never", seed)
    return changed or bool(links != links_before)


def retold(links: LinkTable, scorer: Scorer, test: TopicTest) -> Iterator[PastPage | PastFailure]:
    """Tell an algorithm what happened, from the start; yield each link's end before it is told."""
    scorer.added(links.without_parent())
    settled: set[int] = set()
    followed = deque(links.followed())
    for past in links.history():
        yield past
        if isinstance(past, PastFailure):
            scorer.started(past.id)
            _recall_failure(past, links, scorer, settled)
        else:
            on_topic = test.on_topic(past.url, past.topic_score)
            page = CrawledPage.again(past, on_topic=on_topic)
            if past.elsewhere:
                tell_elsewhere(scorer, page)
            else:
                scorer.started(past.id)
                scorer.crawled(page)
        settled.add(past.id)
        while followed and followed[0][0] <= past.settled:
            scorer.added(followed.popleft()[1])


class Overheard(Scorer):
    """An algorithm whose scores are observed while it receives a history."""

    name = "overheard"

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer

    def heard(self, scores: LinkScores) -> None:
        """Record scores that the algorithm returned."""
        raise NotImplementedError

    @property
    def link_model(self) -> LinkModel | None:
        return self.scorer.link_model

    def load_model(self, link_model: LinkModel) -> None:
        self.scorer.load_model(link_model)

    def added(self, links: Iterable[int]) -> LinkScores:
        return self._heard(self.scorer.added(links))

    def started(self, link: int) -> LinkScores:
        return self._heard(self.scorer.started(link))

    def crawled(self, page: CrawledPage) -> LinkScores:
        return self._heard(self.scorer.crawled(page))

    def failed(self, link: int) -> LinkScores:
        return self._heard(self.scorer.failed(link))

    def repeated(self, link: int) -> LinkScores:
        return self._heard(self.scorer.repeated(link))

    def _heard(self, scores: LinkScores) -> LinkScores:
        self.heard(scores)
        return scores


class LastScores(Overheard):
    """Records the last score of each link."""

    def __init__(self, scorer: Scorer) -> None:
        super().__init__(scorer)
        self._scores: dict[int, tuple[float, float]] = {}

    def __len__(self) -> int:
        """Return the number of links with a recorded score."""
        return len(self._scores)

    def heard(self, scores: LinkScores) -> None:
        for link, *two in zip(scores.ids, scores.score, scores.structure, strict=True):
            self._scores[link] = two[0], two[1]

    def take(self) -> LinkScores:
        """Remove and return the recorded scores."""
        scores = [*self._scores.values()]
        taken = LinkScores([*self._scores], [one[0] for one in scores], [one[1] for one in scores])
        self._scores.clear()
        return taken


def tell_elsewhere(scorer: Scorer, page: CrawledPage) -> LinkScores:
    """Report to an algorithm a page that another partition fetched, and learnt from.

    Args:
        scorer: the algorithm. To it the page is one that comes from no page.
        page: with the links on it that belong here.
    """
    scorer.added(())  # a failure told before is learnt
    with scorer.link_model.without_learning() if scorer.link_model is not None else nullcontext():
        scorer.added([page.id])
        scorer.started(page.id)
        return scores_after(scorer, page)


def _recall_failure(
    past: PastFailure, links: LinkTable, scorer: Scorer, settled: Container[int]
) -> None:
    """Report to an algorithm how a link ended that led to no page of its own.

    Args:
        settled: the links that ended before it. What was found on one of them was known by then.
    """
    target = None
    if past.error.startswith(REDIRECT):
        target = links.lookup(past.error.removeprefix(REDIRECT))
    parent = past.id if target is None else links.known(target).parent
    was_known = target not in {None, past.id} and (parent is None or parent in settled)
    if past.error == ALIAS or was_known:
        scorer.repeated(past.id)
        return
    scorer.failed(past.id)
    if target is not None and parent == past.id:
        scorer.added([target])


# -- what came of seeds that gave nothing -----------------------------------------------------


_MOST_LINKS = 1_000  # of a crawl that knows more it is not asked
_NO_LIST = "no sitemap or feed: "


def why_silent(frontier: SqliteFrontier, contents: Mapping[int, str]) -> list[str] | None:
    """Return why each seed yielded nothing, a line each; None if any yielded a link or a medium.

    Links that were found but may not be followed do not count: the user set those bounds.

    Args:
        contents: what pages without links and media consist of, by their links.
    """
    if len(frontier) > _MOST_LINKS:
        return None
    known = {link: frontier.known(link) for link in range(len(frontier))}
    parents = {link: one.parent for link, one in known.items()}
    record_of = cache(frontier.record)
    for link in reversed(known):  # the last ones are seldom seeds, and tell at once
        status, parent = record_of(link).status, parents[link]
        if status is Status.WAITING:
            return None
        if not (status is Status.ERROR or parent is None or _leads_on(record_of(parent))):
            return None
    records = {link: record_of(link) for link in known}
    lines = []
    for link, record in records.items():
        parent = parents[link]
        if parent is not None and not _leads_on(records[parent]):
            continue
        if _leads_on(record) or record.error.startswith(_NO_LIST):
            continue
        # Without a place on the page they are not of it: robots.txt, asked for sitemaps.
        below = [one for one, above in parents.items() if above == link and known[one].tag_path]
        if not all(_is_frame(known[one].tag_path) for one in below):
            return None
        if record.contains_media or (record.links_on_page and not below):
            return None
        first = _first(parents, link)
        seed = records[first].url + (f", which leads to {record.url}" if first != link else "")
        if record.error:
            lines.append(f"{seed}: {record.error}")
        elif below:
            reasons = Counter(records[one].error for one in below).most_common(3)
            told = ", ".join(f"{reason} ({count})" for reason, count in reasons)
            lines.append(f"{seed}: frames of which none could be fetched: {told}")
        else:
            lines.append(f"{seed}: {contents.get(link, 'neither a link nor a medium')}")
    return lines


def name_silent(lines: Iterable[str]) -> None:
    """Name for each seed the reason why it yielded nothing."""
    for line in lines:
        logger.error("Nothing was found at the seed %s", line)


def _leads_on(record: LinkRecord) -> bool:
    return record.error.startswith(REDIRECT)


def _first(parents: Mapping[int, int | None], link: int) -> int:
    while (above := parents[link]) is not None:
        link = above
    return link


def _is_frame(tag_path: str) -> bool:
    tag = tag_path.rpartition(" ")[2].partition("#")[0].partition(".")[0]
    return tag in ("frame", "iframe")
