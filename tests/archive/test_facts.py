"""What the archive finds out about a page before it stores it."""

from mmcrawl.archive import Capture
from mmcrawl.archive.format import facts_of
from tests.tables import each


def language(body: bytes) -> str:
    capture = Capture("http://a.test/", body, 1.0, content_type="text/html")
    return facts_of(capture).language


@each(
    "body",
    [
        b"<html lang=ZH-cn><p>",
        b"<!doctype html>\n<HTML class='a>b' xml:lang=zh-CN>",
        b'<!--[if IE]><html lang="en"><![endif]--><html lang="zh-CN">',
        b'<html lang="zh-cn"',
        b"<title><html lang=en></title><html lang=zh-cn>",
        b"<html lang=zh-cn>" + b"<p>" * 5_000,
        "\ufeff<html lang=zh-cn><p>".encode("utf-16-le"),
    ],
)
def test_the_language_is_that_of_the_start_tag_wherever_it_stands(body: bytes) -> None:
    assert language(body) == "zh-cn"


@each(
    "body",
    [
        b"",
        b"<p lang=de>",
        b"<!-- <html lang=en>",
        b"<html><html>",
        b" " * 5_000 + b"<html lang=en>",
        "\ufeff<html lang=en>".encode("utf-32-be"),
    ],
)
def test_no_language_is_made_up(body: bytes) -> None:
    assert language(body) == ""
