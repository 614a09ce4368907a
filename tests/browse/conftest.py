"""An application over an archive and the works of a crawl."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mmcrawl.browse import Context, Limits, Options, programs
from tests.browse import hostile
from tests.browse.catalogue import browsing, fill
from tests.browse.works import keep_works, store_of
from tests.waiting import HANG
from tests.warm import starts_warm


@pytest.fixture(autouse=True, scope="session")
def _patience() -> Iterator[None]:
    """No request is given up since the machine is busy, where a test gives no limits of its own."""
    values = {field.name: field.default for field in fields(Limits)}
    values |= {"seconds": HANG, "arriving": HANG}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Limits.__init__, "__defaults__", tuple(values.values()))
        yield


@pytest.fixture(autouse=True, scope="module")
def warm_programs() -> Iterator[None]:
    """Commands that the browser starts need not wait until all is imported."""
    starts_warm(programs)
    yield
    programs.sys = sys  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def archived(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URI of an archive that no test changes."""
    return fill(tmp_path_factory.mktemp("archived"))


@pytest.fixture(scope="session")
def hostile_archive(tmp_path_factory: pytest.TempPathFactory) -> str:
    return hostile.make_archive(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def kept_works(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("works")
    keep_works(folder)
    return folder


@pytest.fixture
def with_works(
    archived: str, kept_works: Path, tmp_path: Path
) -> Iterator[tuple[TestClient, Context]]:
    shutil.copytree(kept_works, tmp_path, dirs_exist_ok=True)
    with browsing(archived, Options(store=store_of(tmp_path))) as pair:
        yield pair


@pytest.fixture(scope="session")
def _shown(archived: str, kept_works: Path) -> Iterator[TestClient]:
    with browsing(archived, Options(store=store_of(kept_works))) as (client, _):
        yield client


@pytest.fixture
def shown(_shown: TestClient) -> TestClient:
    """A client for tests that only look."""
    _shown.cookies.clear()  # a language that a test before chose
    return _shown


@pytest.fixture(scope="session")
def _living(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Any]]:
    """Gives the browser of all tests, a new one where it has died."""
    from selenium.common.exceptions import WebDriverException

    from tests.browse.chromium import chromium

    drivers: list[Any] = []
    with ExitStack() as started:

        def living() -> Any:
            with suppress(IndexError, WebDriverException):
                drivers[-1].get("about:blank")
                return drivers[-1]
            drivers.append(started.enter_context(chromium(tmp_path_factory.mktemp("profile"))))
            return drivers[-1]

        yield living


@pytest.fixture
def browser(_living: Callable[[], Any]) -> Any:
    """Chromium without what a test before told it to be."""
    driver = _living()
    driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return driver
