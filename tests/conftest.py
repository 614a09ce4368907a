"""For all tests."""

import gc
import os
import signal
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.waiting import HANG

# A shell has what it runs in the background ignore Ctrl-C, which programs that tests start inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Examples of each property test, as --hypothesis-profile=NAME chooses. There is no deadline for an
# example, which would tell of the machine only.
for name, examples in {"quick": 20, "thorough": 200, "long": 10_000}.items():
    settings.register_profile(
        name,
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("quick")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write what a test logged so that it can be passed between processes.

    Addresses on pages may hold halves of surrogate pairs, which no encoding can.
    """
    report = yield
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections
    ]
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Have two of the workers begin with the tests of processes, which mostly wait.

    The others have work for the processor meanwhile. `--dist worksteal` gives each worker an equal
    run of tests to begin with, and takes from the end of one where another has none left.
    """
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    waiting = [item for item in items if item.get_closest_marker("processes")]
    first = len(items) // workers
    if workers > 2 and len(waiting) < first:
        others = [item for item in items if not item.get_closest_marker("processes")]
        half = len(waiting) // 2
        second = first - half
        items[:] = waiting[:half] + others[:second] + waiting[half:] + others[second:]


def pytest_collection_finish() -> None:
    """Leave all that was imported out of collections of garbage, which it makes slow."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _caches_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what is cached, as the search index of a database, out of the home of the user."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))
        patched.delenv("COLUMNS", raising=False)  # pytest-xdist's own, which is no reader's
        # On a busy machine any command takes long, and would say so.
        patched.setattr("mmcrawl.commands.terminal.telling._SHOWN_AFTER", HANG)
        yield


def _environment_as_before() -> Iterator[None]:
    """Take back what a test leaves in the environment: Scrapy sets SCRAPY_SETTINGS_MODULE."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


# What a fixture of a module left is taken back when the module ends.
_of_a_module = pytest.fixture(autouse=True, scope="module")(_environment_as_before)
_of_a_test = pytest.fixture(autouse=True)(_environment_as_before)
