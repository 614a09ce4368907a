"""`scrapy archive export-warc`: a WARC file with its index, or a WACZ, is written."""

import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.warc.cdxj import index_beside
from mmcrawl.blocks.drawing import printable
from mmcrawl.commands.archive.subcommand import (
    Options,
    Subcommand,
    as_json,
    print_line,
    print_problems,
)
from mmcrawl.errors import StoreError
from mmcrawl.terminal.crawl import size_of


def _run(archive: Archive, options: Options, console: Console) -> int:
    """Write a file of the kind that its name says; 1 if something is left out."""
    from mmcrawl.archive.warc.exporting import export_warc

    if options.host and not options.url and options.host not in archive.hosts():
        raise StoreError(f"no page is of host {options.host}")
    path = os.path.expanduser(options.args[0])
    if path == "-":
        raise StoreError("a WARC file is not written to standard output: give a name")
    report = export_warc(
        archive,
        path,
        url=options.url,
        host=options.host,
        since=options.since,
        until=options.until,
        gzip=not path.lower().endswith(".warc"),
    )
    if options.json:
        index = str(report.index) if report.index else None
        print(as_json(asdict(report) | {"path": str(report.path), "index": index}))
    else:
        failures = f" {report.failures:,} failed visits," if report.failures else ""
        line = (
            f"{report.path}: {report.urls:,} URLs, {report.responses:,} responses,"
            f" {report.revisits:,} revisits,{failures} {size_of(report.size)}"
            + (f"; index {report.index.name}" if report.index else "")
        )
        print_line(console, printable(line))
    return print_problems(report.problems)


def _made(named: str) -> Iterable[Path]:
    path = Path(os.path.expanduser(named))
    return (path, *([] if path.suffix.lower() == ".wacz" else [index_beside(path)]))


EXPORT_WARC = Subcommand(
    name="export-warc",
    run=_run,
    what="write a WARC file with its CDXJ, or a WACZ by its name",
    arguments="FILE [--host H] [--url URL] [--since T] [--until T]",
    least=1,
    most=1,
    options="host url since until overwrite json",
    makes=_made,
)
