"""Which addresses of media are one work: formats, qualities, mirrors, and players of the same.

Each rule joins addresses; addresses joined by any chain of rules are one work. The guide lists the
rules and how they were measured.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from urllib.parse import urlsplit

from mmcrawl.page.media import EXTENSION_PATTERN
from mmcrawl.text.words import HAN, unify
from mmcrawl.works.occurrences import Occurrence
from mmcrawl.works.values import is_file, is_generic, stem_of

WEIGHTS: Mapping[str, float] = {
    "structured": 1.0,
    "figcaption": 0.9,
    "player": 0.8,
    "unit-heading": 0.75,
    "headline": 0.7,
    "tag": 0.65,
    "page": 0.6,
    "anchor": 0.55,
    "heading": 0.5,
    "row": 0.3,
    "file": 0.2,
}
"""Worth of a text, by where it is from; chosen by benchmarks/works.py of 34d3acde."""

_EMPTY_WORDS = """
    a an and as at audio available by can click clip clips direct download downloads embed embedded
    episode file files flash flv for format from full get hd hear here high hq http https icon ii in
    internet is it itunes kb link links listen load low lq m3u8 m4a m4v mb media min mins minutes
    more mov mp3 mp4 mpd mpeg mpg new now of ogg on open original page play player playing podcast
    quality quicktime ra ram read real right rm save sd see size small soundcloud source stream
    streaming swf the this to transcript untitled video videos view vimeo watch wav webm window
    windows wma wmv you your youtube zip large mobile medium frame iframe content object archive
    youku tudou bilibili embedder posted post share episodes show hide
    baixar ouvir ouça escute agora assistir escuchar descargar ver télécharger écouter regarder
    lecteur vidéo vídeo áudio ascolta scarica guarda
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
_EMPTY_HAN = re.compile(
    r"(?:下载|下載|播放|点击|點擊|收听|收聽|观看|觀看|在线|線上|试听|試聽|音频|音頻|视频|視頻|影片|文件|文档|文檔"
    r"|这里|這裡|链接|連結|高清|标清|全屏|动画|動畫|打开|查看|详细|更多|右键|另存为|本地|直接|地址"
    r"|无标题|無標題|未命名|ダウンロード|再生|聴く|視聴|音声|動画|こちら|を|の|で|は|[一-龥]?格式|[的了此本])+"
)
_WORD = re.compile(rf"[{HAN}ぁ-ヿ]+|[^\W_{HAN}ぁ-ヿ]+")  # 下载MP3 is two
_SIZE = re.compile(r"\d+(?:\.\d+)?(?:[kmg]i?b?|kbps|min|sec|s|m|h)?", re.IGNORECASE)
_TAIL = re.compile(
    rf"\s{{0,99}}[(\[（【](?:[^()\[\]]{{0,99}}\b)?(?:{EXTENSION_PATTERN}|\d{{1,9}}(?:\.\d{{1,9}})?\s?[kmg]b"
    r"|pdf)\b[^()\[\]]{0,99}[)\]）】]\s{0,99}$",
    re.IGNORECASE,
)
# Names that a program gave: letters and digits without order, as 1MOZUJ61ZzBi.
_DRAWN = re.compile(r"(?=(?:\S*\d){2})(?=\S*[a-zA-Z])\S*(?:[a-zA-Z]\d+[a-zA-Z]|[a-z][A-Z]\d)\S*")
_NUMBERED = re.compile(r"[a-z]{0,9}[ _-]?\d{1,6}[a-z]?", re.IGNORECASE)  # zs01: tells no reader
_FILE_END = re.compile(rf"\.(?:{EXTENSION_PATTERN})$", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:(?:https?:)?/?/|www\.)\S+", re.IGNORECASE)
# What a page of a tag is called, and the line with author and date.
_FILING = re.compile(
    r"(?:by|von|par|por) .{2,60}[•·|]|posted (?:on|by|in)\b|(?:tags?|categor(?:y|ies)|archives?"
    r"|标签|標籤|分类|分類)\s?[:：]",
    re.IGNORECASE,
)
_CODE = re.compile(r"</|<\w+[ >]|\\[n/]")  # of a page in a script
_PARTS = re.compile(r"\s{1,99}[|–—»«:·•~_-]{1,99}\s+|\s{0,99}[|»«_｜]\s*|\s{0,99}[–—]\s*")
_LONG, _SHORT = 150, 3  # characters beyond which a text is hardly a title
_MANY = 0.3  # share of a site's titles that have a part, which then names the site


def says_nothing(text: str) -> bool:
    """Whether a text cannot be the title of anything: "Download (MP3, 20 MB)", "点击播放".

    >>> says_nothing("Download MP3 - 86 MB"), says_nothing("点击下载"), says_nothing("Levers")
    (True, True, False)
    """
    if (
        _FILING.match(text)
        or _CODE.search(text)
        or _ADDRESS.fullmatch(text)
        or is_generic(text)
        or _DRAWN.fullmatch(text)
    ):
        return True
    words = [word.lower() for word in _WORD.findall(text)]
    left = [word for word in words if word not in _EMPTY and not _SIZE.fullmatch(word)]
    return all(_EMPTY_HAN.fullmatch(word) for word in left)


