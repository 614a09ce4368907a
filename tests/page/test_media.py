"""What counts as media, where it is found, and what only looks like it."""

from mmcrawl.page import media_in_values, media_kind, parse_page
from tests.growth import assert_linear
from tests.tables import each

URL = "http://school.test/physics/index.htm"


def found(html: str, url: str = URL) -> list[tuple[str, str, str]]:
    """Return (kind, tag, URL below the page's directory, or in full) of each resource."""
    media = parse_page(html.encode(), url).media
    return [(m.kind, m.tag, m.url.removeprefix("http://school.test/physics/")) for m in media]


@each(
    "url, mime, kind",
    [
        ("http://h.test/a/SONG.MP3?v=1", None, "audio"),
        ("http://h.test/a/song%2Emp3", None, "audio"),
        ("http://h.test/lecture.rm;jsessionid=1", None, "audio"),
        ("http://h.test/live.m3u8", None, "video"),
        ("http://h.test/film.mpd?a=1", None, "video"),
        ("lever.swf", None, "animation"),
        ("http://h.test/get?id=3", "video/mp4; codecs=avc1", "video"),
        ("http://h.test/get?id=3", "application/x-shockwave-flash", "animation"),
        ("http://h.test/a.mp3", "application/octet-stream", "audio"),
        ("http://h.test/a.mp3", "text/html", None),
        ("http://h.test/play.asp?file=a.mp3", None, None),
        ("http://h.test/.mp3", None, None),
        ("www.abc.net.au", None, None),
        ("http://[h.test/a.mp3", None, None),
    ],
)
def test_extension_and_type_decide_the_kind(url, mime, kind):
    assert media_kind(url, mime) == kind


def test_linked_media_is_a_resource_and_no_page_to_crawl() -> None:
    html = b'<a href="Lesson%201.MP3">Lesson 1</a> <a href="b.htm">b</a><a href="p.asp?u=a.swf">'
    page = parse_page(html, URL)
    assert [(m.kind, m.tag, m.text) for m in page.media] == [("audio", "a", "Lesson 1")]
    assert [link.url.rpartition("/")[2] for link in page.links] == ["b.htm", "p.asp?u=a.swf"]
    html = b"<figure><video src=a.mp4></video><figcaption>A <b>lever</b></figcaption></figure>"
    assert parse_page(html, URL).media[0].text == "A lever"


@each(
    "html, media",
    [
        # Flash in an object and in the embed it holds
        ("""<OBJECT classid="clsid:D27CDB6E-AE6D-11cf-96B8-444553540000" width=1000>
         <PARAM NAME="FlashVars" VALUE=""><PARAM NAME="Movie" VALUE="images/lever.swf">
         <PARAM NAME="Src" VALUE="images/lever.swf"><PARAM NAME="Base" VALUE="x.mp3">
         <Embed src="images/lever.swf"quality="high" type="application/x-shockwave-flash">
         </Embed></OBJECT>""", "animation object images/lever.swf"),
        # what a player gets in its query or variables
        ('<embed src="player.swf?autostart=1&amp;file=song.mp3">', "audio embed song.mp3"),
        ('<object data=mp3player.swf><param name=flashvars value="mp3=a%2Fb.mp3&amp;loop=1">',
         "audio object a/b.mp3"),
        ('<iframe src="play.asp?url=film.flv"></iframe>', "video iframe film.flv"),
        # players by class or type
        ("""<object classid="CLSID:6BF52A52-394A-11d3-B153-00C04F79FAA6"><param name="URL"
         value="stream.asp?id=3"></object>""", "video object stream.asp?id=3"),
        ('<embed src="flash.php?id=4" type="application/x-shockwave-flash">',
         "animation embed flash.php?id=4"),
        ('<embed src="old.mid" type="application/x-mplayer2">', "audio embed old.mid"),
        ('<object data="drawing.svg" type="image/svg+xml"></object>', ""),
        # Open Graph without its details
        ("""<meta property="og:video" content="http://h.test/v.mp4">
         <meta property="og:video:secure_url" content="https://h.test/v.mp4">
         <meta property="og:video:type" content="video/mp4"><meta property="og:video:width"
         content="640">""", "video og http://h.test/v.mp4"),
        ('<meta property="og:audio:url" content="http://h.test/sound?id=1">',
         "audio og http://h.test/sound?id=1"),
        # broken JSON-LD is searched for file names
        ("""<script type="application/ld+json">{"@type": "VideoObject",,
         "contentUrl": "http:\\/\\/h.test\\/v.mp4"</script>""", "video schema http://h.test/v.mp4"),
        ('<script type="application/ld+json">' + '{"a":[' * 20_000 + "</script>", ""),
        ("<a href=\"javascript:play('a.mp3')\">x</a>", "audio script a.mp3"),
        ('<!-- <embed src="a.swf"> <a href="b.mp3">b</a> --><p>text', ""),
        ('<a href="mms://live.test/channel1">x</a>', "video a mms://live.test/channel1"),
        ('<noembed><a href="a.mid">tune</a></noembed>', "audio a a.mid"),
    ],
)  # fmt: skip
def test_where_media_are_named(html: str, media: str) -> None:
    assert [" ".join(one) for one in found(html)] == ([media] if media else [])


