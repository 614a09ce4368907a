"""`scrapy archive duplicates`: pages that say the same."""

from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.commands.archive.subcommand import Options, Subcommand, as_json, print_problems
from mmcrawl.terminal.crawl import literal
from mmcrawl.terminal.rank import RankProgress

_GROUPS, _URLS = 20, 5  # that are shown


def _run(archive: Archive, options: Options, console: Console) -> int:
    """Find pages that say the same, and keep what was found; 1 if a page is damaged."""
    from mmcrawl.rank.duplicates.finding import find_duplicates
    from mmcrawl.rank.duplicates.results import save_duplicates

    with RankProgress() as progress:
        found = find_duplicates(archive, near=options.near, at=options.at, progress=progress)
    save_duplicates(options.uri, found)
    if options.json:
        for group in found.groups[: options.limit]:
            print(as_json(asdict(group)))
        return print_problems(found.unreadable)
    shown = found.groups[: options.limit or _GROUPS]
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
    name="duplicates",
    run=_run,
    what="pages that say the same or nearly, kept for search --collapse",
    arguments="[--near SHARE] [--at TIME]",
    options="near at limit json",
)
