"""Learning a topic from pages, and what becomes of it: its file, its verdicts, its words."""

import json
import os
import random
from dataclasses import replace
from pathlib import Path

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.errors import MmcrawlError, TopicError
from mmcrawl.learning import Example, Lesson, learn, read_examples, sampled, telling_words
from mmcrawl.page import parse_page
from mmcrawl.scoring import EXAMPLES, LinkSimilarity, LinkText, TopicTest, page_terms, relevance
from mmcrawl.topic import (
    PageModel,
    learnt_topic,
    load_topic,
    load_topics,
    own_topic_names,
)
from tests.tables import each

GOOD = "erhu bow strings tuning melody luthier 二胡 琴弦 演奏".split()
BAD = "football league goal striker transfer keeper 足球 联赛 进球".split()
FILLER = "people year place small water evening house street letter morning".split()


def markup(words: list[str], seed: int, media: str = "") -> bytes:
    chance = random.Random(seed)
    said = [*chance.sample(words, 5), *chance.sample(FILLER, 6)] * 2
    chance.shuffle(said)
    return f"<title>{said[0]} no. {seed}</title><p>{' '.join(said)}</p>{media}".encode()


def example(words: list[str], seed: int, sites: int = 5) -> Example:
    site = f"s{seed % sites}.test"
    url = f"http://{site}/{seed}.html"
    return Example(url, site, parse_page(markup(words, seed), url))


def examples(words: list[str], count: int, start: int = 0, sites: int = 5) -> list[Example]:
    return [example(words, seed, sites) for seed in range(start, start + count)]


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return learn("strings", examples(GOOD, 20), examples(BAD, 20, 100))


def test_pages_it_has_not_seen_are_told_apart(lesson: Lesson) -> None:
    test = TopicTest(learnt_topic(lesson.model), ["audio"])
    good, bad = (
        [test.judge(one.page, ()).score for one in examples(words, 6, 500)] for words in (GOOD, BAD)
    )
    assert min(good) > 0.5 > max(bad)


def test_a_lesson_is_measured_on_sites_left_out(lesson: Lesson) -> None:
    assert lesson.by_site
    assert lesson.folds == 5
    assert lesson.precision.value > 0.9
    assert lesson.recall.low < lesson.recall.value <= lesson.recall.high
    assert lesson.cautions == ()
    words = {word.word for word in lesson.words}
    assert {"erhu", "melody", "二胡"} <= words
    assert not words & {*BAD, *FILLER}


def test_few_examples_one_site_and_pages_that_differ_in_nothing_are_warned_of() -> None:
    found = learn("none", examples(FILLER, 20), examples(FILLER, 20, 100))
    assert any("hardly told apart" in str(caution) for caution in found.cautions)
    assert found.average_precision < 0.8
    found = learn("few", examples(GOOD, 4, sites=1), examples(BAD, 5, 100))
    assert not found.by_site
    said = " ".join(map(str, found.cautions))
    for words in ("only 4 good pages", "only 5 bad pages", "all good pages are of one site"):
        assert words in said
    with pytest.raises(TopicError, match="2 good pages: too few"):
        learn("two", examples(GOOD, 2), examples(BAD, 9, 100))
    with pytest.raises(TopicError, match=r"/3\.html is among the good pages and the bad ones"):
        learn("both", examples(GOOD, 9), [*examples(BAD, 9, 100), example(GOOD, 3)])


def test_without_bad_pages_unlabelled_ones_are_compared_with() -> None:
    mixed = [*examples(BAD, 40, 200), *examples(GOOD, 8, 300)]  # a sixth of the archive is right
    found = learn("positive", examples(GOOD, 20), unlabelled=mixed)
    assert found.taken_as_bad
    assert any("no bad pages were given" in str(caution) for caution in found.cautions)
    assert found.model.bad == ()
    test = TopicTest(learnt_topic(found.model), ["audio"])
    right, wrong = (
        [test.judge(one.page, ()).score >= 0.5 for one in examples(words, 10, 700)]
        for words in (GOOD, BAD)
    )
    assert sum(right) >= 9
    assert not any(wrong)


def test_a_model_is_read_as_it_was_written(lesson: Lesson, tmp_path: Path) -> None:
    path = tmp_path / "strings.json"
    lesson.model.save(path)
    found = PageModel.load(path)
    page = example(GOOD, 900).page
    first, second = (
        TopicTest(learnt_topic(model), ["audio"]).judge(page, ()).score
        for model in (lesson.model, found)
    )
    assert first == pytest.approx(second, abs=1e-3)
    assert found.good == lesson.model.good
    assert set(json.loads(path.read_text(encoding="utf-8"))) > {"words", "examples", "measured"}
    assert list(tmp_path.iterdir()) == [path]


