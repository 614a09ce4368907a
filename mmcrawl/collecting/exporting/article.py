"""A work as a piece of a web page, in Chinese and English, of which one is shown."""

from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import quote

from mmcrawl.collecting.exporting.references import coins
from mmcrawl.collecting.parts import SWF
from mmcrawl.collecting.works.model import Work, WorkFile
from mmcrawl.text.media_kinds import CHINESE

_LABELS: Mapping[str, tuple[str, str]] = {
    "works": ("works", "件作品"),
    "search": ("Search", "搜索"),
    "not held": ("not on this medium; on the web:", "本介质上没有；网上地址："),
    "from": ("from", "来源"),
    **{kind: (kind.replace("-", " "), name) for kind, name in CHINESE.items()},
    "made": ("made on", "制作日期"),
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
    english, chinese = _LABELS[label]
    return f'<span class="en">{english}</span><span class="zh">{chinese}</span>'


def article(work: Work, copied: Sequence[tuple[WorkFile, str]]) -> str:
    """Return a work with its files: a player for the best one if browsers play it, and links.

    Args:
        work: What is known of it.
        copied: Files that stand beside the page, with their paths from there.
    """
    parts = [f'<article id="{work.id}"><h2>{escape(work.title)}</h2>{coins(work)}']
    facts = [both(work.kind) if work.kind in _LABELS else escape(work.kind)]
    facts += [both(work.level)] if work.level in _LABELS else []
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
        work, copied: As of `article`.
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
    if licence.code in _LABELS:
        return both(licence.code)
    return web_link(licence.url, licence.code) if licence.url else escape(licence.code)


def web_link(url: str, text: str = "") -> str:
    """Return a link; of an address that a browser would run, its text only."""
    shown = escape(text or url)
    web = url.lower().startswith(("http://", "https://", "ftp://"))
    return f'<a href="{escape(url)}">{shown}</a>' if web else shown


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.1f} kB"
