"""`scrapy rules`: what a crawl has learnt is exported and fed back; a URL is tried."""

from dataclasses import astuple
from pathlib import Path

import pytest

from mmcrawl import __version__
from mmcrawl.cluster import Leases, Logs, Rows, open_shared_store
from mmcrawl.commands import rules as module
from mmcrawl.crawl import read_rules
from mmcrawl.frontier import Findings, PatternRecord, open_store
from tests.commands.running import Run, Said, runner
from tests.databases import mongodb_uri

LEARNT = [
    PatternRecord("h.test", "http://h.test/show.php?id=*", 7, 6, 2),
    PatternRecord("h.test", "http://h.test/a/**", 4, 4, 0),
]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run the command in this process, in a folder of its own."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return runner(module.Command, capfd)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store with one job that has learnt something."""
    with open_store(f"sqlite:///{tmp_path}/crawl.db") as opened:
        arguments = {"topic": "physics-senior", "seeds": [["http://h.test/", ""]]}
        job = opened.job("films", arguments)
        Findings(opened, job).keep_patterns(LEARNT)
        opened.commit()
    return f"sqlite:///{tmp_path}/crawl.db"


def test_what_is_exported_is_a_file_of_rules(run: Run, store: str, tmp_path: Path) -> None:
    assert run("export", "-o", "rules.txt") == Said(0, "", "")
    text = (tmp_path / "rules.txt").read_text(encoding="utf-8")
    assert text == run("export", "-a", f"store={store}").out
    rules = read_rules("rules.txt").rules
    assert [(rule.pattern, rule.weight, rule.topic) for rule in rules] == [
        ("http://h.test/a/**?", 10, "physics-senior"),
        ("http://h.test/show.php?id=*", 8, "physics-senior"),
    ]


def test_test_says_which_rules_match_and_what_follows(run: Run, store: str, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(
        "http://h.test/a/** never\nre:/b/ 3 topic=physics-senior\nhttp://h.test/** 9\n"
    )
    urls = [f"http://h.test/{path}" for path in ("a/b/1", "b/", "")]
    said = run("test", *urls, "http://i.test/", "-a", "rules=mine.txt")
    assert [line.strip() for line in said.out.splitlines()] == [
        *(urls[0], "never fetched", "mine.txt, line 1: http://h.test/a/**"),
        *("mine.txt, line 2: re:/b/", "mine.txt, line 3: http://h.test/**"),
        *(
            urls[1],
            "comes before links without a rule, with weight 3, in crawls for physics-senior",
        ),
        *("mine.txt, line 2: re:/b/", "mine.txt, line 3: http://h.test/**"),
        *(urls[2], "comes before links without a rule, with weight 9"),
        "mine.txt, line 3: http://h.test/**",
        "http://i.test/",
        "no rule matches: the algorithm decides, after all links that match a rule",
    ]
    said = run("test", "http://h.test/show.php?id=9", "--store", store)
    assert [line.strip() for line in said.out.splitlines()] == [
        "http://h.test/show.php?id=9",
        "comes before links without a rule, with weight 8",
        "6 hits, 2 misses: http://h.test/show.php?id=*",
    ]


def test_the_crawl_that_is_meant_must_be_said(run: Run, store: str) -> None:
    with open_store(store) as opened:
        opened.job("sound", {})
    assert "crawl.db has several jobs: say -a job=NAME; there are films, sound" in run("export").err
    said = run("export", "--job", "sound").err
    assert said.startswith(
        "scrapy rules: crawl sound has learnt no patterns; algorithms with urlrule in their"
    )


def test_rules_of_a_shared_crawl_are_exported(run: Run) -> None:
    with mongodb_uri() as uri:
        arguments = {"topic": "a,b", "mmcrawl": __version__}
        shared = open_shared_store(uri, job="films", arguments=arguments)
        leases = Leases(shared, "ann")
        leases.make([1])
        [lease] = leases.take([leases.read()[1]])
        rows = Rows({"pattern": [[1, *astuple(pattern)] for pattern in LEARNT]})
        leases.change(Logs(shared).append({lease: rows.encode()}))
        shared.close()
        exported = run("export", "--store", uri, "--job", "films").out
        assert "\nhttp://h.test/a/**?  10  # 4 hits, 0 misses; re:^https?" in exported
        assert "\nhttp://h.test/show.php?id=*  8  # 6 hits, 2 misses" in exported
