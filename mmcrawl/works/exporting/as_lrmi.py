"""JSON-LD: schema.org's LearningResource with the terms of LRMI, one graph."""

import json
from pathlib import Path
from typing import Any

from mmcrawl.works.exporting.exporter import Shipment, whole_file
from mmcrawl.works.licences import RESERVED
from mmcrawl.works.model import Work, WorkFile

CONTEXT = {"@vocab": "https://schema.org/"}
"""Written into the file, so that nothing has to be fetched to read it."""

_TYPES = {
    "audio": "AudioObject",
    "video": "VideoObject",
    "document": "DigitalDocument",
    "package": "DataDownload",
    "image-animation": "ImageObject",
}
_TEACHES = {"audio": "audio recording", "package": "courseware", "image-animation": "animation"}
_LEVELS = {
    "kindergarten": "early childhood education",
    "primary": "primary education",
    "lower-secondary": "lower secondary education",
    "upper-secondary": "upper secondary education",
    "vocational": "vocational education",
    "university": "tertiary education",
}


class Lrmi:
    summary = "JSON-LD: LearningResource of schema.org with LRMI's terms"
    suffix = ".jsonld"

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_file(target) as stream:
            head = json.dumps(CONTEXT)
            stream.write(f'{{"@context": {head}, "@graph": ['.encode())
            between = b"\n"

            def write(work: Work) -> None:
                nonlocal between
                text = json.dumps(learning_resource(work), ensure_ascii=False, allow_nan=False)
                stream.write(between + text.encode("utf-8", "replace"))
                between = b",\n"

            problems = shipment.each(write)
            stream.write(b"\n]}\n")
        return problems


def learning_resource(work: Work) -> dict[str, Any]:
    """Return a work as schema.org says it; what is not known is left out."""
    licence = work.licence
    said = {
        "@id": f"urn:mmcrawl:work:{work.id}",
        "@type": ["LearningResource", "CreativeWork"],
        "identifier": work.id,
        "name": work.title,
        "description": work.caption,
        "learningResourceType": _TEACHES.get(work.kind, work.kind),
        "educationalLevel": _LEVELS.get(work.level, ""),
        "about": work.topic,
        "inLanguage": list(work.languages),
        "author": {"@type": "Person", "name": work.creator} if work.creator else "",
        "datePublished": work.date,
        "license": (licence.url or licence.code) if licence and licence.code != RESERVED else "",
        "copyrightNotice": licence.evidence.said if licence else "",
        "thumbnailUrl": work.poster,
        "isAccessibleForFree": True,
        "mainEntityOfPage": [page.url for page in work.pages],
        "encoding": [_media_object(work, file) for file in work.files],
    }
    return {name: value for name, value in said.items() if value not in ("", [])}


def _media_object(work: Work, file: WorkFile) -> dict[str, Any]:
    said = {
        "@type": _TYPES.get(file.kind, "MediaObject"),
        "contentUrl" if file.mime else "embedUrl": file.url,
        "encodingFormat": file.mime,
        "contentSize": str(file.size) if file.size else "",
        "duration": f"PT{file.duration:.0f}S" if file.duration else "",
        "sha256": file.digest,
        "caption": [
            {"@type": "MediaObject", "contentUrl": one.url, "inLanguage": one.language}
            for one in work.subtitles
        ],
    }
    return {name: value for name, value in said.items() if value not in ("", [])}
