"""Where a browser goes from a page without a click."""

import base64
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from mmcrawl.page import MOVE, parse_page
from tests.tables import each

ADDRESS = "http://h.test/a/index.html?n=1"
TARGET = "http://h.test/a/t.html"
ENCODED = base64.b64encode(b"t.html").decode()
TEXT = "<p>Words and <a href='other.html'>another page</a>, with <a id=n class=x href='t.html'>more"


def script(code: str) -> str:
    """Return a page with a script."""
    return f"<script>{code}</script>{TEXT}"


# Scripts that move every browser to t.html, by what they do it with.
MOVES = {
    "a name of the location": [
        "location='t.html'",
        'document.location = "t.html"',
        "window.location.href = 't.html';",
        "self.location.replace('t.html')",
        "top.location.assign('t.html')",
        "parent.location.href='t.html'",
        "window['location']['href']='t.html'",
        "location.pathname='/a/t.html'",
        "window?.location?.assign('t.html')",
        "$(location).attr('href','t.html')",
        "$(window).attr('location','t.html')",
        "var w=window; w.location='t.html'",
        "var l = document.location; l.href = 't.html'",
    ],
    "another function that opens a page": [
        "window.open('t.html','_self')",
        "window.navigate('t.html')",
        "history.replaceState(null,'','t.html'); location.reload()",
        "eval(\"location='t.html'\")",
    ],
    "an address from strings": [
        "location = 't' + '.ht' + \"ml\"",
        "var a='t'; var b=a+'.html'; b += ''; window.location=b",
        "location=String.fromCharCode(116,46,104,116,109,108)",
        "location=decodeURIComponent('t%2Ehtml')",
        "location=unescape('%74.html')",
        r"location='\x74.\u0068tml'",
        "location='lmth.t'.split('').reverse().join('')",
        "const n='t'; location.href=`${n}.html`",
        "location = location.pathname.replace(/index/i, 't')",
        "for (var c=[117,47,105],u='',i=0;i<3;i++)u+=String.fromCharCode(c[i]-1); location=u+'tml'",
        "location = 'T.HTML'.replace(/[A-Z]/g, c => c.toLowerCase())",
        "location = 'atxhtml'.replace(/a(.)x(.*)/, '$1.$2')",
    ],
    "an address from a list, an object or the page's own address": [
        "var p=['other.html','t.html']; location=p[1]",
        "var c={next:'t.html'}; location=c.next",
        "for (const x of ['t.html']) { location = x; break }",
        "const {u, x=u.next}={u: {next: 't.html'}};(([a, ...b], c=b[0]) => location=c)([0, x])",
        "location.href = new URL('t.html', location)",
        "location.href = new URL('?n=1', location).href.replace('index.html?n=1', 't.html')",
        "location.href = new URL('/a/t.html', window.location.href).href",
        "if (new URLSearchParams(location.search).get('n') == '1') location='t.html'",
        "var p = location.pathname.split('/'); p[p.length - 1] = 't.html'; location = p.join('/')",
        "['t.html'].map(u => ({u})).forEach(function(one) {location.assign(one.u)})",
        "location = ['t', 'html'].filter(Boolean).join('.')",
        "location = new Map([['n', 't.html']]).get('n')",
        "location = Object.keys({'t.html': 1})[0]",
    ],
    "a condition that holds in every browser": [
        "location = 1 > 0 ? 't.html' : 'other.html'",
        "if (location.protocol=='http:') location=location.href.replace('index.html?n=1','t.html')",
        "if (document.cookie.indexOf('seen') < 0) location='t.html'",
        "if (location.host.indexOf('m.') == -1 && !-0) location='t.html'",
        "try { location='t.html' } catch (e) { }",
        "if(/iphone|android/i.test(navigator.userAgent)){location='m/'}else{location='t.html'}",
        "switch (location.host) {case 'x.test': location='m/'; break; default: location='t.html'}",
        "if (typeof window !== 'undefined') location='t.html'",
        "try {throw 't.html'} catch (u) {location = u}",
        "if (!/MSIE/.test(navigator.appVersion)) location = 't.html'",
    ],
    "a function or a class": [
        "var app = {init() {location='t.html'}}; app.init()",
        "go(); function go() { location.href='t.html' }",
        "function u() { return 't.html' } location=u() || null",
        "(function(u){ this.location=(0, u) }).call(this, [['t.html'][1 * 0]])",
        "function go(u) { location.href=u + '.html' } go('t')",
        "(function(){ location='t.html' })()",
        "(() => location.assign('t.html'))()",
        "class A {constructor(u) {this.u = u} go() {location = this.u}}; new A('t.html').go()",
        "function A() {this.u='t.html'} A.prototype.go=function() {location=this.u}; new A().go()",
        "class A {go() {location = 't.html'}}; class B extends A {}; new B().go()",
        "new Function(\"location='t.html'\")()",
    ],
    "a timer or a request, which take less than a minute": [
        "setTimeout(function(){location='t.html'}, 3000)",
        "setTimeout(\"location.href='t.html'\", 0)",
        "setTimeout(function(u) {location=u}, 10, 't.html')",
        "var i=setInterval(() => { location.replace('t.html') }, 1000)",
        "function go(){window.location='t.html'} window.setTimeout(go, 1000)",
        "var n=9; function t(){if(n<=0){location='t.html'}else{n--; setTimeout(t,1000)}} t()",
        "var n=5; setInterval(function(){n-=1; if(n==0) location='t.html'; s.innerHTML=n}, 1000)",
        "queueMicrotask(() => location.replace('t.html'))",
        "fetch('x.json').then(r => r.json()).then(d => { location='t.html' })",
        "(async () => {await null; location = 't.html'})()",
    ],
    "the end of loading": [
        "function go() {location='t.html'} window.addEventListener('load', go, false)",
        "window.onload=function(){location='t.html'}",
        "$(document).ready(function(){ window.location='t.html' })",
        "$(function(){ window.location='t.html' })",
    ],
    "a link of the page that is clicked, or one that is made": [
        "jQuery(document).ready(function($){ $('#n').get(0).click() })",
        "var a=document.createElement('a'); a.href='t.html'; a.click()",
        "document.getElementById('n').dispatchEvent(new MouseEvent('click', {bubbles: true}))",
        "document.getElementById('n').click()",
        "document.querySelector('a.x').click()",
        "document.links[1].click()",
        "document.write('<meta http-equiv=refresh content=\"0;url=t.html\">')",
    ],
}
# Scripts that move some browsers, or none.
STAYS = {
    "only in some browsers, windows or screens": [
        "if(navigator.userAgent.match(/iPhone/)) location='t.html'",
        "if (top == self) location.href='t.html'",
        "if (window.top !== window.self) { top.location = 't.html' }",
        "if (screen.width < 800) location='t.html'",
    ],
    "only if another file of the page says so": [
        "switch(x){case 1: location='t.html'; break; default: location='m.html'}",
        "function f(){ if (x) return; location='t.html'} f()",
        "location.href = x ? 't.html' : 'm.html'",
    ],
    "only if a person agrees, waits or clicks": [
        "if (confirm('Go?')) location='t.html'",
        "setTimeout(function(){location='t.html'}, 600000)",
        "function go(){location='t.html'} var x={location: 1}",
        "var t = setTimeout(\"location='t.html'\", 9); clearTimeout(t)",
        "var n=0; var i=setInterval(() => {clearInterval(i); if (n++) location='t.html'}, 9)",
        "document.onclick=function(){location='t.html'}",
        "b.addEventListener('click', function(){location='t.html'})",
        "$('a.x').click(e => {b.click()})",
    ],
    "nowhere but to the page itself": [
        "var u = location.href; if (location.hostname != 'h.test') location='t.html'",
        "location = location.href; location.reload()",
        "location.replace(location.href + '&n=1')",
    ],
    "in another window, or never": [
        "window.open('t.html'); function go(){location='m.html'}",
        "/* location='t.html' */ // location='t.html'",
    ],
}
MOVING = [
    *(TEXT + script(code) for codes in MOVES.values() for code in codes),
    script(f"location.href=atob('{ENCODED}')"),
    script("var u='t.html'") + script("location.href=u"),
    script("\n<!--\nlocation.href='t.html'\n//-->\n"),
    script("document.write('<script>location=\"t.html\"<\\/script>')"),
    script("m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0;t.html';"
           "document.getElementsByTagName('body')[0].appendChild(m)"),
    f"<body onload=\"location.href='t.html'\">{TEXT}",
    f"<script>function go(){{location='t.html'}}</script><body onload='go()'>{TEXT}",
    "<b id=q data-to='t.html'></b>" + script("location=document.getElementById('q').dataset.to"),
    '<script id=c type=application/json>{"u": "t.html"}</script>'
    + script("location = JSON.parse(document.getElementById('c').textContent).u"),
    f"<meta http-equiv=Refresh content='0;url=t.html'>{TEXT}",
    f"<meta http-equiv='refresh' content=\"5; URL='t.html'\">{TEXT}",
    f"<meta http-equiv=refresh content='1,url = t.html'>{TEXT}",
    f"<meta http-equiv=refresh content='0; t.html'>{TEXT}",
    "<noscript><meta http-equiv=refresh content='0;url=t.html'></noscript>",
]  # fmt: skip
FIELD = "<input name=q value='a b'>"
FORMS = [
    f"<form action=s.php>{FIELD}</form><script>document.forms[0].submit()</script>",
    f"<body onload='document.f.submit()'><form name=f action='s.php'>{FIELD}</form>",
    f"<form id=f action=s.php?old=1>{FIELD}</form><script>document.getElementById('f').submit()"
    "</script>",
    f"<form id=f>{FIELD}</form><script>var f = document.querySelector('#f'); f.action = 's.php';"
    "f.submit()</script>",
    f"<form action=s.php>{FIELD}<button id=b></button></form><script>$('#b').click()</script>",
    f"<form action=s.php>{FIELD}<input type=checkbox name=no></form>"
    + script("$('form').submit()"),
    "<form action=s.php><select name=q><option>x<option selected>a b</select></form>"
    + script("document.forms[0].submit()"),
    "<form action=s.php><textarea name=q>a b</textarea></form>" + script("$('form').submit()"),
]
STAYING = [
    *(TEXT + script(code) for codes in STAYS.values() for code in codes),
    f"<meta http-equiv=refresh content='300;url=t.html'>{TEXT}",
    f"<noscript><meta http-equiv=refresh content='0;url=t.html'></noscript>{TEXT}",
    f"<!--<meta http-equiv=refresh content='0;url=t.html'>-->{TEXT}",
    f"<script type='application/json'>location='t.html'</script>{TEXT}",
    f"<script nomodule>location='t.html'</script>{TEXT}",
    f"<b data-x=\"location='t.html'\"></b>{TEXT}",
    "<form id=f method=post action=t.html></form>" + script("f.submit()"),
    "<form action=t.html></form>" + script("$('form').submit(function(e){b.click()})"),
]


