"""Pages that only a browser can read: scrapy-playwright in another project with our addon.

The variable MMCRAWL_TEST_PLAYWRIGHT names a Python that has scrapy-playwright and what mmcrawl
depends on; the browser is the Chromium of this machine.
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs import run
from tests.serving import Answer, Request, Server

ROOT = Path(__file__).resolve().parents[2]
EXTENDING = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"```python\n# (\S+\.py)\n(.*?)```", EXTENDING, re.DOTALL))
SCRIPT = """
for (const [tag, attribute, name] of %s) {
  const element = document.createElement(tag);
  element.setAttribute(attribute, name);
  element.textContent = "optics of a lens";
  document.body.append(element);
}
"""
HEAD = "<title>Optics</title><h1>Optics: refraction by a lens</h1><body>"


def page(*added: tuple[str, str, str]) -> bytes:
    """A page to which a script adds elements, each with an attribute."""
    return f"{HEAD}<script>{SCRIPT % json.dumps(added)}</script>".encode()


PAGES = {
    "/": page(("a", "href", "next.html"), ("a", "href", "kept-out.html")),
    "/next.html": page(("video", "src", "lens.mp4")),
    "/kept-out.html": page(("video", "src", "other.mp4")),
    "/robots.txt": b"User-agent: *\nDisallow: /kept-out.html\n",
}
SETTINGS = """
PLAYWRIGHT_LAUNCH_OPTIONS = {{
    "executable_path": {chromium!r},
    "args": ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
}}
AUTOTHROTTLE_ENABLED = False
"""


@pytest.fixture
def site() -> Iterator[str]:
    """Address of a site whose links and media are added by scripts."""

    def answer(request: Request) -> Answer:
        body, kind = PAGES.get(request.path), "text/html"
        kind = "text/plain" if request.path == "/robots.txt" else kind
        return Answer(body or b"", 404 if body is None else 200, {"Content-Type": kind})

    with Server(answer) as server:
        yield server.url()


def crawl(
    python: str, folder: Path, site: str, *options: str, code: int = 0
) -> dict[str, list[str]]:
    """Crawl in a project of its own; return the videos of each media page, by their names."""
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = theirs\n")
    (folder / "theirs.py").write_text(
        EXAMPLES["settings.py"] + SETTINGS.format(chromium=shutil.which("chromium"))
    )
    (folder / "rendered.py").write_text(EXAMPLES["rendered.py"], encoding="utf-8")
    given = ("-a", f"seeds={site}", "-a", "keywords=optics", "-O", "media.jsonl", *options)
    run(python, "-m", "scrapy", "crawl", "focused", *given, folder=folder, code=code)
    lines = (folder / "media.jsonl").read_text(encoding="utf-8").splitlines()
    return {
        row["url"].removeprefix(site): [name.removeprefix(site) for name in row["video"]]
        for row in map(json.loads, lines)
    }


def test_media_and_links_that_scripts_add_are_found(python: str, tmp_path: Path, site: str) -> None:
    assert crawl(python, tmp_path, site) == {"next.html": ["lens.mp4"]}
