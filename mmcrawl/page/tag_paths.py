"""Where a link stands: the innermost open elements, as steps that pages of one site share."""

import re
from functools import lru_cache
from typing import cast

from mmcrawl.page.looks import Attributes

_LONGEST_PATH = 8  # elements; what stands further out is alike on most pages of a site
_LONGEST_STEP = 60  # characters
_MOST_CLASSES = 2  # the others say what a post is filed under
_NUMBER = re.compile(r"\d+")

OpenElement = tuple[str, Attributes] | str
"""An open element, or its step once a path has been made of it."""


def tag_path(opened: list[OpenElement]) -> str:
    """Return the path of the innermost of some open elements; what is read is kept as steps."""
    for index in range(max(len(opened) - _LONGEST_PATH, 0), len(opened)):
        element = opened[index]
        if not isinstance(element, str):
            name, classes = element[1].get("id", ""), element[1].get("class", "")
            opened[index] = step(element[0], name[:_LONGEST_STEP], classes[:200])
    return " ".join(cast("list[str]", opened[-_LONGEST_PATH:]))


@lru_cache(maxsize=4096)
def step(tag: str, name: str, classes: str) -> str:
    """Return an element as a step of a tag path, in at most `_LONGEST_STEP` characters.

    >>> step("h2", "", "post-17 post hentry")
    'h2.post-0.post'
    """
    marks = [f"#{one}" for one in name.split()[:1]]
    marks += [f".{one}" for one in classes.split()[:_MOST_CLASSES]]
    return f"{tag}{_NUMBER.sub('0', ''.join(marks))}"[:_LONGEST_STEP]
