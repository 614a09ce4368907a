"""What playlists name is a medium of the page that links to them, with its anchor."""

from pathlib import Path

from tests.commands.running import ran
from tests.desks import Desk
from tests.engine.conftest import crawl_for_levers
from tests.serving import Answer, Server

HLS = "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n1.ts\n#EXT-X-ENDLIST"
ENDLESS = 9


def named(kind: str, body: str | bytes) -> Answer:
    return Answer(body, headers={"Content-Type": kind})


LINKS = {
    "songs.m3u": "songs",
    "listen?id=3": "by its type",
    "get?id=4": "by its name",
    "lesson.asx": "a lesson",
    "old.ram": "an old lesson",
    "plain.m3u8": "a plain list",
    "hls.m3u8": "a stream",
    "html.pls": "a page",
    "said.pls": "a page that says it is a list",
    "none.xspf": "nothing",
    "deep0.m3u": "deep",
    "many.m3u": "many",
}
MANY = 300
ANSWERS = {
    "/": Answer("<title>Lever</title><h1>Lever</h1>" + "".join(
        f"<a href='/{path}'>{anchor}</a> " for path, anchor in LINKS.items())
        + "<embed src='/shown.asx'><object data='o.php' type='application/xspf+xml'></object>"),
    "/shown.asx": named("video/x-ms-asf", "<asx><entry><ref href='/9.wmv'/></entry></asx>"),
    "/o.php": named("text/xml", "<playlist xmlns='http://xspf.org/ns/0/'><trackList><track>"
                    "<location>/10.mp3</location></track></trackList></playlist>"),
    "/songs.m3u": named("audio/x-mpegurl", "#EXTM3U\n#EXTINF:61,One\nm/1.mp3\nm/2.mp3\n"),
    "/listen?id=3": named("audio/x-scpls", "[playlist]\nFile1=/3.mp3\nTitle1=Three\n"),
    "/get?id=4": Answer("/4.mp3\n" * 300, headers={
        "Content-Type": "application/octet-stream",
        "Content-Disposition": "attachment; filename=l.m3u"}),
    "/lesson.asx": named("video/x-ms-asf", "<asx><entry><ref href='/5.wmv'/></entry></asx>"),
    "/old.ram": named("audio/x-pn-realaudio", "file:6.rm\n--stop--"),
    "/plain.m3u8": named("application/vnd.apple.mpegurl", "#EXTM3U\n7.mp3\n"),
    "/hls.m3u8": named("application/vnd.apple.mpegurl", HLS),
    "/html.pls": named("text/html", "<title>Lever</title><video src=/8.mp4></video>"),
    "/said.pls": named("audio/x-scpls", "<html><title>Lever</title><video src=/no.mp4></video>"),
    "/none.xspf": named("application/xspf+xml", "<playlist><trackList/></playlist>"),
    "/many.m3u": named("audio/x-mpegurl", "".join(f"/n/{n}.mp3\n" for n in range(MANY))),
    **{f"/deep{n}.m3u": named("audio/x-mpegurl", f"deep0.m3u\ndeep{n + 1}.m3u\n/d/{n}.mp3")
       for n in range(ENDLESS)},
}  # fmt: skip


def test_media_that_playlists_name_are_those_of_the_linking_page(tmp_path: Path) -> None:
    with Server(ANSWERS) as site:
        said, found = crawl_for_levers(tmp_path, site.url("/"))
    shown = ran("links", "-a", "store=c.db", folder=tmp_path).stdout
    assert said.code == 0, said.err
    assert "the playlist names no media" in shown
    counted = "SELECT path FROM page JOIN link USING (id) WHERE relevant"
    counting = {path for (path,) in Desk(tmp_path).rows("c.db", counted)}
    assert "/songs.m3u" in counting
    assert not {"/old.ram", "/plain.m3u8", "/hls.m3u8"} & counting
    assert found.pop("/html.pls") == {"/8.mp4": ("video", "")}
    [(page, media)] = found.items()
    many = [media.pop(f"/n/{n}.mp3") for n in range(MANY)]
    assert (page, set(many)) == ("/", {("audio", "many")})
    deep = {url: media.pop(url) for url in [*media] if url.startswith("/d/")}
    assert deep == {f"/d/{n}.mp3": ("audio", "deep") for n in range(5)}
    assert media == {
        "/m/1.mp3": ("audio", "One, 1:01"),
        "/m/2.mp3": ("audio", "songs"),
        "/3.mp3": ("audio", "Three"),
        "/4.mp3": ("audio", "by its name"),
        "/5.wmv": ("video", "a lesson"),
        "/6.rm": ("audio", "an old lesson"),
        "/7.mp3": ("audio", "a plain list"),
        "/hls.m3u8": ("video", "a stream"),
        "/9.wmv": ("video", ""),
        "/10.mp3": ("audio", ""),
    }
