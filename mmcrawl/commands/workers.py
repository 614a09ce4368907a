"""`scrapy workers`: the shared crawls of a store, and who works on them."""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any, ClassVar

from rich.console import Console, Group, RenderableType
from rich.live import Live
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from mmcrawl.commands.arguments import add_arguments, read_arguments
from mmcrawl.crawling.params import checked_store
from mmcrawl.errors import MmcrawlError, StoreError
from mmcrawl.sharing.observing import Observation, Observer
from mmcrawl.stores.uris import is_server
from mmcrawl.terminal.crawl import literal, sentence
from mmcrawl.terminal.program import complain
from mmcrawl.terminal.workers import crawl_as_plain, crawl_tables, jobs_as_plain, jobs_table

_ARGUMENTS = ("store", "job")
_AGAIN = 2.0  # seconds until what is watched is drawn anew
_LOOK_AGAIN, _LONGEST_LOOK = 0.25, 5.0
"""Seconds between two looks where one is not enough, and after which no more is found out."""


class Command(ScrapyCommand):
    """Show the workers of a crawl."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        """Return how the command is used."""
        return "-a store=mongodb://HOST/DATABASE [-a job=NAME] [--watch|--json]"

    def short_desc(self) -> str:
        """Return what the command does."""
        return "Who works on a crawl that several processes share, and how it goes"

    def long_desc(self) -> str:
        """Return what is shown, and why that takes seconds."""
        return (
            "Without a job, the jobs of the store; the workers at once if there is only one. It"
            " looks for a few seconds, to see who is alive and how fast pages come."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        super().add_options(parser)
        add = parser.add_argument
        add_arguments(parser, _ARGUMENTS)
        add("--watch", action="store_true", help="draw it anew every 2 seconds, until Ctrl-C")
        add("--json", action="store_true", help="for programs: one JSON object")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Look and show."""
        if args:
            raise UsageError(f"{args[0]!r} is not understood; all is said with options")
        if opts.watch and opts.json:
            raise UsageError("give either --watch or --json")
        try:
            uri, job = _asked(opts)
        except (MmcrawlError, ValueError) as error:
            self._say(error, 2)
            return
        known = sys.stdout.isatty() or "COLUMNS" in os.environ
        console = Console(width=None if known else 110, highlight=False)
        try:
            with Observer(uri) as observer:
                sight = _Sight(observer, job)
                if opts.watch:
                    self._watch(sight, console)
                    return
                sight.look_until_known()
                if opts.json:
                    print(json.dumps(sight.plain(), ensure_ascii=False))
                else:
                    console.print(sight.drawn())
            sys.stdout.flush()
        except MmcrawlError as error:
            self._say(error, 1)
        except BrokenPipeError:  # the reader has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.exitcode = 1
        except KeyboardInterrupt:
            self.exitcode = 0 if opts.watch else 130

    def _watch(self, sight: "_Sight", console: Console) -> None:
        """Draw again and again; a server that goes away later is waited for."""
        sight.look()
        with Live(sight.drawn(), console=console, auto_refresh=False) as live:
            while True:
                live.update(sight.drawn(), refresh=True)
                time.sleep(_AGAIN)
                try:
                    sight.look()
                    sight.problem = ""
                except StoreError as error:
                    sight.problem = str(error)

    def _say(self, problem: object, code: int) -> None:
        complain("workers", problem)
        self.exitcode = code


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
        """Look once more."""
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


def _asked(opts: argparse.Namespace) -> tuple[str, str]:
    """Return the store and the name of the job, "" if none was named."""
    read_arguments(opts, _ARGUMENTS)
    if not opts.store:
        raise ValueError("say which store, as -a store=mongodb://HOST/DATABASE")
    store = checked_store(opts.store)
    if not is_server(store):
        raise ValueError(
            "only a crawl in MongoDB is shared; this one has one worker: its panel and its table"
            " say how it goes"
        )
    return store, opts.job
