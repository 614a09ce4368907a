"""What becomes of pages: works, grouped and described."""

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import partition
from mmcrawl.media import MediaFile, State
from mmcrawl.page import parse_page
from mmcrawl.works import FileTags, Sources, read_works_page
from tests.growth import assert_linear
from tests.tables import each
from tests.works.pages_of_works import facts, found, works


def files(*pages: str, sources: Sources | None = None) -> list[set[str]]:
    """Return the files of each work on some pages, without host and folder."""
    read = [found(html, f"http://school.test/course/{n}.html") for n, html in enumerate(pages)]
    return [
        {file.url.rpartition("/")[2] for file in work.files}
        for work in works(*read, sources=sources)
    ]


@each(
    "html, expected",
    [
        # sources of one player
        ('<video><source src="a/x.webm"><source src="b/y.mp4"></video>', [{"x.webm", "y.mp4"}]),
        # formats and qualities beside each other
        ('<a href="l1.mp3">a</a><a href="l1_300k.mp4">b</a><a href="l2.mp4">c</a>',
         [{"l1.mp3", "l1_300k.mp4"}, {"l2.mp4"}]),
        # one player that is asked for two films
        ('<embed src="show.swf?film=levers"><embed src="show.swf?film=pulleys">',
         [{"show.swf?film=levers"}, {"show.swf?film=pulleys"}]),
    ],
)  # fmt: skip
def test_files_of_one_work_are_told_from_those_of_others(html, expected):
    assert files(html) == expected


def test_a_page_in_two_languages_shows_one_work_in_two_places() -> None:
    english = found('<html lang="en"><a href="/x/lever.mp4">Levers</a>', "http://school.test/en/")
    chinese = found('<html lang="zh"><a href="/x/lever.mp4">杠杆</a>', "http://school.test/zh/")
    (work,) = works(english, chinese)
    assert [page.url for page in work.pages] == ["http://school.test/en/", "http://school.test/zh/"]
    assert set(work.languages) == {"en", "zh"}


def test_mirrors_are_told_by_several_names_in_common() -> None:
    names = ("newton-laws", "levers-one", "pulleys-two")
    pages = [
        "".join(f'<a href="{place}/{name}.mp3">{name}</a>' for name in names)
        for place in ("http://a.test/x", "http://b.test/y/z")
    ]
    assert len(files(*pages)) == 3
    few = [page.partition("</a><a href=")[0] + "</a>" for page in pages]
    assert len(files(*few)) == 2


def test_equal_bytes_are_one_work_with_one_file() -> None:
    facts = {"digest": "d" * 64, "size": 5, "content_type": "audio/mpeg"}
    one = MediaFile("one", "audio", State.HELD, **facts)
    held = {f"http://school.test/course/{name}.mp3": one for name in ("one", "copy")}
    html = '<a href="one.mp3">one</a><a href="copy.mp3">copy</a><a href="x.mp3">x</a>'
    first, second = works(found(html), sources=Sources(file_of=held.get))
    assert len(first.files) == len(second.files) == 1
    (file,) = first.files
    assert (file.digest, file.size, file.mime) == ("d" * 64, 5, "audio/mpeg")
    assert file.state == "held"


@each(
    "html, title, source",
    [
        ('<h2>All films</h2><figure><video src="1.mp4"></video><figcaption>The lever'
         "</figcaption></figure>", "The lever", "figcaption"),
        ('<h2>Films</h2><a href="1.mp4">The pulley (MP4 - 86 MB)</a><a href="2.mp4">Wheels</a>',
         "The pulley", "anchor"),
        ('<title>Levers in use</title><a href="1.mp4">Download MP4</a>', "Levers in use", "page"),
        ('<video src="1.mp4" aria-label="How levers work"></video>', "How levers work", "player"),
        ('<a href="the_long_lever.mp4">下载</a>', "the long lever", "file"),
        ('<script type="application/ld+json">{"@type": "VideoObject", "name": "Le\\u0000vers'
         ' \\ud800II", "contentUrl": "1.mp4"}</script><a href="1.mp4">Watch</a>',
         "Levers II", "structured"),
    ],
)  # fmt: skip
def test_the_best_text_is_the_title(html: str, title: str, source: str) -> None:
    work, *_ = works(found(html))
    assert (work.title, work.title_source) == (title, source)


