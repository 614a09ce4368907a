"""What a file is, by its first bytes and what the server says."""

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.media import DASH, HEAD, HLS, kind_of, moves, says_no_media, type_of
from tests.tables import each

MP4 = b"\x00\x00\x00\x18ftypisom" + bytes(50)


@each(
    "head, header, seen",
    [
        (MP4, "video/mp4", "video/mp4"),
        (MP4, "text/html", "video/mp4"),
        (MP4, "audio/mp4", "audio/mp4"),
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
def test_bytes_decide_and_the_header_says_which_of_several(head, header, seen):
    assert type_of(head, header) == seen


def test_what_holds_sound_or_pictures_is_what_it_was_taken_for() -> None:
    assert kind_of("application/ogg", "video") == "video"
    assert kind_of("application/ogg", "audio") == "audio"
    assert kind_of("audio/mpeg", "video") == "audio"
    assert kind_of("text/html", "video") == ""


def test_a_header_alone_tells_only_of_what_nobody_says_of_media() -> None:
    assert says_no_media("image/png", "video")
    assert says_no_media("application/pdf; charset=binary", "video")
    assert not says_no_media("application/pdf", "document")
    assert not says_no_media("image/gif", "image-animation")
    assert not says_no_media("text/html", "video")
    assert not says_no_media("", "video")


@each(
    "head, header, wanted, is_it",
    [
        (b"%PDF-1.7", "application/pdf", "document", True),
        (b"%PDF-1.7", "application/pdf", "video", False),
        (b"PK\x03\x04", "application/octet-stream", "document", True),
        (b"PK\x03\x04", "application/zip", "package", True),
        (b"PK\x03\x04", "", "simulation", True),
        (b"PK\x03\x04", "", "animation", False),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "", "document", True),
        (b"Rar!\x1a\x07", "", "package", True),
        (b"MZ\x90", "", "package", True),
        (b"GIF89a", "image/gif", "image-animation", True),
    ],
)
def test_documents_and_packages_are_told_by_what_they_were_taken_for(head, header, wanted, is_it):
    assert kind_of(type_of(head, header), wanted) == (wanted if is_it else "")


@each(
    "head, is_moving",
    [
        (b"GIF89a\x01\x00\x01\x00\x80\x00\x00" + bytes(6) + b"!\xff\x0bNETSCAPE2.0", True),
        (b"GIF89a\x01\x00\x01\x00\x80\x00\x00" + bytes(6) + b",\x00", False),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(17) + b"\x00\x00\x00\x08acTL", True),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(17) + b"\x00\x00\x00\x08IDATacTL", False),
        (b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02", True),
        (b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10", False),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", False),
    ],
)
def test_the_first_bytes_of_a_picture_tell_whether_it_moves(head: bytes, is_moving: bool) -> None:
    assert moves(head) is is_moving


@given(st.binary(max_size=HEAD), st.text(max_size=80))
def test_any_bytes_and_any_header_have_some_type(head: bytes, header: str) -> None:
    kind_of(type_of(head, header), "video")
