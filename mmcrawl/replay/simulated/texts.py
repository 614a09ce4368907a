"""The texts of simulated webs, from ``texts_zh.toml`` and ``texts_en.toml``, read on first use, and
the names of sites, directories and pages.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

from mmcrawl.replay.simulated.config import Dice


@dataclass(frozen=True, slots=True)
class Lesson:
    slug: str
    name: str
    chapter: str
    words: tuple[str, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prose:
    titles: tuple[str, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Texts:
    names: tuple[str, ...]
    places: tuple[str, ...]
    general: tuple[str, ...]
    lessons: tuple[Lesson, ...]
    prose: dict[str, Prose]


@cache
def texts(language: str) -> Texts:
    source = files("mmcrawl.replay.simulated") / f"texts_{language}.toml"
    return TypeAdapter(Texts).validate_python(tomllib.loads(source.read_text(encoding="utf-8")))


def lessons(language: str) -> tuple[Lesson, ...]:
    return texts(language).lessons


def prose(language: str) -> dict[str, Prose]:
    """Subject → prose, in `zh` or `en`."""
    return texts(language).prose


def fill(template: str, language: str, dice: Dice) -> str:
    """Fill the gaps of a sentence with names, places and numbers."""
    table = texts(language)
    gaps: dict[str, Sequence[object]] = {
        "{name}": table.names,
        "{place}": table.places,
        "{year}": range(2003, 2011),
        "{n}": range(2, 10),
    }
    for gap, values in gaps.items():
        while gap in template:
            template = template.replace(gap, str(dice.pick(values)), 1)
    return template


def about(lesson: Lesson, count: int, language: str, dice: Dice) -> tuple[str, ...]:
    """All sentences of a lesson, and `count` of those that suit every lesson."""
    general = dice.sample(texts(language).general, count)
    made = [sentence.replace("{topic}", lesson.name) for sentence in general]
    for index, sentence in enumerate(made):
        for word in dice.sample(lesson.words, sentence.count("{word}")):
            made[index] = made[index].replace("{word}", word, 1)
    return lesson.sentences + tuple(made)


def paragraphs(sentences: tuple[str, ...], count: int, language: str, dice: Dice) -> list[str]:
    """`count` of the sentences in random order, in paragraphs of two to four."""
    space = "" if language == "zh" else " "
    chosen = [fill(sentence, language, dice) for sentence in dice.sample(sentences, count)]
    made = []
    while chosen:
        length = dice.number(2, 4)
        made.append(space.join(chosen[:length]))
        chosen = chosen[length:]
    return made


# -- what sites, directories and pages are called -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Subject:
    """What a directory is about; `segment` is its name in addresses."""

    segment: str
    title: str
    prose: str = ""  # of the pages about no lesson; empty for physics
    plays: bool = False  # do some of its pages hold media off the topic?
    titles: tuple[str, ...] = ()  # of pages about a lesson


@dataclass(frozen=True, slots=True)
class Names:
    sites: tuple[str, ...]
    media: tuple[Subject, ...]  # of directories that media are gathered in
    topic: tuple[Subject, ...]  # of directories on the topic with few media
    other: tuple[Subject, ...]
    stray: tuple[str, ...]  # titles of pages on the topic in directories off it
    forms: tuple[str, ...]  # ways of embedding media
    words: dict[str, str]
    tunnel: tuple[str, ...]  # prose of the pages of a tunnel


NAMES = {
    "zh": Names(
        sites=("启明教学资源网", "育才校园网", "求真学习网", "博雅教育在线", "春晖中学"),
        media=(
            Subject("donghua", "物理动画", titles=("{topic}动画演示", "{topic}flash课件")),
            Subject("wuli", "物理视频", titles=("{topic}视频讲解", "{topic}名师课堂实录")),
            Subject("luyin", "课堂录音", titles=("{topic}课堂录音", "{topic}复习讲座")),
            Subject("shiyan", "演示实验", titles=("{topic}演示实验录像", "{topic}演示")),
        ),
        topic=(
            Subject("jiaoan", "物理教案", titles=("{topic}教案", "《{topic}》教学设计")),
            Subject("shiti", "物理试题", titles=("{topic}同步练习题", "{topic}单元测试")),
            Subject("wuli", "物理课件", titles=("{topic}课件", "{topic}ppt课件下载")),
        ),
        other=(
            Subject("xinwen", "校园新闻", "news"),
            Subject("yuwen", "语文", "yuwen", plays=True),
            Subject("lishi", "历史", "lishi"),
            Subject("youxi", "小游戏", "games", plays=True),
            Subject("luntan", "论坛", "forum"),
            Subject("yingyu", "英语", "yingyu", plays=True),
            Subject("xuexiao", "学校概况", "school"),
            Subject("caipu", "家常菜", "kitchen", plays=True),
        ),
        stray=("{topic}", "{topic}课件", "{topic}资料"),
        forms=("swf", "swf-script", "swf-new", "wmv", "mp3", "mp3-link", "rmvb-link", "hosted-zh"),
        words={
            "front": "首页",
            "list": "{title}列表",
            "near": "上一篇 下一篇",
            "related": "相关内容",
            "pages": "分页",
            "sections": "栏目导航",
            "fresh": "最新更新",
            "friends": "友情链接",
            "calendar": "校历",
            "more": "更多",
            "onward": "资料目录",
            "old": "旧版",
            "before": "上个月",
            "after": "下个月",
        },
        tunnel=("school", "news", "forum"),
    ),
    "en": Names(
        sites=("Open Classroom", "Harbour School", "Study Corner", "Corfe College"),
        media=(
            Subject("lectures", "Physics lectures", titles=("{topic}: video lecture",)),
            Subject("physics", "Physics simulations", titles=("{topic} simulation",)),
            Subject("recordings", "Recordings", titles=("{topic}, recorded lecture",)),
        ),
        topic=(
            Subject("notes", "Physics notes", titles=("{topic}: notes", "Notes on {topic}")),
            Subject("physics", "Physics problems", titles=("{topic}: problems",)),
        ),
        other=(
            Subject("blog", "Blog", "blog"),
            Subject("music", "Music", "music", plays=True),
            Subject("about", "About", "about"),
            Subject("games", "Games", "games", plays=True),
            Subject("library", "Library", "library"),
        ),
        stray=("{topic}", "{topic}, a demonstration"),
        forms=("video", "source", "audio", "mp3-link", "swf", "hosted-en"),
        words={
            "front": "Home",
            "list": "{title}",
            "near": "Previous and next",
            "related": "Related",
            "pages": "Pages",
            "sections": "Sections",
            "fresh": "Recent",
            "friends": "Elsewhere",
            "calendar": "Calendar",
            "more": "More",
            "onward": "Index of files",
            "old": "Old site",
            "before": "Previous month",
            "after": "Next month",
        },
        tunnel=("library", "about", "blog"),
    ),
}  # fmt: skip
