"""`urlrule-2009`: search by URL patterns as printed (Yang 2009, chapter 4), in two stages a site.

*Probing* looks where on a site media pages are: breadth first, whatever the scores say, every link
of the seed page (4.3.2), and of other pages no more than NUM(n) of physical layer n::

    NUM(n) = NUM(2) · (n − 1),  n ≤ 10                                                       (4.2)

Patterns are learnt from what is found. When no probe is left or in progress, the site is *guided*:
links that match a pattern are fetched, the highest S of (4.8) first, and no others. Nothing more is
learnt then, but ranks (4.6) go on being passed on.

How the paper is read:

* Layers count the slashes of an address: only the home page is in layer 1, for which (4.2) gives 0
  probes, and `/a.htm` is in layer 2. Table 4-2 has one page in layer 1, and the 69 media pages of
  `/wu51/*` (table 4-3) in layer 3; the 621 pages in layer 1 of table 4-1 speak against it.
* NUM(2) is "the number of pages crawled in layer 2", which is not printed. If it were all pages
  there, probing alone would take 50 % of the pages of table 4-1 and 47 % of table 4-2, where table
  5-6 has 21 % fetched in all. That leaves at most 20 a site: the sum over the layers n of table 4-1
  of min(pages, 10 sites · NUM(2) · (n − 1)) is 19.7 % of its pages with 18, 21.3 % with 20. 18 is
  taken, which leaves something for guided search.
* A `*` at the end of a pattern stands for all that lies below: the 295 media pages of the three
  patterns of one depth in table 4-3 are more than any layer of table 4-2 has.
* A slash at the end of a URL makes no difference, so that `/xy/jc/`, `/xy/wxs/` and `/xy/wz/` come
  to `/xy/*` (4.3.1). In `urlrule` it does, as pages and lists of pages differ in it on many sites.
* A site that was found on another one begins at the page it was found by.
* The target of a redirect takes the place of the link that led to it; a link that turns out to be
  another address of a known page gives its probe back; one that cannot be fetched was a probe.

What else is read, (4.3) to (4.8), is said in `patterns.py` and `urlrule.py`. Cost: as there, with
2 bytes of RAM a link in place of prospects, and 8 while it waits to be probed.
"""

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from math import inf
from typing import ClassVar
from urllib.parse import urlsplit

import numpy as np

from mmcrawl.frontier.records import HELD, KnownLink, LinkScores
from mmcrawl.page.urls import physical_layer
from mmcrawl.scoring.base import CrawledPage, LinkSource, Ranges, check_ranges
from mmcrawl.scoring.patterns import UrlParts, url_parts
from mmcrawl.scoring.similarity import LinkSimilarity
from mmcrawl.scoring.site_state import Ids, Numbers, Site
from mmcrawl.scoring.urlrule import PatternSearch

_LAST_PROBED_LAYER = 10
_UNKNOWN, _BACK, _PROBE, _DONE, _FAILED = range(5)
_PROBES_FIRST = 1.0  # S is no more
_MOST_NAMED = 5


@dataclass(slots=True)
class _Stage:
    """The state of probing a site.

    Attributes:
        site: which it is.
        probed: probes, by physical layer.
        under_way: probes that wait, or whose outcome is not known yet.
        back: links that are no probes, by physical layer, in the order they were found.
        guided: probing is over.
    """

    site: Site
    probed: Counter[int] = field(default_factory=Counter)
    under_way: int = 0
    back: defaultdict[int, deque[int]] = field(default_factory=lambda: defaultdict(deque))
    guided: bool = False


def layer_of(url: str) -> int:
    """Return the physical layer of an address as the thesis counts it, by its slashes.

    >>> [layer_of(u) for u in ("http://h/", "http://h/a.htm", "http://h/a/", "http://h/a/b.htm")]
    [1, 2, 3, 3]
    """
    return physical_layer(url) + (urlsplit(url).path not in {"", "/"})


