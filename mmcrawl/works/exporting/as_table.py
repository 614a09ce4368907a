"""CSV and JSON Lines: a row or a line for each medium."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path

from mmcrawl.text.writing import CsvWriter
from mmcrawl.works.exporting.exporter import Shipment, whole_file
from mmcrawl.works.model import Work, WorkFile

COLUMNS = (
    *("work", "title", "kind", "creator", "date", "languages", "topic", "level"),
    *("licence", "licence_url", "licence_evidence", "licence_scope", "licence_page"),
    *("file", "type", "bytes", "seconds", "sha256", "state"),
    *("page", "page_title", "block", "found_at", "pages"),
    *("caption", "poster", "subtitles", "title_from", "corrected"),
    *("tags", "note", "rating"),
)


def _row(work: Work, file: WorkFile) -> tuple[str | float | None, ...]:
    """Return the cells of a file in the order of `COLUMNS`."""
    licence, page = work.licence, work.pages[0] if work.pages else None
    evidence = licence.evidence if licence else None
    return (
        *(work.id, work.title, work.kind, work.creator, work.date),
        *("; ".join(work.languages), work.topic, work.level),
        *((licence.code, licence.url) if licence else ("", "")),
        *((evidence.said, evidence.scope, evidence.page) if evidence else ("", "", "")),
        *(file.url, file.mime, file.size or None, file.duration or None, file.digest, file.state),
        *((page.url, page.title, page.block) if page else ("", "", "")),
        _time(page.time) if page else "",
        len(work.pages),
        *(work.caption, work.poster, "; ".join(one.url for one in work.subtitles)),
        *(work.title_source, "; ".join(work.corrected)),
        *("; ".join(work.tags), work.note, work.rating or None),
    )


def _time(seconds: float) -> str:
    """Return a time in UTC, as spreadsheets read it."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}" if seconds > 0 else ""


class Csv:
    summary = "a table with a row for each medium, for spreadsheets"
    suffix = ".csv"

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_file(target) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
            writer = CsvWriter(text)
            writer.writerow(COLUMNS)

            def write(work: Work) -> None:
                writer.writerows(_row(work, file) for file in work.files)

            problems = shipment.each(write)
            text.detach()
        return problems


class JsonLines:
    summary = "a line of JSON for each work, with all that is known"
    suffix = ".jsonl"

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_file(target) as stream:

            def write(work: Work) -> None:
                line = json.dumps(work.as_plain(), ensure_ascii=False, allow_nan=False)
                stream.write(line.encode("utf-8", "replace") + b"\n")

            return shipment.each(write)
