"""References to works: COinS in web pages, Dublin Core, RIS for Zotero, EndNote and Citavi."""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from urllib.parse import urlencode

from mmcrawl.collecting.exporting.exporter import Shipment, whole_file
from mmcrawl.collecting.works.licence_names import RESERVED
from mmcrawl.collecting.works.model import Work
from mmcrawl.text.writing import xml_text

_TYPES = {"audio": "audioRecording", "video": "videoRecording"}
_DCMI_TYPES = {
    "audio": "Sound",
    "video": "MovingImage",
    "animation": "InteractiveResource",
    "simulation": "InteractiveResource",
    "document": "Text",
    "package": "Software",
    "image-animation": "MovingImage",
}
"""Of the DCMI Type Vocabulary."""
_RIS_TYPES = {"audio": "SOUND", "video": "VIDEO", "document": "SLIDE", "package": "COMP"}


def coins(work: Work) -> str:
    """Return an empty element with a reference to a work (OpenURL 1.0, ANSI/NISO Z39.88-2004)."""
    page = work.pages[0].url if work.pages else work.files[0].url if work.files else ""
    said = [
        ("ctx_ver", "Z39.88-2004"),
        ("rft_val_fmt", "info:ofi/fmt:kev:mtx:dc"),
        ("rft.type", _TYPES.get(work.kind, "webpage")),
        ("rft.title", work.title),
        ("rft.creator", work.creator),
        ("rft.date", work.date),
        ("rft.description", work.caption),
        ("rft.language", ", ".join(work.languages)),
        ("rft.rights", work.licence.code if work.licence else ""),
        ("rft.identifier", page),
    ]
    query = urlencode([pair for pair in said if pair[1]], errors="replace")
    return f'<span class="Z3988" title="{escape(query)}"></span>'


def dublin_core(work: Work) -> list[tuple[str, str]]:
    """Return what is known of a work: names of terms and values, without characters XML forbids.

    Terms come several times; what is not known is left out. Addresses of files are identifiers,
    that of the best page the source.
    """
    return [(term, text) for term, value in _terms(work) if (text := xml_text(value).strip())]


def _terms(work: Work) -> Iterator[tuple[str, str]]:
    yield "title", work.title
    yield "creator", work.creator
    yield "issued", work.date
    yield "abstract", work.caption
    yield from (("language", language) for language in work.languages)
    yield from (("subject", subject) for subject in (work.topic, *work.tags))
    yield "audience", work.level
    yield "type", _DCMI_TYPES.get(work.kind, work.kind)
    yield from (("format", mime) for mime in dict.fromkeys(file.mime for file in work.files))
    yield "extent", f"PT{work.duration:.0f}S" if work.duration else ""
    yield from (("identifier", file.url) for file in work.files)
    yield from (("source", page.url) for page in work.pages[:1])
    if licence := work.licence:
        yield "rights", "All rights reserved" if licence.code == RESERVED else licence.code
        yield "license", licence.url
    yield from (("relation", one.url) for one in work.subtitles)


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
    yield "TY", _RIS_TYPES.get(work.kind, "MULTI")
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
