"""The experiments of the thesis on any web: its algorithms, and its tables beside ours."""

from pathlib import Path

import pytest

from mmcrawl.experiment import ExperimentError, Plan
from mmcrawl.experiment.presets import ALGORITHMS, PaperTable, claim, write_tables
from mmcrawl.experiment.presets import yang2009_tables as tables
from tests.experiment.conftest import FILMS, HOST, NEWS, Laboratory, write_web

PAGES = 2 + NEWS + FILMS + 1


@pytest.fixture(scope="module")
def shown(laboratory: Laboratory) -> dict[str, PaperTable]:
    """The tables, by the number of the first."""
    plan = Plan(str(laboratory.web), {"keywords": "optics|光学"}, ALGORITHMS)
    outcome, _ = laboratory.run(plan, "yang2009")
    return {table.title.split(":")[0]: table for table in tables(plan, outcome)}


def test_all_tables_of_the_thesis_are_shown_each_row_as_long_as_its_head(
    shown: dict[str, PaperTable],
) -> None:
    assert list(shown) == [
        "Table 4-1",
        "Table 4-2",
        "Table 4-3",
        "Tables 5-5 and 5-6",
        "Table 5-7",
    ]
    for table in shown.values():
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_layers_of_the_web_stand_beside_the_published(shown: dict[str, PaperTable]) -> None:
    rows = {row[0]: row[1:] for row in shown["Table 4-1"].rows}
    assert rows["1"][3:] == ("1", "0", "0.00%")  # the home page alone
    assert rows["3"] == ("5,250", "178", "13.57%", f"{PAGES - 1}", f"{FILMS}", "100.00%")
    assert rows["11"] == ("838", "0", "0.00%", "", "", "")
    assert rows["all"][3:5] == (f"{PAGES}", f"{FILMS}")
    assert HOST in shown["Table 4-2"].title


def test_published_shares_are_computed_from_counts(shown: dict[str, PaperTable]) -> None:
    rows = {row[0]: row for row in shown["Tables 5-5 and 5-6"].rows}
    assert rows["Topic-PageRank, published"][1:5] == ("26,872", "984", "3.66%", "32.17%")
    assert rows["breadth-first, published"][3] == "4.14%"
    assert rows["URL rules, published"][3:5] == ("12.89%", "66.95%")


def test_the_crawl_without_focus_finds_all_and_those_led_by_words_follow_no_page_off_topic(
    shown: dict[str, PaperTable],
) -> None:
    rows = {row[0]: row for row in shown["Tables 5-5 and 5-6"].rows}
    assert rows["breadth, here"][1:3] == (f"{PAGES}", f"{FILMS}")
    assert rows["breadth, here"][4] == "100.00%"
    for name in ("topicrank", "shark-improved"):
        fetched = int(rows[f"{name}, here"][1])
        assert fetched < PAGES  # news lead to news that the front page does not link to
    assert rows["urlrule-2009, here"][1] == f"{PAGES}"  # it probes pages on any topic


def test_algorithms_are_compared_after_the_share_that_each_fetched_in_the_thesis(
    shown: dict[str, PaperTable],
) -> None:
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
    *_, by_site = tables(plan, laboratory.run(plan, "two-sites")[0])
    rows = {row[:2]: row[2:] for row in by_site.rows}
    assert rows["other.test", "breadth"] == ("1", "0", "0.00%", "–")
    assert rows[HOST, "breadth"][1] == f"{FILMS}"


def test_a_web_without_relevant_pages_has_no_tables(tmp_path: Path, laboratory: Laboratory) -> None:
    plan = Plan(str(write_web(tmp_path / "web", media=False)), {"keywords": "optics"}, ALGORITHMS)
    outcome, _ = laboratory.run(plan, "nothing-there")
    with pytest.raises(ExperimentError, match="the tables of the thesis would be empty"):
        list(tables(plan, outcome))


def test_tables_are_written_for_programs_and_people(tmp_path: Path) -> None:
    table = PaperTable("A", ("row", "a|b"), (("x", "1"),), "A note.")
    claim(tmp_path / "new")
    page = write_tables([table], tmp_path / "new")
    assert page.read_text() == "## A\n\n| row | a\\|b |\n| --- | ---: |\n| x | 1 |\n\nA note.\n"
    assert '"rows"' in (tmp_path / "new" / "tables.json").read_text()
    claim(tmp_path / "new")  # once more, over the tables of before


def test_a_folder_with_other_files_gets_no_tables(tmp_path: Path) -> None:
    (tmp_path / "homework.txt").write_text("mine")
    with pytest.raises(ExperimentError, match=r"holds other files \(homework.txt\)"):
        claim(tmp_path)
