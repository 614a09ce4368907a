"""Where a browser goes from a page without a click."""

import base64
import time

from mmcrawl.page import MOVE, parse_page
from tests.tables import each

ADDRESS = "http://h.test/a/index.html?n=1"
TARGET = "http://h.test/a/t.html"
ENCODED = base64.b64encode(b"t.html").decode()
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
    "subscript": script("window['location']['href']='t.html'"),
    "subscript call": script("location['replace']('t.html')"),
    "jquery": script("$(location).attr('href','t.html')"),
    "jquery window": script("$(window).attr('location','t.html')"),
    "pathname": script("location.pathname='/a/t.html'"),
    "open": script("window.open('t.html','_self')"),
    "navigate": script("window.navigate('t.html')"),
    "alias": script("var w=window; w.location='t.html'"),
    "alias of location": script("var l = document.location; l.href = 't.html'"),
    "concatenated": script("location = 't' + '.ht' + \"ml\""),
    "variables": script("var a='t'; var b=a+'.html'; b += ''; window.location=b"),
    "variable of another script": script("var u='t.html'") + script("location.href=u"),
    "ternary": script("location = 1 > 0 ? 't.html' : 'other.html'"),
    "own address": script(
        "if (location.protocol=='http:') location=location.href.replace('index.html?n=1','t.html')"
    ),
    "pattern": script("location = location.pathname.replace(/index/i, 't')"),
    "URL": script("location.href = new URL('t.html', location)"),
    "URL of href": script("location.href = new URL('/a/t.html', window.location.href).href"),
    "atob": script(f"location.href=atob('{ENCODED}')"),
    "fromCharCode": script("location=String.fromCharCode(116,46,104,116,109,108)"),
    "decoded": script("location=decodeURIComponent('t%2Ehtml')"),
    "unescape": script("location=unescape('%74.html')"),
    "escapes": script(r"location='\x74.\u0068tml'"),
    "reversed": script("location='lmth.t'.split('').reverse().join('')"),
    "list": script("var p=['other.html','t.html']; location=p[1]"),
    "object": script("var c={next:'t.html'}; location=c.next"),
    "template": script("const n='t'; location.href=`${n}.html`"),
    "timer": script("setTimeout(function(){location='t.html'}, 3000)"),
    "timer of a text": script("setTimeout(\"location.href='t.html'\", 0)"),
    "interval": script("var i=setInterval(() => { location.replace('t.html') }, 1000)"),
    "timer of a name": script(
        "function go(){window.location='t.html'} window.setTimeout(go, 1000)"
    ),
    "countdown": script(
        "var n=9; function t(){if(n<=0){location='t.html'}else{n--; setTimeout(t,1000)}} t()"
    ),
    "countdown by interval": script(
        "var n=5; setInterval(function(){n-=1; if(n==0) location='t.html'; s.innerHTML=n}, 1000)"
    ),
    "optional": script("window?.location?.assign('t.html')"),
    "soon": script("queueMicrotask(() => location.replace('t.html'))"),
    "method": script("var app = {init() {location='t.html'}}; app.init()"),
    "listener with options": script(
        "function go() {location='t.html'} window.addEventListener('load', go, false)"
    ),
    "function": script("go(); function go() { location.href='t.html' }"),
    "returned": script("function u() { return 't.html' } location=u() || null"),
    "called": script("(function(u){ this.location=(0, u) }).call(this, [['t.html'][1 * 0]])"),
    "argument": script("function go(u) { location.href=u + '.html' } go('t')"),
    "at once": script("(function(){ location='t.html' })()"),
    "arrow": script("(() => location.assign('t.html'))()"),
    "then": script("fetch('x.json').then(r => r.json()).then(d => { location='t.html' })"),
    "load event": f"<body onload=\"location.href='t.html'\">{TEXT}",
    "load event calls": (
        f"<script>function go(){{location='t.html'}}</script><body onload='go()'>{TEXT}"
    ),
    "onload": script("window.onload=function(){location='t.html'}"),
    "listener": script("addEventListener('load', function(){location='t.html'})"),
    "ready": script("$(document).ready(function(){ window.location='t.html' })"),
    "jquery function": script("$(function(){ window.location='t.html' })"),
    "history": script("history.replaceState(null,'','t.html'); location.reload()"),
    "eval": script("eval(\"location='t.html'\")"),
    "click": f"{TEXT}<script>document.getElementById('n').click()</script>",
    "click by selector": f"{TEXT}<script>document.querySelector('a.x').click()</script>",
    "click by number": f"{TEXT}<script>document.links[1].click()</script>",
    "made link": script("var a=document.createElement('a'); a.href='t.html'; a.click()"),
    "attribute": (
        f"<b id=q data-to='t.html'></b>{TEXT}<script>"
        "location=document.getElementById('q').dataset.to</script>"
    ),
    "written refresh": script(
        "document.write('<meta http-equiv=refresh content=\"0;url=t.html\">')"
    ),
    "commented script": f"<script>\n<!--\nlocation.href='t.html'\n//-->\n</script>{TEXT}",
    "cookie": script("if (document.cookie.indexOf('seen') < 0) location='t.html'"),
    "host": script("if (location.host.indexOf('m.') == -1 && !-0) location='t.html'"),
    "try": script("try { location='t.html' } catch (e) { }"),
    "desk": script(
        "if(/iphone|android/i.test(navigator.userAgent)){location='m/'}else{location='t.html'}"
    ),
    "loops": script(
        "for (var c = [117,47,105,117,110,109], u = '', i = 0; i < c.length; i++)"
        " u += String.fromCharCode(c[i] - 1); for (const x of [u]) { location = x; break }"
    ),
    "patterns of names": script(
        "const {u, x = u.next} = {u: {next: 't.html'}};"
        "(([a, ...b], c = b[0]) => location = c)([0, x])"
    ),
    "class": script(
        "class A {constructor(u) {this.u = u} go() {location = this.u}}; new A('t.html').go()"
    ),
    "prototype": script(
        "function A() {this.u='t.html'} A.prototype.go=function(){location=this.u};"
        "var a = new A(); a.go.call(a)"
    ),
    "switch": script(
        "switch (location.host) {case 'x.test': location='m/'; break; default: location='t.html'}"
    ),
    "each": script("['t.html'].map(u => ({u})).forEach(function(one) {location.assign(one.u)})"),
    "argument of a timer": script("setTimeout(function(u) {location=u}, 10, 't.html')"),
    "query": script(
        "if (new URLSearchParams(location.search).get('n') == '1' && typeof window !== 'undefined')"
        " location='t.html'"
    ),
    "parts of the path": script(
        "var p = location.pathname.split('/'); p[p.length - 1] = 't.html'; location = p.join('/')"
    ),
    "data in the page": (
        '<script id=c type=application/json>{"u": "t.html"}</script><script>'
        f"location = JSON.parse(document.getElementById('c').textContent).u</script>{TEXT}"
    ),
    "made refresh": script(
        "var m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0;t.html';"
        "document.getElementsByTagName('body')[0].appendChild(m)"
    ),
    "written script": script("document.write('<script>location=\"t.html\"<\\/script>')"),
    "jquery given": script("jQuery(document).ready(function($){ $('#n').get(0).click() })"),
    "event of a click": script(
        "document.getElementById('n').dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    ),
    "refresh": f"<meta http-equiv=Refresh content='0;url=t.html'>{TEXT}",
    "refresh in quotes": f"<meta http-equiv='refresh' content=\"5; URL='t.html'\">{TEXT}",
    "refresh with a comma": f"<meta http-equiv=refresh content='1,url = t.html'>{TEXT}",
    "refresh without url": f"<meta http-equiv=refresh content='0; t.html'>{TEXT}",
    "only without scripts": "<noscript><meta http-equiv=refresh content='0;url=t.html'></noscript>",
}
FORMS = {
    "form": (
        "<form action=s.php><input name=q value='a b'></form><script>"
        "document.forms[0].submit()</script>"
    ),
    "named form": (
        "<body onload='document.f.submit()'><form name=f action='s.php'>"
        "<input type=hidden name=q value='a b'></form>"
    ),
    "form by id": (
        "<form id=f action=s.php?old=1><input name=q value='a b'></form>"
        "<script>document.getElementById('f').submit()</script>"
    ),
    "form with another address": (
        "<form id=f><input name=q value='a b'></form><script>var f = document.querySelector('#f');"
        "f.action = 's.php'; f.submit()</script>"
    ),
    "button": (
        "<form action=s.php><input name=q value='a b'><button id=b></button>"
        "</form><script>$('#b').click()</script>"
    ),
}
LINKS = {
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
    "read": script("var u = location.href; if (location.hostname != 'h.test') location='t.html'"),
    "itself": script("location = location.href; location.reload()"),
    "itself with its query twice": script("location.replace(location.href + '&n=1')"),
    "posted": f"<form id=f method=post action=t.html></form>{TEXT}<script>f.submit()</script>",
    "comment": script("// location='t.html'\n/* location='t.html' */"),
    "window": script("window.open('t.html'); function go(){location='m.html'}"),
    "old browsers": f"<script nomodule>location='t.html'</script>{TEXT}",
    "handler of a click": f"{TEXT}<script>$('a.x').click(e => {{b.click()}})</script>",
    "handler of a form": (
        f"<form action=t.html></form>{TEXT}<script>$('form').submit(function(e){{b.click()}})"
        "</script>"
    ),
    "refresh in a comment": f"<!--<meta http-equiv=refresh content='0;url=t.html'>-->{TEXT}",
}


