"""The arguments of a request, checked, and the problems shown to the reader."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request

from mmcrawl.browse.text import Words, address, words_for
from mmcrawl.crawl.spider_params import as_time
from mmcrawl.errors import EntryError, MmcrawlError, SearchError

_T = TypeVar("_T")

LANGUAGE_COOKIE = "mmcrawl_language"  # keeps the language that a reader chose
_WORDS = "mmcrawl.words"  # in the scope of a request
_LARGEST = 1_000_000
_MOST_FIELDS = 5_000


class Problem(Exception):  # noqa: N818 - it is an answer, not a fault
    """Raised by a handler; the application shows it as a page with the right status.

    Args:
        status: HTTP status: 400, 404, 413, 503, 504, …
        name: of the sentences to show, ``problem.NAME`` and ``problem.NAME.do`` in ``words.toml``.
        values: what these sentences name; may hold anything, it is shown as text.

    Attributes:
        headers: of the answer, beside its own; none by default.
    """

    def __init__(self, status: int, name: str, /, **values: object) -> None:
        super().__init__(name)
        self.status, self.name, self.values = status, name, values
        self.headers: dict[str, str] = {}


NO_MISTAKES: Mapping[str, str] = MappingProxyType({})
"""What is wrong with a form that was not sent yet: nothing, by field."""


def wrong_entry(field: str, error: object = "") -> Problem:
    """Return what is wrong with a field of a form (400).

    Args:
        field: Its name; the sentence ``entry.FIELD`` in ``words.toml`` says what may be there.
        error: What is said where there is no such sentence.
    """
    return Problem(400, "entry", fields=[field], error=error)


class Arguments:
    """A request; a wrong value is a :class:`Problem` (400) that says what it may be."""

    def __init__(self, request: Request, longest_url: int = 8_000, form_key: str = "") -> None:
        self.request = request
        self.longest_url = longest_url
        self.form_key = form_key

    @cached_property
    def values(self) -> Mapping[str, str]:
        """The parameters; of several of a name the last."""
        return self.request.query_params

    @cached_property
    def words(self) -> Words:
        """The interface in the language of the reader: ``?lang=``, the cookie, Accept-Language.

        What is wrong with a form is told in the language of the form.
        """
        said: Words | None = self.request.scope.get(_WORDS)
        return said or words_for(
            self.values.get("lang", ""),
            self.request.cookies.get(LANGUAGE_COOKIE, ""),
            self.request.headers.get("accept-language", ""),
        )

    def said(self, error: MmcrawlError) -> str:
        """Return what is wrong in the reader's language, if that is known."""
        if isinstance(error, SearchError) and error.name:
            return self.words(f"query.{error.name}", **error.values)
        return self.entry(error.field, error) if isinstance(error, EntryError) else str(error)

    def entry(self, field: str, error: object) -> str:
        """Return what may stand in a field of a form, or the error where no sentence says it."""
        entry = f"entry.{field}"
        return self.words(entry) if self.words.knows(entry) else str(error)

    def text(self, name: str, default: str = "", *, longest: int = 1_000) -> str:
        value = self.values.get(name, default).strip()
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

    def list_page(self, entries: int, per_page: int) -> "ListPage":
        """Return which page of a list is asked for."""
        number, last = self.whole("p", 1), max(1, -(-entries // per_page))
        if number > last:
            raise Problem(404, "far", last=last)
        return ListPage(number, last, per_page)

    def choice(self, name: str, choices: Sequence[str], default: str = "") -> str:
        """Return one of some words; the default if nothing is given."""
        text = self.text(name, longest=100)
        if text and text not in choices:
            raise Problem(400, "choice", name=name, value=text, choices=", ".join(choices))
        return text or default

    def time(self, name: str, *, end: bool = False) -> float | None:
        """Return Unix seconds, None if nothing is given; of a day with `end` when it ends.

        A time is written as `mmcrawl.crawl.spider_params.as_time` reads it.
        """
        text = self.text(name, longest=100)
        try:
            return as_time(text, end=end) if text else None
        except ValueError:
            raise Problem(400, "date", name=name, value=text) from None

    def to(self, path: str, **parameters: object) -> str:
        """Return the address of a page of ours, in the language that the reader chose."""
        words = self.words
        return address(path, **parameters, lang=words.language if words.chosen else None)


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page of a list: its number, that of the last, and the entries on each."""

    number: int
    last: int
    per_page: int

    @property
    def start(self) -> int:
        """How many entries stand before it."""
        return self.per_page * (self.number - 1)

    def of(self, entries: Sequence[_T]) -> Sequence[_T]:
        return entries[self.start : self.start + self.per_page]


class Form(Arguments):
    """A form that was posted: its values are asked for as those of an address."""

    def __init__(
        self, request: Request, body: bytes, longest_url: int = 8_000, form_key: str = ""
    ) -> None:
        super().__init__(request, longest_url, form_key)
        try:
            pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:  # no UTF-8, or too many
            raise Problem(400, "form") from None
        self._pairs = pairs
        request.scope[_WORDS] = self.words
        for name, value in pairs:
            if "\0" in value:  # which no database and no program takes
                raise Problem(400, "control", name=name)

    @cached_property
    def values(self) -> Mapping[str, str]:
        return dict(self._pairs)

    def choice(self, name: str, choices: Sequence[str], default: str = "") -> str:
        """Return one of some words; there must be one if there is no default."""
        chosen = super().choice(name, choices, default)
        if not chosen:
            raise Problem(400, "missing", name=name)
        return chosen

    def several(self, name: str) -> list[str]:
        """Return all values of a name, each once."""
        return list(dict.fromkeys(value for each, value in self._pairs if each == name))

    def changed(self, name: str, now: str | None = None, *, longest: int = 1_000) -> str | None:
        """Return a text that the reader changed, None if it is as the form showed it.

        What another editor has changed since is kept so.

        Args:
            name: Of the field; ``was.NAME`` is what it showed.
            now: What is there, which stands in for it in a form that does not say it; None if
                whatever such a form holds is taken for changed.
            longest: As of `text`.
        """
        if name not in self.values:
            return None
        text = self.text(name, longest=longest)
        before = self.values.get(f"was.{name}", now)
        return None if before is not None and text.split() == before.split() else text
