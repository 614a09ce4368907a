"""The experiments of the thesis on any web: its algorithms, and its tables beside ours."""

from dataclasses import replace
from pathlib import Path

import pytest

from mmcrawl import experiment  # whose figures load matplotlib when they are drawn
from mmcrawl.experiment import ExperimentError, Outcome, Plan
from mmcrawl.experiment.presets import (
    ALGORITHMS,
    PaperTable,
    over_webs,
    reserve,
    webs_of,
    write_tables,
)
from mmcrawl.experiment.presets import yang2009_tables as tables
from tests.experiment.conftest import FILMS, HOST, NEWS, Laboratory, write_web

PAGES = 2 + NEWS + FILMS + 1


@pytest.fixture(scope="module")
def shown(laboratory: Laboratory) -> dict[str, PaperTable]:
    """The tables, by the number of the first."""
    plan = Plan(str(laboratory.web), {"keywords": "optics|光学"}, ALGORITHMS)
    outcome, _ = laboratory.run(plan, "yang2009", report=False)
    return {table.title.split(":")[0]: table for table in tables(plan, outcome)}


def test_all_tables_of_the_thesis_are_shown_each_row_as_long_as_its_head(shown):
    assert {*shown} == {"Tables 5-5 and 5-6", *(f"Table {n}" for n in ("4-1", "4-2", "4-3", "5-7"))}
    for table in shown.values():
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_layers_of_the_web_stand_beside_the_published(shown: dict[str, PaperTable]) -> None:
    rows = {row[0]: row[1:] for row in shown["Table 4-1"].rows}
    assert rows["1"][3:] == ("1", "0", "0.00%")  # the home page alone
    assert rows["3"] == ("5,250", "178", "13.57%", f"{PAGES - 1}", f"{FILMS}", "100.00%")
    assert rows["11"] == ("838", "0", "0.00%", "", "", "")
    assert rows["all"][3:5] == (f"{PAGES}", f"{FILMS}")
    assert rows["in error"] == ("2,045", "", "", "1", "", "")
    assert HOST in shown["Table 4-2"].title


def test_the_crawl_without_focus_finds_all_and_those_led_by_words_follow_no_page_off_topic(shown):
    rows = {row[0]: row for row in shown["Tables 5-5 and 5-6"].rows}
    assert rows["Topic-PageRank, published"][1:5] == ("26,872", "984", "3.66%", "32.17%")
    assert rows["breadth, here"][1:3] == (f"{PAGES}", f"{FILMS}")
    assert rows["breadth, here"][4] == "100.00%"
    for name in ("topicrank", "shark-improved"):
        fetched = int(rows[f"{name}, here"][1])
        assert fetched < PAGES  # news lead to news that the front page does not link to
    assert rows["urlrule-2009, here"][1] == f"{PAGES}"  # it probes pages on any topic


def test_algorithms_are_compared_after_the_share_that_each_fetched_in_the_thesis(shown):
    rows = {row[0]: row for row in shown["Tables 5-5 and 5-6"].rows}
    assert PAGES == 21
    assert rows["urlrule-2009, here, 21% of the web"][1] == "5"
    share, end = (rows[f"topicrank, here{what}"] for what in (", 36% of the web", ""))
    assert int(end[1]) < 8  # where it ended before that, both are the same
    assert share[1:5] == end[1:5]
    hours = {row[0]: row[1:] for row in shown["Table 5-7"].rows}
    assert hours["4"][:2] == ("7.8%", "3.90%")  # 4 hours of 24 pages a minute, of 73,952


def test_several_sites_are_told_apart(tmp_path: Path, laboratory: Laboratory) -> None:
    web = write_web(tmp_path / "web")
    other = web / "other.test"
    other.mkdir()
    (other / "index.htm").write_text("<title>Nothing</title>")
    seeds = f"http://{HOST}/,http://other.test/"
    plan = Plan(str(web), {"keywords": "optics", "seeds": seeds}, ALGORITHMS)
    outcome, _ = laboratory.run(plan, "two-sites", report=False)
    *_, by_site = tables(plan, outcome)
    rows = {row[:2]: row[2:] for row in by_site.rows}
    assert rows["other.test", "breadth"] == ("1", "0", "0.00%", "–")
    assert rows[HOST, "breadth"][1] == f"{FILMS}"
    drawn = dict(experiment.draw_figures(outcome))
    [axes] = drawn["recall-by-site"].axes  # the other has nothing to find
    assert axes.get_title() == HOST
    assert axes.lines[0].get_ydata()[-1] == 1
    assert {len(line.get_xdata()) for line in axes.lines} >= {PAGES + 1}


def test_over_several_webs_recall_has_its_interval_and_the_order_is_counted(laboratory, shown):
    plan = Plan(str(laboratory.web), {"keywords": "optics|光学"}, ALGORITHMS)
    outcome, _ = laboratory.run(plan, "yang2009", report=False)
    found = {"topicrank": 0, "shark-improved": 1, "urlrule-2009": 2, "breadth": 3}

    def made(**better: int) -> Outcome:
        """The same with so many of the relevant pages fetched first, and no more."""
        runs = {}
        for label, count in (found | better).items():
            run = outcome.runs[label][0]
            runs[label] = [replace(run, relevant=[n < count for n in range(len(run))])]
        return replace(outcome, runs=runs)

    webs = [made(), made(topicrank=2), made(breadth=6, topicrank=1)]
    table = over_webs("three", webs)
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["breadth, here"] == (f"{PAGES}", "66.67% (50%–100%)", "50%–100%")
    assert rows["topicrank, here, 36% of the web"][1].startswith("16.67% (0%–")
    assert "appears on 1 of 3 webs; URL rules are first on 2" in table.note


def test_a_range_of_seeds_names_webs() -> None:
    assert webs_of("demo") == {"": "demo"}
    webs = webs_of("sim:seed=0-1,pages=200")
    assert webs == {"seed=0": "sim:seed=0,pages=200", "seed=1": "sim:seed=1,pages=200"}
    assert webs_of("site/seed=1-2") == {"": "site/seed=1-2"}


def test_tables_are_written_for_programs_people_and_papers(tmp_path: Path) -> None:
    table = PaperTable("A", ("row", "a|b"), (("x_1 & 2", "50.0%"), ("\\~^", "–")), "A note.")
    reserve(tmp_path / "new")
    page = write_tables([table], tmp_path / "new")
    rows = "| row | a\\|b |\n| --- | ---: |\n| x_1 & 2 | 50.0% |\n| \\~^ | – |\n"
    assert page.read_text() == f"## A\n\n{rows}\nA note.\n"
    assert (tmp_path / "new" / "tables.tex").read_text().splitlines() == [
        "% A",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"row & a|b \\",
        r"\midrule",
        r"x\_1 \& 2 & 50.0\% \\",
        r"\textbackslash{}\textasciitilde{}\textasciicircum{} & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
        "% A note.",
    ]
    assert '"rows"' in (tmp_path / "new" / "tables.json").read_text()
    reserve(tmp_path / "new")  # once more, over the tables of before


def test_a_folder_with_other_files_gets_no_tables(tmp_path: Path) -> None:
    (tmp_path / "homework.txt").write_text("mine")
    with pytest.raises(ExperimentError, match=r"holds other files \(homework.txt\)"):
        reserve(tmp_path)
