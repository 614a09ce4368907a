"""The topic test: which pages are relevant, and the reasons it gives."""

from dataclasses import replace

import pytest

from mmcrawl.page import Link, LinkGroup, MediaResource, Page
from mmcrawl.page.lists import read_feed
from mmcrawl.scoring import FIELD_WEIGHTS, TopicTest
from mmcrawl.topic import Topic, load_topic, topic_from_keywords
from tests.tables import each

OPTICS = Topic(
    "optics",
    "光学",
    (("光学", "optics"), ("折射", "refraction"), ("透镜", "lens"), ("棱镜", "prism")),
    media={"audio": (("光声效应",),)},
)
WORDS = tuple((f"word{number}",) for number in range(40))
LARGE = Topic("physics", "物理", (*OPTICS.concepts, *WORDS), subject_words=(("物理", "physics"),))
MUSIC = Topic("music", "音乐", (("音乐", "music"),))
URL = "http://h.test/page.htm"
FILM = MediaResource("http://h.test/f.mp4", "video", "a")
SONG = MediaResource("http://h.test/s.mp3", "audio", "a")


def judge(page, *media, kinds=("video",), threshold=0.5, **options):
    return TopicTest(OPTICS, kinds, threshold, **options).judge(page, media)


FIELDS = {
    "title": {"title": "a lens"},
    "headings": {"headings": "a lens"},
    "keywords": {"keywords": "lens"},
    "description": {"description": "lens"},
    "groups": {"groups": (LinkGroup("Lens", 2), LinkGroup("Lens", 3))},
    "url": {"url": "http://h.test/lens/1.htm"},
    "text": {"text": "a lens, a lens"},
    "media": {},
}


def test_a_topic_of_anything_takes_every_page_with_wanted_media():
    test = TopicTest(topic_from_keywords("*"), ("video",))
    assert test.judge(Page(url=URL), (FILM,)).relevant
    assert not test.judge(Page(url=URL), (SONG,)).relevant
    assert not test.judge(Page(url=URL, title="lens"), ()).relevant


@each("field", FIELDS)
def test_a_word_is_worth_what_its_field_is(field):
    media = replace(FILM, text="a lens" if field == "media" else "")
    verdict = judge(Page(**{"url": URL, **FIELDS[field]}), media, replace(SONG, text="a prism"))
    weight = FIELD_WEIGHTS[field]
    assert verdict.evidence == {"透镜": weight}
    assert verdict.places == {"透镜": (field,)}
    assert verdict.score == pytest.approx(weight / (weight + 1))
    assert verdict.relevant is (weight >= 1)


@each("text, weight", [("lens lens", 0.25), ("lens lens lens", 0.5), ("lens, lenses, 透镜", 0.5)])
def test_a_word_that_stands_in_the_text_three_times_is_worth_twice_as_much(text, weight):
    assert judge(Page(URL, text=text), FILM).evidence == {"透镜": weight}


def test_concepts_add_up_and_one_adds_no_more_than_one_and_a_half():
    page = Page(URL, title="\ud800 lens lens", headings="lens", keywords="lens", text="lens, prism")
    verdict = judge(page, FILM)
    assert verdict.evidence == {"透镜": 1.5, "棱镜": 0.25}
    assert verdict.places["透镜"] == ("title", "headings", "keywords", "text")
    assert verdict.score == pytest.approx(1.75 / 2.75)
    assert verdict.words == ("透镜", "棱镜")


@each("threshold, relevant", [(0.5, True), (0.51, False)])
def test_the_score_has_to_reach_the_threshold(threshold, relevant):
    verdict = judge(Page(URL, title="lens"), FILM, threshold=threshold)
    assert (verdict.score, verdict.threshold, verdict.relevant) == (0.5, threshold, relevant)


@each(
    "kinds, media, wanted",
    [
        (["video"], [SONG, FILM], (FILM,)),
        (["audio", "video"], [SONG, FILM], (SONG, FILM)),
        (["animation"], [SONG, FILM], ()),
    ],
)
def test_only_pages_with_media_of_a_wanted_kind_are_relevant(kinds, media, wanted):
    verdict = judge(Page(URL, title="lens", media=(FILM,)), *media, kinds=kinds)
    assert verdict.media == wanted
    assert verdict.relevant is bool(wanted)
    assert verdict.score == 0.5


