"""`scrapy archive export-warc` and `import-warc`: WARC files are written, and taken in."""

import os
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import as_text
from mmcrawl.archive.warc.cdxj import index_beside
from mmcrawl.commands.archive.subcommand import (
    HOST,
    JSON,
    OVERWRITE,
    SINCE,
    UNTIL,
    URL,
    Options,
    Subcommand,
    as_json,
    print_line,
    print_problems,
)
from mmcrawl.errors import StoreError
from mmcrawl.terminal.crawl import size_of
from mmcrawl.terminal.files import new_file
from mmcrawl.text.writing import printable


def _export_warc(archive: Archive, options: Options, console: Console) -> int:
    """Write a file of the kind that its name says; 1 if something is left out."""
    from mmcrawl.archive.warc.exporting import export_warc

    if options[HOST] and not options[URL] and options[HOST] not in archive.hosts():
        raise StoreError(f"no page is of host {options[HOST]}")
    path = os.path.expanduser(options.args[0])
    if path == "-":
        raise StoreError("a WARC file is not written to standard output: give a name")
    report = export_warc(
        archive,
        path,
        url=options[URL],
        host=options[HOST],
        since=options[SINCE],
        until=options[UNTIL],
        gzip=not path.lower().endswith(".warc"),
    )
    if options[JSON]:
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


def _check(options: Options) -> None:
    since, until = options[SINCE], options[UNTIL]
    if since is not None and until is not None and since >= until:
        raise ValueError(f"--since {as_text(since)} is not before --until {as_text(until)}")
    path = Path(os.path.expanduser(options.args[0]))
    for made in (path, *([] if path.suffix.lower() == ".wacz" else [index_beside(path)])):
        new_file(str(made), "export-warc", overwrite=options[OVERWRITE])


EXPORT_WARC = Subcommand(
    "export-warc",
    _export_warc,
    "write a WARC file with its CDXJ, or a WACZ by its name",
    "FILE [--host H] [--url URL] [--since T] [--until T]",
    (1, 1),
    options=(HOST, URL, SINCE, UNTIL, OVERWRITE, JSON),
    check=_check,
)


def _import_warc(archive: Archive, options: Options, console: Console) -> int:
    """Take in WARC files; 1 if something in them is left out for what it is."""
    from mmcrawl.archive.warc.importing import import_warc

    paths = [os.path.expanduser(name) for name in options.args]
    report = import_warc(archive, paths, method=options.method)
    if options[JSON]:
        print(as_json(asdict(report) | {"problems": list(map(str, report.problems))}))
    else:
        skipped = ", ".join(f"{count:,} {name}" for name, count in report.skipped.items())
        line = (
            f"{report.records:,} records: {report.versions:,} new versions,"
            f" {report.unchanged:,} visits without change"
            + (
                f", {report.doubtful:,} of them with bytes of another digest"
                * bool(report.doubtful)
            )
        )
        print_line(console, printable(line + (f"; passed over: {skipped}" if skipped else "")))
    print_problems(report.problems)
    return 0 if all(problem.taken for problem in report.problems) else 1


IMPORT_WARC = Subcommand(
    "import-warc",
    _import_warc,
    "take in WARC files",
    "FILE…",
    (1, sys.maxsize),
    # Before an archive is made: a name that was misspelt leaves none behind.
    check=lambda options: [os.stat(os.path.expanduser(name)) for name in options.args],
    writes=True,
    creates=True,
)
