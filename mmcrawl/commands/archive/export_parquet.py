"""`scrapy archive export-parquet`: pages, blocks and links as Parquet."""

import os
from dataclasses import asdict

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.commands.archive.subcommand import (
    AT,
    JSON,
    Options,
    Subcommand,
    as_json,
    print_problems,
)
from mmcrawl.rank.reading import Reading
from mmcrawl.terminal.crawl import literal, size_of
from mmcrawl.terminal.rank import RankProgress


def _run(archive: Archive, options: Options, console: Console) -> int:
    """Write pages, blocks and links; 1 if a page is damaged."""
    from mmcrawl.rank.parquet import write_export

    counts = archive.counts()
    folder = os.path.expanduser(options.args[0])

    with RankProgress() as progress:
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
    _run,
    "write pages, blocks and links as Parquet files",
    "FOLDER [--at TIME]",
    (1, 1),
    options=(AT, JSON),
    shows_progress=True,
)
