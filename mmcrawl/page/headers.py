"""Values of headers, cut to a bounded length before anything reads them: folded lines evade every
limit on lines.

Readers of a header use `header_text`; whoever creates a response uses `bound_headers`, so that
other readers (Scrapy looks for a charset) get short values too.
"""

from typing import Any, Protocol

NO_CODINGS = frozenset({"", "identity", "none", "binary", "7bit", "8bit", "utf-8", "utf8"})
"""Content codings that are none, also those that servers only think there are."""

LONGEST = 1_024  # characters of a value that is read as text; of types 30 are usual
_LONGEST_KEPT = 16_384  # bytes of any other value: addresses, policies, cookies


class _Headers(Protocol):
    def get(self, name: str) -> bytes | None: ...


def bounded(value: str, most: int = LONGEST) -> str:
    """Return the begin of a header's value, each run of white space as one space.

    >>> bounded("text/html;" + 9_000 * " " + "charset=x"), bounded(" a  b ")
    ('text/html;', 'a b')
    """
    return " ".join(value[:most].split())


def header_text(headers: _Headers | Any, name: str) -> str:
    """Return the bounded text of a header as Scrapy keeps it, "" if there is none."""
    return bounded((headers.get(name) or b"")[:LONGEST].decode("latin-1"))


def bound_headers(headers: Any) -> None:
    """Cut the values of Scrapy's headers that are longer than any that mean something."""
    for name, values in list(headers.items()):
        most = LONGEST if name.lower().startswith((b"content-t", b"content-d")) else _LONGEST_KEPT
        if any(len(value) > most for value in values):
            headers.setlist(name, [value[:most] for value in values])
