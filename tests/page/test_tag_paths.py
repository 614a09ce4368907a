"""The elements that links stand in."""

import gc
import tracemalloc

from mmcrawl.page import parse_page
from tests.tables import each

URL = "http://school.test/physics/index.htm"


def paths(html: str) -> dict[str, str]:
    """Return the tag path of each link by the last part of its address."""
    links = parse_page(html.encode(), URL).links
    return {link.url.rpartition("/")[2]: link.tag_path for link in links}


def test_a_path_names_elements_with_their_id_and_class():
    html = """<html><body><div id="main" class="wide"><ul class="menu"><li><a href="a">A</a></li>
        <li class="now"><b><a href="b" class="link">B</a></b></li></ul></div>
        <p><a href="c">C</a></p></body></html>"""
    assert paths(html) == {
        "a": "html body div#main.wide ul.menu li a",
        "b": "html body div#main.wide ul.menu li.now b a.link",
        "c": "html body p a",
    }


def test_links_in_the_same_place_of_a_list_have_one_path():
    items = "".join(
        f'<li id="post-{n}" class="post-{n} post tag-lens"><a href="{n}.htm">{n}</a></li>'
        for n in (7, 12, 430)
    )
    found = paths(f'<ol class="list2">{items}</ol><div><a href="next">next</a></div>')
    assert found.pop("next") == "html body div a"
    assert set(found.values()) == {"html body ol.list0 li#post-0.post-0.post a"}


def test_a_path_has_the_eight_innermost_elements_and_a_step_is_cut() -> None:
    outer = "".join(f"<div class={name}>" for name in "abcdefghij")
    assert paths(f"{outer}<a href=x>x</a>") == {"x": "div.d div.e div.f div.g div.h div.i div.j a"}
    [path] = paths(f'<p class="{"c" * 500}"><a href=x>x</a>').values()
    assert path == f"html body p.{'c' * 58} a"


@each(
    "html, path",
    [
        ("<p><a href=\"javascript:window.open('x.htm')\">x</a>", "html body p a"),
        ("<ul><li class=k onclick=\"location.href='x.htm'\">x</li></ul>", "html body ul li.k"),
        ("<form id=f><select onchange='go()'><option value='x.htm'>x</select>",
         "html body form#f select option"),
        ("<frameset id=top><frame name=n class=left src=x.htm></frameset>",
         "html frameset#top frame.left"),
        ("<div id=d><map class=m><area href=x.htm></map>", "html body div#d map.m area"),
        ("<div id=d><iframe class=f src=x.htm></iframe>", "html body div#d iframe.f"),
        ("<noscript><p class=n><a href=x.htm>x</a></noscript>", "html body noscript p.n a"),
        ("<frameset><noframes><body class=n><a href=x.htm>x</a></noframes>", "html body.n a"),
        ("<body class=n><html><p><a href=x.htm>x</a>", "html body.n p a"),
        # the occurrence whose anchor is taken
        ("<div class=pic><a href=x.htm><img src=i></a></div><p class=t><a href=x.htm>One</a>",
         "html body p.t a"),
    ],
)  # fmt: skip
def test_links_of_scripts_menus_and_odd_places_have_paths(html, path):
    assert paths(html)["x.htm"] == path


def test_paths_of_a_page_nested_deeply() -> None:
    html = "".join(f"<div class=d><a href={n}.htm>{n}</a>" for n in range(2_000))
    found = [path.split() for path in paths(html).values()]
    assert found[:2] == ["html body div.d a".split(), "html body div.d div.d a".split()]
    assert all(path == ["div.d"] * 7 + ["a"] for path in found[6:])
    assert len(found) == 2_000


def test_long_classes_of_pages_past_are_not_kept() -> None:
    def parse(letter: str) -> None:
        parse_page(f'<p class="{letter * 200_000}"><a href=x>x</a>'.encode(), URL)

    parse("a")  # what is loaded on first use
    tracemalloc.start()
    for letter in "bcdefghijk":
        parse(letter)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 200_000
