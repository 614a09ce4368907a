"""Archives on every backend, and pages to keep in them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mmcrawl.archive import Archive, Capture, open_archive
from tests.databases import opened_uri

PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Levers</title></head>
<body>
<div id="nav"><ul><li><a href="/">Home</a></li><li><a href="/a">Lessons</a></li></ul></div>
<div id="main"><h1>{title}</h1><p>{text}</p><p>A lever is a beam on a pivot; effort moves load.</p>
</div>
<div id="more"><h2>Pulleys</h2><p>A pulley is a wheel on an axle that supports a rope.</p></div>
<div id="foot"><p>Copyright 2024, the school of physics. All rights reserved.</p></div>
</body></html>"""

URL = "http://physics.test/levers.html"


STORES = ("sqlite", "mongodb")


@pytest.fixture(params=STORES)
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URI of an archive that does not exist yet, on each backend."""
    with opened_uri(request.param, tmp_path, "archive.db") as uri:
        yield uri


@pytest.fixture
def archive(uri: str) -> Iterator[Archive]:
    with open_archive(uri) as opened:
        yield opened


@pytest.fixture
def in_a_file(tmp_path: Path) -> Iterator[Archive]:
    """Return an archive for what takes long and is the same on each backend."""
    with open_archive(f"sqlite:///{tmp_path / 'archive.db'}") as opened:
        yield opened


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tails, packs and segments be full after some pages."""
    monkeypatch.setattr("mmcrawl.archive.format.sealing.CLOSED", 60_000)
    monkeypatch.setattr("mmcrawl.archive.format.sealing.LARGEST_SEGMENT", 90_000)
    monkeypatch.setattr("mmcrawl.archive.format.sealing.TAIL", 30_000)
    monkeypatch.setattr("mmcrawl.archive.format.writing.OWN_FROM", 1)
    monkeypatch.setattr("mmcrawl.archive.format.writing.LARGEST_BATCH", 30_000)


LESSON = """<!DOCTYPE html><html lang="en"><head><title>{head}</title></head><body>
<ul><li><a href="/">Home</a></li><li><a href="/a">Lessons</a></li><li>{nav}</li></ul>
<div id="main"><h1>Lenses</h1><p class="{style}">A lens bends light towards its axis, and the image
stands where the rays meet again, upside down and smaller than the thing itself; {text}</p></div>
<div class="advert"><p>Advertisement: {advert}</p></div>
<p>Copyright 2009 Optics</p></body></html>"""


def lesson(
    time: float,
    *,
    text: str = "so does the eye.",
    advert: str = "Buy lenses now",
    style: str = "",
    nav: str = '<a href="/b">Tests</a>',
    head: str = "Lenses",
    url: str = URL,
    status: int = 200,
) -> Capture:
    """Return a capture of a page of which several kinds of blocks can change."""
    body = LESSON.format(text=text, advert=advert, style=style, nav=nav, head=head).encode()
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return Capture(url, body, time, status=status, headers=headers)


@pytest.fixture
def page() -> Callable[..., Capture]:
    """Return a maker of captures of a small page."""

    def make(
        text: str = "Give me a place to stand.",
        time: float = 1_000.0,
        url: str = URL,
        **more: object,
    ) -> Capture:
        body = PAGE.format(title="Levers", text=text).encode()
        headers = (("Content-Type", "text/html; charset=utf-8"), ("Set-Cookie", "a=1"))
        given: dict[str, object] = {"headers": headers, "reason": "OK", **more}
        return Capture(url, body, time, **given)  # type: ignore[arg-type]

    return make
