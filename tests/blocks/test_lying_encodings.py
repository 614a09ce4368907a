"""Pages whose bytes are not in the encoding that they declare, and texts that are none."""

import random
from collections.abc import Iterator

from mmcrawl.blocks import page_content
from tests.tables import each

TEXTS = {
    "zh": "杠杆是一种简单机械，在力的作用下能绕着固定点转动。阿基米德提出了杠杆原理。",
    "ja": "てこは、固い棒状のもので、大きなものを少ない力で動かすことができる装置である。",
    "ru": "Рычаг — простейшее механическое устройство, тело, вращающееся вокруг точки опоры.",
    "fr": "Le levier est une pièce rigide, mobile autour d'un point fixe: l'élève l'a répété.",
    "en": "A lever is a rigid bar on a pivot, and it makes a “small” force lift a great load.",
}
ENCODINGS = (
    "utf-8", "utf-8-sig", "gb18030", "big5", "shift_jis", "euc_jp", "iso2022_jp", "koi8-r",
    "windows-1251", "windows-1252", "iso-8859-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32",
    "hz", "cp949",
)  # fmt: skip
DECLARED = (*" utf-8 gbk big5 iso-8859-1 shift_jis utf-16 x-none utf-7 hz".split(" "),)


def lying_pages(count: int) -> Iterator[tuple[bytes, str | None]]:
    """Yield pages and content types; in some, bytes are lost, doubled or put in."""
    chance = random.Random(20)
    for _ in range(count):
        text = chance.choice(list(TEXTS.values()))
        actual, meta, header = (chance.choice(one) for one in (ENCODINGS, DECLARED, DECLARED))
        declared = f'<meta charset="{meta}">' if meta else ""
        html = (
            f"<html><head>{declared}<title>{text[:9]}</title></head><body><ul><li><a href=/>"
            f"{text[:4]}</a></ul><h1>{text[:9]}</h1><p>{text}</p><pre>{text}</pre>"
            "<p>\\(x^2\\) 2019-05-06</p>"
            f"<table><tr><td>{text[:3]}<td>2<tr><td>{text[3:6]}<td>3</table></body></html>"
        )
        body = bytearray(html.encode(actual, "ignore"))
        for _ in range(chance.choice((0, 0, 1, 8))):
            place = chance.randrange(len(body))
            body[place : place + chance.randrange(3)] = chance.randbytes(chance.randrange(4))
        yield bytes(body), f"text/html; charset={header}" if header else None


def test_pages_that_lie_about_their_encoding_are_read() -> None:
    for body, content_type in lying_pages(80):
        content = page_content(body, "http://h.test/", content_type=content_type)
        for form in ("md", "txt", "json"):
            content.write(form).encode()  # type: ignore[arg-type]


@each("declared", ["iso-8859-1", "utf-8", "windows-1252", ""])
@each("actual", ["utf-8", "gb18030"])
def test_chinese_is_read_whatever_a_page_declares(declared: str, actual: str) -> None:
    html = f'<meta charset="{declared}"><title>杠杆</title><p>{TEXTS["zh"] * 3}</p>'
    assert page_content(html.encode(actual)).text == TEXTS["zh"] * 3


@each(
    "page",
    [
        "<p>\udfff\ud800 lever \udc00" * 20,
        b"\0",
        b"\0" * 1000,
        b"<meta charset=utf-16><p>lever",
        b"&#xd800;<p>&#x110000; lever",
        b"<table>" * 2000,
        b"<math>" * 2000 + b"</math>",
        b"<span class=katex>" * 2000 + b"x",
        b"<blockquote>" * 5_000 + b"<p>A lever is a rigid bar on a pivot.",
        b'<script type="application/ld+json">' + b'{"a":' * 5_000,
        b'<script type="math/mml">' + b"<mrow>" * 5_000,
    ],
)
def test_what_is_hardly_a_page_is_read_without_failing(page: bytes | str) -> None:
    content = page_content(page, "http://h.test/")
    for form in ("md", "txt", "json"):
        content.write(form).encode()  # type: ignore[arg-type]
