"""`scrapy archive search`: updates the index, runs a query, and shows the results."""

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from rich.console import Console, RenderableType
from rich.console import Group as Lines
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import as_text
from mmcrawl.archive.search.finding import ORDERS, Order
from mmcrawl.archive.search.hits import Hit
from mmcrawl.archive.search.index import DamagedError
from mmcrawl.archive.search.searching import Results, Search, open_search
from mmcrawl.commands.archive.answers import answer, cut_off, each_answer, of_which, print_problems
from mmcrawl.commands.base import as_json
from mmcrawl.commands.terminal.tables import kind_of, literal
from mmcrawl.commands.terminal.telling import complain
from mmcrawl.rank.reading import Reading
from mmcrawl.rank.results import Group, open_duplicates, open_ranks
from mmcrawl.store.child_process import cores
from mmcrawl.text.writing import counted, printable, size_of

_MOST_HITS = 20
_MOST_PROCESSES = 4
_HIT_TOPIC = 80


def search(archive: Archive, options: Namespace, console: Console) -> int:
    """Search; 1 if nothing is found."""
    with open_search(options.uri, archive) as index:
        updated = index.update(processes=_processes(), progress=_indexing(options))
        print_problems(
            f"version {number} of {url} cannot be searched; `scrapy archive check` says why"
            for url, number in updated.failed
        )
        results = _found(archive, index, options)
        if options.json:
            for hit in results.hits:
                print(as_json(_record(index, hit)))
        else:
            console.print(_view(results))
    return 0 if results.total else 1


def _found(archive: Archive, index: Search, options: Namespace) -> Results:
    order, groups = _order(archive, options), _groups(archive, options)

    def found() -> Results:
        return index.search(
            " ".join(options.args), order=order, collapse=groups, limit=options.limit or _MOST_HITS
        )

    try:
        return found()
    except DamagedError:
        complain("archive", "the search index is damaged; it is rebuilt from the archive")
        index.rebuild(processes=_processes(), progress=_indexing(options))
        return found()


def _order(archive: Archive, options: Namespace) -> Order:
    """Return the order that is asked for; of ranks, those computed last."""
    order: Order = options.order
    if order in ORDERS:
        return order
    with open_ranks(options.uri) as ranks:
        if ranks.is_stale(archive):
            complain(
                "archive", "the archive has changed since it was ranked; run `scrapy rank` again"
            )
    return ranks


def _groups(archive: Archive, options: Namespace) -> Mapping[str, int] | None:
    if not options.collapse:
        return None
    groups = open_duplicates(options.uri)
    if groups.is_stale(archive):
        complain(
            "archive",
            "the archive has changed since its pages were compared; `scrapy archive duplicates`",
        )
    return groups


def _record(index: Search, hit: Hit) -> dict[str, Any]:
    """Return a hit for programs, with the addresses of its media."""
    media = index.read(hit).media if hit.media else ()
    return asdict(hit) | {"media": [asdict(resource) for resource in media]}


def forget_purged(archive: Archive, options: Namespace) -> None:
    """Update the index, if there is one: it may hold what was purged from the archive."""
    with open_search(options.uri, archive, read_only=True) as index:
        try:
            if not index.stats().stored_bytes:
                return
        except DamagedError:
            pass  # it is rebuilt below
    with open_search(options.uri, archive) as index:
        index.update(processes=_processes(), progress=_indexing(options))


def _processes() -> int:
    return min(_MOST_PROCESSES, cores())


def _indexing(options: Namespace) -> Callable[[int, int], None]:
    return partial(options.progress, "indexing")


def _view(results: Results) -> RenderableType:
    lines: list[RenderableType] = []
    for hit in results.hits:
        lines += [*_hit_lines(hit), Text("")]
    shown = of_which(len(results.hits), results.total)
    lines.append(Text(f"{counted(results.total, 'page')} found{shown}", "bold"))
    if results.beside:
        more = counted(results.beside, "more page")
        lines.append(
            Text(f"{more} with the words in menus only; kind:navigation finds them", "dim")
        )
    return Lines(*lines)


