"""The media store in a folder and behind fsspec, and files on their way."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mmcrawl.errors import MediaError, StoreError
from mmcrawl.media import (
    Begun,
    Budget,
    MediaFiles,
    PartialFile,
    as_sizes,
    media_beside,
    open_collection,
    open_files,
)
from tests.tables import each

BODY = b"some bytes" * 1_000
DIGEST = hashlib.sha256(BODY).hexdigest()
URL = "http://h.test/a.mp4"


@pytest.fixture(params=("folder", "memory"))
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MediaFiles]:
    """A media store on each kind of place."""
    if request.param == "folder":
        yield open_files(tmp_path / "media")
        return
    fsspec = pytest.importorskip("fsspec", reason="fsspec is an extra")
    yield open_files(f"memory://{tmp_path.name}")
    fsspec.filesystem("memory").rm(f"/{tmp_path.name}", recursive=True)


def test_a_file_is_kept_by_its_digest_and_once(files: MediaFiles, tmp_path: Path) -> None:
    for _ in range(2):
        path = tmp_path / "came"
        path.write_bytes(BODY)
        files.keep(path, DIGEST)
        assert not path.exists()
    assert files.has(DIGEST, len(BODY))
    assert not files.has(DIGEST, len(BODY) - 1)
    assert not files.has("0" * 64, 0)
    with files.open(DIGEST) as file:
        assert file.read() == BODY
    with pytest.raises(StoreError, match="has no file 000"):
        files.open("0" * 64)


def test_media_are_beside_the_store_unless_a_folder_is_named(tmp_path: Path) -> None:
    assert media_beside("sqlite:///some/demo.db") == Path("some/demo-media")
    assert media_beside("mongodb://user:secret@h.test/crawls?w=1") == Path("crawls-media")
    named = tmp_path / "named"
    with open_collection(f"sqlite:///{tmp_path / 'crawl.db'}", str(named)) as collection:
        assert collection.partial == named / "partial"
        assert (named / "index.db").is_file()


def begun(folder: Path, body: bytes) -> None:
    """Leave a file as a process does that is killed after a checkpoint."""
    part = PartialFile(folder, URL)
    part.resume()
    part.note(Begun(URL, length=10 * len(body), etag='"1"', content_type="video/mp4"))
    part.write(body)
    part.close()


def test_a_file_goes_on_at_its_checkpoint_and_not_behind_it(tmp_path: Path) -> None:
    begun(tmp_path, BODY)
    [path] = [path for path in tmp_path.iterdir() if not path.suffix]
    path.write_bytes(BODY + b"what came after the checkpoint")
    part = PartialFile(tmp_path, URL)
    part.resume()
    assert (part.size, part.digest, part.begun.etag) == (len(BODY), DIGEST, '"1"')
    part.write(b"more")
    assert part.digest == hashlib.sha256(BODY + b"more").hexdigest()
    part.close()
    assert path.read_bytes() == BODY + b"more"


@each(
    "damage",
    [
        lambda path: path.write_bytes(b"X" + BODY[1:]),
        lambda path: path.write_bytes(BODY[:-1]),
        lambda path: path.unlink(),
        lambda path: path.with_suffix(".json").write_text('{"url": "' + URL),
    ],
)
def test_a_damaged_file_begins_anew(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    begun(tmp_path, BODY)
    [path] = [path for path in tmp_path.iterdir() if not path.suffix]
    damage(path)
    part = PartialFile(tmp_path, URL)
    part.resume()
    assert (part.size, part.begun.etag) == (0, "")
    part.remove()
    assert list(tmp_path.iterdir()) == []


def test_one_process_at_a_time_writes_a_file(tmp_path: Path) -> None:
    part = PartialFile(tmp_path, URL)
    with pytest.raises(MediaError, match="another process fetches it"):
        PartialFile(tmp_path, URL)
    part.close()
    PartialFile(tmp_path, URL).remove()


def test_bounds_are_of_kinds_and_of_all() -> None:
    assert as_sizes("20GB, video:1.5GB") == {"all": 20 * 10**9, "video": 15 * 10**8}
    budget = Budget(per_file=50, most={"video": 60, "all": 100}, disk_left=10)
    free = 10**6
    assert budget.refusal("video", 51, 51, free).startswith("larger than max_file")
    budget.promise("video", 50)
    assert "of video" in budget.refusal("video", 11, 11, free)
    assert budget.refusal("audio", 50, 50, free) == ""
    budget.promise("audio", 45)
    assert budget.refusal("audio", 6, 50, free) == "no room within max_media (100 bytes)"
    assert budget.refusal("audio", 5, 50, 14).startswith("no room on the disk")
