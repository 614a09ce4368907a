"""`scrapy archive duplicates`: pages that say the same."""

from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.commands.archive.subcommand import (
    AT,
    JSON,
    LIMIT,
    Option,
    Options,
    Subcommand,
    as_json,
    print_problems,
)
from mmcrawl.terminal.crawl import literal
from mmcrawl.terminal.rank import RankProgress

_GROUPS, _URLS = 20, 5  # that are shown


def _share(text: str, flag: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise ValueError(f"{flag} {text}: give a number above 0 and at most 1, as 0.8")
    return value


NEAR = Option("--near", "of the text, from which on (default: 0.8)", 0.8, "SHARE", _share)


def _run(archive: Archive, options: Options, console: Console) -> int:
    """Find pages that say the same, and keep what was found; 1 if a page is damaged."""
    from mmcrawl.rank.duplicates.finding import find_duplicates
    from mmcrawl.rank.duplicates.results import save_duplicates

    with RankProgress() as progress:
        found = find_duplicates(archive, near=options[NEAR], at=options[AT], progress=progress)
    save_duplicates(options.uri, found)
    if options[JSON]:
        for group in found.groups[: options[LIMIT]]:
            print(as_json(asdict(group)))
        return print_problems(found.unreadable)
    shown = found.groups[: options[LIMIT] or _GROUPS]
    for group in shown:
        how = "the same" if group.exact else "alike"
        sites = f" on {group.hosts} sites" if group.hosts > 1 else ""
        console.print(Text(f"{len(group.urls):,} pages{sites}, {how}:", "bold"))
        for url in group.urls[:_URLS]:
            console.print(Text("  ").append(literal(url)), soft_wrap=True)
        if len(group.urls) > _URLS:
            console.print(f"  and {len(group.urls) - _URLS:,} more")
    more = f", of which {len(shown)} are shown" if len(shown) < len(found.groups) else ""
    alike = sum(len(group.urls) for group in found.groups)
    console.print(
        f"{found.pages:,} pages with text; {alike:,} are like another, in {len(found.groups):,}"
        f" groups{more}",
        soft_wrap=True,
    )
    return print_problems(found.unreadable)


DUPLICATES = Subcommand(
    "duplicates",
    _run,
    "pages that say the same or nearly, kept for search --collapse",
    "[--near SHARE] [--at TIME]",
    options=(NEAR, AT, LIMIT, JSON),
    shows_progress=True,
)
