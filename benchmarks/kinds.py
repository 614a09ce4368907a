"""Media of each kind on the pages of stored webs, and what a change of the rules adds or takes.

    python benchmarks/kinds.py /tmp/corp/web/web /tmp/corp/web2/web2 --save before.jsonl
    python benchmarks/kinds.py /tmp/corp/web/web /tmp/corp/web2/web2 --against before.jsonl

Every page of each host is parsed by itself; nothing is crawled. A number is that of distinct
addresses, with the pages that hold any behind it. `--show KIND` prints each address of a kind once,
with the element that names it and one of its pages; `--against` prints what is new, and what is
missing, a line for each address.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from mmcrawl.page import parse_page

_HTML = (b"<html", b"<!doctype html", b"<body", b"<head", b"<title", b"<frameset", b"<meta")


class Hit(NamedTuple):
    """A medium on a page."""

    host: str
    page: str
    kind: str
    url: str
    tag: str
    text: str
    others: tuple[str, ...]


def pages_of(host: Path) -> list[Path]:
    """Return the files of a host that are pages, by what they begin with."""
    return sorted(path for path in host.rglob("*") if path.is_file() and _is_page(path))


def _is_page(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(4096).lower()
    return any(mark in head for mark in _HTML) and not head.startswith(b"<?xml version")


def hits_of(host: Path, path: Path) -> list[Hit]:
    """Return the media of a page."""
    url = f"http://{host.name}/{quote(path.relative_to(host).as_posix())}"
    media = parse_page(path.read_bytes(), url).media
    return [
        Hit(host.name, url, m.kind, m.url, m.tag, m.text, getattr(m, "others", ())) for m in media
    ]


def print_table(pages: Counter[str], hits: list[Hit]) -> None:
    """Print a line a host: pages, and of each kind addresses and pages that hold any."""
    kinds = sorted({hit.kind for hit in hits})
    print(f"{'host':22}{'pages':>7}" + "".join(f"{kind:>20}" for kind in kinds))
    for host, count in pages.items():
        cells = []
        for kind in kinds:
            own = [hit for hit in hits if hit.host == host and hit.kind == kind]
            urls, on = len({hit.url for hit in own}), len({hit.page for hit in own})
            cells.append(f"{urls} on {on}" if own else "-")
        print(f"{host:22}{count:7}" + "".join(f"{cell:>20}" for cell in cells))


def print_each(title: str, hits: Iterable[Hit]) -> None:
    """Print each address once, with how many pages name it and one of them."""
    of: dict[tuple[str, str], list[Hit]] = defaultdict(list)
    for hit in hits:
        of[hit.kind, hit.url].append(hit)
    print(
        f"\n{title}: {len(of)} addresses on {len({h.page for hs in of.values() for h in hs})} pages"
    )
    for (kind, url), named in of.items():
        one = named[0]
        print(f"  {kind:16}{len(named):4}  <{one.tag}> {url}  «{one.text[:40]}»  on {one.page}")


def _addresses(hits: Iterable[Hit]) -> set[tuple[str, str]]:
    return {(hit.page, url) for hit in hits for url in (hit.url, *hit.others)}


def _read(path: Path) -> Iterator[Hit]:
    for line in path.read_text(encoding="utf-8").splitlines():
        *fields, others = json.loads(line)
        yield Hit(*fields, tuple(others))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("webs", nargs="+", type=Path, help="folders with one folder per host")
    parser.add_argument("--save", type=Path, help="write what is found to this file")
    parser.add_argument("--against", type=Path, help="compare with what was saved")
    parser.add_argument("--show", action="append", default=[], help="print the addresses of a kind")
    options = parser.parse_args()
    hits: list[Hit] = []
    pages: Counter[str] = Counter()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for web in options.webs:
            for host in sorted(path for path in web.iterdir() if path.name.endswith(".test")):
                paths = pages_of(host)
                pages[host.name] = len(paths)
                for found in pool.map(partial(hits_of, host), paths, chunksize=32):
                    hits += found
    print_table(pages, hits)
    for kind in options.show:
        print_each(kind, (hit for hit in hits if hit.kind == kind))
    if options.save:
        options.save.write_text("".join(f"{json.dumps(hit)}\n" for hit in hits), encoding="utf-8")
    if options.against:
        before = list(_read(options.against))
        known, now = _addresses(before), _addresses(hits)
        print_each("new", (hit for hit in hits if (hit.page, hit.url) not in known))
        print_each("missing", (hit for hit in before if (hit.page, hit.url) not in now))


if __name__ == "__main__":
    main()
