"""Blocks drawn over their page, and what a hostile page can do there: nothing."""

import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from html import escape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
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
)
from mmcrawl.blocks.partitioners import Cut
from mmcrawl.text import printable
from tests.tables import each
from tests.waiting import HANG

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
Node = lxml_html.HtmlElement


@pytest.fixture(autouse=True)
def topics(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The topic of every block; kinds follow each other without looking at the blocks."""
    topic = ["Levers"]

    def kinds(page: object, blocks: list[object]) -> list[BlockKind]:
        return [BlockKind(KINDS[number % len(KINDS)], 0.5) for number, _ in enumerate(blocks)]

    monkeypatch.setattr(sys.modules[Partition.__module__], "block_kinds", kinds)
    monkeypatch.setattr(Block, "topic", property(lambda block: topic[0]))
    return topic


def node_of(tree: PageTree, name: str) -> int:
    return next(n for n in range(len(tree)) if tree.attributes(n).get("id") == name)


def cut(tree: PageTree, name: str, *children: Cut) -> Cut:
    """The element with an id, with its tags."""
    node = node_of(tree, name)
    return Cut(node, tree.starts[node], tree.ends[node], children)


def element(name: str) -> Callable[[PageTree], Cut]:
    return lambda tree: cut(tree, name)


def page_of(body: str | bytes, *cuts: Callable[[PageTree], Cut]) -> Partition:
    tree = read_tree(body if isinstance(body, bytes) else body.encode())
    return Partition(tree, [make(tree) for make in cuts], method="bwap", level=3, url=None)


def frame_of(drawing: str) -> Node:
    """The page in the frame."""
    [frame] = lxml_html.fromstring(drawing).iter("iframe")
    return lxml_html.fromstring(frame.get("srcdoc"))


def marked(frame: Node) -> list[tuple[str, str, str]]:
    """Of every mark: its element, the numbers of its blocks, the text inside of it."""
    marks = [node for node in frame.iter("*") if node.get("data-mm-number")]
    return [(n.tag, n.get("data-mm-number"), n.text_content().strip()) for n in marks]


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
    assert (outer.get("data-mm-leaf"), inner.get("data-mm-leaf")) == (None, "")


def test_the_list_beside_the_page_has_all_blocks_and_the_legend_all_kinds() -> None:
    body = "<p id=a>one<p id=b>two</p><script id=c>1</script>"
    drawing = lxml_html.fromstring(draw(page_of(body, *(element(name) for name in "abc"))))
    entries = [entry.text_content() for entry in drawing.xpath("//nav//li")]
    assert [entry.split()[:2] for entry in entries] == [
        ["1", "title"], ["2", "topic"], ["3", "related-links"],
    ]  # fmt: skip
    assert "0–11 (11 bytes), level 1, p" in entries[0]
    assert ["not visible" in entry for entry in entries] == [False, False, True]
    legend = [entry.text_content().split() for entry in drawing.xpath("//header//li")]
    assert legend[:4] == [
        ["title", "1"],
        ["topic", "1"],
        ["related-links", "1"],
        ["navigation", "0"],
    ]
    assert [kind for kind, _ in legend] == list(KINDS)
    assert set(KINDS) <= set(KIND_COLOURS)


LOOSE = "<div id=a>before <p>one</p>behind <b>bold</b></div>"


@each(
    "body, cuts, marks",
    [
        # loose text is wrapped
        (LOOSE, [lambda t: Cut(1, LOOSE.index("behind"), LOOSE.index("</div>"))],
         [("span", "1", "behind bold")]),
        # all that an element holds marks the element
        ("<table><tr><td id=a>one<p>two</table>",
         [lambda t: Cut(node_of(t, "a"), t.inner_starts[3], t.inner_ends[3])],
         [("td", "1", "onetwo")]),
        # rows of a table are marked one by one
        ("<table><tr id=a><td>1<tr><td>2<tr id=b><td>3</table>",
         [lambda t: Cut(1, t.starts[node_of(t, "a")], t.starts[node_of(t, "b")])],
         [("tr", "1", "1"), ("tr", "1", "2")]),
        # an element of two blocks names both
        ("<p id=a>one", [lambda t: cut(t, "a", cut(t, "a"))], [("p", "1 2", "one")]),
        # a block that ends inside of an element marks only what it holds
        ("<div id=a><p>one<p id=b>two</div>", [lambda t: Cut(1, 0, t.starts[node_of(t, "b")])],
         [("p", "1", "one")]),
        # pictures and links are wrapped; what stands in a large link can be pointed at
        ("<p><img id=a src=x.gif> <a id=b href=x>link</a>",
         [element("a"), element("b")], [("span", "1", ""), ("span", "2", "link")]),
        ("<a href=x><div id=a>one</div></a>", [element("a")], [("div", "1", "one")]),
        # marks of the page itself are not taken over
        ("<p data-mm=x data-mm-number=9 tabindex=5 id=a>one", [element("a")],
         [("p", "1", "one")]),
        ("<p id=a>光學".encode("utf-16"), [element("a")], [("p", "1", "光學")]),
    ],
)  # fmt: skip
def test_what_is_marked_for_a_block(body, cuts, marks):
    assert marked(frame_of(draw(page_of(body, *cuts)))) == marks


def test_words_of_a_page_steer_neither_terminal_nor_direction(topics: list[str]) -> None:
    topics[0] = "a\u202egnp.exe \x1b[2J" + "x" * 1_000_000
    drawing = draw(page_of("<p id=a>one", element("a")))
    assert len(drawing) < 20_000
    assert not [c for c in drawing if not c.isprintable() and c != "\n"]
    assert printable("a \u202e b\n c") == "a \ufffd b c"
    assert printable("lever " * 9, 10) == "lever lev…"


def test_the_frame_may_do_nothing_and_both_pages_stand_under_the_policy() -> None:
    drawing = draw(page_of("<base href=//x><p>one"))
    assert drawing.startswith('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">')
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
        with suppress(OSError):  # closed
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        self.seen.append("")
        with connection, suppress(OSError, IndexError):
            connection.settimeout(20)
            self.seen.append(connection.recv(4096).split(b" ")[1].decode())
            connection.sendall(
                b"HTTP/1.1 404 None\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listeners() -> Iterator[list[Listener]]:
    listening = [Listener() for _ in range(3)]
    yield listening
    for one in listening:
        one.close()


def hostile(url: str) -> str:
    """A page that tries to run scripts and to call home by every way but style sheets."""
    own = f"new Image().src='{url}/owned';document.documentElement.id='owned'"
    out = f"\"'></iframe></textarea></title></style><script>{own}</script>"
    return f"""<html onclick="{own}"><head><base href="{url}/base/">
<title>{out}{"t" * 100_000}</title>
<link rel=preconnect href="{url}"><link rel=dns-prefetch href="{url}"><link rel=prefetch href=pf>
<link rel=stylesheet href=css><link rel=icon href=icon><link rel=preload as=image href=preload>
<link rel=modulepreload href=module.js><meta http-equiv="refresh" content="1;url={url}/refresh">
<meta charset=utf-7>+ADw-script+AD4-{own}+ADw-/script+AD4-
<script>{own};new Image().src='{url}/script'</script><script src=script.js></script>
<script type=speculationrules>{{"prefetch":[{{"source":"list","urls":["{url}/spec"]}}]}}</script>
<body onload="{own}" background=background id=body><div id=all>
<p title="{escape(out)}" id=quoted>{escape(out)}</p>{out}
<img src=img onerror="{own}"><img srcset="srcset 1x"><picture><source srcset=source><img></picture>
<svg onload="{own}"><script>{own}</script><image href=svgimage /><style><a title="</style><img
src=x onerror={own}>"></style></svg><math><mtext><table><mglyph><style><!--</style>
<img title="--&gt;&lt;img src=1 onerror={own}&gt;"></table></mtext></math>
<iframe src=frame></iframe>
<iframe srcdoc="<script>top.{own}</script><img src={url}/srcdoc>"></iframe>
<object data=object></object><embed src=embed><video src=video poster=poster autoplay></video>
<audio src=audio autoplay></audio><input type=image src=input autofocus onfocus="{own}">
<form action=form><button formaction=button autofocus>go</button></form>
<a href="javascript:{own}" ping=ping id=link>link</a><details open ontoggle="{own}">x</details>
<marquee onstart="{own}">x</marquee>
<noscript><p title="</noscript><img src=ns onerror={own}>"></noscript>
<template><script>{own}</script></template><select><option><script>{own}</script></select>
<xmp></div><script>{own}</script></xmp><textarea autofocus onfocus="{own}">{escape(out)}</textarea>
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
    command = [CHROMIUM, *options, f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    done = subprocess.run([*command, file.as_uri()], capture_output=True, timeout=HANG, check=False)
    assert b"<html" in done.stdout, done.stderr
    return lxml_html.document_fromstring(done.stdout.decode())


def test_a_hostile_page_does_harm_and_its_copy_none_even_without_sandbox_and_policy(
    tmp_path: Path, listeners: list[Listener]
) -> None:
    itself, *others = listeners
    page = hostile(itself.url).replace("refresh", "no").partition("<!-- ")[0]
    page += STYLES.format(itself.url)
    for number, (end, other) in enumerate(zip(("<!-- ", "<plaintext><p>"), others, strict=True)):
        body = hostile(other.url).replace("<!-- ", end)
        copy = safe_copy(read_tree(body.encode()))
        beacon = f"<img src={other.url}/opened>"
        file = tmp_path / f"copy-{number}.html"
        file.write_text(f"<!doctype html><meta charset=utf-8>{copy}{beacon}", encoding="utf-8")
        page += f"<iframe src={file.as_uri()}></iframe>"
    wanted = {f"/base/{name}" for name in ("css", "img", "frame")}
    wanted |= {"/script", "/owned", "/import", "/css", "/inline", "/set"}
    for _ in range(3):  # a busy browser may give up before it gets to all
        dom = opened(tmp_path, page)
        seen = [set(one.seen) for one in listeners]
        if wanted <= seen[0] and "/opened" in seen[1] & seen[2]:
            break
    assert dom.getroottree().getroot().get("id") == "owned"
    assert wanted <= seen[0]
    assert seen[1:] == [{"", "/opened"}, {"", "/opened"}]


def test_a_drawing_of_a_hostile_page_asks_for_nothing_and_runs_nothing(tmp_path, listeners):
    styles = STYLES.format(listeners[0].url)
    body = styles + hostile(listeners[0].url) + styles
    page = page_of(body, lambda t: cut(t, "all", cut(t, "quoted"), cut(t, "link"), cut(t, "last")))
    dom = opened(tmp_path, draw(page))
    assert listeners[0].seen == []
    assert dom.get("id") is None
    assert [node.tag for node in dom.iter("script", "iframe", "form", "img")] == ["iframe"]
    assert [n for n, *_ in marked(frame_of(draw(page)))] == ["div", "p", "span", "p"]


@each(
    "body, parts",
    [
        (b"<style media=screen>p > b{color:red}</style><body bgcolor=#eee class=home>",
         ['<style media="screen">p > b{color:red}</style>', '<body bgcolor="#eee" class="home">']),
        (b"<td align=center style='color: blue'>5 &lt; 6 <b>a</b> <b>b</b>",
         ['<td align="center" style="color: blue">5 &lt; 6 <b>a</b><b> b</b></td>']),
        (b"<p onclick=f() style=color:red formaction=x background=x class='a\"b'><a href=x ping=y>",
         ['<p style="color:red" class="a&quot;b"><a href="#" inert></a></p>']),
        # a style sheet cannot end its element
        (b"<style>p{}</style", ["<style>p{}<\\/style</style>"]),
        (b"<div>" * 5_000 + b"x", ["x" + "</div>" * 5_000]),
    ],
)  # fmt: skip
def test_the_layout_stays_recognisable_and_what_acts_or_points_elsewhere_goes(body, parts):
    copy = safe_copy(read_tree(body))
    assert [part for part in parts if part not in copy] == []


PIECES = [
    "<script>own()</script>", "<script ", "<p onclick=own()", "onload='own()'", ' src="http://x/"',
    "<svg><style>", "<math><mtext>", "<style><!--", "</style>", "-->", "<!--", "<plaintext>",
    "<xmp>", "</xmp>", "<textarea>", "</textarea>", "<title>", "<iframe srcdoc='", "'>", '">',
    "</iframe>", "<a href=javascript:own()>", "<base href=//x>",
    "<meta http-equiv=refresh content=0>", "<noscript>", "<select><option>", "<table>",
    "<form action=//x>", "<my-card onx=1>", "<img src=//x>", "&lt;script>", "<body onload=own()>",
    "<template>", "&#0;", "\x00", '<p style="a:url(\'//x\')">', "text", ">", "<",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_whatever_a_page_holds_its_copy_has_no_way_to_act(text: str) -> None:
    copy = safe_copy(read_tree(text.encode()))
    outside_of_styles = re.sub(r"<style[^>]*>.*?</style>", "", copy, flags=re.DOTALL)
    tags = re.findall(r"<[^>]*>", outside_of_styles)
    assert re.sub(r"<[^>]*>", "", outside_of_styles).count("<") == 0
    for tag in tags:
        assert re.match(r"</?[a-z][a-z0-9-]*[ >]", tag)
        assert not re.match(
            r"<(script|iframe|svg|math|base|meta|link|object|plaintext|xmp|title)\b", tag
        )
        names = re.findall(r' ([^\s="]+)(?:="[^"]*")?', tag)
        assert not [name for name in names if name.startswith(("on", "form", "action", "ping"))]
        assert re.findall(r' (?:href|src)="(?!#"|data:image/gif;)', tag) == []


def test_no_style_sheet_is_copied_into_a_list_of_choices() -> None:
    body = b"<select><style><input><img src=x onerror=alert(1)></style></select>"
    assert "onerror" not in safe_copy(read_tree(body))
