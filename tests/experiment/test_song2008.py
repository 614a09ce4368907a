"""The experiments of Song et al. 2008: test cases of table 1, and the labelled pairs of pages."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from mmcrawl.archive import open_archive
from mmcrawl.experiment import ExperimentError
from mmcrawl.experiment.presets import (
    CASES,
    WAYS,
    ChangedPart,
    Grade,
    Judgement,
    PagePair,
    grade_of,
    judge,
    judged,
    labelled_pairs,
)
from mmcrawl.experiment.presets import song2008_tables as tables
from tests.tables import each

CORPORA = "MMCRAWL_CORPORA"
WORDS = "lever pulley wheel lens prism field charge wave orbit spring".split()


def quiet(done: int, of: int, what: str) -> None:
    pass


def page(*paragraphs: str) -> bytes:
    inside = "".join(f"<div><p>{text}</p></div>" for text in paragraphs)
    return f"<html><body><div>{inside}</div></body></html>".encode()


OLD = page(*(f"All about the {word} of today" for word in WORDS))
NEW = OLD.replace(b"lever", b"gears").replace(b"spring", b"magnet")


def span(body: bytes, text: bytes) -> tuple[int, int]:
    start = body.index(text)
    return start, start + len(text)


def part(old: bytes, new: bytes, what: str = "changed") -> ChangedPart:
    return ChangedPart(what, span(OLD, old) if old else None, span(NEW, new) if new else None)


FIRST = part(b"All about the lever of today", b"All about the gears of today")
LAST = part(b"All about the spring of today", b"All about the magnet of today")


def judgement(tmp_path: Path, *parts: ChangedPart, level: int = 3) -> Judgement:
    pair = PagePair("site", (1, 2), ("", ""), parts)
    with open_archive(f"sqlite:///{tmp_path}/a.sqlite") as archive:
        return judge(pair, (OLD, NEW), archive, "bwap", level)


# -- grades -----------------------------------------------------------------------------------


@each(
    "share, grade",
    [
        (5 / 5, Grade.PERFECT),  # CC2 to CC6 told, at level 3
        (5 / 6, Grade.GOOD),  # CC, at level 2
        (5 / 13, Grade.NORMAL),  # C, at level 1
        (5 / 17, Grade.BAD),  # the page
        (0.0, Grade.BAD),
    ],
)
def test_the_levels_of_the_papers_example_have_the_four_grades(share: float, grade: Grade) -> None:
    assert grade_of(share) is grade


def test_a_block_told_without_a_label_lowers_the_grade_and_is_in_vain(tmp_path: Path) -> None:
    found = judgement(tmp_path, FIRST)
    assert found.in_vain == 1
    assert found.grade is Grade.NORMAL  # half of what is told


def test_a_part_in_no_told_block_is_missed(tmp_path: Path) -> None:
    other = part(b"All about the lens of today", b"All about the lens of today")
    found = judgement(tmp_path, other)
    assert (found.missed, found.agreement, found.grade) == (1, 0.0, Grade.BAD)


def test_a_part_counts_as_a_whole_once_a_block_inside_of_it_is_told(tmp_path: Path) -> None:
    around = ChangedPart(
        "changed",
        (span(OLD, b"All about the lever")[0], span(OLD, b"pulley of today")[1]),
        (span(NEW, b"All about the gears")[0], span(NEW, b"pulley of today")[1]),
    )
    assert judgement(tmp_path, around, LAST).agreement == 1.0


# -- labels -----------------------------------------------------------------------------------


def test_each_pair_has_digests_and_a_change_that_is_no_trifle() -> None:
    assert len({(pair.site, pair.times) for pair in labelled_pairs()}) == 200
    for pair in labelled_pairs():
        assert pair.times[0] < pair.times[1]
        assert all(len(bytes.fromhex(digest)) == 32 for digest in pair.digests)
        assert any(part.what != "trivial" for part in pair.parts)
        for part in pair.parts:
            assert part.what in ("changed", "new", "gone", "moved", "trivial")
            assert (part.before is None) <= (part.what in ("new", "trivial"))
            assert (part.after is None) <= (part.what in ("gone", "trivial"))
            assert all(start < end for start, end in filter(None, (part.before, part.after)))


def test_the_labelled_pages_are_those_of_the_corpus() -> None:
    folder = Path(os.environ.get(CORPORA, ""), "series")
    if not folder.is_dir():
        pytest.skip(f"no corpus: name the folder that holds series/ in the variable {CORPORA}")
    for pair in labelled_pairs():
        for body, digest in zip(pair.pages(folder), pair.digests, strict=True):
            assert sha256(body).hexdigest() == digest


# -- tables -----------------------------------------------------------------------------------


def test_another_page_than_the_labelled_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match=r"compact-online.de__index.*--data"):
        next(tables(tmp_path, quiet))
    pair = labelled_pairs()[0]
    (tmp_path / pair.site).mkdir()
    (tmp_path / pair.site / f"{pair.times[0]}.html").write_bytes(OLD)
    with pytest.raises(ExperimentError, match="not the page that was labelled"):
        next(tables(tmp_path, quiet))


def test_methods_are_compared_on_the_pairs_and_the_first_by_site(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    for time, body in ((1, OLD), (2, NEW)):
        (tmp_path / "site" / f"{time}.html").write_bytes(body)
    digests = (sha256(OLD).hexdigest(), sha256(NEW).hexdigest())
    pair = PagePair("site", (1, 2), digests, (FIRST, LAST))
    by_method, by_site = judged([pair], tmp_path, quiet)
    assert len(by_method.rows) == 1 + len(WAYS)
    assert by_method.rows[0][3:6] == ("13 %", "1 %", "86 %")
    assert by_method.rows[1][1:] == ("100.0%", "0.0%", "0.0%", "0.0%", "100.0%", "0.0%", "0.0%")
    assert by_site.rows[0][:3] == ("site", "1", "100.0%")
    for table in (by_method, by_site):
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_of_the_cases_on_pages_that_fails_which_failed_in_the_paper() -> None:
    cases = [case for case in CASES if case.category == "functional"]
    assert (len(CASES), len(cases)) == (25, 12)
    [text] = [case for case in cases if case.text == "mostly text"]
    for case in (text, *cases[::5]):
        found = 0 if case.text == "mostly text" else 5
        expected = f"{case.published}: 6 of 6 read back, {found} of 5 changes told"
        assert case.here().startswith(expected), case.text
