"""`scrapy archive versions`: the versions of a page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.lives import StoredAnew
from mmcrawl.archive.model import StoredBlock, Version, Visit, as_date, as_text
from mmcrawl.commands.archive.subcommand import JSON, Options, Subcommand, as_json, print_line
from mmcrawl.terminal.crawl import literal


def _run(archive: Archive, options: Options, console: Console) -> int:
    archive.get(options.args[0])
    versions, visits = archive.versions(options.args[0]), archive.visits(options.args[0])
    anew = {each.version: each for each in archive.anew(options.args[0])}
    found = Counter(visit.version for visit in visits)
    if options[JSON]:
        for version in versions:
            number = version.number
            print(as_json(version_record(version, anew=anew.get(number), visits=found[number])))
    else:
        for line in version_lines(versions, visits, anew):
            print_line(console, line)
    return 0


def version_record(
    version: Version,
    blocks: Sequence[StoredBlock] | None = None,
    visits: int | None = None,
    anew: StoredAnew | None = None,
) -> dict[str, Any]:
    """Return a version, with those of the rest that are given.

    Args:
        version: What it is.
        blocks: Its own.
        visits: How many found it.
        anew: What was stored anew for it.
    """
    record = asdict(version) | {"date": as_date(version.time)}
    record["headers"] = [list(header) for header in version.headers]
    if visits is not None:
        record["visits"] = visits
    if anew is not None:
        record["anew"] = {
            "blocks": anew.blocks,
            "new_blocks": None if anew.blocks is None else len(anew.new),
            "new_bytes": None if anew.blocks is None else anew.new_bytes,
            "new_layout": anew.new_layout,
            "chunk_bytes": anew.chunk_bytes,
        }
    if blocks is not None:
        record["blocks"] = [asdict(block) for block in blocks]
    return record


def version_lines(
    versions: Sequence[Version], visits: Sequence[Visit], anew: Mapping[int, StoredAnew]
) -> Iterator[Text]:
    """Yield the versions of a URL under a head: how many visits found each, what was new of it.

    Args:
        versions, visits: Of the URL.
        anew: What was stored anew for a version, by its number.
    """
    found = Counter(visit.version for visit in visits)
    yield _row(
        *("vers.", "visits", "time", "status", "size", "new blocks", "bytes", "in chunks"),
        *("cut by", "digest", "type"),
        style="bold",
    )
    for version in versions:
        yield _row(
            str(version.number),
            str(found[version.number]),
            as_text(version.time),
            str(version.status),
            f"{version.size:,}",
            *_new(anew.get(version.number)),
            f"{version.method} {version.level}" if version.method else "–",
            version.digest[:12],
            version.content_type or version.header("content-type"),
        )


def _new(anew: StoredAnew | None) -> tuple[str, str, str]:
    """Return the new blocks of a version, their bytes, and those of the chunks written for it."""
    if anew is None:
        return "–", "–", "–"
    if anew.blocks is None:
        return "–", "–", f"{anew.chunk_bytes:,}"
    layout = " +layout" if anew.new_layout else ""
    new = f"{len(anew.new)} of {anew.blocks}{layout}"
    return new, f"{anew.new_bytes:,}", f"{anew.chunk_bytes:,}"


def _row(*cells: str, style: str = "") -> Text:
    number, visits, time, status, size, new, new_bytes, chunks, cut_by, digest, kind = cells
    line = Text(f"{number:>5} {visits:>6}  {time:<23} {status:>6} {size:>11}  ", style)
    line.append(f"{new:>18} {new_bytes:>9} {chunks:>9}  ")
    return line.append(f"{cut_by:<9}  {digest:<12}  ", "dim").append_text(literal(kind))


VERSIONS = Subcommand(
    "versions", _run, "versions of a page, and what was new with each", "URL", (1, 1)
)
