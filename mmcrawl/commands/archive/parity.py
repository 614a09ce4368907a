"""`scrapy archive parity`: what damage to the file can be mended by is kept beside it."""

from pathlib import Path

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.uris import shown
from mmcrawl.blocks.drawing import printable
from mmcrawl.commands.archive.subcommand import Options, Subcommand, as_json, print_line
from mmcrawl.errors import StoreError
from mmcrawl.stores.uris import file_of
from mmcrawl.terminal.crawl import size_of

_USUAL = 5


def _run(archive: Archive, options: Options, console: Console) -> int:
    """Write it; a file that its own parity says is damaged keeps that."""
    from mmcrawl.archive.parity import write_parity

    del archive  # it is open, so the file is an archive
    file = file_of(options.uri)
    if not file:
        raise StoreError(
            f"{shown(options.uri)} is on a server, which keeps replicas against damage; parity is"
            " kept beside files"
        )
    if options.parity is not None and options.parity.damaged:
        raise StoreError(
            f"'{file}' is damaged, and what its parity mends would be lost: run"
            " `scrapy archive check --repair` first, or remove the parity"
        )
    percent = options.percent or _USUAL
    beside = write_parity(Path(file), percent)
    size = beside.stat().st_size
    if options.json:
        print(as_json({"path": str(beside), "size": size, "percent": percent}))
    else:
        line = f"{beside}: {size_of(size)}, mends {percent} of each 100 sectors of 4 KB"
        print_line(console, printable(line))
    return 0


PARITY = Subcommand(
    name="parity",
    run=_run,
    what="write parity beside the file, for check --repair to mend damage",
    arguments="[--percent N]",
    options="percent json",
)
