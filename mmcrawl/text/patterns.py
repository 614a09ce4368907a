"""Regular expressions that never read a byte twice, on every Python version that supports them."""

import re
import sys
from typing import AnyStr

_IS_WRONG = sys.version_info < (3, 11, 5)


def linear(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Compile a pattern in which groups are repeated possessively: ``(…)*+``, ``(…)++``, ``(…)?+``.

    Up to Python 3.11.4 such a group matches wrongly if anything in it may be matched in another way
    (cpython issue 106052). There, it is repeated greedily: what is in the group must therefore be
    possessive or atomic itself, and alternatives begin with different characters.
    """
    return re.compile(greedy(pattern) if _IS_WRONG else pattern, flags)


def greedy(pattern: AnyStr) -> AnyStr:
    """Return a pattern without possessively repeated groups; other characters may stay so."""
    if isinstance(pattern, bytes):
        return re.sub(rb"\)([*+?])\+", rb")\1", pattern)
    return re.sub(r"\)([*+?])\+", r")\1", pattern)
