"""What a page says of its lines elsewhere: in the headings above them, and in its metadata."""

from __future__ import annotations

import re
from itertools import compress, count

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.content.line_texts import LineTexts
from mmcrawl.blocks.content.metadata import PageMetadata
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.page.html.tags import HEADINGS
from mmcrawl.page.html.tree import PageTree

Floats = NDArray[np.float32]

SECTIONS = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(?:\d+ )?(?:comments?|leave a (?:reply|comment)|discussion|join the|responses|"
        r"(?:网友|用户|读者|最新|热门)?评论|留言|发表|kommentare?r?|commentaires?|coment[aá]rios?|"
        r"commenti|reacties|комментарии|コメント|댓글|التعليقات)\b|\bcomments?(?: \(?\d+\)?)?$|"
        r"^\d+ (?:comments|responses|replies)",
        r"^(?:related|recommended|more (?:from|in|on|stories|news|articles|like)|"
        r"you (?:may|might)|also |read (?:more|next)|see also|similar|trending|popular|most |"
        r"latest|up next|what to read|editor|customers (?:also|who)|people also|recently|"
        r"sponsored|around the web|相关|推荐|猜你|热门|更多|延伸|最新|相關|推薦|熱門|関連|おすすめ|"
        r"オススメ|あわせて|ランキング|新着|人気|관련|많이 본|추천|인기|"
        r"mehr (?:zu|aus|von|über)|weitere |lesen sie|lies auch|auch interessant|das könnte|"
        r"meistgelesen|ähnliche|empfohlen|à lire|lire aussi|sur le même|les plus |voir aussi|"
        r"te puede|más |lo más|relacionad|noticias |leggi anche|potrebbe|leia |veja |mais |"
        r"lees |meer |les (?:også|mer)|läs |læs |flere |fler |mest |siste |senaste |czytaj|"
        r"zobacz|polecane|ilgili|önerilen|en çok|читайте|по теме|похожие|популярн|"
        r"اقرأ|المزيد|مواضيع|الأكثر)",
        r"review|rating|testimonial|what (?:our )?(?:customers|people) |评价",
        r"\bfaqs?\b|questions|常见问题",
        r"newsletter|subscribe|sign up|stay (?:in|up)|get (?:the|our)|join |follow us|connect|"
        r"contact|订阅|关注",
        r"shipping|delivery|returns?\b|refund|warranty|payment|privacy|cookie|terms|policy|"
        r"disclaimer|legal|about (?:us|the author)|footnotes?|references|sources|notes|免责|版权|"
        r"声明",
    )
)
"""What a heading, in lower case, says of the lines below it: comments, related pages, reviews, …"""

_LONGEST_HEADING = 90
_LONGEST_BARE_HEADING = 50
_LEAST_REPEATED, _LEAST_ASCII_REPEATED = 10, 25  # characters
_LONGEST_FOLDED = 300


class Sections:
    """What the heading above each line says about it.

    A heading names all sections again. A short line that names comments, or is no link and names
    related pages, adds to what the heading has said.

    Args:
        tree, lines: The page.
        measured: What the texts of the lines are like.

    Attributes:
        levels: Of each line, 1 to 6 where it is a heading, else 0.
    """

    def __init__(self, tree: PageTree, lines: PageLines, measured: LineTexts) -> None:
        levels = {tag: int(tag[1]) for tag in HEADINGS}
        self.levels = tree.mapped(levels, 0)[np.asarray(lines.containers)]
        short = measured.lengths < _LONGEST_BARE_HEADING
        comments, related = SECTIONS[:2]
        said = [0.0] * len(SECTIONS)
        events, sections = [0], [said]
        known = zip(
            count(), lines.texts, self.levels.data, measured.comments.data, measured.linked.data
        )
        for row, line, level, has_word, linked in compress(known, (short | (self.levels > 0)).data):
            text = line.lower()
            if level > 0:
                said = _sections_named(text)
            else:
                # What names comments further on has the word; all else begins the line.
                names = comments.search if has_word else comments.match
                named = names(text) is not None
                leads_on = linked == 0 and related.match(text) is not None
                if not (named or leads_on):
                    continue
                said = [max(said[0], named), max(said[1], leads_on), *said[2:]]
            events.append(row)
            sections.append(said)
        # Of the line 0, which may be an event as well, the last entry counts.
        self._events = np.array(events)
        self._sections = np.array(sections, dtype=np.float32)

    def columns(self, start: int, end: int) -> Floats:
        """Return the numbers of some lines: one row a line."""
        levels = self.levels[start:end, None]
        rows = np.arange(start, start + len(levels))
        event = np.searchsorted(self._events, rows, side="right") - 1
        distances = np.log1p(rows - self._events[event])
        return np.hstack([self._sections[event], levels, distances[:, None]]).astype(np.float32)


def _sections_named(heading: str) -> list[float]:
    """Return which sections a heading names."""
    if len(heading) >= _LONGEST_HEADING:
        return [0.0] * len(SECTIONS)
    return [float(pattern.search(heading) is not None) for pattern in SECTIONS]


class Repetitions:
    """The lines that the page's own metadata repeats.

    Args:
        lines: Of the page.
        metadata: What it says of itself.
    """

    def __init__(self, lines: PageLines, metadata: PageMetadata) -> None:
        texts = lines.texts
        lengths = np.diff(texts.starts) - 1
        title, headline = metadata.title.casefold(), metadata.headline.casefold()
        summary = metadata.description[:50]
        marks = self._marks = np.zeros((len(lines), 6), dtype=np.bool_)
        # No character's folded form is shorter, or more than three times as long.
        longest = min(max(len(title), len(headline)), _LONGEST_FOLDED - 1)
        for row, text in compress(enumerate(texts), (lengths > 3).data):
            length = len(text)
            least = _LEAST_ASCII_REPEATED if text.isascii() else _LEAST_REPEATED
            start = text[:60]
            folded = text.casefold() if length < _LONGEST_FOLDED else ""
            told = (
                length >= least and start in metadata.data,
                length >= least and start in metadata.description,
                length <= longest and folded in title,
                len(title) > 10 and title in folded,
                length <= longest and folded in headline,
                len(summary) > 25 and summary in text,
            )
            if any(told):
                marks[row] = told

    def columns(self, start: int, end: int) -> Floats:
        """Return the numbers of some lines: one row a line."""
        return self._marks[start:end].astype(np.float32)
