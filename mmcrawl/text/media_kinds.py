"""The kinds of media, what people call them, and what the text of a link says about its target."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import chain

from mmcrawl.text.resources import data_lines
from mmcrawl.text.words import has_han

AUDIO = "audio"
VIDEO = "video"
ANIMATION = "animation"
SIMULATION = "simulation"
DOCUMENT = "document"
PACKAGE = "package"
IMAGE_ANIMATION = "image-animation"

KINDS = (AUDIO, VIDEO, ANIMATION, SIMULATION, DOCUMENT, PACKAGE, IMAGE_ANIMATION)
DEFAULT_KINDS = (AUDIO, VIDEO, ANIMATION, SIMULATION)
"""What is looked for if nothing else is said: what moves or sounds, or can be played with."""

CHINESE = {
    AUDIO: "音频",
    VIDEO: "视频",
    ANIMATION: "动画",
    SIMULATION: "仿真",
    DOCUMENT: "文档",
    PACKAGE: "软件包",
    IMAGE_ANIMATION: "动图",
}
_NAMES = {
    AUDIO: "声音 音响 录音 音乐 音頻",
    VIDEO: "录像 影片 視頻 微课",
    ANIMATION: "swf flash 動畫 动漫",
    SIMULATION: "applet interactive 模拟 模擬 虚拟实验 仿真实验 互动 交互",
    DOCUMENT: "doc ppt pptx pdf slides 课件 幻灯片 演示文稿 文件 文檔",
    PACKAGE: "zip scorm archive 压缩包 安装包 打包",
    IMAGE_ANIMATION: "gif apng 动态图 动态图片 動圖",
}
_KIND_OF = {name: kind for kind, names in _NAMES.items() for name in (kind, *names.split())}

_ARROWS = re.compile(r"[\s»«>→<←‹›⟩⟨▶◀►◄⇒⇐|…. ]+")
_BRACKETS = re.compile(r"[\[(【「（［](.*)[\])】」）］]")
_NUMBER = re.compile(
    r"(?:page|seite|página|pagina|strona|страница|p\.?)? ?\d{1,4}"
    r"(?: ?(?:of|/|von|de|sur|di|из) ?\d{1,4})?|第 ?\d{1,4} ?[页頁]|\d{1,4} ?(?:ページ|페이지)"
)
_OWN_WORDS = frozenset({SIMULATION, DOCUMENT, PACKAGE, IMAGE_ANIMATION})
_KANA_OR_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")

_KIND_OF |= {name: kind for kind, name in CHINESE.items()}


def kind_named(name: str) -> str:
    """Return the kind of media that a name stands for, in English or Chinese.

    Raises:
        ValueError: it is none; the message names those that are near.

    >>> kind_named("视频"), kind_named("Flash"), kind_named("simulations")
    ('video', 'animation', 'simulation')
    """
    wanted = name.strip().lower().replace("_", "-")
    for one in (wanted, wanted.removesuffix("s")):
        if one in _KIND_OF:
            return _KIND_OF[one]
    from difflib import get_close_matches  # seldom needed, and slow to load

    near = get_close_matches(wanted, _KIND_OF, 2, 0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise ValueError(f"there is no media kind {name.strip()!r}{hint}")


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
