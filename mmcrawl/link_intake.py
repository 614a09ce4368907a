"""Which links of a page come into the frontier, and as what."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from mmcrawl.frontier import Admission, NewLink, SqliteFrontier
from mmcrawl.page import physical_layer
from mmcrawl.reports import PageReport, ReportedLink
from mmcrawl.scoring import LinkText, Scorer
from mmcrawl.text import translate_url, url_text

__all__ = ["LinkIntake", "seed_link"]

logger = logging.getLogger(__name__)


class LinkIntake:
    """Adds the links of pages to the frontier.

    Args:
        frontier: where they go.
        admission: tells which may be followed.
        scorer: tells what their own words say.
        obey_nofollow: leave links alone that the page asks not to follow.

    Attributes:
        refused: links that were not followed, by reason.
    """

    def __init__(
        self,
        frontier: SqliteFrontier,
        admission: Admission,
        scorer: Scorer,
        *,
        obey_nofollow: bool,
    ) -> None:
        self._frontier = frontier
        self._admission = admission
        self._scorer = scorer
        self._obey_nofollow = obey_nofollow
        self.refused: Counter[str] = Counter()

    def take(
        self,
        report: PageReport,
        parent: int,
        requests: Sequence[NewLink],
        kinds_of: Callable[[], Mapping[str, str]],
    ) -> list[int]:
        """Add the links of a page that may be followed; return the ids of all such links.

        Args:
            report: of the page.
            parent: id of the link that led to it.
            requests: further links, which the spider asked for.
            kinds_of: gives the kind of the block that a link stands in, by its address; asked only
                if there are new links.
        """
        if report.links_left:
            self.refused["too many on one page"] += report.links_left
            logger.warning(
                "%s has %d links; the last %d are left out (MMCRAWL_LINKS_PER_PAGE)",
                report.url,
                len(report.links) + report.links_left,
                report.links_left,
            )
        links = self._links_of(report, parent, kinds_of)
        links += [number for number, _ in self._frontier.add(list(requests), parent)]
        return list(dict.fromkeys(links))

    def _links_of(
        self, report: PageReport, parent: int, kinds_of: Callable[[], Mapping[str, str]]
    ) -> list[int]:
        if self._obey_nofollow and report.nofollow:
            self.refused["nofollow"] += len(report.links)
            return []
        known, new = [], []
        kinds: Mapping[str, str] | None = None
        for link in report.links:
            number = self._frontier.lookup(link.url)
            if number is not None:
                known.append(number)
                continue
            if self._obey_nofollow and link.nofollow:
                self.refused["nofollow"] += 1
                continue
            depth = physical_layer(link.url)
            reason = self._admission.refuse(link.url, depth, report.layer + 1)
            if reason is None:
                kinds = kinds_of() if kinds is None else kinds
                block = kinds.get(link.url, link.block)
                new.append(self._new_link(link, depth, report.layer + 1, block))
            else:
                self.refused[reason] += 1
        return known + [number for number, _ in self._frontier.add(new, parent)]

    def _new_link(self, link: ReportedLink, depth: int, layer: int, block: str) -> NewLink:
        words = LinkText(link.anchor, url_text(link.url), link.group_title, link.from_script)
        return NewLink(
            url=link.url,
            anchor=link.anchor,
            group_title=link.group_title,
            url_words=" ".join(translate_url(link.url)),
            logical_layer=layer,
            physical_layer=depth,
            content_score=self._scorer.content(words),
            block=block,
        )


def seed_link(url: str) -> NewLink:
    """Return the link of a seed."""
    return NewLink(url, url_words=" ".join(translate_url(url)), physical_layer=physical_layer(url))