@each(
    "change, said",
    [
        (lambda facts: {"format": "other"}, "is no learnt topic"),
        (lambda facts: facts | {"version": 99}, "another version"),
        (lambda facts: facts | {"bias": "1"}, "damaged"),
        (lambda facts: facts | {"bias": float("nan")}, "damaged"),
        (lambda facts: facts | {"topics": {"physics": None}}, "damaged"),
    ],
)
def test_a_file_that_is_none_is_told(change, said, lesson: Lesson, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "strings.json"
    lesson.model.save(path)
    path.write_text(json.dumps(change(json.loads(path.read_text(encoding="utf-8")))))
    with pytest.raises(TopicError, match=said):
        load_topic(str(path))


def test_measurements_of_a_hostile_file_are_numbers_and_texts(lesson: Lesson) -> None:
    said = {"precision": 10**400, "recall": "all", "words": 3, "cautions": {"few": None, "one": 1}}
    facts = replace(lesson.model, measured=said).facts
    assert (facts["precision"], facts["recall"], facts["words"]) == (0.0, 0.0, [])
    assert facts["cautions"] == {"one": 1}


def test_an_own_topic_goes_by_its_name(lesson, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lesson.model.save(tmp_path / "topics" / "strings.json")
    (tmp_path / "topics" / "optics.toml").write_text('name = "optics"\nwords = ["lens"]')
    assert own_topic_names() == ["optics", "strings"]
    assert load_topic("strings").learnt[0].path == Path("topics/strings.json")
    assert load_topic("optics").concepts == (("lens",),)
    with pytest.raises(TopicError, match="did you mean strings"):
        load_topic("string")


def test_beside_words_either_may_carry_a_page(lesson: Lesson, tmp_path: Path) -> None:
    path = tmp_path / "strings.json"
    lesson.model.save(path)
    words = tmp_path / "football.txt"
    words.write_text("football\ngoal")
    both = load_topics(f"{path},{words}")
    test = TopicTest(both, ["audio"])
    good = test.judge(example(GOOD, 901).page, ())
    assert good.score >= 0.5
    assert good.places["≈strings"] == (EXAMPLES,)
    football = parse_page(b"<title>football goal</title>", "http://s.test/")
    verdict = test.judge(football, ())
    assert verdict.score >= 0.5
    assert set(verdict.evidence) == {"football", "goal", "≈strings"}
    learnt = TopicTest(load_topic(str(path)), ["audio"]).judge(football, ())
    assert learnt.score < 0.5
    assert set(learnt.evidence) == {"≈strings"}  # its own words do not count a second time


def test_links_are_ordered_by_the_words_of_good_pages(lesson: Lesson) -> None:
    similarity = LinkSimilarity(learnt_topic(lesson.model))
    near, far = (
        similarity.topicrank(LinkText(anchor, "", "", False)) for anchor in ("erhu", "football")
    )
    assert near > far == 0


def test_a_running_test_takes_up_what_was_learnt_anew(lesson, tmp_path, monkeypatch, caplog):
    path = tmp_path / "strings.json"
    lesson.model.save(path)
    now = [0.0]
    monkeypatch.setattr(relevance.time, "monotonic", lambda: now[0])
    test = TopicTest(load_topic(str(path)), ["audio"])
    page = example(GOOD, 902).page
    before = test.judge(page, ()).score
    replace(lesson.model, offset=-50.0).save(path)
    os.utime(path, ns=(1, 1))
    assert test.judge(page, ()).score == before  # it does not look at each page
    now[0] = 3.0
    assert test.judge(page, ()).score == pytest.approx(0.01)
    path.write_text("{")
    now[0] = 6.0
    assert test.judge(page, ()).score == pytest.approx(0.01)
    assert "is no learnt topic" in caplog.text


def test_terms_are_stems_and_pairs_of_han_characters() -> None:
    page = parse_page("<title>The waves of 力學史</title><p>waves".encode(), "http://h.test/")
    assert page_terms(page) == {"wave": 4.0, "力学": 3.0, "学史": 3.0}


def test_examples_are_files_folders_lists_and_addresses(tmp_path: Path) -> None:
    folder = tmp_path / "school.test"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.html").write_bytes(markup(GOOD, 1))
    (folder / "deep" / "b.htm").write_bytes(markup(GOOD, 2))
    (folder / "same.html").write_bytes(markup(GOOD, 1))
    listed = tmp_path / "list.txt"
    listed.write_text(
        "# a list\nschool.test/a.html # again\nhttp://h.test/c\nhttp://h.test/gone\nmissing.html\n"
    )
    uri = f"sqlite:///{tmp_path / 'archive.db'}"
    with open_archive(uri) as archive:
        kept = markup(BAD, 3)
        archive.store(
            Capture("http://h.test/c", kept, 1.0, headers=(("Content-Type", "text/html"),))
        )
        found = read_examples([str(folder), str(listed)], archive)
        assert [one.name for one in sampled(archive, 5)] == ["http://h.test/c"]
        assert not list(sampled(archive, 5, without=["http://h.test/c"]))
    assert [one.site for one in found.pages] == ["school.test", "school.test", "h.test"]
    assert found.pages[1].page.url == "http://school.test/deep/b.htm"
    assert len(found.problems) == 2
    assert "http://h.test/gone is not in the archive" in found.problems[0]
    assert "missing.html cannot be read" in found.problems[1]


def test_a_folder_without_pages_and_a_missing_one_are_told(tmp_path: Path) -> None:
    with pytest.raises(MmcrawlError, match="holds no pages"):
        read_examples([str(tmp_path)], None)
    with pytest.raises(MmcrawlError, match="there is no file or folder"):
        read_examples([str(tmp_path / "none")], None)
    (tmp_path / "film.mp4").write_bytes(b"\0\0\0 ftypisom")
    found = read_examples([str(tmp_path / "film.mp4"), "http://h.test/"], None)
    assert not found.pages
    assert "no page of HTML" in found.problems[0]
    assert "no archive is named" in found.problems[1]


def test_lines_that_a_site_repeats_and_known_words_are_no_telling_words() -> None:
    body = "<h2>Our great menu</h2><p>tuning the erhu {}</p>"
    pages = [
        Example(
            f"/{number}", "one.test", parse_page(body.format(number).encode(), "http://one.test/")
        )
        for number in range(8)
    ]
    words = [one.word for one in telling_words(pages, examples(BAD, 8))]
    assert "erhu" in words
    assert "menu" not in words
    known = telling_words(pages, examples(BAD, 8), known=["Erhu"])
    assert "erhu" not in [one.word for one in known]
