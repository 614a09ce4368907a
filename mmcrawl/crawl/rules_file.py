"""Files of URL rules, as a person writes them and a crawl exports them.

One rule a line; the first that matches an address counts:

    # PATTERN                            [WEIGHT] [topic=NAME]    # remarks
    http://h.test/lessons/*/film.htm     9
    re:^https?://[^/]+/media/[0-9]+      5        topic=physics-senior
    http://h.test/forum/**               never

`mmcrawl.scoring.pinned_rules` describes the patterns.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mmcrawl.crawl.seeds import checked, entries_of
from mmcrawl.errors import RuleError
from mmcrawl.frontier.ranking import MOST_WEIGHT
from mmcrawl.scoring.pinned_rules import REGEX, PinnedRule, PinnedRules, compiled, glob_of
from mmcrawl.topic.loading import load_topic

if TYPE_CHECKING:  # slow to load
    from mmcrawl.frontier.findings import PatternRecord

logger = logging.getLogger(__name__)

_NEVER = "never"
_TOPIC = "topic="
_FORM = f"PATTERN [0 to {MOST_WEIGHT}, or {_NEVER}] [{_TOPIC}NAME] [# remarks]"
_HEAD = """\
# Rules for addresses: -a rules=FILE gives them to a crawl. The first one that matches counts; links
# of a greater weight come first; never is not fetched. Delete, edit or add lines.
"""


def read_rules(text: str, topics: Collection[str] | None = None) -> PinnedRules:
    """Return the rules of a file.

    Args:
        text: name of the file.
        topics: names of those a crawl looks for: rules for others are left out. None for any.

    Raises:
        RuleError: it is missing, or has wrong lines: the first 20 of them, a line each.
    """
    path = Path(os.path.expanduser(text))
    if not os.path.isfile(path):
        raise RuleError(
            f"there is no rules file {text}; write one, or have a crawl's with"
            " `scrapy rules export -o FILE`"
        )
    places: dict[tuple[str, str], str] = {}

    def make(where: str, words: list[str]) -> PinnedRule:
        rule = replace(_rule(words), place=where.removesuffix(": "))
        first = places.setdefault((rule.pattern, rule.topic), rule.place)
        if first != rule.place:
            raise RuleError(f"the pattern is already in {first}; remove one of them")
        return rule

    entries = entries_of(path, "rules file", RuleError)
    rules = checked(entries, f"lines of {path}", RuleError, make)
    own = [rule for rule in rules if topics is None or not rule.topic or rule.topic in topics]
    if len(own) < len(rules):
        logger.info(
            "Rules for other topics, which are left out: %d of %d",
            len(rules) - len(own),
            len(rules),
        )
    return PinnedRules(own)


def _rule(words: list[str]) -> PinnedRule:
    """Return the rule of a line; RuleError or ValueError if it is none."""
    pattern, *options = words
    weight, topic = None, ""
    for option in options:
        if option.startswith(_TOPIC) and not topic:
            topic = load_topic(option.removeprefix(_TOPIC)).name
        elif weight is None:
            weight = _weight(option)
        else:
            raise RuleError(f"{option!r} is not understood; a rule is {_FORM}")
    rule = PinnedRule(pattern, 1 if weight is None else weight, topic)
    try:
        compiled(rule.regex)
    except ValueError as error:
        raise RuleError(f"{pattern!r} is no pattern: {error}") from error
    return rule


def _weight(text: str) -> int:
    if text == _NEVER:
        return 0
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_WEIGHT))):
        raise RuleError(f"{text!r} is no weight; a rule is {_FORM}")
    return int(text)


def learnt_rules(patterns: Iterable[PatternRecord], topic: str = "") -> PinnedRules:
    """Return what a crawl has learnt as rules, the best first.

    The weight of a rule is its hits in ten pages.

    Args:
        patterns: the learnt patterns.
        topic: the only one they are for, "" for any.
    """
    best = sorted(patterns, key=lambda record: (-record.rate, -record.hits, record.pattern))
    return PinnedRules(
        PinnedRule(
            glob_of(record.pattern),
            max(1, round(10 * record.rate)),
            topic,
            f"{record.hits:,} hits, {record.misses:,} misses",
        )
        for record in best
    )


def rules_text(patterns: Sequence[PatternRecord], rate: float, topic: str = "") -> str:
    """Return what a crawl has learnt as the text of a rules file.

    Patterns that did no better than the crawl as a whole are remarks.

    Args:
        patterns: the learnt patterns.
        rate: share of media pages among the pages of the crawl.
        topic: the only one they are for, "" for any.
    """
    poor = {glob_of(record.pattern) for record in patterns if record.rate <= rate}
    lines = [_HEAD]
    for rule in learnt_rules(patterns, topic).rules:
        words = [rule.pattern, str(rule.weight), *([_TOPIC + topic] if topic else [])]
        remark = f"# {rule.place}; {REGEX}{rule.regex}"
        lines.append(f"{'# ' * (rule.pattern in poor)}{'  '.join([*words, remark])}\n")
    return "".join(lines)
