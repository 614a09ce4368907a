"""`scrapy archive classes`: what pages are there for."""

from collections import Counter

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.commands.archive.subcommand import (
    AT,
    JSON,
    Options,
    Subcommand,
    as_json,
    print_problems,
)
from mmcrawl.rank.reading import Reading
from mmcrawl.terminal.crawl import literal
from mmcrawl.terminal.rank import RankProgress


def _run(archive: Archive, options: Options, console: Console) -> int:
    """Tell what pages are there for; 1 if a page is damaged."""
    from mmcrawl.rank.page_class import PAGE_CLASSES, classes_of

    counts: Counter[str] = Counter()
    with RankProgress() as progress:
        reading = Reading(archive, at=options[AT], topics=False, progress=progress)
        for url, number, found in classes_of(archive, reading):
            counts[found.name] += 1
            if options[JSON]:
                told = {name: round(value, 4) for name, value in found.probabilities.items()}
                row = {"url": url, "version": number, "class": found.name, "probabilities": told}
                print(as_json(row))
            else:
                sure = f"{found.probabilities[found.name]:4.0%}"
                line = Text(f"{found.name:<6} {sure}  ").append(literal(url))
                console.print(line, soft_wrap=True)
    if not options[JSON]:
        parts = ", ".join(f"{counts[name]:,} {name}" for name in PAGE_CLASSES)
        console.print(Text(f"{counts.total():,} pages: {parts}", "bold"))
    return print_problems(reading.unreadable)


CLASSES = Subcommand(
    "classes",
    _run,
    "what each page is there for: topic, hub, media, other",
    "[--at TIME]",
    options=(AT, JSON),
    shows_progress=True,
)