@each(
    "html",
    [
        '<embed src="player.swf">',
        '<embed src="flvplayer.swf?file=film.flv">',
        '<object data="vcastr22.swf"><param name="flashvars" value="vcastr_file=film.flv">',
        '<object><param name="flashvars" value="flv=film.flv"><param name="src" value="Player.swf">'
        '<embed src="Player.swf" flashvars="flv=film.flv"></object>',
        """<script>document.write("<object data='player.swf'>");
        document.write("<param name='flashvars' value='file=film.flv&amp;start=1'>")</script>""",
        "<script>swfobject.embedSWF('expressInstall.swf', 'p', '400', '300')</script>",
    ],
)
def test_a_player_of_other_files_is_no_medium(html):
    named = [("video", "film.flv")] if "film" in html else []
    assert [(kind, url) for kind, _, url in found(html)] == named


@each(
    "html",
    [
        '<object data="player.swf" width="300" height="24">'
        '<param name="flashvars" value="list=17.xml"></object>',
        '<a href="player.swf">a record player</a>',
    ],
)
def test_a_player_counts_if_what_it_plays_has_no_name_or_a_link_leads_to_it(html):
    [(kind, _, url)] = found(html)
    assert (kind, url.partition("?")[0]) == ("animation", "player.swf")


@each(
    "html",
    [
        '<embed src="top.swf" width="719" height="289">',
        '<embed src="images/menu.swf"><embed src="top-flash2.swf"><embed src="main_nav.swf">',
        '<object width="1000" height="105"><param name="movie" value="clouds.swf">'
        '<embed src="clouds.swf"></object>',
        "<script>AC_FL_RunContent('movie','clouds','width','990')</script>"
        '<noscript><object width="990px" height="330px"><param name="movie" value="clouds.swf">'
        "</object></noscript>",
        '<object classid="clsid:d27cdb6e-ae6d" width="990" height="60" data="show?id=3"></object>',
    ],
)
def test_flash_of_the_shape_or_name_of_a_banner_is_no_medium(html):
    assert found(html) == []


@each(
    "html, url",
    [
        ('<embed src="top_of_the_hill.swf">', "top_of_the_hill.swf"),
        ('<embed src="wave.swf" width="100%" height="90">', "wave.swf"),
        ('<embed src="wave.swf" width="900" height="0">', "wave.swf"),
        ('<embed src="600x400.swf">', "600x400.swf"),
        ('<a href="top.swf">A top that spins</a>', "top.swf"),
        ('<embed src="wave.mp4" width="900" height="90">', "wave.mp4"),
        ('<embed src="http://p.soundcloud.com/player.swf?url=17" width="900" height="81">',
         "http://p.soundcloud.com/player.swf?url=17"),
        (f'<embed src="{"top" * 2000}!.swf">', f"{'top' * 2000}!.swf"),
    ],
)  # fmt: skip
def test_what_is_only_a_little_like_a_banner_is_a_medium(html, url):
    assert [name for _, _, name in found(html)] == [url]


@each("loop", ["autoplay muted loop", 'loop="" muted="" autoplay playsinline'])
def test_a_muted_video_that_loops_in_the_background_is_no_medium(loop):
    video = '<video {}><source src="clouds.mp4" type="video/mp4"></video>'
    assert found(video.format(loop) + f'<video src="clouds.webm" {loop}></video>') == []
    for shown in (f"{loop} controls", f'{loop} title="Clouds"', "autoplay muted", "autoplay loop"):
        assert found(video.format(shown)) == [("video", "source", "clouds.mp4")]
    after = '<video src="film.mp4"></video><audio src="song.mp3"></audio>'
    assert [kind for kind, _, _ in found(video.format(loop) + after)] == ["video", "audio"]


