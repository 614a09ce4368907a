"""`scrapy archive list`: pages with their versions and visits."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Visit, as_date, as_text
from mmcrawl.commands.archive.subcommand import JSON, Options, Subcommand, as_json, print_line
from mmcrawl.errors import StoreError
from mmcrawl.terminal.crawl import literal


def _run(archive: Archive, options: Options, console: Console) -> int:
    which = options.args[0] if options.args else ""
    prefix = which if "://" in which else None
    host = which.lower() if which and prefix is None else None
    count = 0
    for url in archive.urls(host, prefix):
        visits = archive.visits(url)
        if options[JSON]:
            print(as_json(_record(url, visits)))
        else:
            if not count:
                print_line(
                    console, Text(f"{'vers.':>5} {'visits':>6}  {'last visit':<23}  URL", "bold")
                )
            print_line(console, _line(url, visits))
        count += 1
    if not count and which:
        what = f"URL begins with {which}" if prefix else f"page is of host {which}"
        raise StoreError(f"no {what}; `scrapy archive stats` shows the hosts")
    return 0


def _record(url: str, visits: Sequence[Visit]) -> dict[str, Any]:
    return {
        "url": url,
        "versions": sum(visit.changed for visit in visits),
        "visits": len(visits),
        "first_visit": as_date(visits[0].time) if visits else None,
        "last_visit": as_date(visits[-1].time) if visits else None,
    }


def _line(url: str, visits: Sequence[Visit]) -> Text:
    versions = sum(visit.changed for visit in visits)
    last = as_text(visits[-1].time) if visits else ""
    return Text.assemble(
        f"{versions:>5} {len(visits):>6}  ", (f"{last:<23}", "dim"), "  ", literal(url)
    )


LIST = Subcommand("list", _run, "pages with their versions and visits", "[HOST|PREFIX]", (0, 1))
