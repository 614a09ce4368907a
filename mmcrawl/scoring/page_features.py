"""The features by which a learnt topic judges a page: words weighted by their place, and shape."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from mmcrawl.page.model import Page
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS
from mmcrawl.text.url_words import url_text
from mmcrawl.text.words import HAN, is_stop_word, stems, unify

PLACES = {
    "title": 3.0,
    "headings": 1.5,
    "media": 1.5,
    "keywords": 1.0,
    "description": 1.0,
    "url": 1.0,
    "text": 1.0,
    "groups": 0.5,
    "anchors": 0.3,
}
"""What a word counts by where it stands. `anchors` are mostly the same on all pages of a site."""

_LONGEST = 20_000  # characters of a field that are read
_HAN_RUN = re.compile(f"[{HAN}]{{2,}}")
_DEEPEST = 6
_BY_LINK = frozenset({"a", "area", "og", "schema"})


def page_texts(page: Page) -> Iterator[tuple[str, str]]:
    """Yield the texts of a page, by the names of `PLACES`."""
    yield "title", page.title
    yield "headings", page.headings
    yield "media", "\n".join(dict.fromkeys(resource.text for resource in page.media))
    yield "keywords", page.keywords
    yield "description", page.description
    yield "url", url_text(page.url)
    yield "text", page.text
    yield "groups", "\n".join(dict.fromkeys(group.title for group in page.groups))
    yield "anchors", "\n".join(dict.fromkeys(link.anchor for link in page.links))


def terms_of(text: str) -> Iterator[str]:
    """Yield the terms of a text: stems of words but stop words, and pairs of Han characters.

    >>> list(terms_of("The waves of 力學史"))
    ['wave', '力学', '学史']
    """
    unified = unify(text[:_LONGEST])
    for stem in stems(unified):
        if len(stem) > 1 and not stem.isdigit() and not is_stop_word(stem):
            yield stem
    for run in _HAN_RUN.findall(unified):
        for place in range(len(run) - 1):
            yield run[place : place + 2]


def page_terms(page: Page) -> dict[str, float]:
    """Return the frequency of each term on a page, weighted by `PLACES`."""
    found: dict[str, float] = {}
    for place, text in page_texts(page):
        weight = PLACES[place]
        for term, count in Counter(terms_of(text)).items():
            found[term] = found.get(term, 0.0) + weight * count
    return found


def page_numbers(page: Page) -> dict[str, float]:
    """Return the shape of a page in numbers; counts and lengths as ln(1 + n).

    `media:…` counts what it holds of each kind, and how much of that it plays or links to; `blocks`
    counts the runs of links, `largest block` the links of the largest; `link share` is how much of
    its text is that of links.
    """
    kinds = Counter(resource.kind for resource in page.media)
    linked = sum(resource.tag in _BY_LINK for resource in page.media)
    linking = sum(len(link.anchor) for link in page.links)
    sizes = [group.size for group in page.groups]
    log = math.log1p
    return {
        **{f"media:{kind}": log(kinds[kind]) for kind in MEDIA_KINDS},
        "media:linked": log(linked),
        "media:playing": log(len(page.media) - linked),
        "links": log(len(page.links)),
        "blocks": log(len(sizes)),
        "largest block": log(max(sizes, default=0)),
        "text": log(len(page.text)),
        "headings": log(len(page.headings)),
        "link share": linking / (linking + len(page.text) + 1),
        "depth": float(min(page.physical_layer, _DEEPEST)),
    }
