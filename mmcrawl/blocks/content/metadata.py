"""What a page says of itself: title, description, structured data (schema.org, Open Graph)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.structured import Declared

_TYPE = re.compile(r'"@type"\s*:\s*"([A-Za-z]{3,40})"')
_TYPE_GROUPS = (
    "article newsarticle blogposting reportagenewsarticle opinionnewsarticle "
    "analysisnewsarticle liveblogposting report",
    "discussionforumposting qapage question comment",
    "product productgroup book vehicle",
    "itemlist collectionpage searchresultspage offercatalog",
    "faqpage",
    "techarticle howto apireference",
    "organization localbusiness service website webpage",
    "recipe",
    "course event movie person",
)
_GROUP_OF = {name: i for i, group in enumerate(_TYPE_GROUPS) for name in group.split()}
_HEADLINES = ("og:title", "twitter:title")
_DESCRIPTIONS = ("description", "og:description", "twitter:description")
_OG_TYPES = ("article", "product", "website")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\(.)", re.DOTALL)
_LONGEST_DATA = 300_000


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """A page's own words about itself.

    Attributes:
        title: Of the head, white space collapsed.
        headline: As structured data and Open Graph give it, "" when none does.
        description: Meta and Open Graph descriptions.
        data: The text of its JSON-LD, escapes resolved.
        types: Which groups of schema.org and Open Graph types it names: 1.0 or 0.0 each.
    """

    title: str
    headline: str
    description: str
    data: str
    types: tuple[float, ...]


def page_metadata(tree: PageTree) -> PageMetadata:
    """Read the metadata of a page."""
    said = Declared(tree)
    headlines = (content for name, content in said.metas if name in _HEADLINES)
    descriptions = [content for name, content in said.metas if name in _DESCRIPTIONS]
    text = "\n".join(script[:_LONGEST_DATA] for _, script in said.scripts)
    named = {_GROUP_OF.get(name.lower()) for name in _TYPE.findall(text)}
    types = [float(i in named) for i in range(len(_TYPE_GROUPS))]
    *_, og_type = "", *map(str.lower, said.meta("og:type"))
    types += [float(name in og_type) for name in _OG_TYPES]
    return PageMetadata(
        title=said.title,
        headline=next(headlines, ""),
        description="\n".join(descriptions),
        data=_unescaped(text),
        types=(*types, float(bool(text)), float(bool(descriptions))),
    )


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_character, text)


def _character(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return {"n": " ", "t": " ", "r": ""}.get(escape[2], escape[2])
