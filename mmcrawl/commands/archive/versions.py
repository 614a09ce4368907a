"""`scrapy archive versions`: the versions of a page."""

from collections import Counter

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.commands.archive.options import Options
from mmcrawl.commands.archive.subcommand import Subcommand, print_line
from mmcrawl.terminal.archive import version_lines
from mmcrawl.terminal.archive_json import as_json, version_record


def _run(archive: Archive, options: Options, console: Console) -> int:
    archive.get(options.args[0])
    versions, visits = archive.versions(options.args[0]), archive.visits(options.args[0])
    found = Counter(visit.version for visit in visits)
    if options.json:
        for version in versions:
            print(as_json(version_record(version, visits=found[version.number])))
    else:
        for line in version_lines(versions, visits):
            print_line(console, line)
    return 0


VERSIONS = Subcommand(
    name="versions",
    run=_run,
    what="versions of a page",
    arguments="URL",
    least=1,
    most=1,
    options="json",
)
