"""Whole experiments on a small web: truth, runs, files, report, going on, and the same again."""

import csv
import json
import re
import shutil
import time
import xml.etree.ElementTree as ET
from html import unescape
from pathlib import Path

import pytest

from mmcrawl.experiment import (
    Algorithm,
    CrawlProcess,
    ExperimentError,
    Outcome,
    Plan,
    area_share,
    compare,
    find_truth,
    output_folder,
    read_series,
    truth_key,
)
from mmcrawl.experiment import plan as plan_module
from tests.experiment.conftest import FILMS, NEWS, Laboratory, plan_for, write_web
from tests.tables import each

Done = tuple[Outcome, Path]
PAGES = 2 + NEWS + FILMS + 1
CLOCK = ("seconds", "cpu_seconds")  # columns that differ from run to run


def test_the_truth_knows_pages_copies_layers_and_links(done: Done) -> None:
    truth = done[0].truth
    assert len(truth) == PAGES
    assert len(truth.relevant) == FILMS
    assert len(set(truth.kinds)) == PAGES - 1
    assert done[0].results["truth"]["layers"] == {
        "1": {"pages": 1, "relevant": 0},
        "2": {"pages": PAGES - 1, "relevant": FILMS},
    }
    assert truth.errors == {"HTTP 404": 1}
    # the front page, the list of films behind /films → /films/, and each film
    assert len(truth.oracle) == 2 + FILMS
    assert done[0].results["oracle"]["found"] == FILMS


def test_runs_without_budget_fetch_everything_and_the_best_algorithm_comes_first(done: Done):
    rows = done[0].results["algorithms"]
    assert list(done[0].runs) == [row["label"] for row in rows] == ["urlrule", "breadth"]
    areas = [row["area_share"]["mean"] for row in rows]
    assert areas == sorted(areas, reverse=True)
    for row in rows:
        assert (row["fetched"]["mean"], row["recall"]["mean"]) == (PAGES, 1)
        assert (row["precision"]["mean"], row["ended"]) == (FILMS / PAGES, ["finished"])
        assert row["unknown"] == 0
    assert done[0].results["warnings"] == []


def test_a_copy_counts_once_whichever_address_comes_first(done: Done) -> None:
    for runs in done[0].runs.values():
        [run] = runs
        found = dict(zip(run.url, run.relevant, strict=True))
        copies = ["http://site.test/films/1.htm", "http://site.test/films/copy.htm"]
        assert sum(found[url] for url in copies) == 1
        assert run.found == FILMS


def test_the_raw_series_is_the_same_in_csv_and_json(done: Done) -> None:
    raw = done[1] / "raw"
    with (raw / "urlrule-1.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    series = read_series(raw / "urlrule-1")
    assert [row["url"] for row in rows] == series.url
    assert [row["number"] for row in rows] == [str(n) for n in range(1, PAGES + 1)]
    assert [row["relevant"] == "1" for row in rows] == series.relevant
    assert [float(row["seconds"]) for row in rows] == series.seconds == sorted(series.seconds)
    assert series.cpu_seconds == sorted(series.cpu_seconds)
    assert {row["pattern"] for row in rows} >= {"http://site.test/films/*"}


def test_the_report_tells_inputs_results_and_conclusion_and_needs_no_other_files(done: Done):
    text = (done[1] / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"@import|url\((?!#)|<script|<link", text)
    assert not re.search(r'\b(src|href|data|srcset)="(?!#|data:)', text)
    words = " ".join(unescape(re.sub("<[^>]*>", " ", text)).split())
    assert "trap limit" not in words
    assert "ended because" not in words
    for told in (
        str(done[0].results["experiment"]["web"]),
        "optics|光学",
        "http://site.test/",
        "breadth",
        "urlrule",
        "http://site.test/films/*",
        done[0].results["says"],
        "100 % is the oracle",
        "Scrapy",
        "1 × HTTP 404",
    ):
        assert told in words, told


def test_the_report_has_every_figure_and_no_id_twice(done: Done) -> None:
    names = {path.stem for path in (done[1] / "figures").glob("*.svg")}
    assert names == {path.stem for path in (done[1] / "figures").glob("*.png")}
    assert len(names) == 7
    text = (done[1] / "report.html").read_text(encoding="utf-8")
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids)) > 7
    for name in names:
        assert f'aria-label="{name}"' in text
        ET.parse(done[1] / "figures" / f"{name}.svg")


