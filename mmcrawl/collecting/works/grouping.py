"""Which addresses of media are one work: formats, qualities, mirrors, and players of the same.

Each rule joins addresses; what is joined by any chain of them is one work. The rules, with what
they were judged on, are in the guide.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from urllib.parse import urlsplit

from mmcrawl.collecting.works.mentions import Mention
from mmcrawl.collecting.works.names import is_file, is_generic, stem_of

_ITEM = "archive.org/"
_MOST_HOSTS = 8  # of one name: more are no mirrors of one another
_LEAST_MIRRORED = 3  # names that two hosts have in common
_LEAST_NAME = 6  # characters


class _Groups:
    """Sets that are joined step by step (union-find)."""

    def __init__(self) -> None:
        self._around: dict[str, str] = {}

    def of(self, key: str) -> str:
        """Return what stands for all of the same set."""
        self._around.setdefault(key, key)
        while self._around[key] != key:
            self._around[key] = self._around[self._around[key]]
            key = self._around[key]
        return key

    def join(self, keys: Iterable[str]) -> None:
        """Join the sets of some keys."""
        first, *rest = sorted({self.of(key) for key in keys}) or [""]
        for key in rest:
            self._around[key] = first


def group_mentions(
    pages: Sequence[Sequence[Mention]], digests: Mapping[str, str]
) -> list[list[str]]:
    """Return the works: of each the keys of its files, in the order they were found.

    Args:
        pages: The mentions of each page.
        digests: Of the files that are held, by key.
    """
    groups = _Groups()
    urls = {mention.key: mention.url for page in pages for mention in page}
    _join_formats(groups, urls)
    _join_equal(groups, ((digests[key], key) for key in urls if key in digests))
    _join_mirrors(groups, urls)
    for page in pages:
        _join_players(groups, page)
        _join_rows(groups, page)
    for page in pages:
        _join_lone_player(groups, page)
    found: dict[str, list[str]] = defaultdict(list)
    for key in urls:
        found[groups.of(key)].append(key)
    return list(found.values())


def _join_equal(groups: _Groups, marked: Iterable[tuple[Hashable, str]]) -> None:
    """Join the keys that have the same mark."""
    found: dict[Hashable, list[str]] = defaultdict(list)
    for mark, key in marked:
        found[mark].append(key)
    for keys in found.values():
        groups.join(keys)


def _join_formats(groups: _Groups, urls: Mapping[str, str]) -> None:
    """Join files of one name, but for format and quality, in one directory."""
    stems = ((stem_of(url), key) for key, url in urls.items())
    _join_equal(groups, ((stem, key) for stem, key in stems if stem[1]))


def _join_players(groups: _Groups, page: Sequence[Mention]) -> None:
    """Join the sources of one player, and the addresses that are of one medium there."""
    _join_equal(groups, ((m.player, m.key) for m in page if m.player))
    _join_equal(groups, ((m.medium, m.key) for m in page if m.medium))


def _join_rows(groups: _Groups, page: Sequence[Mention]) -> None:
    """Join files of one telling name in one line of a page, wherever they are kept."""
    stems = ((m, stem_of(m.url)[1]) for m in page if m.row)
    _join_equal(
        groups, (((m.row, stem), m.key) for m, stem in stems if stem and not is_generic(stem))
    )


def _join_lone_player(groups: _Groups, page: Sequence[Mention]) -> None:
    """Join the only player of a hosted item on a page with the files of the same item.

    On archive.org, an item is a directory; so it is only where all files of it are one work.
    """
    for player in page:
        if not player.key.startswith(_ITEM) or is_file(player.url):
            continue
        inside = f"{_ITEM}download/{player.key.removeprefix(_ITEM)}/"
        files = [mention.key for mention in page if mention.key.startswith(inside)]
        if len({groups.of(key) for key in files}) == 1:
            groups.join([player.key, *files])


def _join_mirrors(groups: _Groups, urls: Mapping[str, str]) -> None:
    """Join files of one long name on two hosts that have several such names in common.

    A name that a host has in several directories names no file.
    """
    named: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for key, url in urls.items():
        stem = stem_of(url)[1]
        if len(stem) >= _LEAST_NAME and not is_generic(stem):
            host = (urlsplit(url).hostname or "").removeprefix("www.")
            named[stem][host].add(groups.of(key))
    shared = [
        {host: keys for host, keys in hosts.items() if len(keys) == 1} for hosts in named.values()
    ]
    shared = [hosts for hosts in shared if 1 < len(hosts) <= _MOST_HOSTS]
    pairs = Counter(pair for hosts in shared for pair in combinations(sorted(hosts), 2))
    for hosts in shared:
        for one, other in combinations(sorted(hosts), 2):
            if pairs[one, other] >= _LEAST_MIRRORED:
                groups.join(hosts[one] | hosts[other])
