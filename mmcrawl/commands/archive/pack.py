"""`scrapy archive pack`: all is cut and compressed."""

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.commands.archive.subcommand import Options, Subcommand
from mmcrawl.terminal.crawl import size_of


def _run(archive: Archive, options: Options, console: Console) -> int:
    before = archive.stats().stored_bytes
    archive.pack()
    console.print(f"{size_of(before)} before, {size_of(archive.stats().stored_bytes)} now")
    return 0


PACK = Subcommand(
    name="pack",
    run=_run,
    what="cut and compress all, give space back",
    writes=True,
)
