"""Scrapy settings of mmcrawl. Any can be changed with `-s NAME=VALUE`.

As the settings module of a project they hold for every spider and command of it. In another project
our spiders take them where it says nothing else; see `mmcrawl.engine.components`, where the
scheduler, middlewares, pipelines and extensions of our spiders are as well.

Ours begin with MMCRAWL_. Each is declared once, in `declared`, and read with `value_of`.
"""

import re
from collections.abc import Callable, Iterable
from math import inf
from typing import Any, NamedTuple, Protocol

from mmcrawl.errors import MmcrawlError, did_you_mean

BOT_NAME = "mmcrawl"
SPIDER_MODULES = ["mmcrawl.spiders"]
COMMANDS_MODULE = "mmcrawl.commands"

USER_AGENT = "mmcrawl/0.1 (focused crawler for teaching media; set USER_AGENT to say who runs it)"
ROBOTSTXT_OBEY = True
ROBOTSTXT_PARSER = "mmcrawl.engine.hosts.RobotsTxtParser"
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 1.0
AUTOTHROTTLE_MAX_DELAY = 30.0
CONCURRENT_REQUESTS = 32
CONCURRENT_REQUESTS_PER_DOMAIN = 8
DOWNLOAD_MAXSIZE = 32 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_TIMEOUT = 60
RETRY_TIMES = 2

REMOTE_CONTROL_ENABLED = False
FEED_EXPORT_ENCODING = "utf-8"
TELNETCONSOLE_ENABLED = False
STATS_DUMP = False

LOG_LEVEL = "INFO"


class SettingsLike(Protocol):
    """The part of Scrapy's settings that is asked here."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return a setting as it stands, `default` where there is none."""

    def getint(self, name: str, default: int = 0) -> int:
        """Return a whole number."""

    def getfloat(self, name: str, default: float = 0.0) -> float:
        """Return a number."""

    def getbool(self, name: str, default: bool = False) -> bool:
        """Return a truth value."""


class Setting(NamedTuple):
    """A setting of ours.

    Attributes:
        name: begins with MMCRAWL_.
        default: its type is that of all values; None and texts are taken as they stand.
        help: what it does, a sentence without a full stop.
        may_be: which values are good, "" for all of the type.
        good: tells whether a value is.
    """

    name: str
    default: Any
    help: str
    may_be: str = ""
    good: Callable[[Any], Any] = lambda _: True

    def of(self, settings: SettingsLike) -> Any:
        """Return the value in some settings.

        Raises:
            MmcrawlError: it is of another type, or out of its range.
        """
        read: dict[type, Callable[[str, Any], Any]] = {
            bool: settings.getbool,
            int: settings.getint,
            float: settings.getfloat,
        }
        try:
            value = read.get(type(self.default), settings.get)(self.name, self.default)
            if self.good(value):
                return value
        except (TypeError, ValueError):
            pass  # the value is none of its type: said below
        may_be = self.may_be or {bool: "true or false"}.get(type(self.default), "something else")
        as_default = f", as {self.shown_default}" if self.default is not None else ""
        raise MmcrawlError(f"{self.name} must be {may_be}{as_default}")

    @property
    def shown_default(self) -> str:
        """The default as it is written."""
        return f"{self.default:g}" if type(self.default) is float else f"{self.default}"


_COUNT = "a whole number from 0", lambda value: value >= 0
_HOURS = "a number of hours above 0", lambda value: 0 < value < inf

