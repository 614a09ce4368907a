"""One version of a page, the same as it was, and two versions side by side."""

from starlette.responses import Response

from mmcrawl.archive.comparing.changes import BlockChange, Difference
from mmcrawl.archive.comparing.comparison import difference
from mmcrawl.archive.model import Version, leaves
from mmcrawl.browse.arguments import Arguments, Problem
from mmcrawl.browse.context import Context, numbers_of
from mmcrawl.browse.rendering import page
from mmcrawl.browse.replay.addresses import Mode, replay_address, seconds
from mmcrawl.page.parse import parse_page

_MOST_BLOCKS = 400
_MODES = {"page": Mode.PAGE, "blocks": Mode.BLOCKS, "scripts": Mode.SCRIPTS}


def version_page(context: Context, arguments: Arguments) -> Response:
    archive, version = context.archive, _requested(context, arguments)
    visits = archive.visits(version.url)
    numbers = numbers_of(visits)
    stored = context.page(version)
    blocks = stored.blocks if version.method else []
    parsed = parse_page(stored.body, version.url, version.content_type) if version.method else None
    return page(
        arguments,
        "version",
        version=version,
        title=parsed.title if parsed else "",
        media=parsed.media[:20] if parsed else (),
        blocks=blocks,
        leaves={(block.start, block.end) for block in leaves(blocks)},
        text=stored.text,
        beside=_beside(numbers, version.number),
        numbers=numbers,
        seen=[visit for visit in visits if visit.version == version.number],
    )


def view_page(context: Context, arguments: Arguments) -> Response:
    version = _requested(context, arguments)
    mode = arguments.choice("as", tuple(_MODES), "page")
    if mode == "blocks" and not version.method:
        raise Problem(404, "nopage", url=version.url)
    return page(
        arguments,
        "view",
        version=version,
        title=context.title(version.url, version.number),
        mode=mode,
        modes=list(_MODES) if version.method else ["page"],
        source=replay_address(version.url, seconds(version.time), _MODES[mode]),
        beside=_beside(numbers_of(context.archive.visits(version.url)), version.number),
    )


def diff_page(context: Context, arguments: Arguments) -> Response:
    url, archive = arguments.url(), context.archive
    numbers = numbers_of(context.visits(url))
    if len(numbers) < 2:
        raise Problem(404, "alone", url=url)
    pair = arguments.whole("old", numbers[-2]), arguments.whole("new", numbers[-1])
    if unknown := [number for number in pair if number not in numbers]:
        raise Problem(404, "version", url=url, number=unknown[0])
    older, newer = (
        context.page(archive.version(url, number)) for number in sorted(pair, key=numbers.index)
    )
    found = difference(older, newer)
    ads = bool(arguments.choice("ads", ("1",)))
    without = found if ads else found.without()
    return page(
        arguments,
        "diff",
        difference=found,
        rows=_rows(without),
        older=older,
        newer=newer,
        ads=ads,
        hidden=len(found.blocks) - len(without.blocks),
        numbers=numbers,
        url=older.version.url,
        before=_beside(numbers, older.version.number)[0],
        after=_beside(numbers, newer.version.number)[1],
    )


def _requested(context: Context, arguments: Arguments) -> Version:
    url, archive = arguments.url(), context.archive
    visits = context.visits(url)
    if arguments.text("n"):
        return context.version(arguments, visits)
    at = arguments.time("at", end=True)
    if at is not None and at < visits[0].time:
        raise Problem(404, "early", url=url, time=arguments.text("at"))
    return archive.get(url, at)


def _beside(numbers: list[int], number: int) -> tuple[int | None, int | None]:
    """Return the numbers of the versions before and after one."""
    if number not in numbers:
        return None, None
    at, padded = numbers.index(number), [None, *numbers, None]
    return padded[at], padded[at + 2]


def _rows(found: Difference) -> list[BlockChange | int]:
    """Return what is shown: changes, and numbers of blocks between whose text is the same."""
    rows: list[BlockChange | int] = []
    shown = 0
    for change in found.blocks:
        if change.change not in ("kept", "recut") and not change.markup_only:
            shown += 1
            if shown <= _MOST_BLOCKS:
                rows.append(change)
        elif rows and isinstance(rows[-1], int):
            rows[-1] += 1
        else:
            rows.append(1)
    return rows
