"""`urlrule`: search by learnt URL patterns (Yang 2009, chapter 4), and by what the crawl has found.

Media pages on topic that lie near each other yield patterns (`patterns.py`). What the patterns
leave level is ordered by what is expected of a link (`prospects.py`): a link is worth

    P(relevant) + what it leads to + novelty + 0.3 · rate of its pattern + 0.1 · S

where novelty is that of `learned`, the rate is the share of media pages among those fetched by the
pattern so far, so that one learnt from an accident loses its power, and S is the paper's score
(4.8): what the link's words say (4.7) and what its place in the graph says (4.6), divided by its
distance to the nearest pattern. Patterns go on being learnt.

With `hard` the paper's own way is taken, in two stages for every site. *Probing* looks where on a
site media pages are: breadth first, no more than NUM(n) pages of physical layer n (4.2), a
directory with fewer links seen before one with more, since it is directories that are probed. When
no link is left within the numbers, the site is *guided*, for the time being already while the last
quarter of its probes is under way, which may be long: links that match a pattern are fetched, the
best by S and rate first, and no others. On other webs than the paper's, probing found less.

How the paper is read:

* Siblings of a page are the other links of the page it was first found on.
* "Normalised" structure is divided by the largest of the site's waiting links: a navigation link of
  a hundred pages, fetched long ago, would otherwise press all others to zero.

Cost: a page re-scores its links, and its siblings if there are few; many are re-scored once for
every 2 % of them that were fetched. So is a site as a whole, with numpy, and when its patterns
change. What pages pass on to their siblings is added up at once, with numpy too. A new
pattern is measured against all waiting links at once (`site_state.py`). 34 bytes of RAM a link,
and 4 more with 8 for each directory and query value while it waits, and what prospects cost, as in
`learned`; addresses are looked up in the frontier.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf
from typing import ClassVar

import numpy as np

from mmcrawl.frontier.findings import PatternRecord
from mmcrawl.frontier.records import HELD, LinkScores
from mmcrawl.scoring.base import (
    NO_SCORES,
    CrawledPage,
    LinkSource,
    LinkText,
    Ranges,
    Scorer,
    check_ranges,
)
from mmcrawl.scoring.evidence import Prior
from mmcrawl.scoring.link_features import directory_of
from mmcrawl.scoring.patterns import SitePatterns, url_parts
from mmcrawl.scoring.prospects import Prospects
from mmcrawl.scoring.similarity import LinkSimilarity
from mmcrawl.scoring.site_state import (
    NO_PATTERN,
    PROBED,
    TAKEN,
    UNKNOWN,
    WAITING,
    Ids,
    Links,
    Numbers,
    Site,
)

_LAST_PROBED_LAYER = 10
_SEED_SCORE = 10.0  # above all that can be promised: seeds come first
_NOVELTY = 0.5  # as in `learned`
_FIT = 3.0  # what a perfect fit of a link's words adds to its log-odds, as in `learned`
_RATE, _STRUCTURE = 0.3, 0.1  # tried on 26 webs, 0 to 1 each, leaving the web out that was measured


class UrlRule(Scorer):
    """Order links by URL patterns learnt during the crawl.

    Args:
        hard: the paper's way: probe each site, then leave links alone that match no pattern.
        d: damping of (4.6), in (0, 1).
        beta: weight of the anchor against the URL words in (4.7), in [0, 1].
        alpha: weight of content against structure in (4.8), in [0, 1]; the paper's ∂.
        m: a cluster of more than `m` media pages yields a pattern.
        near: URLs are of one cluster if their distance (4.3) is below this; 5 lets them differ in
            one directory or file name.
        num2: NUM(2), pages probed in physical layer 2; layer n may have n − 1 times as many (4.2);
            counts with `hard`.
    """

    name: ClassVar[str] = "urlrule"
    ranges: ClassVar[Ranges] = {
        "d": (0, 0.999),
        "beta": (0, 1),
        "alpha": (0, 1),
        "m": (1, inf),
        "near": (1, inf),
        "num2": (0, inf),
    }

    prior: ClassVar[Prior | None] = None
    """Other weights of the evidence than those shipped, for who trains them."""

    def __init__(
        self,
        source: LinkSource,
        similarity: LinkSimilarity,
        *,
        hard: bool = False,
        d: float = 0.85,
        beta: float = 0.8,
        alpha: float = 0.4,
        m: int = 3,
        near: int = 5,
        num2: int = 5,
    ) -> None:
        check_ranges(self.ranges, locals())
        self._source = source
        self._similarity = similarity
        self._hard = hard
        self._d, self._beta, self._alpha = d, beta, alpha
        self._m, self._near, self._num2 = m, near, num2
        self._prospects = None if hard else Prospects(source, fit=_FIT, prior=self.prior)
        self._sites: list[Site] = []
        self._site_of_host: dict[str, int] = {}
        self._links = Links()
        self._in_directory: Counter[str] = Counter()
        self._passed_on: Counter[int] = Counter()
        self._known = 0

    # -- the protocol ---------------------------------------------------------------------------

    def content(self, text: LinkText) -> float:
        """Return the content score of a link (4.7)."""
        return self._similarity.shark(text, self._beta)

    def added(self, links: Iterable[int]) -> LinkScores:
        """Take in seeds, redirects and requests of the spider."""
        links = list(links)
        for link in links:
            self._register(link)
        if self._prospects:
            self._prospects.learn_failure()
        return self._scores_of([link for link in links if self._links.state[link] == WAITING])

    def started(self, link: int) -> LinkScores:
        """Count a fetch, and a probe against the numbers of its layer."""
        if self._prospects:
            self._prospects.learn_failure()
        self._register(link)
        site, layer = self._sites[self._links.site[link]], self._links.layer[link]
        if self._links.state[link] != WAITING:
            return NO_SCORES
        site.fetched_since_rescore += 1
        self._links.state[link] = TAKEN
        if self._links.pattern[link] != NO_PATTERN:
            return NO_SCORES
        site.unprobed[layer] -= 1
        if not site.holding:
            return NO_SCORES
        self._links.state[link] = PROBED
        first = not site.probed
        site.probed[layer] += 1
        site.under_way += 1
        if self._changes_stage(site) or first or site.probed[layer] == self._allowed(layer):
            return self._rescore(site)
        return NO_SCORES

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Pass on the page's worth to its links and siblings; learn from it if it is relevant."""
        site = self._sites[self._links.site[page.id]]
        if self._prospects:
            self._prospects.crawled(page)
        new = [link for link in page.links if self._register(link)]
        if self._prospects:
            self._prospects.linked(page.links)
        siblings = self._siblings(page.id)
        self._spread(page, siblings)
        changed = self._judge_pattern(site, page)
        if page.relevant and site.patterns.add(url_parts(self._source.known(page.id).url)):
            self._links.measure_all(site)
            changed = True
        self._end_probe(site, page.id)
        touched = {*new, *page.links, *self._siblings_due(page.id, siblings)}
        return self._settle(site, changed, touched)

    def failed(self, link: int) -> LinkScores:
        """Note that nothing comes of a link; it may have been the last probe of its site."""
        site = self._sites[self._links.site[link]]
        if self._prospects:
            self._prospects.failed(link)
        self._end_probe(site, link)
        return self._settle(site, False, set())

    def revised(self, links: Iterable[int]) -> LinkScores:
        """Take pages that turned out not to be relevant out of the clusters."""
        by_site: dict[int, list[int]] = {}
        for link in links:
            by_site.setdefault(self._links.site[link], []).append(link)
        answers = []
        for number, pages in by_site.items():
            site = self._sites[number]
            urls = [url_parts(self._source.known(page).url) for page in pages]
            for page in pages:
                if self._prospects:
                    self._prospects.revised(page)
                if self._links.pattern[page] != NO_PATTERN:
                    site.patterns.learnt[self._links.pattern[page]].relevant -= 1
            site.patterns.remove(urls)
            site.measured.clear()
            self._links.measure_all(site)
            answers.append(self._rescore(site))
        return _join(answers)

    def patterns(self) -> list[PatternRecord]:
        """Return the learnt patterns, the most general first."""
        found = [
            PatternRecord(site.host, str(learnt.pattern), learnt.urls)
            for site in self._sites
            for learnt in site.patterns.learnt
            if learnt.urls
        ]
        return sorted(found, key=lambda record: (-record.urls, record.pattern))

    # -- taking in links ------------------------------------------------------------------------

    def _register(self, link: int) -> bool:
        """Make a link known; tell whether it is new."""
        self._links.reserve(link)
        if self._links.state[link] != UNKNOWN:
            return False
        known = self._source.known(link)
        parts = url_parts(known.url)
        number = self._site_of_host.setdefault(parts.host, len(self._sites))
        if number == len(self._sites):
            patterns = SitePatterns(self._near, self._m)
            self._sites.append(Site(parts.host, patterns, probing=self._hard, holding=self._hard))
        site = self._sites[number]
        layer = min(known.physical_layer, 255)
        self._links.state[link] = WAITING
        self._links.site[link] = number
        self._links.layer[link] = layer
        self._links.parent[link] = -1 if known.parent is None else known.parent
        self._links.content[link] = known.content
        directory = directory_of(known.url)
        self._in_directory[directory] += 1
        self._links.probe[link] = 1 / self._in_directory[directory]
        site.links.append(link)
        site.unprobed[layer] += 1
        site.urls.add(link, parts)
        self._links.measure(site, link, parts)
        self._known += 1
        if self._prospects:
            self._prospects.register(link)
        return True

    # -- the graph ------------------------------------------------------------------------------

    def _rank(self, link: int) -> float:
        """PR(p) of (4.6)."""
        return (1 - self._d) / self._known + self._d * self._links.inflow[
            link
        ] / self._links.distance[link]

    def _spread(self, page: CrawledPage, siblings: Ids) -> None:
        """Give the page's share, PR(T)/C(T), to each of its links and each of its siblings."""
        if not page.links:
            return
        share = self._rank(page.id) / len(page.links)
        inflow = np.frombuffer(self._links.inflow)
        inflow[np.array(page.links)] += share
        inflow[siblings] += share

    def _siblings(self, page: int) -> Ids:
        """Return the links of the page that a page was first found on; it may be among them."""
        parent = self._links.parent[page]
        links = self._source.outlinks(parent) if parent >= 0 else ()
        return np.array(links, dtype=np.uint32)

    def _siblings_due(self, page: int, siblings: Ids) -> Sequence[int]:
        """Count a page that passed on its worth; return the siblings to be scored for it."""
        parent = self._links.parent[page]
        self._passed_on[parent] += 1
        waiting = siblings[np.frombuffer(self._links.state, dtype=np.uint8)[siblings] == WAITING]
        if self._passed_on[parent] <= len(waiting) // 50:
            return ()
        del self._passed_on[parent]
        due: list[int] = waiting.tolist()
        return due

    # -- patterns and stages --------------------------------------------------------------------

    def _judge_pattern(self, site: Site, page: CrawledPage) -> bool:
        """Note how the pattern did that led to a page; tell whether that changes much."""
        if self._links.pattern[page.id] == NO_PATTERN:
            return False
        learnt = site.patterns.learnt[self._links.pattern[page.id]]
        before = learnt.rate
        learnt.crawled += 1
        learnt.relevant += page.relevant
        return abs(learnt.rate - before) > 0.02

    def _allowed(self, layer: int) -> int:
        """NUM(n) = NUM(2) · (n − 1), n ≤ 10 (4.2); layer 1 has as many as layer 2."""
        return 0 if layer > _LAST_PROBED_LAYER else self._num2 * max(layer - 1, 1)

    def _may_probe(self, site: Site, layer: int) -> bool:
        """Tell whether a layer has probes left; the first probe of a site may be of any layer."""
        return not site.probed or site.probed[layer] < self._allowed(layer)

    def _end_probe(self, site: Site, link: int) -> None:
        if self._links.state[link] == PROBED:
            self._links.state[link] = TAKEN
            site.under_way -= 1

    def _changes_stage(self, site: Site) -> bool:
        """Move the site to the stage it is in; tell whether its links are scored otherwise now."""
        left = any(count > 0 and self._may_probe(site, n) for n, count in site.unprobed.items())
        before = site.probing, site.holding
        site.probing = site.probing and (left or site.under_way > 0)
        site.holding = site.probing and (left or 4 * site.under_way > site.probed.total())
        return before != (site.probing, site.holding)

    def _settle(self, site: Site, changed: bool, touched: set[int]) -> LinkScores:
        """Move the site to the next stage if it is time, and re-score what has changed."""
        changed = self._changes_stage(site) or changed
        if changed or site.fetched_since_rescore > max(8, len(site.links) // 50):
            elsewhere = [
                link for link in touched if self._sites[self._links.site[link]] is not site
            ]
            return _join([self._rescore(site), self._scores_of(elsewhere)])
        return self._scores_of(sorted(touched))

    # -- scores ---------------------------------------------------------------------------------

    def _scores_of(self, links: Iterable[int]) -> LinkScores:
        """Score single links, site by site."""
        by_site: dict[int, list[int]] = {}
        for link in links:
            if self._links.state[link] == WAITING:
                by_site.setdefault(self._links.site[link], []).append(link)
        answers = []
        for number, ids in by_site.items():
            site, of_site = self._sites[number], np.array(ids, dtype=np.uint32)
            ranks = self._ranks(of_site)
            site.largest = max(float(ranks.max()), site.largest)
            answers.append(self._scores(site, of_site, ranks / site.largest))
        return answers[0] if len(answers) == 1 else _join(answers)

    def _rescore(self, site: Site) -> LinkScores:
        """Score all waiting links of a site anew."""
        site.fetched_since_rescore = 0
        links = self._links.waiting(site)
        if not len(links):
            return NO_SCORES
        ranks = self._ranks(links)
        site.largest = float(ranks.max())
        return self._scores(site, links, ranks / site.largest)

    def _ranks(self, links: Ids) -> Numbers:
        """PR(p) of (4.6) for many links."""
        gaps = np.frombuffer(self._links.distance, dtype=np.int32)[links]
        inflow = np.frombuffer(self._links.inflow)[links]
        return np.asarray((1 - self._d) / self._known + self._d * inflow / gaps)

    def _scores(self, site: Site, links: Ids, structure: Numbers) -> LinkScores:
        """S of (4.8), and with it what a link's pattern and its prospects promise."""
        content = np.frombuffer(self._links.content, dtype=np.float32)[links].astype(np.float64)
        score = self._alpha * content + (1 - self._alpha) * structure
        pattern = np.frombuffer(self._links.pattern, dtype=np.int32)[links]
        rate = np.array([*(learnt.rate for learnt in site.patterns.learnt), 0.0])[pattern]
        if self._prospects:
            ids = links.astype(np.int64)
            relevant, leads = self._prospects.of(ids)
            score = relevant + leads + _RATE * rate + _STRUCTURE * score
            score += _NOVELTY * self._prospects.novelty(ids)
            score += _SEED_SCORE * self._prospects.are_seeds(ids)
        else:
            score = np.where(pattern == NO_PATTERN, self._probes(site, links), score + rate)
        return LinkScores(links.tolist(), score.tolist(), structure.tolist())

    def _probes(self, site: Site, links: Ids) -> Numbers:
        """Return the scores of links that match no pattern: what they are worth as probes."""
        if not site.holding:
            return np.full(len(links), HELD)
        layers = np.frombuffer(self._links.layer, dtype=np.uint8)[links]
        free = np.zeros(256, dtype=bool)
        for layer in set(layers.tolist()):
            free[layer] = self._may_probe(site, layer)
        probe = np.frombuffer(self._links.probe, dtype=np.float32)[links]
        return np.where(free[layers], probe.astype(np.float64), HELD)


def _join(answers: Iterable[LinkScores]) -> LinkScores:
    joined = LinkScores([], [], [])
    for answer in answers:
        joined.ids.extend(answer.ids)
        joined.score.extend(answer.score)
        joined.structure.extend(answer.structure)
    return joined
