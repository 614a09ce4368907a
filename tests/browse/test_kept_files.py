"""Files of a media store that is no folder are played from any place."""

from hashlib import sha256
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from mmcrawl.browse import kept_file
from mmcrawl.media import open_files
from tests.tables import each

pytest.importorskip("fsspec")

BYTES = bytes(range(200))


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    files, digest = open_files("memory://media"), sha256(BYTES).hexdigest()
    coming = tmp_path / "coming"
    coming.write_bytes(BYTES)
    files.keep(coming, digest)

    def answer(request: Request) -> Response:
        size = len(BYTES) if request.url.path == "/known" else 0
        wanted = request.headers.get("range", "")
        return kept_file(files, digest, mime="video/mp4", size=size, path="a/水.mp4", wanted=wanted)

    return TestClient(Starlette(routes=[Route("/{any}", answer)]))


@each(
    "wanted, start, end",
    [("bytes=0-3", 0, 4), ("bytes=190-", 190, 200), ("bytes=-4", 196, 200),
     ("bytes=-999", 0, 200), ("bytes=100-999999", 100, 200)],
)  # fmt: skip
def test_a_range_is_answered(client: TestClient, wanted: str, start: int, end: int) -> None:
    answer = client.get("/known", headers={"Range": wanted})
    assert (answer.status_code, answer.content) == (206, BYTES[start:end])
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/200"
    assert answer.headers["content-length"] == str(end - start)


@each("wanted", ["", "bytes=", "bytes=-", "bytes=5-2", "lines=1-2", "bytes=1-2,4-5"])
def test_what_is_no_range_gets_all(client: TestClient, wanted: str) -> None:
    answer = client.get("/known", headers={"Range": wanted})
    assert (answer.status_code, answer.content) == (200, BYTES)
    assert answer.headers["accept-ranges"] == "bytes"


@each("wanted", ["bytes=200-", "bytes=-0"])
def test_what_is_behind_the_end_is_told(client: TestClient, wanted: str) -> None:
    answer = client.get("/known", headers={"Range": wanted})
    assert (answer.status_code, answer.headers["content-range"]) == (416, "bytes */200")
