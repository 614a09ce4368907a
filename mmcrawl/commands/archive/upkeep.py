"""The subcommands of `scrapy archive` that examine, exchange and change an archive."""

import os
import sys
from dataclasses import asdict

from rich.console import Console

from mmcrawl.archive import Archive
from mmcrawl.archive.model import as_text
from mmcrawl.blocks.drawing import printable
from mmcrawl.commands.archive.options import Options
from mmcrawl.commands.archive.search import forget_purged
from mmcrawl.errors import MmcrawlError, StoreError
from mmcrawl.terminal.archive import check_text
from mmcrawl.terminal.archive_json import as_json, check_record
from mmcrawl.terminal.crawl import size_of
from mmcrawl.terminal.program import complain

__all__ = ["check", "export", "pack", "purge", "take_in"]


def check(archive: Archive, options: Options, console: Console) -> int:
    """Check, and repair if wished; 1 if something is damaged."""
    report = archive.check(repair=options.repair)
    if options.json:
        print(as_json(check_record(report)))
    else:
        console.print(check_text(report))
    return 0 if report.clean else 1


def take_in(archive: Archive, options: Options, console: Console) -> int:
    """Take in WARC files; 1 if something in them is left out for what it is."""
    from mmcrawl.archive.warc import import_warc

    report = import_warc(archive, [os.path.expanduser(name) for name in options.args])
    if options.json:
        print(as_json(asdict(report) | {"problems": list(map(str, report.problems))}))
    else:
        skipped = ", ".join(f"{count:,} {name}" for name, count in report.skipped.items())
        console.print(
            printable(
                f"{report.records:,} records: {report.versions:,} new versions,"
                f" {report.unchanged:,} visits without change"
                + (f"; passed over: {skipped}" if skipped else "")
            ),
            soft_wrap=True,
            markup=False,
        )
    for problem in report.problems:
        complain("archive", problem)
    return 0 if all(problem.taken for problem in report.problems) else 1


def export(archive: Archive, options: Options, console: Console) -> int:
    """Write a WARC file, compressed unless its name ends in .warc; 1 if something is left out."""
    from mmcrawl.archive.warc import export_warc

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
        print(as_json(asdict(report) | {"path": str(report.path)}))
    else:
        failures = f" {report.failures:,} failed visits," if report.failures else ""
        console.print(
            printable(
                f"{report.path}: {report.urls:,} URLs, {report.responses:,} responses,"
                f" {report.revisits:,} revisits,{failures} {size_of(report.size)}"
            ),
            soft_wrap=True,
            markup=False,
        )
    for problem in report.problems:
        complain("archive", problem)
    return 1 if report.problems else 0


def pack(archive: Archive, options: Options, console: Console) -> int:
    """Compress what is not yet."""
    before = archive.stats().stored_bytes
    archive.pack()
    console.print(f"{size_of(before)} before, {size_of(archive.stats().stored_bytes)} now")
    return 0


def purge(archive: Archive, options: Options, console: Console) -> int:
    """Remove versions, after asking."""
    what = options.url or (f"host {options.host}" if options.host else "the whole archive")
    if options.url:
        archive.get(options.url)
    elif options.host and options.host not in archive.hosts():
        raise StoreError(f"no page is of host {options.host}")
    older = f" that were replaced before {as_text(options.before)}" if options.before else ""
    if not options.yes and not _agreed(f"Remove all versions of {what}{older} for good?"):
        raise MmcrawlError("nothing was removed; say --yes to remove without being asked")
    purged = archive.purge(url=options.url, host=options.host, before=options.before)
    forget_purged(archive, options.uri)
    if options.json:
        print(as_json(asdict(purged)))
    else:
        console.print(
            f"{purged.versions:,} versions and {purged.visits:,} visits removed,"
            f" {size_of(purged.freed_bytes)} given back"
        )
    return 0


def _agreed(question: str) -> bool:
    if not sys.stdin.isatty():
        return False
    print(f"{printable(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
