"""Subcommands of `scrapy archive` over all pages: their export, their duplicates, their classes."""

import os
from collections import Counter
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from mmcrawl.archive import Archive
from mmcrawl.commands.archive.options import Options
from mmcrawl.rank import Reading
from mmcrawl.rank.records import PageRecord
from mmcrawl.terminal.archive_json import as_json
from mmcrawl.terminal.crawl import literal, size_of
from mmcrawl.terminal.program import complain
from mmcrawl.terminal.rank import RankProgress

__all__ = ["classes", "duplicates", "export_parquet"]

_GROUPS, _URLS = 20, 5  # that are shown
_NEAR = 0.8


def export_parquet(archive: Archive, options: Options, console: Console) -> int:
    """Write pages, blocks and links; 1 if a page is damaged."""
    from mmcrawl.rank.page_bodies import body_of
    from mmcrawl.rank.parquet import Body, write_export

    counts = archive.counts()
    folder = os.path.expanduser(options.args[0])

    def body(page: PageRecord) -> Body:
        return body_of(archive, page.url, page.version, page.id)

    with _progress() as progress:
        reading = Reading(archive, at=options.at, progress=progress)
        export = write_export(
            reading,
            folder,
            body_of=body if options.bodies else None,
            facts=lambda: {
                "at": options.at,
                "archive_urls": counts["urls"],
                "archive_versions": counts["versions"],
                "skipped": dict(reading.skipped),
            },
        )
    if options.json:
        print(as_json({"path": folder, **asdict(export), "skipped": dict(reading.skipped)}))
    else:
        rows = ", ".join(f"{count:,} {name}" for name, count in export.rows.items())
        console.print(literal(f"{folder}: {rows}, {size_of(export.stored_bytes)}"), soft_wrap=True)
    return _told(reading.unreadable)


def duplicates(archive: Archive, options: Options, console: Console) -> int:
    """Find pages that say the same, and keep what was found; 1 if a page is damaged."""
    from mmcrawl.rank.duplicates.finding import find_duplicates
    from mmcrawl.rank.duplicates.results import save_duplicates

    near = options.near if options.near is not None else _NEAR
    with _progress() as progress:
        found = find_duplicates(archive, near=near, at=options.at, progress=progress)
    save_duplicates(options.uri, found)
    if options.json:
        for group in found.groups[: options.limit]:
            print(as_json(asdict(group)))
        return _told(found.unreadable)
    shown = found.groups[: options.limit or _GROUPS]
    for group in shown:
        how = "the same" if group.exact else "alike"
        sites = f" on {group.hosts} sites" if group.hosts > 1 else ""
        console.print(Text(f"{len(group.urls):,} pages{sites}, {how}:", "bold"))
        for url in group.urls[:_URLS]:
            console.print(Text("  ").append(literal(url)), soft_wrap=True)
        if len(group.urls) > _URLS:
            console.print(f"  and {len(group.urls) - _URLS:,} more")
    more = f", of which {len(shown)} are shown" if len(shown) < len(found.groups) else ""
    alike = sum(len(group.urls) for group in found.groups)
    console.print(
        f"{found.pages:,} pages with text; {alike:,} are like another, in {len(found.groups):,}"
        f" groups{more}",
        soft_wrap=True,
    )
    return _told(found.unreadable)


def classes(archive: Archive, options: Options, console: Console) -> int:
    """Tell what pages are there for; 1 if a page is damaged."""
    from mmcrawl.rank.page_class import PAGE_CLASSES, classes_of

    counts: Counter[str] = Counter()
    with _progress() as progress:
        reading = Reading(archive, at=options.at, topics=False, progress=progress)
        for url, number, found in classes_of(archive, reading):
            counts[found.name] += 1
            if options.json:
                told = {name: round(value, 4) for name, value in found.probabilities.items()}
                row = {"url": url, "version": number, "class": found.name, "probabilities": told}
                print(as_json(row))
            else:
                sure = f"{found.probabilities[found.name]:4.0%}"
                line = Text(f"{found.name:<6} {sure}  ").append(literal(url))
                console.print(line, soft_wrap=True)
    if not options.json:
        parts = ", ".join(f"{counts[name]:,} {name}" for name in PAGE_CLASSES)
        console.print(Text(f"{counts.total():,} pages: {parts}", "bold"))
    return _told(reading.unreadable)


def _progress() -> RankProgress:
    return RankProgress(Console(stderr=True, highlight=False))


def _told(problems: tuple[str, ...] | list[str]) -> int:
    for problem in problems:
        complain("archive", problem)
    return 1 if problems else 0
