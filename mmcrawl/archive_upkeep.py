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
    """Take in WARC files."""
    from mmcrawl.archive.warc import import_warc

    report = import_warc(archive, [os.path.expanduser(name) for name in asked.args])
    if asked.json:
        print(as_json(asdict(report) | {"problems": list(map(str, report.problems))}))
    else:
        skipped = "".join(f", {count} {name}" for name, count in report.skipped.items())
        console.print(
            f"{report.records:,} records: {report.versions:,} new versions,"
            f" {report.unchanged:,} visits without change{skipped}"
        )
    for problem in report.problems:
        print(f"scrapy archive: {printable(str(problem))}", file=sys.stderr)
    return 0 if report.captures or not report.problems else 1


def export(archive: Archive, asked: Asked, console: Console) -> int:
    """Write a WARC file."""
    from mmcrawl.archive.warc import export_warc

    report = export_warc(
        archive,
        os.path.expanduser(asked.args[0]),
        url=asked.url,
        host=asked.host,
        since=asked.since,
        until=asked.until,
    )
    if asked.json:
        print(as_json(asdict(report) | {"path": str(report.path)}))
    else:
        console.print(
            f"{report.path}: {report.urls:,} URLs, {report.responses:,} responses,"
            f" {report.revisits:,} revisits, {size_of(report.size)}",
            soft_wrap=True,
        )
    for problem in report.problems:
        print(f"scrapy archive: {printable(problem)}", file=sys.stderr)
    return 0


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
