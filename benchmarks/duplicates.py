"""Whether near-duplicates are found: pages of real sites, with copies of them that are known.

    python benchmarks/duplicates.py FOLDER [--pages 150] [--near 0.8]

FOLDER holds labelled pages (``pages/truth.json``, as the corpora come) and stored sites (``web/``).
Of `--pages` pages, one copy each is made in several ways: its words edited (1 %, 5 %, 20 % of the
words of the running text, in the markup), its navigation changed (40 links put in front, a footer
behind, all addresses of another site), its markup rewritten (attributes gone, white space), and
another page's text put below it. Then all pages are compared. A copy is *found* if it is in one
group with its page. *Wrong* are pages of one group that no copying explains, and whose texts (as
labelled, not as found) have less than half of the wanted share of shingles in common: the stored
pages were not made by us, and some are copies of each other in truth.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from mmcrawl.archive import Capture, open_archive
from mmcrawl.rank.duplicates.finding import find_duplicates
from mmcrawl.rank.duplicates.similar import tokens_of

_TEXT = re.compile(rb">([^<]{40,})<")
_WORD = re.compile(rb"[A-Za-z]{3,}|(?:[\xe4-\xe9][\x80-\xbf]{2})")
_LINKS = b"".join(
    b"<li><a href='/menu/%d'>Entry %d of the menu</a></li>" % (n, n) for n in range(40)
)


def edited(body: bytes, share: float, dice: random.Random) -> bytes:
    """Replace words of running text."""

    def words(text: re.Match[bytes]) -> bytes:
        inner = _WORD.sub(lambda w: b"swapped" if dice.random() < share else w[0], text[1])
        return b">" + inner + b"<"

    head, sign, rest = body.partition(b"<body")
    return head + sign + _TEXT.sub(words, rest) if sign else _TEXT.sub(words, body)


def moved(body: bytes, dice: random.Random) -> bytes:
    """Put another site around a page."""
    menu = b"<div class='menu'><ul>" + _LINKS + b"</ul></div>"
    foot = (
        b"<div class='footer'><ul>" + _LINKS + b"</ul><p>Copyright 2031, somebody else.</p></div>"
    )
    body = re.sub(rb"(<body[^>]*>)", lambda tag: tag[1] + menu, body, count=1)
    return re.sub(rb"</body>", foot + b"</body>", body, count=1)


def rewritten(body: bytes, dice: random.Random) -> bytes:
    """Change what no reader sees."""
    body = re.sub(rb'\s(?:style|data-[a-z-]+|aria-[a-z-]+)="[^"]*"', b"", body)
    return re.sub(rb">\n\s*", b">\n\n ", body)


WAYS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "as it is": lambda body, dice: body,
    "1 % of the words": lambda body, dice: edited(body, 0.01, dice),
    "5 % of the words": lambda body, dice: edited(body, 0.05, dice),
    "20 % of the words": lambda body, dice: edited(body, 0.2, dice),
    "navigation": moved,
    "markup": rewritten,
    "navigation, 1 % of the words": lambda body, dice: moved(edited(body, 0.01, dice), dice),
}


def shingles(text: str) -> set[tuple[str, ...]]:
    """Return runs of four words."""
    tokens = tokens_of(text)
    return {tuple(tokens[i : i + 4]) for i in range(len(tokens) - 3)}


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=150)
    parser.add_argument("--near", type=float, default=0.8)
    args = parser.parse_args()
    truth = json.loads((args.folder / "pages" / "truth.json").read_text("utf-8"))
    dice = random.Random(2026)
    keys = sorted(truth)
    dice.shuffle(keys)
    texts: dict[int, set[tuple[str, ...]]] = {}
    captures = []
    for number, key in enumerate(keys):
        path = next((args.folder / "pages" / Path(key).parent).glob(f"{Path(key).name}.htm*"))
        texts[number] = shingles(truth[key]["main_content"])
        ways = WAYS if number < args.pages else {"as it is": WAYS["as it is"]}
        for place, make in enumerate(ways.values()):
            url = f"http://site-{place}.test/{number}"
            body = make(path.read_bytes(), dice)
            captures.append(Capture(url, body, 1.0, headers=(("Content-Type", "text/html"),)))
    with (
        tempfile.TemporaryDirectory() as folder,
        open_archive(f"sqlite:///{folder}/pages.db") as archive,
    ):
        archive.store_many(captures)
        begun = time.perf_counter()
        found = find_duplicates(archive, near=args.near)
        took = time.perf_counter() - begun
    group_of = {url: number for number, group in enumerate(found.groups) for url in group.urls}
    each = 1e3 * took / len(captures)
    print(f"{found.pages} pages with text, compared in {took:.1f} s ({each:.0f} ms a page)")
    print("\n| copy | found, % |\n|---|---|")
    for place, way in enumerate(WAYS):
        if place:
            pairs = [
                (f"http://site-0.test/{n}", f"http://site-{place}.test/{n}")
                for n in range(args.pages)
            ]
            hits = sum(one in group_of and group_of[one] == group_of.get(two) for one, two in pairs)
            print(f"| {way} | {100 * hits / args.pages:.1f} |")
    counts: Counter[str] = Counter()
    for group in found.groups:
        pages = sorted({int(url.rpartition("/")[2]) for url in group.urls})
        for i, one in enumerate(pages):
            for other in pages[i + 1 :]:
                both = len(texts[one] | texts[other])
                share = len(texts[one] & texts[other]) / both if both else 0.0
                counts["alike" if share >= args.near / 2 else "wrong"] += 1
    wrong, alike = counts["wrong"], counts["alike"]
    pairs = sum(len(group.urls) * (len(group.urls) - 1) // 2 for group in found.groups)
    print(f"\n{pairs} pairs in {len(found.groups)} groups; of different pages, {wrong} wrong ones")
    print(f"and {alike} that are alike in truth")
    return 0


if __name__ == "__main__":
    sys.exit(main())
