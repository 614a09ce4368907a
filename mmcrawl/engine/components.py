"""The parts of Scrapy that our own spiders replace; every other spider keeps Scrapy's.

They are not in `mmcrawl.settings`, which also applies to `scrapy shell`, `fetch`, `bench` and
spiders made by `scrapy genspider`: those have no crawl for a frontier. Our spiders take these parts
with them into other people's projects.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from scrapy.core.scheduler import Scheduler
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from mmcrawl import settings as ours
from mmcrawl.engine.scheduler import FocusedScheduler
from mmcrawl.errors import MmcrawlError

_SCHEDULER = f"{FocusedScheduler.__module__}.{FocusedScheduler.__name__}"

_OF_A_PROJECT = (
    "BOT_NAME",
    "SPIDER_MODULES",
    "COMMANDS_MODULE",
    "STATS_DUMP",
    "TELNETCONSOLE_ENABLED",
)

WELL_BEHAVED: Mapping[str, Any] = {
    "DOWNLOAD_HANDLERS": {
        "http": "mmcrawl.engine.downloads.DownloadHandler",
        "https": "mmcrawl.engine.downloads.DownloadHandler",
    },
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None,
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "mmcrawl.engine.middlewares.RobotsTxtMiddleware": 100,
        "mmcrawl.engine.middlewares.CookiesMiddleware": 700,
    },
}
"""What whoever asks other people's servers needs."""

_TABLES = {"mmcrawl.commands.terminal.extensions.ClosingTables": 500}

REVISIT: Mapping[str, Any] = {
    **WELL_BEHAVED,
    "ITEM_PIPELINES": {"mmcrawl.pipelines.archive.ArchivePipeline": 100},
    "EXTENSIONS": {
        "mmcrawl.engine.extensions.MediaFeedExporter": 0,
        **_TABLES,
        "mmcrawl.engine.metrics.Metrics": 0,
        "scrapy.extensions.feedexport.FeedExporter": None,
        "scrapy.extensions.logstats.LogStats": None,
    },
    "FEED_EXPORTERS": {"csv": "mmcrawl.engine.extensions.MediaCsvExporter"},
    "CONCURRENT_ITEMS": 4,  # Scrapy starts as many tasks for every response; ours brings one item
    "RETRY_GIVE_UP_LOG_LEVEL": "DEBUG",  # the spider's line says it with the reason
}

COLLECT: Mapping[str, Any] = {
    **WELL_BEHAVED,
    "DOWNLOAD_HANDLERS": {
        "http": "mmcrawl.engine.downloads.MediaDownloadHandler",
        "https": "mmcrawl.engine.downloads.MediaDownloadHandler",
    },
    "EXTENSIONS": {
        **_TABLES,
        "mmcrawl.engine.metrics.Metrics": 0,
        "scrapy.extensions.feedexport.FeedExporter": None,
        "scrapy.extensions.logstats.LogStats": None,
    },
    "RETRY_GIVE_UP_LOG_LEVEL": "DEBUG",
}

FOCUSED: Mapping[str, Any] = {
    **REVISIT,
    "DOWNLOADER_MIDDLEWARES": {
        **WELL_BEHAVED["DOWNLOADER_MIDDLEWARES"],
        "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
        "mmcrawl.engine.middlewares.MetaRefreshMiddleware": 580,
    },
    "SCHEDULER": _SCHEDULER,
    "SPIDER_MIDDLEWARES": {
        "mmcrawl.engine.middlewares.FrontierMiddleware": 10,
        "mmcrawl.engine.answers.DynamicLinksMiddleware": 900,
    },
    "ITEM_PIPELINES": {
        "mmcrawl.pipelines.pages.BlocksPipeline": 50,
        "mmcrawl.pipelines.archive.ArchivePipeline": 100,
        "mmcrawl.pipelines.pages.MediaPipeline": 900,
        "mmcrawl.pipelines.pages.MetadataPipeline": 950,
    },
    "EXTENSIONS": {
        "mmcrawl.commands.terminal.extensions.CrawlProgress": 500,
        "mmcrawl.engine.collect_beside.CollectBeside": 600,
        "mmcrawl.engine.requisites.Requisites": 600,
        **REVISIT["EXTENSIONS"],
    },
}


_PIPELINES = frozenset(path.rpartition(".")[2] for path in FOCUSED["ITEM_PIPELINES"])


def use_components(settings: BaseSettings, components: Mapping[str, Any]) -> None:
    """Put components into the settings of a spider's class, for its `update_settings`.

    What the user says stays: a single value given with `-s` or by the spider, and every entry of a
    dictionary, beside which ours are added unless they are there under any path (an entry of None
    leaves one of ours out). So does what a project's settings say; where they say nothing,
    `mmcrawl.settings` holds.
    """
    for name, value in vars(ours).items():
        if name.isupper() and name not in _OF_A_PROJECT:
            settings.set(name, value, "addon")
    spider, cmdline = SETTINGS_PRIORITIES["spider"], SETTINGS_PRIORITIES["cmdline"]
    if not settings.getbool("REMOTE_CONTROL_ENABLED"):
        # Scrapy would load it, and a web server with it, to find that it is not enabled.
        base = settings.getdict("EXTENSIONS_BASE")
        base.pop("scrapy.extensions.remote_control.RemoteControl", None)
        settings.set("EXTENSIONS_BASE", base, spider)
    for name, parts in components.items():
        priority = settings.getpriority(name) or 0
        if isinstance(parts, Mapping):
            # CrawlerProcess sets what -s says once more when the crawl begins: ours stands above.
            merged = priority + 1 if priority >= cmdline else spider
            given = settings.getdict(name)
            named = {_full_path(component) for component in given}
            lacking = {path: place for path, place in parts.items() if path not in named}
            settings.set(name, lacking | given, merged)
        elif priority < spider:
            settings.set(name, parts, spider)


def missing_parts(settings: BaseSettings) -> Iterator[str]:
    """Yield, for each setting that has lost parts of ours that a focused crawl needs, which.

    One that is set to None was left out on purpose.
    """
    for name, parts in FOCUSED.items():
        if isinstance(parts, Mapping):
            named = {_full_path(component) for component in settings.getdict(name)}
            lost = [
                path for path, place in parts.items() if place is not None and path not in named
            ]
            if lost:
                yield f"{name} lacks {', '.join(map(str, lost))}"


def _full_path(component: Any) -> str:
    """Return where a component is defined: a package may have ours under a shorter path."""
    if isinstance(component, str) and component.rpartition(".")[2] not in _PIPELINES:
        return component
    try:
        return global_object_name(load_object(component))
    except (ImportError, NameError):  # Scrapy says so
        return str(component)


class PlainScheduler(Scheduler):
    """Scrapy's own, for commands that fetch single pages with a spider of ours: no crawl begins."""


def check_scheduler(settings: BaseSettings) -> None:
    """Check that a crawl has a frontier.

    Raises:
        MmcrawlError: the setting SCHEDULER names another scheduler than ours.
    """
    named = settings["SCHEDULER"]
    scheduler = load_object(named)
    if not {FocusedScheduler, PlainScheduler} & {*scheduler.mro()}:
        raise MmcrawlError(
            f"a focused crawl needs the scheduler {_SCHEDULER}, but the setting SCHEDULER is"
            f" {named!r}; leave it out, and let an update_settings of your own call"
            " super().update_settings"
        )
