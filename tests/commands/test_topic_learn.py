"""`scrapy topic learn`: what a person types, what comes back, and a crawl with it."""

import json
import subprocess
from pathlib import Path

import pytest

from mmcrawl.archive import open_archive
from mmcrawl.learning import sampled
from mmcrawl.media import folder_of
from mmcrawl.works import Marks, open_catalogue
from tests.commands.running import ran
from tests.desks import Desk, Run
from tests.programs import MMCRAWL
from tests.topic.test_learning import BAD, GOOD, markup
from tests.warm import python


def topic(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return ran("topic", *args, folder=cwd)


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """Return a folder with 16 good pages and 16 bad ones of four hosts."""
    for kind, words in (("good", GOOD), ("bad", BAD)):
        for number in range(16):
            folder = tmp_path / kind / f"{kind}{number % 4}.test"
            folder.mkdir(parents=True, exist_ok=True)
            seed = number if kind == "good" else 100 + number
            (folder / f"{number}.html").write_bytes(markup(words, seed, "<a href=a.mp3>hear</a>"))
    return tmp_path


def test_a_topic_is_learnt_shown_listed_and_scored(examples: Path) -> None:
    made = topic("learn", "fiddles", "--good", "good", "--bad", "bad", cwd=examples)
    assert made.returncode == 0, made.stderr
    assert "16 of 4 sites" in made.stdout
    assert "whole sites left out in training, 4 times" in made.stdout
    assert "Note:" not in made.stdout
    assert "-a topic=fiddles" in made.stdout
    file = examples / "topics" / "fiddles.json"
    assert json.loads(file.read_text(encoding="utf-8"))["name"] == "fiddles"
    assert any(
        line.startswith("fiddles") for line in topic("list", cwd=examples).stdout.splitlines()
    )
    assert "learnt from 16 good and 16 bad pages" in topic("show", "fiddles", cwd=examples).stdout
    (examples / "new.html").write_bytes(markup(GOOD, 900, "<a href=a.mp3>hear</a>"))
    (examples / "other.html").write_bytes(markup(BAD, 901, "<a href=a.mp3>hear</a>"))
    right = topic("score", "--topic", "fiddles", "new.html", cwd=examples).stdout
    assert "≈fiddles: probability 0.9" in right
    assert "threshold 0.5: relevant to" in right
    wrong = topic("score", "--topic", "fiddles", "other.html", cwd=examples).stdout
    assert "not relevant (not on topic)" in wrong


def test_examples_that_cannot_be_had_are_named(examples: Path) -> None:
    (examples / "list.txt").write_text(
        "\n".join([*map(str, (examples / "good").rglob("*.html")), "gone.html"])
    )
    made = topic("learn", "x", "--good", "list.txt", "--bad", "bad", cwd=examples)
    assert made.returncode == 0
    assert "good page skipped" in made.stderr
    assert "gone.html" in made.stderr


SITE = ("web=demo", "seeds=http://wuli.demo.test/", "algo=breadth")
# One page at a time: which ones are fetched does not depend on the machine.
ONE = {"CONCURRENT_REQUESTS": 1, "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1}


def crawl(folder: Path, *words: str, pages: int = 120, display: bool = False) -> Run:
    """Crawl the site from a folder without a project."""
    given = ("crawl", "focused", *SITE, *words, f"max_pages={pages}")
    program = (python(), "-c", MMCRAWL)
    run = Desk(folder).run(*given, program=program, MMCRAWL_DISPLAY=display, **ONE)
    assert run.code == 0, run.err
    return run


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a crawl of the demo web: one.db, its archive, and one.jsonl."""
    folder = tmp_path_factory.mktemp("crawled")
    crawl(folder, "topic=physics-senior", "store=one.db", "-O", "one.jsonl")
    return folder


def relevant(folder: Path, name: str = "one.jsonl") -> list[dict[str, object]]:
    lines = (folder / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_pages_of_a_crawl_teach_a_topic_that_the_next_crawl_finds(crawled: Path) -> None:
    urls = sorted(str(page["url"]) for page in relevant(crawled))
    (crawled / "good.txt").write_text("\n".join(urls[::2]))
    made = topic("learn", "like-these", "--good", "good.txt", "-a", "store=one.db", cwd=crawled)
    assert made.returncode == 0, made.stderr
    assert "no bad pages were given" in " ".join(made.stdout.split())
    crawl(crawled, "topic=like-these", "store=two.db", "-O", "two.jsonl")
    found = relevant(crawled, "two.jsonl")
    assert {tuple(page["words"]) for page in found} == {("≈like-these",)}  # type: ignore[arg-type]
    again = {page["url"] for page in found}.intersection(urls)
    assert len(again) > len(urls) / 2


def test_marks_teach_and_outweigh_what_was_said(crawled: Path) -> None:
    none = topic("learn", "m", "--marks", "-a", "store=one.db", cwd=crawled)
    assert none.returncode == 2
    assert "no page is marked for 'm'" in none.stderr
    right = [str(page["url"]) for page in relevant(crawled)]
    with open_archive(f"sqlite:///{crawled / 'one-archive.db'}", read_only=True) as archive:
        wrong = [example.name for example in sampled(archive, 12, without=right)]
    store = f"sqlite:///{crawled / 'one.db'}"
    with open_catalogue(store, folder_of(store, None)) as catalogue:
        for url in right[:8]:
            Marks(catalogue).put("m", url, is_good=True)
        for url in wrong:
            Marks(catalogue).put("m", url, is_good=False)
    made = topic("learn", "m", "--marks", "-a", "store=one.db", cwd=crawled)
    assert made.returncode == 0, made.stderr
    with open_catalogue(store, folder_of(store, None)) as catalogue:
        Marks(catalogue).put("m", right[0], is_good=False)
    again = topic("learn", "m", "--marks", "-a", "store=one.db", cwd=crawled)
    assert again.returncode == 0, again.stderr
    facts = json.loads((crawled / "topics" / "m.json").read_text(encoding="utf-8"))
    assert right[0] in facts["examples"]["bad"]
    assert set(facts["examples"]["good"]) == set(right[1:8])


def test_a_crawl_of_fifty_pages_ends_with_words_for_more_keywords(tmp_path: Path) -> None:
    title = "Words of these pages that the others lack"
    told = crawl(tmp_path, "keywords=力学|力", "store=one.db", pages=80, display=True).err
    words = told.partition(title)[2].split("\n\n")[0].partition("\n")[2]
    assert {"加速度", "质量"} <= set(words.split(", "))
    assert "力" not in words.split(", ")  # known already