def _without_times(path: Path) -> object:
    if path.suffix == ".csv" and path.parent.name == "raw":
        return [line.split(",")[: -len(CLOCK)] for line in path.read_text().splitlines()]
    if path.suffix == ".json" and path.parent.name == "raw":
        values = json.loads(path.read_text())
        return {name: value for name, value in values.items() if name not in CLOCK}
    if path.name == "experiment.json":
        values = json.loads(path.read_text())
        assert values.pop("made")["date"]
        return values
    return path.read_bytes()


def test_the_same_inputs_give_the_same_files(done: Done, laboratory: Laboratory) -> None:
    plan = plan_for(laboratory.web, "breadth", "urlrule")
    _, said = laboratory.run(plan, "again", figures="recall-by-pages", parallel=2)
    assert "truth: kept" in said
    first, second = done[1], laboratory.folder / "again"
    timed = {"times.json", "report.html"}
    names = {
        path.relative_to(first)
        for path in first.rglob("*")
        if path.is_file() and path.parent.name not in ("runs", "figures") and path.name not in timed
    } | {Path("figures/recall-by-pages.png"), Path("figures/recall-by-pages.svg")}
    for name in sorted(names):
        assert _without_times(first / name) == _without_times(second / name), name


def test_an_interrupted_experiment_keeps_finished_runs_and_starts_others_afresh(done, laboratory):
    out = laboratory.folder / "interrupted"
    shutil.copytree(done[1], out)
    (out / "raw" / "urlrule-1.json").unlink()
    (out / "results.json").unlink()
    half = out / "runs" / "urlrule-1.db"
    half.write_bytes(half.read_bytes()[:5000])
    before = (out / "raw" / "breadth-1.json").read_bytes()
    plan = plan_for(laboratory.web, "breadth", "urlrule")
    _, said = laboratory.run(plan, "interrupted", report=False)
    assert f"breadth: kept, {PAGES} pages, {FILMS} relevant" in said
    assert f"urlrule: done, {PAGES} pages, {FILMS} relevant" in said
    assert (out / "raw" / "breadth-1.json").read_bytes() == before
    assert (out / "results.json").read_bytes() == (done[1] / "results.json").read_bytes()


def test_budget_and_repeats(laboratory: Laboratory, done: Done) -> None:
    plan = plan_for(laboratory.web, "breadth", budget=9, runs=2)
    outcome, _ = laboratory.run(plan, "budget", figures="area-share", parallel=2)
    [row] = outcome.results["algorithms"]
    assert row["fetched"] == {"mean": 9, "min": 9, "max": 9}
    assert row["ended"] == ["max_pages"]
    assert [run["repeat"] for run in row["runs"]] == [1, 2]
    text = (laboratory.folder / "budget" / "report.html").read_text(encoding="utf-8")
    assert "Mean of the runs" in text
    assert "2 of breadth" in text
    assert "9 pages a run" in text
    assert "both up to the budget of 9 pages" in text
    assert outcome.results["area_pages"] == 9
    assert outcome.results["oracle"]["pages"] == 2 + FILMS
    [run] = outcome.runs["breadth"][:1]
    best = outcome.truth.best
    assert row["area_share"]["mean"] == area_share(run.relevant, best, FILMS, 9)
    assert compare(done[1], laboratory.folder / "budget").missing == ([], ["urlrule"])


def test_a_web_without_relevant_pages_is_reported_without_recall(laboratory):
    web = write_web(laboratory.folder / "barren", media=False)
    outcome, _ = laboratory.run(plan_for(web, "breadth"), "nothing", figures="pages-by-layer")
    [row] = outcome.results["algorithms"]
    assert row["fetched"]["mean"] == PAGES
    assert row["recall"]["mean"] is None
    assert row["area_share"]["mean"] is None
    assert "recall is undefined" in outcome.results["says"]
    assert "recall is undefined" in (laboratory.folder / "nothing" / "report.html").read_text()
    assert (laboratory.folder / "nothing" / "figures" / "pages-by-layer.png").exists()


