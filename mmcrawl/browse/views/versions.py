"""One version of a page, the same as it was, and two versions side by side."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from starlette.responses import Response

from mmcrawl.archive.atom import MEDIA_TYPE, atom_feed, feed_title
from mmcrawl.archive.comparing.change_kinds import CHANGE_KINDS
from mmcrawl.archive.comparing.changes import BlockChange, Difference
from mmcrawl.archive.comparing.comparison import difference
from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.model import StoredBlock, Version, leaves
from mmcrawl.archive.revisits import COUNTED
from mmcrawl.archive.uris import shown
from mmcrawl.archive.watching import Watch, WatchedChange, watched_changes
from mmcrawl.blocks.selecting import LONGEST_SELECTOR, ElementSelector
from mmcrawl.browse.arguments import Arguments, Problem
from mmcrawl.browse.context import Context, numbers_of
from mmcrawl.browse.rendering import page
from mmcrawl.browse.replay.addresses import Mode, replay_address, seconds
from mmcrawl.browse.text import address, when
from mmcrawl.errors import SearchError
from mmcrawl.page.parse import parse_page

_MOST_BLOCKS = 400
_LONGEST = 4_000  # characters of a block's text
_MODES = {"page": Mode.PAGE, "blocks": Mode.BLOCKS, "scripts": Mode.SCRIPTS}


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a comparison: what became of a block, and the text of either side."""

    change: BlockChange
    old_text: str
    new_text: str


@dataclass(frozen=True, slots=True)
class VersionViews:
    context: Context

    def version(self, arguments: Arguments) -> Response:
        archive, version = self.context.archive, self._requested(arguments)
        visits = archive.visits(version.url)
        numbers = numbers_of(visits)
        before, after = _beside(numbers, version.number)
        stored = self.context.page(version)
        blocks = stored.blocks if version.method else []
        innermost = leaves(blocks)
        texts = {
            (block.start, block.end): stored.text(block)[:400] for block in innermost[:_MOST_BLOCKS]
        }
        parsed = (
            parse_page(stored.body, version.url, version.content_type) if version.method else None
        )
        return page(
            arguments,
            "version",
            version=version,
            title=parsed.title if parsed else "",
            media=parsed.media[:20] if parsed else (),
            blocks=[(block, texts.get((block.start, block.end), "")) for block in blocks],
            leaves={(block.start, block.end) for block in innermost},
            previous=before,
            following=after,
            total=len(numbers),
            place=numbers.index(version.number) + 1 if version.number in numbers else 0,
            seen=[visit for visit in visits if visit.version == version.number],
        )

    def view(self, arguments: Arguments) -> Response:
        version = self._requested(arguments)
        mode = arguments.choice("as", tuple(_MODES), "page")
        if mode == "blocks" and not version.method:
            raise Problem(404, "nopage", url=version.url)
        numbers = numbers_of(self.context.archive.visits(version.url))
        before, after = _beside(numbers, version.number)
        return page(
            arguments,
            "view",
            version=version,
            mode=mode,
            modes=list(_MODES) if version.method else ["page"],
            source=replay_address(version.url, seconds(version.time), _MODES[mode]),
            previous=before,
            following=after,
        )

    def diff(self, arguments: Arguments) -> Response:
        url, archive = arguments.url(), self.context.archive
        numbers = numbers_of(self.context.visits(url))
        if len(numbers) < 2:
            raise Problem(404, "alone", url=url)
        pair = arguments.whole("old", numbers[-2]), arguments.whole("new", numbers[-1])
        for number in pair:
            if number not in numbers:
                raise Problem(404, "version", url=url, number=number)
        older, newer = (
            self.context.page(archive.version(url, number))
            for number in sorted(pair, key=numbers.index)
        )
        found = difference(older, newer)
        ads = bool(arguments.choice("ads", ("1",)))
        without = found if ads else found.without()
        return page(
            arguments,
            "diff",
            difference=found,
            rows=_rows(older, newer, without),
            summary=found.summary(),
            ads=ads,
            hidden=len(found.blocks) - len(without.blocks),
            numbers=numbers,
            url=older.version.url,
            steps=_steps(numbers, older.version.number, newer.version.number),
        )

    def _requested(self, arguments: Arguments) -> Version:
        url, archive = arguments.url(), self.context.archive
        visits = self.context.visits(url)
        if arguments.text("n"):
            return self.context.version(arguments, visits)
        at = arguments.time("at", end=True)
        if at is not None and at < visits[0].time:
            raise Problem(404, "early", url=url, time=arguments.text("at"))
        return archive.get(url, at)


def _beside(numbers: list[int], number: int) -> tuple[int | None, int | None]:
    """Return the numbers of the versions before and after one."""
    if number not in numbers:
        return None, None
    at = numbers.index(number)
    after = numbers[at + 1] if at + 1 < len(numbers) else None
    return (numbers[at - 1] if at else None), after


