"""An editor's corrections of works: fields that override what was found.

In JSON Lines, an object for each work: ``{"work": ID, "title": "…", "licence": "CC-BY-4.0"}``.
Fields that are not named stay unchanged; ``null`` restores what was found.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mmcrawl.errors import CollectionError, EntryError
from mmcrawl.text.media_kinds import KINDS
from mmcrawl.text.writing import xml_text
from mmcrawl.works.licences import licence_of_url, licences_in_text
from mmcrawl.works.model import AUDIENCES, Evidence, Licence, Work
from mmcrawl.works.values import date_in, language_tag

_LONGEST = 10_000


@dataclass(frozen=True, slots=True)
class Correction:
    """The id of a work, and fields with their values; None gives a field back."""

    work: str
    values: Mapping[str, Any]


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise ValueError(f"give a text of at most {_LONGEST:,} characters")
    return " ".join(xml_text(value).split())


def _title(value: Any) -> str:
    text = _text(value)
    if not text:
        raise ValueError("give a text; null restores what was found")
    return text


def _one_of(*choices: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"give one of {', '.join(filter(None, choices))}")
        return str(value)

    return check


def _date(value: Any) -> str:
    if value != "" and (not isinstance(value, str) or date_in(value) != value):
        raise ValueError("give YYYY-MM-DD, YYYY-MM or YYYY")
    return str(value)


def _languages(value: Any) -> list[str]:
    tags = value if isinstance(value, list) else [value]
    found = [language_tag(tag) if isinstance(tag, str) else "" for tag in tags]
    if not all(found):
        raise ValueError("give languages as zh-CN or en, in a list")
    return found


def _licence(value: Any) -> str:
    if not isinstance(value, str) or (value and _licence_named(value) is None):
        raise ValueError("give a licence as CC-BY-SA-4.0, its address, or all-rights-reserved")
    return value


def _licence_named(text: str) -> Licence | None:
    named = licence_of_url(text) or next(licences_in_text(text.replace("-", " ")), None)
    if named is None:
        return None
    return Licence(named.code, named.url, Evidence("editor", text, "medium"))


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("give true or false")  # noqa: TRY004 - JSON's, said as of other fields
    return value


FIELDS: Mapping[str, Callable[[Any], Any]] = {
    "title": _title,
    **dict.fromkeys(("caption", "creator", "topic", "poster"), _text),
    "kind": _one_of(*KINDS),
    "level": _one_of("", *AUDIENCES),
    "date": _date,
    "languages": _languages,
    "licence": _licence,
    "hidden": _flag,
}
"""Fields that can be corrected, and what checks a value (ValueError) and gives it back."""


def read_corrections(lines: Iterable[str], name: str) -> Iterator[Correction]:
    """Yield the corrections of a file of JSON Lines; empty lines are left out."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _correction(line)
        except (ValueError, RecursionError, CollectionError) as error:
            raise CollectionError(f"{name}, line {number}: {error}") from error


def _correction(line: str) -> Correction:
    data = json.loads(line)
    if not isinstance(data, dict) or not isinstance(data.get("work"), str):
        raise ValueError(  # noqa: TRY004 - of JSON, as all that is wrong in it
            'give an object with the id of a work: {"work": "…", "title": "…"}'
        )
    work = data.pop("work")
    return Correction(work, {name: checked(name, value) for name, value in data.items()})


def checked(name: str, value: Any) -> Any:
    """Return the value of a corrected field as it is kept; None gives the field back."""
    check = FIELDS.get(name)
    if check is None:
        raise EntryError(name, f"there is no field {name!r}; there are {', '.join(FIELDS)}")
    try:
        return None if value is None else check(value)
    except ValueError as error:
        raise EntryError(name, f"{name} {value!r}: {error}") from error


def merged(before: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the corrections of a work, updated by further ones."""
    both = {**before, **values}
    return {name: value for name, value in both.items() if value is not None}


def corrected(work: Work, values: Mapping[str, Any]) -> Work:
    if not values:
        return work
    plain = {name: value for name, value in values.items() if name not in ("licence", "hidden")}
    if "languages" in plain:
        plain["languages"] = tuple(plain["languages"])
    if "title" in plain:
        plain["title_source"] = "editor"
    if "licence" in values:
        named = _licence_named(values["licence"])
        plain["licences"] = () if named is None else (named,)
    return replace(work, **plain, corrected=tuple(sorted(values)))