def _hit_lines(hit: Hit) -> list[Text]:
    head = Text.assemble((printable(hit.url), "bold"))
    head.overflow = "fold"
    about = cut_off(Text.assemble(kind_of(hit.kind), f"  {printable(hit.topic, _HIT_TOPIC)}"))
    seen = as_text(hit.first_time)
    if hit.version != hit.first_version:
        seen += f" to {as_text(hit.time)}"
    more = f"; {hit.blocks - 1} more blocks" if hit.blocks > 1 else ""
    return [head, about, _snippet(hit), Text(f"seen {seen}{more}", "dim")]


def _snippet(hit: Hit) -> Text:
    """Return the text of the hit with the words that match in colour."""
    snippet = hit.snippet
    text = Text("    ")
    end = 0
    for start, stop in snippet.marks:
        text.append(_clean(snippet.text[end:start]))
        text.append(_clean(snippet.text[start:stop]), "bold yellow")
        end = stop
    text.append(_clean(snippet.text[end:]))
    return text


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


_GROUPS, _URLS = 20, 5  # that are shown


def classes(archive: Archive, options: Namespace, console: Console) -> int:
    """Print the classes of pages; 1 if a page is damaged."""
    from mmcrawl.rank.page_class import PAGE_CLASSES, classes_of

    counts: Counter[str] = Counter()
    reading = Reading(archive, at=options.at, topics=False, progress=options.progress)
    for url, number, found in classes_of(archive, reading):
        counts[found.name] += 1
        if options.json:
            told = {name: round(value, 4) for name, value in found.probabilities.items()}
            row = {"url": url, "version": number, "class": found.name, "probabilities": told}
            print(as_json(row))
        else:
            sure = f"{found.probabilities[found.name]:4.0%}"
            line = Text(f"{found.name:<6} {sure}  ").append(literal(url))
            console.print(line, soft_wrap=True)
    if not options.json:
        parts = ", ".join(f"{counts[name]:,} {name}" for name in PAGE_CLASSES)
        console.print(Text(f"{counts.total():,} pages: {parts}", "bold"))
    return print_problems(reading.unreadable)


def duplicates(archive: Archive, options: Namespace, console: Console) -> int:
    """Find pages with the same text, and save the result; 1 if a page is damaged."""
    from mmcrawl.rank.duplicates import find_duplicates
    from mmcrawl.rank.results import save_duplicates

    found = find_duplicates(archive, near=options.near, at=options.at, progress=options.progress)
    save_duplicates(options.uri, found)
    shown = found.groups[: options.limit or (None if options.json else _GROUPS)]
    each_answer(options, console, shown, asdict, _group_lines)
    if not options.json:
        more = of_which(len(shown), len(found.groups))
        alike = sum(len(group.urls) for group in found.groups)
        console.print(
            f"{found.pages:,} pages with text; {alike:,} are like another, in"
            f" {len(found.groups):,} groups{more}",
            soft_wrap=True,
        )
    return print_problems(found.unreadable)


def _group_lines(group: Group) -> Iterator[Text]:
    how = "the same" if group.exact else "alike"
    sites = f" on {group.hosts} sites" if group.hosts > 1 else ""
    yield Text(f"{len(group.urls):,} pages{sites}, {how}:", "bold")
    yield from (Text("  ").append(literal(url)) for url in group.urls[:_URLS])
    if len(group.urls) > _URLS:
        yield Text(f"  and {len(group.urls) - _URLS:,} more")


def export_parquet(archive: Archive, options: Namespace, console: Console) -> int:
    """Write pages, blocks and links; 1 if a page is damaged."""
    from mmcrawl.rank.parquet import write_export

    counts = archive.counts()
    folder = os.path.expanduser(options.args[0])

    reading = Reading(archive, at=options.at, progress=options.progress)
    export = write_export(
        reading,
        folder,
        facts=lambda: {
            "at": options.at,
            "archive_urls": counts["urls"],
            "archive_versions": counts["versions"],
            "skipped": dict(reading.skipped),
        },
    )
    record = {"path": folder, **asdict(export), "skipped": dict(reading.skipped)}
    rows = ", ".join(f"{count:,} {name}" for name, count in export.rows.items())
    answer(options, console, record, f"{folder}: {rows}, {size_of(export.stored_bytes)}")
    return print_problems(reading.unreadable)
