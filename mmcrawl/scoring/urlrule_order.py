"""What decides between links in search by URL patterns (`urlrule.py`), besides the patterns.

Either what the crawl has learnt of its links, or, with `hard`, the paper's two stages of every
site: probing, then nothing but links that match a pattern.
"""

from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from mmcrawl.frontier.records import HELD, KnownLink
from mmcrawl.scoring.base import CrawledPage, LinkSource
from mmcrawl.scoring.link_features import directory_of
from mmcrawl.scoring.prospects import Prospects
from mmcrawl.scoring.site_state import NO_PATTERN, Ids, Links, Numbers, Site

_RATE, _STRUCTURE = 0.3, 0.1  # tried on 26 webs, 0 to 1 each, leaving the web out that was measured
_LAST_PROBED_LAYER = 10


class LinkOrder:
    """What decides between links. It is told all that happens; the default makes nothing of it."""

    def news(self) -> None:
        """Note that something is told next that is not the target of a redirect."""

    def registered(self, site: Site, link: int, known: KnownLink) -> None:
        """Take in a new link that was measured against the patterns."""

    def measured(self, site: Site) -> None:
        """Note that a site's `links` were cut down to those waiting, and measured anew."""

    def started(self, site: Site, link: int) -> bool:
        """Note that a link waits no more; tell whether the site is to be re-scored."""
        return False

    def crawled(self, site: Site, page: CrawledPage) -> None:
        """Take in a page; the new links on it are to be registered afterwards."""

    def linked(self, links: Ids) -> None:
        """Take in all links of a page, each once; they are registered."""

    def failed(self, site: Site, link: int) -> None:
        """Note that nothing came of a link."""

    def repeated(self, site: Site, link: int) -> bool:
        """Note that a link led to a known page; tell whether the site is to be re-scored."""
        return False

    def revised(self, page: int) -> None:
        """Note that a page called relevant is not."""

    def moved(self, site: Site) -> bool:
        """Move a site to the stage it is in; tell whether its links are scored otherwise now."""
        return False

    def scores(self, site: Site, links: Ids, rate: Numbers, paper: Numbers) -> Numbers:
        """Return the scores of waiting links, shape (len(links),).

        Args:
            site: of the links.
            links: ids.
            rate: of their patterns, 0 without one.
            paper: S of (4.8).
        """
        raise NotImplementedError

    def parts(self, site: Site, link: int, rate: float, paper: float) -> dict[str, float]:
        """Return what the score of a waiting link is the sum of; for the rest see `scores`."""
        raise NotImplementedError


class LearntOrder(LinkOrder):
    """Orders links by what is expected of them; patterns and the graph add to it.

    Args:
        source: where links are looked up.
    """

    def __init__(self, source: LinkSource) -> None:
        self._prospects = Prospects(source)

    def news(self) -> None:
        self._prospects.learn_failure()

    def registered(self, site: Site, link: int, known: KnownLink) -> None:
        self._prospects.register(link)

    def crawled(self, site: Site, page: CrawledPage) -> None:
        self._prospects.crawled(page)

    def linked(self, links: Ids) -> None:
        self._prospects.linked(links)

    def failed(self, site: Site, link: int) -> None:
        self._prospects.failed(link)

    def revised(self, page: int) -> None:
        self._prospects.revised(page)

    def scores(self, site: Site, links: Ids, rate: Numbers, paper: Numbers) -> Numbers:
        worth, _ = self._prospects.worth(links)
        return worth + _RATE * rate + _STRUCTURE * paper

    def parts(self, site: Site, link: int, rate: float, paper: float) -> dict[str, float]:
        added = {"rate of its pattern": _RATE * rate, "S of (4.8)": _STRUCTURE * paper}
        return self._prospects.parts(link) | added


@dataclass(slots=True)
class _Stage:
    """How far the probing of a site is.

    Attributes:
        probed: probes begun, by physical layer.
        left: waiting links that match no pattern, by physical layer.
        under_way: probes whose outcome is not known yet.
        over: no link was left to probe and no probe under way; that is for good.
        guided: links that match no pattern are left alone, for the time being if not `over`.
    """

    probed: Counter[int] = field(default_factory=Counter)
    left: Counter[int] = field(default_factory=Counter)
    under_way: set[int] = field(default_factory=set)
    over: bool = False
    guided: bool = False


