"""Bytes to text: declared, undeclared and wrongly declared."""

from __future__ import annotations

import codecs

import pytest

from mmcrawl.page import parse_page

URL = "http://school.test/"


def title(body: bytes, content_type: str | None = None) -> str:
    return parse_page(body, URL, content_type).title


def page_of(text: str) -> str:
    return f"<html><head><title>{text}</title></head><body></body></html>"


@pytest.mark.parametrize("charset", ["gb2312", "GBK", "gb18030", "big5", "utf-8"])
def test_the_declared_encoding_is_used(charset):
    text = "初中物理㎡ €" if charset == "utf-8" else "力的合成"
    body = f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">'
    encoded = (body + page_of(text)).encode(charset)
    assert title(encoded) == text
    assert title(page_of(text).encode(charset), f"text/html; charset={charset}") == text


def test_gb2312_covers_gbk_as_in_browsers():
    body = ('<meta charset="gb2312">' + page_of("朱镕基")).encode("gbk")
    assert title(body) == "朱镕基"
    assert parse_page(body, URL).encoding == "gb18030"


@pytest.mark.parametrize("bom", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_a_byte_order_mark_outranks_every_declaration(bom):
    name = {2: "utf-16-le" if bom == codecs.BOM_UTF16_LE else "utf-16-be", 3: "utf-8"}[len(bom)]
    body = bom + page_of("杠杆 lever").encode(name)
    assert title(body, "text/html; charset=gb2312") == "杠杆 lever"


@pytest.mark.parametrize("text", ["物理", "初中物理课件", "杠杆原理", "欢迎访问我们的网站", "医学"])
def test_undeclared_gbk_is_recognised_from_a_title(text):
    assert title(page_of(text).encode("gbk")) == text


@pytest.mark.parametrize("text", ["國中理化", "音樂專訪", "牛頓力學的應用", "歡迎光臨"])
def test_undeclared_big5_is_recognised_from_a_title(text):
    assert title(page_of(text).encode("big5")) == text


@pytest.mark.parametrize(
    "text", ["Année scolaire", "naïve café", "Präsentation für Schüler", "août hôtel"]
)
def test_undeclared_western_text_is_not_taken_for_chinese(text):
    assert title(page_of(text).encode("cp1252")) == text
    assert title(page_of(text).encode("utf-8")) == text


def test_a_wrong_declaration_is_overruled_by_the_bytes():
    text = "高中物理实验视频下载"
    assert title(page_of(text).encode("gbk"), "text/html; charset=utf-8") == text
    assert title(page_of(text).encode("utf-8"), "text/html; charset=gb2312") == text
    assert title(page_of(text).encode("gbk"), "text/html; charset=iso-8859-1") == text


def test_a_few_bad_bytes_do_not_change_a_declared_encoding():
    body = page_of("物理实验" * 50).encode() + b"<p>\xff</p>"
    page = parse_page(body, URL, "text/html; charset=utf-8")
    assert page.encoding == "utf-8"
    assert page.title.startswith("物理实验")


def test_a_page_cut_inside_a_character_is_still_utf8():
    body = page_of("物理实验").encode() + "视".encode()[:2]
    assert title(body) == "物理实验"


@pytest.mark.parametrize("charset", ["hex", "rot13", "utf-7", "no-such", "undefined"])
def test_names_that_are_no_charset_are_ignored(charset):
    assert title(page_of("lever").encode(), f"text/html; charset={charset}") == "lever"


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("windows-949", "cp949", "물리 실험"),
        ("x-cp1251", "cp1251", "Физика"),
        ("koi", "koi8-r", "Физика"),
        ("koi8-ru", "koi8-u", "Фізика"),
        ("x-mac-cyrillic", "mac-cyrillic", "Физика"),
        ("mac", "mac-roman", "Année"),
        ("iso-8859-8-i", "iso8859-8", "פיזיקה"),
        ("x-euc-jp", "euc_jp", "物理の実験"),
        ("x-gbk", "gbk", "朱镕基"),
        ("csgb2312", "gb2312", "力的合成"),
        ("cn-big5", "big5", "力的合成"),
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