def moves(html: str) -> list[str]:
    return [link.url for link in parse_page(html.encode(), ADDRESS).links if link.tag == MOVE]


@each("html, target", [*((one, TARGET) for one in MOVING),
                       *((one, "http://h.test/a/s.php?q=a+b") for one in FORMS)])  # fmt: skip
def test_where_any_browser_goes_comes_first_among_the_links(html: str, target: str) -> None:
    assert moves(html) == [target]
    assert parse_page(html.encode(), ADDRESS).links[0].url == target


@each("html", STAYING)
def test_what_only_some_browsers_do_or_a_person_makes_them_do_is_no_move(html: str) -> None:
    assert moves(html) == []


def test_the_header_moves_too_and_film_that_a_page_goes_to_is_its_medium() -> None:
    page = parse_page(b"<p>Wait", ADDRESS, refresh="3; url=t.html")
    assert [(link.url, link.tag) for link in page.links] == [(TARGET, MOVE)]
    assert [one.url for one in parse_page(script("location='a.mp4'").encode(), ADDRESS).media] == [
        "http://h.test/a/a.mp4"
    ]


def test_of_a_choice_that_cannot_be_known_both_addresses_are_links() -> None:
    page = parse_page(script("location.href = x ? 'm.html' : 't.html'").encode(), ADDRESS)
    assert {link.url for link in page.links} >= {"http://h.test/a/m.html", TARGET}


