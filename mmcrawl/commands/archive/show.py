"""`scrapy archive show`: facts and blocks of a version."""

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.levels import LevelManager
from mmcrawl.commands.archive.options import Options
from mmcrawl.commands.archive.subcommand import Subcommand, write_body
from mmcrawl.terminal.archive import version_view
from mmcrawl.terminal.archive_json import as_json, version_record


def _run(archive: Archive, options: Options, console: Console) -> int:
    version = options.found(archive)
    if options.body:
        write_body(archive.rebuild(version).body, "-")
        return 0
    blocks = archive.blocks_of(version)
    if options.json:
        print(as_json(version_record(version, blocks)))
    else:
        choice = LevelManager(archive).choose(version.url)
        console.print(version_view(version, blocks, choice.reason))
    return 0


SHOW = Subcommand(
    name="show",
    run=_run,
    what="facts and blocks of a version",
    arguments="URL [--at TIME|--version N] [--body]",
    least=1,
    most=1,
    options="at version body json",
)
