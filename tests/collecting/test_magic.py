"""What a file is, by its first bytes and what the server says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.collecting.magic import DASH, HEAD, HLS, kind_of, says_no_media, type_of

MP4 = b"\x00\x00\x00\x18ftypisom" + bytes(50)


@pytest.mark.parametrize(
    ("head", "header", "seen"),
    [
        (MP4, "video/mp4", "video/mp4"),
        (MP4, "text/html", "video/mp4"),
        (MP4, "audio/mp4", "audio/mp4"),
        (MP4, "", "video/mp4"),
        (b"\x00\x00\x00\x14ftypM4A " + bytes(9), "video/mp4", "audio/mp4"),
        (b"FWS\x05" + bytes(9), "text/plain", "application/x-shockwave-flash"),
        (b"OggS" + bytes(50), "video/ogg", "video/ogg"),
        (b"OggS" + bytes(50), "text/plain", "application/ogg"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", "", "audio/x-wav"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "video/webm", "image/webp"),
        (b"nothing WAVE", "audio/wav", "text/plain"),
        (b"\xff\xfb\x90\x64" + bytes(400), "application/octet-stream", "audio/mpeg"),
        (b"\xff\xf1\x50\x80" + bytes(400), "", "audio/aac"),
        (b"\xff\xd8\xff\xe0" + bytes(400), "video/mp4", "image/jpeg"),
        (b"\xff\xfe<\x00h\x00", "", ""),
        ((b"\x47" + bytes(187)) * 3, "", "video/mp2t"),
        (b"\xef\xbb\xbf  <!doctype HTML><p>", "video/mp4", "text/html"),
        (b"<!-- made by hand --><html>", "video/mp4", "text/html"),
        (b'<?xml version="1.0"?><MPD xmlns="urn">', "video/mp4", DASH),
        (b"#EXTM3U\n#EXT-X-VERSION:3", "text/plain", HLS),
        (b'{"error": "no such file"}', "video/mp4", "text/plain"),
        (b"\x01\x02\x03\x04" * 30, "video/x-unheard-of", "video/x-unheard-of"),
        (b"\x01\x02\x03\x04" * 30, "application/octet-stream", ""),
    ],
)
def test_bytes_decide_and_the_header_says_which_of_several(
    head: bytes, header: str, seen: str
) -> None:
    assert type_of(head, header) == seen


def test_what_holds_sound_or_pictures_is_what_it_was_taken_for() -> None:
    assert kind_of("application/ogg", "video") == "video"
    assert kind_of("application/ogg", "audio") == "audio"
    assert kind_of("audio/mpeg", "video") == "audio"
    assert kind_of("text/html", "video") == ""


def test_a_header_alone_tells_only_of_what_nobody_says_of_media() -> None:
    assert says_no_media("image/png")
    assert says_no_media("application/pdf; charset=binary")
    assert not says_no_media("text/html")
    assert not says_no_media("")


@given(st.binary(max_size=HEAD), st.text(max_size=80))
def test_any_bytes_and_any_header_have_some_type(head: bytes, header: str) -> None:
    kind_of(type_of(head, header), "video")
