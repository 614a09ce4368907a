"""What files say of themselves: the demo's, whose titles and lengths are known."""

import io

import pytest

from mmcrawl.collecting.works.file_tags import FileTags, tags_of
from mmcrawl.replay.demo.files import file_at


@pytest.mark.parametrize("path", ["/a/lens.swf", "/a/lens.mp3", "/a/lens.mp4"])
def test_title_and_length_are_read(path: str) -> None:
    tags = tags_of(io.BytesIO(file_at(path, "单摆 lens")))
    assert tags.title == "单摆 lens"
    assert 0.9 < tags.duration < 11


@pytest.mark.parametrize("data", [b"", b"CWS\x08\0\0\0\0damaged", b"ID3", b"<html>"])
def test_what_cannot_be_read_has_no_tags(data: bytes) -> None:
    assert tags_of(io.BytesIO(data)) == FileTags()
