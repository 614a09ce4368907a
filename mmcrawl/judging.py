"""Whether pages are relevant, as far as the crawl knows: media of a whole site count for none."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from mmcrawl.frontier import (
    Findings,
    MediaPageRecord,
    MediaResourceRecord,
    Sightings,
    SqliteFrontier,
)
from mmcrawl.page import MediaResource, Page
from mmcrawl.reports import PageReport
from mmcrawl.scoring import Signs, TopicTest, Verdict

__all__ = ["Judge", "media_page"]

logger = logging.getLogger(__name__)


class Judge:
    """The topic test with what the crawl has seen.

    Args:
        test: tells of a page by itself whether it is relevant.
        sightings: knows the media that stand on most pages of a site.
        frontier: knows the pages that were found before.
        findings: the media pages so far.
    """

    def __init__(
        self, test: TopicTest, sightings: Sightings, frontier: SqliteFrontier, findings: Findings
    ) -> None:
        self._test = test
        self._sightings = sightings
        self._frontier = frontier
        self._findings = findings

    def verdict(
        self, url: str, signs: Signs, media: Sequence[MediaResource], digest: int
    ) -> Verdict:
        """Return whether a page is relevant, and why.

        Site-wide media do not count, and a page whose bytes were found at another address of its
        host is not found again.
        """
        own = [resource for resource in media if resource.url not in self._sightings]
        verdict = self._test.verdict(url, signs, own)
        twin = self._frontier.twin(url, digest) if verdict.relevant else None
        return replace(verdict, relevant=False, twin=twin) if twin else verdict

    def see(self, page: PageReport) -> list[int]:
        """Count the media of a page; take back pages whose only media turn out to be site-wide.

        Returns the links of those pages.
        """
        wanted = [r.url for r in page.media if r.kind in self._test.kinds]
        site_wide = self._sightings.add(page.url, wanted)
        lost = []
        for record in self._findings.pages_showing(site_wide) if site_wide else ():
            left = tuple(r for r in record.resources if r.url not in self._sightings)
            if left:
                self._findings.add_media_page(record.with_resources(left))
                continue
            self._findings.drop_media_page(record.url)
            number = self._frontier.lookup(record.url)
            if number is not None:
                lost.append(number)
        for resource in site_wide:
            logger.info("%s stands on most pages of its site and counts for none", resource)
        return lost


def media_page(
    page: Page | PageReport, verdict: Verdict, http_status: int, visited_at: float
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