class Probing(LinkOrder):
    """Fetches links that match a pattern, and probes of the others while a site is probed.

    Args:
        links: what is known of links.
        num2: NUM(2), pages probed in physical layer 2.
    """

    def __init__(self, links: Links, num2: int) -> None:
        self._links, self._num2 = links, num2
        self._stages: defaultdict[str, _Stage] = defaultdict(_Stage)
        self._in_directory: Counter[str] = Counter()
        self._layer = bytearray()
        self._worth = array("f")

    def registered(self, site: Site, link: int, known: KnownLink) -> None:
        missing = link + 1 - len(self._layer)
        if missing > 0:
            self._layer.extend(bytes(missing))
            self._worth.extend([0.0] * missing)
        layer, directory = min(known.physical_layer, 255), directory_of(known.url)
        self._in_directory[directory] += 1
        self._layer[link] = layer
        self._worth[link] = 1 / self._in_directory[directory]
        if self._links.pattern[link] == NO_PATTERN:
            self._stages[site.host].left[layer] += 1

    def measured(self, site: Site) -> None:
        links = np.frombuffer(site.links, dtype=np.uint32)
        pattern = np.frombuffer(self._links.pattern, dtype=np.int32)[links]
        layers = np.frombuffer(self._layer, dtype=np.uint8)[links[pattern == NO_PATTERN]]
        self._stages[site.host].left = Counter(layers.tolist())

    def started(self, site: Site, link: int) -> bool:
        if self._links.pattern[link] != NO_PATTERN:
            return False
        stage, layer = self._stages[site.host], self._layer[link]
        stage.left[layer] -= 1
        if stage.guided:
            return False
        first = not stage.probed
        stage.probed[layer] += 1
        stage.under_way.add(link)
        return self.moved(site) or first or stage.probed[layer] == self._allowed(layer)

    def crawled(self, site: Site, page: CrawledPage) -> None:
        self.failed(site, page.id)

    def failed(self, site: Site, link: int) -> None:
        self._stages[site.host].under_way.discard(link)

    def repeated(self, site: Site, link: int) -> bool:
        stage = self._stages[site.host]
        if link not in stage.under_way:
            return False
        stage.probed[self._layer[link]] -= 1
        stage.under_way.discard(link)
        self.moved(site)
        return True

    def moved(self, site: Site) -> bool:
        stage = self._stages[site.host]
        left = any(count > 0 and self._may_probe(stage, n) for n, count in stage.left.items())
        under_way, before = len(stage.under_way), (stage.over, stage.guided)
        stage.over = stage.over or not (left or under_way)
        stage.guided = stage.over or not (left or 4 * under_way > stage.probed.total())
        return before != (stage.over, stage.guided)

    def scores(self, site: Site, links: Ids, rate: Numbers, paper: Numbers) -> Numbers:
        pattern = np.frombuffer(self._links.pattern, dtype=np.int32)[links]
        return np.where(pattern == NO_PATTERN, self._probes(site, links), paper + rate)

    def parts(self, site: Site, link: int, rate: float, paper: float) -> dict[str, float]:
        if self._links.pattern[link] == NO_PATTERN:
            return {"as a probe": float(self._probes(site, np.array([link]))[0])}
        return {"rate of its pattern": rate, "S of (4.8)": paper}

    def _allowed(self, layer: int) -> int:
        """NUM(n) = NUM(2) · (n − 1), n ≤ 10 (4.2); layer 1 has as many as layer 2."""
        return 0 if layer > _LAST_PROBED_LAYER else self._num2 * max(layer - 1, 1)

    def _may_probe(self, stage: _Stage, layer: int) -> bool:
        """Tell whether a layer has probes left; the first probe of a site may be of any layer."""
        return not stage.probed or stage.probed[layer] < self._allowed(layer)

    def _probes(self, site: Site, links: Ids) -> Numbers:
        """Return the scores of links that match no pattern: what they are worth as probes."""
        stage = self._stages[site.host]
        if stage.guided:
            return np.full(len(links), HELD)
        layers = np.frombuffer(self._layer, dtype=np.uint8)[links]
        free = np.zeros(256, dtype=bool)
        for layer in set(layers.tolist()):
            free[layer] = self._may_probe(stage, layer)
        worth = np.frombuffer(self._worth, dtype=np.float32)[links]
        return np.where(free[layers], worth.astype(np.float64), HELD)
