"""Reading playlists of HLS, whatever stands in them."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcrawl.errors import MediaError
from mmcrawl.media import Track, read_hls
from tests.tables import each

BASE = "http://h.test/films/list"
HLS = """#EXTM3U
#EXT-X-VERSION:7
#EXT-X-TARGETDURATION:6
#EXT-X-MEDIA-SEQUENCE:7
#EXT-X-KEY:METHOD=AES-128,URI="key.bin"
#EXT-X-MAP:URI="all.mp4",BYTERANGE="100@0"
#EXTINF:6.0,
#EXT-X-BYTERANGE:50@100
all.mp4
#EXTINF:3.5,
#EXT-X-BYTERANGE:60
all.mp4
#EXT-X-ENDLIST
"""
MASTER = """#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="zh",DEFAULT=NO,URI="zh.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",DEFAULT=YES,URI="en.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=100,CODECS="mp4a.40.2",AUDIO="a"
sound.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=900,RESOLUTION=320x240,AUDIO="a"
small.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=800,RESOLUTION=640x480,AUDIO="a"
large.m3u8
"""


def test_pieces_of_hls_have_their_ranges_and_vectors() -> None:
    track = read_hls(HLS.encode(), BASE)
    assert isinstance(track, Track)
    assert track.seconds == 9.5
    assert track.files == ["http://h.test/films/key.bin", "http://h.test/films/all.mp4"]
    assert [(piece.start, piece.length, piece.is_head) for piece in track.pieces] == [
        (0, 100, True),
        (100, 50, False),
        (150, 60, False),
    ]
    vectors = [piece.iv[-1] for piece in track.pieces if piece.key]
    assert vectors == [7, 7, 8]


def test_a_stream_marked_as_vod_is_whole_without_an_end_tag() -> None:
    text = HLS.replace("#EXT-X-ENDLIST\n", "")
    with pytest.raises(MediaError, match="it is sent live"):
        read_hls(text.encode(), BASE)
    marked = text.replace("#EXT-X-TARGET", "#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-TARGET")
    assert read_hls(marked.encode(), BASE) == read_hls(HLS.encode(), BASE)


def test_qualities_of_hls_come_best_first_with_the_sound_that_belongs_to_them() -> None:
    variants = read_hls(MASTER.encode(), BASE)
    assert isinstance(variants, list)
    assert [variant.playlists[0].rpartition("/")[2] for variant in variants] == [
        "large.m3u8",
        "small.m3u8",
        "sound.m3u8",
    ]
    assert variants[0].playlists[1] == "http://h.test/films/en.m3u8"
    assert [variant.has_pictures for variant in variants] == [True, True, False]


@settings(deadline=None)
@given(st.data())
def test_damaged_playlists_are_read_or_refused(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([HLS, MASTER]))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 12))
        inner = data.draw(st.text(max_size=5) | st.sampled_from(['"', "-1", "0", "9" * 30, "//["]))
        text = text[:start] + inner + text[start + cut :]
    with suppress(MediaError):
        read_hls(text.encode(errors="replace"), BASE)


HEAD = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-KEY:METHOD=AES-128,URI=k\n"


@each("first, seconds", [("-5", "1"), ("9" * 99, "1"), ("0", "inf"), ("0", "nan")])
def test_numbers_beyond_any_medium_are_refused(first: str, seconds: str) -> None:
    text = f"{HEAD}#EXT-X-MEDIA-SEQUENCE:{first}\n#EXTINF:{seconds},\na.ts\n#EXT-X-ENDLIST"
    with pytest.raises(MediaError, match="the playlist is"):
        read_hls(text.encode(), BASE)
