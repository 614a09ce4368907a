"""An archive of what may come from the web at its worst, for everything that shows archived pages.

Each page marks what it did in the title of its document, or by asking :data:`OUTSIDE` for something
whose path names the trick. A test puts a listener of its own there.
"""

# ruff: noqa: E501
from datetime import UTC, datetime
from pathlib import Path

from mmcrawl.archive import Capture, open_archive

START = datetime(2024, 5, 17, 8, 30, tzinfo=UTC).timestamp()
STAMP = "20240517083000"
SITE = "http://hostile.test/"
OUTSIDE = "http://outside.test"

SCRIPT = "<script>document.title='ran'</script>"
RIGHT_TO_LEFT = "\u202egnp.exe\u2066 \u200f"


def pages(outside: str = OUTSIDE, interface: str = "http://127.0.0.1:8000") -> dict[str, str]:
    """Return hostile pages by name.

    Args:
        outside: Origin that stands for the live web; nothing may be asked there.
        interface: Origin of the interface; nothing of it may be reached.
    """
    return {
        "script": f"<title>quiet</title><p>x{SCRIPT}<img src=x onerror=\"document.title='ran'\">"
        f"<svg onload=\"document.title='ran'\"></svg><script src={outside}/script.js></script>",
        "title": f"<title>&lt;/title&gt;{SCRIPT}\"'><!--</title>{SCRIPT}<p>words",
        "topic": f"<title>t</title><h1>&lt;script&gt;document.title='ran'&lt;/script&gt;</h1>"
        f'<p>"&gt;&lt;img src=x onerror=alert(1)&gt; {RIGHT_TO_LEFT}{SCRIPT}',
        "anchors": "<title>quiet</title>"
        "<a id=go href=\"javascript:document.title='ran'\">a</a>"
        "<a href=\" java\tscript:document.title='ran'\">b</a><a href=vbscript:x>c</a>"
        "<a href='data:text/html,<script>1</script>'>d</a>"
        f'<a href="http://h.test/&quot;&gt;&lt;script&gt;">e{SCRIPT}</a>'
        "<a href=\"http://h.test/%0d%0aX-Evil:%201\">f</a><a href='http://h.test/\x00'>g</a>",
        "refresh": f'<title>quiet</title><meta http-equiv=refresh content="0;url={outside}/refresh">'
        f"<meta http-equiv=Refresh content='0; {outside}/refresh2'>",
        "base": f"<title>quiet</title><base href='{outside}/base/'><img src=pixel.gif>"
        "<link rel=stylesheet href=a.css><a id=go href=next>next</a>",
        "requests": f"""<title>quiet</title><img src={outside}/img srcset="{outside}/set 2x">
            <link rel=stylesheet href={outside}/css><link rel=preload as=image href={outside}/pre>
            <link rel=prefetch href={outside}/prefetch><link rel=icon href={outside}/icon>
            <style>@import "{outside}/import"; body{{background:url({outside}/url)}}
            @font-face{{font-family:f;src:url({outside}/font)}} p{{font-family:f}}</style>
            <p style="background:url('{outside}/style')">x<video src={outside}/video autoplay></video>
            <audio src={outside}/audio autoplay></audio><iframe src={outside}/frame></iframe>
            <object data={outside}/object></object><embed src={outside}/embed>
            <svg><image href="{outside}/svg"/><use href="{outside}/use#a"/></svg>
            <table background={outside}/table><tr><td></table><input type=image src={outside}/input>
            <form action={outside}/form id=f><input name=q></form><script src={outside}/js></script>
            <iframe srcdoc="<img src='{outside}/srcdoc'>"></iframe>""",
        "connects": f"""<title>quiet</title><link rel=preconnect href={outside}/c1>
            <link rel="dns-prefetch preconnect" href={outside}/c2>
            <link REL='pre&#99;onnect' href={outside}/c3><svg><style><p><link rel=preconnect
            href={outside}/c4></style></svg><svg><title><iframe srcdoc="&lt;link rel=preconnect
            href={outside}/c5&gt;"></iframe></title></svg>
            <link x=\x0b" rel=preconnect href={outside}/c6 y=>
            <link rel rel=preconnect =preconnect href={outside}/c7>
            <link rel integrity=x =preconnect href={outside}/c8>
            <!-- <link x=' --><link rel=preconnect href={outside}/c9>""",
        # The same where a rewriter might lose its way: nothing but the policy holds there.
        "astray": f"""<title>quiet</title><svg><style><p><img src={outside}/astray1></style></svg>
            <script><!--<script></script>--></script><img src={outside}/astray2>
            <!--> <img src={outside}/astray3> --><a title="</title><style>"><img
            src={outside}/astray4><x y='><img src={outside}/astray5>'><img src={outside}/astray6>
            <noscript><style></noscript><img src={outside}/astray7></style>
            <svg><title><iframe src={outside}/astray8></iframe></title></svg>""",
        "frames": f"""<title>quiet</title><iframe src=/inner.html></iframe>
            <iframe src="{interface}/"></iframe><iframe src="javascript:parent.document.title='ran'">
            </iframe><iframe src="data:text/html,<script>top.location='{outside}/data'</script>">
            </iframe><a id=go href="{outside}/top" target=_top>out</a>""",
        "inner.html": f"<title>inner</title><p id=inner>inside<script>top.location='{outside}/inner'"
        "</script>",
        # What scripts try when the reader lets them run.
        "tries": f"""<title>quiet</title><script>
            fetch('{outside}/fetch', {{mode: 'no-cors'}}).catch(function () {{}});
            fetch('{interface}/', {{mode: 'no-cors'}}).catch(function () {{}});
            navigator.sendBeacon('{outside}/beacon');
            new Image().src = '{outside}/image';
            try {{ new WebSocket('{outside}/socket'.replace('http', 'ws')); }} catch (e) {{}}
            try {{ top.location = '{outside}/toplocation'; }} catch (e) {{}}
            document.title = 'ran';
            setTimeout(function () {{ location = '{outside}/location'; }}, 300);
            </script><p>x""",
        # What it finds, told in an attribute.
        "finds": f"""<title>quiet</title><script>
            var told = [];
            function tries(name, act) {{
              try {{ told.push(name + ':' + act()); }} catch (e) {{ told.push(name + ':' + e.name); }}
            }}
            tries('ran', function () {{ return 'yes'; }});
            tries('origin', function () {{ return self.origin; }});
            tries('cookie', function () {{ document.cookie = 'a=b'; return document.cookie; }});
            tries('storage', function () {{ return localStorage.length; }});
            tries('parent', function () {{ return parent.document.title; }});
            tries('worker', function () {{ return navigator.serviceWorker.register('/sw.js'); }});
            tries('popup', function () {{ return window.open('{outside}/popup') === null; }});
            document.documentElement.dataset.told = told.join(' ');
            </script><p>x""",
        "plain": "<title>plain</title><p id=plain>words<a id=go href=title>on</a>"
        f"<img src={outside}/plain.gif>",
    }


