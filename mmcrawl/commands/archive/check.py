"""`scrapy archive check`: everything is examined."""

from dataclasses import asdict

from rich.console import Console, Group, RenderableType
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import CheckReport
from mmcrawl.blocks.drawing import printable
from mmcrawl.commands.archive.subcommand import JSON, Option, Options, Subcommand, as_json

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
    end = ("nothing is wrong", "bold green") if report.clean else ("damaged", "bold red")
    return Group(*lines, Text(*end))


CHECK = Subcommand(
    "check",
    _run,
    "examine everything; exit code 1 if damaged",
    "[--repair]",
    options=(REPAIR, JSON),
    writes=True,
)
