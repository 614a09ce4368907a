"""`scrapy archive seal` and `repack`: compressing, after telling what that takes and gains."""

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.format.repacking import RepackEstimate
from mmcrawl.commands.archive.subcommand import (
    JSON,
    YES,
    Option,
    Options,
    Subcommand,
    agreed,
    as_json,
)
from mmcrawl.commands.values import whole
from mmcrawl.errors import MmcrawlError
from mmcrawl.terminal.crawl import size_of

_LEVEL = 19
_ASKED = 60.0  # seconds from which on it is asked before


def _level(text: str, flag: str) -> int:
    return whole(text, flag, 1, 19)


LEVEL = Option("--level", "of zstd, 1 to 19 (default: 19)", _LEVEL, "N", _level)


def _seal(archive: Archive, options: Options, console: Console) -> int:
    """Do what closing does, also where a process was killed before it; cut what is uncut."""
    _tell(archive.seal_estimate(), "what is not sealed", options, console)
    before = archive.stats().stored_bytes
    archive.pack()
    return _done(archive, before, options, console)


def _repack(archive: Archive, options: Options, console: Console) -> int:
    """Compress all anew."""
    level = options[LEVEL]
    _tell(archive.repack_estimate(level), f"at level {level}", options, console)
    before = archive.stats().stored_bytes
    archive.repack(level)
    return _done(archive, before, options, console)


def _tell(said: RepackEstimate, what: str, options: Options, console: Console) -> None:
    """Say what it will take and gain; ask, if it takes long."""
    text = (
        f"{what}: {size_of(said.before)} become about {size_of(said.after)}, after some"
        f" {said.seconds:,.0f} s of one core"
    )
    if said.seconds > _ASKED and not options[YES] and not agreed(f"{text}. Go on?"):
        raise MmcrawlError(f"{text}; nothing was done, say --yes to do it without being asked")
    if not options[JSON]:
        console.print(text)


def _done(archive: Archive, before: int, options: Options, console: Console) -> int:
    after = archive.stats().stored_bytes
    if options[JSON]:
        print(as_json({"before": before, "after": after}))
    else:
        console.print(f"{size_of(before)} before, {size_of(after)} now")
    return 0


SEAL = Subcommand(
    "seal",
    _seal,
    "cut and compress what is not yet, give space back",
    "[--yes]",
    options=(YES, JSON),
    writes=True,
)
REPACK = Subcommand(
    "repack",
    _repack,
    "compress all anew, after telling what that takes and gains",
    "[--level N] [--yes]",
    options=(LEVEL, YES, JSON),
    writes=True,
)