def test_the_name_of_the_site_is_no_part_of_a_title() -> None:
    names = ("levers", "pulleys", "wheels", "screws", "wedges")
    html = '<title>Topic {0} - The School</title><a href="{0}.mp3">mp3</a>'
    pages = [found(html.format(name), f"http://school.test/{name}.html") for name in names]
    assert {work.title for work in works(*pages)} == {f"Topic {name}" for name in names}


def test_structured_data_describe_a_medium() -> None:
    html = """<script type="application/ld+json">{"@graph": [{"@type": "VideoObject",
        "name": "Levers", "description": "How they move.", "contentUrl": "/v/l.mp4",
        "uploadDate": "2012-03-04T10:00:00Z", "duration": "PT1M5S", "inLanguage": "zh_cn",
        "author": {"name": "Ann"}, "thumbnailUrl": "l.jpg", "contentSize": "123",
        "license": "https://creativecommons.org/licenses/by/4.0/"}]}</script>"""
    (work,) = works(found(html))
    assert (work.creator, work.date, work.duration) == ("Ann", "2012-03-04", 65.0)
    assert (work.caption, work.languages) == ("How they move.", ("zh-CN",))
    assert work.poster == "http://school.test/course/l.jpg"
    assert work.files[0].size == 123
    assert (work.licence.code, work.licence.evidence.scope) == ("CC-BY-4.0", "medium")


def test_poster_and_subtitles_are_those_of_the_player() -> None:
    html = """<video poster="p.jpg"><source src="x.mp4"><track src="en.vtt" srclang="EN"
        label="English"><track kind="chapters" src="c.vtt"></video>"""
    (work,) = works(found(html))
    assert work.poster == "http://school.test/course/p.jpg"
    (track,) = work.subtitles
    assert (track.url, track.language) == ("http://school.test/course/en.vtt", "en")


def test_a_player_between_blocks_stands_in_the_block_around_them() -> None:
    text = "<p>A pendulum swings: its period depends on its length, and on nothing else, as said."
    html = f"""<title>Pendulum</title><header><a href=/>Home</a> <a href=/b>Blog</a></header><main>
        <article><h1>Pendulum</h1><figure><video src=p.mp4 controls></video></figure>
        {text * 3}</article></main><footer>Copyright</footer>"""
    [work] = works(found(html))
    assert [page.block for page in work.pages] == ["topic"]


def test_text_says_the_language_where_a_theme_declares_another() -> None:
    chinese = "杠杆是一种简单机械，用来撬动重物，阿基米德说给我一个支点，我就能撬动整个地球。" * 3
    assert facts(f'<html lang="en"><p>{chinese}<a href="a.mp3">a</a>').language == "zh"
    assert facts(f'<html lang="zh-TW"><p>{chinese}<a href="a.mp3">a</a>').language == "zh-TW"
    assert facts('<p>x<a href="a.mp3">a</a>').language == ""


def test_the_level_of_school_is_said_only_on_evidence() -> None:
    link = '<a href="a.mp3">a</a>'
    (senior,) = works(found(f"<title>高中物理：杠杆</title>{link}"))
    (topic,) = works(found(link, topic="physics-junior"))
    (none,) = works(found(f"<title>Levers</title>{link}"))
    levels = [work.level for work in (senior, topic, none)]
    assert levels == ["upper-secondary", "lower-secondary", ""]


def test_a_page_in_place_of_a_file_names_its_work() -> None:
    url = "http://school.test/course/123.mp3"
    held = MediaFile(url, "audio", State.HELD, title="Lenses")
    (work,) = works(found('<a href="123.mp3">mp3</a>'), sources=Sources({url: held}.get))
    assert (work.title, work.title_source) == ("Lenses", "page")


def test_tags_of_a_file_fill_what_its_pages_do_not_say() -> None:
    url = "http://school.test/course/123.mp3"
    held = MediaFile(url, "audio", State.HELD, digest="e" * 64)
    tags = FileTags("The lever", "Ann", "2001", "en", "CC BY 4.0", 61.5)
    sources = Sources({url: held}.get, lambda digest: tags)
    (work,) = works(found('<a href="123.mp3">mp3</a>'), sources=sources)
    assert (work.title, work.creator, work.date) == ("The lever", "Ann", "2001")
    assert (work.duration, work.languages) == (61.5, ("en",))
    assert work.licence.code == "CC-BY-4.0"


