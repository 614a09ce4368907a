"""What the text of a link says of where it leads, in a dozen languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.text import data_lines, is_paging, names_media


@pytest.mark.parametrize(
    "anchor",
    [
        "DOWNLOADS",
        "Downloading Episode 12",
        "(mp3)",
        "Hörproben",
        "ВИДЕО",
        "实验视频",
        "物理課件下載",
        "물리 동영상",
    ],
)
def test_media_are_promised_in_many_languages(anchor):
    assert names_media(anchor)


@pytest.mark.parametrize(
    "anchor",
    [
        "",
        "Display",
        "Clipboard",
        "Erfolge",
        "Unsound",
        "関連",
    ],
)
def test_words_inside_other_words_promise_nothing(anchor):
    assert not names_media(anchor)


@pytest.mark.parametrize(
    "anchor",
    [
        "next page »",
        "← Previous",
        "»",
        "12",
        "2019",
        "[2]",
        "page 2 of 14",
        "2 / 14",
        "第 3 頁",
        "下一页>>",
        "»|",
    ],
)
def test_a_link_that_says_no_more_than_that_a_list_goes_on(anchor):
    assert is_paging(anchor)


@pytest.mark.parametrize(
    "anchor",
    [
        "  ",
        "Next year",
        "20190401",
        "1a",
        "Page 2 of the story of X",
        "Page",
        "[Lesson 2]",
        "第3课",
        "24/7 news",
        "[]",
    ],
)
def test_a_link_that_says_more_is_no_paging(anchor):
    assert not is_paging(anchor)


@pytest.mark.parametrize("name", ["media.txt", "paging.txt"])
def test_words_stand_once_in_lower_case_without_blanks_around(name):
    lines = data_lines("link_words", name)
    assert lines
    assert len(lines) == len(set(lines))
    for line in lines:
        assert line == line.strip().lower()


@pytest.mark.parametrize("word", data_lines("link_words", "media.txt"))
def test_every_word_for_media_is_found_with_other_words_around(word):
    assert names_media(word.replace("*", ""))
    assert names_media(f"x1 {word.replace('*', 'xyz').upper()}, x2")


@pytest.mark.parametrize("word", data_lines("link_words", "paging.txt"))
def test_every_word_for_paging_is_found(word):
    assert is_paging(f"« {word.title()} »")
    assert not is_paging(f"{word} optics")


@given(st.text(st.characters(), max_size=60))
def test_any_text_is_answered(anchor):
    assert names_media(anchor) in (True, False)
    assert is_paging(anchor) in (True, False)
    assert not (is_paging(anchor) and not anchor.strip())
