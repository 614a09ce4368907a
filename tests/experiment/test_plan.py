"""What an experiment is asked to do, checked before anything is fetched or written."""

from pathlib import Path

import pytest

import mmcrawl
from mmcrawl.experiment import (
    Algorithm,
    Plan,
    algorithms_of,
    code_digest,
    styles_for,
)
from mmcrawl.scoring import algorithm_names
from tests.experiment.conftest import write_web
from tests.tables import each

NAMES = ["breadth", "urlrule"]
TRAP_LIMIT = "MMCRAWL_BARREN_PAGES_PER_SHAPE"


def test_algorithms_with_parameters() -> None:
    text = "breadth, urlrule:lift=0;d=0.9"
    assert algorithms_of(text, NAMES) == (
        Algorithm("breadth", "breadth"),
        Algorithm("urlrule:d=0.9;lift=0", "urlrule", {"lift": "0", "d": "0.9"}),
    )
    assert algorithms_of(text, NAMES)[1].file_name == "urlrule+d=0.9+lift=0"


def test_all_means_every_algorithm_and_seeds_are_checked_against_the_web(tmp_path: Path) -> None:
    seeds = {"keywords": "lens", "seeds": "http://site.test/films/"}
    plan = Plan(str(write_web(tmp_path)), seeds, algorithms_of("all", NAMES))
    plan.check()
    assert [a.label for a in plan.algorithms] == NAMES
    assert plan.seeds == ["http://site.test/films/"]


def test_every_algorithm_can_be_told_from_the_others() -> None:
    labels = [*algorithm_names(), "urlrule:lift=0", "mine"]
    styles = styles_for(labels)
    assert len(set(styles.values())) == len(labels)
    assert styles_for(["urlrule"])["urlrule"] == styles["urlrule"]


@each(
    "web, given, limit",
    [
        ("portal:sim:pages=200; demo", {}, None),
        ("portal:sim:pages=200;sim:pages=300", {}, "0"),
        ("sim:pages=200", {TRAP_LIMIT: "7"}, "7"),
    ],
)
def test_only_a_web_without_end_is_cut_by_the_trap_limit(web, given, limit):
    plan = Plan(web, {"keywords": "lens"}, (), settings=given)
    assert plan.crawl_settings.get(TRAP_LIMIT) == limit
    assert plan.limits["settings"].get(TRAP_LIMIT) == limit


def test_a_demo_web_with_another_file_is_another_web(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Plan("demo", {"keywords": "lens"}, ()).web_digest
    assert Plan("portal:demo", {"keywords": "lens"}, ()).web_digest == before
    monkeypatch.setattr("mmcrawl.experiment.plan.demo_files", lambda: {"a.test/index.html": b""})
    assert Plan("demo", {"keywords": "lens"}, ()).web_digest != before


def test_the_code_digest_follows_what_takes_part_in_a_crawl(tmp_path, monkeypatch):
    shown = ("mmcrawl/experiment/report.py", "mmcrawl/commands/x.py")
    told = (
        *("mmcrawl/__init__.py", "mmcrawl/experiment/plan.py", "mmcrawl/scoring/fish.py"),
        *("mmcrawl/spiders/focused.py", "dictionaries/topics/optics.json"),
    )
    for name in (*told, *shown):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("before")
    monkeypatch.setattr(mmcrawl, "__file__", str(tmp_path / told[0]))
    monkeypatch.setattr("mmcrawl.experiment.plan.data_file", lambda: tmp_path / "dictionaries")
    digest = code_digest.__wrapped__
    before = digest()
    for name in shown:
        (tmp_path / name).write_text("after")
    assert digest() == before
    for name in told:
        (tmp_path / name).write_text("after")
        assert digest() != before, name
        (tmp_path / name).write_text("before")
    assert digest() == before
