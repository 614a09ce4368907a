"""For all tests."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence

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


def pytest_collection_modifyitems(items: Sequence[pytest.Function]) -> None:
    """Give property tests THOROUGH times the examples that they ask for, whose own number wins."""
    times = int(os.environ.get("THOROUGH", "1"))
    changed = set()
    for item in items:
        test = item.function
        asked = getattr(test, "_hypothesis_internal_use_settings", None)
        if times > 1 and asked is not None and test not in changed:
            changed.add(test)  # parameters share one function
            more = settings(asked, max_examples=times * asked.max_examples, deadline=None)
            test._hypothesis_internal_use_settings = more
