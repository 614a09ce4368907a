"""Blocks drawn over their page, and what a hostile page can do there: nothing."""

import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path

import pytest
from lxml import html as lxml_html

from mmcrawl.blocks import (
    KIND_COLOURS,
    KINDS,
    Block,
    BlockKind,
    PageTree,
    Partition,
    draw,
    read_tree,
    safe_copy,
    short_path,
)
from mmcrawl.blocks.partitioners import Cut
from mmcrawl.text import printable
from tests.waiting import HANG

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
Node = lxml_html.HtmlElement


@pytest.fixture(autouse=True)
def topics(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The topic of every block; kinds follow each other without looking at the blocks."""
    module = sys.modules[Partition.__module__]
    topic = ["Levers"]
    monkeypatch.setattr(
        module,
        "block_kinds",
        lambda page, blocks: [BlockKind(KINDS[i % len(KINDS)], 0.5) for i, _ in enumerate(blocks)],
    )
    monkeypatch.setattr(Block, "topic", property(lambda block: topic[0]))
    return topic


def cut(tree: PageTree, name: str, *children: Cut) -> Cut:
    """The element with an id, with its tags."""
    node = next(n for n in range(len(tree)) if tree.attributes(n).get("id") == name)
    return Cut(node, tree.starts[node], tree.ends[node], children)


def inside(tree: PageTree, name: str) -> Cut:
    """The element with an id, without its tags."""
    node = cut(tree, name).node
    return Cut(node, tree.inner_starts[node], tree.inner_ends[node])


def page_of(body: str | bytes, *cuts: Callable[[PageTree], Cut]) -> Partition:
    tree = read_tree(body if isinstance(body, bytes) else body.encode())
    return Partition(tree, [make(tree) for make in cuts], method="bwap", level=3, url=None)


def frame_of(drawing: str) -> Node:
    """The page in the frame."""
    [frame] = lxml_html.fromstring(drawing).iter("iframe")
    return lxml_html.fromstring(frame.get("srcdoc"))


def marked(frame: Node) -> list[tuple[str, str, str]]:
    """Of every mark: its element, the numbers of its blocks, the text inside of it."""
    return [
        (node.tag, node.get("data-mm-number"), node.text_content().strip())
        for node in frame.iter("*")
        if node.get("data-mm-number")
    ]


def test_every_block_is_outlined_and_says_what_it_is(topics: list[str]) -> None:
    topics[0] = "杠杆 <b>"
    body = "<div id=a><p id=b>one<p id=c>two</div>"
    page = page_of(body, lambda t: cut(t, "a", cut(t, "b"), cut(t, "c")))
    frame = frame_of(draw(page))
    assert marked(frame) == [("div", "1", "onetwo"), ("p", "2", "one"), ("p", "3", "two")]
    outer, _, inner = (n for n in frame.iter("div", "p"))
    assert outer.get("data-mm") == "1 · title 0.50 · level 1 · 杠杆 <b>"
    assert inner.get("data-mm") == "3 · topic 0.50 · level 2 · 杠杆 <b>"
    assert [inner.get("data-mm-kind"), inner.get("data-mm-level")] == ["topic", "2"]
    assert inner.get("tabindex") == "0"
    assert outer.get("data-mm-leaf") is None
    assert inner.get("data-mm-leaf") is not None


def test_the_list_beside_the_page_has_all_blocks_and_the_legend_all_kinds() -> None:
    page = page_of("<p id=a>one<p id=b>two", lambda t: cut(t, "a"), lambda t: cut(t, "b"))
    drawing = lxml_html.fromstring(draw(page))
    entries = [entry.text_content() for entry in drawing.xpath("//nav//li")]
    assert [entry.split()[:3] for entry in entries] == [
        ["1", "title", "0.50"],
        ["2", "topic", "0.50"],
    ]
    assert "0–11 (11 bytes), level 1, p" in entries[0]
    legend = [entry.text_content().split() for entry in drawing.xpath("//header//li")]
    assert legend[:3] == [["title", "1"], ["topic", "1"], ["related-links", "0"]]
    assert [kind for kind, _ in legend] == list(KINDS)
    assert set(KINDS) <= set(KIND_COLOURS)


def test_loose_text_is_wrapped() -> None:
    body = "<div id=a>before <p>one</p>behind <b>bold</b></div>"
    start = body.index("behind")

    def loose(tree: PageTree) -> Cut:
        return Cut(cut(tree, "a").node, start, body.index("</div>"))

    frame = frame_of(draw(page_of(body, loose)))
    assert marked(frame) == [("span", "1", "behind bold")]


def test_all_that_an_element_holds_marks_the_element() -> None:
    frame = frame_of(
        draw(page_of("<table><tr><td id=a>one<p>two</table>", lambda t: inside(t, "a")))
    )
    assert marked(frame) == [("td", "1", "onetwo")]


def test_rows_of_a_table_are_marked_one_by_one() -> None:
    body = "<table><tr id=a><td>1<tr><td>2<tr id=b><td>3</table>"

    def rows(tree: PageTree) -> Cut:
        first = cut(tree, "a")
        return Cut(tree.parents[first.node], first.start, cut(tree, "b").start)

    frame = frame_of(draw(page_of(body, rows)))
    assert marked(frame) == [("tr", "1", "1"), ("tr", "1", "2")]


def test_an_element_of_two_blocks_names_both_and_has_the_colour_of_the_inner() -> None:
    frame = frame_of(draw(page_of("<p id=a>one", lambda t: cut(t, "a", cut(t, "a")))))
    assert marked(frame) == [("p", "1 2", "one")]
    [node] = frame.iter("p")
    assert node.get("data-mm-level") == "2"


def test_pictures_and_links_are_wrapped_to_be_marked() -> None:
    body = "<p><img id=a width=20 height=10 src=x.gif> <a id=b href=x>link</a>"
    frame = frame_of(draw(page_of(body, lambda t: cut(t, "a"), lambda t: cut(t, "b"))))
    assert marked(frame) == [("span", "1", ""), ("span", "2", "link")]
    [picture] = frame.iter("img")
    assert (picture.get("width"), picture.get("height")) == ("20", "10")


def test_what_stands_in_a_large_link_can_be_pointed_at() -> None:
    frame = frame_of(draw(page_of("<a href=x><div id=a>one</div></a>", lambda t: cut(t, "a"))))
    assert marked(frame) == [("div", "1", "one")]
    [link] = frame.iter("a")
    assert link.attrib == {}


def test_a_block_that_cannot_be_seen_is_listed_as_such() -> None:
    body = "<p id=a>one</p><script id=b>1</script><noscript><p id=c>x</noscript>"
    cuts = (lambda t: cut(t, "a"), lambda t: cut(t, "b"), lambda t: cut(t, "c"))
    drawing = lxml_html.fromstring(draw(page_of(body, *cuts)))
    entries = [entry.text_content() for entry in drawing.xpath("//nav//li")]
    assert ["not visible" in entry for entry in entries] == [False, True, True]


def test_marks_of_the_page_itself_are_not_taken_over() -> None:
    page = page_of("<p data-mm=x data-mm-number=9 tabindex=5 id=a>one", lambda t: cut(t, "a"))
    assert marked(frame_of(draw(page))) == [("p", "1", "one")]
    assert "data-mm" not in safe_copy(page.tree)


def test_words_of_a_page_steer_neither_terminal_nor_direction(topics: list[str]) -> None:
    topics[0] = "a\u202egnp.exe \x1b[2J" + "x" * 1_000_000
    page = page_of("<p id=a>one", lambda t: cut(t, "a"))
    drawing = draw(page)
    assert len(drawing) < 20_000
    assert not [c for c in drawing if not c.isprintable() and c != "\n"]
    assert printable("a \u202e b\n c") == "a \ufffd b c"
    assert printable("lever " * 9, 10) == "lever lev…"


def test_of_a_long_path_the_end_is_shown() -> None:
    assert short_path("html/body/p") == "html/body/p"
    shown = short_path("html/body/" + "div[12]/" * 20 + "p")
    assert len(shown) <= 82
    assert shown.startswith("…/div[12]/")
    assert shown.endswith("/div[12]/p")


def test_any_encoding_is_drawn_as_utf_8() -> None:
    for encoding in ("gb18030", "utf-16", "big5hkscs"):
        body = "<p id=a>光學".encode(encoding)
        tree = read_tree(body, encoding=encoding)
        page = Partition(tree, [cut(tree, "a")], method="bwap", level=1)
        drawing = draw(page)
        assert drawing.startswith(
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
        )
        assert marked(frame_of(drawing)) == [("p", "1", "光學")]


def test_the_frame_may_do_nothing_and_both_pages_stand_under_the_policy() -> None:
    drawing = draw(page_of("<base href=//x><p>one"))
    [frame] = lxml_html.fromstring(drawing).iter("iframe")
    assert frame.get("sandbox") == ""
    for document in (drawing, frame.get("srcdoc")):
        head = lxml_html.fromstring(document).xpath("//head/*")
        assert head[0].get("charset") == "utf-8"
        assert head[1].get("http-equiv") == "Content-Security-Policy"
        assert head[1].get("content") == (
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none';"
            " form-action 'none'"
        )


class Listener:
    """A port on this machine; every connection to it is noted, with what was asked, if anything."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(20)
            self.seen.append("")
            try:
                self.seen.append(connection.recv(4096).split(b" ")[1].decode())
                connection.sendall(
                    b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                )
            except (OSError, IndexError):
                return

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    listening = Listener()
    yield listening
    listening.close()


OWN = "document.documentElement.id='owned'"


def hostile(url: str) -> str:
    """A page that tries to run scripts and to call home by every way but style sheets."""
    out = f"\"'></iframe></textarea></title></style><script>{OWN}</script>"
    return f"""<html onclick="{OWN}"><head><base href="{url}/base/">
<title>{out}{"t" * 100_000}</title>
<link rel=preconnect href="{url}"><link rel=dns-prefetch href="{url}"><link rel=prefetch href=pf>
<link rel=stylesheet href=css><link rel=icon href=icon><link rel=preload as=image href=preload>
<link rel=modulepreload href=module.js><meta http-equiv="refresh" content="1;url={url}/refresh">
<meta charset=utf-7>+ADw-script+AD4-{OWN}+ADw-/script+AD4-
<script>{OWN};new Image().src='{url}/script'</script><script src=script.js></script>
<script type=speculationrules>{{"prefetch":[{{"source":"list","urls":["{url}/spec"]}}]}}</script>
<body onload="{OWN}" background=background id=body><div id=all>
<p title="{escape(out)}" id=quoted>{escape(out)}</p>{out}
<img src=img onerror="{OWN}"><img srcset="srcset 1x"><picture><source srcset=source><img></picture>
<svg onload="{OWN}"><script>{OWN}</script><image href=svgimage /><style><a title="</style><img
src=x onerror={OWN}>"></style></svg><math><mtext><table><mglyph><style><!--</style>
<img title="--&gt;&lt;img src=1 onerror={OWN}&gt;"></table></mtext></math>
<iframe src=frame></iframe>
<iframe srcdoc="<script>top.{OWN}</script><img src={url}/srcdoc>"></iframe>
<object data=object></object><embed src=embed><video src=video poster=poster autoplay></video>
<audio src=audio autoplay></audio><input type=image src=input autofocus onfocus="{OWN}">
<form action=form><button formaction=button autofocus>go</button></form>
<a href="javascript:{OWN}" ping=ping id=link>link</a><details open ontoggle="{OWN}">x</details>
<marquee onstart="{OWN}">x</marquee>
<noscript><p title="</noscript><img src=ns onerror={OWN}>"></noscript>
<template><script>{OWN}</script></template><select><option><script>{OWN}</script></select>
<xmp></div><script>{OWN}</script></xmp><textarea autofocus onfocus="{OWN}">{escape(out)}</textarea>
<table background=table><tr><td background=cell><p id=last>end</p></table></div><!-- <p id=never>"""


STYLES = """<style>@import url({0}/import);@import "{0}/import2";@font-face{{font-family:x;
src:url({0}/font)}}body{{background:url({0}/css);font-family:x;cursor:url({0}/cursor),auto}}
p::after{{content:url({0}/content)}}div{{background:image-set("{0}/set" 1x);mask:url({0}/mask#a);
list-style:url({0}/list);filter:url({0}/filter#a);border-image:url({0}/border)}}</style>
<p style="background:url({0}/inline)">styled<div>styled</div>"""


def opened(folder: Path, content: str) -> Node:
    """Open a file in Chromium as a person would; return its elements when all has come to rest."""
    if not CHROMIUM:
        pytest.skip("there is no Chromium to open the page in")
    file = folder / "page.html"
    file.write_text(content, encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000")
    done = subprocess.run(
        [CHROMIUM, *options, f"--user-data-dir={folder / 'profile'}", "--dump-dom", file.as_uri()],
        capture_output=True,
        timeout=HANG,
        check=False,
    )
    assert b"<html" in done.stdout, done.stderr
    return lxml_html.document_fromstring(done.stdout.decode())


def asks_for(folder: Path, content: str, listener: Listener, *wanted: str) -> bool:
    """Tell whether a file asks for all of that; a busy browser may give up before it gets to it."""
    for _ in range(3):
        opened(folder, content)
        if set(wanted) <= set(listener.seen):
            return True
    return False


def test_the_hostile_page_does_harm_when_it_is_opened_itself(tmp_path, listener):
    page = opened(
        tmp_path, hostile(listener.url).replace("refresh", "no") + STYLES.format(listener.url)
    )
    assert page.getroottree().getroot().get("id") == "owned"
    assert {"/script", "/base/css", "/base/img", "/base/frame"} <= set(listener.seen)
    styles = STYLES.format(listener.url)
    assert asks_for(tmp_path, styles, listener, "/import", "/css", "/inline", "/set")


def test_a_drawing_of_a_hostile_page_asks_for_nothing_and_runs_nothing(tmp_path, listener):
    body = STYLES.format(listener.url) + hostile(listener.url) + STYLES.format(listener.url)
    page = page_of(body, lambda t: cut(t, "all", cut(t, "quoted"), cut(t, "link"), cut(t, "last")))
    dom = opened(tmp_path, draw(page))
    assert listener.seen == []
    assert dom.get("id") is None
    assert [node.tag for node in dom.iter("script", "iframe", "form", "img")] == ["iframe"]
    assert [n for n, *_ in marked(frame_of(draw(page)))] == ["div", "p", "span", "p"]


def test_a_copy_of_a_hostile_page_is_harmless_even_without_sandbox_and_policy(tmp_path, listener):
    for end in ("", "<plaintext><p>"):
        body = hostile(listener.url).replace("<!-- ", end or "<!-- ")
        dom = opened(
            tmp_path, "<!doctype html><meta charset=utf-8>" + safe_copy(read_tree(body.encode()))
        )
        assert dom.get("id") is None
        assert "end" in dom.text_content()
    assert listener.seen == []


def test_a_block_that_ends_inside_of_an_element_marks_only_what_it_holds() -> None:
    body = "<div id=a><p>one<p id=b>two</div>"

    def first_half(tree: PageTree) -> Cut:
        return Cut(cut(tree, "a").node, 0, cut(tree, "b").start)

    assert marked(frame_of(draw(page_of(body, first_half)))) == [("p", "1", "one")]
