"""`scrapy archive due`: what `scrapy crawl revisit` would visit, and why."""

import time
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from math import inf
from typing import Any

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import as_date, as_text
from mmcrawl.archive.revisits import Due, in_order, schedule
from mmcrawl.commands.archive.answers import each_answer, of_which, print_line
from mmcrawl.commands.terminal.tables import literal, next_due

_HEAD = f"{'due since':>9}  {'last visit':<23}  {'changes a day':>13}  page"


def due(archive: Archive, options: Namespace, console: Console) -> int:
    now = time.time() if options.at is None else options.at
    found, later = [], inf
    for one in schedule(archive, now, options.config.revisits):
        if one.next_visit <= now:
            found.append(one)
        else:
            later = min(later, one.next_visit)
    found = in_order(found)
    shown = found[: options.limit]
    each_answer(options, console, shown, _record, partial(due_lines, now=now), head=_HEAD)
    if not options.json:
        more = of_which(len(shown), len(found))
        console.print(Text(f"{len(found)} due at {as_text(now)}{more}", "bold"))
        if later < inf:
            print_line(console, next_due(later))
    return 0


def _record(one: Due) -> dict[str, Any]:
    return {
        "url": one.url,
        "last_visit": as_date(one.last_visit),
        "next_visit": as_date(one.next_visit),
        "changes_per_day": one.rate,
        "why": one.why,
    }


def due_lines(one: Due, now: float) -> Iterator[Text]:
    """Yield a visit that is due, and its reason in a line below."""
    rate = "" if one.rate is None else f"{one.rate:.2g}"
    since, last = _ago(now - one.next_visit), as_text(one.last_visit)
    line = Text.assemble(f"{since:>9}  ", (f"{last:<23}", "dim"), f"  {rate:>13}  ")
    yield line.append_text(literal(one.url))
    yield Text(f"{'':>9}  {one.why}", "dim")


def _ago(seconds: float) -> str:
    for size, unit in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return "now"