class UrlRule2009(PatternSearch):
    """Probe each site, then fetch what matches a learnt pattern, by S (4.8).

    Args:
        d: damping of (4.6), in (0, 1).
        beta: weight of the anchor against the URL words in (4.7), in [0, 1].
        alpha: weight of content against structure in (4.8), in [0, 1]; the paper's ∂.
        m: a cluster of more than `m` media pages yields a pattern.
        near: URLs are of one cluster if their distance (4.3) is below this; 5 lets them differ in
            one directory or file name.
        num2: NUM(2) of (4.2), pages probed in physical layer 2, from 0. Layer n may have n − 1
            times as many.
    """

    name: ClassVar[str] = "urlrule-2009"
    spans: ClassVar[bool] = True
    ranges: ClassVar[Ranges] = {**PatternSearch.ranges, "num2": (0, inf)}

    def __init__(
        self,
        source: LinkSource,
        similarity: LinkSimilarity,
        *,
        d: float = 0.85,
        beta: float = 0.8,
        alpha: float = 0.4,
        m: int = 3,
        near: int = 5,
        num2: int = 18,
    ) -> None:
        check_ranges(self.ranges, locals())
        super().__init__(source, similarity, d=d, beta=beta, alpha=alpha, m=m, near=near)
        self._num2 = num2
        self._stages: dict[int, _Stage] = {}
        self._state = bytearray()
        self._layer = bytearray()
        self._seeds: set[int] = set()
        self._to_score: list[int] = []

    def _register_new(self, link: int) -> KnownLink:
        known = super()._register_new(link)
        site = self._site(link)
        missing = link + 1 - len(self._state)
        if missing > 0:
            self._state.extend(bytes(missing))
            self._layer.extend(bytes(missing))
        layer, parent = min(layer_of(known.url), 255), known.parent
        is_first = site.number not in self._stages
        stage = self._stages.setdefault(site.number, _Stage(site))
        self._layer[link], self._state[link] = layer, _BACK
        redirected = parent is not None and self._state[parent] == _FAILED
        if is_first or parent is None or (redirected and parent in self._seeds):
            self._seeds.add(link)
        if link in self._seeds or redirected:
            self._probe(stage, link)
        else:
            stage.back[layer].append(link)
        self._fill(stage, layer)
        return known

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Record the outcome of a probe, and learn from it."""
        self._end(page.id, _DONE)
        return super().crawled(page)

    def failed(self, link: int) -> LinkScores:
        """Record that nothing comes of a link."""
        self._end(link, _FAILED if self._state[link] == _PROBE else _DONE)
        return super().failed(link)

    def repeated(self, link: int) -> LinkScores:
        """Give back a probe that led to a known page."""
        stage, layer = self._stage(link), self._layer[link]
        self._end(link, _DONE)
        stage.probed[layer] -= 1
        self._fill(stage, layer)
        return super().repeated(link)

    def _linked(self, page: int, links: Ids) -> None:
        if page in self._seeds:
            stage = self._stage(page)
            for link in links.tolist():
                if self._state[link] == _BACK and self._stage(link) is stage:
                    self._probe(stage, link)

    def _learn(self, site: Site, page: int) -> bool:
        return not self._stages[site.number].guided and super()._learn(site, page)

    def _freed(self) -> Ids:
        freed, self._to_score = np.array(self._to_score, dtype=np.int64), []
        return freed

    def _moved(self, site: Site) -> bool:
        stage = self._stages[site.number]
        before, stage.guided = stage.guided, not stage.under_way
        return stage.guided != before

    def remarks(self) -> list[str]:
        """Name the sites that yielded no pattern."""
        barren = [
            stage.site.host
            for stage in self._stages.values()
            if stage.guided and not any(learnt.urls for learnt in stage.site.patterns.learnt)
        ]
        if not barren:
            return []
        more = len(barren) - _MOST_NAMED
        names = ", ".join(barren[:_MOST_NAMED]) + (f" and {more} more sites" if more > 0 else "")
        return [
            f"No pattern was learnt on {names}: after probing, nothing more was fetched there."
            " A larger num2 probes more pages, a smaller m makes do with fewer media pages, and"
            " algo=urlrule leaves no link out"
        ]

    def _score(self, site: Site, links: Ids, rate: Numbers, paper: Numbers) -> Numbers:
        probes = np.frombuffer(self._state, dtype=np.uint8)[links] == _PROBE
        others = np.where(rate > 0, paper, HELD) if self._stages[site.number].guided else HELD
        return np.where(probes, _PROBES_FIRST, others)

    def _parts_of(self, link: int, rate: float, paper: float, pattern: str) -> dict[str, float]:
        if self._state[link] == _PROBE:
            return {"as a probe": _PROBES_FIRST}
        return {f"S of (4.8){pattern}": paper}

    # -- inside ---------------------------------------------------------------------------------

    def _allowed(self, layer: int) -> int:
        """Return NUM(n) (4.2)."""
        if layer > _LAST_PROBED_LAYER:
            return 0
        return self._num2 * (layer - 1)

    def _fill(self, stage: _Stage, layer: int) -> None:
        """Release as many probes of a layer as allowed."""
        back = stage.back[layer]
        while back and not stage.guided and stage.probed[layer] < self._allowed(layer):
            link = back.popleft()
            if self._state[link] == _BACK:
                self._probe(stage, link)

    def _probe(self, stage: _Stage, link: int) -> None:
        self._state[link] = _PROBE
        stage.probed[self._layer[link]] += 1
        stage.under_way += 1
        self._to_score.append(link)

    def _stage(self, link: int) -> _Stage:
        return self._stages[self._links.site[link]]

    def _end(self, link: int, state: int) -> None:
        """Record the outcome of a link; one fetched without being a probe counts as one."""
        stage = self._stage(link)
        if self._state[link] == _PROBE:
            stage.under_way -= 1
        elif self._state[link] == _BACK:
            stage.probed[self._layer[link]] += 1
        self._state[link] = state

    def _parts(self, url: str) -> UrlParts:
        return url_parts(url, slash=False)
