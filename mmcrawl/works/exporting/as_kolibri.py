"""For Kolibri: a folder of files by topic and kind, with the tables from which ricecooker's
LineCook makes a channel (``linecook --channeldir=…``).

Kolibri shows MP4, WebM and MP3, and requires a licence and a copyright holder for each file.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from mmcrawl.text.writing import CsvWriter
from mmcrawl.works.exporting.exporter import (
    HeldFiles,
    Shipment,
    files_in,
    folder_name,
    whole_folder,
)
from mmcrawl.works.licences import RESERVED
from mmcrawl.works.model import Work, WorkFile

_CHANNEL = "channel"
_CHANNEL_COLUMNS = ("Title", "Description", "Domain", "Source ID", "Language", "Thumbnail")
_COLUMNS = (
    *("Path *", "Title *", "Source ID", "Description", "Author", "Language"),
    *("License ID *", "License Description", "Copyright Holder", "Thumbnail"),
)
_SHOWN = {"video/mp4", "video/webm", "audio/mpeg"}
_CREATIVE_COMMONS = re.compile(r"CC-(BY(?:-(?:SA|ND|NC|NC-SA|NC-ND))?)(?:-[0-9.]+(?:-[A-Z]+)?)?")
_PUBLIC = re.compile(r"CC0|PDM")
_LONGEST_TITLE, _LONGEST_DESCRIPTION = 200, 400  # characters, of Kolibri Studio


class Kolibri:
    summary = "for Kolibri: files and tables that ricecooker makes a channel of"
    suffix = ""

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        problems: list[str] = []
        with whole_folder(target) as folder:
            held = HeldFiles(shipment, files_in(folder))
            rows: list[tuple[str, ...]] = []
            folders: dict[str, str] = {}

            def write(work: Work) -> None:
                licence = _licence_id(work)
                files = [file for file in work.files if file.digest and file.mime in _SHOWN]
                if not files or not licence:
                    why = _why_not(work) if files else _why(work.files)
                    problems.append(f"{work.title}: {why}, so it is left out")
                    return
                above = [name for name in (folder_name(work.topic), work.kind) if name]
                for depth, name in enumerate(above, 1):
                    folders["/".join([_CHANNEL, *above[:depth]])] = name
                path = held.copy(work, files[0], "/".join([_CHANNEL, *above, ""]))
                if path:
                    rows.append(_row(work, path, licence))

            problems += shipment.each(write)
            topics = [(path, name, *[""] * 8) for path, name in folders.items()]
            _write(folder / "Content.csv", _COLUMNS, [*topics, *rows])
            about = (_line(shipment.name)[:_LONGEST_TITLE], "", "mmcrawl", "", _language(rows), "")
            _write(folder / "Channel.csv", _CHANNEL_COLUMNS, [about])
            (folder / _CHANNEL).mkdir(exist_ok=True)
        return held.missing + problems


def _row(work: Work, path: str, licence: str) -> tuple[str, ...]:
    assert work.licence is not None  # noqa: S101 - one without has no id of a licence
    return (
        path,
        _line(work.title)[:_LONGEST_TITLE],
        work.id,
        _line(work.caption)[:_LONGEST_DESCRIPTION],
        _line(work.creator),
        work.languages[0] if work.languages else "",
        licence,
        _line(f"{work.licence.code} {work.licence.url}"),
        _line(work.creator) or "unknown",
        "",
    )


def _licence_id(work: Work) -> str:
    """Return the name of a work's licence in Kolibri, "" if it has none there."""
    code = work.licence.code if work.licence else ""
    if found := _CREATIVE_COMMONS.fullmatch(code):
        return f"CC {found[1]}"
    if _PUBLIC.match(code):
        return "Public Domain"
    return ""


def _why_not(work: Work) -> str:
    is_reserved = work.licence is not None and work.licence.code == RESERVED
    return "all rights are reserved" if is_reserved else "no licence of it is known"


def _why(files: Sequence[WorkFile]) -> str:
    if any(file.digest for file in files):
        return "Kolibri shows MP4, WebM and MP3 only"
    return "it is not held"


def _language(rows: Sequence[tuple[str, ...]]) -> str:
    """Return the language most works are in."""
    languages = [row[_COLUMNS.index("Language")] for row in rows]
    return max(sorted({*languages} - {""}), key=languages.count, default="en")


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", errors="replace", newline="") as stream:
        table = CsvWriter(stream)
        table.writerow(columns)
        table.writerows(rows)


def _line(text: str) -> str:
    return " ".join(text.split())
