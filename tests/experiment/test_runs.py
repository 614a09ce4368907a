"""Chance, budgets by share, the order of rows, distinct media, and warnings, on a small web."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mmcrawl import experiment  # whose figures load matplotlib when they are drawn
from mmcrawl.experiment import Algorithm, ExperimentError, Outcome
from mmcrawl.plugins import Registry
from mmcrawl.scoring import Breadth
from tests.experiment.conftest import FILMS, NEWS, Laboratory, page, plan_for, write_web

Done = tuple[Outcome, Path]
PAGES = 2 + NEWS + FILMS + 1


RANDOM = """
from random import Random
from mmcrawl.frontier.records import LinkScores
from mmcrawl.scoring import Breadth

class Dice(Breadth):
    name, random = "dice", True

    def __init__(self, source, similarity, *, seed=0):
        super().__init__(source, similarity)
        self._random = Random(seed)

    def added(self, links):
        links = list(links)
        scores = [self._random.random() for _ in links]
        return LinkScores(links, scores, scores)

    def crawled(self, page):
        return self.added(page.links)
"""


@pytest.fixture
def dice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package that registers an algorithm of chance."""
    info = tmp_path / "dice-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dice\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[mmcrawl.scorers]\ndice = dice_scorer:Dice\n")
    (tmp_path / "dice_scorer.py").write_text(RANDOM)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield
    Registry.factory.cache_clear()
    sys.modules.pop("dice_scorer", None)


@pytest.mark.usefixtures("dice")
def test_an_algorithm_of_chance_is_run_with_several_seeds(laboratory: Laboratory) -> None:
    outcome, _ = laboratory.run(plan_for(laboratory.web, "breadth", "dice"), "dice")
    rows = {row["label"]: row for row in outcome.results["algorithms"]}
    assert len(rows["breadth"]["runs"]) == 1
    assert [run["seed"] for run in rows["dice"]["runs"]] == [0, 1, 2]
    assert len({tuple(run.url) for run in outcome.runs["dice"]}) == 3
    area = rows["dice"]["area_share"]
    assert area["min"] < area["mean"] < area["max"]
    text = (laboratory.folder / "dice" / "report.html").read_text(encoding="utf-8")
    assert f"{area['mean']:.1%} ({area['min']:.1%}–{area['max']:.1%})" in text
    latex = (laboratory.folder / "dice" / "results.tex").read_text(encoding="utf-8")
    percent = [f"{100 * area[part]:.1f}" for part in ("mean", "min", "max")]
    assert r"dice & {}\% ({}--{}) & ".format(*percent) in latex
    assert "3 of dice (seeds 0–2), 1 of each other algorithm" in text
    [recall] = [f for name, f in experiment.draw_figures(outcome) if name == "recall-by-pages"]
    assert len(recall.axes[0].collections) == 1  # the band
    one = plan_for(laboratory.web, "dice", runs=1)
    again, _ = laboratory.run(replace(one, algorithms=(SEEDED,)), "seeded", report=False)
    assert again.runs[SEEDED.label][0].url == outcome.runs["dice"][2].url


SEEDED = Algorithm("dice:seed=2", "dice", {"seed": "2"})


@pytest.mark.usefixtures("dice")
def test_an_algorithm_of_chance_without_a_seed_is_refused(laboratory, monkeypatch):
    monkeypatch.setattr(Breadth, "random", True)
    with pytest.raises(ExperimentError, match="breadth says that it is random, but has no param"):
        plan_for(laboratory.web, "breadth").check()


def test_media_that_pages_repeat_count_once(tmp_path: Path, laboratory: Laboratory) -> None:
    web = write_web(tmp_path / "web")
    host = web / "site.test"
    whole = page("Optics, part 1 and 2 again", "/films/1.htm", media="films/1.mp4")
    whole += '<a href="http://SITE.test:80/films/2.mp4">Optics</a>'
    (host / "index.htm").write_text((host / "index.htm").read_text() + '<a href="/all.htm">all</a>')
    (host / "all.htm").write_text(whole)
    outcome, _ = laboratory.run(plan_for(web, "breadth", budget=4), "media", report=False)
    truth = outcome.results["truth"]
    assert (truth["relevant"], truth["media"]) == (FILMS + 1, FILMS)
    [run] = outcome.runs["breadth"]
    assert outcome.truth.new_media([None]) == [0]
    assert sum(run.media) == outcome.results["algorithms"][0]["media"]["mean"]
    oracle = outcome.truth.best_media
    assert sum(oracle) == FILMS
    assert len(oracle) == 3 + (FILMS - 2)  # two lists, the page with two, and the other films


def test_hosts_that_cannot_be_entered_are_told(tmp_path: Path, laboratory: Laboratory) -> None:
    shut = tmp_path / "shut"
    (shut / "shut.test").mkdir(parents=True)
    (shut / "shut.test" / "other.htm").write_text("no link leads here")
    (shut / "manifest.json").write_text('{"shut.test": {"start": "http://shut.test/gone.htm"}}')
    portal = Path(f"portal:{laboratory.web};{shut}")
    plan = plan_for(portal, "breadth")
    anywhere = replace(plan, arguments={**plan.arguments, "sites": "anywhere"})
    outcome, said = laboratory.run(anywhere, "anywhere")
    warning = "Nothing could be fetched from shut.test (1 link: HTTP 404)."
    assert outcome.results["warnings"] == [warning]
    assert f"warning: {warning}" in said
    assert warning in (laboratory.folder / "anywhere" / "report.html").read_text(encoding="utf-8")
    outcome, _ = laboratory.run(plan, "hosts", report=False)
    assert outcome.results["warnings"] == [
        "No link to shut.test was followed; give --sites anywhere.",
        "No link to site.test was followed; give --sites anywhere.",
    ]


def test_a_host_that_is_a_seed_is_entered_at_it(laboratory: Laboratory) -> None:
    plan = plan_for(Path(f"portal:{laboratory.web};demo"), "breadth")
    seeds = {**plan.arguments, "seeds": "http://site.test/"}
    assert replace(plan, arguments=seeds).entries == {"site.test"}


def test_precision_is_drawn_as_high_as_algorithms_reach(done: Done) -> None:
    tops = {name: figure.axes[0].get_ylim()[1] for name, figure in experiment.draw_figures(done[0])}
    end = FILMS / PAGES
    assert end < tops["precision-by-pages"] < 1.5 * end
    assert tops["recall-by-pages"] > 1
