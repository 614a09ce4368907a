"""The table of pieces of pages in `snippets/`, and how what is found is compared with it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mmcrawl.page import Resolver, parse_page, resource_key

FOLDER = Path(__file__).with_name("snippets")
PAGE = "http://school.test/physics/lever.html"
ASIDE = "aside"


@dataclass(frozen=True)
class Seen:
    """A medium that a person sees: its kind, words that name it, and the keys of its addresses."""

    kind: str
    text: str
    keys: frozenset[str]


@dataclass(frozen=True)
class Snippet:
    """A piece of a page. `part` is the name of its file."""

    part: str
    about: str
    group: str
    html: str
    sees: tuple[Seen, ...]


@dataclass(frozen=True)
class Found:
    """A medium that a program finds: its kind ("" where it tells none), words, addresses."""

    kind: str
    text: str
    addresses: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """How many media are seen, found, and both; and of these, with words and with the right ones.

    Attributes:
        whole: Number of pieces of which all was found and nothing else.
    """

    pieces: int = 0
    whole: int = 0
    seen: int = 0
    found: int = 0
    both: int = 0
    named: int = 0
    rightly: int = 0

    def __add__(self, other: Score) -> Score:
        mine, more = vars(self), vars(other)
        return Score(**{name: value + more[name] for name, value in mine.items()})

    @property
    def recall(self) -> float:
        return self.both / self.seen if self.seen else 1.0

    @property
    def precision(self) -> float:
        return self.both / self.found if self.found else 1.0


def read_snippets(*parts: str) -> list[Snippet]:
    """Return the pieces of some files of the table, of all if none is named."""
    resolve = Resolver(PAGE, "utf-8")

    def seen(kind: str, text: str, *addresses: str) -> Seen:
        targets = [resolve(address) for address in addresses]
        return Seen(kind, text, frozenset(resource_key(target.url) for target in targets if target))

    return [
        Snippet(
            path.stem, one["about"], one["group"], one["html"], tuple(seen(*m) for m in one["sees"])
        )
        for path in sorted(FOLDER.glob("*.toml"))
        if not parts or path.stem in parts
        for one in tomllib.loads(path.read_text(encoding="utf-8"))["snippet"]
    ]


def found_by_us(snippet: Snippet) -> list[Found]:
    """Return what mmcrawl finds."""
    media = parse_page(snippet.html.encode(), PAGE, "text/html; charset=utf-8").media
    return [Found(m.kind, m.text, (m.url, *getattr(m, "others", ()))) for m in media]


def compare(snippet: Snippet, found: Sequence[Found]) -> Score:
    """Return how what was found agrees with what is seen; each counts once."""
    waiting = list(snippet.sees)
    both = named = rightly = 0
    for one in found:
        keys = {resource_key(address) for address in one.addresses}
        match = next((s for s in waiting if s.kind == (one.kind or s.kind) and s.keys & keys), None)
        if match is None:
            continue
        waiting.remove(match)
        both += 1
        named += bool(match.text)
        rightly += bool(match.text) and match.text == one.text
    whole = both == len(snippet.sees) == len(found)
    return Score(1, int(whole), len(snippet.sees), len(found), both, named, rightly)


def total(scores: Iterable[Score]) -> Score:
    """Return the sum of some scores."""
    return sum(scores, Score())
