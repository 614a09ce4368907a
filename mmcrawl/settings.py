"""Scrapy settings of mmcrawl. Any can be changed with `-s NAME=VALUE`.

They hold for every spider and command of the project. The scheduler, middlewares, pipelines and
extensions of our own spiders are in `mmcrawl.engine.components`.

Ours begin with MMCRAWL_:

MMCRAWL_TOPIC_THRESHOLD: score a page must reach to be on topic (see `TopicTest`).
MMCRAWL_BARREN_PAGES_PER_SHAPE: most pages of one URL shape while none of them is relevant; five
    times as many of one directory, or of another shape that is learnt; 0 for all.
MMCRAWL_LINKS_PER_PAGE: most links of one page that are looked at, the first ones, 0 for all.
MMCRAWL_PAGES_PER_HOST: most pages of one host, 0 for all.
MMCRAWL_PRIVATE_NETWORKS: ask hosts in private networks that are not among the seeds, too.
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
ROBOTSTXT_PARSER = "mmcrawl.engine.robots.RobotsTxtParser"
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

LOG_LEVEL = "INFO"

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
