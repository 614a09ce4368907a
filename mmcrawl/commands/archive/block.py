"""`scrapy archive block`: the life of a block."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.lives import BlockLife, BlockPage
from mmcrawl.archive.model import as_date, as_text
from mmcrawl.blocks.drawing import printable, short_path
from mmcrawl.commands.archive.subcommand import (
    BODY,
    JSON,
    Option,
    Options,
    Subcommand,
    as_json,
    print_line,
    write_body,
)
from mmcrawl.terminal.archive import KIND_STYLES
from mmcrawl.terminal.crawl import literal
from mmcrawl.terminal.program import complain

_WORDS = 200
TEXT = Option("--text", "all its visible text", False)


def _run(archive: Archive, options: Options, console: Console) -> int:
    life = archive.block(options.args[0])
    last = life.pages[0]
    page = archive.page(archive.version(last.url, last.versions[-1]))
    if options[BODY]:
        write_body(page.body[last.block.start : last.block.end], "-")
    elif options[TEXT]:
        console.print(literal(page.text(last.block)), soft_wrap=True)
    elif options[JSON]:
        print(as_json(_record(life, page)))
    else:
        for line in _lines(life, page):
            print_line(console, line)
        if life.uncut:
            complain(
                "archive", f"{life.uncut} pages were not looked at: `scrapy archive seal` cuts them"
            )
    return 0


def _record(life: BlockLife, page: ArchivedPage) -> dict[str, Any]:
    pages = [_page_record(each) for each in life.pages]
    text = page.text(life.pages[0].block)
    return asdict(life) | {"hosts": life.hosts, "text": text, "pages": pages}


def _page_record(page: BlockPage) -> dict[str, Any]:
    return asdict(page) | {
        name: as_date(getattr(page, name)) for name in ("since", "until", "gone")
    }


def _lines(life: BlockLife, page: ArchivedPage) -> Iterator[Text]:
    block = life.pages[0].block
    head = Text(life.digest, "bold")
    for kind in life.kinds:
        head.append(f"  {kind or 'body'}", KIND_STYLES.get(kind, "default"))
    yield head.append(f"  {life.size:,} bytes", "default")
    if block.topic:
        yield Text(f"topic  {printable(block.topic)}")
    yield Text(f"text   {printable(page.text(block), _WORDS)}")
    since = min(each.since for each in life.pages)
    until = max(each.until for each in life.pages)
    yield Text(
        f"on {_many(len(life.pages), 'page')} of {_many(life.hosts, 'site')}, in"
        f" {_many(life.versions, 'version')}, from {as_text(since)} to {as_text(until)}"
    )
    for each in life.pages:
        yield literal(each.url)
        gone = f"gone {as_text(each.gone)}" if each.gone is not None else "still there"
        yield Text(
            f"  versions {_runs(each.versions)}; {as_text(each.since)} to {as_text(each.until)},"
            f" {gone}; {short_path(each.block.path)}"
        )


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" + "s" * (count != 1)


def _runs(numbers: Sequence[int]) -> str:
    """Return numbers in order as people write them.

    >>> _runs([1, 2, 3, 5])
    '1–3, 5'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{r[0]}–{r[-1]}" if len(r) > 1 else str(r[0]) for r in runs)


BLOCK = Subcommand(
    "block",
    _run,
    "the life of a block: on which pages, from when to when",
    "DIGEST [--text|--body]",
    (1, 1),
    options=(TEXT, BODY, JSON),
)
