"""Reading playlists, whatever stands in them."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcrawl.errors import MediaError
from mmcrawl.media import MOST_PIECES, Piece, Track, read_dash, read_hls
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
DASH = """<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1M10S">
<Period><BaseURL>../media/</BaseURL>
<AdaptationSet contentType="video">
<SegmentTemplate timescale="10" startNumber="3" initialization="$RepresentationID$/i.mp4"
 media="$RepresentationID$/$Number%03d$-$Time$-$Bandwidth$.m4s">
<SegmentTimeline><S t="5" d="200" r="1"/><S d="100" r="-1"/></SegmentTimeline></SegmentTemplate>
<Representation id="low" bandwidth="80" height="240"/>
<Representation id="high" bandwidth="8000" height="480"/>
</AdaptationSet>
<AdaptationSet mimeType="audio/mp4"><Representation id="a" bandwidth="10">
<SegmentList><Initialization sourceURL="a.mp4" range="0-99"/>
<SegmentURL media="a.mp4" mediaRange="100-199"/></SegmentList></Representation></AdaptationSet>
</Period></MPD>
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


@each("room, chosen", [(10**6, "high"), (1_000, "low"), (1, "low")])
def test_pieces_of_dash_are_those_of_the_best_quality_there_is_room_for(room, chosen):
    pictures, sound = read_dash(DASH.encode(), BASE, lambda size: size <= room)
    bandwidth = {"low": 80, "high": 8000}[chosen]
    place = f"http://h.test/media/{chosen}"
    assert [piece.url for piece in pictures.pieces] == [
        f"{place}/i.mp4",
        *(
            f"{place}/{number:03}-{time}-{bandwidth}.m4s"
            for number, time in ((3, 5), (4, 205), (5, 405), (6, 505), (7, 605))
        ),
    ]
    assert (pictures.seconds, pictures.has_pictures, sound.has_pictures) == (70, True, False)
    url = "http://h.test/media/a.mp4"
    assert sound.pieces == (Piece(url, 0, 100, is_head=True), Piece(url, 100, 100))


@settings(deadline=None)
@given(st.data())
def test_damaged_playlists_are_read_or_refused(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([HLS, MASTER, DASH]))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 12))
        inner = data.draw(st.text(max_size=5) | st.sampled_from(['"', "-1", "0", "9" * 30, "//["]))
        text = text[:start] + inner + text[start + cut :]
    with suppress(MediaError):
        read(text)


def read(text: str) -> None:
    """Read a playlist of either kind."""
    if text.lstrip().startswith("<"):
        tracks = read_dash(text.encode(errors="replace"), BASE, lambda size: True)
        assert all(len(track.pieces) <= MOST_PIECES for track in tracks)
    else:
        read_hls(text.encode(errors="replace"), BASE)


HEAD = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-KEY:METHOD=AES-128,URI=k\n"
TEMPLATE = "<SegmentTemplate timescale='1' duration='1' media='{}'/>"


@each(
    "text",
    [
        f"{HEAD}#EXT-X-MEDIA-SEQUENCE:-5\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST",
        f"{HEAD}#EXT-X-MEDIA-SEQUENCE:{'9' * 99}\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST",
        f"{HEAD}#EXTINF:inf,\na.ts\n#EXT-X-ENDLIST",
        f"{HEAD}#EXTINF:nan,\na.ts\n#EXT-X-ENDLIST",
        # A hundred digits for each ten characters, in each of 20,000 addresses.
        "<MPD mediaPresentationDuration='PT20000S'><Period><AdaptationSet contentType='video'>"
        f"<Representation>{TEMPLATE.format('$Number%099d$' * 20_000)}</Representation>"
        "</AdaptationSet></Period></MPD>",
    ],
)
def test_numbers_and_names_beyond_any_medium_are_refused(text: str) -> None:
    with pytest.raises(MediaError, match="the playlist is"):
        read(text)


def test_entities_of_xml_are_not_resolved() -> None:
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    text = f'<!DOCTYPE MPD [<!ENTITY e0 "{"x" * 99}">{bomb}]><MPD><Period>&e11;</Period></MPD>'
    with pytest.raises(MediaError, match="playlist"):
        read_dash(text.encode(), BASE, lambda size: True)
