"""`scrapy archive copy`: an archive into another one."""

from dataclasses import asdict

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.copying import copy_archive
from mmcrawl.archive.opening import open_archive
from mmcrawl.archive.uris import as_archive_uri, shown
from mmcrawl.blocks.drawing import printable
from mmcrawl.commands.archive.subcommand import (
    JSON,
    Options,
    Subcommand,
    as_json,
    print_line,
    print_problems,
)
from mmcrawl.errors import StoreError


def _run(archive: Archive, options: Options, console: Console) -> int:
    """Copy; 1 if something could not be."""
    uri = as_archive_uri(options.args[0]) or ""
    if uri == options.uri:
        raise StoreError("an archive is not copied to itself: name another file or database")
    with open_archive(uri) as target:
        report = copy_archive(archive, target)
    if options[JSON]:
        print(as_json(asdict(report) | {"archive": shown(uri)}))
    else:
        line = (
            f"{shown(uri)}: {report.urls:,} URLs, {report.versions:,} versions, {report.visits:,}"
            f" visits; {report.copied:,} of these written now"
        )
        print_line(console, printable(line))
    return print_problems(report.problems)


COPY = Subcommand(
    "copy",
    _run,
    "copy all to another archive; can be broken off and done again",
    "FILE.db|mongodb://HOST/DATABASE",
    (1, 1),
)
