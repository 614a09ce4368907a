"""What a request asks for, checked, and what can be wrong with it, as it is told to the reader."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import cached_property

from starlette.requests import Request

from mmcrawl.browse.words import Words, words_for

LANGUAGE_COOKIE = "mmcrawl_language"
"""The cookie that keeps the language that a reader chose."""

_LARGEST = 1_000_000
_COMPACT = {4: "%Y", 6: "%Y%m", 8: "%Y%m%d", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


class Problem(Exception):  # noqa: N818 - it is an answer, not a fault
    """Raised by a handler; the application shows it as a page with the right status.

    Args:
        status: HTTP status: 400, 404, 413, 503, 504, …
        name: of the sentences to show, ``problem.NAME`` and ``problem.NAME.do`` in ``words.toml``.
        values: what these sentences name; may hold anything, it is shown as text.
    """

    def __init__(self, status: int, name: str, /, **values: object) -> None:
        super().__init__(name)
        self.status, self.name, self.values = status, name, values


class Arguments:
    """A request; a wrong value is a :class:`Problem` (400) that says what it may be.

    Args:
        request: As received.
        longest_url: Characters of an archived URL that is asked for.
    """

    def __init__(self, request: Request, longest_url: int = 8_000) -> None:
        self.request = request
        self.longest_url = longest_url

    @cached_property
    def words(self) -> Words:
        """The interface in the language of the reader: ``?lang=``, the cookie, Accept-Language."""
        return words_for(
            self.request.query_params.get("lang", ""),
            self.request.cookies.get(LANGUAGE_COOKIE, ""),
            self.request.headers.get("accept-language", ""),
        )

    def text(self, name: str, default: str = "", *, longest: int = 1_000) -> str:
        """Return a parameter, stripped."""
        value = self.request.query_params.get(name, default).strip()
        if len(value) > longest:
            raise Problem(400, "long", name=name, longest=longest)
        return value

    def url(self, name: str = "url") -> str:
        """Return the archived URL that is asked for; there must be one."""
        value = self.text(name, longest=self.longest_url)
        if not value:
            raise Problem(400, "missing", name=name)
        return value

    def whole(
        self, name: str, default: int | None = None, *, least: int = 1, most: int = _LARGEST
    ) -> int:
        """Return a whole number; there must be one if there is no default."""
        text = self.text(name, longest=100)
        if not text and default is not None:
            return default
        if not (text.isascii() and text.isdecimal() and least <= int(text) <= most):
            raise Problem(400, "number", name=name, value=text, least=least, most=most)
        return int(text)

    def list_page(self, entries: int, per_page: int) -> tuple[int, int]:
        """Return which page of a list is asked for, and the last that there is.

        Args:
            entries: Of the whole list.
            per_page: Entries that a page shows.
        """
        number, last = self.whole("p", 1), max(1, -(-entries // per_page))
        if number > last:
            raise Problem(404, "far", last=last)
        return number, last

    def choice(self, name: str, choices: Sequence[str], default: str = "") -> str:
        """Return one of some words; the default if nothing is given."""
        text = self.text(name, longest=100)
        if text and text not in choices:
            raise Problem(400, "choice", name=name, value=text, choices=", ".join(choices))
        return text or default

    def day(self, name: str) -> date | None:
        """Return a day, None if nothing is given."""
        text = self.text(name, longest=100)
        if not text:
            return None
        try:
            return date.fromisoformat(text)
        except ValueError:
            raise Problem(400, "date", name=name, value=text) from None

    def time(self, name: str) -> float | None:
        """Return Unix seconds, None if nothing is given.

        A time is written as ``2024-05-17``, ``2024-05-17T08:30``, or in digits as
        ``20240517083000``; what names no zone is UTC.
        """
        text = self.text(name, longest=100)
        if not text:
            return None
        try:
            if text.isascii() and text.isdigit() and len(text) in _COMPACT:
                found = datetime.strptime(text, _COMPACT[len(text)])
            else:
                found = datetime.fromisoformat(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            raise Problem(400, "date", name=name, value=text) from None