def test_hosts_may_have_topics_of_their_own():
    test = TopicTest(OPTICS, ["video"], topics_by_host={"music.test": MUSIC})
    song = Page("http://MUSIC.test:80/", title="music")
    assert test.judge(song, [FILM]).words == ("音乐",)
    assert not test.judge(replace(song, title="lens"), [FILM]).relevant
    assert not test.judge(replace(song, url=URL), [FILM]).relevant
    test = TopicTest(MUSIC, ["video"], topics_by_host={"h.test": OPTICS})
    assert test.judge(Page(URL, title="光声效应 lens"), [FILM]).words == ("透镜",)  # none of audio


@each("field", ["title", "text"])
def test_in_a_long_field_a_word_is_worth_its_share(field):
    def worth(text):
        return judge(Page(URL, **{field: text}), FILM).evidence["透镜"]

    alone = worth("a lens")
    listed = worth("a lens " + "other things " * 1000)
    assert listed < alone / 2
    assert worth("other things " * 1000 + "a lens " * 2000) >= alone


def test_words_of_two_languages_take_the_same_room():
    english = Page(URL, headings="lens " + "nothing " * 200)
    chinese = Page(URL, headings="透镜" + "其他" * 267)  # 1,605 and 1,608 bytes
    assert judge(english, FILM).score == pytest.approx(judge(chinese, FILM).score, rel=0.01)


def test_one_episode_of_a_list_does_not_make_the_list_relevant():
    episodes = [f"the games podcast, episode {number}: nothing of that kind" for number in range(9)]
    listed = Page(URL, title="Archive", headings="\n".join([*episodes, "episode 9: cat optics"]))
    assert not judge(listed, FILM).relevant
    assert judge(replace(listed, headings="episode 9: cat optics", title="optics"), FILM).relevant


@each(
    "page, relevant",
    [
        (Page(URL, title="cat physics", headings="cat physics", text="physics " * 9), False),
        (Page(URL, title="lens", headings="lens", text="lens " * 9), False),
        (Page(URL, title="physics", text="a lens"), True),
        (Page(URL, text="physics, optics, refraction, lens, prism"), True),
    ],
)
def test_a_page_has_to_hold_two_words_of_a_large_topic(page, relevant):
    test = TopicTest(LARGE, ["video"])
    assert test.judge(page, [FILM]).relevant is relevant


def test_the_name_of_a_shipped_subject_does_not_carry_a_page():
    test = TopicTest(load_topic("physics-senior"), ["video"])
    episode = Page(URL, title="episode 84: cat physics", headings="episode 84: cat physics")
    assert not test.judge(episode, [FILM]).relevant
    lecture = replace(episode, title="Physics I | lecture 21: Torque")
    assert test.judge(lecture, [FILM]).relevant


def test_each_episode_of_a_feed_is_judged_by_itself() -> None:
    entries = "".join(
        f"<item><title>{title}</title><enclosure type='audio/mpeg' url='/{n}.mp3'/></item>"
        for n, title in enumerate(["How a lever works", "A cook talks about soup", "The lever"])
    )
    feed = f"<rss><channel><title>Radio</title>{entries}</channel></rss>"
    page = read_feed(feed.encode(), "http://radio.test/feed").page
    verdict = TopicTest(topic_from_keywords("lever"), {"audio"}).judge(page, page.media)
    assert verdict.relevant
    assert [one.text for one in verdict.media] == ["How a lever works", "The lever"]
    of_all = TopicTest(topic_from_keywords("radio"), {"audio"}).judge(page, page.media)
    assert len(of_all.media) == 3


NAMED = (Link("http://h.test/", "The  Lens", "a"), Link("http://h.test/lens/", "Prism", "a"))


@each(
    "field, text, relevant",
    [
        ("title", "Bloopers – The Lens", False),
        ("title", "Prism | The Lens", True),
        ("title", "Cleaning the lens", True),
        ("headings", "The Lens\nBloopers", False),
        ("headings", "The Lens\nOptics, prism", True),
    ],
)
def test_the_name_of_the_site_does_not_carry_a_page(field, text, relevant):
    assert judge(Page(url=URL, links=NAMED, **{field: text}), FILM).relevant is relevant


def test_the_front_page_may_be_on_topic_by_the_name_of_its_site():
    page = Page(url="http://h.test/", title="The Lens - Home", links=NAMED)
    assert judge(page, FILM).relevant
