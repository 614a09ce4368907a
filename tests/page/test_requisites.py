"""What a page needs to be seen."""

from collections.abc import Iterable

from mmcrawl.page import page_requisites, read_tree, sheet_requisites
from tests.growth import assert_linear
from tests.tables import each

URL = "http://h.test/a/page.htm"


def shown(found: Iterable[str]) -> list[str]:
    """Leave the page's own host and folder out."""
    return [one.replace("http://h.test/a/", "").replace("http://h.test/", "/") for one in found]


@each(
    "source, needed",
    [
        ('<img src="p.png" lowsrc=l.gif>', ["p.png", "l.gif"]),
        ("<img src=a.png><IMG SRC=a.png#x><img src=' b.png '>", ["a.png", "b.png"]),
        ('<img srcset="a.png 1x, /b.png 2x">', ["a.png", "/b.png"]),
        ("<picture><source srcset='w.webp, w2.webp 2x'><img src=p.jpg></picture>",
         ["w.webp", "w2.webp", "p.jpg"]),
        ("<img src=p.png><link rel='alternate stylesheet' href=s.css>", ["s.css", "p.png"]),
        ("<link rel='shortcut ICON' href=/f.ico><link rel=apple-touch-icon href=t.png>",
         ["/f.ico", "t.png"]),
        ("<link rel=preload as=font href=f.woff2><link rel=preload as=script href=x.js>",
         ["f.woff2"]),
        ("<link rel=next href=n.htm><link rel=canonical href=c.htm><a href=d.png>x</a>", []),
        ("<style>@import 'i.css'; p{background:url(\"b.png\")} /* url(no.png) */</style>",
         ["i.css", "b.png"]),
        ("<p style='color: red' background=b.gif><td background=c.gif>", ["b.gif", "c.gif"]),
        ("<svg><image xlink:href=a.png /><use href='#own'/><use href='i.svg#x'/></svg>",
         ["a.png", "i.svg"]),
        ("<input type=image src=b.png><video poster=p.jpg src=v.mp4></video>", ["b.png", "p.jpg"]),
        ("<object type=image/svg+xml data=d.svg></object><object data=m.swf></object>", ["d.svg"]),
        ("<embed src=m.swf><embed type=image/png src=e.png>", ["e.png"]),
        ("<script src=x.js></script><iframe src=f.htm></iframe><audio src=a.mp3></audio>", []),
        ("<img src='data:image/png;base64,AAAA'><img src='javascript:x'><img src='http://['>", []),
        ("<img src=''><img src='#x'><img src=page.htm><img src='?'>", ["page.htm?"]),
        ("<base href=/b/><img src=p.png><link rel=stylesheet href='http://c.test/s.css'>",
         ["http://c.test/s.css", "/b/p.png"]),
    ],
)  # fmt: skip
def test_style_sheets_come_first_and_each_address_once(source: str, needed: list[str]) -> None:
    assert shown(page_requisites(read_tree(source.encode()), URL)) == needed


@each(
    "sheet, needed",
    [
        ("@import url(a.css) print; @import \"b.css\";", ["a.css", "b.css"]),
        ("@font-face{src:url(f.woff2) format('woff2'),url( 'f.ttf' )}", ["f.woff2", "f.ttf"]),
        ("a{background:url(../x\\ y.png)} b{content:'url(no.png)'}", ["/x%20y.png"]),
        ("a{mask:url(#m);background:url(data:image/png;base64,AA)} @import 'page.htm'", []),
        ("a{background:url(x", []),
    ],
)  # fmt: skip
def test_a_style_sheet_names_imports_fonts_and_pictures(sheet: str, needed: list[str]) -> None:
    assert shown(sheet_requisites(sheet.encode(), URL)) == needed


@each("piece", ["url(", "@import '", "/* ", "a{background:url('x.png", "\\", '"', "url(a.png)"])
def test_time_is_in_proportion_to_a_hostile_sheet(piece: str) -> None:
    assert_linear(lambda size: sheet_requisites(piece.encode() * size, URL), 3_000)
