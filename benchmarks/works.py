"""What becomes of stored webs as works: how many there are, their titles, their licences.

    python benchmarks/works.py FOLDER… [--pages 250] [--licences ROOT]

A FOLDER holds a folder for each site. Of each site so many pages with media are read, chosen by
seed. Printed are pages, addresses, works, works of several files, the largest; and of works that a
feed of the site has as an enclosure, how many are titled as there: with 70 % of its words, numbers
and "episode" aside. `--first SOURCE` puts a source of titles before all others. `--licences`
compares what is believed of the pages of data/works_licences.json, which were labelled by reading
them, with their labels; ROOT holds the unpacked corpora. "chosen on" are the sites that rules were
chosen on; "held out", those that were only looked at afterwards; "fresh", a sample drawn when all
rules stood.
"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from time import process_time

from lxml import etree

from mmcrawl.blocks.partition import partition
from mmcrawl.frontier.findings import MediaPageRecord
from mmcrawl.page.parse import parse_page
from mmcrawl.text.words import unify
from mmcrawl.works import grouping
from mmcrawl.works.describing import FoundPage, Sources, describe, read_works_page
from mmcrawl.works.licences import best_first
from mmcrawl.works.model import Work
from mmcrawl.works.values import stem_of

LABELS = Path(__file__).parent / "data" / "works_licences.json"
RESERVED = "all-rights-reserved"
LARGEST = 2_000_000


def pages_with_media(site: Path, most: int) -> Iterator[FoundPage]:
    paths = sorted(path for path in site.rglob("*") if path.suffix.lower() in {".html", ".htm"})
    random.Random(1).shuffle(paths)
    for path in paths:
        if most <= 0 or not path.is_file() or not 0 < path.stat().st_size < LARGEST:
            continue
        url, body = f"http://{path.relative_to(site.parent).as_posix()}", path.read_bytes()
        media = parse_page(body, url).media
        if media:
            most -= 1
            facts = read_works_page(partition(body, url=url), url, media)
            record = MediaPageRecord(url, facts.title, 1.0, (), 200, 0.0, ())
            yield FoundPage(record, facts)


def feed_titles(site: Path) -> dict[str, str]:
    """Return the titles that feeds of a site give to media, by the names of their files."""
    found: dict[str, str] = {}
    for path in site.rglob("*"):
        if path.suffix not in {".xml", ".rss", ".html", ""} or not path.is_file():
            continue
        content = path.read_bytes()
        if b"<enclosure" not in content or b"<rss" not in content[:2_000]:
            continue
        tree = etree.fromstring(content, etree.XMLParser(recover=True, huge_tree=True))
        for item in tree.iter("item") if tree is not None else ():
            for enclosure in item.iter("enclosure"):
                if stem := stem_of(enclosure.get("url", ""))[1]:
                    found[stem] = unescape(item.findtext("title") or "")
    return found


def is_titled(work: Work, wanted: str) -> bool:
    words = Counter(re.findall(r"\w+", unify(wanted)))
    telling = (
        Counter({w: n for w, n in words.items() if not w.isdigit() and w[:2] != "ep"}) or words
    )
    found = (telling & Counter(re.findall(r"\w+", unify(work.title)))).total()
    return found >= 0.7 * telling.total() and len(work.title) <= 3 * len(wanted) + 60


def report_site(site: Path, most: int) -> tuple[int, int]:
    began = process_time()
    pages = list(pages_with_media(site, most))
    works = [work for work, _ in describe(pages, Sources())]
    seconds = process_time() - began
    sizes = [len(work.files) for work in works]
    wanted = feed_titles(site)
    told = [(w, wanted[s]) for w in works for f in w.files if (s := stem_of(f.url)[1]) in wanted]
    told = list({work.id: (work, title) for work, title in told}.values())
    right = sum(is_titled(work, title) for work, title in told)
    licensed = Counter(work.licence.code if work.licence else "none" for work in works)
    print(
        f"{site.name:22}{len(pages):6}{sum(sizes):8}{len(works):8}{sum(n > 1 for n in sizes):8}"
        f"{max(sizes, default=0):8}{f'{right}/{len(told)}' if told else '-':>10}"
        f"{seconds / max(1, len(pages)) * 1e3:8.0f}  {dict(licensed.most_common(2))}",
        flush=True,
    )
    return right, len(told)


def report_licences(root: Path) -> None:
    print(f"{'':12}{'open':>8}{'reserved':>10}{'none':>8}{'open, not so':>14}")
    for name, labels in json.loads(LABELS.read_text(encoding="utf-8")).items():
        right, all_, wrong = Counter[str](), Counter[str](), 0
        for path, label in labels.items():
            body, url = (root / path).read_bytes(), f"http://{path.partition('/')[2]}"
            found = best_first(read_works_page(partition(body, url=url), url, ()).licences)
            code = found[0].code if found else "none"
            kind = label if label in ("none", RESERVED) else "open"
            is_right = any(
                code == one or (one.count("-") > 1 and code.startswith(f"{one}-") and one[-1] > "9")
                for one in label.split("|")
            )
            right[kind] += is_right
            all_[kind] += 1
            wrong += not is_right and code not in ("none", RESERVED)
        shown = (f"{right[kind]}/{all_[kind]}" for kind in ("open", RESERVED, "none"))
        print("{:12}{:>8}{:>10}{:>8}{:>14}".format(name, *shown, wrong))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--pages", type=int, default=250, help="of a site")
    parser.add_argument("--first", default="", help="source of titles before all others")
    parser.add_argument("--licences", type=Path, metavar="ROOT", help="of the corpora")
    told = parser.parse_args()
    if told.first:
        grouping.choose_titles.__defaults__ = ({**grouping.WEIGHTS, told.first: 2.0},)
    if told.licences:
        report_licences(told.licences)
    right = all_ = 0
    if told.folders:
        print(
            f"{'site':22}{'pages':>6}{'files':>8}{'works':>8}{'several':>8}{'largest':>8}"
            f"{'titled':>10}{'ms/page':>8}  licences"
        )
    for folder in told.folders:
        for site in sorted(path for path in folder.iterdir() if path.name.endswith(".test")):
            one, of = report_site(site, told.pages)
            right, all_ = right + one, all_ + of
    if all_:
        print(f"titled as in feeds: {right} of {all_}")


main()