def test_audio_video_and_their_sources_but_no_picture_sources():
    html = """<audio src="talk?id=1"></audio><audio><source src="clip.mp4"></audio>
        <video title="Lever"><source src="film.ogg" type="video/ogg"><source src="film.mp4"></video>
        <picture><source srcset="a.webp" src="a.mp4"><img src="a.jpg"></picture>
        <video src="data:video/mp4;base64,AAAA"></video><video src="blob:http://h.test/1"></video>
        """
    assert found(html) == [
        ("audio", "audio", "talk?id=1"),
        ("audio", "source", "clip.mp4"),
        ("video", "source", "film.ogg"),
    ]
    [film] = [m for m in parse_page(html.encode(), URL).media if m.kind == "video"]
    assert film.others == ("http://school.test/physics/film.mp4",)


@each(
    "url, kind",
    [
        ("https://www.youtube.com/watch?feature=g-all-u&v=dQw4w9WgXcQ", "video"),
        ("//www.youtube-nocookie.com/embed/dQw4w9WgXcQ", "video"),
        ("https://youtu.be/dQw4w9WgXcQ", "video"),
        ("https://player.vimeo.com/video/76979871", "video"),
        ("https://archive.org/embed/castalio-podcast-22", "video"),
        ("http://v.youku.com/v_show/id_XMzE2NjQ0.html", "video"),
        ("http://player.youku.com/player.php/sid/XMzE2NjQ0/v.swf", "animation"),
        ("//player.bilibili.com/player.html?aid=2&bvid=BV1xx411c7mD", "video"),
        ("https://v.qq.com/x/page/q0532ha3k7q.html", "video"),
        ("https://www.dailymotion.com/embed/video/x7tgad0", "video"),
        ("https://embed.ted.com/talks/hans_rosling", "video"),
        ("https://w.soundcloud.com/player/?url=https%3A//api.soundcloud.com/tracks/1", "audio"),
        ("https://soundcloud.com/someone/a-lesson", "audio"),
    ],
)
def test_a_hosted_item_is_a_resource(url, kind):
    page = parse_page(f'<iframe src="{url}"></iframe>'.encode(), URL)
    assert [m.kind for m in page.media][:1] in ([kind], ["video"])
    assert page.links == ()


@each(
    "url",
    [
        "https://www.youtube.com/user/mit",
        "https://www.youtube.com/playlist?list=PLabcdef",
        "https://archive.org/details/castalio-podcast-22",
        "https://v.qq.com/",
        "https://soundcloud.com/someone",
        "https://soundcloud.com/search/sounds?q=a",
        "https://notyoutube.com/embed/dQw4w9WgXcQ",
    ],
)
def test_profiles_channels_and_home_pages_are_links(url):
    page = parse_page(f'<a href="{url}">see</a>'.encode(), URL)
    assert page.media == ()
    assert [link.url for link in page.links] == [url]
    item = b'<a href="/watch?v=aaaaaaaaaaa">next</a>'  # on its own host
    assert parse_page(item, "https://www.youtube.com/watch?v=dQw4w9WgXcQ").media == ()


def test_json_ld_in_a_graph_and_nested():
    html = """<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [
        {"@type": "WebPage", "video": {"@type": ["VideoObject"], "contentUrl": "a?id=1",
          "embedUrl": "https:\\/\\/player.test\\/e\\/1", "thumbnailUrl": "t.jpg"}},
        {"@type": "AudioObject", "contentUrl": "b.mp3"}, {"@type": "Thing", "contentUrl": "c"}]}
        </script>"""
    assert found(html) == [("video", "schema", "a?id=1"), ("audio", "schema", "b.mp3")]
    assert parse_page(html.encode(), URL).media[0].others == ("https://player.test/e/1",)


def test_microdata_counts_inside_its_item_only():
    html = """<div itemscope itemtype="http://schema.org/VideoObject">
        <link itemprop="embedURL" href="http://h.test/e/1"><meta itemprop="contentUrl" content="v">
        <span itemprop="contentUrl">no address</span>
        <div itemprop="author" itemscope itemtype="http://schema.org/Person">
        <meta itemprop="contentUrl" content="not-this"></div></div>
        <meta itemprop="contentUrl" content="nor-this">"""
    [film] = parse_page(html.encode(), URL).media
    assert (film.url, film.others) == ("http://school.test/physics/v", ("http://h.test/e/1",))


