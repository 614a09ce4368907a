"""What the text of a link says of where it leads, in a dozen languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.text import data_lines, is_paging, names_media


@pytest.mark.parametrize(
    "anchor",
    [
        "Listen to lecture 3",
        "DOWNLOADS",
        "Downloading Episode 12",
        "Show notes: optics",
        "(mp3)",
        "lesson-video",
        "Die Sendung anhören",
        "Hörproben",
        "Aflevering 4",
        "Lyssna på avsnitt 7",
        "Écouter l'émission",
        "Ver el vídeo",
        "Escuchar la canción",
        "Ouvir episódio",
        "Ascolta la puntata",
        "Слушать запись",
        "ВИДЕО",
        "Posłuchaj: odcinek 3",
        "Videoyu izle",
        "实验视频",
        "物理课件下载",
        "物理課件下載",
        "動画で見る",
        "第3回 エピソード",
        "물리 동영상",
        "다시듣기",
    ],
)
def test_media_are_promised_in_many_languages(anchor):
    assert names_media(anchor)


@pytest.mark.parametrize(
    "anchor",
    [
        "",
        "About us",
        "Display",
        "Replay",
        "Eclipse",
        "Clipboard",
        "Playground",
        "Musical scales",
        "Erfolge",  # folge
        "verfolgen",
        "Mainstream",
        "Unsound",
        "物理",
        "関連",
        "물리",
        "ФИЗИКА",
    ],
)
def test_words_inside_other_words_promise_nothing(anchor):
    assert not names_media(anchor)


@pytest.mark.parametrize(
    "anchor",
    [
        "Next",
        "next page »",
        "« Older   Posts",
        "← Previous",
        "»",
        "››",
        "...",
        "12",
        "2019",
        "下一页",
        "下一頁 »",
        "次へ",
        "Weiter →",
        "Ältere Beiträge",
        "Page suivante",
        "Próxima",
        "Следующая",
        "다음",
        "[2]",
        "(12)",
        "【3】",
        "[Next >>]",
        "Page 2",
        "page 2 of 14",
        "2 / 14",
        "Seite 3",
        "第3页",
        "第 3 頁",
        "3ページ",
        "older posts",
        "下一页>>",
        "»|",
    ],
)
def test_a_link_that_says_no_more_than_that_a_list_goes_on(anchor):
    assert is_paging(anchor)


@pytest.mark.parametrize(
    "anchor",
    [
        "",
        "  ",
        "Next year",
        "More about optics",
        "12 songs",
        "20190401",
        "下一页的内容",
        "1a",
        "Home",
        "Page 2 of the story of X",
        "Page",
        "Seite",
        "[Lesson 2]",
        "(2) Optics",
        "第3页的内容",
        "第3课",
        "24/7 news",
        "[]",
        "p",
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
