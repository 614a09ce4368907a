"""The subcommands of `scrapy archive`, on an open archive.

Each prints what it found and returns the exit code.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from rich.console import Console, RenderableType
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.levels import LevelManager
from mmcrawl.archive.model import as_text
from mmcrawl.archive.revisits import due
from mmcrawl.commands.archive import rank as archive_rank
from mmcrawl.commands.archive import search as archive_search
from mmcrawl.commands.archive import upkeep as archive_upkeep
from mmcrawl.commands.archive.options import Options
from mmcrawl.errors import StoreError
from mmcrawl.terminal.archive import (
    difference_view,
    due_lines,
    stats_tables,
    url_line,
    version_lines,
    version_view,
)
from mmcrawl.terminal.archive_json import (
    as_json,
    difference_record,
    due_record,
    stats_record,
    url_record,
    version_record,
)

__all__ = ["ACTIONS"]

_NOISE = ("advertisement",)

Action = Callable[[Archive, Options, Console], int]


def _list(archive: Archive, options: Options, console: Console) -> int:
    which = options.args[0] if options.args else ""
    prefix = which if "://" in which else None
    host = which.lower() if which and prefix is None else None
    count = 0
    for url in archive.urls(host, prefix):
        visits = archive.visits(url)
        if options.json:
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


def _versions(archive: Archive, options: Options, console: Console) -> int:
    archive.get(options.args[0])
    versions, visits = archive.versions(options.args[0]), archive.visits(options.args[0])
    found = Counter(visit.version for visit in visits)
    if options.json:
        for version in versions:
            print(as_json(version_record(version, visits=found[version.number])))
    else:
        for line in version_lines(versions, visits):
            _line(console, line)
    return 0


def _show(archive: Archive, options: Options, console: Console) -> int:
    version = options.found(archive)
    if options.body:
        _write(archive.rebuild(version).body, "-")
        return 0
    blocks = archive.blocks_of(version)
    if options.json:
        print(as_json(version_record(version, blocks)))
    else:
        choice = LevelManager(archive).choose(version.url)
        console.print(version_view(version, blocks, choice.reason))
    return 0


def _diff(archive: Archive, options: Options, console: Console) -> int:
    url = options.args[0]
    if options.numbers:
        old, new = (archive.version(url, number) for number in options.numbers)
    else:
        archive.get(url)
        versions = archive.versions(url)
        if len(versions) < 2:
            raise StoreError(f"{url} has one version only; there is nothing to compare it with")
        old, new = versions[-2:]
    difference = archive.diff(old, new)
    if options.kinds:
        blocks = tuple(block for block in difference.blocks if block.kind in options.kinds)
        difference = replace(difference, blocks=blocks)
    elif not options.all:
        difference = difference.without(_NOISE)
    if options.json:
        print(as_json(difference_record(difference)))
    else:
        console.print(difference_view(difference, everything=options.all))
    return 0


def _rebuild(archive: Archive, options: Options, console: Console) -> int:
    version = options.found(archive)
    _write(archive.rebuild(version).body, options.output)
    if options.output != "-":
        console.print(
            Text(
                f"{options.output}: version {version.number} of {as_text(version.time)},"
                f" {version.size:,} bytes, SHA-256 as when it was stored"
            ),
            soft_wrap=True,
        )
    return 0


def _stats(archive: Archive, options: Options, console: Console) -> int:
    stats = archive.stats()
    if options.json:
        print(as_json(stats_record(stats)))
    else:
        console.print(stats_tables(stats))
    return 0


def _due(archive: Archive, options: Options, console: Console) -> int:
    now = time.time() if options.at is None else options.at
    found = due(archive, now, options.rules)
    shown = found[: options.limit]
    if options.json:
        for item in shown:
            print(as_json(due_record(item)))
        return 0
    for line in due_lines(shown, now) if shown else ():
        _line(console, line)
    more = f", of which the first {len(shown)} are shown" if len(shown) < len(found) else ""
    console.print(Text(f"{len(found)} due at {as_text(now)}{more}", "bold"))
    return 0


def _line(console: Console, text: RenderableType) -> None:
    """Print a line as long as it is: programs cut it where they like."""
    console.print(text, soft_wrap=True)


def _write(body: bytes, target: str) -> None:
    if target == "-":
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()
    else:
        Path(os.path.expanduser(target)).write_bytes(body)


ACTIONS: Mapping[str, Action] = {
    "list": _list,
    "versions": _versions,
    "show": _show,
    "diff": _diff,
    "rebuild": _rebuild,
    "search": archive_search.search,
    "stats": _stats,
    "due": _due,
    "check": archive_upkeep.check,
    "import-warc": archive_upkeep.take_in,
    "export-warc": archive_upkeep.export,
    "export-parquet": archive_rank.export_parquet,
    "duplicates": archive_rank.duplicates,
    "classes": archive_rank.classes,
    "pack": archive_upkeep.pack,
    "purge": archive_upkeep.purge,
}
