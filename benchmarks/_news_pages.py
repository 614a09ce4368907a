"""News pages with the bodies that parsers written for each site read, for `content.py`.

They are the fixtures of flairNLP/fundus (MIT; nothing of the pages is kept here), of which FOLDER
holds a checkout as `fundus`. Publishers are parted in two by a digest of their name: models are
trained on the pages of one half, and on those of the other nothing is trained or chosen. Publishers
of pages in `data/content_ja_ru_ar.json` are of the other.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mmcrawl.text.resources import split_host

_ASIDE = ("lbcgroup", "pravda")
_SHORTEST = 50  # characters of a body
_BEGIN = 40  # characters a paragraph is looked for by


def news_pages(folder: Path, *, aside: bool) -> list[tuple[str, bytes, str | None, str, str]]:
    """Read the pages of half of the publishers: key, body, URL, kind and main text of each.

    Raises
    ------
    FileNotFoundError
        If there is no checkout.
    """
    place = folder / "fundus" / "tests" / "resources" / "parser" / "test_data"
    if not place.is_dir():
        raise FileNotFoundError(f"there is no {place}")
    return [page for path in sorted(place.glob("*/*.json")) for page in _of_publisher(path, aside)]


def newspaper_pages(folder: Path, *, aside: bool) -> Iterator[tuple[str, bytes, str, str, str]]:
    """Yield the pages of half of the sites of AndyTheFactory/article-extraction-dataset."""
    place = folder / "article-extraction-dataset"
    for key, labels in json.loads((place / "articles.json").read_bytes()).items():
        host = urlsplit(labels["url"]).hostname or ""
        site = split_host(host).top_domain_under_public_suffix or host
        path = place / "html" / f"{key}.html"  # some copies lack the largest
        if (hashlib.sha1(site.encode()).digest()[0] % 2 == 1) == aside and path.is_file():
            yield key, path.read_bytes(), labels["url"], "article", labels["articleBody"]


def _of_publisher(path: Path, aside: bool) -> Iterator[tuple[str, bytes, str | None, str, str]]:
    name = path.stem
    even = hashlib.sha1(name.lower().encode()).digest()[0] % 2 == 0
    if (even or name.lower() in _ASIDE) != aside:
        return
    known = json.loads((path.parent / "meta.info").read_text(encoding="utf-8"))
    versions = json.loads(path.read_text(encoding="utf-8")).values()
    texts = [text for one in versions if len(text := _text(one.get("body"))) >= _SHORTEST]
    for page in sorted(path.parent.glob(f"{name}_*.html.gz")) if texts else ():
        body = gzip.decompress(page.read_bytes())
        letters = _letters(body.decode("utf-8", "replace"))
        truth = max(texts, key=lambda text: _share_in(text, letters))
        yield page.name, body, known.get(page.name, {}).get("url"), "article", truth


def _text(body: dict[str, Any] | None) -> str:
    parts = [*body.get("summary", ())] if body else []
    for section in body.get("sections", ()) if body else ():
        parts += [*section.get("headline", ()), *section.get("paragraphs", ())]
    return "\n".join(parts)


def _share_in(text: str, letters: str) -> float:
    """Return which share of the longer paragraphs of a text begins somewhere in a page."""
    begins = [_letters(line)[:_BEGIN] for line in text.splitlines() if len(line) > _BEGIN]
    return sum(begin in letters for begin in begins) / max(1, len(begins))


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text)
