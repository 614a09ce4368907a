"""Players that pages show by custom elements, and in frames of other hosts."""

from mmcrawl.page import parse_page
from tests.tables import each

URL = "http://school.test/a/b.htm"


def media(markup: str) -> list[tuple[str, str]]:
    return [(one.url, one.kind) for one in parse_page(markup.encode(), URL).media]


@each(
    "element, address, kind",
    [
        ('<ruffle-embed src="q.swf">', "http://school.test/a/q.swf", "animation"),
        ('<media-player src="/n.mp4" poster="p.mp4">', "http://school.test/n.mp4", "video"),
        ('<some-thing url="s.ogg" icon="i.mp3">', "http://school.test/a/s.ogg", "audio"),
        ("""<my-player options='{"file": "v.webm"}'>""", "http://school.test/a/v.webm", "video"),
        ("""<my-player :sources='[{"src": "w.mp4"}]'>""", "http://school.test/a/w.mp4", "video"),
        ('<geo-gebra file="c.ggb">', "http://school.test/a/c.ggb", "simulation"),
        ('<oembed url="https://vimeo.com/76979871">', "https://vimeo.com/76979871", "video"),
        ('<img src="a.jpg" dynsrc="a.avi">', "http://school.test/a/a.avi", "video"),
        ("""<x-player :video="'w.mp4'">""", "http://school.test/a/w.mp4", "video"),
        ('<mux-player playback-id="DS00Spx1CV902MCtPj5WknGlR102V5HFkDe">',
         "https://player.mux.com/DS00Spx1CV902MCtPj5WknGlR102V5HFkDe", "video"),
        ('<a-player><source src="n.mp4"></a-player>', "http://school.test/a/n.mp4", "video"),
    ],
)  # fmt: skip
def test_the_attribute_of_a_custom_element_decides(element, address, kind):
    assert media(f"<p>{element}</p>") == [(address, kind)]


@each(
    "element",
    [
        '<social-share url="https://vimeo.com/76979871">',
        '<media-player thumbnail="t.mp4" src="play.php">',
        '<my-card href="page.htm" src="photo.jpg">',
    ],
)
def test_other_attributes_and_elements_play_nothing(element):
    assert media(element) == []


@each(
    "address, kind",
    [
        ("https://videopress.com/embed/kUJmAcSf", "video"),
        ("https://ok.ru/videoembed/1484130554189", "video"),
        ("https://vocaroo.com/embed/12WqtjLnpj6g?autoplay=0", "audio"),
        ("https://tunein.com/embed/player/t236404354/", "audio"),
        ("https://www.aparat.com/video/video/embed/videohash/wP8On/vt/frame", "video"),
        # in no table
        ("https://tube.college.test/embed/QmpQhIq1", "video"),
        ("https://video.college.test/videos/iframe/9f86d081", "video"),
        ("https://player.college.test/v/2fb91c44", "video"),
        ("https://radio.college.test/embed/episode/20394", "audio"),
    ],
)
def test_a_frame_of_a_player_is_a_medium(address, kind):
    assert media(f'<iframe src="{address}"></iframe>') == [(address, kind)]


@each(
    "address",
    [
        "https://platform.test/embed/Tweet.html?id=1234567890",
        "https://ads.test/video/player/iframe/728x90?slot=12345678",
        "https://disqus.com/embed/comments/?base=default&f=videos12345",
        "https://forms.test/embed/survey/video/1234567",
        "https://padlet.test/embed/9f86d081884c",
    ],
)
def test_frames_that_play_nothing_are_no_media(address):
    assert media(f'<iframe src="{address}"></iframe>') == []
