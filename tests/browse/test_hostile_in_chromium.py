"""Hostile pages in a real browser: they do not run, reach nothing, and stay in their frame."""

import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from mmcrawl.archive import Capture, open_archive
from mmcrawl.browse import Options, open_context
from mmcrawl.browse.replay import Mode, replay_address
from tests.browse import hostile
from tests.browse.chromium import needs_chromium
from tests.browse.serving import Outside, free_port, served, small_app
from tests.waiting import until

pytestmark = needs_chromium

SETTLED = 1.0  # seconds in which pages would have done what they must not do

# Pages that act by themselves, without a reader who clicks.
ACTING = [
    "script", "title", "topic", "anchors", "refresh", "base", "requests", "connects", "astray",
    "frames", "inner.html", "tries", "headers", "svg", "utf7", "wide",
]  # fmt: skip


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    listener = Outside()
    yield listener
    listener.close()


@pytest.fixture(scope="module")
def interface(tmp_path_factory: pytest.TempPathFactory, outside: Outside) -> Iterator[str]:
    port = free_port()
    folder = tmp_path_factory.mktemp("archive")
    uri = hostile.make_archive(folder, outside.origin, f"http://127.0.0.1:{port}")
    with (
        open_context(uri, options=Options(port=port)) as context,
        served(small_app(context), port) as origin,
    ):
        yield origin


@pytest.fixture(autouse=True)
def _untouched(browser: Any, outside: Outside) -> None:
    outside.paths.clear()


def in_frame(interface: str, name: str, mode: Mode = Mode.PAGE) -> str:
    """Return where an archived page is shown in the frame of the interface."""
    return f"{interface}/?at={replay_address(hostile.SITE + name, hostile.START, mode)}"


def shown(browser: Any, interface: str, name: str, mode: Mode = Mode.PAGE) -> None:
    browser.get(in_frame(interface, name, mode))
    time.sleep(SETTLED)


def assert_interface_stands(browser: Any, interface: str, windows: int = 1) -> None:
    browser.switch_to.default_content()
    assert browser.title == "interface"
    assert browser.current_url.startswith(f"{interface}/?at=")
    assert browser.get_cookies() == []
    assert len(browser.window_handles) == windows


@contextmanager
def tabs(browser: Any, addresses: list[str]) -> Iterator[Iterator[None]]:
    """Open addresses at once, each in a tab, so that they have time to do harm once for all."""
    first, opened = browser.current_window_handle, []
    try:
        for address in addresses:
            browser.switch_to.new_window("tab")
            opened.append(browser.current_window_handle)
            browser.get(address)
        time.sleep(SETTLED)
        yield (browser.switch_to.window(handle) for handle in opened)
    finally:
        for handle in opened:
            browser.switch_to.window(handle)
            browser.close()
        browser.switch_to.window(first)


def test_hostile_pages_neither_run_nor_reach_the_outside(browser, interface, outside):
    with tabs(browser, [in_frame(interface, name) for name in ACTING]) as shown:
        assert outside.paths == []
        for name, _ in zip(ACTING, shown, strict=True):
            assert_interface_stands(browser, interface, 1 + len(ACTING))
            browser.switch_to.frame("frame")
            assert browser.find_element("css selector", "html").get_attribute("data-told") is None
            assert "ran" not in browser.execute_script("return document.title").split(), name


def test_nor_do_they_when_they_are_opened_without_the_frame(browser, interface, outside):
    places = [interface + replay_address(hostile.SITE + name, hostile.START) for name in ACTING]
    with tabs(browser, places) as shown:
        assert outside.paths == []
        assert len(browser.window_handles) == 1 + len(ACTING)
        for name, _ in zip(ACTING, shown, strict=True):
            assert browser.get_cookies() == []
            assert browser.title != "ran", name


def test_the_same_pages_do_harm_where_nothing_holds_them(browser, outside):
    """The control: what the other tests look for is seen where it happens."""
    pages = hostile.pages(outside.origin)

    async def live(request: Request) -> Response:
        return HTMLResponse(pages[request.url.path[1:]])

    with served(Starlette(routes=[Route("/{name}", live)]), free_port()) as origin:
        for name in ("script", "refresh", "requests", "connects", "astray", "tries"):
            browser.get("about:blank")
            outside.paths.clear()
            browser.get(f"{origin}/{name}")
            until(lambda: outside.paths)


def test_scripts_that_were_asked_for_run_without_an_origin_and_reach_nothing(
    browser: Any, interface: str, outside: Outside
) -> None:
    shown(browser, interface, "tries", Mode.SCRIPTS)
    assert outside.paths == []
    assert_interface_stands(browser, interface)
    browser.get(in_frame(interface, "finds", Mode.SCRIPTS))
    browser.switch_to.frame("frame")
    told = browser.find_element("css selector", "html").get_attribute("data-told")
    assert told == (
        "ran:yes origin:null cookie:SecurityError storage:SecurityError parent:SecurityError"
        " worker:SecurityError popup:true"
    )


def test_links_lead_on_within_the_frame_and_frames_within_frames_are_shown(
    browser: Any, interface: str, outside: Outside
) -> None:
    shown(browser, interface, "plain")
    browser.switch_to.frame("frame")
    assert browser.find_element("id", "plain").text == "wordson"
    browser.find_element("id", "go").click()
    time.sleep(SETTLED)
    assert "words" in browser.find_element("css selector", "body").text
    assert_interface_stands(browser, interface)

    shown(browser, interface, "frames")
    browser.switch_to.frame("frame")
    browser.switch_to.frame(0)
    assert "inside" in browser.find_element("id", "inner").text
    browser.switch_to.default_content()
    browser.switch_to.frame("frame")
    browser.find_element("id", "go").click()  # asks for the whole window
    time.sleep(SETTLED)
    assert_interface_stands(browser, interface)
    assert outside.paths == []


def test_with_a_token_frames_within_frames_and_pictures_are_shown_too(browser, outside, tmp_path):
    """What a page without origin embeds carries no cookie; the key in its address lets it in."""
    port, gif = free_port(), "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
    uri = hostile.make_archive(tmp_path, outside.origin)
    with open_archive(uri) as archive:
        kind = (("Content-Type", "image/gif"),)
        address = f"{outside.origin}/plain.gif"
        archive.store(Capture(address, b64decode(gif), hostile.START, headers=kind))
    options = Options(port=port, token="secret")
    with open_context(uri, options=options) as context, served(small_app(context), port) as origin:
        browser.get(f"{origin}/?token=secret")
        assert browser.current_url == f"{origin}/"
        shown(browser, origin, "frames")
        browser.switch_to.frame("frame")
        browser.switch_to.frame(0)
        assert "inside" in browser.find_element("id", "inner").text
        shown(browser, origin, "plain")
        browser.switch_to.frame("frame")
        picture = browser.find_element("css selector", "img")
        assert picture.get_property("naturalWidth") == 1
        assert outside.paths == []
