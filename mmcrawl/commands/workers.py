"""`scrapy workers`: the shared crawls of a store, and who works on them."""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from mmcrawl.commands.base import MmcrawlCommand, console_of
from mmcrawl.crawling.arguments import checked_store
from mmcrawl.errors import StoreError
from mmcrawl.sharing.views.observing import Observation, Observer
from mmcrawl.stores.uris import is_server
from mmcrawl.terminal.crawl import literal, sentence
from mmcrawl.terminal.workers import crawl_as_plain, crawl_tables, jobs_as_plain, jobs_table

_AGAIN = 2.0  # seconds until what is watched is drawn anew
_LOOK_AGAIN, _LONGEST_LOOK = 0.25, 5.0
"""Seconds between two looks where one is not enough, and after which no more is found out."""


class Command(MmcrawlCommand, ScrapyCommand):
    """Show the workers of a crawl."""

    name = "workers"
    working = ""
    usage = "-a store=mongodb://HOST/DATABASE [-a job=NAME] [--watch|--json]"
    summary = "Who works on a crawl that several processes share, and how it goes"
    details = (
        "Without a job, the jobs of the store; the workers at once if there is only one. It"
        " looks for a few seconds, to see who is alive and how fast pages come."
    )
    arguments = ("store", "job")

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--watch", action="store_true", help="draw it anew every 2 seconds, until Ctrl-C")
        add("--json", action="store_true", help="for programs: one JSON object")

    def prepared(self, args: list[str], opts: argparse.Namespace) -> Callable[[], None]:
        if opts.watch and opts.json:
            raise UsageError("give either --watch or --json")
        store = _store(opts)
        return lambda: self._show(store, opts)

    def _show(self, store: str, opts: argparse.Namespace) -> None:
        with Observer(store) as observer:
            sight = _Sight(observer, opts.job)
            if opts.watch:
                with suppress(KeyboardInterrupt):
                    self._watch(sight, console_of())
                return
            sight.look_until_known()
            if opts.json:
                print(json.dumps(sight.plain(), ensure_ascii=False))
            else:
                console_of().print(sight.drawn())

    def _watch(self, sight: "_Sight", console: Console) -> None:
        """Draw again and again; a server that goes away later is waited for."""
        sight.look()
        live = Live(sight.drawn(), console=console, auto_refresh=False)
        with live if console.is_terminal else nullcontext():
            while True:
                if console.is_terminal:
                    live.update(sight.drawn(), refresh=True)
                else:  # one picture after the other: a file cannot be drawn over
                    console.print(sight.drawn())
                time.sleep(_AGAIN)
                try:
                    sight.look()
                    sight.problem = ""
                except StoreError as error:
                    sight.problem = str(error)


class _Sight:
    """What is looked at: one job, or all of the store.

    Attributes:
        problem: why the last look failed, "" if it did not.
    """

    def __init__(self, observer: Observer, job: str) -> None:
        self.problem = ""
        self._observer = observer
        self._job = job
        self._seen: dict[str, Observation] = {}
        self._names: Sequence[str] = ()

    def look(self) -> None:
        self._names = [self._job] if self._job else self._observer.jobs()
        for name in self._names:
            observation = self._seen.setdefault(name, Observation(name))
            self._observer.look(observation, time.monotonic())

    def look_until_known(self) -> None:
        """Look until all is found out that a few seconds tell."""
        end = time.monotonic() + _LONGEST_LOOK
        self.look()
        while time.monotonic() < end and not all(self._seen[n].is_settled for n in self._names):
            time.sleep(_LOOK_AGAIN)
            self.look()

    def drawn(self) -> RenderableType:
        """Return it for a person."""
        views = [self._seen[name].view for name in self._names]
        store = self._observer.name
        if not views:
            return literal(f"There is no job in {store}.")
        if len(views) == 1:
            shown = crawl_tables(store, views[0])
        else:
            shown = jobs_table(store, [view.job for view in views])
        return Group(shown, literal(sentence(self.problem))) if self.problem else shown

    def plain(self) -> dict[str, Any]:
        """Return it for programs."""
        views = [self._seen[name].view for name in self._names]
        if len(views) == 1:
            return crawl_as_plain(self._observer.name, views[0])
        return jobs_as_plain(self._observer.name, [view.job for view in views])


def _store(opts: argparse.Namespace) -> str:
    if not opts.store:
        raise ValueError("say which store, as -a store=mongodb://HOST/DATABASE")
    store = checked_store(opts.store)
    if not is_server(store):
        raise ValueError(
            "only a crawl in MongoDB is shared; this one has one worker: its panel and its table"
            " say how it goes"
        )
    return store
