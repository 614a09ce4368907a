"""Forms as editors send them, from a real browser: what it says of their origin is its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from mmcrawl.browse import Context, create_app
from mmcrawl.media import folder_of
from mmcrawl.works import open_catalogue
from tests.browse.chromium import needs_chromium
from tests.browse.serving import free_port, served
from tests.browse.works import WAVES, store_of
from tests.waiting import HANG

pytestmark = needs_chromium

PATIENCE = HANG  # seconds for a page that a form leads to


@pytest.fixture
def origin(with_works: tuple[object, Context]) -> Iterator[str]:
    with served(create_app(with_works[1]), free_port()) as origin:
        yield origin


def send(browser: Any, button: str) -> None:
    """Press a button with Enter, and wait for the page that follows."""
    from selenium.webdriver.support.ui import WebDriverWait

    pressed = browser.find_element("css selector", button)
    browser.execute_script("window.before = 1")
    pressed.send_keys("\n")
    done = "return !window.before && document.readyState === 'complete'"
    WebDriverWait(browser, PATIENCE).until(lambda _: browser.execute_script(done))


def fill_in(browser: Any, field: str, text: str) -> None:
    found = browser.find_element("css selector", field)
    found.clear()
    found.send_keys(text)


def test_an_editor_corrects_and_collects(browser: Any, origin: str, tmp_path: Path) -> None:
    browser.get(f"{origin}/work?id={WAVES.id}")
    browser.find_element("css selector", "summary").send_keys("\n")
    fill_in(browser, "#title", "Wellen")
    send(browser, "form[action='/work/correct'] button")
    assert browser.find_element("css selector", "h1").text == "Wellen"
    fill_in(browser, "input[name=name]", "Friday")
    send(browser, "form[action='/collections/add'] button")
    assert urlsplit(browser.current_url).path == "/collection"
    assert browser.find_element("css selector", "ol h2").text == "1. Wellen"
    store = store_of(tmp_path)
    with open_catalogue(store, folder_of(store, None)) as catalogue:
        assert catalogue.find(WAVES.id).title == "Wellen"


def test_a_collection_is_ordered_by_keyboard_and_mouse(browser: Any, origin: str) -> None:
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(f"{origin}/works")
    fill_in(browser, "input[name=name]", "Friday")
    send(browser, "button[formaction='/collections/add']")

    def order() -> list[str]:
        found = browser.find_elements("css selector", "ol.members > li")
        return [one.get_attribute("id") for one in found]

    first, second, third = order()
    browser.find_element("css selector", "ol.members button").send_keys(Keys.ALT, Keys.ARROW_DOWN)
    WebDriverWait(browser, PATIENCE).until(lambda _: order() == [second, first, third])
    focused = "return document.activeElement.closest('li')?.id"
    WebDriverWait(browser, PATIENCE).until(lambda _: browser.execute_script(focused) == first)
    browser.execute_script(
        "const [one, , three] = document.querySelectorAll('ol.members > li');"
        "const dataTransfer = new DataTransfer();"
        "one.querySelector('.handle').dispatchEvent(new DragEvent('dragstart', {dataTransfer}));"
        "three.dispatchEvent(new DragEvent('drop', {dataTransfer, bubbles: true}));"
    )
    WebDriverWait(browser, PATIENCE).until(lambda _: order() == [first, third, second])


def test_a_form_is_sent_once_however_often_it_is_pressed(browser: Any, origin: str) -> None:
    browser.get(f"{origin}/work?id={WAVES.id}")
    refused = browser.execute_script(
        "const refused = [];"
        "addEventListener('submit', (event) => {"
        " refused.push(event.defaultPrevented); event.preventDefault(); });"
        "const button = document.querySelector(\"form[action='/collections/add'] button\");"
        "button.click(); button.click(); return refused;"
    )
    assert refused == [False, True]
