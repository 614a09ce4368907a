"""``/oai``: the works as records that libraries harvest (OAI-PMH 2.0, Dublin Core).

Written out here, since the packages there are do not tell harvesters what is deleted, and take the
last day of a range for its first second.
"""

import base64
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mmcrawl.browse.context import Context
from mmcrawl.browse.rendering import templates
from mmcrawl.crawl.spider_params import as_time
from mmcrawl.text.writing import xml_text
from mmcrawl.works.index import Asked, Entry, WorkIndex
from mmcrawl.works.model import Work

PER_PAGE = 100
"""Records of an answer; a token leads to the next ones."""

_PREFIX = "oai_dc"
ID = "urn:mmcrawl:work:"
_SPEC = re.compile(r"[A-Za-z0-9_.!~*'()-]{1,60}")
_DAY = 86_400  # seconds
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?")
_VERBS = {
    "Identify": ("", ""),
    "ListMetadataFormats": ("", "identifier"),
    "ListSets": ("", "resumptionToken"),
    "GetRecord": ("identifier metadataPrefix", ""),
    "ListIdentifiers": ("metadataPrefix", "from until set resumptionToken"),
    "ListRecords": ("metadataPrefix", "from until set resumptionToken"),
}
"""Verbs with the arguments they need and those they may have (section 4 of the protocol)."""

_EVERY = Asked(hidden=True)

_Record = tuple[Entry, list[str], Work | None]


