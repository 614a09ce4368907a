"""What names a crawl, its archive or a topic: every command takes it as `-a NAME=VALUE`, as
`scrapy crawl` does, and as `--name VALUE`."""

import argparse
from collections.abc import Sequence

from pydantic import ValidationError

from mmcrawl.crawling.archive_params import ArchiveParams
from mmcrawl.crawling.params import FocusedParams, explain
from mmcrawl.errors import MmcrawlError
from mmcrawl.settings import SettingsLike, value_of
from mmcrawl.stores.uris import is_server

PLACE = ("store", "archive")
"""Arguments that name an archive: by its crawl, or itself."""


def add_arguments(parser: argparse.ArgumentParser, names: Sequence[str]) -> None:
    """Add arguments of the crawl to the options of a command; their help is the crawl's."""
    parser.add_argument(
        "-a",
        dest="arguments",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"as for scrapy crawl: {', '.join(names)}; the same as {_option(names[0])} VALUE, …",
    )
    for name in names:
        told = FocusedParams.model_fields[name].description or ""
        parser.add_argument(_option(name), dest=name, default="", help=told.replace("%", "%%"))


def read_arguments(opts: argparse.Namespace, names: Sequence[str]) -> None:
    """Set what was given with `-a` as if it had been given by the option of its name.

    Raises:
        MmcrawlError: it is no NAME=VALUE, there is no such argument, or it was given twice.
    """
    for pair in opts.arguments:
        name, sign, value = pair.partition("=")
        if not sign:
            raise MmcrawlError(f"-a {name}: give NAME=VALUE, as -a {names[0]}=VALUE")
        if name not in names:
            raise MmcrawlError(f"there is no argument {name!r}; there are {', '.join(names)}")
        if getattr(opts, name) not in ("", value):
            raise MmcrawlError(f"{name} is given twice: {getattr(opts, name)} and {value}")
        setattr(opts, name, value)


def take_archive(args: list[str], opts: argparse.Namespace, *, behind: int) -> None:
    """Take an archive from behind so many words: `rank FILE.db`, `archive list FILE.db`."""
    named = args[behind : behind + 1]
    if named and (
        is_server(named[0]) or named[0].startswith("sqlite:///") or named[0].endswith(".db")
    ):
        opts.arguments.append(f"archive={args.pop(behind)}")


def archive_params(opts: argparse.Namespace, settings: SettingsLike) -> ArchiveParams:
    """Return which archive is meant; where nothing is named, what MMCRAWL_ARCHIVE says.

    Raises:
        MmcrawlError: it is not understood.
    """
    values = {name: getattr(opts, name) for name in PLACE if getattr(opts, name)}
    if not values:
        values = {"archive": value_of(settings, "MMCRAWL_ARCHIVE") or ""}
    try:
        return ArchiveParams.model_validate(values)
    except ValidationError as error:
        raise MmcrawlError("; ".join(explain(error))) from error


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