def captures(outside: str = OUTSIDE, interface: str = "http://127.0.0.1:8000") -> list[Capture]:
    """Return everything that the archive holds."""
    html = (("Content-Type", "text/html; charset=utf-8"),)
    found = [
        Capture(SITE + name, page.encode("utf-8", "surrogatepass"), START, headers=html)
        for name, page in pages(outside, interface).items()
    ]
    svg = f"<svg xmlns='http://www.w3.org/2000/svg'><script>top.location='{outside}/svgs'</script>"
    svg += f"<image href='{outside}/svgi' xmlns:xlink='http://www.w3.org/1999/xlink'/></svg>"
    evil = (
        ("Content-Type", "text/html\r\nX-Evil: 1"),
        ("Set-Cookie", "stolen=1; Path=/"),
        ("X-Long", "v" * 100_000),
        ("X-Lines", "a\r\nSet-Cookie: b=1\r\n\r\n<script>"),
        ("Bad Name\r\nX-Evil", "1"),
        ("X-Nul", "a\x00b\u202e"),
        ("Location", f"{outside}/not-a-redirect"),
        ("Link", f"<{outside}/header>; rel=preconnect"),
        ("Refresh", f"0;url={outside}/header-refresh"),
        ("Service-Worker-Allowed", "/"),
        ("Access-Control-Allow-Origin", "*"),
        ("Content-Security-Policy", "default-src *"),
        ("Content-Encoding", "gzip"),
        ("Transfer-Encoding", "chunked"),
    )
    others = [
        ("headers", b"<p>words", evil),
        ("svg", svg.encode(), (("Content-Type", "image/svg+xml"),)),
        ("sw.js", b"self.x=1", (("Content-Type", "text/javascript"),)),
        ("type", b"\x00\x01<script>", (("Content-Type", "application/x-evil"),)),
        ("none", b"\x00\x01\x02", ()),
        ("encoding", b"<p>\xd6\xd0\xce\xc4</p>", (("Content-Type", "text/html; charset=evil-8"),)),
        ("rot", b"<p>jbeqf", (("Content-Type", "text/html; charset=rot13"),)),
        ("utf7", b"+ADw-script+AD4-1", (("Content-Type", "text/html; charset=utf-7"),)),
        ("wide", "\ufeff<title>w</title><a href=x>字</a>".encode("utf-16-le"),
         (("Content-Type", "text/html"),)),
        ("megabyte", b"<title>" + b"m\xe2\x80\xae" * 262_144 + b"</title><p>x", html),
        ("huge", b"<p>" + b"larger than may be drawn " * 100_000, html),
        ("open", b"<a href='" + b"<link rel=\"" * 20_000, html),
        ("deep", b"<div>" * 10_000 + b"<a href=/x>y", html),
        ("css", f"@import '{outside}/a';b{{c:url({outside}/d)}}".encode(),
         (("Content-Type", "text/css"),)),
    ]  # fmt: skip
    found += [Capture(SITE + name, body, START, headers=hs) for name, body, hs in others]
    found += [
        Capture(SITE + name, b"moved", START, status=302, headers=(("Location", where),))
        for name, where in (
            ("out", f"{outside}/moved"),
            ("to-script", "javascript:document.title='ran'"),
            ("to-lines", "http://h.test/\r\nX-Evil: 1"),
            ("on", "/plain"),
        )
    ]
    odd = [
        "http://hostile.test/\r\nX-Evil: 1", "http://hostile.test/a\x00b",
        "http://hostile.test/<script>alert(1)</script>", 'http://hostile.test/"onload="x',
        f"http://hostile.test/{RIGHT_TO_LEFT}", "javascript:alert(1)", "http://[bad/",
        "http://hostile.test/?" + "q" * 7_000, "http://hostile.test/%",
    ]  # fmt: skip
    found += [Capture(url, b"<title>odd</title><p>odd", START, headers=html) for url in odd]
    found += [
        Capture(f"{SITE}when{n}", b"<p>x", time, headers=html)
        for n, time in enumerate((-1e12, -1.0, 0.0, 1e18))
    ]
    return found


def make_archive(
    folder: Path, outside: str = OUTSIDE, interface: str = "http://127.0.0.1:8000"
) -> str:
    """Make the archive in a folder and return its URI.

    Captures that the archive itself refuses, for their URL or time, are left out.
    """
    uri = f"sqlite:///{folder / 'hostile.db'}"
    with open_archive(uri) as archive:
        for capture in captures(outside, interface):
            try:
                archive.store(capture)
            except ValueError:
                continue
    return uri
