"""Bytes to text: declared, undeclared and wrongly declared."""

import codecs

from mmcrawl.page import page_encoding, parse_page
from tests.tables import each

URL = "http://school.test/"


def title(body: bytes, content_type: str | None = None) -> str:
    return parse_page(body, URL, content_type).title


def page_of(text: str) -> str:
    return f"<html><head><title>{text}</title></head><body></body></html>"


@each("codec, bom", [("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE),
                     ("utf-16-be", codecs.BOM_UTF16_BE)])  # fmt: skip
def test_a_byte_order_mark_outranks_every_declaration(codec: str, bom: bytes) -> None:
    body = bom + page_of("杠杆 lever").encode(codec)
    assert title(body, "text/html; charset=gb2312") == "杠杆 lever"


@each(
    "codec, said",
    [
        ("gbk", "物理 初中物理课件 杠杆原理 欢迎访问我们的网站 医学"),
        ("big5", "國中理化 音樂專訪 牛頓力學的應用 歡迎光臨"),
        ("cp1252", "Année naïve Präsentation août"),
        ("utf-8", "Année naïve Präsentation août"),
    ],
)
def test_what_is_undeclared_is_recognised_from_a_title(codec: str, said: str) -> None:
    assert [title(page_of(text).encode(codec)) for text in said.split()] == said.split()


def test_a_wrong_declaration_is_overruled_by_the_bytes() -> None:
    text = "高中物理实验视频下载"
    assert title(page_of(text).encode("gbk"), "text/html; charset=utf-8") == text
    assert title(page_of(text).encode("utf-8"), "text/html; charset=gb2312") == text
    assert title(page_of(text).encode("gbk"), "text/html; charset=iso-8859-1") == text
    cut_inside = page_of("物理实验").encode() + "视".encode()[:2]
    assert title(cut_inside) == "物理实验"


@each("charset", ["hex", "utf-7", "no-such", "undefined"])
def test_names_that_are_no_charset_are_ignored(charset: str) -> None:
    assert title(page_of("lever").encode(), f"text/html; charset={charset}") == "lever"


@each(
    "label, codec, text",
    [
        ("gb2312", "gbk", "朱镕基"),
        ("windows-949", "cp949", "물리 실험"),
        ("x-cp1251", "cp1251", "Физика"),
        ("koi8-ru", "koi8-u", "Фізика"),
        ("x-mac-cyrillic", "mac-cyrillic", "Физика"),
        ("iso-8859-8-i", "iso8859-8", "פיזיקה"),
        ("x-euc-jp", "euc_jp", "物理の実験"),
        ("x-gbk", "gbk", "朱镕基"),
        ("x-x-big5", "big5", "力的合成"),
        ("unicode-1-1-utf-8", "utf-8", "naïf"),
    ],
)
def test_labels_that_only_browsers_know_are_understood(label, codec, text):
    body = page_of(text).encode(codec)
    assert title(body, f'text/html; charset="{label}"') == text
    commented = b"<!-- <meta charset=x-cp1253> -->"
    assert title(f'{commented.decode()}<meta charset="{label}">'.encode() + body) == text
    in_content = f'<META http-equiv=Content-Type content="text/html; charset={label}">'
    assert title(in_content.encode() + body) == text


LESSON = {
    "ja": "物理の実験をビデオで見ます。てこの原理と光の波について学びましょう。",
    "ko": "물리 실험을 동영상으로 봅니다. 지레의 원리와 빛의 파동을 배웁시다.",
    "zh": "高中物理实验视频下载，杠杆原理和光的波动，欢迎同学们观看。",
    "tw": "國中理化實驗影片下載，槓桿原理和光的波動，歡迎同學們觀看。",
    "ru": "Смотрите видеозаписи опытов по физике: принцип рычага и волновая природа света.",
    "uk": "Дивіться відеозаписи дослідів із фізики: принцип важеля і хвильова природа світла.",
    "el": "Δείτε τα βίντεο με τα πειράματα φυσικής για την αρχή του μοχλού και το φως.",
    "he": "צפו בסרטונים של ניסויים בפיזיקה על עקרון המנוף ועל גלי האור בבית הספר.",
    "ar": "شاهدوا مقاطع الفيديو لتجارب الفيزياء عن مبدأ الرافعة وموجات الضوء في المدرسة.",
    "th": "ชมวิดีโอการทดลองฟิสิกส์เรื่องหลักการของคานและคลื่นแสงในโรงเรียน",
    "cs": "Podívejte se na videa z fyzikálních pokusů: princip páky a světelné vlnění ve škole.",
    "pl": "Obejrzyjcie filmy z doświadczeń fizycznych: zasada dźwigni i światło się załamuje.",
    "tr": "Fizik deneylerinin videolarını izleyin: kaldıraç ilkesi ve ışığın yapısı, öğrenciye.",
    "fr": "Les vidéos des expériences de physique : le levier, la lumière et l’énergie à l’école.",
}  # fmt: skip
WRITTEN_IN = """
    ja cp932 euc_jp iso2022_jp utf-16-le utf-16-be
    ko cp949 johab iso2022_kr utf-16-le
    zh gb18030 hz utf-16-be
    tw big5hkscs
    ru cp1251 koi8-r iso8859-5 cp866 mac-cyrillic
    uk cp1251 koi8-u
    el cp1253 iso8859-7
    he cp1255
    ar cp1256 iso8859-6
    th cp874
    cs cp1250 iso8859-2
    pl cp1250 iso8859-2
    tr cp1254
    fr cp1252
"""
CASES = [
    (language, codec)
    for language, *names in map(str.split, WRITTEN_IN.strip().splitlines())
    for codec in names
]
WIDELY_USED = {"cp1251", "cp932", "cp949", "big5hkscs", "gb18030", "cp1252"}


@each("language, codec", CASES)
def test_text_is_read_as_what_it_was_written_in(language: str, codec: str) -> None:
    said = LESSON[language]
    markup = f"<html><title>{said}</title><body class='x'>" + f"<p>{said}</p>\n" * 3 + "</body>"
    page = parse_page(markup.encode(codec), URL)
    assert page.title == said
    assert page.text.count(said) == 3
    # A declaration counts wherever it stands, and one of UTF-8 that is wrong does not.
    late = f"<script>{'x = 1;' * 3000}</script><!-- <meta charset=koi8-u> --><meta charset={codec}>"
    assert title((late + page_of(said)).encode(codec)) == said
    if codec in WIDELY_USED:
        assert title(page_of(said).encode(codec), "text/html; charset=utf-8") == said


@each("declared", ["windows-1251", "shift_jis", "big5", "utf-16"])
@each("language", ["ru", "zh", "fr"])
def test_valid_utf8_is_read_as_such_whatever_it_declares(language: str, declared: str) -> None:
    body = page_of(LESSON[language] * 2).encode()
    assert title(body, f"text/html; charset={declared}") == LESSON[language] * 2


@each("text", ["l’énergie à l’école", "物理", "é"])
@each("broken", [b"\xff", b"\xe9", b"\xb0"])
def test_one_broken_byte_leaves_utf8_what_it_declares(text: str, broken: bytes) -> None:
    body = b'<meta charset="utf-8">' + page_of(text).encode() + b"<p>" + broken + b"</p>"
    assert parse_page(body, URL).encoding == "utf-8"
    assert title(body) == text


def test_a_few_letters_outside_ascii_are_western() -> None:
    said = b"It\x92s easier|DON\x92T</h2>DON\x92T|l'Universit\xe0 NET|\x93NET\x94 \x96 a|caf\xe9"
    assert [page_encoding(b"<p>" + text) for text in said.split(b"|")] == ["cp1252"] * 5
    assert page_encoding(b"<p>\xa1@</p>") == "big5hkscs"  # a wide space
