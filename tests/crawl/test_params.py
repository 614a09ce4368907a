import re
from pathlib import Path

from pydantic import ValidationError

from mmcrawl.crawl import DEMO_TOPIC, FocusedParams
from mmcrawl.crawl import explain_arguments as explain
from mmcrawl.errors import MmcrawlError
from tests.tables import each

SEEDED = {"seeds": "http://a.test/", "topic": "physics-senior"}


def sentences(**arguments: str) -> list[str]:
    try:
        FocusedParams(**arguments)
    except ValidationError as error:
        return explain(error)
    except MmcrawlError as error:
        return [str(error)]
    return []


@each(
    "expand, keywords, least",
    [
        ("all", "lens", 0.0),
        ("on-topic", "lens", 0.4),
        ("score:0.20", "lens", 0.2),
        ("on-topic", "*", 0.0),  # no page is off the topic of anything
    ],
)
def test_pages_of_some_score_are_expanded(expand: str, keywords: str, least: float) -> None:
    params = FocusedParams(seeds="http://a.test/", keywords=keywords, expand=expand)
    assert params.least_score(0.4) == least


def test_every_wrong_argument_is_told() -> None:
    told = sentences(algo="x", sites="y", max_pages="z")
    assert [sentence.partition(":")[0] for sentence in told] == ["algo", "max_pages", "sites"]


def test_no_arguments_crawl_the_demo_into_a_store_of_its_own() -> None:
    params = FocusedParams()
    assert (params.is_demo, params.made_afresh, params.topic) == (True, True, DEMO_TOPIC)
    assert params.store_uri == "sqlite:///demo.db"
    assert FocusedParams(web="demo").is_demo
    assert not FocusedParams(store="mine.db").made_afresh
    assert not FocusedParams(**SEEDED).is_demo


@each(
    "given, uri",
    [
        ("", "sqlite:///crawl.db"),
        ("a.db", "sqlite:///a.db"),
        ("/tmp/a.db", "sqlite:////tmp/a.db"),
        ("sqlite:///a.db", "sqlite:///a.db"),
        ("memory:", "memory:"),
        ("~/a.db", "sqlite:////home/me/a.db"),
        ("sqlite:///~/a.db", "sqlite:////home/me/a.db"),
        ("~nobody-of-that-name/a.db", "sqlite:///~nobody-of-that-name/a.db"),
    ],
)
def test_a_store_may_be_given_as_a_path(given, uri, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert FocusedParams(**SEEDED, store=given).store_uri == uri


def test_seeds_bring_topics_of_their_own(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("http://a.test/ physics-senior\nhttp://b.test/ biology-senior\n")
    params = FocusedParams(seeds=str(seeds))
    assert {host: topic.name for host, topic in params.topics_by_host.items()} == {
        "a.test": "physics-senior",
        "b.test": "biology-senior",
    }
    assert params.own_topic is None
    assert re.fullmatch(r"[\w.-]+", params.job_name)


@each("name", ["高中物理（二）", "光学·力学", "第1课：光", "物理、化学", "日本語ー"])
def test_a_job_may_be_named_as_its_readers_write(name: str) -> None:
    assert FocusedParams(**SEEDED, job=name).job_name == name


@each(
    "place", ["pages.db", "./pages", "~/pages", "sqlite:///pages", "C:\\crawls\\pages", "物理.db"]
)
def test_a_file_is_named_by_its_path_or_uri(place: str) -> None:
    assert sentences(**SEEDED, archive=place, store=place) == []


@each(
    "make, told",
    [
        (lambda web: web.write_bytes(b"\x00\x01"), "is no stored web; it may be demo, a folder"),
        (lambda web: web.mkdir(), "' is empty; it may be demo, a folder"),
        (lambda web: (web / "notes").mkdir(parents=True), "' holds no host: give one with"),
    ],
)
def test_a_path_that_is_no_stored_web_is_told(make, told, tmp_path):
    make(tmp_path / "web")
    [sentence] = sentences(topic="physics-senior", web=str(tmp_path / "web"))
    assert sentence.startswith("web: ")
    assert told in sentence


@each(
    "other",
    [
        {"algo": "breadth"},
        {"topic": "biology-senior"},
        {"topic": "", "keywords": "lens"},
        {"topic": "", "keywords": "*"},
        {"seeds": "http://b.test/"},
        {"web": "demo"},
        {"media": "audio"},
        {"sites": "domains"},
        {"lift": "0"},
        {"max_layer": "3"},
        {"max_depth": "3"},
    ],
)
def test_what_the_crawl_is_about_makes_another_job(other: dict[str, str]) -> None:
    assert FocusedParams(**SEEDED).job_name != FocusedParams(**(SEEDED | other)).job_name


@each(
    "one, other",
    [
        ({}, {"alpha": "0.4", "m": "3"}),
        ({"alpha": "0.40"}, {"alpha": ".4"}),
        ({"m": "7"}, {"m": "07", "algo": "urlrule"}),
        ({"media": "video,animation"}, {"media": " swf, video,video"}),
        ({"topic": "biology-senior,physics-senior"}, {"topic": "physics-senior, biology-senior,"}),
        ({"topic": "my.txt"}, {"topic": "./my.txt"}),
        ({"web": "web"}, {"web": "{here}/web/"}),
        (
            {"topic": "", "keywords": "optics|光学, lens"},
            {"topic": "", "keywords": "lens；光学|optics|optics,lens"},
        ),
        (
            {"seeds": "http://a.test/,http://b.test/x"},
            {"seeds": "http://b.test:80/x,http://A.test,http://a.test/#top,http://a.test/"},
        ),
        ({"seeds": "seeds.txt"}, {"seeds": "http://a.test/"}),
    ],
)
def test_other_spellings_of_a_crawl_are_the_same_job(one, other, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.txt").write_text("lens\n")
    (tmp_path / "seeds.txt").write_text("# mine\n\na.test\n")
    (tmp_path / "web" / "a.test").mkdir(parents=True)
    first, second = (
        FocusedParams(**{n: v.format(here=tmp_path) for n, v in (SEEDED | given).items()})
        for given in (one, other)
    )
    assert first.identity() == second.identity()
    assert first.job_name == second.job_name


@each(
    "limit", [{"max_pages": "3"}, {"store": "a.db"}, {"links": "related"}, {"_job": "6487ec7994"}]
)
def test_limits_and_places_leave_the_job_the_same(limit: dict[str, str]) -> None:
    assert FocusedParams(**SEEDED).identity() == FocusedParams(**SEEDED, **limit).identity()


@each("topic", ["physics-senior,biology-senior", "my words (2).txt"])
def test_a_made_name_of_a_job_can_be_given_back(topic, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my words (2).txt").write_text("光学\noptics\n")
    name = FocusedParams(seeds="http://a.test/", topic=topic).job_name
    assert FocusedParams(job=name).job_name == name
