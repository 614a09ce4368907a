"""`scrapy archive list`: pages with their versions and visits."""

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.commands.archive.options import Options
from mmcrawl.commands.archive.subcommand import Subcommand, print_line
from mmcrawl.errors import StoreError
from mmcrawl.terminal.archive import url_line
from mmcrawl.terminal.archive_json import as_json, url_record


def _run(archive: Archive, options: Options, console: Console) -> int:
    which = options.args[0] if options.args else ""
    prefix = which if "://" in which else None
    host = which.lower() if which and prefix is None else None
    count = 0
    for url in archive.urls(host, prefix):
        visits = archive.visits(url)
        if options.json:
            print(as_json(url_record(url, visits)))
        else:
            if not count:
                print_line(
                    console, Text(f"{'vers.':>5} {'visits':>6}  {'last visit':<23}  URL", "bold")
                )
            print_line(console, url_line(url, visits))
        count += 1
    if not count and which:
        what = f"URL begins with {which}" if prefix else f"page is of host {which}"
        raise StoreError(f"no {what}; `scrapy archive stats` shows the hosts")
    return 0


LIST = Subcommand(
    name="list",
    run=_run,
    what="pages with their versions and visits",
    arguments="[HOST|PREFIX]",
    most=1,
    options="json",
)