@each(
    "script, urls",
    [
        ('swfobject.embedSWF("a.swf", "box", "550");', ["a.swf"]),
        ("var so = new SWFObject('a/b.swf','m','1');", ["a/b.swf"]),
        ("AC_FL_RunContent('width','1','src','fl/lever','movie','fl/lever');", ["fl/lever.swf"]),
        ("AC_FL_RunContent('movie','fl/a','title','x (y)', f(1));", ["fl/a.swf"]),
        ('jwplayer("p").setup({file: "x.mp4", image: "x.jpg"});', ["x.mp4"]),
        (r'var l = {"url":"http:\/\/h.test\/2002\/a.m4a"}', ["http://h.test/2002/a.m4a"]),
        (r'document.write("<embed src=\"b.swf\">")', ["b.swf"]),
        ('p("player.swf?file=s.mp3")', ["s.mp3"]),
        ('var u = "http://h.test/" + name + ".mp3";', []),
        ('var u = base + "x.mp3";', []),
        ('var u = "x.mp3" + "?v=1";', []),
        ('if (/\\.mp3$/.test(u) || "*.mp3" || "${id}.mp4" || ".mp3") {}', []),
        ('load("points.dat"); var host = "www.abc.net.au";', []),
    ],
)
def test_scripts_name_media_by_whole_literals(script, urls):
    media = parse_page(f"<script>{script}</script>".encode(), URL).media
    assert [m.url.removeprefix("http://school.test/physics/") for m in media] == urls
    assert {m.tag for m in media} <= {"script"}


def test_of_a_long_flash_call_only_the_beginning_is_read():
    many, call = "1," * 3_000, "<script>{}AC_FL_RunContent({});</script>"
    one = [("animation", "script", "a.swf")]
    assert found(call.format("", f"'movie','a',{many}2")) == one
    assert found(call.format("", f"{many}'movie','a'")) == []
    assert found(call.format("AC_FL_RunContent(" * 50_000 + ");", "'movie','a'")) == one


def test_a_path_full_of_file_names_is_read_in_time_linear_in_its_length():
    assert_linear(lambda n: media_kind(f"http://h.test/{n * 'a.mp3;'}/b"), 12_000)
    names = "a.mp3;" * 50_000
    assert media_kind(f"http://h.test/{names}/b") is None
    assert media_kind(f"http://h.test/{names}") == "audio"
    assert found(f"<embed src=p.swf flashvars='f={names}/b'>") == [("animation", "embed", "p.swf")]


def test_a_value_of_over_8192_characters_is_data_and_no_name():
    longest = "a" * 8_188 + ".mp3"
    assert list(media_in_values(f"f={longest}&g=a{longest}&a{longest}")) == [longest]


@each(
    "same",
    [
        "http://school.test:80/physics/a.mp3",
        "https://school.test:443/physics/a.mp3",
        "//school.test/physics/%61.mp3",
        "../physics/./a.mp3",
        "http://school.test/x/%2E%2e/physics/a.mp3",
        "a.mp3?",
    ],
)
def test_one_resource_has_many_addresses(same):
    assert found(f'<a href="a.mp3">a</a><a href="{same}">b</a>') == [("audio", "a", "a.mp3")]
    assert len(found(f'<a href="{same}">a</a><a href="a.mp3">b</a>')) == 1


@each("other", ["A.mp3", "a.mp3?v=2", "http://school.test:81/physics/a.mp3"])
def test_other_addresses_are_other_resources(other):
    assert len(found(f'<a href="a.mp3">a</a><a href="{other}">b</a>')) == 2


@each(
    "html",
    [
        '<audio src="#"></audio>',
        '<audio src="#t=3"></audio>',
        '<base href="/player/"><video src="#"></video>',
        '<video src="https://school.test/physics/index.htm#film"></video>',
        '<meta property="og:video" content="http://school.test:80/physics/index.htm">',
    ],
)
def test_the_page_itself_is_no_media(html):
    assert found(html) == []


@each("mime", ["image/jpeg", "IMAGE/PNG; q=1", "text/vtt", "text/html"])
def test_a_declared_type_that_is_no_media_beats_the_element(mime):
    html = f'<video><source src="still?id=1" type="{mime}"><source src="film?id=1"></video>'
    assert found(html) == [("video", "source", "film?id=1")]
    assert found(f'<audio><source src="cover?id=1" type="{mime}"></audio>') == []


def test_an_unknown_or_vague_type_leaves_it_to_the_element():
    html = """<audio src="a?1" type="x/y"></audio><video src="b?1" type="text/plain"></video>
        <iframe type="text/html" src="http://www.youtube.com/embed/dQw4w9WgXcQ"></iframe>"""
    assert [kind for kind, _, _ in found(html)] == ["audio", "video", "video"]


def test_an_address_with_half_a_character_names_no_media():
    """So every address that is stored or sent can be written as UTF-8."""
    described = r'{"@type": "VideoObject", "contentUrl": "http://h.test/\ud83c.mp4"}'
    body = f'<script type="application/ld+json">{described}</script><a href="a.mp4">A</a>'.encode()
    found = parse_page(body, "http://h.test/").media
    assert [resource.url for resource in found] == ["http://h.test/a.mp4"]
