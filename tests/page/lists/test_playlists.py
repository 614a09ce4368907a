"""Playlists of all formats and encodings give media with title and duration, within bounds."""

import time

import pytest

from mmcrawl.errors import ListingError
from mmcrawl.page.lists import is_playlist, read_playlist
from tests.tables import each

FOLDER = "http://h.test/a/"
LENSES = ("/1.mp3", "audio", "Linsen – 透镜, 12:03")
M3U = "#EXTM3U\n#EXTINF:723,Linsen – 透镜\n../1.mp3\n"
XSPF = """<?xml version="1.0"?><playlist version="1" xmlns="http://xspf.org/ns/0/"><title>All</title>
<trackList><track><location>../1.mp3</location><location>../1.ogg</location><title>Linsen – 透镜
</title><duration>723000</duration><image>/1.jpg</image></track></trackList></playlist>"""
ASX = """<ASX version="3.0"><Title>All</Title><base href="http://h.test/"/><Entry><Title>
Linsen – 透镜</Title><Ref href="1.mp3"/><ref HREF="mms://h.test/1.wma"/>
<Duration value="00:12:03.0"/><MoreInfo href="/info"/></Entry><entryref href="more.asp?id=7"/>
<entry><ref href="2.php?a=1&b=2">"""
CASES = {
    "m3u": ("x.m3u", M3U.encode(), [LENSES]),
    "plain m3u8": ("x.m3u8", b"\xef\xbb\xbf" + M3U.encode(), [LENSES]),
    "UTF-16": ("x.m3u", M3U.encode("utf-16"), [LENSES]),
    "old Mac line ends": ("x.m3u", M3U.replace("\n", "\r").encode(), [LENSES]),
    "GBK": ("x.m3u", "#EXTM3U\n#EXTINF:-1,光的折射实验\n1.mp3".encode("gbk"),
            [("/a/1.mp3", "audio", "光的折射实验")]),
    "latin-1": ("x.pls", "[playlist]\nNumberOfEntries=1\nFile1=1.mp3\nTitle1=Séance d’été\n"
                "Length1=-1\nVersion=2".encode("cp1252"), [("/a/1.mp3", "audio", "Séance d’été")]),
    "m3u without a header": ("x.m3u", b"Music\\Lesson 1.mp3\r\n# no\r\nC:\\own.mp3\r\nhttp://h.test:80/live",
            [("/a/Music/Lesson%201.mp3", "audio", "anchor"), ("/live", "audio", "anchor")]),
    "attributes in EXTINF": ("x.m3u", b'#EXTM3U\n#EXTINF:61.5 tvg-name="a,b",Title, two\na.ogg',
            [("/a/a.ogg", "audio", "Title, two, 1:01")]),
    "pls": ("x.php", b"[Playlist]\nfile2=/2.mp3\nTitle2=Two\nFile1=/1.mp3\nLength1=60",
            [("/2.mp3", "audio", "Two"), ("/1.mp3", "audio", "anchor, 1:00")]),
    "ram": ("x.ram", b"rtsp://h.test/a.rm?start=3\nfile:hist4.rm\n--stop--\nhttp://h.test/no.rm",
            [("rtsp://h.test/a.rm?start=3", "audio", "anchor"),
            ("/a/hist4.rm", "audio", "anchor")]),
    "xspf": ("x", XSPF.encode(), [(*LENSES, "/1.ogg")]),
    "asx": ("x.php", ASX.encode("utf-16"), [(*LENSES, "mms://h.test/1.wma"),
            ("/2.php?a=1&b=2", "video", "anchor")]),
    "asx as it was": ("x.wvx", b"[Reference]\r\nRef1=http://h.test/1.wmv?MSWMExt=.asf\r\n",
            [("/1.wmv?MSWMExt=.asf", "video", "anchor")]),
    "asx of lines": ("x.asx", b"ASF http://h.test/1.asf", [("/1.asf", "video", "anchor")]),
    "smil": ("x.smil", b'<smil><head><meta name="base" content="http://h.test/s/"/></head><body><par>'
             b'<video src="1.rm" dur="90s" title="Lever"><img src="1.png"/><audio src=b.ra></par>',
             [("/s/1.rm", "audio", "Lever, 1:30"), ("/s/b.ra", "audio", "anchor")]),
    "wpl": ("x.wpl", b'<?wpl version="1.0"?><smil><body><media src="1.wmv"/></body></smil>',
            [("/a/1.wmv", "video", "anchor")]),
    "winamp": ("x.b4s", b'<WinampXML><playlist><entry Playstring="file:1.mp3"><Name>One</Name>'
               b"<Length>61000</Length></entry></playlist></WinampXML>",
               [("/a/1.mp3", "audio", "One, 1:01")]),
    "qtl": ("x.qtl", b'<?quicktime type="application/x-quicktime-media-link"?><embed src="1.mov"/>',
            [("/a/1.mov", "video", "anchor")]),
}  # fmt: skip


@each("case", CASES)
def test_what_a_playlist_names_is_media(case: str) -> None:
    name, body, expected = CASES[case]
    assert is_playlist(body, FOLDER + name, "")
    page = read_playlist(body, FOLDER + name, anchor="anchor")
    found = [(m.url, m.kind, m.text, *m.others) for m in page.media]
    assert [tuple(x.removeprefix("http://h.test") for x in one) for one in found] == expected


@each(
    "body, name, declared",
    [
        (b"<!DOCTYPE html><title>gone</title>", "x.m3u", "audio/x-mpegurl"),
        (b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n1.ts", "x.m3u8", "audio/x-mpegurl"),
        (b"ID3\x03\x00\x00" + bytes(99), "x.m3u", "audio/mpegurl"),
        (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "x.asx", "video/x-ms-asf"),
        (b"notes on\nlevers", "x.txt", "text/plain"),
        (b"", "x.m3u", "audio/x-mpegurl"),
    ],
)
def test_what_only_is_called_a_playlist_is_none(body: bytes, name: str, declared: str) -> None:
    assert not is_playlist(body, FOLDER + name, declared)


@each(
    "body",
    [
        b"[playlist]",
        b"<asx><entry>",
        b"<p>Not found",
        b"/a.html\n/b.jpg",
        b"\0",
    ],
)
def test_a_playlist_that_names_nothing_says_so(body: bytes) -> None:
    with pytest.raises(ListingError, match="the playlist names no media"):
        read_playlist(body, FOLDER)


def test_playlists_in_a_playlist_are_links_and_it_does_not_name_itself() -> None:
    asx = read_playlist(ASX.encode(), FOLDER + "x.asx")
    m3u = read_playlist(b"#EXTM3U\n#EXTINF:9,More\nb.pls\nx.m3u\nhls.m3u8", FOLDER + "x.m3u")
    assert [(one.url, one.anchor) for one in (*asx.links, *m3u.links)] == [
        ("http://h.test/more.asp?id=7", ""),
        ("http://h.test/a/b.pls", "More"),
    ]
    assert [one.url for one in m3u.media] == ["http://h.test/a/hls.m3u8"]


@each("line", ["#EXTINF:1,t{0}\n{0}.mp3\n", "File{0}={0}.mp3\n", "#EXTINF:1" + ' "a' * 300 + "\n"])
def test_long_playlists_are_read_in_linear_time_up_to_a_bound(line: str) -> None:
    text = "#EXTINF:" + "".join(line.format(n) for n in range(20_000)) + "\nlast.mp3"
    began = time.process_time()
    page = read_playlist(text.encode(), FOLDER + "x.m3u")
    assert time.process_time() - began < 5
    assert len(page.media) in (1, 10_000)
