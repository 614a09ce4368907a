"""Stored webs, answered as if they were the network.

A stored web is a folder with one folder per host, a WARC file, the demo web, a simulated one of any
size, or a portal to several of them. Given a URL it returns what the server returned, so
experiments, tests and the first run of a new user crawl through the ordinary engine without a
socket. Only `mmcrawl.replay.handler`, the Scrapy download handler, knows Scrapy; it is not imported
from here.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.replay.folder import FolderWeb, WarcWeb
    from mmcrawl.replay.handler import Latency, ReplayDownloadHandler, web_of
    from mmcrawl.replay.opening import DemoWeb, PortalWeb, open_web
    from mmcrawl.replay.simulated.config import SimulationConfig
    from mmcrawl.replay.simulated.web import SimulatedWeb
    from mmcrawl.replay.web import StoredResponse, StoredWeb