declared = {
    setting.name: setting
    for setting in (
        Setting(
            "MMCRAWL_TOPIC_THRESHOLD",
            0.5,
            "score that a page must reach to be on topic",
            "a number between 0 and 1",
            lambda value: 0 < value < 1,
        ),
        Setting(
            "MMCRAWL_BARREN_PAGES_PER_SHAPE",
            200,
            "maximum pages of one URL shape or script without a relevant one, five times as many of"
            " a directory with its siblings; 0 for no limit",
            *_COUNT,
        ),
        Setting(
            "MMCRAWL_LINKS_PER_PAGE", 20_000, "maximum links of one page; 0 for no limit", *_COUNT
        ),
        Setting(
            "MMCRAWL_PAGES_UNDER_WAY",
            0,
            "maximum pages in progress; 0 for as few as keep the crawl busy",
            *_COUNT,
        ),
        Setting("MMCRAWL_PAGES_PER_HOST", 0, "maximum pages per host; 0 for no limit", *_COUNT),
        Setting(
            "MMCRAWL_PRIVATE_NETWORKS",
            False,
            "fetch from private networks, even if no seed names the host",
        ),
        Setting(
            "MMCRAWL_HEAD_REQUESTS",
            0,
            "maximum HEAD requests in a run, for links without a file extension"
            " (`download.php?id=3`)",
            *_COUNT,
        ),
        Setting("MMCRAWL_DISPLAY", True, "show progress and the closing table"),
        Setting(
            "MMCRAWL_ARCHIVE",
            None,
            "where pages are archived: `sqlite:///FILE`, `mongodb://HOST/DATABASE` or `none`"
            " (default: beside the store, as `crawl-archive.db` or in the same database)",
        ),
        Setting(
            "MMCRAWL_REQUISITES_PER_PAGE",
            200,
            "maximum requisites of a page; as many more of its style sheets",
            *_COUNT,
        ),
        Setting("MMCRAWL_REQUISITES_PAGE_BYTES", 20 << 20, "their maximum bytes", *_COUNT),
        Setting("MMCRAWL_REQUISITES_MOST", 100_000, "maximum requisites of a crawl", *_COUNT),
        Setting("MMCRAWL_REQUISITES_MOST_BYTES", 10 << 30, "their maximum bytes", *_COUNT),
        Setting(
            "MMCRAWL_MEDIA",
            None,
            "folder of the media files, or a URL such as `s3://BUCKET/FOLDER` (default:"
            " `crawl-media` beside `crawl.db`, or `DATABASE-media` in the current folder)",
        ),
        Setting("MMCRAWL_CHROMIUM", None, "browser program for `render`"),
        Setting("MMCRAWL_YTDLP", "yt-dlp", "program for `hosted` media"),
        Setting(
            "MMCRAWL_MEDIA_SLOWEST",
            1_024,
            "minimum bytes a second of a download, over each DOWNLOAD_TIMEOUT; 0 for no limit",
            *_COUNT,
        ),
        Setting(
            "MMCRAWL_ROBOTS_PAUSE",
            10.0,
            "seconds until a failed robots.txt is requested again; doubles each time, up to 3600",
            "a number of seconds above 0",
            lambda value: 0 < value < inf,
        ),
        Setting(
            "MMCRAWL_BLOCKS",
            None,
            "how pages are cut into blocks, as `bwap:min_size=0.5;theta=9`, or `off` (`scrapy"
            " blocks --help`; default: `bwap`, in the archive the method of a page's last version)",
        ),
        Setting(
            "MMCRAWL_METADATA",
            {},
            'more columns of the feeds: `{"author": "meta author"}` (docs/guide/blocks.md)',
        ),
        Setting(
            "MMCRAWL_REVISIT_DEFAULT",
            24.0,
            "hours until a page with one visit is due again",
            *_HOURS,
        ),
        Setting("MMCRAWL_REVISIT_SHORTEST", 1.0, "minimum hours between two visits", *_HOURS),
        Setting(
            "MMCRAWL_REVISIT_KINDS",
            "main-text,title,image",
            "kinds of blocks whose changes count as changes of a page; also `layout` (title and"
            " text outside all blocks), `all` (any byte)",
        ),
        Setting("MMCRAWL_REVISIT_LONGEST", 720.0, "maximum hours between two visits", *_HOURS),
        Setting(
            "MMCRAWL_LEASE_SECONDS",
            15.0,
            "seconds without a heartbeat until others take over a worker's partitions",
            "a number of seconds from 4",
            lambda value: 4 <= value < inf,
        ),
        Setting(
            "MMCRAWL_METRICS",
            None,
            "where a running crawl serves figures for Prometheus (extra `metrics`); port 0 picks a"
            " free one",
            "an address with a port, as 127.0.0.1:9410",
            lambda value: not value or re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[^:]+):\d{1,5}", value),
        ),
        Setting(
            "MMCRAWL_RUFFLE",
            None,
            "folder with the web build of Ruffle (ruffle.js), to play Flash",
        ),
        Setting("MMCRAWL_WEB", None, "stored web that replaces the network"),
        Setting(
            "MMCRAWL_WEB_LATENCY",
            None,
            'milliseconds until a stored web answers, also by host: `{"slow.test": 900, "*": 20}`',
        ),
    )
}
"""Our settings by name."""

globals().update({setting.name: setting.default for setting in declared.values()})


def check_names(names: Iterable[str]) -> None:
    """Check the names of settings, those of others among them.

    Raises:
        MmcrawlError: one begins with MMCRAWL_ and is no setting.
    """
    for name in names:
        if name.startswith("MMCRAWL_") and name not in declared:
            raise MmcrawlError(f"there is no setting {name}{did_you_mean(name, declared)}")


def value_of(settings: SettingsLike, name: str) -> Any:
    """Return a setting of ours.

    Raises:
        MmcrawlError: its value is of another type, or out of its range.
    """
    return declared[name].of(settings)
