"""Scrapy settings of mmcrawl. Any can be changed with `-s NAME=VALUE`.

Ours begin with MMCRAWL_:

MMCRAWL_TOPIC_THRESHOLD: score a page must reach to be on topic (see `TopicTest`).
MMCRAWL_BARREN_PAGES_PER_SHAPE: most pages of one URL shape while none of them is relevant; five
    times as many of one directory, or of another shape that is learnt; 0 for all.
MMCRAWL_LINKS_PER_PAGE: most links of one page that are looked at, the first ones, 0 for all.
MMCRAWL_PAGES_PER_HOST: most pages of one host, 0 for all.
MMCRAWL_PRIVATE_NETWORKS: follow links from public pages into private networks.
MMCRAWL_HEAD_REQUESTS: most HEAD requests that may be spent, over a run, on links without a file
    extension that may be media (`download.php?id=3`); 0 leaves them alone.
MMCRAWL_DISPLAY: show progress and the closing table.
MMCRAWL_ARCHIVE: where every page is archived: sqlite:///FILE, mongodb://HOST/DATABASE, "" or none
    for nowhere; None keeps it beside the crawl's store (crawl-archive.db beside crawl.db, or in the
    same MongoDB database), and nowhere for a crawl in memory.
MMCRAWL_REVISIT_DEFAULT, MMCRAWL_REVISIT_SHORTEST, MMCRAWL_REVISIT_LONGEST: hours until a page that
    was visited once is due again, and bounds of that time for all others.
MMCRAWL_LEASE_SECONDS: seconds without a sign of life after which the links of a worker of a shared
    crawl go to others.
MMCRAWL_LINK_BLOCKS: cut pages with new links into blocks, and take links in navigation, noise,
    advertisements and notices of rights after others of equal score.
MMCRAWL_LINK_BLOCK_FACTORS: multiply the scores of such links with numbers from 0 to 1:
    {"navigation": 0.8}; the kinds are those of `mmcrawl.scoring.later_blocks`.
MMCRAWL_BLOCKS_METHOD, MMCRAWL_BLOCKS_LEVEL: how pages are cut, see `mmcrawl.blocks.partition`.
MMCRAWL_RUFFLE: folder with the web build of Ruffle (ruffle.js), for swf in `scrapy browse`.
MMCRAWL_WEB, MMCRAWL_WEB_LATENCY: a stored web to answer from instead of the network.
"""

BOT_NAME = "mmcrawl"
SPIDER_MODULES = ["spiders"]
NEWSPIDER_MODULE = "spiders"
COMMANDS_MODULE = "mmcrawl.commands"

USER_AGENT = "mmcrawl/0.1 (focused crawler for teaching media; set USER_AGENT to say who runs it)"
ROBOTSTXT_OBEY = True
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 1.0
AUTOTHROTTLE_MAX_DELAY = 30.0
CONCURRENT_REQUESTS = 32
CONCURRENT_REQUESTS_PER_DOMAIN = 8
CONCURRENT_ITEMS = 4  # Scrapy starts as many tasks for every response; ours brings one item
DOWNLOAD_MAXSIZE = 32 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_TIMEOUT = 60
RETRY_TIMES = 2
RETRY_GIVE_UP_LOG_LEVEL = "DEBUG"  # the frontier's line says it with the reason

SCHEDULER = "mmcrawl.scheduler.FocusedScheduler"
SPIDER_MIDDLEWARES = {
    "mmcrawl.middlewares.FrontierMiddleware": 10,
    "mmcrawl.dynamic_links.DynamicLinksMiddleware": 900,
}
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "mmcrawl.middlewares.RobotsTxtMiddleware": 100,
    "mmcrawl.middlewares.PrivateNetworkMiddleware": 620,
    "mmcrawl.middlewares.CookiesMiddleware": 700,
}
ITEM_PIPELINES = {
    "pipelines.archive.ArchivePipeline": 100,
    "pipelines.blocks.BlocksPipeline": 200,
    "pipelines.media.MediaPipeline": 900,
}
EXTENSIONS = {
    "mmcrawl.extensions.CrawlProgress": 500,
    "mmcrawl.extensions.MediaFeedExporter": 0,
    "scrapy.extensions.feedexport.FeedExporter": None,
    "scrapy.extensions.logstats.LogStats": None,
    "scrapy.extensions.telnet.TelnetConsole": None,
}
FEED_EXPORT_ENCODING = "utf-8"
FEED_EXPORTERS = {"csv": "mmcrawl.extensions.MediaCsvExporter"}

LOG_LEVEL = "INFO"
STATS_DUMP = False

MMCRAWL_TOPIC_THRESHOLD = 0.5
MMCRAWL_BARREN_PAGES_PER_SHAPE = 200
MMCRAWL_LINKS_PER_PAGE = 20_000
MMCRAWL_PAGES_PER_HOST = 0
MMCRAWL_PRIVATE_NETWORKS = False
MMCRAWL_HEAD_REQUESTS = 0
MMCRAWL_DISPLAY = True
MMCRAWL_ARCHIVE = None
MMCRAWL_REVISIT_DEFAULT = 24
MMCRAWL_REVISIT_SHORTEST = 1
MMCRAWL_REVISIT_LONGEST = 720
MMCRAWL_LEASE_SECONDS = 15
MMCRAWL_LINK_BLOCKS = False
MMCRAWL_LINK_BLOCK_FACTORS: dict[str, float] = {}
MMCRAWL_BLOCKS_METHOD = "quark"
MMCRAWL_BLOCKS_LEVEL = 1
