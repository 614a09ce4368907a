"""`scrapy archive due`: what `scrapy crawl revisit` would visit, and why."""

import time
from argparse import Namespace
from collections.abc import Iterable, Iterator
from math import inf
from typing import Any

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import as_date, as_text
from mmcrawl.archive.revisits import Due, in_order, schedule
from mmcrawl.commands.archive.subcommand import AT, LIMIT, ArchiveSubcommand, of_which, print_line
from mmcrawl.commands.base import JSON, as_json
from mmcrawl.commands.terminal.tables import literal, next_due


def _due(archive: Archive, options: Namespace, console: Console) -> int:
    at = options.at
    now = time.time() if at is None else at
    found, later = [], inf
    for one in schedule(archive, now, options.config.revisits):
        if one.next_visit <= now:
            found.append(one)
        else:
            later = min(later, one.next_visit)
    found = in_order(found)
    shown = found[: options.limit]
    if options.json:
        for item in shown:
            print(as_json(_due_record(item)))
        return 0
    for line in due_lines(shown, now) if shown else ():
        print_line(console, line)
    more = of_which(len(shown), len(found))
    console.print(Text(f"{len(found)} due at {as_text(now)}{more}", "bold"))
    if later < inf:
        print_line(console, next_due(later))
    return 0


def _due_record(due: Due) -> dict[str, Any]:
    return {
        "url": due.url,
        "last_visit": as_date(due.last_visit),
        "next_visit": as_date(due.next_visit),
        "changes_per_day": due.rate,
        "why": due.why,
    }


def due_lines(found: Iterable[Due], now: float) -> Iterator[Text]:
    """Yield the visits that are due, each with its reason in a line below, under a head."""
    yield Text(f"{'due since':>9}  {'last visit':<23}  {'changes a day':>13}  page", "bold")
    for item in found:
        rate = "" if item.rate is None else f"{item.rate:.2g}"
        since, last = _ago(now - item.next_visit), as_text(item.last_visit)
        yield Text.assemble(f"{since:>9}  ", (f"{last:<23}", "dim"), f"  {rate:>13}  ").append_text(
            literal(item.url)
        )
        yield Text(f"{'':>9}  {item.why}", "dim")


def _ago(seconds: float) -> str:
    for size, unit in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return "now"


DUE = ArchiveSubcommand(
    "due",
    "pages that `scrapy crawl revisit` would visit",
    options=(AT, LIMIT, JSON),
    run=_due,
)
