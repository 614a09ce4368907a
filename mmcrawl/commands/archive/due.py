"""`scrapy archive due`: what a revisit would visit."""

import time

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import as_text
from mmcrawl.archive.revisits import due
from mmcrawl.commands.archive.options import Options
from mmcrawl.commands.archive.subcommand import Subcommand, print_line
from mmcrawl.terminal.archive import due_lines
from mmcrawl.terminal.archive_json import as_json, due_record


def _run(archive: Archive, options: Options, console: Console) -> int:
    now = time.time() if options.at is None else options.at
    found = due(archive, now, options.rules)
    shown = found[: options.limit]
    if options.json:
        for item in shown:
            print(as_json(due_record(item)))
        return 0
    for line in due_lines(shown, now) if shown else ():
        print_line(console, line)
    more = f", of which the first {len(shown)} are shown" if len(shown) < len(found) else ""
    console.print(Text(f"{len(found)} due at {as_text(now)}{more}", "bold"))
    return 0


DUE = Subcommand(
    name="due",
    run=_run,
    what="pages that `scrapy crawl revisit` would visit",
    arguments="[--at TIME]",
    options="at limit json",
)
