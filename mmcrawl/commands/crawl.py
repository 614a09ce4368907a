"""`scrapy crawl`: Scrapy's own, with arguments that are checked before anything starts."""

import argparse
import logging
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from shlex import quote
from typing import Any, get_type_hints

from pydantic import BaseModel, ValidationError
from scrapy import Spider
from scrapy.addons import AddonManager
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.url import add_http_if_no_scheme
from scrapy_spider_metadata import Args

from mmcrawl.archive.opening import open_archive
from mmcrawl.cluster.places import WORKER
from mmcrawl.commands.help import argument_help
from mmcrawl.commands.terminal.telling import complain
from mmcrawl.crawl.params import FocusedParams
from mmcrawl.crawl.spider_params import ArchiveParams, CollectParams, RevisitParams, explain
from mmcrawl.engine.browser import browser_program
from mmcrawl.engine.components import check_scheduler
from mmcrawl.engine.crawls import Configuration, begin_shared, with_stored_web
from mmcrawl.engine.scheduler import ENDED
from mmcrawl.errors import MissingStoreError, MmcrawlError, StoreError, did_you_mean
from mmcrawl.frontier.store import open_store
from mmcrawl.frontier.urls import host_of, is_private_host
from mmcrawl.replay.handler import replay_settings
from mmcrawl.settings import check_names, value_of
from mmcrawl.store.uris import file_of, shown
from mmcrawl.text.writing import as_called, program

_NOISY = ("scrapy.utils.log", "scrapy.middleware", "scrapy.crawler", "scrapy.addons")
_ROBOTS = "scrapy.downloadermiddlewares.robotstxt"
FOCUSED = "focused"
"""The spider of `mmcrawl crawl`, if none is named."""

EXIT_CODES = {
    **dict.fromkeys(("nothing_fetched", "nothing_found", "start_error", "store_error"), 1),
    "bad_input": 2,
}
"""By the reason for which a crawl ended; 0 for all others."""


_THIS_IS_THE_DEMO = (
    "This is the demo: no seeds were given, so a small web that ships with mmcrawl is crawled,"
    " offline."
)


