"""A crawl that lies where nothing may be written is browsed all the same."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from mmcrawl.browse import Options
from mmcrawl.media import folder_of
from mmcrawl.store import sqlite_files
from mmcrawl.works import open_catalogue
from tests.browse.catalogue import browsing, fill
from tests.browse.test_crawls_shown import crawl
from tests.browse.works import MOVIE, WAVES, keep_works, key_of

PAGES = ("/", "/search?q=lever", "/works", "/collections", "/crawls", "/oai?verb=Identify")


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A crawl with archive, works and media, in a folder in which SQLite can make no file.

    Permissions would not do: they do not hold for root.
    """
    uri, options = fill(tmp_path), Options(store=crawl(tmp_path))
    keep_works(tmp_path)
    with browsing(uri, options) as (client, _):
        assert client.get("/search?q=lever").status_code == 200  # there is an index now
    files = [path for path in tmp_path.rglob("*.db*") if not path.name.endswith(("-shm", "-wal"))]
    assert len(files) == 6
    for path in files:
        Path(f"{path}-shm").unlink(missing_ok=True)
        Path(f"{path}-shm").mkdir()
    access = os.access
    monkeypatch.setattr(
        sqlite_files.os,
        "access",
        lambda path, mode, **named: mode != os.W_OK and access(path, mode, **named),
    )
    with browsing(uri, options) as (client, _):
        yield client


def test_what_may_not_be_written_is_shown(client: TestClient) -> None:
    for path in PAGES:
        assert client.get(path).status_code == 200, path
    assert "Water waves" in client.get("/works").text
    assert "seesaw" in client.get("/search?q=lever").text
    assert client.get(f"/work/file/{WAVES.id}/0/waves.mp4").content == MOVIE


def test_what_would_write_there_is_a_sentence(client: TestClient, tmp_path: Path) -> None:
    key = key_of(client)
    for path, form in (
        ("/collections/add", {"name": "Friday", "work": WAVES.id}),
        ("/work/correct", {"id": WAVES.id, "title": "Wellen"}),
    ):
        answer = client.post(path, data={"form_key": key, **form})
        assert answer.status_code == 503, path
        assert "read-only" in answer.text, path
    store = f"sqlite:///{tmp_path / 'crawl.db'}"
    with open_catalogue(store, folder_of(store, None), create=False) as found:
        assert found.find(WAVES.id).title == WAVES.title
