"""What decides between links in search by URL patterns (`urlrule.py`), besides the patterns."""

from collections.abc import Collection

import numpy as np

from mmcrawl.frontier.records import KnownLink
from mmcrawl.scoring.base import CrawledPage, LinkSource
from mmcrawl.scoring.prospects import Prospects
from mmcrawl.scoring.site_state import Ids, Numbers, Site

_NONE = np.empty(0, dtype=np.int64)


class LinkOrder:
    """What decides between links. It is told all that happens; the default makes nothing of it."""

    def news(self) -> None:
        """Note that something is told next that is not the target of a redirect."""

    def registered(self, site: Site, link: int, known: KnownLink) -> None:
        """Take in a new link that was measured against the patterns."""

    def crawled(self, site: Site, page: CrawledPage) -> None:
        """Take in a page; the new links on it are to be registered afterwards."""

    def linked(self, links: Ids) -> None:
        """Take in all links of a page, each once; they are registered."""

    def failed(self, site: Site, link: int) -> None:
        """Note that nothing came of a link."""

    def repeated(self, site: Site, link: int) -> None:
        """Note that a link led to a known page."""

    def revised(self, page: int) -> None:
        """Note that a page called relevant is not."""

    def learns(self, site: Site) -> bool:
        """Tell whether patterns are learnt from the pages of a site at this time."""
        return True

    def freed(self) -> Ids:
        """Return links that were known and must be scored anew, each once in all."""
        return _NONE

    def moved(self, site: Site) -> bool:
        """Move a site to the stage it is in; tell whether its links are scored otherwise now."""
        return False

    def remarks(self) -> list[str]:
        """Return what a user should know of the search, a sentence each."""
        return []

    def scores(self, site: Site, links: Ids, rate: Numbers, paper: Numbers) -> Numbers:
        """Return the scores of waiting links, shape (len(links),).

        Args:
            site: of the links.
            links: ids.
            rate: of their patterns, 0 without one.
            paper: S of (4.8).
        """
        raise NotImplementedError

    def parts(self, link: int, rate: float, paper: float, pattern: str) -> dict[str, float]:
        """Return what the score of a waiting link is the sum of.

        Args:
            link: id.
            rate, paper: as `scores` takes them.
            pattern: to be named behind what it brings; "" for none.
        """
        raise NotImplementedError


class LearntOrder(LinkOrder):
    """Orders links by what is expected of them; patterns and the graph add to it.

    Args:
        source: where links are looked up.
        worth, novelty, lift, s: weights, those of `UrlRule`.
        kinds: of media that are wanted.

    Attributes:
        prospects: what is expected.
    """

    def __init__(
        self,
        source: LinkSource,
        *,
        worth: float,
        novelty: float,
        lift: float,
        s: float,
        kinds: Collection[str],
    ) -> None:
        self.prospects = Prospects(source, kinds=kinds)
        self._worth, self._novelty, self._lift, self._s = worth, novelty, lift, s

    def news(self) -> None:
        self.prospects.learn_failure()

    def registered(self, site: Site, link: int, known: KnownLink) -> None:
        self.prospects.register(link)

    def crawled(self, site: Site, page: CrawledPage) -> None:
        self.prospects.crawled(page)

    def linked(self, links: Ids) -> None:
        self.prospects.linked(links)

    def failed(self, site: Site, link: int) -> None:
        self.prospects.failed(link)

    def revised(self, page: int) -> None:
        self.prospects.revised(page)

    def scores(self, site: Site, links: Ids, rate: Numbers, paper: Numbers) -> Numbers:
        expected, _ = self.prospects.worth(links, novelty=self._novelty)
        return self._worth * expected + self._lift * rate + self._s * paper

    def parts(self, link: int, rate: float, paper: float, pattern: str) -> dict[str, float]:
        worth = self.prospects.parts(link, novelty=self._novelty)
        terms = {name: self._worth * value for name, value in worth.items()}
        terms[f"rate of its pattern{pattern}"] = self._lift * rate
        return terms | {"S of (4.8)": self._s * paper}
