"""What a page says of its lines elsewhere: in the headings above them, and in its metadata."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.content.metadata import PageMetadata
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.tags import HEADINGS
from mmcrawl.blocks.tree import PageTree

Floats = NDArray[np.float32]

SECTIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:\d+ )?(?:comments?|leave a (?:reply|comment)|discussion|join the|responses|"
        r"(?:网友|用户|读者|最新|热门)?评论|留言|发表)\b|\bcomments?(?: \(?\d+\)?)?$|"
        r"^\d+ (?:comments|responses|replies)",
        r"^(?:related|recommended|more (?:from|in|on|stories|news|articles|like)|"
        r"you (?:may|might)|also |read (?:more|next)|see also|similar|trending|popular|most |"
        r"latest|up next|what to read|editor|customers (?:also|who)|people also|recently|"
        r"sponsored|around the web|相关|推荐|猜你|热门|更多|延伸|最新)",
        r"review|rating|testimonial|what (?:our )?(?:customers|people) |评价",
        r"\bfaqs?\b|questions|常见问题",
        r"newsletter|subscribe|sign up|stay (?:in|up)|get (?:the|our)|join |follow us|connect|"
        r"contact|订阅|关注",
        r"shipping|delivery|returns?\b|refund|warranty|payment|privacy|cookie|terms|policy|"
        r"disclaimer|legal|about (?:us|the author)|footnotes?|references|sources|notes|免责|版权|"
        r"声明",
    )
)
"""What a heading says of the lines below it: comments, related pages, reviews, questions, …"""

_LONGEST_HEADING = 90
_LONGEST_BARE_HEADING = 50


def section_columns(tree: PageTree, lines: PageLines, linked: NDArray[np.float64]) -> Floats:
    """What the heading above each line says of it."""
    tags = tree.tags
    rows: list[list[float]] = []
    distances: list[int] = []
    said = [0.0] * len(SECTIONS)
    since = 0
    for row, (text, container) in enumerate(zip(lines.texts, lines.containers, strict=True)):
        tag = tags[container]
        heading = int(tag[1]) if tag in HEADINGS else 0
        if heading or len(text) < _LONGEST_BARE_HEADING:
            found = _sections_named(text, heading > 0)
            if heading:
                said, since = found, row
            elif found[0] or (found[1] and linked[row] == 0):
                said = [max(a, b) for a, b in zip(said, found, strict=False)] + said[2:]
                since = row
        rows.append([*said, float(heading)])
        distances.append(row - since)
    named = np.array(rows, dtype=np.float32).reshape(len(rows), len(SECTIONS) + 1)
    return np.hstack([named, np.log1p(distances)[:, None]]).astype(np.float32)


def _sections_named(text: str, heading: bool) -> list[float]:
    """Return which sections a line names, of the first two only if it is no heading."""
    if len(text) >= _LONGEST_HEADING:
        return [0.0] * (len(SECTIONS) if heading else 2)
    # The first two patterns hold at the start of a line, but for the word "comments" at its end.
    comments, others = SECTIONS[:2]
    is_comments = comments.match(text) or ("comment" in text.lower() and comments.search(text))
    found = [float(bool(is_comments)), float(bool(others.match(text)))]
    if heading:
        found += [float(bool(pattern.search(text))) for pattern in SECTIONS[2:]]
    return found


def metadata_columns(lines: PageLines, metadata: PageMetadata) -> Floats:
    """Which lines the page's own metadata repeats."""
    title = metadata.title.casefold()
    headline = metadata.headline.casefold()
    summary = metadata.description[:50]
    rows = []
    for text in lines.texts:
        start = text[:60]
        long = len(text) >= 25 or (len(text) > 9 and not text.isascii())
        folded = text.casefold() if len(text) < 300 else ""
        rows.append(
            (
                float(long and start in metadata.data),
                float(long and start in metadata.description),
                float(len(text) > 3 and bool(folded) and folded in title),
                float(len(folded) > 10 and len(title) > 10 and title in folded),
                float(len(text) > 3 and bool(folded) and folded in headline),
                float(len(summary) > 25 and summary in text),
            )
        )
    return np.array(rows, dtype=np.float32).reshape(len(rows), 6)
