"""What animations say of themselves and load: read from whole, packed and damaged files."""

import io
import lzma
import struct
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.errors import MediaError
from mmcrawl.media import addresses_in_text, read_swf
from tests.media.animations import animation, tag
from tests.tables import each

DO_ACTION, SPRITE, IMPORT, ABC_2 = 12, 39, 57, 82


def swf(*tags: bytes, version: int = 8) -> bytes:
    """Return an uncompressed file with an empty stage."""
    body = b"\x00" + struct.pack("<HH", 24 << 8, 1) + b"".join(tags) + b"\0\0"
    return b"FWS" + bytes([version]) + struct.pack("<I", 8 + len(body)) + body


def lzma_packed(stored: bytes) -> bytes:
    alone = lzma.compress(stored[8:], format=lzma.FORMAT_ALONE)
    return b"ZWS\x0d" + stored[4:8] + struct.pack("<I", len(alone) - 13) + alone[:5] + alone[13:]


def addresses(data: bytes) -> tuple[str, ...]:
    return read_swf(io.BytesIO(data)).addresses


def push(*values: str | int) -> bytes:
    content = b""
    for value in values:
        if isinstance(value, str):
            content += b"\0" + value.encode() + b"\0"
        else:
            content += b"\7" + struct.pack("<i", value)
    return b"\x96" + struct.pack("<H", len(content)) + content


@each("pack", ["FWS", "CWS", "ZWS"])
def test_the_header_and_the_title_are_read_however_it_is_packed(pack):
    data = animation("单摆 & lever", frames=24, compressed=pack == "CWS")
    facts = read_swf(io.BytesIO(lzma_packed(data) if pack == "ZWS" else data))
    assert (facts.title, facts.seconds) == ("单摆 & lever", 2)


def test_animations_that_it_loads_into_levels_or_imports_are_named():
    assert addresses(animation("menu", loads=["a/1.swf", "2.swf"])) == ("a/1.swf", "2.swf")
    assert addresses(swf(tag(IMPORT, b"shared/lib.swf\0\0\0"))) == ("shared/lib.swf",)


@each("holder", ["{}", "sprite", "placed"])
def test_files_that_a_program_names_are_found_wherever_it_stands(holder):
    code = push("scenes/镜.swf", "no file.", "http://h.test:80/a.xml?x=1", 7) + b"\x17\0"
    held = {
        "{}": tag(DO_ACTION, code),
        "sprite": tag(SPRITE, b"\1\0\1\0" + tag(DO_ACTION, code)),
        "placed": tag(26, b"\x80\1\0" + code),
    }
    assert addresses(swf(held[holder])) == ("scenes/镜.swf", "http://h.test:80/a.xml?x=1")


def test_names_before_flash_6_are_chinese_where_they_are_no_ascii():
    code = push("a.swf").replace(b"a.swf", "镜.swf".encode("gb18030"))
    assert addresses(swf(tag(DO_ACTION, code), version=5)) == ("镜.swf",)


def test_texts_of_actionscript_3_that_look_like_files_are_named():
    texts = [b"movies/wave.flv", b"flash.xml", b"Wave", b".swf"]
    pool = b"\x10\0\x2e\0" + b"\0\0\0" + bytes([1 + len(texts)])
    pool += b"".join(bytes([len(text)]) + text for text in texts)
    assert addresses(swf(tag(ABC_2, b"\0\0\0\0name\0" + pool))) == ("movies/wave.flv",)


def test_of_a_file_that_is_cut_off_what_came_is_told():
    data = animation("lens", loads=["a.swf"], compressed=False)
    assert addresses(data[:-5]) == ("a.swf",)


@each("data", [b"", b"FWS", b"GIF89a" + bytes(20), b"FWS\x08" + bytes(4)])
def test_what_is_no_animation_is_refused(data):
    with pytest.raises(MediaError):
        read_swf(io.BytesIO(data))


def test_a_bomb_is_refused_without_being_held(monkeypatch):
    monkeypatch.setattr("mmcrawl.media.swf._MOST", 64 << 20)
    packed = zlib.compressobj(9)
    zeros = b"\0" * (1 << 20)
    stage = b"\x00" + struct.pack("<HH", 24 << 8, 1) + struct.pack("<HI", 1 << 6 | 0x3F, 1 << 30)
    body = packed.compress(stage) + packed.flush(zlib.Z_FULL_FLUSH)
    body += (packed.compress(zeros) + packed.flush(zlib.Z_FULL_FLUSH)) * 80
    with pytest.raises(MediaError, match="64 MB"):
        read_swf(io.BytesIO(b"CWS\x08\0\0\0\x7f" + body + packed.flush()))


@given(st.integers(0, 10**6), st.binary(max_size=12), st.booleans())
def test_damage_raises_nothing_but_that_it_cannot_be_read(place, damage, compressed):
    data = bytearray(animation("lens", loads=["a.swf"], frames=4, compressed=compressed))
    place %= len(data)
    data[place : place + len(damage)] = damage
    with suppress(MediaError):
        read_swf(io.BytesIO(bytes(data)))


@given(st.binary(max_size=300))
def test_any_program_can_be_followed(code):
    read_swf(io.BytesIO(swf(tag(DO_ACTION, code), tag(ABC_2, code), tag(26, code), tag(34, code))))


@each(
    "text",
    [
        '<songs><song src="a.mp3"/><film>b/c.flv</film></songs>',
        '{"songs": ["a.mp3"], "film": "b\\/c.flv"}',
        "song=a.mp3&film=b/c.flv&count=2",
        "a.mp3\nb/c.flv\n",
    ],
)
@each("encoding", ["utf-8", "utf-16"])
def test_playlists_of_any_notation_are_read(text, encoding):
    assert addresses_in_text(text.encode(encoding)) == ["a.mp3", "b/c.flv"]
