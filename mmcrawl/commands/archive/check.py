"""`scrapy archive check` and `verify`: everything, or every version of one page, is examined."""

from dataclasses import asdict

from rich.console import Console, Group, RenderableType
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import CheckReport, as_text
from mmcrawl.blocks.drawing import printable
from mmcrawl.commands.archive.subcommand import (
    JSON,
    Option,
    Options,
    Subcommand,
    as_json,
    print_line,
)
from mmcrawl.errors import StoreError

REPAIR = Option("--repair", "repair what can be", False)


def _run(archive: Archive, options: Options, console: Console) -> int:
    report = archive.check(repair=options[REPAIR])
    if options[JSON]:
        print(as_json(asdict(report) | {"clean": report.clean}))
    else:
        console.print(_text(report))
    return 0 if report.clean else 1


def _text(report: CheckReport) -> RenderableType:
    lines = [
        Text(
            f"{report.urls:,} URLs, {report.versions:,} versions rebuilt and compared,"
            f" {report.packs:,} packs, {report.chunks:,} chunks"
        )
    ]
    for fault in report.faults:
        style, state = ("yellow", "repaired: ") if fault.repaired else ("bold red", "")
        lines.append(Text.assemble((state, style), (printable(fault.what), style)))
    harmless = "harmless; --repair removes or completes them" if report.clean else "harmless"
    done = ((report.removed, "removed"), (report.completed, "completed: versions again"))
    for count, what in ((report.leftovers, harmless), *done):
        if count:
            leftovers = "1 leftover" if count == 1 else f"{count} leftovers"
            lines.append(Text(f"{leftovers} of interrupted writes: {what}", "dim"))
    if report.known:
        what = "cannot be made good, as --repair has told; --json names them"
        lines.append(Text(f"{len(report.known)} known: {what}", "dim"))
    nothing = "nothing else is wrong" if report.known else "nothing is wrong"
    end = (nothing, "bold green") if report.clean else ("damaged", "bold red")
    return Group(*lines, Text(*end))


CHECK = Subcommand(
    "check",
    _run,
    "examine everything; exit code 1 if damaged",
    "[--repair]",
    options=(REPAIR, JSON),
    writes=True,
)


def _verify(archive: Archive, options: Options, console: Console) -> int:
    """Rebuild versions, and compare them with their digests; 1 if one is damaged."""
    url = archive.get(options.args[0]).url
    damaged = 0
    for version in archive.versions(url):
        try:
            archive.rebuild(version)
            wrong = ""
        except StoreError as error:
            wrong, damaged = str(error), damaged + 1
        if options[JSON]:
            facts = {"url": url, "number": version.number, "digest": version.digest}
            print(as_json(facts | {"size": version.size, "wrong": wrong}))
            continue
        said = (wrong, "bold red") if wrong else ("is as it was received", "green")
        line = f"{version.number:>5}  {as_text(version.time):<23} {version.size:>11,}  "
        print_line(console, Text.assemble(line, (version.digest[:12], "dim"), "  ", said))
    return 1 if damaged else 0


VERIFY = Subcommand(
    "verify",
    _verify,
    "rebuild every version of a page; exit code 1 if one is damaged",
    "URL",
    (1, 1),
)
