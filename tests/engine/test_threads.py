"""The reactor's sense of time."""

import pytest

from tests.programs import run
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
reactor.callLater(2, reactor.stop)
ahead = {ahead}
reactor.run()
assert 2 <= time.monotonic() - began
"""


@pytest.mark.parametrize("ahead", [-365 * 86_400, -3_600, 3_600, 365 * 86_400])
def test_what_the_reactor_waits_for_comes_in_time_though_the_clock_is_set(ahead: int) -> None:
    run(python(), "-c", _CLOCK_IS_SET.format(ahead=ahead))