class _Refusal(Exception):  # noqa: N818 - an answer of the protocol
    """An error of the protocol: its code, and what is wrong."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def oai_routes(context: Context) -> list[Route]:
    """Return the route of the provider; harvesters may send arguments by GET or POST."""

    async def endpoint(request: Request) -> Response:
        body = (await request.body()).decode("utf-8", "replace")
        text = body if request.method == "POST" else request.url.query
        arguments = parse_qsl(text, keep_blank_values=True, errors="replace")
        return await context.pool.run(lambda: _answer(context, request, arguments))

    return [Route("/oai", endpoint, methods=["GET", "POST"], name="oai")]


def _answer(context: Context, request: Request, pairs: list[tuple[str, str]]) -> Response:
    base = str(request.url.replace(query=""))
    catalogue = context.catalogue
    given = dict(pairs)
    said: dict[str, Any] = {"sets": (), "records": (), "is_part": False}
    error = None
    try:
        verb = _checked(given, len(pairs))
        if catalogue.is_there:
            with catalogue.open() as records:
                said |= _Provider(*catalogue.index(), records.works_of).answer(verb, given)
        else:
            said |= _Provider(0, WorkIndex(None), lambda _: []).answer(verb, given)
    except _Refusal as refusal:
        error = refusal
        if refusal.code in ("badVerb", "badArgument"):
            given = {}
    said |= {"base": base, "given": given, "error": error, "now": time.time()}
    text = templates().get_template("oai.xml").render(said)
    return Response(text.encode("utf-8", "replace"), media_type="text/xml; charset=utf-8")


def _checked(given: Mapping[str, str], number: int) -> str:
    verb = given.get("verb", "")
    if verb not in _VERBS:
        raise _Refusal("badVerb", f"verb may be {', '.join(_VERBS)}")
    if len(given) < number:
        raise _Refusal("badArgument", "an argument is given twice")
    needed, allowed = ({*names.split()} for names in _VERBS[verb])
    names = given.keys() - {"verb"}
    if unknown := names - needed - allowed:
        raise _Refusal("badArgument", f"{verb} takes no argument {xml_text(min(unknown))!r}")
    if "resumptionToken" in names:
        if len(names) > 1:
            raise _Refusal("badArgument", "resumptionToken stands alone")
    elif missing := needed - names:
        raise _Refusal("badArgument", f"{verb} needs {min(missing)}")
    if given.get("metadataPrefix", _PREFIX) != _PREFIX:
        raise _Refusal("cannotDisseminateFormat", f"records are had as {_PREFIX}")
    return verb


@dataclass(frozen=True, slots=True)
class _Provider:
    """Answers the verbs.

    Attributes:
        revision: Of the works: a token of another one is not taken.
        works: Returns whole works by their ids.
    """

    revision: int
    index: WorkIndex
    works: Callable[[Sequence[str]], Iterable[Work]]

    def answer(self, verb: str, given: Mapping[str, str]) -> dict[str, Any]:
        """Return what the template says of a request. Raises _Refusal."""
        match verb:
            case "Identify":
                first = self.index.entries(_EVERY, 1, order="changed_at")
                return {"earliest": first[0].changed_at if first else 0.0}
            case "ListMetadataFormats":
                if "identifier" in given:
                    self._entry(given["identifier"])
                return {}
            case "ListSets":
                if "resumptionToken" in given:
                    raise _Refusal("badResumptionToken", "the list of sets is one")
                found = sorted((spec, value) for spec, (_, value) in self._sets().items())
                if not found:
                    raise _Refusal("noSetHierarchy", "there are no sets yet")
                return {"sets": found}
            case "GetRecord":
                entry = self._entry(given["identifier"])
                return {"records": self._records([entry])}
            case _:
                return self._list(verb, given)

    def _sets(self) -> dict[str, tuple[str, str]]:
        """Return the sets by their names: the facet and its value."""
        _, counts = self.index.counts(_EVERY)
        return {_spec(f, v): (f, v) for f in ("kind", "topic") for v in counts[f] if v}

    def _list(self, verb: str, given: Mapping[str, str]) -> dict[str, Any]:
        start = 0
        if "resumptionToken" in given:
            start, given = self._resumed(given["resumptionToken"])
        wanted, spec = _range(given), given.get("set", "")
        sets = self._sets() if spec else {}
        if spec in sets:
            wanted = replace(wanted, facets=(sets[spec],))
        size = self.index.size(wanted) if bool(spec) == (spec in sets) else 0
        page = self.index.entries(wanted, PER_PAGE, start, "changed_at") if size > start else []
        if not page:
            raise _Refusal("noRecordsMatch", "no record is as asked for")
        end = start + len(page)
        return {
            "records": self._records(page, whole=verb == "ListRecords"),
            "size": size,
            "start": start,
            "token": self._token(end, given) if end < size else "",
            "is_part": size > PER_PAGE,
        }

    def _token(self, start: int, given: Mapping[str, str]) -> str:
        names = ("metadataPrefix", "from", "until", "set")
        kept = {name: given[name] for name in names if name in given}
        said = json.dumps([self.revision, start, kept], separators=(",", ":"))
        return base64.urlsafe_b64encode(said.encode()).decode()

    def _resumed(self, token: str) -> tuple[int, dict[str, str]]:
        try:
            revision, start, kept = json.loads(base64.urlsafe_b64decode(token.encode()))
            number, given = int(start), {str(name): str(value) for name, value in kept.items()}
        except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
            raise _Refusal("badResumptionToken", "this is no token of ours") from None
        if revision != self.revision or number < 0:
            raise _Refusal("badResumptionToken", "the works have changed since; begin again")
        return number, given

    def _records(self, entries: Sequence[Entry], *, whole: bool = True) -> list[_Record]:
        shown = [entry.id for entry in entries if whole and not entry.is_hidden]
        works = {work.id: work for work in (self.works(shown) if shown else ())}
        return [(entry, _sets(entry), works.get(entry.id)) for entry in entries]

    def _entry(self, identifier: str) -> Entry:
        if identifier.startswith(ID):
            for entry in self.index.named([identifier.removeprefix(ID)]):
                return entry
        raise _Refusal("idDoesNotExist", "there is no record of this identifier")


def _range(given: Mapping[str, str]) -> Asked:
    first, last = given.get("from"), given.get("until")
    if first is not None and last is not None and len(first) != len(last):
        raise _Refusal("badArgument", "from and until have to be equally exact")
    since = None if first is None else _time(first)
    until = None if last is None else _time(last) + (1 if "T" in last else _DAY)
    if since is not None and until is not None and since >= until:
        raise _Refusal("badArgument", "from is later than until")
    return replace(_EVERY, since=since, until=until)


def _time(text: str) -> int:
    with suppress(ValueError):
        if _TIME.fullmatch(text):
            return int(as_time(text))
    raise _Refusal("badArgument", "give times as 2026-01-31 or 2026-01-31T08:30:00Z")


def _sets(entry: Entry) -> list[str]:
    fields = (("kind", entry.kind), ("topic", entry.topic))
    return [_spec(name, value) for name, value in fields if value]


def _spec(name: str, value: str) -> str:
    """Return the name of a set, in the few characters that are allowed."""
    if not _SPEC.fullmatch(value):
        value = blake2b(value.encode(errors="replace"), digest_size=8).hexdigest()
    return f"{name}:{value}"
