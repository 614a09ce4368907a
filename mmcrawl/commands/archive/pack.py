"""`scrapy archive pack`: all is cut and compressed."""

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.commands.archive.subcommand import Options, Subcommand, agreed, as_json
from mmcrawl.errors import MmcrawlError
from mmcrawl.terminal.crawl import size_of

_ASKED = 60.0  # seconds from which on it is asked before


def _run(archive: Archive, options: Options, console: Console) -> int:
    """Cut and compress; at another level, after telling what it will take and gain."""
    before = archive.stats().stored_bytes
    archive.pack()
    if options.level is not None:
        _repack(archive, options, console)
    after = archive.stats().stored_bytes
    if options.json:
        print(as_json({"before": before, "after": after}))
    else:
        console.print(f"{size_of(before)} before, {size_of(after)} now")
    return 0


def _repack(archive: Archive, options: Options, console: Console) -> None:
    level = options.level or 0
    said = archive.repack_estimate(level)
    text = (
        f"level {level}: {size_of(said.before)} become about {size_of(said.after)}, after some"
        f" {said.seconds:,.0f} s of one core"
    )
    if said.seconds > _ASKED and not options.yes and not agreed(f"{text}. Go on?"):
        raise MmcrawlError(f"{text}; nothing was done, say --yes to do it without being asked")
    if not options.json:
        console.print(text)
    archive.repack(level)


PACK = Subcommand(
    name="pack",
    run=_run,
    what="cut and compress all, give space back",
    arguments="[--level N] [--yes]",
    options="level yes json",
    writes=True,
)
