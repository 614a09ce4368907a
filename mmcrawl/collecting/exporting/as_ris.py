"""RIS, which Zotero, EndNote and Citavi read: a reference for each work."""

import re
from collections.abc import Iterator
from pathlib import Path

from mmcrawl.collecting.exporting.exporter import Shipment, whole_file
from mmcrawl.collecting.works.model import Work

_TYPES = {"audio": "SOUND", "video": "VIDEO", "document": "SLIDE", "package": "COMP"}


class Ris:
    """An `Exporter`."""

    summary = "references for Zotero and EndNote"
    suffix = ".ris"

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_file(target) as stream:

            def write(work: Work) -> None:
                lines = [f"{tag}  - {_line(text)}\r\n" for tag, text in _fields(work) if text]
                stream.write("".join(lines).encode("utf-8", "replace") + b"ER  - \r\n\r\n")

            return shipment.each(write)


def _fields(work: Work) -> Iterator[tuple[str, str]]:
    yield "TY", _TYPES.get(work.kind, "MULTI")
    yield "ID", work.id
    yield "TI", work.title
    yield "AU", work.creator
    yield "PY", work.date[:4]
    yield "DA", work.date.replace("-", "/")
    yield "AB", work.caption
    yield "LA", ", ".join(work.languages)
    yield "KW", work.topic
    yield "KW", work.level
    yield "N1", f"Licence: {work.licence.code} {work.licence.url}" if work.licence else ""
    yield from (("UR", page.url) for page in work.pages[:1])
    yield from (("L1" if file.mime else "UR", file.url) for file in work.files)


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
