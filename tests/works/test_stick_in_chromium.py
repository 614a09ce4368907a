"""The folder for a memory stick as a reader opens it: from file://, without a network."""

import io
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from mmcrawl.media import SWF
from mmcrawl.works import Appearance, Evidence, Licence, Work, WorkFile
from mmcrawl.works.exporting import Shipment, exporter_named
from tests.browse.chromium import chromium, needs_chromium
from tests.waiting import HANG

pytestmark = needs_chromium

MANY = 900
MOVIE = b"FWS a film that a program for Flash asks for"
DIGEST = sha256(MOVIE).hexdigest()
LESSONS = ("牛顿第二定律", "光的折射", "Ohm's law")
# Stands in for Ruffle: it asks for the film by fetch, as that does, and writes what came.
RUFFLE = """
window.RufflePlayer.newest = () => ({ createPlayer: () => {
  const box = document.createElement("output");
  box.ruffle = () => ({ load: async ({ url }) => {
    const wasm = await (await fetch(new URL("ruffle/a.wasm", document.baseURI))).text();
    box.textContent = wasm + (await (await fetch(url)).text());
  }});
  return box;
}});
"""


def work(number: int) -> Work:
    file = WorkFile(f"http://h.test/{number}.swf", "animation", SWF, len(MOVIE), 0, DIGEST, "held")
    title = f"{LESSONS[number % 3]} {number} <img src=x onerror=alert(1)>"
    page = Appearance(f"http://h.test/{number // 9}", "课")
    topic = "physics-senior"
    return Work(f"{number:016x}", title, "page", "animation", (file,), (page,), topic=topic)


@pytest.fixture(scope="module")
def stick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stick")
    ruffle = folder / "ruffle"
    ruffle.mkdir()
    (ruffle / "ruffle.js").write_text(RUFFLE)
    (ruffle / "a.wasm").write_bytes(b"wasm and ")
    address = "https://creativecommons.org/licenses/by/4.0/"
    licence = Licence("CC-BY-4.0", address, Evidence("meta", "CC BY"))
    works = [work(number) for number in range(MANY)]
    works[0] = replace(works[0], licences=(licence,), kind="simulation")
    works[2] = replace(works[2], languages=("en", "zh-CN"))
    far = WorkFile("https://v.test/1", "video", reason="it is a page with a player, not a file")
    works.append(replace(works[1], id="f" * 16, kind="video", files=(far,)))
    shipment = Shipment(works, "x", lambda digest: io.BytesIO(MOVIE), ruffle=ruffle)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mmcrawl.works.exporting.as_folder._SECONDS", HANG)  # for its picture
        assert not exporter_named("folder").export(shipment, folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


def wait_for(browser: Any, script: str) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(browser, HANG).until(lambda _: browser.execute_script(f"return {script}"))


def found(browser: Any, words: str) -> None:
    box = browser.find_element("id", "query")
    browser.execute_script("arguments[0].value = ''", box)
    box.send_keys(words)


def opened_in_english(browser: Any, stick: Path) -> None:
    browser.get((stick / "index.html").as_uri())
    browser.execute_script("if (root.lang === 'zh') document.getElementById('language').click()")


def test_a_stick_of_many_works_is_searched_filtered_and_played(stick: Path, browser: Any) -> None:
    browser.get((stick / "index.html").as_uri())
    heading = browser.find_element("id", "name")
    assert heading.text == "Senior secondary physics"
    assert len(browser.find_elements("css selector", ".card")) < 500
    assert browser.find_element("css selector", "h2").text.startswith("Forces and Newton's laws")
    for words, count in (("niudun", 300), ("ndd", 300), ("ohm 897", 0), ("定律 897", 1)):
        found(browser, words)
        wait_for(browser, f"shown.length === {count}")
    found(browser, " ")
    browser.find_element("css selector", "#kinds [value=simulation]").click()
    wait_for(browser, "shown.length === 1 && shown[0].licence === 'CC-BY-4.0'")
    browser.find_element("id", "language").click()
    assert heading.text == "高中物理"
    missing = browser.find_element("id", "missing")
    assert "不在本盘上：1" in missing.text
    missing.find_element("tag name", "summary").click()
    assert "其他网站上的视频" in missing.text
    browser.find_element("css selector", ".card a").send_keys("\ue007")  # Enter
    wait_for(browser, "document.querySelector('output')?.textContent.includes('FWS')")
    said = browser.find_element("id", "work").text
    assert f"wasm and {MOVIE.decode()}" in said
    assert "onerror" in said
    assert "CC-BY-4.0" in said
    browser.find_element("id", "work").send_keys("\ue00c")  # Escape
    wait_for(browser, "document.getElementById('work').hidden")
    assert not [one for one in browser.get_log("browser") if one["level"] == "SEVERE"]


def test_a_stick_in_several_languages_shows_them_and_is_filtered_by_them(stick, browser):
    opened_in_english(browser, stick)
    found(browser, " ")
    choice = browser.find_element("id", "spoken")
    assert [one.text for one in choice.find_elements("tag name", "option")] == [
        *("all", "not stated", "English", "Chinese")
    ]
    choice.send_keys("English")
    wait_for(browser, "shown.length === 1 && document.querySelectorAll('.card').length === 1")
    wait_for(browser, "document.querySelector('.card').textContent.includes('Ohm')")
    browser.execute_script("document.querySelector('.card a').click()")  # they are drawn anew
    wait_for(browser, "!document.getElementById('work').hidden")
    assert "English, Chinese (China)" in browser.find_element("id", "work").text


def test_a_misspelt_word_finds_what_is_like_it_and_says_so(stick: Path, browser: Any) -> None:
    opened_in_english(browser, stick)
    said = browser.find_element("id", "found")
    for words, count in (
        ("niutun", 300),  # a wrong letter
        ("niuddun", 300),  # one too many
        ("niotum", 0),  # two wrong
        ("nuidun", 300),  # two exchanged
        ("zeshe", 300),  # a missing one
        ("牛盾第二", 300),
        ("牛顿定律", 300),  # other characters between
        ("定律牛顿", 0),
        ("c++x*(", 0),
        ("ohn", 0),  # a short word is like too many
    ):
        found(browser, words)
        wait_for(browser, f"shown.length === {count}")
        assert ("No exact match" in said.text) is (count > 0)
    found(browser, "niudun")
    wait_for(browser, "document.getElementById('found').textContent === '300 of 900'")


def test_a_stick_fits_a_phone_and_prints_all_that_is_chosen(stick: Path, browser: Any) -> None:
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get((stick / "index.html").as_uri())
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    (poster,) = set(browser.execute_script("return held.map(one => one.poster)"))
    assert (stick / poster).read_bytes().startswith(b"\x89PNG")  # what Ruffle shows
    subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=stick, check=True)
    found(browser, "zheshe")
    wait_for(browser, "shown.length === 300")
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    wait_for(browser, "document.querySelectorAll('.card').length === shown.length")
