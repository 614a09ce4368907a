"""The subcommands of `scrapy archive`, on an open archive."""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from rich.console import Console, RenderableType
from rich.text import Text

from mmcrawl.archive import Archive, Version
from mmcrawl.archive.levels import LevelManager
from mmcrawl.archive.revisits import RevisitRules, due
from mmcrawl.archive.times import as_text
from mmcrawl.archive_display import (
    check_text,
    due_table,
    stats_tables,
    url_line,
    version_table,
    version_view,
)
from mmcrawl.archive_json import (
    as_json,
    check_record,
    difference_record,
    due_record,
    stats_record,
    url_record,
    version_record,
)
from mmcrawl.archive_params import as_time
from mmcrawl.blocks.drawing import printable
from mmcrawl.blocks.kinds import KINDS
from mmcrawl.difference_display import difference_view
from mmcrawl.display import size_of
from mmcrawl.errors import MmcrawlError, StoreError

__all__ = ["ACTIONS", "Asked"]

_NOISE = ("advertisement",)


@dataclass
class Asked:
    """What the user asked for, checked."""

    args: list[str]
    at: float | None = None
    version: int | None = None
    body: bool = False
    kinds: tuple[str, ...] = ()
    all: bool = False
    output: str = ""
    limit: int | None = None
    repair: bool = False
    host: str | None = None
    url: str | None = None
    since: float | None = None
    until: float | None = None
    before: float | None = None
    yes: bool = False
    json: bool = False
    rules: RevisitRules = field(default_factory=RevisitRules)

    @classmethod
    def read(cls, args: list[str], opts: argparse.Namespace) -> "Asked":
        """Take over what was given.

        Raises:
            ValueError: a value is not understood.
        """
        kinds = tuple(kind.strip() for kind in (opts.kinds or "").split(",") if kind.strip())
        unknown = [kind for kind in kinds if kind not in KINDS]
        if unknown:
            raise ValueError(f"--kinds {unknown[0]}: there is none; there are {', '.join(KINDS)}")
        return cls(
            args=args,
            at=_time(opts.at, "--at"),
            version=_whole(opts.version, "--version"),
            body=opts.body,
            kinds=kinds,
            all=opts.all,
            output=opts.output or "",
            limit=_whole(opts.limit, "--limit"),
            repair=opts.repair,
            host=opts.host.lower() if opts.host else None,
            url=opts.url,
            since=_time(opts.since, "--since"),
            until=_time(opts.until, "--until"),
            before=_time(opts.before, "--before"),
            yes=opts.yes,
            json=opts.json,
        )

    def found(self, archive: Archive) -> Version:
        """Return the version of the URL that is meant."""
        if self.version is not None:
            return archive.version(self.args[0], self.version)
        return archive.get(self.args[0], self.at)


Action = Callable[[Archive, Asked, Console], int]


def _list(archive: Archive, asked: Asked, console: Console) -> int:
    which = asked.args[0] if asked.args else ""
    prefix = which if "://" in which else None
    host = which.lower() if which and prefix is None else None
    count = 0
    for url in archive.urls(host, prefix):
        visits = archive.visits(url)
        if asked.json:
            print(as_json(url_record(url, visits)))
        else:
            if not count:
                _line(console, Text(f"{'vers.':>5} {'visits':>6}  {'last visit':<23}  URL", "bold"))
            _line(console, url_line(url, visits))
        count += 1
    if not count and which:
        what = f"URL begins with {which}" if prefix else f"page is of host {which}"
        raise StoreError(f"no {what}; `scrapy archive stats` shows the hosts")
    return 0


def _versions(archive: Archive, asked: Asked, console: Console) -> int:
    archive.get(asked.args[0])
    versions, visits = archive.versions(asked.args[0]), archive.visits(asked.args[0])
    found = Counter(visit.version for visit in visits)
    if asked.json:
        for version in versions:
            print(as_json(version_record(version, visits=found[version.number])))
    else:
        console.print(version_table(versions, visits))
    return 0