def test_what_a_script_does_before_it_fails_counts_and_the_next_script_runs() -> None:
    assert moves(TEXT + script("var u = 't.html'; nobody.knows()") + script("location=u")) == [
        TARGET
    ]
    assert moves(TEXT + script("location='t.html'; nobody.knows()")) == [TARGET]
    assert moves(TEXT + script("location='t.html'; for (;;) {}")) == [TARGET]


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
        "var a=[]; for (;;) a.push(new Array(1e6).fill(location=1))",
        "/^(a+)+$/.test('a'.repeat(40) + 'b'); location=1",
        "var a=[]; a.toString=() => '' + a; location=a",
        "Object.prototype.toJSON = Array.prototype.toJSON = () => 1; location='a'",
        "JSON.stringify = () => '[1]'; mmcrawl_browser.found = () => '1'; location=Symbol()",
        "location=x;'a'.match(/((/);String.fromCharCode(-1);atob('-');x[y]=z;[].pop()",
    ],
)  # fmt: skip
def test_a_script_that_has_no_end_is_left(code: str) -> None:
    began = time.process_time()
    parse_page(script(code).encode(), ADDRESS)
    assert time.process_time() - began < 20


def test_a_script_that_nothing_can_interrupt_costs_the_moves_of_its_page_alone() -> None:
    assert moves(TEXT + script("location='t.html'; Array(2**31).join('x')")) == []
    assert moves(TEXT + script("location='t.html'")) == [TARGET]


