"""`scrapy archive import-warc`: WARC files are taken in."""

import os
import sys
from dataclasses import asdict

from rich.console import Console

from mmcrawl.archive.archive import Archive
from mmcrawl.blocks.drawing import printable
from mmcrawl.commands.archive.subcommand import (
    JSON,
    Options,
    Subcommand,
    as_json,
    print_line,
    print_problems,
)


def _run(archive: Archive, options: Options, console: Console) -> int:
    """Take in WARC files; 1 if something in them is left out for what it is."""
    from mmcrawl.archive.warc.importing import import_warc

    paths = [os.path.expanduser(name) for name in options.args]
    report = import_warc(archive, paths, method=options.method)
    if options[JSON]:
        print(as_json(asdict(report) | {"problems": list(map(str, report.problems))}))
    else:
        skipped = ", ".join(f"{count:,} {name}" for name, count in report.skipped.items())
        line = (
            f"{report.records:,} records: {report.versions:,} new versions,"
            f" {report.unchanged:,} visits without change"
            + (
                f", {report.doubtful:,} of them with bytes of another digest"
                * bool(report.doubtful)
            )
        )
        print_line(console, printable(line + (f"; passed over: {skipped}" if skipped else "")))
    print_problems(report.problems)
    return 0 if all(problem.taken for problem in report.problems) else 1


IMPORT_WARC = Subcommand(
    "import-warc", _run, "take in WARC files", "FILE…", (1, sys.maxsize), writes=True, creates=True
)
