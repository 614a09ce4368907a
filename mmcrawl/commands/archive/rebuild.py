"""`scrapy archive rebuild`: a version, byte for byte."""

from rich.console import Console
from rich.text import Text
from scrapy.exceptions import UsageError

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import as_text
from mmcrawl.commands.archive.subcommand import (
    AT,
    OVERWRITE,
    VERSION,
    Option,
    Options,
    Subcommand,
    check_version,
    write_body,
)
from mmcrawl.terminal.targets import new_file

OUTPUT = Option("-o", "where to, - for standard output", "", "FILE", is_target=True)


def _check(options: Options) -> None:
    check_version(options)
    if not options[OUTPUT]:
        raise UsageError("say where to with -o FILE, or -o - for standard output")
    new_file(options[OUTPUT], "-o", overwrite=options[OVERWRITE])


def _run(archive: Archive, options: Options, console: Console) -> int:
    version = options.found(archive)
    write_body(archive.rebuild(version).body, options[OUTPUT])
    if options[OUTPUT] != "-":
        console.print(
            Text(
                f"{options[OUTPUT]}: version {version.number} of {as_text(version.time)},"
                f" {version.size:,} bytes, SHA-256 as when it was stored"
            ),
            soft_wrap=True,
        )
    return 0


REBUILD = Subcommand(
    "rebuild",
    _run,
    "write a version, byte for byte",
    "URL [--at TIME|--version N] -o FILE",
    (1, 1),
    check=_check,
    options=(AT, VERSION, OUTPUT, OVERWRITE),
)
