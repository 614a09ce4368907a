"""Dates of publication and authors: ours beside htmldate and trafilatura, on labelled pages.

    python benchmarks/metadata.py FOLDER [--half even|odd|all] [--only ours]

FOLDER holds checkouts of public evaluation sets (see _facts_pages.py). Pages are parted by site
into two halves: what is chosen by hand was chosen looking at the even one, the odd one is to
report.

A date is right if its day is the known one; precision is right by given, recall right by known.
Authors are right if all words of each known name are given and no other name; for authors, a page
also counts in part: F1 over names. Times are CPU seconds for all a program does with a page.
"""

from __future__ import annotations

import argparse
import logging
import re
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from _content_peers import decode
from _facts_pages import FactsPage, load_sets


@dataclass(frozen=True)
class Answer:
    """What a program says: a day or "", names or None where it does not look for them."""

    day: str
    authors: tuple[str, ...] | None


Reader = Callable[[FactsPage], Answer]


def ours() -> Reader:
    from mmcrawl.blocks import page_content

    def read(page: FactsPage) -> Answer:
        facts = page_content(page.body, page.url).facts
        return Answer(facts.dated.value[:10] if facts.dated else "", facts.authors)

    return read


def htmldate() -> Reader:
    from htmldate import find_date

    def read(page: FactsPage) -> Answer:
        found = find_date(decode(page.body), original_date=True, url=page.url)
        return Answer(found or "", None)

    return read


def trafilatura() -> Reader:
    from trafilatura.metadata import extract_metadata

    options = {"original_date": True, "extensive_search": True, "max_date": "2026-12-31"}

    def read(page: FactsPage) -> Answer:
        text = decode(page.body)
        found = extract_metadata(text, default_url=page.url, date_config=options)
        authors = tuple(filter(None, (found.author or "").split("; ")))
        return Answer(found.date or "", authors)

    return read


READERS = {"ours": ours, "htmldate": htmldate, "trafilatura": trafilatura}


def words(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", name.casefold()))


def author_f1(known: tuple[str, ...], given: tuple[str, ...]) -> float:
    """Return 2·right / (known + given); a name is right if its words are those of a known one."""
    wanted = {words(name) for name in known}
    got = {words(name) for name in given}
    return 2 * len(wanted & got) / (len(wanted) + len(got)) if wanted or got else 1.0


def report(name: str, pages: list[FactsPage], readers: dict[str, Reader]) -> None:
    dated = [page for page in pages if page.published]
    signed = [page for page in pages if page.authors]
    print(f"\n{name}: {len(dated)} pages with a date, {len(signed)} with authors")
    print(
        f"{'':<14}{'date P':>8}{'date R':>8}{'date F1':>9}"
        f"{'all right':>11}{'names F1':>10}{'ms':>8}"
    )
    for method, read in readers.items():
        start = time.process_time()
        answers = {page.key: answer_of(read, page) for page in pages}
        spent = time.process_time() - start
        right = sum(answers[page.key].day == page.published for page in dated)
        given = sum(bool(answers[page.key].day) for page in dated)
        precision, recall = right / max(given, 1), right / max(len(dated), 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        scores = [author_f1(page.authors or (), answers[page.key].authors or ()) for page in signed]
        row = f"{method:<14}{precision:>8.3f}{recall:>8.3f}{f1:>9.3f}"
        if method != "htmldate" and scores:
            row += f"{sum(score == 1 for score in scores) / len(scores):>11.3f}"
            row += f"{sum(scores) / len(scores):>10.3f}"
        else:
            row += f"{'–':>11}{'–':>10}"
        print(row + f"{1000 * spent / max(len(pages), 1):>8.1f}")


def answer_of(read: Reader, page: FactsPage) -> Answer:
    try:
        return read(page)
    except Exception as error:  # noqa: BLE001 - others' code raises anything
        print(f"{page.key}: {type(error).__name__}: {error}", file=sys.stderr)
        return Answer("", None)


def in_half(page: FactsPage, half: str) -> bool:
    odd = zlib.crc32(page.site.encode()) % 2 == 1
    return half == "all" or odd == (half == "odd")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=["even", "odd", "all"], default="odd")
    parser.add_argument("--only", default=",".join(READERS), help="names, parted by ,")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    sets = load_sets(given.folder)
    if not sets:
        parser.error(f"{given.folder} holds none of the sets; see _facts_pages.py")
    readers = {name: READERS[name]() for name in given.only.split(",")}
    for name, pages in sets.items():
        report(name, [page for page in pages if in_half(page, given.half)], readers)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
