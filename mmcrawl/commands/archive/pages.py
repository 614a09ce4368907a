"""`scrapy archive classes`, `duplicates` and `export-parquet`: what all pages are, and say."""

import os
from collections import Counter
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.commands.archive.subcommand import (
    AT,
    JSON,
    LIMIT,
    Option,
    Options,
    Subcommand,
    as_json,
    print_problems,
)
from mmcrawl.rank.reading import Reading
from mmcrawl.terminal.crawl import literal, size_of
from mmcrawl.terminal.telling import ProgressBars

_GROUPS, _URLS = 20, 5  # that are shown


def _classes(archive: Archive, options: Options, console: Console) -> int:
    """Tell what pages are there for; 1 if a page is damaged."""
    from mmcrawl.rank.page_class import PAGE_CLASSES, classes_of

    counts: Counter[str] = Counter()
    with ProgressBars() as progress:
        reading = Reading(archive, at=options[AT], topics=False, progress=progress)
        for url, number, found in classes_of(archive, reading):
            counts[found.name] += 1
            if options[JSON]:
                told = {name: round(value, 4) for name, value in found.probabilities.items()}
                row = {"url": url, "version": number, "class": found.name, "probabilities": told}
                print(as_json(row))
            else:
                sure = f"{found.probabilities[found.name]:4.0%}"
                line = Text(f"{found.name:<6} {sure}  ").append(literal(url))
                console.print(line, soft_wrap=True)
    if not options[JSON]:
        parts = ", ".join(f"{counts[name]:,} {name}" for name in PAGE_CLASSES)
        console.print(Text(f"{counts.total():,} pages: {parts}", "bold"))
    return print_problems(reading.unreadable)


CLASSES = Subcommand(
    "classes",
    _classes,
    "what each page is there for: topic, hub, media, other",
    "[--at TIME]",
    options=(AT, JSON),
    shows_progress=True,
)


def _share(text: str, flag: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise ValueError(f"{flag} {text}: give a number above 0 and at most 1, as 0.8")
    return value


NEAR = Option("--near", "of the text, from which on (default: 0.8)", 0.8, "SHARE", _share)


def _duplicates(archive: Archive, options: Options, console: Console) -> int:
    """Find pages that say the same, and keep what was found; 1 if a page is damaged."""
    from mmcrawl.rank.duplicates.finding import find_duplicates
    from mmcrawl.rank.duplicates.results import save_duplicates

    with ProgressBars() as progress:
        found = find_duplicates(archive, near=options[NEAR], at=options[AT], progress=progress)
    save_duplicates(options.uri, found)
    if options[JSON]:
        for group in found.groups[: options[LIMIT]]:
            print(as_json(asdict(group)))
        return print_problems(found.unreadable)
    shown = found.groups[: options[LIMIT] or _GROUPS]
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
    return print_problems(found.unreadable)


DUPLICATES = Subcommand(
    "duplicates",
    _duplicates,
    "pages that say the same or nearly, kept for search --collapse",
    "[--near SHARE] [--at TIME]",
    options=(NEAR, AT, LIMIT, JSON),
    shows_progress=True,
)


def _export_parquet(archive: Archive, options: Options, console: Console) -> int:
    """Write pages, blocks and links; 1 if a page is damaged."""
    from mmcrawl.rank.parquet import write_export

    counts = archive.counts()
    folder = os.path.expanduser(options.args[0])

    with ProgressBars() as progress:
        reading = Reading(archive, at=options[AT], progress=progress)
        export = write_export(
            reading,
            folder,
            facts=lambda: {
                "at": options[AT],
                "archive_urls": counts["urls"],
                "archive_versions": counts["versions"],
                "skipped": dict(reading.skipped),
            },
        )
    if options[JSON]:
        print(as_json({"path": folder, **asdict(export), "skipped": dict(reading.skipped)}))
    else:
        rows = ", ".join(f"{count:,} {name}" for name, count in export.rows.items())
        console.print(literal(f"{folder}: {rows}, {size_of(export.stored_bytes)}"), soft_wrap=True)
    return print_problems(reading.unreadable)


EXPORT_PARQUET = Subcommand(
    "export-parquet",
    _export_parquet,
    "write pages, blocks and links as Parquet files",
    "FOLDER [--at TIME]",
    (1, 1),
    options=(AT, JSON),
    shows_progress=True,
)
