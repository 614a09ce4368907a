"""What an address on a host of films, sounds, simulations or documents names: an item, or no item.

The table `hosts.tsv` tells items from the channels, searches and home pages there by their paths.
Programs that anyone may run on a host of their own (H5P, PeerTube, Panopto) are told by their paths
alone.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from mmcrawl.text.media_kinds import AUDIO, VIDEO

_ANY = "*"  # programs that stand on many hosts
_MAY_BE_ANYWHERE = re.compile(
    r"panopto|/videos/|/w/|kaltura|embedIframeJs|entry_?id|mediasite|paella|theodul|/play\?|h5p|hvp"
    r"|/sims/|_simulation\.",
    re.IGNORECASE,
)
# In a frame, what an address on a host that no table has says of itself: it plays …
_PLAYS = re.compile(
    r"video|tube|mediathe|(?<![a-z])vods?(?![a-z])|player(?!s?[/.]?(?:id|stats))|podcast|(?<![a-z])audio|radio"
    r"|(?<![a-z])(?:media|tv|film|movie|clip|episode|stream)s?(?![a-z])",
    re.IGNORECASE,
)
# … it is made to stand in other pages …
_STANDS_IN_PAGES = re.compile(r"embed|iframe|player|external", re.IGNORECASE)
# … it names something …
_NAMES_AN_ITEM = re.compile(
    r"[/=_.:-](?=[\w-]{0,99}\d)[\w-]{5}|[/=][\da-zA-Z-]{8,}(?:[/?&]|$)|=\d+"
)
# … and it is nothing else that pages have in frames.
_NO_PLAYER = re.compile(
    r"(?<![a-z])(?:ads?|adserver|adsystem|maps?|captcha|chat|comments?|calendar|forms?|survey|poll"
    r"|login|likes?|share|follow|tweets?|timeline|post|weather|widgets?/(?:map|weather|chat)|social"
    r"|stats?|analytics|consent|cookie|signup|newsletter|subscribe|banners?|pixel|sync|quiz|donate"
    r"|checkout|pay)(?![a-z])|doubleclick|googlesyndication|advert|disqus|recaptcha|livechat",
    re.IGNORECASE,
)
_LONGEST_EMBED = 2_000
_SOUNDS = re.compile(r"podcast|audio|radio|music|sound", re.IGNORECASE)


@cache
def _domains() -> Mapping[str, list[tuple[str, str]]]:
    """Return what stands in the table of each domain: a pattern, and the kind of its items."""
    found: dict[str, list[tuple[str, str]]] = {}
    table = files(__package__).joinpath("hosts.tsv")  # also in an egg that stays packed
    for line in table.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            kind, domain, path = line.split("\t")
            found.setdefault(domain, []).append((path, kind))
    return found


@cache
def _items_of(domain: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(path, re.IGNORECASE), kind) for path, kind in _domains()[domain])


def hosted_kind(host: str, path_and_query: str) -> str | None:
    """Return the kind of the item that an address names, or None.

    Args:
        host: In lower case, without port.
        path_and_query: From the first slash on.

    >>> hosted_kind("www.youtube.com", "/watch?v=dQw4w9WgXcQ")
    'video'
    >>> hosted_kind("www.youtube.com", "/user/mit") is None
    True
    >>> hosted_kind("h.test", "/h5p/embed/612")
    'simulation'
    """
    domain, known = host, _domains()
    while "." in domain:
        for item, kind in _items_of(domain) if domain in known else ():
            if item.match(path_and_query):
                return kind
        domain = domain.partition(".")[2]
    if _MAY_BE_ANYWHERE.search(path_and_query):
        found = (kind for item, kind in _items_of(_ANY) if item.match(path_and_query))
        return next(found, None)
    return None


def embedded_kind(host: str, path_and_query: str) -> str | None:
    """Return the kind of what a frame from another host plays, as its address says, or None.

    Args:
        host: In lower case, without port; in no table.
        path_and_query: From the first slash on.

    >>> embedded_kind("tube.school.test", "/embed/video/4f2a91")
    'video'
    >>> embedded_kind("maps.school.test", "/embed?pb=12345678") is None
    True
    """
    address = (host + path_and_query)[:_LONGEST_EMBED]
    if not (_STANDS_IN_PAGES.search(address) and _PLAYS.search(address)):
        return None
    if _NO_PLAYER.search(address) or not _NAMES_AN_ITEM.search(path_and_query[:_LONGEST_EMBED]):
        return None
    return AUDIO if _SOUNDS.search(address) else VIDEO