@each(
    "code",
    [
        "'\\ud800'",
        "1n << 99999n",
        "location='/' + 'a'.repeat(1e7)",
        "var a='<b>'.repeat(30000); for (var i=0; i<999; i++) document.write(a)",
        """var a=1, list=Array.prototype; for (var i=0; i<985; i++) a={a};
        list.toJSON=() => (delete list.toJSON, [[[a, 1]], []]); 0""",
    ],
)
def test_what_scripts_say_harms_nobody_who_reads_it(
    code: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """No text without end is read by the page's process, and nothing fails there or in theirs."""
    began = time.process_time()
    found = moves(TEXT + script(f"location='t.html'; {code}"))
    assert found == ([] if "toJSON" in code else [TARGET])
    assert time.process_time() - began < 1
    assert moves(TEXT + script("location='t.html'")) == [TARGET]
    assert not capfd.readouterr().err


@each(
    "asks",
    [
        "x", "typeof x == 'function'", "window.x", "document.x", "'x' in window", "top != self",
        "parent != self", "innerWidth < 400", "screen.width < 400", "navigator.language[0] == 'z'",
        "navigator.languages[0][0] == 'z'", "!confirm()", "(()=>{'use strict'; return x=1})()",
    ],
)  # fmt: skip
def test_what_differs_between_readers_is_asked_of_both(asks: str) -> None:
    """A page whose scripts ask for none of it is visited by one of them."""
    assert moves(TEXT + script(f"if ({asks}) location='t.html'")) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_scripts_run_where_the_memory_of_a_process_cannot_be_limited(tmp_path: Path) -> None:
    """On macOS it cannot."""
    (tmp_path / "resource.py").write_text(
        "RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC = range(4)\n"
        "def setrlimit(which, limits):\n    if which == RLIMIT_AS: raise ValueError\n"
    )
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
    program += "from mmcrawl.page import parse_page\n"
    program += (
        f"print(parse_page({script('location=1').encode()!r}, 'http://h.test/').links[0].url)"
    )
    asked = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert asked.stdout.strip() == b"http://h.test/1"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the limits of a process")
def test_scripts_run_where_no_file_and_no_connection_can_be_opened() -> None:
    """Nor can another process be started."""
    assert moves(script("location='t.html'")) == [TARGET]
    (child,) = [
        one for one in psutil.Process().children() if "scripts.sandbox" in " ".join(one.cmdline())
    ]
    for limit in (psutil.RLIMIT_NOFILE, psutil.RLIMIT_NPROC, psutil.RLIMIT_FSIZE):
        assert child.rlimit(limit) == (0, 0)
