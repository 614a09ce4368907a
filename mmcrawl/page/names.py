"""Sets of names, written as a line of text."""

from __future__ import annotations


def names(line: str) -> frozenset[str]:
    """Return the names in a line as a set.

    >>> sorted(names("td tr"))
    ['td', 'tr']
    """
    return frozenset(line.split())
