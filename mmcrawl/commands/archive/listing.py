"""`scrapy archive list` and `stats`: pages with versions and visits, and how much is archived."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import ArchiveStats, Visit, as_date, as_text
from mmcrawl.commands.archive.subcommand import JSON, Options, Subcommand, as_json, print_line
from mmcrawl.errors import StoreError
from mmcrawl.terminal.crawl import facts_table, literal, size_of
from mmcrawl.terminal.program import as_called

_MOST_HOSTS = 20


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


def _stats(archive: Archive, options: Options, console: Console) -> int:
    stats = archive.stats()
    if options[JSON]:
        print(as_json(asdict(stats) | {"ratio": round(stats.ratio, 3)}))
    else:
        console.print(_tables(stats))
    return 0


def _tables(stats: ArchiveStats) -> RenderableType:
    facts = {
        "URLs": f"{stats.urls:,}",
        "versions": f"{stats.versions:,}",
        "visits": f"{stats.visits:,}",
        "blocks": _blocks(stats),
        "layouts": _found_again(stats.layouts, stats.distinct_layouts),
        "distinct chunks": f"{stats.chunks:,}",
        "bodies as received": size_of(stats.raw_bytes),
        "distinct chunks of them": size_of(stats.chunk_bytes),
        "the archive takes": f"{size_of(stats.stored_bytes)}, one byte for {stats.ratio:.1f}",
    }
    totals = facts_table(facts.items())
    hosts = Table(box=box.SIMPLE_HEAD)
    hosts.add_column("host", overflow="fold")
    for column in ("URLs", "versions", "bytes"):
        hosts.add_column(column, justify="right")
    ordered = sorted(stats.hosts.items(), key=lambda item: (-item[1].raw_bytes, item[0]))
    for host, numbers in ordered[:_MOST_HOSTS]:
        hosts.add_row(
            literal(host), str(numbers.urls), str(numbers.versions), size_of(numbers.raw_bytes)
        )
    if len(ordered) > _MOST_HOSTS:
        hosts.add_row(f"… and {len(ordered) - _MOST_HOSTS} more", "", "", "")
    return Group(totals, hosts) if ordered else totals


def _blocks(stats: ArchiveStats) -> str:
    kept = _found_again(stats.blocks, stats.distinct_blocks)
    if not stats.uncut:
        return kept
    pages = "1 page" if stats.uncut == 1 else f"{stats.uncut:,} pages"
    known = f"{kept}, and those of {pages}" if stats.blocks else f"those of {pages}"
    return as_called(f"{known} that are cut on demand; `scrapy archive seal` keeps and counts them")


def _found_again(count: int, distinct: int) -> str:
    """Return how many there are, and the share of them that was in the archive before."""
    if not count:
        return "0"
    return f"{count:,}, of which {distinct:,} distinct: {1 - distinct / count:.1%} found again"


STATS = Subcommand("stats", _stats, "how much is archived, and in how many bytes")
