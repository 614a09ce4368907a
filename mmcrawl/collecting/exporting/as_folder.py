"""Plain files with an index.html in Chinese and English, for a memory stick: no server is needed.

The index is one page without scripts of others: its list is in it, and searching and the choice of
language are a few lines of script; without script, all is shown in both languages.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from urllib.parse import quote

from mmcrawl.collecting.exporting.as_jsonl import JsonLines
from mmcrawl.collecting.exporting.exporter import Shipment
from mmcrawl.collecting.exporting.held_files import HeldFiles
from mmcrawl.collecting.works.model import Work

_MEDIA = "media"
_LABELS: Mapping[str, tuple[str, str]] = {
    "works": ("works", "件作品"),
    "search": ("Search", "搜索"),
    "not held": ("not on this medium; on the web:", "本介质上没有；网上地址："),
    "from": ("from", "来源"),
    "audio": ("audio", "音频"),
    "video": ("video", "视频"),
    "animation": ("animation", "动画"),
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
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem;color:#222}
article{border-top:1px solid #ccc;padding:.6rem 0}h2{font-size:1.1rem;margin:.2rem 0}
p{margin:.2rem 0;overflow-wrap:anywhere}small,.facts{color:#555}video,audio{max-width:100%}
input{font:inherit;width:60%}html[lang=en] .zh,html[lang=zh] .en{display:none}
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}small,.facts{color:#aaa}
a{color:#8bf}}
"""
_SCRIPT = """
const all=[...document.querySelectorAll('article')],root=document.documentElement;
root.lang=/^zh/.test(navigator.language)?'zh':'en';
document.querySelector('input').addEventListener('input',e=>{
const q=e.target.value.toLowerCase();
for(const a of all)a.hidden=!a.textContent.toLowerCase().includes(q)});
for(const b of document.querySelectorAll('button'))
b.addEventListener('click',()=>{root.lang=b.value});
"""


class Folder:
    """An `Exporter`."""

    summary = "plain files with an index.html in Chinese and English"
    suffix = ""

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        target.mkdir(parents=True)
        held = HeldFiles(shipment, target / _MEDIA)
        works = list(shipment.works)
        articles = [_article(work, held) for work in works]
        day = datetime.fromtimestamp(shipment.time, UTC).date().isoformat()
        name = escape(shipment.name)
        head = (
            f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{name}</title>'
            '<meta name="viewport" content="width=device-width"><meta http-equiv='
            "\"Content-Security-Policy\" content=\"default-src 'self' file: 'unsafe-inline'\">"
            f"<style>{_STYLE}</style></head><body><h1>{name}</h1>"
            '<p><button value="zh">中文</button> <button value="en">English</button></p>'
            f"<p>{len(works):,} {_both('works')}; {_both('made')} {day}</p>"
            '<p><label><span class="en">Search</span><span class="zh">搜索</span>: '
            '<input type="search"></label></p>\n'
        )
        text = f"{head}{''.join(articles)}<script>{_SCRIPT}</script></body></html>\n"
        (target / "index.html").write_bytes(text.encode("utf-8", "replace"))
        JsonLines().export(Shipment(works), target / "works.jsonl")
        return held.missing


def _both(label: str) -> str:
    """Return a label in both languages, of which one is shown."""
    english, chinese = _LABELS[label]
    return f'<span class="en">{english}</span><span class="zh">{chinese}</span>'


def _article(work: Work, held: HeldFiles) -> str:
    parts = [f'<article id="{work.id}"><h2>{escape(work.title)}</h2>']
    facts = [_both(work.kind) if work.kind in _LABELS else escape(work.kind)]
    facts += [_both(work.level)] if work.level in _LABELS else []
    facts += [escape(fact) for fact in (work.creator, work.date, work.topic) if fact]
    if work.duration:
        minutes, seconds = divmod(round(work.duration), 60)
        facts.append(f"{minutes}:{seconds:02}")
    parts.append(f'<p class="facts">{" · ".join([*facts, _licence(work)])}</p>')
    copied = [(file, name) for file in work.files if (name := held.copy(work, file))]
    for number, (file, name) in enumerate(copied):
        address = f"{_MEDIA}/{quote(name)}"
        if number == 0 and file.kind in ("audio", "video"):
            parts.append(f'<{file.kind} controls preload="none" src="{address}"></{file.kind}>')
        parts.append(f'<p><a href="{address}">{escape(name)}</a> ({_size(file.size)})</p>')
    if not copied:
        links = ", ".join(_link(file.url) for file in work.files[:5])
        parts.append(f"<p>{_both('not held')} {links}</p>")
    if work.caption and work.caption != work.title:
        parts.append(f"<p>{escape(work.caption)}</p>")
    for page in work.pages[:1]:
        parts.append(f"<p><small>{_both('from')} {_link(page.url, page.title)}</small></p>")
    return "".join([*parts, "</article>\n"])


def _licence(work: Work) -> str:
    licence = work.licence
    if licence is None:
        return _both("no licence")
    if licence.code in _LABELS:
        return _both(licence.code)
    return _link(licence.url, licence.code) if licence.url else escape(licence.code)


def _link(url: str, text: str = "") -> str:
    """Return a link; of an address that a browser would run, its text only."""
    shown = escape(text or url)
    web = url.lower().startswith(("http://", "https://", "ftp://"))
    return f'<a href="{escape(url)}">{shown}</a>' if web else shown


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.1f} kB"
