"""The media that schema.org's descriptions on a page name, in whichever vocabulary."""

from collections.abc import Iterator

import re2

from mmcrawl.page.described import Described, kind_of_address
from mmcrawl.page.scripts import media_literals
from mmcrawl.page.structured import Declared, Thing
from mmcrawl.text.media_kinds import AUDIO, DOCUMENT, VIDEO

_KINDS = {
    "videoobject": VIDEO,
    "audioobject": AUDIO,
    "presentationdigitaldocument": DOCUMENT,
}
_ANY_KIND = "mediaobject"  # the address tells of what kind it is
_NAMED = re2.compile(rb"(?i)(?:video|audio|media)object|presentationdigitaldocument")
_LONGEST_NAME = 200
_MOST = 20  # addresses of a medium


def declared_media(said: Declared) -> Iterator[tuple[int, Described]]:
    """Yield the media that a page describes, each with its element and its name.

    The name may be that of what has it. Scripts of JSON-LD that are no JSON are searched for
    literal file names instead; their kind is None.
    """
    # Most pages describe no medium, and reading all that they describe takes a tenth of the walk.
    tree = said.tree
    if not tree.encoding.startswith("utf-16") and not _NAMED.search(tree.body):
        return
    for thing, around in said.things:
        if medium := _medium_of(thing, around):
            yield thing.node, medium
    for node, script in said.broken:
        for literal in media_literals(script):
            yield node, Described((literal,))


def _medium_of(thing: Thing, around: tuple[Thing, ...]) -> Described | None:
    kind = next((_KINDS[name] for name in sorted(thing.types) if name in _KINDS), None)
    if kind is None and _ANY_KIND not in thing.types:
        return None
    # The file before its player.
    found = [
        address
        for address in thing.texts("contenturl", "embedurl")[:_MOST]
        if len(address.split()) == 1 and (kind or kind_of_address(address))
    ]
    names = (one.text("name", "headline") for one in (thing, *reversed(around)))
    name = next(filter(None, names), "")[:_LONGEST_NAME]
    return Described(tuple(found), name, kind) if found else None