def cleaned(text: str) -> str:
    """Return a title without the format and size behind it.

    >>> cleaned("Levers and pulleys (MP4 - 86 MB)"), cleaned("levers.mp3")
    ('Levers and pulleys', 'levers')
    """
    return _FILE_END.sub("", _TAIL.sub("", text)).strip(" -–—|:：、,·\u3000")


class SiteTitles:
    """Titles of the pages of sites, to tell what in them is the site's name."""

    def __init__(self, titles: Iterable[tuple[str, str]]) -> None:
        self._parts: dict[str, Counter[str]] = defaultdict(Counter)
        self._pages: Counter[str] = Counter()
        for host, title in titles:
            self._pages[host] += 1
            self._parts[host].update({part for part in _PARTS.split(title) if part})

    def without_name(self, host: str, title: str) -> str:
        """Return a title without the parts that many pages of its site have."""
        pages, counts = self._pages[host], self._parts[host]
        if pages < 4:
            return title
        parts = [part for part in _PARTS.split(title) if part]
        own = [part for part in parts if counts[part] <= max(2, _MANY * pages)]
        if len(own) == len(parts) or not own:
            return title if own else ""
        # What is between the first and the last part of its own stays as it is written.
        start = title.find(own[0])
        return title[start : title.rfind(own[-1]) + len(own[-1])]


def choose_titles(
    candidates: Sequence[Sequence[tuple[str, str]]], weights: Mapping[str, float] = WEIGHTS
) -> list[tuple[str, str]]:
    """Return the title of each work with its source; ("", "") where there is none."""
    cleaned_up = [
        {(source, text) for source, given in texts if (text := cleaned(given))}
        for texts in candidates
    ]
    shared: Counter[str] = Counter()
    for texts in cleaned_up:
        shared.update({unify(text) for _, text in texts})
    return [_best(texts, shared, weights) for texts in cleaned_up]


AGREEMENT = 0.1
"""What it adds that a text is offered by another kind of source as well."""


def _best(
    texts: Collection[tuple[str, str]], shared: Mapping[str, int], weights: Mapping[str, float]
) -> tuple[str, str]:
    sources: dict[str, set[str]] = defaultdict(set)
    for source, text in texts:
        sources[unify(text)].add(source)

    def worth(candidate: tuple[str, str]) -> tuple[float, str]:
        source, text = candidate
        plain = unify(text)
        score = weights.get(source, 0.0) + AGREEMENT * (len(sources[plain]) - 1)
        score /= shared[plain]
        if len(text) > _LONG or len(text) < _SHORT:
            score *= 0.4
        if source == "file" and _NUMBERED.fullmatch(text):
            score *= 0.1
        if says_nothing(text):
            score *= 0.01
        return score, text

    source, text = max(texts, key=worth, default=("", ""))
    return text, source


_ITEM = "archive.org/"
_MOST_HOSTS = 8  # of one name: more are no mirrors of one another
_LEAST_MIRRORED = 3  # names that two hosts have in common
_LEAST_NAME = 6  # characters


class _Groups:
    """Sets that are joined step by step (union-find)."""

    def __init__(self) -> None:
        self._around: dict[str, str] = {}

    def of(self, key: str) -> str:
        """Return the representative of a set."""
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


def group_occurrences(
    pages: Sequence[Sequence[Occurrence]], digests: Mapping[str, str]
) -> list[list[str]]:
    """Return the works: of each the keys of its files, in the order they were found."""
    groups = _Groups()
    urls = {occurrence.key: occurrence.url for page in pages for occurrence in page}
    _join_formats(groups, urls)
    _join_equal(groups, ((digests[key], key) for key in urls if key in digests))
    _join_mirrors(groups, urls)
    for page in pages:
        _join_players(groups, page)
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


def _join_players(groups: _Groups, page: Sequence[Occurrence]) -> None:
    """Join the sources of one player, and the addresses that are of one medium there."""
    _join_equal(groups, ((m.player, m.key) for m in page if m.player))
    _join_equal(groups, ((m.medium, m.key) for m in page if m.medium))


def _join_lone_player(groups: _Groups, page: Sequence[Occurrence]) -> None:
    """Join the only player of a hosted item (archive.org: a directory) with the item's files."""
    for player in page:
        if not player.key.startswith(_ITEM) or is_file(player.url):
            continue
        inside = f"{_ITEM}download/{player.key.removeprefix(_ITEM)}/"
        files = [occurrence.key for occurrence in page if occurrence.key.startswith(inside)]
        if len({groups.of(key) for key in files}) == 1:
            groups.join([player.key, *files])


def _join_mirrors(groups: _Groups, urls: Mapping[str, str]) -> None:
    """Join files of one long name on hosts with several such in common, each in one directory."""
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
