"""`scrapy archive due` and `watch`: what to visit again, and what changed."""

import time
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import islice
from math import inf
from typing import Any

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.atom import atom_feed, feed_title, is_own_feed
from mmcrawl.archive.comparing.changes import BlockChange, WordChange
from mmcrawl.archive.model import as_date, as_text
from mmcrawl.archive.revisits import Due, in_order, schedule
from mmcrawl.archive.uris import shown
from mmcrawl.archive.watching import Watch, WatchedChange, watched_changes
from mmcrawl.blocks.drawing import short_path
from mmcrawl.blocks.selecting import ElementSelector
from mmcrawl.commands.archive.listing import shown_words
from mmcrawl.commands.archive.subcommand import (
    AT,
    HOST,
    KINDS,
    LIMIT,
    SINCE,
    ArchiveSubcommand,
    of_which,
    print_line,
    print_problems,
    write_body,
)
from mmcrawl.commands.base import JSON, OVERWRITE, Option, as_json
from mmcrawl.commands.terminal.tables import kind_of, literal, next_due
from mmcrawl.errors import SearchError
from mmcrawl.text.writing import counted, printable

_IN_FEED = 100  # changes, the newest ones
_LONGEST = 300  # characters of a run of words
_TOPIC = 80
_STYLES = {"changed": "yellow", "added": "green", "removed": "red"}
_BROWSER = "http://127.0.0.1:8000/"


def _address(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise ValueError(f"give an address as {_BROWSER}, not {text!r}")
    return text.rstrip("/") + "/"


CSS = Option(
    "--css",
    type=ElementSelector,
    metavar="SELECTOR",
    help="only blocks that elements of this CSS selector overlap",
)
ATOM = Option(
    "--atom", target=True, is_ours=is_own_feed, help="write an Atom feed, - for standard output"
)
BROWSER = Option(
    "--browser",
    type=_address,
    default=_BROWSER,
    metavar="ADDRESS",
    help=f"where `scrapy browse` answers, which the feed leads to (default: {_BROWSER})",
)


def _run(archive: Archive, options: Namespace, console: Console) -> int:
    """List changes; 1 if a version cannot be read."""
    kinds = options.kinds or (None if options.css else options.config.revisits.kinds)
    since = options.since
    watch = Watch(kinds, options.css, since=-inf if since is None else since)
    failures: list[str] = []
    found = watched_changes(archive, _urls(archive, options), watch, failed=failures.append)
    if options.atom:
        _write_feed([*islice(found, options.limit or _IN_FEED)], options, console)
    else:
        _print(islice(found, options.limit), options, console)
    return print_problems(failures)


def _urls(archive: Archive, options: Namespace) -> Iterable[str]:
    """Return the pages that are watched."""
    if options.args:
        versions = archive.versions(options.args[0])
        if not versions:
            raise SearchError(f"{options.args[0]} is not in the archive; `scrapy archive list`")
        return [versions[0].url]
    if options.host is not None and options.host not in archive.hosts():
        raise SearchError(f"the archive has no page of host {options.host}")
    return archive.urls(host=options.host)


def _print(found: Iterable[WatchedChange], options: Namespace, console: Console) -> None:
    if options.json:
        for change in found:
            print(as_json(_record(change)))
        return
    count = 0
    for change in found:
        count += 1
        for line in change_lines(change):
            print_line(console, line)
    console.print(Text(counted(count, "change"), "bold"))


def _record(change: WatchedChange) -> dict[str, Any]:
    return {
        "url": change.url,
        "time": change.time,
        "date": as_date(change.time),
        "old": change.old.number,
        "new": change.new.number,
        "blocks": [_block_record(block) for block in change.blocks],
    }


def _block_record(change: BlockChange) -> dict[str, Any]:
    return {
        "change": change.change,
        "kind": change.kind,
        "topic": change.block.topic,
        "path": change.block.path,
        "words": [asdict(word) for word in change.words],
    }


def change_lines(change: WatchedChange) -> Iterator[Text]:
    """Yield a change of a page: when, and each block with its words."""
    versions = f"  versions {change.old.number} → {change.new.number}"
    yield Text.assemble(
        (as_text(change.time), "bold"), "  ", literal(change.url), (versions, "dim")
    )
    for each in change.blocks:
        yield Text.assemble(
            f"  {each.change} ",
            kind_of(each.kind),
            (f"  {printable(each.block.topic, _TOPIC)}", _STYLES.get(each.change, "")),
            (f"  {short_path(each.block.path)}", "dim"),
        )
        if each.words:
            yield shown_words([_shortened(word) for word in each.words])


def _shortened(word: WordChange) -> WordChange:
    if word.change not in ("removed", "added"):
        return word
    return replace(word, text=printable(word.text, _LONGEST))


def _write_feed(found: Sequence[WatchedChange], options: Namespace, console: Console) -> None:
    selector, kinds = options.css, ",".join(options.kinds)
    css = selector.css if selector else ""
    feed = atom_feed(
        found,
        title=feed_title("".join(options.args) or options.host or "", kinds, css),
        archive=shown(options.uri),
        browser=options.browser,
    )
    write_body(feed, options.atom)
    if options.atom != "-":
        console.print(Text(f"{options.atom}: {counted(len(found), 'change')}"))


WATCH = ArchiveSubcommand(
    "watch",
    "changes in blocks that you watch, newest first",
    "[URL]",
    options=(HOST, KINDS, CSS, SINCE, LIMIT, ATOM, BROWSER, OVERWRITE, JSON),
    run=_run,
)


# -- due ------------------------------------------------------------------------------------------


def _due(archive: Archive, options: Namespace, console: Console) -> int:
    at = options.at
    now = time.time() if at is None else at
    found, later = [], inf
    for one in schedule(archive, now, options.config.revisits):
        if one.next_visit <= now:
            found.append(one)
        else:
            later = min(later, one.next_visit)
    found = in_order(found)
    shown = found[: options.limit]
    if options.json:
        for item in shown:
            print(as_json(_due_record(item)))
        return 0
    for line in due_lines(shown, now) if shown else ():
        print_line(console, line)
    more = of_which(len(shown), len(found))
    console.print(Text(f"{len(found)} due at {as_text(now)}{more}", "bold"))
    if later < inf:
        print_line(console, next_due(later))
    return 0


def _due_record(due: Due) -> dict[str, Any]:
    return {
        "url": due.url,
        "last_visit": as_date(due.last_visit),
        "next_visit": as_date(due.next_visit),
        "changes_per_day": due.rate,
        "why": due.why,
    }


def due_lines(found: Iterable[Due], now: float) -> Iterator[Text]:
    """Yield the visits that are due, each with its reason in a line below, under a head."""
    yield Text(f"{'due since':>9}  {'last visit':<23}  {'changes a day':>13}  page", "bold")
    for item in found:
        rate = "" if item.rate is None else f"{item.rate:.2g}"
        since, last = _ago(now - item.next_visit), as_text(item.last_visit)
        yield Text.assemble(f"{since:>9}  ", (f"{last:<23}", "dim"), f"  {rate:>13}  ").append_text(
            literal(item.url)
        )
        yield Text(f"{'':>9}  {item.why}", "dim")


def _ago(seconds: float) -> str:
    for size, unit in ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return "now"


DUE = ArchiveSubcommand(
    "due",
    "pages that `scrapy crawl revisit` would visit",
    options=(AT, LIMIT, JSON),
    run=_due,
)
