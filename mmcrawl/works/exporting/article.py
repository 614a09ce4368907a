"""A work as a piece of a web page, in Chinese and English, of which one is shown."""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote, urlencode

from mmcrawl.media.parts import SWF
from mmcrawl.text.media_kinds import CHINESE
from mmcrawl.text.writing import xml_text
from mmcrawl.works.exporting.exporter import Shipment, whole_file
from mmcrawl.works.licences import RESERVED
from mmcrawl.works.model import Work, WorkFile

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


LABELS: Mapping[str, tuple[str, str]] = {
    "works": ("works", "件作品"),
    "not held": ("not on this medium; on the web:", "本介质上没有；网上地址："),
    "from": ("from", "来源"),
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
STYLE = """
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem;color:#222}
article{border-top:1px solid #ccc;padding:.6rem 0}h2{font-size:1.1rem;margin:.2rem 0}
p{margin:.2rem 0;overflow-wrap:anywhere}small,.facts{color:#555}video,audio{max-width:100%}
input{font:inherit;width:60%}html[lang=en] .zh,html[lang=zh] .en{display:none}
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}small,.facts{color:#aaa}
a{color:#8bf}}
"""
"""How it looks; the language is that of the root element, both without one."""

PLAYED = {
    *("audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/webm", "audio/wav"),
    *("audio/x-wav", "audio/flac", "video/mp4", "video/webm", "video/ogg"),
}
"""What browsers play."""


def both(label: str) -> str:
    """Return one of our labels in both languages, of which one is shown."""
    english, chinese = LABELS[label]
    return f'<span class="en">{english}</span><span class="zh">{chinese}</span>'


def article(work: Work, copied: Sequence[tuple[WorkFile, str]]) -> str:
    """Return a work with its files: a player for the best one if browsers play it, and links."""
    parts = [f'<article id="{work.id}"><h2>{escape(work.title)}</h2>{coins(work)}']
    facts = [both(work.kind) if work.kind in LABELS else escape(work.kind)]
    facts += [both(work.level)] if work.level in LABELS else []
    facts += [escape(fact) for fact in (work.creator, work.date, work.topic) if fact]
    if work.duration:
        minutes, seconds = divmod(round(work.duration), 60)
        facts.append(f"{minutes}:{seconds:02}")
    parts.append(f'<p class="facts">{" · ".join([*facts, _licence(work)])}</p>')
    for number, (file, path) in enumerate(copied):
        address = quote(path)
        if number == 0 and file.mime in PLAYED:
            tag = file.mime.partition("/")[0]
            parts.append(f'<{tag} controls preload="none" src="{address}"></{tag}>')
        name = escape(path.rpartition("/")[2])
        parts.append(f'<p><a href="{address}">{name}</a> ({_size(file.size)})</p>')
    if not copied:
        links = ", ".join(web_link(file.url) for file in work.files[:5])
        parts.append(f"<p>{both('not held')} {links}</p>")
    if work.caption and work.caption != work.title:
        parts.append(f"<p>{escape(work.caption)}</p>")
    for page in work.pages[:1]:
        parts.append(f"<p><small>{both('from')} {web_link(page.url, page.title)}</small></p>")
    return "".join([*parts, "</article>\n"])


def work_page(work: Work, copied: Sequence[tuple[WorkFile, str]], ruffle: str = "") -> bytes:
    """Return a web page of a work, in its own language if that is Chinese, else in English.

    Args:
        ruffle: Address of Ruffle's program, "" if it is not there: it plays animations.
    """
    lang = "zh" if work.languages and work.languages[0].startswith("zh") else "en"
    films = [path for file, path in copied if file.mime == SWF] if ruffle else []
    script = f'<script src="{quote(ruffle)}"></script>' if films else ""
    player = "".join(
        f'<object type="{SWF}" data="{quote(film)}" width="640" height="480">'
        f'<param name="base" value="{quote(film.rpartition("/")[0])}/"></object>'
        for film in films[:1]
    )
    return (
        f'<!doctype html>\n<html lang="{lang}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(work.title)}</title>'
        f"<style>{STYLE}</style>{script}</head>"
        f"<body>{player}{article(work, copied)}</body></html>\n"
    ).encode("utf-8", "replace")


def _licence(work: Work) -> str:
    licence = work.licence
    if licence is None:
        return both("no licence")
    if licence.code in LABELS:
        return both(licence.code)
    return web_link(licence.url, licence.code) if licence.url else escape(licence.code)


def web_link(url: str, text: str = "") -> str:
    """Return a link; of an address that a browser would run, its text only."""
    shown = escape(text or url)
    web = url.lower().startswith(("http://", "https://", "ftp://"))
    return f'<a href="{escape(url)}">{shown}</a>' if web else shown


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.1f} kB"
