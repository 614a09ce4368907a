"""What a person sees of works: a table, one of them, and what describing came to."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mmcrawl.collecting.shelf.collections import Collection
from mmcrawl.collecting.works.model import Work
from mmcrawl.terminal.crawl import facts_table, literal
from mmcrawl.text.media_kinds import KINDS


def works_table(works: Iterable[Work]) -> RenderableType:
    """Return works as a table, a line for each."""
    table = Table(box=box.SIMPLE_HEAD, expand=True)
    for name in ("id", "kind", "files", "licence"):
        table.add_column(name, no_wrap=True, justify="right" if name == "files" else "left")
    table.add_column("title", overflow="ellipsis", no_wrap=True, ratio=1, min_width=12)
    for work in works:
        code = work.licence.code if work.licence else ""
        cells = (work.id, work.kind, f"{len(work.files)}", code, work.title)
        table.add_row(*map(literal, cells))
    return table


def work_page(work: Work) -> RenderableType:
    """Return all that is known of a work."""
    return facts_table((name, literal(text)) for name, text in _facts(work) if text)


def _facts(work: Work) -> Iterator[tuple[str, str]]:
    yield from {
        "id": work.id,
        "title": f"{work.title}  (from: {work.title_source})",
        "kind": work.kind,
        "creator": work.creator,
        "date": work.date,
        "languages": ", ".join(work.languages),
        "topic": work.topic,
        "level": work.level,
        "caption": work.caption,
        "poster": work.poster,
        "subtitles": ", ".join(one.url for one in work.subtitles),
        "corrected": ", ".join(work.corrected),
    }.items()
    for licence in work.licences:
        evidence = licence.evidence
        where = f"{evidence.source}, said of the {evidence.scope}"
        yield "licence", f"{licence.code}  ({where}: {evidence.said})"
    for file in work.files:
        seconds = f"{file.duration:g} s" if file.duration else ""
        facts = [file.mime, f"{file.size:,} bytes" if file.size else "", seconds, file.state]
        yield "file", f"{file.url}  {' '.join(filter(None, facts))}"
    for page in work.pages:
        yield "page", f"{page.url}  {page.title}"


def collections_table(collections: Iterable[Collection]) -> RenderableType:
    """Return collections as a table, a line for each."""
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("id", "works", "name"):
        table.add_column(name, justify="right" if name == "works" else "left", no_wrap=True)
    for one in collections:
        table.add_row(*map(literal, (one.id, f"{len(one.members):,}", one.name)))
    return table


def described_table(works: Sequence[Work], pages: int, place: str) -> RenderableType:
    """Return what describing came to: how many works there are, and what is known of how many."""
    table = Table(box=box.SIMPLE_HEAD)
    kinds = [kind for kind in KINDS if any(work.kind == kind for work in works)]
    for name in ("", *kinds, "all"):
        table.add_column(name, justify="right" if name else "left")
    count: dict[str, Callable[[Work], bool]] = {
        "works": lambda work: True,
        "of several files": lambda work: len(work.files) > 1,
        "with a title that is no file name": lambda work: work.title_source not in ("file", ""),
        "with a licence": lambda work: work.licence is not None,
        "with a creator": lambda work: bool(work.creator),
        "with a date": lambda work: bool(work.date),
        "with a language": lambda work: bool(work.languages),
        "with a level of school": lambda work: bool(work.level),
    }
    for name, test in count.items():
        counts = Counter(work.kind for work in works if test(work))
        table.add_row(name, *(f"{counts[kind]:,}" for kind in kinds), f"{counts.total():,}")
    files = sum(len(work.files) for work in works)
    line = f"{files:,} files on {pages:,} pages are {len(works):,} works; kept in {place}"
    return Group(table, Text(line))
