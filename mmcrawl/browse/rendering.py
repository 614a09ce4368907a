"""Pages of ours, made from templates; whatever is put into them is escaped."""

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from mmcrawl.blocks.kinds import KINDS
from mmcrawl.browse import text as texts
from mmcrawl.browse.arguments import LANGUAGE_COOKIE, Arguments
from mmcrawl.browse.text import LANGUAGES, address, live_address, when
from mmcrawl.frontier.urls import host_of
from mmcrawl.media.parts import has_pictures
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS
from mmcrawl.text.writing import size_of, xml_text
from mmcrawl.works.exporting.article import dublin_core
from mmcrawl.works.exporting.exporter import file_path
from mmcrawl.works.model import AUDIENCES

_FILTERS = (
    *(texts.around, texts.duration, texts.long, texts.marked, texts.moment, texts.topic_words),
    *(texts.readable, texts.short, when, file_path, host_of, xml_text, dublin_core),
)
_LANGUAGE_SECONDS = 365 * 86_400  # that a choice of language is remembered


def page(
    arguments: Arguments,
    name: str,
    /,
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    **values: Any,
) -> HTMLResponse:
    """Return a page."""
    words = arguments.words
    template = templates().get_template(f"{name}.html")
    text = template.render(
        values,
        t=words,
        link=arguments.to,
        lang=words.language if words.chosen else None,
        path=arguments.request.url.path,
        form_key=arguments.form_key,
        other_languages=_other_languages(arguments),
    )
    language = "zh-CN" if words.language == "zh" else words.language
    answer = HTMLResponse(
        text.encode("utf-8", "replace"),  # addresses may hold what no encoding has
        status,
        {"Content-Language": language, "Vary": "Accept-Language, Cookie"} | (headers or {}),
    )
    if words.chosen:
        answer.set_cookie(
            LANGUAGE_COOKIE,
            words.language,
            max_age=_LANGUAGE_SECONDS,
            httponly=True,
            samesite="strict",
            secure=arguments.request.url.scheme == "https",
        )
    return answer


def player_policy(arguments: Arguments, player: str, source: str) -> str:
    """Return the policy of a page with a player: it may fetch the file, and nothing else.

    Args:
        player: ``audio``, ``video`` or ``ruffle``.
        source: Origin of the file, or the path of files here.
    """
    own = str(arguments.request.base_url).rstrip("/")
    source = f"{own}{source}" if source.startswith("/") else source
    plays = f"media-src {source}"
    if player == "ruffle":
        plays = (
            f"script-src {own}/ruffle/ 'wasm-unsafe-eval'; connect-src {own}/ruffle/ {source};"
            f" style-src-elem {own}/static/ 'unsafe-inline'"
        )
    return (
        f"default-src 'none'; style-src {own}/static/; img-src {own}/static/; form-action 'self';"
        f" base-uri 'none'; frame-ancestors 'none'; {plays}"
    )


def _other_languages(arguments: Arguments) -> list[tuple[str, str]]:
    """Return the other languages, each with the address of this page in it.

    What answers a form has no address.
    """
    request = arguments.request
    given: dict[str, object] = {**request.query_params, "token": None}
    return [
        (name, address(request.scope.get("path", "/"), **(given | {"lang": one})))
        for one, name in zip(LANGUAGES, ("English", "中文"), strict=True)
        if one != arguments.words.language and request.method != "POST"
    ]


@lru_cache(maxsize=1)
def templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("mmcrawl.browse"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {read.__name__: read for read in _FILTERS}
    environment.filters |= {
        "size": lambda count: size_of(round(count)),
        "number": lambda value: f"{value:,}",
        "share": lambda value: f"{value:.0%}",
        "day": lambda time: when(time, "%Y-%m-%d"),
        "second": lambda time: when(int(time), "%Y-%m-%dT%H:%M:%SZ"),
        "live": live_address,
    }
    environment.globals |= {"KINDS": KINDS, "MEDIA_KINDS": MEDIA_KINDS, "AUDIENCES": AUDIENCES}
    environment.globals["has_pictures"] = has_pictures
    return environment
