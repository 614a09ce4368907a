"""`scrapy archive rebuild`: a version, byte for byte."""

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import as_text
from mmcrawl.commands.archive.subcommand import Options, Subcommand, write_body


def _run(archive: Archive, options: Options, console: Console) -> int:
    version = options.found(archive)
    write_body(archive.rebuild(version).body, options.output)
    if options.output != "-":
        console.print(
            Text(
                f"{options.output}: version {version.number} of {as_text(version.time)},"
                f" {version.size:,} bytes, SHA-256 as when it was stored"
            ),
            soft_wrap=True,
        )
    return 0


REBUILD = Subcommand(
    name="rebuild",
    run=_run,
    what="write a version, byte for byte",
    arguments="URL [--at TIME|--version N] -o FILE",
    least=1,
    most=1,
    options="at version output overwrite",
)
