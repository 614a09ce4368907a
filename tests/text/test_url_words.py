from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.text import (
    Lexicon,
    UrlTable,
    UrlWord,
    data_lines,
    is_public_suffix,
    split_host,
    split_url,
    translate_url,
    url_table,
    url_text,
    url_words,
)
from tests.tables import each


@each(
    "url, words",
    [
        ("http://h/chuzhong/wuli/kejian/", ("chuzhong", "wuli", "kejian")),
        ("http://www.chuzhong2wuli/kejian/index.asp", ("chuzhong", "wuli", "kejian")),
        ("/gaozhongwuli", ("gaozhong", "wuli")),
        ("/highschoolphysics.html", ("high", "school", "physics")),
        ("/HighSchool/lawsOfMotion.htm", ("high", "school", "laws", "of", "motion")),
        ("http://user:secret@www.optics.co.uk/x", ("optics",)),
        ("http://192.168.0.1/optics", ("optics",)),
        ("http://castalio.test/optics", ("castalio", "optics")),
        ("/show.php?subject=physics&id=12", ("subject", "physics")),
        ("/a/lesson12.mp3", ("lesson",)),
        ("/mp3/3.mp3", ("mp3",)),
        ("/bíblia/distribuição", ("bíblia", "distribuição")),
        ("/physicsClassroom/mathsForums", ("physics", "classroom", "maths", "forums")),
        ("/phyzzicsClassroom", ("phyzzics", "classroom")),
        ("/laWsoundOptics", ("law", "sound", "optics")),
        ("http://xn--fiq228c.com/", ("中文",)),
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
        "/optics/2e3f781d9204bb2a31ee0e628b1334d3.html",
        "/optics/dGhpcyBpcyBhIHNlc3Npb24x9Q7",
        "/optics/" + "qwrtzpsdfghklmn" * 4,
    ],
)
def test_session_ids_are_left_out(url):
    assert split_url(url) == ("optics",)


def test_words_are_translated() -> None:
    words = {"wuli": "物理", "yuwen": "语文", "maths": "数学", "atoms": "原子", "czwl": "初中物理"}
    for word, chinese in words.items():  # words of schools win over their homophones
        assert translate_url(f"http://h/{word}/") == (chinese,)
    assert url_words("/spotifying") == (UrlWord("spotifying", "spotifi", None),)
    assert translate_url("/spotifying") == ("spotifi",)
    phrase = UrlWord("junior high school", "junior high school", "初中")
    assert url_words("/junior-high-school") == (phrase,)
    table = UrlTable({"refract": "折光"}, {"reflect": "反射"}, {}, frozenset())
    assert table.translation("reflecting") == "反射"  # by its stem
    assert table.translation("refracting") == "折光"


def test_a_lexicon_of_either_language_finds_the_words_of_a_url():
    text = url_text("http://h/high-school/optics/shiyan/")
    assert dict(Lexicon(["光学", "实验", "高中"]).find(text)) == {"光学": 1, "实验": 1, "高中": 1}
    assert dict(Lexicon(["high school", "optics"]).find(text)) == {"high school": 1, "optics": 1}


def test_a_chinese_word_stands_once_in_the_text_of_a_url():
    assert url_text("/力学/optics") == "力学 optics 光学"


def test_of_cuts_into_as_many_words_the_more_frequent_words_win():
    table = UrlTable({}, {}, {"gao": 1, "gaoz": 9, "zhong": 1, "hong": 9}, frozenset())
    assert table.cut("gaozhong") == ("gaoz", "hong")


@given(st.one_of(st.text(), st.text(alphabet="http:/w%Cc1=&?#;.[]@-物é\udc80")))
def test_no_string_makes_the_functions_fail(url):
    words = split_url(url)
    assert all(words)
    assert len(url_words(url)) <= len(words)
    assert isinstance(url_text(url), str)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", max_size=60))
def test_a_cut_loses_no_letter(letters):
    words = url_table().cut(letters)
    assert words is None or "".join(words) == letters


def test_the_shipped_table_holds_the_lists_beside_it() -> None:
    """Else `tools/build_url_words.py` was not run after a change of these."""
    words = dict(line.split("\t")[1:3] for line in data_lines("url_words", "table.tsv"))
    for name in ("overrides.tsv", "initials.tsv"):
        for line in data_lines("url_words", name):
            key, word = line.split("\t")
            assert words[key] == word, name


def test_a_host_is_split_at_its_public_suffix() -> None:
    for host in ("com", "co.uk", "com.cn", "github.io"):  # strangers register under these
        assert (is_public_suffix(host), is_public_suffix(f"school.{host}")) == (True, False)
    parts = split_host("www.optics.co.uk")
    assert (parts.subdomain, parts.domain, parts.suffix) == ("www", "optics", "co.uk")