class Command(ScrapyCrawl):
    """Run a spider; a wrong argument is one sentence and exit code 2."""

    _own_crawler: Crawler | None = None
    _own_args: BaseModel | None = None

    def long_desc(self) -> str:
        """Return the meaning of the exit codes."""
        return (
            "Exit codes: 0, the crawl ended, reached max_pages, had been finished before, or was"
            " stopped (Ctrl-C) and the same command continues; 1, no page could be fetched, no seed"
            " gave a page or a medium, or a store or archive failed; 2, an argument, a setting, the"
            " seeds, the stored web or a feed is wrong."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options; help comes when it is known which spider is meant."""
        super().add_options(parser)
        parser.add_argument(
            "-h",
            "--help",
            action="store_true",
            help="show this help; after a spider, its arguments",
        )
        self._help = parser

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the arguments of one of our spiders; end the process if one is wrong."""
        super().process_options(args, opts)
        if program() == "mmcrawl" and (not args or args[0].startswith("-")):
            args.insert(0, FOCUSED)
        if opts.help:
            print(self._help.format_help())
            if args and self.settings is not None:
                model = _own_model("crawl", args[0], self.settings)
                print(as_called(argument_help(model)) if model else "")
            raise SystemExit(0)
        if unknown := next((word for word in args if word.startswith("-")), ""):
            name = unknown.strip("-").partition("=")[0].replace("-", "_")
            models = (FocusedParams, RevisitParams, CollectParams)
            known = any(name in model.model_fields for model in models)
            hint = f"an argument of a spider is given as -a {name}=…" if known else "see --help"
            complain("crawl", f"there is no option {unknown.partition('=')[0]}; {hint}")
            raise SystemExit(2)
        if len(args) != 1 or self.settings is None:
            return
        number, _, token = os.environ.get(WORKER, "").partition("/")
        if token:  # of who started it, and shows how all of them go on
            _become_worker(int(number), opts.spargs, self.settings)
        self._own_args = arguments_or_exit("crawl", args[0], opts.spargs, self.settings)
        if self._own_args is not None:
            quieten(self.settings)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Crawl; tell by the exit code whether the crawl could be done."""
        given = self._own_args
        demo = given if isinstance(given, FocusedParams) and given.is_demo else None
        if self.settings is None or not value_of(self.settings, "MMCRAWL_DISPLAY"):
            demo = None
        if demo is not None:
            print(_THIS_IS_THE_DEMO, file=sys.stderr, flush=True)
        if isinstance(given, FocusedParams) and given.workers and WORKER not in os.environ:
            try:
                self._run_workers(args[0], given)
            except MmcrawlError as error:
                complain("crawl", error)
                self.exitcode = 1 if isinstance(error, StoreError) else 2
                return
        super().run(args, opts)
        if self._own_crawler is not None and self._own_crawler.stats is not None:
            reason = self._own_crawler.stats.get_value("finish_reason")
            code = EXIT_CODES.get(reason, 0) if given is not None else 0
            self.exitcode = self.exitcode or code
        if demo is not None and not self.exitcode:
            print(*_after_the_demo(demo), sep="\n", file=sys.stderr)

    def _run_workers(self, name: str, args: FocusedParams) -> None:
        """Run the workers; the crawl that is run afterwards only shows the result."""
        from mmcrawl.commands.crawl_workers import Workers, number_of_workers, this_command
        from mmcrawl.replay.opening import open_web

        if self.settings is None:
            return
        settings = self.settings.copy()
        _spider_named(name, settings).update_settings(settings)
        web = args.web or ("demo" if args.is_demo else "")
        if web:
            settings.setdict(replay_settings(web), priority="spider")
        with closing(begin_shared(args, settings, open_web(web) if web else None)) as shared:
            if shared.job.finished_at is None:
                shown = value_of(settings, "MMCRAWL_DISPLAY")
                count = number_of_workers(args.workers)
                workers = Workers(shared, args.store_uri, count, this_command(), shown=shown)
                self.settings.set(ENDED, workers.run(), priority="cmdline")

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        self._own_crawler = super()._create_crawler(spidercls)
        return self._own_crawler


def _become_worker(number: int, arguments: dict[str, str], settings: BaseSettings) -> None:
    """Leave to the parent or the first worker what only one process may do."""
    form = f"worker {number} {settings['LOG_FORMAT']}"
    own: dict[str, Any] = {"FEEDS": {}, "MMCRAWL_DISPLAY": False, "LOG_FORMAT": form}
    if number:
        arguments.pop("download", None)
        own["MMCRAWL_METRICS"] = None
    settings.setdict(own, priority="cmdline")


def quieten(settings: BaseSettings) -> None:
    """Hide Scrapy's messages about itself, unless the log level is DEBUG."""
    if settings["LOG_LEVEL"] != "DEBUG":
        for name in _NOISY:
            logging.getLogger(name).addFilter(_is_warning)
        logging.getLogger(_ROBOTS).addFilter(_without_traceback)


def arguments_or_exit(
    command: str, name: str, arguments: Mapping[str, str], settings: BaseSettings
) -> BaseModel | None:
    """Return the checked arguments of one of our spiders, else None; exit with 2 if wrong."""
    try:
        spider = _spider_named(name, settings)
        model = _model_of(spider)
        if model is None:
            return None
        if issubclass(model, FocusedParams):
            own = settings.copy()
            spider.update_settings(own)
            check_scheduler(own)
        Configuration.read(settings)
        args = model(**with_stored_web(arguments, settings))
        if isinstance(args, FocusedParams) and args.render:
            browser_program(settings)
        check_present(args)
    except ValidationError as error:
        problems = explain(error)
    except MmcrawlError as error:
        problems = str(error).splitlines()
    else:
        return args
    for problem in problems:
        complain(command, problem)
    raise SystemExit(2)


def check_present(args: BaseModel) -> None:
    """Raise MmcrawlError if what a spider works on is missing; it reports faults itself."""
    try:
        if isinstance(args, ArchiveParams):
            open_archive(args.archive_uri or "", create=False, read_only=True).close()
        elif isinstance(args, CollectParams) and file_of(args.store_uri):
            open_store(args.store_uri, read_only=True).close()
    except MissingStoreError as error:
        raise MmcrawlError(str(error)) from error
    except StoreError:
        return


def leave_crawl_out(
    command: str, name: str | None, urls: Iterable[str], settings: BaseSettings
) -> None:
    """Let a command fetch with one of our spiders, without frontier and archive, `urls` too."""
    if name is None or _own_model(command, name, settings) is None:
        return
    try:
        check_names(settings)
    except MmcrawlError as error:
        complain(command, error)
        raise SystemExit(2) from None
    own = {"SCHEDULER": "mmcrawl.engine.components.PlainScheduler", "MMCRAWL_ARCHIVE": "none"}
    settings.setdict(own, priority="cmdline")
    if any(is_private_host(host_of(add_http_if_no_scheme(url))) for url in urls):
        settings.set("MMCRAWL_PRIVATE_NETWORKS", True, priority="cmdline")


def _own_model(command: str, name: str, settings: BaseSettings) -> type[BaseModel] | None:
    """Return the class that checks a spider's arguments; None if it is not ours; 2 if unknown."""
    try:
        return _model_of(_spider_named(name, settings))
    except MmcrawlError as error:
        complain(command, error)
        raise SystemExit(2) from None


def _spider_named(name: str, settings: BaseSettings) -> type[Spider]:
    """Return a spider of the project, or one that an addon brings."""
    settings = settings.copy()  # what addons change they change again when the crawl begins
    AddonManager.load_pre_crawler_settings(settings)
    loader = get_spider_loader(settings)
    if name not in loader.list():
        known = sorted(loader.list())
        hint = f"there are {', '.join(known)}{did_you_mean(name, known)}"
        raise MmcrawlError(f"there is no spider {name!r}; {hint}")
    return loader.load(name)


def _model_of(spider: type[Spider]) -> type[BaseModel] | None:
    """Return the class that checks a spider's arguments; None if it is not ours."""
    model = get_type_hints(spider).get("args") if issubclass(spider, Args) else None
    ours = isinstance(model, type) and issubclass(
        model, FocusedParams | ArchiveParams | CollectParams
    )
    return model if ours else None


def _after_the_demo(args: FocusedParams) -> list[str]:
    """Return the next steps for the user, the command for a site of their own last."""
    ours = os.path.relpath(Path(sys.executable).with_name(program()))
    outside = shutil.which(program()) or ours.startswith(os.pardir) or not os.path.exists(ours)
    called = program() if outside else ours  # .venv/bin/scrapy after `make crawl`
    looking = f"-a topic={args.topic}" if args.topic else f"-a keywords={quote(args.keywords)}"
    kept = [f"To browse what it found: {called} browse -a store={shown(args.store_uri)}"]
    return [
        *(kept if args.store_uri != "memory:" else []),
        f"That was the demo; a site of your own: {called} crawl focused {looking}"
        " -a seeds=http://YOUR-SITE/",
    ]


# A function of the module: a logger has it once, however often a process calls `quieten`.
def _is_warning(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING


def _without_traceback(record: logging.LogRecord) -> bool:
    record.exc_info = None
    return True
