"""`scrapy archive versions`: the versions of a page."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import StoredBlock, Version, Visit, as_text
from mmcrawl.commands.archive.subcommand import (
    Options,
    Subcommand,
    as_date,
    as_json,
    print_line,
)
from mmcrawl.terminal.crawl import literal


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


def version_record(
    version: Version, blocks: Sequence[StoredBlock] | None = None, visits: int | None = None
) -> dict[str, Any]:
    """Return a version, with its blocks or the number of its visits if they are given."""
    record = asdict(version) | {"date": as_date(version.time)}
    record["headers"] = [list(header) for header in version.headers]
    if visits is not None:
        record["visits"] = visits
    if blocks is not None:
        record["blocks"] = [asdict(block) for block in blocks]
    return record


def version_lines(versions: Sequence[Version], visits: Sequence[Visit]) -> Iterator[Text]:
    """Yield the versions of a URL, each with the number of visits that found it, under a head."""
    found = Counter(visit.version for visit in visits)
    yield _row(
        "vers.", "visits", "time", "status", "size", "cut by", "digest", "type", style="bold"
    )
    for version in versions:
        yield _row(
            str(version.number),
            str(found[version.number]),
            as_text(version.time),
            str(version.status),
            f"{version.size:,}",
            f"{version.method} {version.level}" if version.method else "–",
            version.digest[:12],
            version.content_type or version.header("content-type"),
        )


def _row(*cells: str, style: str = "") -> Text:
    number, visits, time, status, size, cut_by, digest, kind = cells
    line = Text(f"{number:>5} {visits:>6}  {time:<23} {status:>6} {size:>11}  ", style)
    return line.append(f"{cut_by:<9}  {digest:<12}  ", "dim").append_text(literal(kind))


VERSIONS = Subcommand(
    name="versions",
    run=_run,
    what="versions of a page",
    arguments="URL",
    least=1,
    most=1,
    options="json",
)
