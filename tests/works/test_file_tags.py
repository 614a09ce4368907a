"""What files say of themselves: the demo's, whose titles and lengths are known."""

import io
import struct
import zlib
from hashlib import sha256

import pytest

from mmcrawl.media import FolderFiles
from mmcrawl.replay import DemoWeb
from mmcrawl.works import FileTags, TagReader, tags_of
from tests.tables import each


@each(
    "url, title, seconds",
    [
        ("http://wuli.demo.test/gaozhong/wuli/yanshi.swf", "牛顿第二定律演示", 4.833),
        ("http://app.demo.test/media/momentum.mp4", "Conservation of momentum", 8),
        ("http://music.demo.test/singles/music15.mp3", "New: Erin Walsh", 8.97),
    ],
)
def test_title_and_length_are_read(url: str, title: str, seconds: float) -> None:
    tags = tags_of(io.BytesIO(DemoWeb().get(url).body))
    assert tags.title == title
    assert tags.duration == pytest.approx(seconds, abs=0.001)


def chunk(name: bytes, *content: bytes) -> bytes:
    data = b"".join(content)
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def avi(title: str, seconds: int) -> bytes:
    """Return a film without pictures worth seeing, ten of them a second."""
    frames = 10 * seconds
    head = struct.pack("<14I", 100_000, 0, 0, 0x10, frames, 0, 1, 0, 16, 16, 0, 0, 0, 0)
    stream = b"vidsDIB " + struct.pack("<I2H8I4H", 0, 0, 0, 0, 1, 10, 0, frames, *[0] * 7)
    picture = struct.pack("<I2i2H6I", 40, 16, 16, 1, 24, 0, 768, 0, 0, 0, 0)
    streams = chunk(b"LIST", b"strl", chunk(b"strh", stream), chunk(b"strf", picture))
    return chunk(
        b"RIFF",
        b"AVI ",
        chunk(b"LIST", b"hdrl", chunk(b"avih", head), streams),
        chunk(b"LIST", b"INFO", chunk(b"INAM", title.encode() + b"\0")),
        chunk(b"LIST", b"movi", *[chunk(b"00db", bytes(768))] * frames),
    )


def test_formats_that_mutagen_does_not_read_are_read() -> None:
    assert tags_of(io.BytesIO(avi("lens", 7))) == FileTags(title="lens", duration=7)


def boxes(count: int) -> bytes:
    """Return a film in MP4 whose boxes are nested."""
    sizes = (struct.pack(">I", 8 * (count - place)) for place in range(count))
    return b"\0\0\0\x10ftypM4A \0\0\0\0" + b"".join(size + b"moov" for size in sizes)


DAMAGED = [b"", b"\x1aE\xdf\xa3damaged", b"RIFF", b"CWS\x08\0\0\0\0damaged", b"ID3", b"<html>"]


@each("data", [*DAMAGED, boxes(10_000)])
def test_what_cannot_be_read_has_no_tags(data: bytes) -> None:
    assert tags_of(io.BytesIO(data)) == FileTags()


def song(title: bytes, *, flags: int = 0) -> bytes:
    """Return a sound whose tag, of ID3, has a title."""
    sizes = (len(title), len(title) + 10)
    size, whole = (bytes(n >> shift & 127 for shift in (21, 14, 7, 0)) for n in sizes)
    head = b"ID3\4\0\0" + whole + b"TIT2" + size + bytes((0, flags))
    return head + title + (b"\xff\xfb\x90d" + bytes(413)) * 9


def bomb(size: int) -> bytes:
    """Return a title of so many megabytes in a few kilobytes each."""
    million = b"\x03" * (1 << 20)
    pack = zlib.compressobj(9, wbits=-15)
    packed = pack.compress(million) + pack.flush(zlib.Z_FULL_FLUSH)
    check = 1
    for _ in range(size):
        check = zlib.adler32(million, check)
    return bytes(4) + b"\x78\xda" + packed * size + b"\3\0" + struct.pack(">I", check)


def test_a_file_that_unpacks_to_more_than_the_memory_has_no_tags_and_the_next_one_has(tmp_path):
    with TagReader(str(tmp_path)) as read:
        for data, title in ((song(bomb(1_100), flags=0b1001), ""), (song(b"\3Lenses"), "Lenses")):
            path = tmp_path / "came"
            path.write_bytes(data)
            digest = sha256(data).hexdigest()
            FolderFiles(tmp_path).keep(path, digest)
            assert read(digest).title == title


def test_a_simulation_of_one_file_says_whose_it_is_and_what_is_allowed() -> None:
    page = """<!DOCTYPE HTML>
<html><head><title>\u202aBending Light\u202c</title></head>
<!--
Bending Light 1.2.0
Copyright 2002-2024, Regents of a University
Simulations of a University

This file is licensed under Creative Commons Attribution 4.0
For licenses for third-party software used by this simulation, see below
-->
<body><script>text = "licensed under CC BY-NC 3.0; Copyright (c) 2014 Eli"</script>"""
    tags = tags_of(io.BytesIO(b"\xef\xbb\xbf" + page.encode()))
    assert (tags.title, tags.creator) == ("Bending Light", "Regents of a University")
    assert tags.copyright == "Creative Commons Attribution 4.0"