@each("name", MOVED | FORMS)
def test_where_any_browser_goes_comes_first_among_the_links(name: str) -> None:
    page = parse_page((MOVED | FORMS)[name].encode(), ADDRESS)
    target = "http://h.test/a/s.php?q=a+b" if name in FORMS else TARGET
    assert [link.url for link in page.links if link.tag == MOVE] == [target]
    assert page.links[0].url == target


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


@each(
    "code",
    [
        "while(1){location=location+'x'}",
        "for(;;){} location='t.html'",
        "var a='xxxxxxxx'.repeat(1e9); location=a.replaceAll('x', a)",
        "onload=function(){location=" + "(" * 200 + "1" + ")" * 200 + "}",
        "var a={}; a[[1]]=2; window[[a]]=location[{}]; location=a[[[]]]",
        "function f(){f();f()} f();location='t.html'",
        "var a='x';" + "a=a+a;" * 3_000 + "location=a",
        "location=" + "(" * 15_000,
        "location=" + "1+" * 10_000 + "1",
        "if(x){" * 5_000 + "location='a'",
        "location='a'.replace(/(a*)*b/,'').x" + "[0]" * 9_000,
        "`${" * 9_000 + "location",
        "location=x;$('a[b=\"').click();document.getElementById(x);document.write(x)",
        "location=x;'a'.match(/((/);String.fromCharCode(-1);atob('-');x[y]=z;[].pop()",
    ],
)  # fmt: skip
def test_a_script_that_has_no_end_is_left(code: str) -> None:
    began = time.process_time()
    parse_page(script(code).encode(), ADDRESS)
    assert time.process_time() - began < 20
