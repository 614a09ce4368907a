"""The reactor's sense of time."""

import pytest

from tests.programs import run
from tests.tables import each
from tests.warm import python

_CLOCK_IS_SET = """
import time
tell, ahead = time.time, 0
time.time = lambda: tell() + ahead  # as Twisted takes it when it is imported
from scrapy.utils.reactor import install_reactor
install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
from twisted.internet import reactor
from mmcrawl.engine.threads import use_monotonic_clock
use_monotonic_clock()
began = time.monotonic()
reactor.callLater(0.5, reactor.stop)
ahead = {ahead}
reactor.run()
assert 0.5 <= time.monotonic() - began
"""

_OWN_PROGRAM = """
from scrapy.crawler import CrawlerProcess
from mmcrawl.spiders.{name} import {spider}
process = CrawlerProcess({{"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False}})
process.crawl({spider}, **{arguments})
process.start()
from time import monotonic
from twisted.internet import reactor
assert reactor.seconds is monotonic
"""


@each(
    "spider, arguments",
    [
        ("FocusedSpider", {"store": "memory:", "archive": "none", "max_pages": "3"}),
        ("RevisitSpider", {"archive": "{folder}/none"}),
        ("CollectSpider", {"store": "{folder}/none.db"}),
    ],
)
def test_a_program_of_its_own_brings_the_reactor(spider, arguments, tmp_path):
    given = {name: value.format(folder=tmp_path) for name, value in arguments.items()}
    name = spider.removesuffix("Spider").lower()
    run(python(), "-c", _OWN_PROGRAM.format(name=name, spider=spider, arguments=given))


@pytest.mark.parametrize("ahead", [-3_600, 3_600])
def test_what_the_reactor_waits_for_comes_in_time_though_the_clock_is_set(ahead: int) -> None:
    run(python(), "-c", _CLOCK_IS_SET.format(ahead=ahead))
