"""Where a browser goes from a page without a click."""

import time

from mmcrawl.page import MOVE, parse_page
from tests.tables import each

ADDRESS = "http://h.test/a/index.html?n=1"
TARGET = "http://h.test/a/t.html"
TEXT = "<p>Words and <a href='other.html'>another page</a>, with <a id=n class=x href='t.html'>more"


def script(code: str) -> str:
    """Return a page with a script."""
    return f"<script>{code}</script>{TEXT}"


MOVED = {
    "location": script("location='t.html'"),
    "href": script("window.location.href = 't.html';"),
    "document": script('document.location = "t.html"'),
    "self": script("self.location.replace('t.html')"),
    "top": script("top.location.assign('t.html')"),
    "parent": script("parent.location.href='t.html'"),
    "open": script("window.open('t.html','_self')"),
    "navigate": script("window.navigate('t.html')"),
    "timer": script("setTimeout(function(){location='t.html'}, 3000)"),
    "timer of a text": script("setTimeout(\"location.href='t.html'\", 0)"),
    "interval": script("var i=setInterval(() => { location.replace('t.html') }, 1000)"),
    "timer of a name": script(
        "function go(){window.location='t.html'} window.setTimeout(go, 1000)"
    ),
    "optional": script("window?.location?.assign('t.html')"),
    "listener with options": script(
        "function go() {location='t.html'} window.addEventListener('load', go, false)"
    ),
    "function": script("go(); function go() { location.href='t.html' }"),
    "at once": script("(function(){ location='t.html' })()"),
    "load event": f"<body onload=\"location.href='t.html'\">{TEXT}",
    "load event calls": (
        f"<script>function go(){{location='t.html'}}</script><body onload='go()'>{TEXT}"
    ),
    "onload": script("window.onload=function(){location='t.html'}"),
    "listener": script("addEventListener('load', function(){location='t.html'})"),
    "ready": script("$(document).ready(function(){ window.location='t.html' })"),
    "jquery function": script("$(function(){ window.location='t.html' })"),
    "commented script": f"<script>\n<!--\nlocation.href='t.html'\n//-->\n</script>{TEXT}",
    "try": script("try { location='t.html' } catch (e) { }"),
    "refresh": f"<meta http-equiv=Refresh content='0;url=t.html'>{TEXT}",
    "refresh in quotes": f"<meta http-equiv='refresh' content=\"5; URL='t.html'\">{TEXT}",
    "refresh with a comma": f"<meta http-equiv=refresh content='1,url = t.html'>{TEXT}",
    "refresh without url": f"<meta http-equiv=refresh content='0; t.html'>{TEXT}",
    "only without scripts": "<noscript><meta http-equiv=refresh content='0;url=t.html'></noscript>",
}
LINKS = {
    "computed": script("location = 't' + '.ht' + \"ml\""),
    "of another": script("app.location = 't.html'; x.mylocation = 'm.html'"),
    "in a text": script("say(\"location='t.html'\")"),
    "phone": script("if(navigator.userAgent.match(/iPhone/)) location='t.html'"),
    "frame": script("if (top == self) location.href='t.html'"),
    "other frame": script("if (window.top !== window.self) { top.location = 't.html' }"),
    "small": script("if (screen.width < 800) location='t.html'"),
    "switch": script("switch(x){case 1: location='t.html'; break; default: location='m.html'}"),
    "early end": script("function f(){ if (x) return; location='t.html'} f()"),
    "either": script("location.href = x ? 't.html' : 'm.html'"),
    "asked": script("if (confirm('Go?')) location='t.html'"),
    "refresh after minutes": f"<meta http-equiv=refresh content='300;url=t.html'>{TEXT}",
    "timer of minutes": script("setTimeout(function(){location='t.html'}, 600000)"),
    "without scripts": (
        f"<noscript><meta http-equiv=refresh content='0;url=t.html'></noscript>{TEXT}"
    ),
    "function of a click": script("function go(){location='t.html'} var x={location: 1}"),
    "click event": script("document.onclick=function(){location='t.html'}"),
    "listener": script("b.addEventListener('click', function(){location='t.html'})"),
    "json": f"<script type='application/json'>location='t.html'</script>{TEXT}",
    "data": f"<b data-x=\"location='t.html'\"></b>{TEXT}",
    "asked elsewhere": script("if (x) {go()} function go() {location='t.html'}"),
    "never called": script("function go() {location='t.html'; go()}"),
    "comment": script("// location='t.html'\n/* location='t.html' */"),
    "window": script("window.open('t.html'); function go(){location='m.html'}"),
    "old browsers": f"<script nomodule>location='t.html'</script>{TEXT}",
    "refresh in a comment": f"<!--<meta http-equiv=refresh content='0;url=t.html'>-->{TEXT}",
}


@each("name", MOVED)
def test_where_any_browser_goes_comes_first_among_the_links(name: str) -> None:
    page = parse_page(MOVED[name].encode(), ADDRESS)
    assert [link.url for link in page.links if link.tag == MOVE] == [TARGET]
    assert page.links[0].url == TARGET


@each("name", LINKS)
def test_what_only_some_browsers_do_or_a_person_makes_them_do_is_no_move(name: str) -> None:
    page = parse_page(LINKS[name].encode(), ADDRESS)
    assert [link.url for link in page.links if link.tag == MOVE] == []


def test_the_header_moves_too_and_film_that_a_page_goes_to_is_its_medium() -> None:
    page = parse_page(b"<p>Wait", ADDRESS, refresh="3; url=t.html")
    assert [(link.url, link.tag) for link in page.links] == [(TARGET, MOVE)]
    assert [one.url for one in parse_page(script("location='a.mp4'").encode(), ADDRESS).media] == [
        "http://h.test/a/a.mp4"
    ]


def test_what_may_move_a_page_is_followed_where_nothing_else_leads_on() -> None:
    page = parse_page(b"<script>if (x) {location='t.html'}</script>", ADDRESS)
    assert [(link.url, link.tag) for link in page.links] == [(TARGET, MOVE)]


@each(
    "code",
    [
        "location='a';" * 600,
        "f();" * 2_000 + "function f(){f();location='a';f()}",
        "function f(){" * 600 + "location='a'",
        "location='a'" + "{" * 7_900,
        "location='a'" + "= (" * 2_600,
        "location='a'" + "'" * 7_900,
        "/*" * 3_900 + "location='a'",
        "setTimeout('" * 600 + "location='a'",
        "open(" * 1_500 + "location='a'",
    ],
)
def test_a_script_takes_little_time_whatever_is_in_it(code: str) -> None:
    began = time.process_time()
    parse_page(script(code).encode(), ADDRESS)
    assert time.process_time() - began < 2
