"""Headers of strangers are bounded before they are read, wherever they come from."""

import time

from scrapy.http import HtmlResponse
from scrapy.http.headers import Headers

from mmcrawl.archive import Capture
from mmcrawl.engine import declared_type
from mmcrawl.page import (
    bound_headers,
    decode_page,
    header_text,
    kind_by_headers,
    page_encoding,
    parse_page,
)
from tests.tables import each

SPACES = "text/html; charset" + 100_000 * " "
QUOTES = "text/html; charset=" + 50_000 * "\" '"


@each("value", [SPACES, QUOTES, SPACES + "\r\n\t" + SPACES, ";" * 100_000])
def test_a_header_of_any_length_costs_nothing(value: str) -> None:
    start = time.process_time()
    assert page_encoding(b"<p>a", value) == "utf-8"
    assert decode_page(b"<p>a", value)[0] == "utf-8"
    parse_page(b"<p>a", "http://h.test/", value)
    capture = Capture("http://h.test/", b"<p>a", 0.0, headers=(("Content-Type", value),))
    assert len(capture.media_type) <= 1_024
    headers = Headers({"Content-Type": value, "Set-Cookie": [value, "a=b"]})
    declared_type(headers)
    assert len(header_text(headers, "Content-Type")) <= 1_024
    bound_headers(headers)
    response = HtmlResponse("http://h.test/", headers=headers, body=b"<p>a")
    assert response.encoding  # as Scrapy reads it
    assert [len(one) <= 16_384 for one in headers.getlist("Set-Cookie")] == [True, True]
    assert headers.getlist("Set-Cookie")[1] == b"a=b"
    assert time.process_time() - start < 5


def test_what_a_header_says_is_read_as_before() -> None:
    assert page_encoding(b"\xe9", "text/html;\r\n\t charset = 'windows-1251'") == "cp1251"
    headers = Headers({"Content-Type": "text/html; charset=gbk", "ETag": '"x"'})
    bound_headers(headers)
    assert header_text(headers, "content-type") == "text/html; charset=gbk"
    assert header_text(headers, "Location") == ""


@each("name", ["undefined''a.mp4", "idna''a..mp4", "\0'en'a.mp4", "nosuch''%ff.mp4"])
def test_a_file_name_in_no_encoding_hides_no_kind(name: str) -> None:
    headers = Headers({"Content-Disposition": f"attachment; filename*={name}"})
    said = header_text(headers, "Content-Disposition")
    assert kind_by_headers("http://h.test/a.mp3?id=1", "", said) in ("audio", "video")
