"""What a page says of each of its media, at the places that show or link to it."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.partition import Partition
from mmcrawl.page.media import media_in_values
from mmcrawl.page.model import MediaResource
from mmcrawl.page.structured import Declared, Thing
from mmcrawl.works.licences import LicenceReader, item_licences
from mmcrawl.works.model import Licence, Subtitles
from mmcrawl.works.values import date_in, language_tag, seconds_in, stem_of, work_key

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
