"""Archives to browse in the tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from mmcrawl.archive import Capture, open_archive
from mmcrawl.browse import Context, Limits, Options, create_app, open_context

HTML = (("Content-Type", "text/html; charset=utf-8"),)
DAY = 86_400.0
START = 1_700_000_000.0  # 2023-11-14
LEVER = "http://physics.test/lever.html"
FILM = "http://films.test/waves.html"


def lever(force: str, more: str = "Archimedes wanted to lift the earth with one of them.") -> bytes:
    """Return a page that changes: its text, and a second paragraph."""
    return (
        "<title>The lever</title><body><h1>The lever</h1>"
        f"<div><p>A lever turns about its fulcrum; {force} times arm is the same on both sides,"
        " as everybody finds who sits on a seesaw with a heavier friend.</p></div>"
        f"<div id=more><p>{more}</p></div>"
        "<div><p>Copyright 2023 physics.test. All rights reserved by the school.</p></div></body>"
    ).encode()


def captures() -> Iterator[Capture]:
    """Yield a page in three versions, one with media, one alone, and a file that is no page."""
    yield Capture(LEVER, lever("force"), START, headers=HTML)
    yield Capture(LEVER, lever("weight"), START + 40 * DAY, headers=HTML)
    yield Capture(
        LEVER, lever("weight", "Oars are levers as well."), START + 80 * DAY, headers=HTML
    )
    yield Capture(
        FILM,
        b"<title>Waves</title><h1>Waves</h1><p>See <a href=waves.mp4>a film of water waves</a>,"
        b" <a href=sound.mp3>hear a tone</a>, or <a href=ripple.swf>play with ripples</a>.</p>",
        START + DAY,
        headers=HTML,
    )
    yield Capture(
        "http://films.test/", "<html lang=zh><h1>力学</h1><p>杠杆与力学的影片。</p>".encode(),
        START + 2 * DAY, headers=HTML,
    )  # fmt: skip
    yield Capture(
        "http://films.test/notes.txt",
        b"plain notes",
        START + 3 * DAY,
        headers=(("Content-Type", "text/plain"),),
    )


def fill(path: Path, more: Iterator[Capture] | None = None) -> str:
    """Make an archive; return its URI."""
    uri = f"sqlite:///{path / 'crawl-archive.db'}"
    with open_archive(uri) as archive:
        for capture in more if more is not None else captures():
            archive.store(capture)
        if more is None:
            archive.note_unchanged(LEVER, START + 60 * DAY)
    return uri


@contextmanager
def browsing(
    uri: str, options: Options | None = None, limits: Limits | None = None
) -> Iterator[tuple[TestClient, Context]]:
    """Give a client of the application, counted and indexed."""
    with open_context(uri, options=options, limits=limits) as context:
        context.surveyor.survey(context.archive.counts())
        yield client_of(context), context


def client_of(context: Context) -> TestClient:
    """Return a client that sees answers as a reader does, also of what fails."""
    return TestClient(
        create_app(context),
        base_url="http://127.0.0.1:8000",
        raise_server_exceptions=False,
        follow_redirects=False,
    )
