"""What the arguments of all spiders and commands share: stores, webs, kinds, and what is said of
a wrong one."""

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator

from mmcrawl.archive.uris import file_uri
from mmcrawl.errors import WebError, did_you_mean
from mmcrawl.media.sizes import ALL
from mmcrawl.store.uris import is_server
from mmcrawl.text.media_kinds import CHINESE, kind_named
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS

DEFAULT_STORE = "sqlite:///crawl.db"


class SpiderParams(BaseModel):
    """Arguments of a spider that takes no others than these."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known_arguments(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        """Leave out the `_job` that scrapyd gives every spider; refuse what there is not."""
        given = {name: value for name, value in arguments.items() if name != "_job"}
        for name in given.keys() - cls.model_fields:
            known = cls.model_fields
            hint = f"there are {', '.join(known)}{did_you_mean(name, known)}"
            raise ValueError(f"there is no argument {name!r}; {hint}")
        return given


def checked_store(uri: str) -> str:
    """Return the URI of a store in its full form; ValueError for one of no known kind.

    >>> checked_store("crawl.db")
    'sqlite:///crawl.db'
    """
    if uri == ":memory:":
        return "memory:"
    if uri in {"", "memory:"} or is_server(uri):
        return uri
    return file_uri(uri)


def checked_kinds(text: str) -> str:
    """Return media kinds as they are kept, or ``all``; ValueError for an unknown one."""
    return ALL if text.strip() == ALL else ",".join(parse_kinds(text))


def checked_web(text: str) -> str:
    """Return the name of a stored web; ValueError if there is none."""
    if text not in {"", "demo"}:
        from mmcrawl.replay.opening import WHAT_IT_CAN_BE, check_web

        try:
            check_web(text)
        except WebError as error:
            raise ValueError(str(error).removesuffix(f": {WHAT_IT_CAN_BE}.").rstrip(".")) from error
    return text


def readable(read: Callable[[str], object]) -> AfterValidator:
    """Return what checks that a text, if there is one, can be read; the argument stays the text."""

    def check(text: str) -> str:
        if text:
            read(text)
        return text

    return AfterValidator(check)


StoreName = Annotated[str, AfterValidator(checked_store)]
WebName = Annotated[str, AfterValidator(checked_web)]


def parse_kinds(text: str) -> list[str]:
    """Return the media kinds that `text` names, in English or Chinese; ValueError for an unknown.

    Args:
        text: Names, parted by commas (also ， and 、).

    >>> parse_kinds("swf, video"), parse_kinds("视频、仿真")
    (['video', 'animation'], ['video', 'simulation'])
    """
    kinds = {kind_named(name) for name in re.split("[,，、]", text)}
    return [kind for kind in MEDIA_KINDS if kind in kinds]


def explain(error: ValidationError) -> list[str]:
    """Return a sentence for each wrong argument: its name, what was wrong, what it may be."""
    return [_sentence(dict(details)) for details in error.errors()]


def _kinds_in_words() -> str:
    return ", ".join(f"{kind} ({CHINESE[kind]})" for kind in MEDIA_KINDS)


_WHOLE = "it may be a whole number from 0"
_MAY_BE: dict[str, Callable[[], str]] = {
    "discover": lambda: "it may be sitemap, feeds, oembed, cdx, parted by commas, or none",
    "expand": lambda: "it may be all, on-topic, or score:S with S from 0 to 1",
    "links": lambda: "it may be all or related",
    "media": lambda: f"it may be any of {_kinds_in_words()}, parted by commas",
    "store": lambda: "it may be sqlite:///FILE, memory: or mongodb://HOST/DATABASE",
    "archive": lambda: "it may be sqlite:///FILE, mongodb://HOST/DATABASE or none",
    "download": lambda: f"it may be any of {_kinds_in_words()}, parted by commas, or all",
    "kinds": lambda: f"it may be any of {_kinds_in_words()}, parted by commas, or all",
    "again": lambda: "it may be failed or held",
    "render": lambda: "it may be playwright or playwright-all",
    "seeds": lambda: "they may be a seed file, a URL, or URLs parted by commas",
    "sites": lambda: "it may be hosts, domains or anywhere",
    "job": lambda: "it may hold letters, digits, dots, dashes and underscores",
    "web": lambda: (
        "it may be demo, a folder with one folder per host, or a .warc or .warc.gz file,"
        " sim:NAME=VALUE,… or portal:WEB;WEB;…"
    ),
    "workers": lambda: "it may be auto, or a whole number from 1 to 64",
    **dict.fromkeys(
        ("limit", "max_pages", "max_layer", "max_depth", "max_rendered"), lambda: _WHOLE
    ),
}


def _sentence(details: dict[str, Any]) -> str:
    cause = details.get("ctx", {}).get("error")
    name = str(details["loc"][0]) if details["loc"] else ""
    if cause is not None and not name:
        return str(cause)
    message = str(cause) if cause is not None else f"{details['input']!r} is not allowed"
    hint = _MAY_BE.get(name)
    return f"{name}: {message}" + (f"; {hint()}" if hint else "")
