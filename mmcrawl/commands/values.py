"""What options name: archives and crawls, numbers, addresses, files to write; read and checked."""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit

from pydantic import ValidationError

from mmcrawl.crawling.arguments import DEFAULT_STORE, checked_store, explain
from mmcrawl.crawling.params import DEMO_STORE
from mmcrawl.crawling.spider_params import ArchiveParams
from mmcrawl.errors import MmcrawlError
from mmcrawl.settings import SettingsLike, value_of
from mmcrawl.stores.uris import file_of

PLACE = ("store", "archive")
"""Arguments that name an archive: by its crawl, or itself."""


def web_address(text: str) -> str:
    """Return an address that a user wrote."""
    try:
        parts = urlsplit(text)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ValueError(f"{text!r} is no URL; write it as http://host/path")
    return text


def whole(text: str, option: str, least: int = 1, most: int | None = None) -> int:
    """Return the whole number that an option was given."""
    number = int(text[:9]) if text.isascii() and text.isdecimal() else least - 1
    if number < least or (most is not None and number > most):
        to = "" if most is None else f" to {most}"
        raise ValueError(f"{option} {text}: give a whole number from {least}{to}")
    return number


def store_named(named: str) -> str:
    """Return the store that is meant; where none is named, crawl.db here, or else the demo's."""
    own, demo = (os.path.exists(file_of(store)) for store in (DEFAULT_STORE, DEMO_STORE))
    if not named and not own and demo:
        print("There is no crawl.db here: this is what the demo found.", file=sys.stderr)
    store = checked_store(named or (DEMO_STORE if demo and not own else DEFAULT_STORE))
    if store == "memory:":
        raise ValueError("memory: keeps nothing; name the file or the database of a crawl")
    return store


@contextmanager
def output_to(name: str | None) -> Iterator[TextIO]:
    """Open a file that a user named to write text to; standard output for none, and for ``-``."""
    if name in (None, "", "-"):
        yield sys.stdout
        return
    with open(os.path.expanduser(name), "w", encoding="utf-8", newline="") as file:
        yield file


def write_jsonl(rows: Iterable[Any], stream: TextIO) -> None:
    for row in rows:
        print(json.dumps(row, ensure_ascii=False), file=stream)


def archive_params(opts: argparse.Namespace, settings: SettingsLike) -> ArchiveParams:
    """Return which archive is meant; where nothing is named, what MMCRAWL_ARCHIVE says."""
    values = {name: getattr(opts, name) for name in PLACE if getattr(opts, name)}
    if not values:
        values = {"archive": value_of(settings, "MMCRAWL_ARCHIVE") or ""}
    try:
        return ArchiveParams.model_validate(values)
    except ValidationError as error:
        raise MmcrawlError("; ".join(explain(error))) from error


def ruffle_folder(named: str | None) -> Path | None:
    """Return the folder of the web build of Ruffle that a setting names, None for none."""
    if not named:
        return None
    folder = Path(os.path.expanduser(named))
    if not (folder / "ruffle.js").is_file():
        raise ValueError(
            f"MMCRAWL_RUFFLE={named}: there is no ruffle.js; name the folder of its web build"
        )
    return folder
