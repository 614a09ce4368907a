"""Pages whose date and authors are known, of public evaluation sets, for `metadata.py`.

Each set is a checkout of a public repository, under a folder of this name: `htmldate`
(adbar/htmldate, dates read by people, many languages), `fundus` (flairNLP/fundus, dates and authors
of news sites, checked by those who wrote a parser for each site), `readability`
(mozilla/readability, bylines), `wcxb` (Murrough-Foley/web-content-extraction-benchmark, its
development split), `gne` (GeneralNewsExtractor/GeneralNewsExtractor: Chinese pages, labelled by us
by reading them, in data/chinese_facts.json; rules were chosen looking at both halves of these). A
set that is not there is left out.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_BETWEEN = re.compile(r"\s*[,;]\s*|\s+and\s+|\s*&\s*", re.IGNORECASE)


@dataclass(frozen=True)
class FactsPage:
    """A page and what is known of it.

    Attributes:
        key: Unique; the file.
        site: What pages of one site have in common, to keep them together.
        body, url: As received; url None where it is not known.
        published: Day in ISO 8601; None where nothing is known of it.
        authors: Names; None where nothing is known of them.
    """

    key: str
    site: str
    body: bytes
    url: str | None
    published: str | None
    authors: tuple[str, ...] | None


def _htmldate(folder: Path) -> Iterator[FactsPage]:
    files = {path.name: path for path in folder.glob("tests/*/*.html")}
    for name in ("eval_mediacloud_2020.json", "eval_default.json"):
        truth = json.loads((folder / "tests" / name).read_text(encoding="utf-8"))
        for url, known in truth.items():
            day = known["date"]
            if known["file"] in files and isinstance(day, str) and _DAY.match(day):
                body = files[known["file"]].read_bytes()
                yield FactsPage(known["file"], _site(url), body, url, day, None)


def _fundus(folder: Path) -> Iterator[FactsPage]:
    for path in sorted(folder.glob("tests/resources/parser/test_data/*/*.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        newest = list(truth.values())[-1]
        pages = sorted(path.parent.glob(f"{path.stem}_*.html.gz"))
        found = _DAY.match(newest.get("publishing_date") or "")
        if found and pages:
            body = gzip.decompress(pages[-1].read_bytes())
            authors = newest.get("authors")
            known = tuple(authors) if authors else None
            yield FactsPage(str(pages[-1].name), path.stem, body, None, found[0], known)


def _readability(folder: Path) -> Iterator[FactsPage]:
    for path in sorted(folder.glob("test/test-pages/*/expected-metadata.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        authors = _names(truth.get("byline"))
        body = (path.parent / "source.html").read_bytes()
        found = _DAY.match(truth.get("publishedTime") or "")
        day = found[0] if found else None
        yield FactsPage(path.parent.name, path.parent.name, body, None, day, authors)


def _wcxb(folder: Path) -> Iterator[FactsPage]:
    for path in sorted(folder.glob("dev/ground-truth/*.json")):
        known = json.loads(path.read_text(encoding="utf-8"))
        truth, url = known["ground_truth"], known.get("url")
        found = _DAY.match(truth.get("publish_date") or "")
        authors = _names(truth.get("author"))
        packed = folder / "dev" / "html" / f"{path.stem}.html.gz"
        if found or authors:
            body = gzip.decompress(packed.read_bytes())
            yield FactsPage(
                path.stem, _site(url or path.stem), body, url, found and found[0], authors
            )


def _gne(folder: Path) -> Iterator[FactsPage]:
    labels = Path(__file__).parent / "data" / "chinese_facts.json"
    for name, (day, authors) in json.loads(labels.read_text(encoding="utf-8")).items():
        body = (folder / "tests" / name).read_bytes()
        yield FactsPage(
            f"gne/{name}", name.partition("/")[0], body, None, day, tuple(authors) or None
        )


def _names(written: str | None) -> tuple[str, ...] | None:
    bare = re.sub(r"^(?:written\s+)?by\s+", "", written or "", flags=re.IGNORECASE)
    return tuple(filter(None, _BETWEEN.split(bare.strip()))) or None


def _site(url: str) -> str:
    return re.sub(r"^\w+://(?:www\.)?", "", url).partition("/")[0]


SETS = {
    "htmldate": _htmldate,
    "fundus": _fundus,
    "readability": _readability,
    "wcxb": _wcxb,
    "gne": _gne,
}


def load_sets(folder: Path) -> dict[str, list[FactsPage]]:
    """Return the pages of the sets that are there."""
    return {
        name: list(read(folder / name)) for name, read in SETS.items() if (folder / name).is_dir()
    }
