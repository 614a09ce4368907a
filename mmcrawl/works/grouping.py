"""Which addresses of media are one work: formats, qualities, mirrors, and players of the same.

What a page says of each of its media is read at the places that show or link to it. Each rule joins
addresses; addresses joined by any chain of rules are one work. The guide lists the rules and how
they were measured.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from urllib.parse import urlsplit

from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.partition import Partition
from mmcrawl.page.media import EXTENSION_PATTERN, media_in_values
from mmcrawl.page.model import MediaResource
from mmcrawl.page.structured import Declared, Thing
from mmcrawl.text.words import HAN, unify
from mmcrawl.works.licences import LicenceReader, item_licences
from mmcrawl.works.model import Licence, Subtitles
from mmcrawl.works.values import (
    date_in,
    is_file,
    is_generic,
    language_tag,
    seconds_in,
    stem_of,
    work_key,
)

_ATTRIBUTES = {
    **dict.fromkeys(("a", "area"), ("href",)),
    **dict.fromkeys(("audio", "video", "source", "iframe"), ("src", "data-src")),
    "embed": ("src", "flashvars"),
    "object": ("data",),
    "param": ("value",),
}
_PLAYERS = frozenset({"audio", "video", "object"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_UNITS = frozenset("figure li tr td dd p div section article details".split())
_LONGEST_UNIT = 1_500  # characters of an element that is about one medium
_LONGEST_ROW = 200
_MOST_TITLES = 50
_MOST_TIMES = 1_000
_MOST_TRACKS = 100
_HIGHEST = 50  # elements between a medium and one that is about it
_LONGEST_CAPTION = 1_000
_SENTENCE = re.compile(r"[。！？]|\w[.!?](?:\s|$)")
_NAMES = ("title", "aria-label", "alt", "data-title")

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

AGREEMENT = 0.1
"""What it adds that a text is offered by another kind of source as well."""

_ITEM = "archive.org/"
_MOST_HOSTS = 8  # of one name: more are no mirrors of one another
_LEAST_MIRRORED = 3  # names that two hosts have in common
_LEAST_NAME = 6  # characters


@dataclass(slots=True)
class Occurrence:
    """What a page says of a media address; missing values are empty.

    Attributes:
        player: Number of the player on its page that has the file among its sources, 0 for none.
        titles: Texts that may be its title, each with its source, see `titles`.
        described: What structured data say: name, description and so on.
        mime, size, duration: As declared.
        language, creator, date: Of its description.
    """

    key: str  # what the addresses of the file have in common
    url: str
    kind: str
    tag: str
    medium: int = 0  # number of the medium on its page that it is an address of
    player: int = 0
    titles: list[tuple[str, str]] = field(default_factory=list)
    caption: str = ""  # of its figure, or the description in structured data
    beside: str = ""  # the sentences in the element that is about it alone
    mime: str = ""
    size: int = 0
    duration: float = 0.0
    poster: str = ""
    subtitles: tuple[Subtitles, ...] = ()
    block: str = ""  # kind of the block it is in
    language: str = ""
    creator: str = ""
    date: str = ""
    licences: tuple[Licence, ...] = ()

    def add_title(self, source: str, text: str) -> None:
        """Record a text that may be its title."""
        text = " ".join(text.split())[:_LONGEST_ROW]
        if text and len(self.titles) < _MOST_TITLES and (source, text) not in self.titles:
            self.titles.append((source, text))


def occurrences_of(resources: Iterable[MediaResource]) -> dict[str, Occurrence]:
    """Return an occurrence of each address of some media of a page, by its key, in their order."""
    found: dict[str, Occurrence] = {}
    for number, one in enumerate(resources, 1):
        for url in (one.url, *one.others):
            key = work_key(url)
            occurrence = found.setdefault(key, Occurrence(key, url, one.kind, one.tag, number))
            occurrence.add_title("anchor" if one.tag in ("a", "area") else "player", one.text)
    return found


class OccurrenceReader:
    """Reads what a page says of its media."""

    def __init__(
        self, page: Partition, lines: PageLines, url: str, licences: LicenceReader
    ) -> None:
        self._page, self._tree, self._url = page, page.tree, url
        self._lines, self._licences = lines, licences
        self._resolve = Declared(page.tree).resolver(url)
        self.base = self._resolve.base
        self._tracks: dict[int, tuple[Subtitles, ...]] = {}  # by the player
        self._times = [n for n, tag in enumerate(self._tree.tags) if tag == "time"][:_MOST_TIMES]
        self._headings = [n for n, tag in enumerate(self._tree.tags) if tag in _HEADINGS]

    def read(
        self, resources: Iterable[MediaResource], items: Iterable[tuple[Thing, tuple[Thing, ...]]]
    ) -> list[Occurrence]:
        """Return an occurrence of each of some media of the page, in their order."""
        found = occurrences_of(resources)
        places = list(self._places(found))
        nodes = [node for node, _ in places]
        stems = (stem_of(found[key].url)[1] or key for _, key in places)
        runs = [len([*run]) for _, run in groupby(stems)]
        place = 0
        for length in runs:
            alike = range(place, place := place + length)
            for node, key in places[alike.start : alike.stop]:
                self._note(found[key], node, self._unit(node, nodes, alike))
        self._note_items(found, items)
        return list(found.values())

    def _places(self, known: Mapping[str, Occurrence]) -> Iterator[tuple[int, str]]:
        """Yield the elements that name media that are known, in order, and which."""
        tree = self._tree
        for node, tag in enumerate(tree.tags):
            for name in _ATTRIBUTES.get(tag, ()):
                value = tree.attributes(node).get(name, "")
                values = [value]
                if name in ("flashvars", "value") or "?" in value:
                    values += media_in_values(value.partition("?")[2] or value)
                for one in values if value else ():
                    target = self._resolve(one)
                    if target is not None and (key := work_key(target.url)) in known:
                        yield node, key

    def _unit(self, node: int, nodes: list[int], alike: range) -> int:
        """Return the largest element that is about this medium alone; 0 if there is none."""
        tree, unit, around = self._tree, 0, node
        chars = self._page.measures.chars
        for _ in range(_HIGHEST):
            after = tree.after[around]
            if bisect_left(nodes, around) < alike.start or bisect_left(nodes, after) > alike.stop:
                break
            if int(chars[after]) - int(chars[around]) > _LONGEST_UNIT:
                break
            if tree.tags[around] in _UNITS:
                unit = around
            if tree.tags[around] in ("article", "figure"):
                break
            around = tree.parents[around]
            if around <= 0:
                break
        return unit

    def _note(self, occurrence: Occurrence, node: int, unit: int) -> None:
        tree = self._tree
        tag, attributes = tree.tags[node], tree.attributes(node)
        owner = node
        if tag in ("source", "param", "embed"):
            owner = self._player_of(node) or node
        if tag == "source" and owner != node:
            occurrence.player = owner
        occurrence.block = occurrence.block or self._licences.kind_of(node)
        mime = attributes.get("type", "").partition(";")[0].strip().lower()
        occurrence.mime = occurrence.mime or (mime if "/" in mime else "")
        occurrence.language = occurrence.language or language_tag(attributes.get("hreflang", ""))
        for one in {node, owner}:
            said = tree.attributes(one)
            source = "anchor" if tag in ("a", "area") else "player"
            for name in _NAMES:
                occurrence.add_title(source, said.get(name, ""))
        if tag in ("a", "area"):
            occurrence.add_title("anchor", self._page.facts.texts.of_link(node, tree.after[node]))
        elif tree.tags[owner] in _PLAYERS:
            self._note_player(occurrence, owner)
        self._note_surroundings(occurrence, node, unit)

    def _note_player(self, occurrence: Occurrence, player: int) -> None:
        tree = self._tree
        attributes = tree.attributes(player)
        occurrence.poster = occurrence.poster or self._address(attributes.get("poster", ""))
        occurrence.subtitles = occurrence.subtitles or self._subtitles(player)

    def _subtitles(self, player: int) -> tuple[Subtitles, ...]:
        if player not in self._tracks:
            tree, found = self._tree, []
            for node in range(player + 1, tree.after[player]):
                track = tree.attributes(node) if tree.tags[node] == "track" else {}
                kind = track.get("kind", "").lower() or "subtitles"
                if track.get("src") and kind in ("subtitles", "captions"):
                    language = language_tag(track.get("srclang", ""))
                    label = track.get("label", "").strip()
                    found.append(Subtitles(self._address(track["src"]), language, label))
            self._tracks[player] = tuple(found[:_MOST_TRACKS])
        return self._tracks[player]

    def _note_surroundings(self, occurrence: Occurrence, node: int, unit: int) -> None:
        tree, texts = self._tree, self._page.facts.texts
        around = node
        for _ in range(6):
            around = tree.parents[around]
            if around <= 0:
                break
            if tree.tags[around] == "figure":
                for inner in range(around, tree.after[around]):
                    if tree.tags[inner] == "figcaption":
                        text = texts.of(range(inner, tree.after[inner]))
                        occurrence.add_title("figcaption", text)
                        occurrence.caption = occurrence.caption or text[:_LONGEST_CAPTION]
                break
        for source, heading in self._headings_before(node, unit):
            occurrence.add_title(source, texts.of(range(heading, tree.after[heading])))
        if not unit:
            return
        occurrence.licences = occurrence.licences or self._licences.beside(
            range(unit, tree.after[unit])
        )
        text = texts.of(range(unit, tree.after[unit]))
        if len(text) <= _LONGEST_ROW:
            occurrence.add_title("row", text)
        short = text if len(text) <= _LONGEST_ROW else ""
        occurrence.beside = occurrence.beside or self._sentences_in(unit) or short
        occurrence.duration = occurrence.duration or seconds_in(text)
        occurrence.date = occurrence.date or self._time_in(unit)

    def _sentences_in(self, unit: int) -> str:
        """Return the sentences of an element: its other lines are menus, bylines, counters."""
        firsts, after = self._lines.firsts, self._tree.after[unit]
        lines = range(bisect_left(firsts, unit), bisect_left(firsts, after))
        texts = map(self._lines.texts.__getitem__, lines)
        return " ".join(text for text in texts if _SENTENCE.search(text))[:_LONGEST_CAPTION]

    def _time_in(self, unit: int) -> str:
        """Return the first date that an element marks as such."""
        for inner in self._times[bisect_left(self._times, unit) :]:
            if inner >= self._tree.after[unit]:
                break
            if said := date_in(self._tree.attributes(inner).get("datetime", "")):
                return said
        return ""

    def _headings_before(self, node: int, unit: int) -> Iterator[tuple[str, int]]:
        """Yield the highest heading before a node in its unit, or the last one before it."""
        place = bisect_left(self._headings, node)
        inside = self._headings[bisect_left(self._headings, unit) : place] if unit else []
        if inside:
            yield "unit-heading", min(inside, key=lambda heading: self._tree.tags[heading])
        elif place:
            yield "heading", self._headings[place - 1]

    def _player_of(self, node: int) -> int:
        around = self._tree.parents[node]
        for _ in range(_HIGHEST):
            if around <= 0 or self._tree.tags[around] in _PLAYERS:
                return max(around, 0)
            around = self._tree.parents[around]
        return 0

    def _note_items(
        self, found: Mapping[str, Occurrence], items: Iterable[tuple[Thing, tuple[Thing, ...]]]
    ) -> None:
        for item, around in items:
            for address in item.texts("contenturl", "embedurl", "url"):
                occurrence = found.get(work_key(self._address(address)))
                if occurrence is not None:
                    self._note_item(occurrence, item, around)

    def _note_item(self, occurrence: Occurrence, item: Thing, around: tuple[Thing, ...]) -> None:
        wider = [item, *(one for one in reversed(around) if _is_of_one(one))]
        for one in wider:
            occurrence.add_title("structured", one.text("name", "headline"))
            occurrence.caption = occurrence.caption or one.text("description")[:_LONGEST_CAPTION]
            occurrence.creator = occurrence.creator or one.text("author", "creator")
            occurrence.date = occurrence.date or date_in(
                one.text("uploaddate", "datepublished", "datecreated")
            )
            occurrence.language = occurrence.language or language_tag(one.text("inlanguage"))
            occurrence.duration = occurrence.duration or seconds_in(one.text("duration"))
            occurrence.licences = (*occurrence.licences, *item_licences(one, self._url))
        occurrence.poster = occurrence.poster or self._address(
            item.text("thumbnailurl", "thumbnail")
        )
        occurrence.mime = occurrence.mime or item.text("encodingformat", "fileformat")
        size = re.fullmatch(r"\d{1,15}", item.text("contentsize"))
        occurrence.size = occurrence.size or (int(size[0]) if size else 0)

    def _address(self, written: str) -> str:
        target = self._resolve(written) if written else None
        return target.url if target is not None else ""


def _is_of_one(item: Thing) -> bool:
    """Whether a thing is about one work, so that its statements hold for the medium."""
    return not item.types.isdisjoint(
        "podcastepisode episode clip learningresource movie tvepisode musicrecording".split()
    )


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
