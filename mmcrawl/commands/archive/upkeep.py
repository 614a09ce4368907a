"""`scrapy archive check`, `verify`, `seal`, `purge` and `copy`."""

import os
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import CheckReport, as_text
from mmcrawl.archive.opening import copy_archive, open_archive
from mmcrawl.commands.archive.answers import agreed, answer, print_problems
from mmcrawl.commands.archive.search import forget_purged
from mmcrawl.commands.terminal.files import new_file
from mmcrawl.errors import MmcrawlError, StoreError
from mmcrawl.store.uris import as_archive_uri, shown
from mmcrawl.text.writing import printable, size_of


def check(archive: Archive, options: Namespace, console: Console) -> int:
    report = archive.check(repair=options.repair)
    answer(options, console, asdict(report) | {"clean": report.clean}, _text(report))
    return 0 if report.clean else 1


def _text(report: CheckReport) -> RenderableType:
    lines = [
        Text(
            f"{report.urls:,} URLs, {report.versions:,} versions rebuilt and compared,"
            f" {report.segments:,} segments"
        )
    ]
    for fault in report.faults:
        style, state = ("yellow", "repaired: ") if fault.repaired else ("bold red", "")
        lines.append(Text.assemble((state, style), (printable(fault.what), style)))
    harmless = "harmless; --repair removes or completes them" if report.clean else "harmless"
    done = ((report.removed, "removed"), (report.completed, "completed: versions again"))
    for count, what in ((report.orphans, harmless), *done):
        if count:
            orphans = "1 orphan" if count == 1 else f"{count} orphans"
            lines.append(Text(f"{orphans} of interrupted writes: {what}", "dim"))
    if report.known:
        what = "cannot be repaired; --json names them"
        lines.append(Text(f"{len(report.known)} known: {what}", "dim"))
    nothing = "nothing else is wrong" if report.known else "nothing is wrong"
    end = (nothing, "bold green") if report.clean else ("damaged", "bold red")
    return Group(*lines, Text(*end))


# -- upkeep ---------------------------------------------------------------------------------------


def seal(archive: Archive, options: Namespace, console: Console) -> int:
    before = archive.stats().stored_bytes
    archive.pack(options.level)
    after = archive.stats().stored_bytes
    text = f"{size_of(before)} before, {size_of(after)} now"
    return answer(options, console, {"before": before, "after": after}, text)


def purge(archive: Archive, options: Namespace, console: Console) -> int:
    url, host, before = options.url, options.host, options.before
    what = url or (f"host {host}" if host else "the whole archive")
    if url:
        archive.get(url)
    elif host and host not in archive.hosts():
        raise StoreError(f"the archive has no page of host {host}")
    older = f" that were replaced before {as_text(before)}" if before else ""
    if not options.yes and not agreed(f"Remove all versions of {what}{older} for good?"):
        raise MmcrawlError("nothing was removed; --yes skips the question")
    purged = archive.purge(url=url, host=host, before=before)
    forget_purged(archive, options)
    text = (
        f"{purged.versions:,} versions and {purged.visits:,} visits removed,"
        f" {size_of(purged.freed_bytes)} freed"
    )
    return answer(options, console, asdict(purged), text)


def check_purge(options: Namespace) -> None:
    if options.host is None and options.url is None and options.before is None:
        raise ValueError("say what to remove: --host, --url, --before")


def copy(archive: Archive, options: Namespace, console: Console) -> int:
    """Copy; 1 if something could not be."""
    uri = as_archive_uri(options.args[0]) or ""
    if uri == options.uri:
        raise StoreError("an archive is not copied to itself: name another file or database")
    with open_archive(uri) as target:
        report = copy_archive(archive, target)
    line = (
        f"{shown(uri)}: {report.urls:,} URLs, {report.versions:,} versions, {report.visits:,}"
        f" visits; {report.copied:,} of these written now"
    )
    answer(options, console, asdict(report) | {"archive": shown(uri)}, line)
    return print_problems(report.problems)


def export_warc(archive: Archive, options: Namespace, console: Console) -> int:
    """Write a file of the kind that its name says; 1 if something is left out."""
    from mmcrawl.archive.warc.exporting import export_warc

    if options.host and not options.url and options.host not in archive.hosts():
        raise StoreError(f"the archive has no page of host {options.host}")
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
    failures = f" {report.failures:,} failed visits," if report.failures else ""
    line = (
        f"{report.path}: {report.urls:,} URLs, {report.responses:,} responses,"
        f" {report.revisits:,} revisits,{failures} {size_of(report.size)}"
        + (f"; index {report.index.name}" if report.index else "")
    )
    index = str(report.index) if report.index else None
    answer(options, console, asdict(report) | {"path": str(report.path), "index": index}, line)
    return print_problems(report.problems)


def check_export(options: Namespace) -> None:
    from mmcrawl.archive.warc.wacz import index_beside

    since, until = options.since, options.until
    if since is not None and until is not None and since >= until:
        raise ValueError(f"--since {as_text(since)} is not before --until {as_text(until)}")
    path = Path(os.path.expanduser(options.args[0]))
    for made in (path, *([] if path.suffix.lower() == ".wacz" else [index_beside(path)])):
        new_file(str(made), "export-warc", overwrite=options.overwrite)


def check_import(options: Namespace) -> None:
    """Check the files before creating an archive: a misspelt name then leaves none behind."""
    for name in options.args:
        os.stat(os.path.expanduser(name))


def import_warc(archive: Archive, options: Namespace, console: Console) -> int:
    """Import WARC files; 1 if something in them is left out for what it is."""
    from mmcrawl.archive.warc.importing import import_warc

    paths = [os.path.expanduser(name) for name in options.args]
    report = import_warc(archive, paths, method=options.config.method)
    line = (
        f"{report.records:,} records: {report.versions:,} new versions,"
        f" {report.unchanged:,} unchanged"
    )
    if report.doubtful:
        line += f", {report.doubtful:,} of these with another digest"
    if report.skipped:
        skipped = ", ".join(f"{count:,} {name}" for name, count in report.skipped.items())
        line += f"; skipped: {skipped}"
    record = asdict(report) | {"problems": list(map(str, report.problems))}
    answer(options, console, record, line)
    print_problems(report.problems)
    return 0 if all(problem.taken for problem in report.problems) else 1
