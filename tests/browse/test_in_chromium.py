"""The interface as readers use it, in a real browser: mouse, keyboard, phone, dark, no scripts."""

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from mmcrawl.browse import Options, create_app, open_context
from mmcrawl.media import folder_of
from mmcrawl.works import COLLECTIONS, Marks, Member, Suggestions, open_catalogue
from tests.browse.catalogue import FILM, LEVER, fill
from tests.browse.chromium import needs_chromium
from tests.browse.serving import free_port, served
from tests.browse.test_crawls_shown import crawl
from tests.browse.works import RIPPLES, WAVES, keep_works
from tests.tables import each
from tests.waiting import HANG

pytestmark = needs_chromium

SERIOUS = ("serious", "critical")
PHONE = 360  # CSS pixels of a small one
PATIENCE = HANG  # seconds for a page that was clicked for
LEAST_CONTRAST = 4.5  # WCAG 2, level AA, for text of usual size

PAGES = {
    "home": "/",
    "search": "/search",
    "search with hits": "/search?q=lever",
    "sites": "/sites",
    "site": "/site?host=physics.test",
    "page": "/page?" + urlencode({"url": LEVER}),
    "version": "/version?" + urlencode({"url": LEVER, "n": 2}),
    "replay": "/view?" + urlencode({"url": LEVER, "n": 1}),
    "replay with blocks": "/view?" + urlencode({"url": LEVER, "n": 1, "as": "blocks"}),
    "two versions": "/diff?" + urlencode({"url": LEVER, "old": 1, "new": 3}),
    "changes": "/watch?kind=all",
    "media item": "/media/item?" + urlencode(
        {"url": FILM, "n": 1, "m": "http://films.test/waves.mp4"}
    ),
    "works": "/works",
    "work": f"/work?id={WAVES.id}",
    "animation": f"/work?id={RIPPLES.id}",
    "collections": "/collections",
    "collection": "/collection?id=5eed5eed",
    "topics": "/topics",
    "words of a topic": "/topic/words",
    "words handed in": "/topic/suggestions?topic=physics-senior&new=1",
    "crawls": "/crawls",
    "crawl": "/crawl?" + urlencode({"job": "physics <b>"}),
    "crawl in Chinese": "/crawl?" + urlencode({"job": "physics <b>", "lang": "zh"}),
    "help": "/help",
    "help in Chinese": "/help?lang=zh",
}  # fmt: skip
REFUSED = {
    "search that is wrong": "/search?q=kind:nosuch",
    "elements that cannot be watched": "/watch?" + urlencode({"css": "p >"}),
    "page that is not there": "/page?" + urlencode({"url": "http://nowhere.test/"}),
}
ALL = PAGES | REFUSED

# What every text is written on, and how well it can be read there (WCAG 2, relative luminance).
_CONTRASTS = """
const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
const over = (top, below) => {
  const alpha = top.length > 3 ? top[3] : 1;
  return [0, 1, 2].map((i) => top[i] * alpha + below[i] * (1 - alpha));
};
const luminance = (rgb) => {
  const [r, g, b] = rgb.map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (element) => {
  if (!element) return [255, 255, 255];
  const own = channels(getComputedStyle(element).backgroundColor);
  return own[3] === 0 ? ground(element.parentElement)
    : over(own, own.length > 3 ? ground(element.parentElement) : own);
};
const found = [];
for (const element of document.querySelectorAll("body *")) {
  const texts = [...element.childNodes].filter((n) => n.nodeType === 3 && n.data.trim());
  if (!texts.length || !element.checkVisibility() || element.tagName === "TITLE") continue;
  const style = getComputedStyle(element);
  const below = ground(element instanceof SVGElement ? element.closest("svg") : element);
  const ink = element instanceof SVGElement ? style.fill : style.color;
  const lights = [luminance(over(channels(ink), below)), luminance(below)].sort((a, b) => b - a);
  found.push([(lights[0] + 0.05) / (lights[1] + 0.05), element.outerHTML.slice(0, 120)]);
}
return found;
"""


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("catalogue")
    uri, port = fill(folder), free_port()
    options = Options(store=crawl(folder), port=port)
    keep_works(folder)
    with open_catalogue(options.store, folder_of(options.store, None)) as catalogue:
        members = [asdict(Member(WAVES.id, ("tides",), "for Friday", 4)), asdict(Member("gone"))]
        record = {"name": "Friday", "note": "", "members": members, "changed_at": 0.0}
        catalogue.change(COLLECTIONS, lambda _: {"5eed5eed": record})
        Marks(catalogue).put("fiddles", LEVER, is_good=True)
        Suggestions(catalogue).put("physics-senior", [("折射", "refraction")], "Li")
    with open_context(uri, options=options) as context:
        context.surveyor.survey(context.archive.counts())
        with served(create_app(context), port) as origin:
            yield origin


@pytest.fixture(autouse=True)
def _light(browser: Any) -> None:
    dress(browser, "light")


def dress(browser: Any, scheme: str) -> None:
    """Ask for light or dark colours, and that nothing moves while it is looked at."""
    wanted = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})


def one(browser: Any, selector: str) -> Any:
    return browser.find_element("css selector", selector)


def heading(browser: Any) -> str:
    return str(one(browser, "h1").text)


def arrive(browser: Any, path: str) -> None:
    """Wait until what was clicked or pressed has led to a page, and it is there."""
    from selenium.webdriver.support.ui import WebDriverWait

    state = "return document.readyState"
    WebDriverWait(browser, PATIENCE).until(
        lambda _: (
            urlsplit(browser.current_url).path == path
            and browser.execute_script(state) == "complete"
        )
    )


