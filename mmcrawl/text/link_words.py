"""What the text of a link says about its target: media, or another page of a list."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import chain

from mmcrawl.text.media_kinds import (
    DEFAULT_KINDS,
    DOCUMENT,
    IMAGE_ANIMATION,
    KINDS,
    PACKAGE,
    SIMULATION,
)
from mmcrawl.text.resources import data_lines
from mmcrawl.text.words import has_han

_ARROWS = re.compile(r"[\s»«>→<←‹›⟩⟨▶◀►◄⇒⇐|…. ]+")
_BRACKETS = re.compile(r"[\[(【「（［](.*)[\])】」）］]")
_NUMBER = re.compile(
    r"(?:page|seite|página|pagina|strona|страница|p\.?)? ?\d{1,4}"
    r"(?: ?(?:of|/|von|de|sur|di|из) ?\d{1,4})?|第 ?\d{1,4} ?[页頁]|\d{1,4} ?(?:ページ|페이지)"
)
_OWN_WORDS = frozenset({SIMULATION, DOCUMENT, PACKAGE, IMAGE_ANIMATION})
_KANA_OR_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")


def names_media(anchor: str, kinds: Iterable[str] = DEFAULT_KINDS) -> bool:
    """Return whether the text of a link promises media.

    Args:
        kinds: That are wanted; those that are always looked for have their words in common.

    >>> names_media("Listen to lecture 3"), names_media("实验视频"), names_media("About us")
    (True, True, False)
    >>> names_media("Handout 3"), names_media("Handout 3", ["document"])
    (False, True)
    """
    own = tuple(kind for kind in KINDS if kind in kinds and kind in _OWN_WORDS)
    return _words(("media", *own)).search(anchor.lower()) is not None


def names_kind(text: str, kind: str) -> bool:
    """Return whether a text has words of one kind of media; of sound and film, of any media.

    >>> names_kind("Pendulum simulation", "simulation"), names_kind("Handouts", "simulation")
    (True, False)
    """
    return _words((kind if kind in _OWN_WORDS else "media",)).search(text.lower()) is not None


def is_paging(anchor: str) -> bool:
    """Return whether a link's text only says that a list continues.

    >>> is_paging("Older posts »"), is_paging("[12]"), is_paging("第3页"), is_paging("Next year")
    (True, True, True, False)
    """
    text = " ".join(_ARROWS.sub(" ", anchor.lower()).split())
    if not text:
        return bool(anchor.strip())  # an arrow
    if inside := _BRACKETS.fullmatch(text):
        text = inside[1].strip()
    return text in _paging_words() or _NUMBER.fullmatch(text) is not None


@cache
def _words(names: tuple[str, ...]) -> re.Pattern[str]:
    """Words of scripts without spaces stand anywhere, others alone."""
    anywhere: list[str] = []
    alone: list[str] = []
    for line in chain.from_iterable(data_lines("link_words", f"{name}.txt") for name in names):
        together = has_han(line) or _KANA_OR_HANGUL.search(line)
        (anywhere if together else alone).append(re.escape(line).replace(r"\*", r"\w*"))
    return re.compile(rf"{'|'.join(anywhere)}|\b(?:{'|'.join(alone)})\b")


@cache
def _paging_words() -> frozenset[str]:
    return frozenset(data_lines("link_words", "paging.txt"))
