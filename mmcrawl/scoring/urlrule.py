"""`urlrule`: search by learnt URL patterns (Yang 2009, chapter 4), and by what the crawl has found.

Media pages on topic that lie near each other yield patterns (`patterns.py`). What the patterns
leave level is ordered by what a link is worth (`prospects.py`) as in `learned`: its score is

    worth · what the crawl expects of it + lift · rate of its pattern + s · S

where the rate is the share of media pages among those fetched by the
pattern so far, so that one learnt from an accident loses its power, and S is the paper's score
(4.8): what the link's words say (4.7) and what its place in the graph says (4.6), divided by its
distance to the nearest pattern. Patterns go on being learnt, and no link is left out. The paper has
only S, and fetches what matches a pattern (`urlrule_2009.py`); a weight of 0 shows what each of the
others brings.

How the paper is read:

* (4.6) is no fixed point to be sought: it passes on each rank twice, to links and to siblings, so
  as linear equations it mostly diverges (the matrix of four pages that link to each other, which
  `tests/scoring/test_urlrule_formulas.py` computes, has a spectral radius of 1.32). Each page's
  rank is passed on once, when it is crawled.
* A distance of 0, of a URL that matches, counts as 1.
* Siblings of a page are the other links of the page it was first found on.
* "Normalised" structure is divided by the largest of the site's waiting links: a navigation link of
  a hundred pages, fetched long ago, would otherwise press all others to zero.

Cost: a page re-scores its links, and its siblings if there are few; many are re-scored once for
every 2 % of them that were fetched. So is a site as a whole, with numpy, and when its patterns
change. What pages pass on to their siblings is added up at once, with numpy too. A new
pattern is measured against all waiting links at once (`site_state.py`). 23 bytes of RAM a link,
and 4 more with 4 for each directory and query value while it waits, and what prospects cost, as in
`learned`; addresses are looked up in the frontier.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import ClassVar

import numpy as np

from mmcrawl.frontier.findings import PatternRecord
from mmcrawl.frontier.records import KnownLink, LinkScores
from mmcrawl.scoring.base import (
    NO_SCORES,
    CrawledPage,
    LinkSource,
    LinkText,
    Ranges,
    Scorer,
    check_ranges,
    join,
    scores_of,
)
from mmcrawl.scoring.link_model import LinkModel
from mmcrawl.scoring.patterns import SitePatterns, UrlParts, url_parts
from mmcrawl.scoring.prospects import AT_ONCE, NOVELTY, Prospects
from mmcrawl.scoring.similarity import LinkSimilarity
from mmcrawl.scoring.site_state import (
    NO_PATTERN,
    TAKEN,
    UNKNOWN,
    WAITING,
    Ids,
    Links,
    Numbers,
    Site,
)

_NONE = np.empty(0, dtype=np.int64)
_LIFT, _S = 0.3, 0.1  # tried on 26 webs, 0 to 1 each, leaving the web out that was measured


class PatternSearch(Scorer, ABC):
    """Learns URL patterns; `_score` decides between links.

    Args:
        d: damping of (4.6), in (0, 1).
        beta: weight of the anchor against the URL words in (4.7), in [0, 1].
        alpha: weight of content against structure in (4.8), in [0, 1]; the paper's ∂.
        m: a cluster of more than `m` media pages yields a pattern.
        near: URLs are of one cluster if their distance (4.3) is below this; 5 lets them differ in
            one directory or file name.
    """

    spans: ClassVar[bool] = False
    """Whether a `*` at the end of a pattern's path stands for all that lies below."""

    ranges: ClassVar[Ranges] = {
        "d": (0, 0.999),
        "beta": (0, 1),
        "alpha": (0, 1),
        "m": (1, inf),
        "near": (1, inf),
    }

    def __init__(
        self,
        source: LinkSource,
        similarity: LinkSimilarity,
        *,
        d: float,
        beta: float,
        alpha: float,
        m: int,
        near: int,
    ) -> None:
        self._source = source
        self._similarity = similarity
        self._d, self._beta, self._alpha = d, beta, alpha
        self._m, self._near = m, near
        self._sites: list[Site] = []
        self._site_of_host: dict[str, int] = {}
        self._links = Links()
        self._passed_on: Counter[int | None] = Counter()
        self._known = 0

    # -- the protocol ---------------------------------------------------------------------------

    def content(self, text: LinkText) -> float:
        """Return the content score of a link (4.7)."""
        return self._similarity.shark(text, self._beta)

    def added(self, links: Iterable[int]) -> LinkScores:
        """Add seeds, redirects and requests of the spider."""
        ids = self._register(list(links))
        return NO_SCORES if self.silent else self._scores_of(np.concatenate([ids, self._freed()]))

    def started(self, link: int) -> LinkScores:
        """Count a fetch."""
        self._register([link])
        if self._links.state[link] == WAITING:
            self._site(link).fetched_since_rescore += 1
            self._links.state[link] = TAKEN
        return NO_SCORES

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Pass on the page's worth to its links and siblings; learn from it if it is relevant."""
        site = self._site(page.id)
        links = self._register(page.links)
        self._linked(page.id, links)
        parent = self._source.known(page.id).parent
        siblings = self._siblings(parent)
        self._spread(page.id, links, siblings)
        changed = self._judge_pattern(site, page)
        if page.relevant and self._learn(site, page.id):
            self._links.measure_all(site)
            changed = True
        touched = np.concatenate([links, self._siblings_due(parent, siblings)])
        return self._settle(site, changed, touched)

    def failed(self, link: int) -> LinkScores:
        """Record that nothing comes of a link."""
        return self._settle(self._site(link), False, _NONE)

    def repeated(self, link: int) -> LinkScores:
        """Record that a link led to a page which is known."""
        site, freed = self._site(link), self._freed()
        return self._rescore(site) if self._moved(site) else self._scores_of(freed)

    def revised(self, links: Iterable[int]) -> LinkScores:
        """Remove pages that turned out not to be relevant from the clusters."""
        by_site: dict[int, list[int]] = {}
        for link in links:
            by_site.setdefault(self._links.site[link], []).append(link)
        answers = []
        for number, pages in by_site.items():
            site = self._sites[number]
            urls = [self._parts(self._source.known(page).url) for page in pages]
            for page in pages:
                if self._links.pattern[page] != NO_PATTERN:
                    site.patterns.learnt[self._links.pattern[page]].relevant -= 1
            site.patterns.remove(urls)
            site.measured.clear()
            self._links.measure_all(site)
            answers.append(self._rescore(site))
        return join(answers)

    def parts(self, link: int) -> Mapping[str, float]:
        """Return the terms of a waiting link's score; one is named with its pattern."""
        site, ids = self._site(link), np.array([link])
        structure = self._ranks(ids) / site.largest
        rate, paper = self._terms(site, ids, structure)
        number = self._links.pattern[link]
        pattern = "" if number == NO_PATTERN else f", {site.patterns.learnt[number].pattern}"
        return self._parts_of(link, float(rate[0]), float(paper[0]), pattern)

    def patterns(self) -> list[PatternRecord]:
        """Return the learnt patterns, the most general first."""
        found = [
            learnt.record()
            for site in self._sites
            for learnt in site.patterns.learnt
            if learnt.urls
        ]
        return sorted(found, key=lambda record: (-record.urls, record.pattern))

    # -- what differs between searches by patterns ----------------------------------------------

    @abstractmethod
    def _score(self, site: Site, links: Ids, rate: Numbers, paper: Numbers) -> Numbers:
        """Return the scores of waiting links, shape (len(links),).

        Args:
            site: of the links.
            links: ids.
            rate: of their patterns, 0 without one.
            paper: S of (4.8).
        """

    @abstractmethod
    def _parts_of(self, link: int, rate: float, paper: float, pattern: str) -> dict[str, float]:
        """Return the terms that `_score` adds for a link; `pattern` is named, "" for none."""

    def _linked(self, page: int, links: Ids) -> None:
        """Add all links of a page, each once; they are registered."""

    def _freed(self) -> Ids:
        """Return links that were known and must be scored again, each once in all."""
        return _NONE

    def _moved(self, site: Site) -> bool:
        """Move a site to the stage it is in; return whether its links are scored otherwise now."""
        return False

    def _parts(self, url: str) -> UrlParts:
        """Cut up a URL."""
        return url_parts(url)

    # -- taking in links ------------------------------------------------------------------------

    def _site(self, link: int) -> Site:
        return self._sites[self._links.site[link]]

    def _register(self, links: Sequence[int]) -> Ids:
        """Make links known; return them all."""
        ids = np.array(links, dtype=np.int64)
        if len(ids):
            self._links.reserve(int(ids.max()))
        state = np.frombuffer(self._links.state, dtype=np.uint8)
        for link in dict.fromkeys(ids[state[ids] == UNKNOWN].tolist()):
            self._register_new(link)
        return ids

    def _register_new(self, link: int) -> KnownLink:
        """Add a new link, measured against the patterns; return it as it was found."""
        known = self._source.known(link)
        parts = self._parts(known.url)
        number = self._site_of_host.setdefault(parts.host, len(self._sites))
        if number == len(self._sites):
            self._sites.append(
                Site(number, parts.host, SitePatterns(self._near, self._m, self.spans))
            )
        site = self._sites[number]
        self._links.state[link] = WAITING
        self._links.site[link] = number
        self._links.content[link] = known.content
        site.urls.add(link, parts)
        self._links.measure(site, link, parts)
        self._known += 1
        return known

    # -- the graph ------------------------------------------------------------------------------

    def _ranks(self, links: Ids) -> Numbers:
        """PR(p) of (4.6), shape (len(links),)."""
        gaps = np.frombuffer(self._links.distance, dtype=np.uint16)[links]
        inflow = np.frombuffer(self._links.inflow)[links]
        return np.asarray((1 - self._d) / self._known + self._d * inflow / gaps)

    def _spread(self, page: int, links: Ids, siblings: Ids) -> None:
        """Give the page's share, PR(T)/C(T), to each of its links and each of its siblings."""
        if not len(links):
            return
        share = self._ranks(np.array([page]))[0] / len(links)
        inflow = np.frombuffer(self._links.inflow)
        inflow[links] += share
        inflow[siblings] += share

    def _siblings(self, parent: int | None) -> Ids:
        """Return the links of the page that a page was first found on; it may be among them."""
        links = () if parent is None else self._source.outlinks(parent)
        return np.array(links, dtype=np.int64)

    def _siblings_due(self, parent: int | None, siblings: Ids) -> Ids:
        """Count a page that passed on its worth; return the siblings to be scored for it."""
        self._passed_on[parent] += 1
        waiting = self._waiting(siblings)
        if self._passed_on[parent] <= len(waiting) // 50:
            return waiting[:0]
        del self._passed_on[parent]
        return waiting

    # -- patterns -------------------------------------------------------------------------------

    def _learn(self, site: Site, page: int) -> bool:
        """Add a media page; return whether a pattern was learnt from it."""
        return site.patterns.add(self._parts(self._source.known(page).url))

    def _judge_pattern(self, site: Site, page: CrawledPage) -> bool:
        """Record the success of the pattern behind a page; return whether it changes much."""
        if self._links.pattern[page.id] == NO_PATTERN:
            return False
        learnt = site.patterns.learnt[self._links.pattern[page.id]]
        before = learnt.rate
        learnt.crawled += 1
        learnt.relevant += page.relevant
        return abs(learnt.rate - before) > 0.02

    def _settle(self, site: Site, changed: bool, touched: Ids) -> LinkScores:
        """Re-score what has changed: single links, or the site too if it is time."""
        if self.silent:
            return NO_SCORES
        touched = np.concatenate([touched, self._freed()])
        changed = self._moved(site) or changed
        if changed or site.fetched_since_rescore > max(8, len(site.urls) // 50):
            sites = np.frombuffer(self._links.site, dtype=np.int32)[touched]
            elsewhere = self._scores_of(touched[sites != site.number])
            return join([self._rescore(site), elsewhere])
        return self._scores_of(touched)

    # -- scores ---------------------------------------------------------------------------------

    def _waiting(self, links: Ids) -> Ids:
        """Return those of some links that wait."""
        waiting: Ids = links[np.frombuffer(self._links.state, dtype=np.uint8)[links] == WAITING]
        return waiting

    def _scores_of(self, links: Ids) -> LinkScores:
        """Score those of some links that wait, site by site."""
        links = np.unique(self._waiting(links))
        numbers = np.frombuffer(self._links.site, dtype=np.int32)[links]
        answers = []
        for number in set(numbers.tolist()):
            site, of_site = self._sites[number], links[numbers == number]
            ranks = self._ranks(of_site)
            site.largest = max(float(ranks.max()), site.largest)
            answers.append(self._scores(site, of_site, ranks / site.largest))
        return join(answers)

    def _rescore(self, site: Site) -> LinkScores:
        """Score all waiting links of a site again."""
        site.fetched_since_rescore = 0
        links = self._links.waiting(site)
        if not len(links):
            return NO_SCORES
        parts = [links[first : first + AT_ONCE] for first in range(0, len(links), AT_ONCE)]
        site.largest = max(float(self._ranks(part).max()) for part in parts)
        return join([self._scores(site, part, self._ranks(part) / site.largest) for part in parts])

    def _scores(self, site: Site, links: Ids, structure: Numbers) -> LinkScores:
        """Score waiting links of a site by S of (4.8), their patterns, and what else decides."""
        rate, paper = self._terms(site, links, structure)
        score = self._score(site, links, rate, paper)
        return scores_of(links, score, structure)

    def _terms(self, site: Site, links: Ids, structure: Numbers) -> tuple[Numbers, Numbers]:
        """Return the rates of the patterns of links, and S of (4.8)."""
        content = np.frombuffer(self._links.content, dtype=np.float32)[links].astype(np.float64)
        paper = self._alpha * content + (1 - self._alpha) * structure
        pattern = np.frombuffer(self._links.pattern, dtype=np.int32)[links]
        rate = np.array([*(learnt.rate for learnt in site.patterns.learnt), 0.0])[pattern]
        return rate, paper


class UrlRule(PatternSearch):
    """Order links by URL patterns learnt during the crawl, and by all else it has learnt of them.

    Args:
        worth: weight of what the crawl expects of a link, at least 0; 0 for the paper's S and
            patterns alone.
        novelty: bonus of a link in a directory of which nothing was fetched, until something is
            found on its host, at least 0.
        lift: weight of the rate of the pattern that a link matches, at least 0.
        s: weight of the paper's score S (4.8), at least 0.
        d: damping of (4.6), in (0, 1).
        beta: weight of the anchor against the URL words in (4.7), in [0, 1].
        alpha: weight of content against structure in (4.8), in [0, 1]; the paper's ∂.
        m: a cluster of more than `m` media pages yields a pattern.
        near: URLs are of one cluster if their distance (4.3) is below this; 5 lets them differ in
            one directory or file name.
    """

    name: ClassVar[str] = "urlrule"
    ranges: ClassVar[Ranges] = {
        **PatternSearch.ranges,
        **dict.fromkeys(("worth", "novelty", "lift", "s"), (0, 50)),
    }

    def __init__(
        self,
        source: LinkSource,
        similarity: LinkSimilarity,
        *,
        worth: float = 1.0,
        novelty: float = NOVELTY,
        lift: float = _LIFT,
        s: float = _S,
        d: float = 0.85,
        beta: float = 0.8,
        alpha: float = 0.4,
        m: int = 3,
        near: int = 5,
    ) -> None:
        check_ranges(self.ranges, locals())
        super().__init__(source, similarity, d=d, beta=beta, alpha=alpha, m=m, near=near)
        self._prospects = Prospects(source, kinds=similarity.kinds)
        self._worth, self._novelty, self._lift, self._s = worth, novelty, lift, s

    def added(self, links: Iterable[int]) -> LinkScores:
        """Take in seeds, redirects and requests of the spider."""
        ids = list(links)
        self._register(ids)
        self._prospects.learn_failure()
        return super().added(ids)

    def started(self, link: int) -> LinkScores:
        """Count a fetch."""
        self._prospects.learn_failure()
        return super().started(link)

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Learn from the page what to expect of links, and what `PatternSearch` learns."""
        self._prospects.crawled(page)
        return super().crawled(page)

    def failed(self, link: int) -> LinkScores:
        """Record that nothing comes of a link."""
        self._prospects.failed(link)
        return super().failed(link)

    def revised(self, links: Iterable[int]) -> LinkScores:
        """Learn the contrary of what was learnt from pages that turned out not to be relevant."""
        pages = list(links)
        for page in pages:
            self._prospects.revised(page)
        return super().revised(pages)

    def _register_new(self, link: int) -> KnownLink:
        known = super()._register_new(link)
        self._prospects.register(link)
        return known

    def _linked(self, page: int, links: Ids) -> None:
        self._prospects.linked(links)

    def _score(self, site: Site, links: Ids, rate: Numbers, paper: Numbers) -> Numbers:
        expected, _ = self._prospects.worth(links, novelty=self._novelty)
        return self._worth * expected + self._lift * rate + self._s * paper

    def _parts_of(self, link: int, rate: float, paper: float, pattern: str) -> dict[str, float]:
        worth = self._prospects.parts(link, novelty=self._novelty)
        terms = {name: self._worth * value for name, value in worth.items()}
        terms[f"rate of its pattern{pattern}"] = self._lift * rate
        return terms | {"S of (4.8)": self._s * paper}

    @property
    def link_model(self) -> LinkModel:
        """What was learnt beyond single links."""
        return self._prospects.link_model

    def load_model(self, link_model: LinkModel) -> None:
        """Learn into the model of another part of the crawl."""
        self._prospects.load_model(link_model)