def test_a_work_survives_being_written_as_json() -> None:
    html = """<meta name=date content="2012-03-04T10:00Z"><meta name=author content="By Ann Lee">
        <footer>Licensed under CC BY 4.0</footer><video poster="p.jpg"><source src="x.mp4">
        <track src="en.vtt"></video>"""
    (work,) = works(found(html))
    assert (work.date, work.creator) == ("2012-03-04", "Ann Lee")
    assert type(work).from_plain(work.as_plain()) == work


# What describes a work, opened and closed in any order, and what only looks like it.
_PIECES = [
    *("<a href=a.mp3>", "</a>", "<video>", "</video>", "<source src=b.mp4>", "<track src=c>"),
    *("<figure>", "</figure>", "<figcaption>", "x", "<h2>", "<li>", "知识共享"),
    *("<div itemscope itemprop=video>", "</div>"),
    "<a rel=license href=//creativecommons.org/l/by/>",
    *('<script type="application/ld+json">', '{"@graph":[', '{"@type":', "]}", "</script>"),
    *("<embed", ' src="d.swf?x=[">', "<iframe src=http://[::1>"),
]


@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join))
def test_no_page_makes_reading_fail(html: str) -> None:
    url = "http://school.test/"
    body = html.encode()
    media = parse_page(body, url).media
    read = read_works_page(partition(body, url=url), url, media)
    assert len(read.occurrences) <= sum(1 + len(one.others) for one in media)


def test_a_page_of_many_media_takes_time_in_proportion() -> None:
    licence = '<a rel="license" href="//creativecommons.org/licenses/by/4.0/">CC BY</a>'

    def describe_media(number: int) -> None:
        rows = "".join(f'<li><a href="{n}.mp3">x</a>{licence}</li>' for n in range(number))
        sources = "".join(f'<source src="s{n}.mp4"><track src="{n}.vtt">' for n in range(number))
        anchors = "".join(f'<a href="one.mp3">name {n}</a>' for n in range(number))
        page = found(f"<ul>{rows}</ul><video>{sources}</video><p>{anchors}")
        assert len(works(page)) == number + 2

    assert_linear(describe_media, 80)


def test_what_is_deep_is_read_in_time() -> None:
    deep = "<div itemscope itemprop=video>" * 1_000 + "<a href=a.mp3>x</a>"
    nested = "[" * 100_000
    read = facts(f"<script type=application/ld+json>{nested}</script>{deep}")
    assert len(read.occurrences) == 1


def test_what_a_link_asks_for_and_a_number_are_no_titles() -> None:
    anchors = ("点击下载", "下载MP3", "", "播放")
    links = "".join(f'<p><a href="zs0{n}.mp3">{text}</a></p>' for n, text in enumerate(anchors))
    page = found(f"<title>无标题文档</title><h1>光的折射</h1>{links}")
    assert page.facts.title == "光的折射"
    assert {work.title for work in works(page)} == {"光的折射"}
    html = '<title>光学</title><a href="Snells_law.mp3">下载</a><a href="b.mp3">听</a>'
    assert "Snells law" in {work.title for work in works(found(html))}


def test_the_foot_of_a_school_reserves_no_rights_of_players_of_others() -> None:
    players = (
        "https://phet.colorado.edu/sims/html/bending-light/latest/bending-light_zh_CN.html",
        "https://player.bilibili.com/player.html?bvid=BV1xx411c7mD",
    )
    frames = "".join(f'<iframe src="{url}"></iframe>' for url in players)
    said = "<h1>光的折射</h1><p>作者：王老师　发布时间：2008-5-1</p><p>这一课讲光的折射。</p>"
    foot = '<div class="footer">版权所有 某某中学 2008</div>'
    made = works(found(f'<html lang="zh">{said}{frames}<video src="own.mp4"></video>{foot}'))
    assert {(work.creator, work.date) for work in made} == {("王老师", "2008-05-01")}
    codes = {work.files[0].url: work.licence and work.licence.code for work in made}
    own = {"http://school.test/course/own.mp4": "all-rights-reserved"}
    assert codes == dict.fromkeys(players) | own