def see_replay(browser: Any, word: str) -> None:
    """The frame shows the page as it was."""
    arrive(browser, "/view")
    browser.switch_to.frame(one(browser, "iframe.frame"))
    assert heading(browser) == "The lever"
    assert word in one(browser, "body").text
    browser.switch_to.default_content()


def see_difference(browser: Any) -> None:
    arrive(browser, "/diff")
    assert heading(browser) == "Two versions side by side"
    assert [part.text for part in browser.find_elements("css selector", "del")] == ["force"]
    assert [part.text for part in browser.find_elements("css selector", "ins")] == ["weight"]


@each("name", ALL)
def test_a_page_opens_without_a_complaint_and_can_be_read(browser, origin, name):
    """Also on a phone, where nothing need be scrolled sideways, in light and in the dark."""
    browser.get_log("browser")
    browser.delete_all_cookies()  # the language of the page before
    browser.get(origin + ALL[name])
    assert heading(browser)
    said = browser.get_log("browser")
    assert "40" in said[0]["message"] if name in REFUSED else said == []  # the status
    for scheme in ("light", "dark"):
        dress(browser, scheme)
        ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(20, 24, 27)") == (scheme == "dark")
        contrasts = browser.execute_script(_CONTRASTS)
        assert len(contrasts) > 10
        assert [found for found in contrasts if found[0] < LEAST_CONTRAST] == []
        assert violations(browser) == []
    metrics = {"width": PHONE, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= PHONE


def test_from_words_to_a_difference_without_scripts(browser: Any, origin: str) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get(f"{origin}{PAGES['two versions']}")
    assert one(browser, ".pairrow").get_dom_attribute("tabindex") is None  # no script has run
    browser.get(origin)
    one(browser, "#quick").send_keys("seesaw")
    one(browser, ".quick button").click()
    arrive(browser, "/search")
    assert {mark.text for mark in browser.find_elements("css selector", "mark")} == {"seesaw"}
    browser.find_element("link text", "through time").click()
    arrive(browser, "/page")
    assert (heading(browser), one(browser, ".from").text) == ("The lever", LEVER)
    browser.find_elements("link text", "replay")[-1].click()
    see_replay(browser, "force times arm")
    browser.find_element("partial link text", "history").click()
    arrive(browser, "/page")
    one(browser, "input[name=old][value='1']").click()
    one(browser, "input[name=new][value='2']").click()
    one(browser, "section#list button").click()
    see_difference(browser)


def press(browser: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def tab_to(browser: Any, selector: str, name: str = "") -> Any:
    """Go on with Tab until something has the focus; all on the way show that they have it."""
    from selenium.webdriver.common.keys import Keys

    for _ in range(80):
        press(browser, Keys.TAB)
        reached = browser.switch_to.active_element
        assert browser.execute_script(
            "const at = arguments[0], box = at.getBoundingClientRect(),"
            " style = getComputedStyle(at);"
            "return at === document.body || (style.outlineStyle !== 'none'"
            " && parseFloat(style.outlineWidth) >= 2 && box.bottom > 0 && box.right > 0"
            " && box.top < innerHeight && box.left < innerWidth);",
            reached,
        ), reached.get_attribute("outerHTML")
        wanted = browser.find_elements("css selector", selector)
        if reached in wanted and name in reached.text:
            return reached
    raise AssertionError(f"Tab does not lead to {selector} {name}")


def test_from_words_to_a_difference_by_keyboard(browser: Any, origin: str) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.get(origin)
    tab_to(browser, "a.skip")
    press(browser, Keys.ENTER)
    tab_to(browser, "#find")  # past the header
    browser.get(origin)
    tab_to(browser, "#quick")
    press(browser, "seesaw", Keys.ENTER)
    arrive(browser, "/search")
    tab_to(browser, ".hits .note a", "through time")
    press(browser, Keys.ENTER)
    arrive(browser, "/page")
    assert (heading(browser), one(browser, ".from").text) == ("The lever", LEVER)
    tab_to(browser, ".visits .more a[href*='n=1']", "replay")
    press(browser, Keys.ENTER)
    see_replay(browser, "force times arm")
    tab_to(browser, ".viewhead a", "history")
    press(browser, Keys.ENTER)
    arrive(browser, "/page")
    tab_to(browser, "input[name=old]")
    while one(browser, "input[name=old]:checked").get_attribute("value") != "1":
        press(browser, Keys.ARROW_DOWN)
    tab_to(browser, "#list input[name=new]")
    while one(browser, "input[name=new]:checked").get_attribute("value") != "2":
        press(browser, Keys.ARROW_DOWN)
    tab_to(browser, "section#list button")
    press(browser, Keys.ENTER)
    see_difference(browser)


def violations(browser: Any) -> list[str]:
    """Return what axe-core finds: npm pack axe-core, and name its axe.min.js in the variable."""
    if not (path := os.environ.get("MMCRAWL_TEST_AXE")):
        return []
    browser.execute_script(Path(path).read_text(encoding="utf-8"))
    results = browser.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document, {iframes: false}).then(done, (error) => done(String(error)));"
    )
    assert isinstance(results, dict), results
    assert len(results["passes"]) > 5
    return [
        f"{found['id']}: {node['html'][:150]}"
        for found in results["violations"]
        if found["impact"] in SERIOUS
        for node in found["nodes"]
    ]


def test_axe_would_find_it(browser: Any, origin: str) -> None:
    """The control: a field that lost its label is found."""
    if not os.environ.get("MMCRAWL_TEST_AXE"):
        pytest.skip("no axe-core: npm pack axe-core, and name its axe.min.js in MMCRAWL_TEST_AXE")
    browser.get(origin)
    browser.execute_script(
        "document.querySelector('label[for=find]').remove();"
        "document.querySelector('#find').removeAttribute('placeholder')"
    )
    assert [found.partition(":")[0] for found in violations(browser)] == ["label"]
