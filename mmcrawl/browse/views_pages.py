"""A page through time: its visits and versions, and which of its blocks change how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from starlette.responses import RedirectResponse, Response

from mmcrawl.archive import Visit
from mmcrawl.archive.comparison import difference
from mmcrawl.browse.asked import Asked
from mmcrawl.browse.block_lives import lives_of
from mmcrawl.browse.block_texts import block_texts
from mmcrawl.browse.context import Context
from mmcrawl.browse.figures import months_of, timeline_of
from mmcrawl.browse.links import address
from mmcrawl.browse.problems import Problem, not_stored
from mmcrawl.browse.rendering import page
from mmcrawl.browse.text import when
from mmcrawl.frontier import host_of

__all__ = ["PageViews"]

_COMPARED = ("6", "12", "24", "48")  # versions, of which is told what changes how often
_MOST_LIVES = 60


@dataclass(frozen=True, slots=True)
class PageViews:
    """A page through time."""

    context: Context

    def through_time(self, asked: Asked) -> Response:
        """Show the visits and versions of a page."""
        url, visits = self._visits(asked.url())
        number, per_page = asked.whole("p", 1), self.context.limits.per_page
        month = asked.text("month", longest=20)
        listed = [v for v in reversed(visits) if not month or when(v.time, "%Y-%m") == month]
        only_new = bool(asked.choice("only", ("new",)))
        if only_new:
            listed = [visit for visit in listed if visit.changed]
        last = max(1, -(-len(listed) // per_page))
        if number > last:
            raise Problem(404, "far", last=last)
        if not listed:
            raise Problem(404, "month", month=month)
        numbers = _numbers(visits)
        return page(
            asked,
            "page",
            url=url,
            host=host_of(url) or "",
            visits=visits,
            listed=listed[per_page * (number - 1) : per_page * number],
            versions=len(numbers),
            month=month,
            only_new=only_new,
            timeline=timeline_of(visits),
            calendar=months_of(visits),
            before=dict(zip(numbers[1:], numbers, strict=False)),
            number=number,
            last=last,
            newest=numbers[-2:] if len(numbers) > 1 else None,
        )

    def blocks(self, asked: Asked) -> Response:
        """Show which blocks change how often."""
        url, visits = self._visits(asked.url())
        archive = self.context.archive
        count = asked.choice("of", _COMPARED, _COMPARED[0])
        numbers = _numbers(visits)
        some = [archive.version(url, number) for number in numbers[-int(count) :]]
        versions = [version for version in some if version.method]
        if len(versions) < 2:
            raise Problem(404, "alone", url=url)
        sides = map(self.context.side, versions)
        lives = lives_of(difference(old, new) for old, new in pairwise(sides))
        shown = lives[:_MOST_LIVES]
        texts: dict[tuple[int, int, int], str] = {}
        for version in versions:
            of = [life.block for life in shown if life.last == version.number]
            found = block_texts(self.context.side(version), of, longest=300) if of else {}
            texts |= {(version.number, start, end): text for (start, end), text in found.items()}
        return page(
            asked,
            "page_blocks",
            url=url,
            versions=versions,
            lives=[
                (life, texts.get((life.last, life.block.start, life.block.end), ""))
                for life in shown
            ],
            left_out=len(lives) - len(shown),
            counts=[one for one in _COMPARED if len(numbers) > int(one) or one == count],
            count=count,
        )

    def find(self, asked: Asked) -> Response:
        """Lead to the page whose address was typed, with or without the scheme."""
        typed = asked.url()
        for url in (typed, f"http://{typed}", f"https://{typed}", f"{typed}/"):
            if self.context.archive.visits(url):
                lang = asked.words.language if asked.words.chosen else None
                return RedirectResponse(address("/page", url=url, lang=lang), 303)
        raise not_stored(typed)

    def _visits(self, url: str) -> tuple[str, list[Visit]]:
        """Return the visits of a URL, and the URL as it is stored."""
        visits = self.context.archive.visits(url)
        if not visits:
            raise not_stored(url)
        number = next((visit.version for visit in visits if visit.version), None)
        if number is None:
            raise not_stored(url)
        return self.context.archive.version(url, number).url, visits


def _numbers(visits: Sequence[Visit]) -> list[int]:
    """Return the numbers of the versions in order of time."""
    return [visit.version for visit in visits if visit.changed and visit.version]
