"""A WACZ file as ReplayWeb.page shows it, in a real browser.

``npm pack replaywebpage`` and unpack it; then name its folder in MMCRAWL_TEST_REPLAYWEBPAGE.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from mmcrawl.archive import Capture, open_archive
from mmcrawl.archive.warc import export_warc
from tests.browse.chromium import chromium, needs_chromium
from tests.browse.serving import free_port, served

PLAYER = "MMCRAWL_TEST_REPLAYWEBPAGE"
ATTEMPTS = 4
LOOKS = 240  # half a second between them
TIME = 1_700_000_000.0
PAGE = "http://physics.test/levers"

pytestmark = needs_chromium

# The page is in a frame of a frame, each in the shadow of an element.
TEXT = """
function inside(root) {
  const here = root.body && root.body.innerText || "";
  const nested = [...root.querySelectorAll("*")].flatMap((one) => {
    if (one.shadowRoot) return [inside(one.shadowRoot)];
    if (one.tagName === "IFRAME" && one.contentDocument) return [inside(one.contentDocument)];
    return [];
  });
  return [here, ...nested].join("\\n");
}
return inside(document);
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """A site with the player, and an archive as WACZ."""
    player = os.environ.get(PLAYER)
    if not player:
        pytest.skip(f"no ReplayWeb.page: npm pack replaywebpage, and name its folder in {PLAYER}")
    html = "<title>Levers</title><p>A lever lifts a heavy load. 杠杆<img src=/pivot.png>"
    with open_archive(f"sqlite:///{tmp_path / 'a.db'}") as archive:
        headers = (("Content-Type", "text/html; charset=utf-8"),)
        archive.store(Capture(PAGE, html.encode(), TIME, headers=headers))
        archive.store(Capture(PAGE, html.replace("lifts", "lifted").encode(), TIME + 86_400,
                              headers=headers))  # fmt: skip
        site = tmp_path / "site"
        site.mkdir()
        export_warc(archive, site / "physics.wacz")
    shutil.copy(Path(player) / "ui.js", site)
    (site / "replay").mkdir()
    for name in ("sw.js", "ui.js"):
        shutil.copy(Path(player) / name, site / "replay")
    (site / "index.html").write_text(
        f'<script src="/ui.js"></script><replay-web-page source="/physics.wacz" url="{PAGE}"'
        ' embed="replayonly" style="height: 400px"></replay-web-page>'
    )
    files = StaticFiles(directory=site, html=True)
    with served(Starlette(routes=[Mount("/", files)]), free_port()) as origin:
        yield origin


def test_the_newest_version_of_a_page_is_shown(tmp_path: Path, site: str) -> None:
    """Its service worker does not always take its frame over: who sees nothing opens it anew."""
    for attempt in range(ATTEMPTS):
        with chromium(tmp_path / f"profile-{attempt}") as browser:
            browser.get(site)
            for _ in range(LOOKS):
                shown = browser.execute_script(TEXT)
                if "A lever lifted a heavy load. 杠杆" in shown:
                    return
                sleep(0.5)
            said = browser.get_log("browser")
    pytest.fail(f"shown: {shown!r}; the browser says {said}")
