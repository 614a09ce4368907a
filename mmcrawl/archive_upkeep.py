"""The subcommands of `scrapy archive` that examine, exchange and change an archive."""

import os
import sys
from dataclasses import asdict

from rich.console import Console

from mmcrawl.archive import Archive
from mmcrawl.archive.times import as_text
from mmcrawl.archive_asked import Asked
from mmcrawl.archive_display import check_text
from mmcrawl.archive_json import as_json, check_record
from mmcrawl.archive_search import forget_purged
from mmcrawl.blocks.drawing import printable
from mmcrawl.display import size_of
from mmcrawl.errors import MmcrawlError, StoreError

__all__ = ["check", "export", "pack", "purge", "take_in"]


def check(archive: Archive, asked: Asked, console: Console) -> int:
    """Check, and repair if wished; 1 if something is damaged."""
    report = archive.check(repair=asked.repair)
    if asked.json:
        print(as_json(check_record(report)))
    else:
        console.print(check_text(report))
    return 0 if report.clean else 1


def take_in(archive: Archive, asked: Asked, console: Console) -> int:
    """Take in WARC files; 1 if something in them is left out for what it is."""
    from mmcrawl.archive.warc import import_warc

    report = import_warc(archive, [os.path.expanduser(name) for name in asked.args])
    if asked.json:
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
        print(f"scrapy archive: {printable(str(problem))}", file=sys.stderr)
    return 0 if all(problem.taken for problem in report.problems) else 1


def export(archive: Archive, asked: Asked, console: Console) -> int:
    """Write a WARC file, compressed unless its name ends in .warc; 1 if something is left out."""
    from mmcrawl.archive.warc import export_warc

    if asked.host and not asked.url and asked.host not in archive.hosts():
        raise StoreError(f"no page is of host {asked.host}")
    path = os.path.expanduser(asked.args[0])
    if path == "-":
        raise StoreError("a WARC file is not written to standard output: give a name")
    report = export_warc(
        archive,
        path,
        url=asked.url,
        host=asked.host,
        since=asked.since,
        until=asked.until,
        gzip=not path.lower().endswith(".warc"),
    )
    if asked.json:
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
        print(f"scrapy archive: {printable(problem)}", file=sys.stderr)
    return 1 if report.problems else 0


def pack(archive: Archive, asked: Asked, console: Console) -> int:
    """Compress what is not yet."""
    before = archive.stats().stored_bytes
    archive.pack()
    console.print(f"{size_of(before)} before, {size_of(archive.stats().stored_bytes)} now")
    return 0


def purge(archive: Archive, asked: Asked, console: Console) -> int:
    """Remove versions, after asking."""
    what = asked.url or (f"host {asked.host}" if asked.host else "the whole archive")
    if asked.url:
        archive.get(asked.url)
    elif asked.host and asked.host not in archive.hosts():
        raise StoreError(f"no page is of host {asked.host}")
    older = f" that were replaced before {as_text(asked.before)}" if asked.before else ""
    if not asked.yes and not _agreed(f"Remove all versions of {what}{older} for good?"):
        raise MmcrawlError("nothing was removed; say --yes to remove without being asked")
    purged = archive.purge(url=asked.url, host=asked.host, before=asked.before)
    forget_purged(archive, asked.uri)
    if asked.json:
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
