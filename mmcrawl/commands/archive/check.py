"""`scrapy archive check`: everything is examined."""

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.commands.archive.options import Options
from mmcrawl.commands.archive.subcommand import Subcommand
from mmcrawl.terminal.archive import check_text
from mmcrawl.terminal.archive_json import as_json, check_record


def _run(archive: Archive, options: Options, console: Console) -> int:
    """Check, and repair if wished; 1 if something is damaged."""
    report = archive.check(repair=options.repair)
    if options.json:
        print(as_json(check_record(report)))
    else:
        console.print(check_text(report))
    return 0 if report.clean else 1


CHECK = Subcommand(
    name="check",
    run=_run,
    what="examine everything; exit code 1 if damaged",
    arguments="[--repair]",
    options="repair json",
    writes=True,
)
