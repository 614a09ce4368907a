"""Works as a table: a row for each medium, what is said of the work repeated in each row."""

from datetime import UTC, datetime

from mmcrawl.collecting.works.model import Work, WorkFile

Cell = str | int | float | datetime | None

COLUMNS = (
    *("work", "title", "kind", "creator", "date", "languages", "topic", "level"),
    *("licence", "licence_url", "licence_evidence", "licence_scope", "licence_page"),
    *("file", "type", "bytes", "seconds", "sha256", "state"),
    *("page", "page_title", "block", "found_at", "pages"),
    *("caption", "poster", "subtitles", "title_from", "corrected"),
    *("tags", "note", "rating"),
)


def rows(work: Work) -> list[tuple[Cell, ...]]:
    """Return a row for each file of a work, its cells in the order of `COLUMNS`."""
    return [_row(work, file) for file in work.files]


def _row(work: Work, file: WorkFile) -> tuple[Cell, ...]:
    licence, page = work.licence, work.pages[0] if work.pages else None
    evidence = licence.evidence if licence else None
    return (
        *(work.id, work.title, work.kind, work.creator, work.date),
        *("; ".join(work.languages), work.topic, work.level),
        *((licence.code, licence.url) if licence else ("", "")),
        *((evidence.said, evidence.scope, evidence.page) if evidence else ("", "", "")),
        *(file.url, file.mime, file.size or None, file.duration or None, file.digest, file.state),
        *((page.url, page.title, page.block) if page else ("", "", "")),
        _time(page.time) if page else None,
        len(work.pages),
        *(work.caption, work.poster, "; ".join(one.url for one in work.subtitles)),
        *(work.title_source, "; ".join(work.corrected)),
        *("; ".join(work.tags), work.note, work.rating or None),
    )


def _time(seconds: float) -> datetime | None:
    """Return a time in UTC, without its zone, which spreadsheets do not have."""
    if seconds <= 0:
        return None
    return datetime.fromtimestamp(int(seconds), UTC).replace(tzinfo=None)
