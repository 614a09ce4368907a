"""A media store in a bucket, on a server of S3's protocol (moto) and by s3fs.

Both are in an environment of their own: s3fs pins what the project has newer.
"""

import hashlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mmcrawl.media import State
from tests.desks import ended_by
from tests.media.serving import MediaDesk, MediaServer, Medium, film
from tests.programs import ROOT
from tests.waiting import HANG, until

PYTHON = os.environ.get("MMCRAWL_TEST_S3", "")
pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not PYTHON, reason="no s3fs and moto: name a Python in MMCRAWL_TEST_S3"),
]
_NAMES = """
import json, s3fs
s3fs.S3FileSystem.clear_instance_cache()
system = s3fs.S3FileSystem()
print(json.dumps({path: system.size(path) for path in system.find("media")}))
"""
_SIZES = """
import hashlib, pathlib, resource, sys
from mmcrawl.media.files import open_files
files, path = open_files("s3://media/store"), pathlib.Path("came")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for size in map(int, sys.argv[1:]):
    with path.open("wb") as file:
        for start in range(0, size, 1 << 20):
            file.write(bytes([start >> 20]) * min(size - start, 1 << 20))
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    files.keep(path, digest)
    assert not path.exists()
    assert files.has(digest, size)
    with files.open(digest) as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == digest
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server with an empty bucket `media`, as all processes find it."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [PYTHON, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def answers() -> bool:
        assert process.poll() is None, "the server does not start"
        with closing(socket.socket()) as tried:
            return tried.connect_ex(("127.0.0.1", port)) == 0

    until(answers, 0.1)
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    for name, value in {
        **dict.fromkeys(names, "test"),
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "PYTHONPATH": str(ROOT),
        "no_proxy": "*",
    }.items():
        monkeypatch.setenv(name, value)
    try:
        said("import s3fs; s3fs.S3FileSystem().mkdir('media')")
        yield
    finally:
        process.terminate()
        process.wait(HANG)


def said(program: str, *arguments: str, folder: Path | None = None) -> str:
    run = subprocess.run(
        [PYTHON, "-c", program, *arguments], capture_output=True, text=True, cwd=folder, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def objects() -> dict[str, int]:
    """Return the sizes of what is in the bucket, by the last part of its name."""
    return {name.rpartition("/")[2]: size for name, size in json.loads(said(_NAMES)).items()}


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@pytest.fixture
def far(desk: MediaDesk, server: MediaServer, bucket: None) -> MediaDesk:
    """A crawl that found two films; it is collected with s3fs."""
    desk.python = PYTHON
    server.media = {
        "/a.mp4": Medium(film(20 << 20), {"ETag": '"1"'}),
        "/b.mp4": Medium(film(500, 2)),
    }
    desk.found(map(server.url, server.media), server.url("/"))
    return desk


STORE = {"MMCRAWL_MEDIA": "s3://media/store"}


def test_files_of_all_sizes_are_kept_wholly_and_not_in_memory(bucket: None, tmp_path: Path) -> None:
    sizes = [0, 1, 6 << 20, (6 << 20) + 1, (8 << 20) + 1, 150 << 20]
    more = int(said(_SIZES, *map(str, sizes), folder=tmp_path))
    assert sorted(objects().values()) == sizes
    assert more < 120_000  # kB


def test_media_are_kept_in_a_bucket_and_fetched_once(far: MediaDesk, server: MediaServer) -> None:
    run = far.collect(**STORE)
    assert run.code == 0, run.err
    assert objects() == {digest(film(20 << 20)): 20 << 20, digest(film(500, 2)): 500}
    assert far.summary().held == {"video": 2}
    assert far.on_their_way() == []
    assert far.collect("again=held", **STORE).code == 0
    assert len(objects()) == 2


def test_kills_while_a_file_is_sent_leave_nothing_half(far: MediaDesk, server: MediaServer) -> None:
    for number in range(4):
        with far.start_collecting(**STORE) as process:
            url, poll = server.url("/a.mp4"), process.poll
            until(lambda: far.noted(url) >= 20 << 20 or poll() is not None)  # noqa: B023
            time.sleep(0.05 * number)
            ended_by(process, signal.SIGKILL)
        assert set(objects()) <= {digest(film(20 << 20)), digest(film(500, 2))}
        assert objects().get(digest(film(20 << 20)), 20 << 20) == 20 << 20
    assert far.collect(**STORE).code == 0
    assert objects() == {digest(film(20 << 20)): 20 << 20, digest(film(500, 2)): 500}
    assert far.summary().addresses == {State.HELD: 2}


def test_a_bucket_that_cannot_be_used_is_said_in_a_sentence_and_loses_nothing(far, monkeypatch):
    place = "s3://medai/store"  # there is no such bucket
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    run = far.collect(MMCRAWL_MEDIA=place)
    assert run.code == 1, run.err
    assert f"media store {place} cannot be used" in run.err
    assert "Traceback" not in run.err
    assert far.summary().addresses == {State.WAITING: 2}
