"""What readers wrote below a text: the lines among comments that are no controls and no names."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.tags import HEADINGS
from mmcrawl.blocks.tree import PageTree
from mmcrawl.text.scripts import has_han

_CONTROLS = HEADINGS | {"button", "label", "legend", "form", "textarea", "time"}
_LEAST_WORDS = 4  # "Reply", "3 days ago" and most names have fewer
_LEAST_HAN = 6
_MOST_LINKED = 0.5


def comments_of(
    tree: PageTree, measures: Measures, lines: PageLines, among: NDArray[np.bool_]
) -> tuple[str, ...]:
    """Return the paragraphs of comments among some lines, each once.

    Args:
        tree, measures, lines: The page.
        among: Of each line, whether it stands among comments and is not part of the text.
    """
    found: dict[str, None] = {}
    for row in np.flatnonzero(among).tolist():
        text, container = lines.texts[row], lines.containers[row]
        words = len(text) // _LEAST_HAN * _LEAST_WORDS if has_han(text) else text.count(" ") + 1
        if (
            words < _LEAST_WORDS
            or tree.tags[container] in _CONTROLS
            or tree.tags[tree.parents[container]] == "form"
        ):
            continue
        first, after = lines.firsts[row], lines.afters[row]
        if measures.link_chars[after] - measures.link_chars[first] <= _MOST_LINKED * len(text):
            found[text] = None
    return tuple(found)
