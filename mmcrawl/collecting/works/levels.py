"""Which level of school something is for, as its own words say; nothing where they say nothing."""

import re
from collections.abc import Iterable

from mmcrawl.text.scripts import unify

_WORDS = {
    "kindergarten": r"kindergarten|pre-?school|幼儿园|幼儿|学前",
    "primary": r"primary school|elementary school|grades? k?-?[1-5](?!\d)|key stage [12]|小学"
    r"|[一二三四五六]年级",
    "lower-secondary": r"middle school|junior high|grades? [678](?!\d)|key stage 3|初中|初[一二三]"
    r"|[七八九]年级|国中",
    "upper-secondary": r"high school|senior high|secondary school|sixth form|gcse|a-levels?"
    r"|grades? (?:9|1[0-2])(?!\d)|高中|高[一二三](?![0-9\w])|高考",
    "vocational": r"vocational|中职|高职|职业学校|中专|技校",
    "university": r"universit|undergraduate|postgraduate|graduate course|大学|本科|研究生|高等教育"
    r"|高校",
}
_PATTERNS = {level: re.compile(rf"(?<![a-z])(?:{words})") for level, words in _WORDS.items()}
_OF_TOPICS = {"primary": "primary", "junior": "lower-secondary", "senior": "upper-secondary"}


def level_of_topic(topic: str) -> str:
    """Return the level that the name of a topic says.

    >>> level_of_topic("physics-senior")
    'upper-secondary'
    """
    return _OF_TOPICS.get(topic.rpartition("-")[2], "") or level_of_texts([topic])


def level_of_texts(texts: Iterable[str]) -> str:
    """Return the one level of school that some texts name, best evidence first.

    The first text that names any decides; one that names several says nothing.

    >>> level_of_texts(["Levers", "高中物理: 杠杆"]), level_of_texts(["小学、初中课件"])
    ('upper-secondary', '')
    """
    for text in texts:
        plain = unify(text)
        named = [level for level, pattern in _PATTERNS.items() if pattern.search(plain)]
        if "lower-secondary" in named and "junior high school" in plain:
            named = [level for level in named if level != "upper-secondary"]
        if named:
            return named[0] if len(named) == 1 else ""
    return ""
