"""`scrapy archive diff`: what changed from one version to another."""

from dataclasses import replace

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.commands.archive.options import Options
from mmcrawl.commands.archive.subcommand import Subcommand
from mmcrawl.errors import StoreError
from mmcrawl.terminal.archive import difference_view
from mmcrawl.terminal.archive_json import as_json, difference_record

_NOISE = ("advertisement",)


def _run(archive: Archive, options: Options, console: Console) -> int:
    url = options.args[0]
    if options.numbers:
        old, new = (archive.version(url, number) for number in options.numbers)
    else:
        versions = archive.versions(url) or [archive.get(url)]
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


DIFF = Subcommand(
    name="diff",
    run=_run,
    what="what changed from one version to another",
    arguments="URL [V1 V2] [--kinds KINDS|--all]",
    least=1,
    most=3,
    options="kinds all json",
)
