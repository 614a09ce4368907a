"""A work as a web page, in Chinese or English, and as Dublin Core."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from urllib.parse import quote

from mmcrawl.media.parts import SWF
from mmcrawl.text.media_kinds import CHINESE
from mmcrawl.text.writing import size_of, xml_text
from mmcrawl.works.licences import RESERVED
from mmcrawl.works.model import Work, WorkFile

_DCMI = {
    "audio": "Sound",
    "video": "MovingImage",
    "animation": "InteractiveResource",
    "simulation": "InteractiveResource",
    "document": "Text",
    "package": "Software",
    "image-animation": "MovingImage",
}
"""Kinds of works in the DCMI Type Vocabulary."""


def dublin_core(work: Work) -> list[tuple[str, str]]:
    """Return the terms and values of a work that are known, without characters XML forbids.

    Addresses of files are identifiers, that of the best page the source.
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
    yield "type", _DCMI.get(work.kind, work.kind)
    yield from (("format", mime) for mime in dict.fromkeys(file.mime for file in work.files))
    yield "extent", f"PT{work.duration:.0f}S" if work.duration else ""
    yield from (("identifier", file.url) for file in work.files)
    yield from (("source", page.url) for page in work.pages[:1])
    if licence := work.licence:
        yield "rights", "All rights reserved" if licence.code == RESERVED else licence.code
        yield "license", licence.url
    yield from (("relation", one.url) for one in work.subtitles)


LABELS: Mapping[str, tuple[str, str]] = {
    "not held": ("not on this medium; on the web:", "本介质上没有；网上地址："),
    "from": ("from", "来源"),
    "archived": ("the page as it was on", "网页存档："),
    **{kind: (kind.replace("-", " "), name) for kind, name in CHINESE.items()},
    "kindergarten": ("kindergarten", "幼儿园"),
    "primary": ("primary school", "小学"),
    "lower-secondary": ("lower secondary school", "初中"),
    "upper-secondary": ("upper secondary school", "高中"),
    "vocational": ("vocational school", "职业学校"),
    "university": ("university", "大学"),
    "all-rights-reserved": ("all rights reserved", "版权所有"),
    "no licence": ("no licence is stated", "未注明许可"),
}
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem;color:#222}
article{border-top:1px solid #ccc;padding:.6rem 0}h2{font-size:1.1rem;margin:.2rem 0}
p{margin:.2rem 0;overflow-wrap:anywhere}small,.facts{color:#555}video,audio{max-width:100%}
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}small,.facts{color:#aaa}
a{color:#8bf}}
"""

PLAYED = {
    *("audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/webm", "audio/wav"),
    *("audio/x-wav", "audio/flac", "video/mp4", "video/webm", "video/ogg"),
}
"""What browsers play."""


def work_page(
    work: Work,
    copied: Sequence[tuple[WorkFile, str]],
    ruffle: str = "",
    archived: tuple[str, float] | None = None,
) -> bytes:
    """Return a web page of a work, in its own language if that is Chinese, else in English.

    Args:
        copied: Its files with their paths; the best one is played if browsers play it.
        ruffle: Address of Ruffle's program, "" if it is not there: it plays animations.
        archived: Path and time of the page that shows it as it was archived, beside the others.
    """
    lang = "zh" if work.languages and work.languages[0].startswith("zh") else "en"

    def said(label: str) -> str:
        return LABELS.get(label, (label, label))[lang == "zh"]

    facts = [said(work.kind), said(work.level), work.creator, work.date, work.topic]
    if work.duration:
        minutes, seconds = divmod(round(work.duration), 60)
        facts.append(f"{minutes}:{seconds:02}")
    licence = escape(said("no licence"))
    if one := work.licence:
        licence = web_link(one.url, one.code) if one.url else escape(said(one.code))
    plays = ruffle and any(file.mime == SWF for file, _ in copied[:1])
    script = f'<script src="{quote(ruffle)}"></script>' if plays else ""
    parts = [
        f'<!doctype html>\n<html lang="{lang}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(work.title)}</title>'
        f"<style>{_STYLE}</style>{script}</head>"
        f'<body><article id="{work.id}"><h2>{escape(work.title)}</h2>'
        f'<p class="facts">{" · ".join([*map(escape, filter(None, facts)), licence])}</p>'
    ]
    for number, (file, path) in enumerate(copied):
        address = quote(path)
        if number == 0 and file.mime in PLAYED:
            tag = file.mime.partition("/")[0]
            parts.append(f'<{tag} controls preload="none" src="{address}"></{tag}>')
        elif number == 0 and plays:
            # To films of its own host, Ruffle would else open the page to the scripts in them.
            parts.append(
                f'<object type="{SWF}" data="{address}" width="640" height="480">'
                '<param name="allowScriptAccess" value="never">'
                f'<param name="base" value="{address.rpartition("/")[0]}/"></object>'
            )
        name = escape(path.rpartition("/")[2])
        parts.append(f'<p><a href="{address}">{name}</a> ({size_of(file.size)})</p>')
    if not copied:
        links = ", ".join(web_link(file.url) for file in work.files[:5])
        parts.append(f"<p>{said('not held')} {links}</p>")
    if work.caption and work.caption != work.title:
        parts.append(f"<p>{escape(work.caption)}</p>")
    for page in work.pages[:1]:
        parts.append(f"<p><small>{said('from')} {web_link(page.url, page.title)}</small></p>")
    if archived:
        day = datetime.fromtimestamp(archived[1], UTC).date().isoformat()
        parts.append(f'<p><a href="../{quote(archived[0])}">{said("archived")} {day}</a></p>')
    return "".join([*parts, "</article></body></html>\n"]).encode("utf-8", "replace")


def web_link(url: str, text: str = "") -> str:
    """Return a link; of an address that a browser would run, its text only."""
    shown = escape(text or url)
    web = url.lower().startswith(("http://", "https://", "ftp://"))
    return f'<a href="{escape(url)}">{shown}</a>' if web else shown
