"""For all tests."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence

import pytest
from hypothesis import settings


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


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Give each property test THOROUGH times its examples, as in ``THOROUGH=100 pytest …``.

    It takes its time then: a deadline for each example would tell of the machine only.
    """
    times = int(os.environ.get("THOROUGH", "1"))
    changed = set()
    for item in items if times > 1 else ():
        for owner, name in (
            (getattr(item, "function", None), "_hypothesis_internal_use_settings"),
            (getattr(item, "cls", None), "settings"),  # of a state machine
        ):
            asked = getattr(owner, name, None)
            if isinstance(asked, settings) and owner not in changed:  # parameters share one
                changed.add(owner)
                more = settings(asked, max_examples=times * asked.max_examples, deadline=None)
                setattr(owner, name, more)


@pytest.fixture(autouse=True, scope="session")
def _caches_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what is cached, as the search index of a database, out of the home of the user."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))
        yield
