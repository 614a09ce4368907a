"""`scrapy archive check`: everything is examined."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import CheckReport
from mmcrawl.blocks.drawing import printable
from mmcrawl.commands.archive.subcommand import Options, Subcommand, as_json

if TYPE_CHECKING:
    from mmcrawl.archive.parity import ParityCheck


def _run(archive: Archive, options: Options, console: Console) -> int:
    report = archive.check(repair=options.repair)
    parity = options.parity
    whole = parity is None or parity.clean or parity.is_old
    clean = report.clean and whole
    if options.json:
        more = {"clean": clean, "parity": asdict(parity) if parity else None}
        print(as_json(asdict(report) | more))
    else:
        if parity is not None:
            console.print(_parity_text(parity))
        console.print(_text(report))
    return 0 if clean else 1


def _parity_text(parity: "ParityCheck") -> Text:
    if parity.is_old:
        return Text(
            "parity: of before the file was last written to; write it anew with"
            " `scrapy archive parity`",
            "yellow",
        )
    if not parity.damaged:
        return Text(f"parity: {parity.percent} %, all sectors are as they were", "dim")
    if parity.mended:
        said = f"parity: {parity.damaged:,} sectors of 4 KB damaged, {parity.mendable:,} mended"
        return Text(said, "yellow" if parity.clean else "bold red")
    said = f"parity: {parity.damaged:,} sectors of 4 KB damaged, {parity.mendable:,} can be mended"
    return Text(said + (" with --repair" if parity.mendable else ""), "bold red")


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
    name="check",
    run=_run,
    what="examine everything; exit code 1 if damaged",
    arguments="[--repair]",
    options="repair json",
    writes=True,
)
