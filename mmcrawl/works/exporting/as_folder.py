"""Files that are held, in a folder with an index to read, or in a bag (BagIt, RFC 8493).

The index is one page without scripts of others, in Chinese and English, for a memory stick: its
list is in it, and searching and the choice of language are a few lines of script; without script,
all is shown in both languages.
"""

from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from pathlib import Path

from mmcrawl.text.writing import xml_text
from mmcrawl.works.exporting.article import STYLE, article, both
from mmcrawl.works.exporting.as_table import JsonLines
from mmcrawl.works.exporting.exporter import HeldFiles, Shipment, files_in, whole_folder
from mmcrawl.works.model import Work

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
    summary = "plain files with an index.html in Chinese and English"
    suffix = ""

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_folder(target) as folder:
            held = HeldFiles(shipment, files_in(folder))
            works, articles = list[Work](), list[str]()

            def write(work: Work) -> None:
                articles.append(article(work, held.copied_of(work, "media/")))
                works.append(work)

            problems = shipment.each(write)
            (folder / "index.html").write_bytes(
                _index(shipment, len(works), articles).encode("utf-8", "replace")
            )
            problems += JsonLines().export(Shipment(works), folder / "works.jsonl")
        return held.missing + problems


def _index(shipment: Shipment, works: int, articles: list[str]) -> str:
    day = datetime.fromtimestamp(shipment.time, UTC).date().isoformat()
    name = escape(shipment.name)
    return (
        f'<!doctype html>\n<html><head><meta charset="utf-8"><title>{name}</title>'
        '<meta name="viewport" content="width=device-width"><meta http-equiv='
        "\"Content-Security-Policy\" content=\"default-src 'self' file: 'unsafe-inline'\">"
        f"<style>{STYLE}</style></head><body><h1>{name}</h1>"
        '<p><button value="zh">中文</button> <button value="en">English</button></p>'
        f"<p>{works:,} {both('works')}; {both('made')} {day}</p>"
        '<p><label><span class="en">Search</span><span class="zh">搜索</span>: '
        '<input type="search"></label></p>\n'
        f"{''.join(articles)}<script>{_SCRIPT}</script></body></html>\n"
    )


class BagIt:
    summary = "a bag (RFC 8493): the files that are held, checksums, works.jsonl"
    suffix = ""

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_folder(target) as bag:
            held = HeldFiles(shipment, files_in(bag))
            works: list[Work] = []

            def copy(work: Work) -> None:
                held.copied_of(work, "data/media/")
                works.append(work)

            problems = shipment.each(copy)
            (bag / "data").mkdir(exist_ok=True)
            problems += JsonLines().export(Shipment(works), bag / "data/works.jsonl")
            sums = held.copied | {"data/works.jsonl": _sum(bag / "data/works.jsonl")}
            size = sum((bag / name).stat().st_size for name in sums)
            day = datetime.fromtimestamp(shipment.time, UTC).date().isoformat()
            name = " ".join(xml_text(shipment.name).split())
            tags = {
                "bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
                "bag-info.txt": f"Bagging-Date: {day}\nExternal-Description: {name}\n"
                f"Payload-Oxum: {size}.{len(sums)}\nBag-Software-Agent: mmcrawl\n",
                "manifest-sha256.txt": _manifest(sums),
            }
            _write(bag, tags)
            own = {name: _sum(bag / name) for name in tags}
            _write(bag, {"tagmanifest-sha256.txt": _manifest(own)})
        return held.missing + problems


def _write(bag: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (bag / name).write_text(text, encoding="utf-8", newline="\n")


def _manifest(sums: dict[str, str]) -> str:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))


def _sum(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
