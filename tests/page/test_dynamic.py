"""Links that do not tell that they are media."""

from mmcrawl.page import Link, Page, kind_by_headers, may_be_media, with_dynamic_media
from tests.tables import each


@each(
    "url, anchor, expected",
    [
        ("http://h.test/download.php?id=3", "Lesson 3", True),
        ("http://h.test/show.asp?id=3", "在线试听", True),
        ("http://h.test/show.asp?id=3", "新闻", False),
        ("http://h.test/downloads/list.html", "下载", False),
        ("http://h.test/displayed.php?id=3", "", False),
    ],
)
def test_a_promise_is_a_query_or_script_with_a_word_for_media(url, anchor, expected):
    assert may_be_media(Link(url, anchor, "a")) is expected
    assert not may_be_media(Link(url, anchor, "iframe"))


@each(
    "content_type, disposition, expected",
    [
        ("audio/mpeg", "", "audio"),
        ("application/x-shockwave-flash", "", "animation"),
        ("application/octet-stream", 'attachment; filename="lesson.wmv"', "video"),
        ("application/octet-stream", "attachment; filename*=UTF-8''%E8%AF%BE.swf", "animation"),
        ("application/octet-stream", 'attachment; filename="lesson.zip"', "package"),
        ("", "", None),
    ],
)
def test_kind_comes_from_type_or_file_name(content_type, disposition, expected):
    assert kind_by_headers("http://h.test/get.php?id=1", content_type, disposition) == expected


def test_links_that_are_media_become_media_of_the_page() -> None:
    links = (Link("http://h.test/dl.php?id=1", "录音", "a"), Link("http://h.test/b.htm", "b", "a"))
    page = with_dynamic_media(Page("http://h.test/", links=links), {links[0].url: "audio"})
    assert [(m.url, m.kind, m.tag, m.text) for m in page.media] == [
        ("http://h.test/dl.php?id=1", "audio", "a", "录音")
    ]
    assert page.links == links[1:]