def _show(archive: Archive, asked: Asked, console: Console) -> int:
    version = asked.found(archive)
    if asked.body:
        _write(archive.rebuild(version).body, "-")
        return 0
    blocks = archive.blocks_of(version)
    if asked.json:
        print(as_json(version_record(version, blocks)))
    else:
        choice = LevelManager(archive).choose(version.url)
        console.print(version_view(version, blocks, choice.reason))
    return 0


def _diff(archive: Archive, asked: Asked, console: Console) -> int:
    url = asked.args[0]
    if len(asked.args) == 3:
        numbers = [_whole(text, "version") or 0 for text in asked.args[1:]]
        old, new = (archive.version(url, number) for number in numbers)
    else:
        archive.get(url)
        versions = archive.versions(url)
        if len(versions) < 2:
            raise StoreError(f"{url} has one version only; there is nothing to compare it with")
        old, new = versions[-2:]
    difference = archive.diff(old, new)
    if asked.kinds:
        blocks = tuple(block for block in difference.blocks if block.kind in asked.kinds)
        difference = replace(difference, blocks=blocks)
    elif not asked.all:
        difference = difference.without(_NOISE)
    if asked.json:
        print(as_json(difference_record(difference)))
    else:
        console.print(difference_view(difference, everything=asked.all))
    return 0


def _rebuild(archive: Archive, asked: Asked, console: Console) -> int:
    version = asked.found(archive)
    _write(archive.rebuild(version).body, asked.output)
    if asked.output != "-":
        console.print(
            Text(
                f"{asked.output}: version {version.number} of {as_text(version.time)},"
                f" {version.size:,} bytes, SHA-256 as when it was stored"
            ),
            soft_wrap=True,
        )
    return 0


def _stats(archive: Archive, asked: Asked, console: Console) -> int:
    stats = archive.stats()
    if asked.json:
        print(as_json(stats_record(stats)))
    else:
        console.print(stats_tables(stats))
    return 0


def _check(archive: Archive, asked: Asked, console: Console) -> int:
    report = archive.check(repair=asked.repair)
    if asked.json:
        print(as_json(check_record(report)))
    else:
        console.print(check_text(report))
    return 0 if report.clean else 1


def _due(archive: Archive, asked: Asked, console: Console) -> int:
    now = time.time() if asked.at is None else asked.at
    found = due(archive, now, asked.rules)
    shown = found[: asked.limit]
    if asked.json:
        for item in shown:
            print(as_json(due_record(item)))
        return 0
    if shown:
        console.print(due_table(shown, now))
    more = f", of which the first {len(shown)} are shown" if len(shown) < len(found) else ""
    console.print(Text(f"{len(found)} due at {as_text(now)}{more}", "bold"))
    return 0


def _import_warc(archive: Archive, asked: Asked, console: Console) -> int:
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


def _export_warc(archive: Archive, asked: Asked, console: Console) -> int:
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


def _pack(archive: Archive, asked: Asked, console: Console) -> int:
    before = archive.stats().stored_bytes
    archive.pack()
    console.print(f"{size_of(before)} before, {size_of(archive.stats().stored_bytes)} now")
    return 0


def _purge(archive: Archive, asked: Asked, console: Console) -> int:
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


def _line(console: Console, text: RenderableType) -> None:
    """Print a line as long as it is: programs cut it where they like."""
    console.print(text, soft_wrap=True)


def _write(body: bytes, target: str) -> None:
    if target == "-":
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()
    else:
        Path(os.path.expanduser(target)).write_bytes(body)


def _time(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    try:
        return as_time(text)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


def _whole(text: str | None, option: str) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or int(text[:9]) < 1:
        raise ValueError(f"{option} {text}: give a whole number from 1")
    return int(text)


ACTIONS: Mapping[str, Action] = {
    "list": _list,
    "versions": _versions,
    "show": _show,
    "diff": _diff,
    "rebuild": _rebuild,
    "stats": _stats,
    "check": _check,
    "due": _due,
    "import-warc": _import_warc,
    "export-warc": _export_warc,
    "pack": _pack,
    "purge": _purge,
}
