"""`scrapy collect`: collects the media that a crawl found, and reports the outcome."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from itertools import islice
from typing import Any, ClassVar

from rich.console import Group
from rich.text import Text
from scrapy.commands import ScrapyCommand

from mmcrawl.commands.base import (
    LIMIT,
    MmcrawlCommand,
    Option,
    Subcommand,
    checked,
    console_of,
    output,
    output_to,
    store_named,
    write_rows,
)
from mmcrawl.commands.crawl import EXIT_CODES, check_present, quieten
from mmcrawl.commands.terminal.tables import collection_tables
from mmcrawl.crawl.spider_params import CollectParams
from mmcrawl.engine.crawls import Configuration
from mmcrawl.media.index import MediaFile, State
from mmcrawl.media.parts import open_collection

_STATUS, _LIST = "status", "list"


def _states(text: str) -> tuple[State, ...]:
    try:
        return tuple(State(state.strip()) for state in text.split(",") if state.strip())
    except ValueError:
        raise ValueError(f"there is no {text!r}; there are {', '.join(State)}") from None


class Command(MmcrawlCommand, ScrapyCommand):
    """Collect the media of a crawl."""

    default_settings: ClassVar[dict[str, Any]] = {}
    name = "collect"
    working = ""
    subcommands: ClassVar[Sequence[Subcommand]] = (
        Subcommand("", "download what the crawl found and is not downloaded yet", fetches=True),
        Subcommand(_STATUS, "how much is downloaded, and why the rest is not", takes=("store",)),
        Subcommand(
            _LIST,
            "the record of each address",
            options=(
                Option("--state", type=_states, default=(), help=f"only {', '.join(State)}"),
                LIMIT,
                *output("jsonl", "csv"),
            ),
            takes=("store",),
        ),
    )
    details = (
        "Fetches from where it stopped last; the crawl may be running. Exit codes: 0, it ended or"
        " was stopped, and the same command continues; 1, a store failed; 2, an argument or a"
        " setting is wrong."
    )
    arguments = tuple(CollectParams.model_fields)
    model = CollectParams

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        quieten(self.settings)  # type: ignore[arg-type]

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], int | None]:
        what = self.chosen.name
        params = self._params(opts)
        if what == _STATUS:
            return lambda: self._status(params)
        if what == _LIST:
            return lambda: self._list(params, opts)
        check_present(params)
        return lambda: self._collect(params)

    def _params(self, opts: argparse.Namespace) -> CollectParams:
        Configuration.read(self.settings)  # type: ignore[arg-type]
        given = {name: getattr(opts, name) for name in self.arguments if getattr(opts, name)}
        given["store"] = store_named(opts.store)
        return checked(CollectParams, given)

    def _collect(self, params: CollectParams) -> int:
        process: Any = self.crawler_process
        crawler = process.create_crawler(self.name)
        process.crawl(crawler, **params.model_dump(exclude_defaults=True))
        process.start()
        if process.bootstrap_failed:
            return 1
        return EXIT_CODES.get(crawler.stats.get_value("finish_reason"), 0)

    def _status(self, params: CollectParams) -> None:
        with self._opened(params) as collection:
            summary = collection.index.summary()
            heading = Text(f"Media in {collection.name}", "bold")
        console_of().print(Group(heading, *collection_tables(summary)))

    def _list(self, params: CollectParams, opts: argparse.Namespace) -> None:
        names = [field.name for field in fields(MediaFile)]
        with self._opened(params) as collection, output_to(opts.output) as stream:
            rows = map(asdict, islice(collection.index.files(opts.state), opts.limit or None))
            write_rows(rows, opts.format, stream, names)

    def _opened(self, params: CollectParams) -> Any:
        media = self.setting("MMCRAWL_MEDIA")
        return open_collection(params.store_uri, media, create=False)