def test_the_truth_is_found_anew_when_anything_it_rests_on_changes(tmp_path, monkeypatch):
    web = write_web(tmp_path)
    keys = [truth_key(plan_for(web, "breadth"))]
    keys.append(truth_key(plan_for(web, "breadth", keywords="acoustics")))
    (tmp_path / "site.test" / "index.htm").write_text("<a href=/news/1.htm>news</a>")
    keys.append(truth_key(plan_for(web, "breadth")))
    deep = Plan(str(web), {"keywords": "optics|光学", "max_depth": "2"}, (Algorithm("a", "a"),))
    keys.append(truth_key(deep))
    portal = f"portal:demo;{web}"
    keys.append(truth_key(plan_for(Path(portal), "breadth")))
    (tmp_path / "site.test" / "more.htm").write_text("more")
    keys.append(truth_key(plan_for(Path(portal), "breadth")))
    assert len(set(keys)) == 6
    (tmp_path / "site.test" / "more.htm").unlink()
    same = truth_key(plan_for(web, "urlrule", budget=7, runs=3))
    assert same == keys[2]
    monkeypatch.setattr(plan_module, "code_digest", lambda: "another")
    assert truth_key(plan_for(web, "breadth")) not in keys


def test_a_folder_of_another_experiment_or_by_other_code_is_refused(done, laboratory):
    before = (done[1] / "experiment.json").read_bytes()
    with pytest.raises(ExperimentError, match=r"holds another experiment \(budget was 0, now 5\)"):
        laboratory.run(plan_for(laboratory.web, "breadth", "urlrule", budget=5), "done")
    assert (done[1] / "experiment.json").read_bytes() == before
    out = laboratory.folder / "old"
    shutil.copytree(done[1], out)
    about = json.loads((out / "experiment.json").read_text(encoding="utf-8"))
    (out / "experiment.json").write_text(json.dumps(about | {"code": "another"}))
    with pytest.raises(ExperimentError, match=r"old was made by another version of mmcrawl; name"):
        laboratory.run(plan_for(laboratory.web, "breadth", "urlrule"), "old")


def _wait(crawl: CrawlProcess) -> None:
    while not crawl.ended():
        time.sleep(0.05)


def _never(crawl: CrawlProcess) -> None:
    raise AssertionError("the truth is made once more")


def test_a_kept_truth_that_is_not_whole_is_made_anew(tmp_path: Path) -> None:
    web = write_web(tmp_path / "web")
    plan, cache = plan_for(web, "breadth"), tmp_path / "cache"
    store = cache / f"{truth_key(plan)}.db"
    assert len(find_truth(plan, cache, _wait)) == PAGES
    assert len(find_truth(plan, cache, _never)) == PAGES
    store.write_bytes(b"not a database at all" * 100)
    assert len(find_truth(plan, cache, _wait)) == PAGES
    store.unlink()
    with pytest.raises(AssertionError):
        find_truth(plan, cache, _never)
    assert not store.with_suffix(".json").exists()


def test_only_what_the_folder_is_to_blame_for_is_put_down_to_it(laboratory, tmp_path):
    plan = plan_for(laboratory.web, "breadth")
    with pytest.raises(OSError, match="elsewhere"), output_folder(tmp_path / "out", plan):
        raise OSError("elsewhere")
    with (
        output_folder(tmp_path / "out", plan),  # was let go
        pytest.raises(ExperimentError, match="in use by another experiment"),
        output_folder(tmp_path / "out", plan),
    ):
        pass


@each("text", ['{"algorithm": "bre', "{}", "[1]"])
def test_a_broken_raw_file_is_a_run_that_is_not_complete(tmp_path: Path, text: str) -> None:
    (tmp_path / "breadth-1.json").write_text(text)
    assert read_series(tmp_path / "breadth-1") is None


def test_what_the_trap_limit_refuses_is_told(laboratory: Laboratory) -> None:
    plan = plan_for(laboratory.web, "fish")
    plan = Plan(
        plan.web,
        plan.arguments,
        (Algorithm("fish:depth=1", "fish", {"depth": "1"}),),
        settings={"MMCRAWL_BARREN_PAGES_PER_SHAPE": "3"},
    )
    outcome, _ = laboratory.run(plan, "trapped")
    truth = outcome.results["truth"]
    assert truth["pages"] == PAGES - NEWS + 3
    assert truth["trapped"] > 0
    text = (laboratory.folder / "trapped" / "report.html").read_text(encoding="utf-8")
    assert f"the trap limit refused links {truth['trapped']} time" in text
    [row] = outcome.results["algorithms"]
    assert row["fetched"]["mean"] < truth["pages"]
    assert "no link left that it follows" in text