def _rows(older: ArchivedPage, newer: ArchivedPage, found: Difference) -> list[_Row | int]:
    """Return what is shown: changes, and numbers of blocks between whose text is the same."""
    rows: list[_Row | int] = []
    shown = 0
    for change in found.blocks:
        if change.change not in ("kept", "recut") and not change.markup_only:
            shown += 1
            if shown <= _MOST_BLOCKS:
                rows.append(_Row(change, _text(older, change.old), _text(newer, change.new)))
        elif rows and isinstance(rows[-1], int):
            rows[-1] += 1
        else:
            rows.append(1)
    return rows


def _text(page: ArchivedPage, block: StoredBlock | None) -> str:
    return page.text(block)[:_LONGEST] if block is not None else ""


def _steps(numbers: list[int], old: int, new: int) -> dict[str, tuple[int, int] | None]:
    """Return the pairs of versions before and after, if the two follow each other."""
    at = numbers.index(new)
    if at == 0 or numbers[at - 1] != old:
        return {"before": None, "after": None}
    return {
        "before": (numbers[at - 2], old) if at > 1 else None,
        "after": (new, numbers[at + 1]) if at + 1 < len(numbers) else None,
    }


_MOST = 30
_MOST_SEEN_BLOCKS = 8  # of a change
_ALL = "all"
_SHARE_OF_TIME = 0.6  # of what a request may take, after which no more is compared
_INSTANT = 2e-6  # seconds; as finely as a time is written


@dataclass(frozen=True, slots=True)
class _Found:
    """Changes, the newest first.

    Attributes:
        next: Time of the first change that is not among them; None if all are.
        late: Whether there was no time to compare more.
    """

    changes: list[WatchedChange]
    next: float | None = None
    late: bool = False


@dataclass(frozen=True, slots=True)
class WatchViews:
    context: Context

    def page(self, arguments: Arguments) -> Response:
        form = _form(arguments)
        wrong = ""
        try:
            found = self._found(arguments, form)
        except SearchError as error:
            found, wrong = _Found([]), str(error)
        return page(
            arguments,
            "watch",
            status=400 if wrong else 200,
            form=form,
            kinds=CHANGE_KINDS,
            most=_MOST_SEEN_BLOCKS,
            changes=found.changes,
            feed="" if wrong else address("/watch.atom", **form),
            until="" if found.next is None else _written(found.next + _INSTANT),
            late=found.next if found.late else None,
            wrong=wrong,
        )

    def feed(self, arguments: Arguments) -> Response:
        form = _form(arguments)
        try:
            found = self._found(arguments, form)
        except SearchError as error:
            raise Problem(400, "selector", error=error) from None
        browser = str(arguments.request.base_url)
        feed = atom_feed(
            found.changes,
            title=feed_title(form["url"] or form["site"], form["kind"], form["css"]),
            archive=shown(self.context.uri),
            browser=browser,
            own=browser.rstrip("/") + address("/watch.atom", **form),
        )
        return Response(feed, media_type=MEDIA_TYPE)

    def _found(self, arguments: Arguments, form: dict[str, str]) -> _Found:
        since, until = arguments.time("since"), arguments.time("until")
        watch = Watch(
            _kinds(form),
            ElementSelector(form["css"]) if form["css"] else None,
            since=-inf if since is None else since,
            until=inf if until is None else until,
        )
        deadline = time.monotonic() + _SHARE_OF_TIME * self.context.limits.seconds
        unseen: list[float] = []

        def stop(at: float) -> bool:
            if time.monotonic() > deadline:
                unseen.append(at)
            return bool(unseen)

        changes: list[WatchedChange] = []
        found = watched_changes(
            self.context.archive, self._urls(form), watch, read=self.context.page, stop=stop
        )
        for change in found:
            if len(changes) == _MOST:
                return _Found(changes, change.time)
            changes.append(change)
        return _Found(changes, unseen[0], late=True) if unseen else _Found(changes)

    def _urls(self, form: dict[str, str]) -> Iterable[str]:
        url, site, archive = form["url"], form["site"].lower(), self.context.archive
        if url:
            versions = archive.versions(url)
            if not versions:
                raise Problem(404, "url", url=url)
            return [versions[0].url]
        if site and site not in archive.hosts():
            raise Problem(404, "host", host=site)
        return archive.urls(host=site or None)


def _form(arguments: Arguments) -> dict[str, str]:
    since = arguments.time("since")
    return {
        "kind": arguments.choice("kind", (_ALL, *CHANGE_KINDS)),
        "css": arguments.text("css", longest=LONGEST_SELECTOR),
        "since": "" if since is None else _written(since),
        "site": arguments.text("site", longest=300),
        "url": arguments.text("url", longest=arguments.longest_url),
    }


def _kinds(form: dict[str, str]) -> frozenset[str] | None:
    """Return the kinds that are watched: where none is named, those that the page is there for."""
    kind = form["kind"]
    if kind == _ALL or (form["css"] and not kind):
        return None
    return frozenset({kind}) if kind else COUNTED


def _written(at: float) -> str:
    text = when(at, "%Y-%m-%dT%H:%M:%S.%f")
    return text.removesuffix(".000000").removesuffix("T00:00:00")
