"""A work in the terms of Dublin Core (DCMI Metadata Terms), which libraries' systems share."""

from collections.abc import Iterator

from mmcrawl.collecting.works.licence_names import RESERVED
from mmcrawl.collecting.works.model import Work
from mmcrawl.text.xml import xml_text

_TYPES = {
    "audio": "Sound",
    "video": "MovingImage",
    "animation": "InteractiveResource",
    "simulation": "InteractiveResource",
    "document": "Text",
    "package": "Software",
    "image-animation": "MovingImage",
}
"""Of the DCMI Type Vocabulary."""


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
    yield "type", _TYPES.get(work.kind, work.kind)
    yield from (("format", mime) for mime in dict.fromkeys(file.mime for file in work.files))
    yield "extent", f"PT{work.duration:.0f}S" if work.duration else ""
    yield from (("identifier", file.url) for file in work.files)
    yield from (("source", page.url) for page in work.pages[:1])
    if licence := work.licence:
        yield "rights", "All rights reserved" if licence.code == RESERVED else licence.code
        yield "license", licence.url
    yield from (("relation", one.url) for one in work.subtitles)
