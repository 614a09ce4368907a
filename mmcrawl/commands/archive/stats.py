"""`scrapy archive stats`: how much is archived."""

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.commands.archive.options import Options
from mmcrawl.commands.archive.subcommand import Subcommand
from mmcrawl.terminal.archive import stats_tables
from mmcrawl.terminal.archive_json import as_json, stats_record


def _run(archive: Archive, options: Options, console: Console) -> int:
    stats = archive.stats()
    if options.json:
        print(as_json(stats_record(stats)))
    else:
        console.print(stats_tables(stats))
    return 0


STATS = Subcommand(
    name="stats",
    run=_run,
    what="how much is archived, and in how many bytes",
    options="json",
)
