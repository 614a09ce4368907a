"""Which links of a page enter the frontier, and with which properties.

It also decides whether pages count as relevant for the crawl: media found on every page of a site
do not count.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from mmcrawl.crawl.listed import ListedLinks
from mmcrawl.crawl.protocol import PageReport
from mmcrawl.frontier.admission import Admission
from mmcrawl.frontier.aliases import BEHIND, Aliases
from mmcrawl.frontier.findings import BoilerplateMedia, Findings, MediaPageRecord
from mmcrawl.frontier.records import KnownLink, NewLink, PageRecord
from mmcrawl.frontier.sqlite import SqliteFrontier
from mmcrawl.page.lists.playlists import may_be_playlist
from mmcrawl.page.model import LISTED, MOVE, SHOWN_PLAYLIST, Link, Linking, MediaResource, Page
from mmcrawl.page.urls import physical_layer
from mmcrawl.scoring.base import LinkText, Scorer
from mmcrawl.scoring.relevance import Signs, TopicTest, Verdict
from mmcrawl.text.media_kinds import ANIMATION
from mmcrawl.text.url_words import translate_url, url_text

logger = logging.getLogger(__name__)

_MOST_MOVES = 5  # in a row at one layer; an endless row of pages would have no depth


class LinkIntake:
    """Adds the links of pages to the frontier, without nofollow ones if `obey_nofollow`."""

    def __init__(
        self,
        frontier: SqliteFrontier,
        admission: Admission,
        scorer: Scorer,
        aliases: Aliases,
        *,
        obey_nofollow: bool,
    ) -> None:
        self._frontier = frontier
        self._admission = admission
        self._scorer = scorer
        self._aliases = aliases
        self.listed = ListedLinks(frontier.store, frontier.job)  # what only sitemaps and feeds name
        self._obey_nofollow = obey_nofollow
        self.refused: Counter[str] = Counter()  # links that were not followed, by reason

    def take(
        self,
        report: PageReport,
        parent: int,
        requests: Sequence[NewLink],
        shown: Sequence[MediaResource] = (),
    ) -> list[int]:
        """Add the links of a page that may be followed; return the ids of all such links.

        Playlists that the page shows as media are read when nothing else waits: the page counts
        as one with media whatever they name.

        Args:
            parent: id of the link that led to it.
            requests: further links, which the spider asked for.
            shown: its media, if it is relevant.
        """
        if report.links_left:
            self.refused["too many on one page"] += report.links_left
            logger.warning(
                "%s has %d links; the last %d are left out (MMCRAWL_LINKS_PER_PAGE)",
                report.page.url,
                len(report.page.links) + report.links_left,
                report.links_left,
            )
        page, lists = report.page, tuple(map(_link_to_list, filter(_may_be_list, shown)))
        links = self._links_of(replace(page, links=page.links + lists) if lists else page, parent)
        links += [number for number, _ in self._frontier.add(list(requests), parent)]
        return list(dict.fromkeys(links))

    def _links_of(self, page: Page, parent: int) -> list[int]:
        if self._obey_nofollow and page.nofollow:
            self.refused["nofollow"] += len(page.links)
            return []
        above = self._frontier.known(parent)
        layer = above.logical_layer + 1
        if named := [link for link in page.links if link.is_listed]:
            self.listed.keep(self._admitted(named, layer), parent)
            self.listed.keep_media(named, page.url)
        known, new = [], []
        for link in page.links:
            if link.is_listed:
                continue
            number = self._frontier.lookup(link.url)
            if number is not None:
                self._frontier.found_in(number, link.block)
                known.append(number)
                continue
            if self._obey_nofollow and link.nofollow:
                self.refused["nofollow"] += 1
                continue
            depth = physical_layer(link.url)
            moves = link.is_move and above.tag_path.split().count(MOVE) < _MOST_MOVES
            reason = self._admission.refuse(link.url, depth, layer - moves)
            if reason is None:
                title = page.groups[link.group].title if link.group >= 0 else ""
                made = self._new_link(link, title, depth, layer - moves)
                new.append(_moved(made, above) if moves else made)
            else:
                self.refused[reason] += 1
        return known + self._added(new, parent)

    def _admitted(self, links: Iterable[Link], layer: int) -> Iterator[Link]:
        """Yield the links of a list that may be followed and are not known."""
        for link in links:
            if self._frontier.lookup(link.url) is None:
                reason = self._admission.refuse(link.url, physical_layer(link.url), layer)
                if reason is None:
                    yield link
                else:
                    self.refused[reason] += 1

    def take_listed(self, *, empty: bool) -> list[int]:
        """Add the listed addresses that are due, or if all is empty; return ids of new links."""
        while due := self.listed.due(empty=empty):
            new: list[int] = []
            for parent, of_list in groupby(due, key=attrgetter("parent")):
                layer = self._frontier.known(parent).logical_layer + 1
                links = (Link(one.url, one.words, LISTED, tag_path=one.tag_path) for one in of_list)
                found = (
                    self._new_link(link, "", physical_layer(link.url), layer)
                    for link in self._admitted(links, layer)
                )
                new += self._added(list(found), parent)
            if new:
                self.listed.followed(new, self._frontier.settled)
            if new or not empty:
                return new
        return []

    def receive(self, links: Sequence[NewLink], parent: int) -> list[int]:
        """Add links that another partition found on the page `parent`; return all their ids."""
        found, new = [], []
        for link in links:
            number = self._frontier.lookup(link.url) if link.filtered and not link.extra else None
            # What is a request leads on from what may be followed, or a spider asked for it.
            reason = self._admission.refuse(
                link.url, link.physical_layer, link.logical_layer, anywhere=bool(link.request)
            )
            if number is not None:
                found.append(number)
            elif reason is None:
                new.append(link)
            else:
                self.refused[reason] += 1
        return found + self._added(new, parent)

    def _added(self, new: Sequence[NewLink], parent: int) -> list[int]:
        """Add links that were not known; those that may be aliases come behind the others."""
        may_be_known = self._aliases.known(link.url for link in new)
        links = [
            replace(link, priority=BEHIND) if alias else link
            for link, alias in zip(new, may_be_known, strict=True)
        ]
        return [number for number, _ in self._frontier.add(links, parent)]

    def _new_link(self, link: Link, title: str, depth: int, layer: int) -> NewLink:
        said = "" if link.is_listed else self.listed.words(link.url)
        text = link.anchor if said in link.anchor else f"{link.anchor} {said}".strip()
        words = LinkText(text, url_text(link.url), title, link.from_script)
        return NewLink(
            url=link.url,
            anchor=link.anchor or said,
            group_title=title,
            url_words=" ".join(translate_url(link.url)),
            logical_layer=layer,
            physical_layer=depth,
            content_score=self._scorer.content(words),
            priority=BEHIND if link.tag_path == SHOWN_PLAYLIST else 0,
            block=link.block,
            tag_path=link.tag_path,
        )


def _may_be_list(medium: MediaResource) -> bool:
    """Return whether a medium is a playlist by its name; what players are given as M3U8 is HLS."""
    is_link = medium.tag in ("a", "area")
    return may_be_playlist(medium.url) or (is_link and ".m3u8" in medium.url.lower())


def _link_to_list(medium: MediaResource) -> Link:
    return Link(medium.url, medium.text, medium.tag, tag_path=SHOWN_PLAYLIST)


def _moved(link: NewLink, page: KnownLink) -> NewLink:
    """Return the link of a move: what led to the page leads on, and promises as much."""
    moves = page.tag_path if page.tag_path.startswith(MOVE) else ""
    return replace(
        link,
        anchor=link.anchor or page.anchor,
        group_title=link.group_title or page.group_title,
        content_score=max(link.content_score, page.content),
        tag_path=f"{moves} {MOVE}".strip(),
    )


def seed_link(url: str) -> NewLink:
    """Return the link of a seed."""
    return NewLink(url, url_words=" ".join(translate_url(url)), physical_layer=physical_layer(url))


class Judge:
    """The topic test, given what the crawl has seen."""

    def __init__(
        self,
        test: TopicTest,
        boilerplate: BoilerplateMedia,
        frontier: SqliteFrontier,
        findings: Findings,
    ) -> None:
        self._test = test
        self._boilerplate = boilerplate
        self._frontier = frontier
        self._findings = findings

    def verdict(
        self, url: str, signs: Signs, media: Sequence[MediaResource], digest: int
    ) -> Verdict:
        """Return whether a page is relevant, and why; site-wide media and copies do not count."""
        own = [resource for resource in media if resource.url not in self._boilerplate]
        return self._but_for_aliases(self._test.verdict(url, signs, own), url, digest)

    def confirmed(self, verdict: Verdict | None, report: PageReport) -> Verdict:
        """Return a verdict as of now: media may have become site-wide, or the page be a copy."""
        url = report.page.url
        if verdict is not None and not verdict.relevant:
            return verdict
        if verdict is None or any(media.url in self._boilerplate for media in verdict.media):
            return self.verdict(url, report.signs, report.page.media, report.digest)
        return self._but_for_aliases(verdict, url, report.digest)

    def on_its_page(self, found: MediaPageRecord, led_by: Linking | None) -> MediaPageRecord:
        """Return what was found as it is to be kept: a medium that was an answer as one of the page
        that links to it, and what a playlist names in its place.

        Args:
            found: a page with its media, or an answer that is one.
            led_by: what led to such an answer.
        """
        if led_by is None or not led_by.url or led_by.is_elsewhere:
            return found
        before = self._findings.at(led_by.url)
        if before is None:
            return replace(found, url=led_by.url, title=led_by.title)
        kept = [medium for medium in before.resources if medium.url not in led_by.urls]
        own = {medium.url: medium for medium in (*found.resources, *kept)}
        new = [medium for medium in found.resources if own[medium.url] is medium]
        return before.with_resources((*kept, *new))

    def hand_over(self, said: Mapping[str, Set[str]]) -> list[int]:
        """Take media of pages out of lists (addresses by list); return the lists left with none."""
        lost = []
        for list_url, media in said.items():
            for record in self._findings.pages_showing(media):
                if record.url != list_url:
                    continue
                left = tuple(r for r in record.resources if r.url not in media)
                if left:
                    self._findings.add_media_page(record.with_resources(left))
                    continue
                self._findings.drop_media_page(list_url)
                number = self._frontier.lookup(list_url)
                lost += [] if number is None else [number]
        return lost

    def _but_for_aliases(self, verdict: Verdict, url: str, digest: int) -> Verdict:
        alias = self._frontier.alias(url, digest) if verdict.relevant else None
        return replace(verdict, relevant=False, alias=alias) if alias else verdict

    def see(self, page: Page, digest: int) -> list[int]:
        """Count a page's media, unless it is an alias; return links of pages left without any."""
        if self._frontier.alias(page.url, digest):
            return []
        wanted = {r.url: r.kind for r in page.media if r.kind in self._test.kinds}
        animations = {url for url, kind in wanted.items() if kind == ANIMATION}
        site_wide = self._boilerplate.add(page.url, wanted, animations)
        lost = []
        for record in self._findings.pages_showing(site_wide) if site_wide else ():
            left = tuple(r for r in record.resources if r.url not in self._boilerplate)
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


def page_record(report: PageReport, verdict: Verdict, new_media: int) -> PageRecord:
    """Return the stored record of a page."""
    page = report.page
    return PageRecord(
        url=page.url,
        title=page.title,
        keywords=page.keywords,
        description=page.description,
        contains_media=bool(verdict.media),
        relevant=verdict.relevant,
        links_on_page=len(page.links) + report.links_left,
        visited_at=report.visited_at,
        digest=report.digest,
        topic_score=verdict.score,
        new_media=new_media,
    )


def media_page(
    page: Page, verdict: Verdict, http_status: int, visited_at: float, extra: str = ""
) -> MediaPageRecord:
    """Return the record of a relevant page with its media (the paper's MultiMedia)."""
    return MediaPageRecord(
        url=page.url,
        title=page.title,
        topic_score=verdict.score,
        words=verdict.words,
        status=http_status,
        visited_at=visited_at,
        resources=verdict.media,
        extra=extra,
    )
