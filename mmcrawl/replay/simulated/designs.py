"""The HTML of a simulated page: nested tables as in 2003, divisions, landmarks."""

import calendar
import json
from collections.abc import Iterable
from html import escape

from mmcrawl.page.urls import joined_url
from mmcrawl.replay.simulated.config import Dice
from mmcrawl.replay.simulated.layout import Link, Medium, Page
from mmcrawl.replay.simulated.texts import about, fill, paragraphs, prose
from mmcrawl.replay.web import StoredResponse, answer

_BANNER = (
    '<object classid="clsid:D27CDB6E-AE6D-11cf-96B8-444553540000" width="400" height="300">'
    '<param name="movie" value="{0}"><embed src="{0}" width="400" height="300"></embed></object>'
)
# Form → ending of the media file it plays; forms that play from another host have none.
ENDINGS = {
    "swf": "swf",
    "swf-script": "swf",
    "swf-new": "swf",
    "wmv": "wmv",
    "mp3": "mp3",
    "mp3-link": "mp3",
    "rmvb-link": "rmvb",
    "video": "mp4",
    "source": "mp4",
    "audio": "mp3",
}
HOSTED = {
    "hosted-en": "https://www.youtube.com/embed/{id}",
    "hosted-zh": "https://player.bilibili.com/player.html?bvid=BV1{id}",
}
_FORMS = {
    "swf": (
        '<object classid="clsid:D27CDB6E-AE6D-11cf-96B8-444553540000" width="550" height="400">'
        '<param name="movie" value="{ref}"><param name="quality" value="high">'
        '<embed src="{ref}" quality="high" width="550" height="400"'
        ' type="application/x-shockwave-flash"></embed></object>'
    ),
    "swf-script": (
        '<div id="flashbox">{title}</div><script type="text/javascript">\n'
        'swfobject.embedSWF("{ref}", "flashbox", "550", "400", "9.0.0");\n</script>'
    ),
    "swf-new": (
        '<div id="movie">{title}</div><script type="text/javascript">\n'
        'var so = new SWFObject("{ref}", "movie", "600", "450", "8", "#ffffff");\n'
        'so.addParam("wmode", "transparent");\nso.write("movie");\n</script>'
    ),
    "wmv": (
        '<object classid="clsid:6BF52A52-394A-11d3-B153-00C04F79FAA6" width="480" height="360">'
        '<param name="URL" value="{ref}"><param name="autoStart" value="0">'
        '<embed src="{ref}" type="application/x-mplayer2" width="480" height="360"></embed>'
        "</object>"
    ),
    "mp3": '<embed src="{ref}" autostart="false" loop="false" width="300" height="45"></embed>',
    "mp3-link": '<a href="{ref}">{title} (mp3)</a>',
    "rmvb-link": '<a href="{ref}">{title} (rmvb)</a>',
    "video": '<video src="{ref}" controls preload="none" width="640" title="{title}"></video>',
    "source": (
        '<video controls preload="none" width="640"><source src="{ref}" type="video/mp4">'
        "{title}</video>"
    ),
    "audio": '<audio controls><source src="{ref}" type="audio/mpeg">{title}</audio>',
    "hosted": (
        '<iframe src="{ref}" width="640" height="360" title="{title}" allowfullscreen></iframe>'
    ),
}


def anchors(page: Page, links: Iterable[Link], form: str, between: str) -> str:
    """Links one after the other, each put into `form`."""
    return between.join(
        form.format(f'<a href="{escape(page.reference(link.url))}">{escape(link.anchor)}</a>')
        for link in links
    )


def banner(page: Page) -> str:
    """The animation above every page of a site that has one."""
    return _BANNER.format(page.style.banner_swf) if page.style.banner_swf else ""


def keywords(page: Page) -> str:
    """What the page's meta element names as its keywords."""
    lesson = page.lesson
    return escape(",".join((lesson.name, *lesson.words) if lesson else page.keywords))


def embed(page: Page, medium: Medium) -> str:
    """The HTML with which `page` plays or offers `medium`."""
    form = "hosted" if medium.form in HOSTED else medium.form
    return _FORMS[form].format(ref=escape(page.reference(medium.url)), title=escape(medium.title))


def month_table(year: int, month: int) -> str:
    """The HTML of one month's days by week; any year from 1."""
    # The Gregorian calendar repeats after 400 years.
    first, days = calendar.monthrange(2000 + year % 400, month)
    cells = ["<td></td>"] * first + [f"<td>{day}</td>" for day in range(1, days + 1)]
    weeks = "".join(f"<tr>{''.join(cells[n : n + 7])}</tr>" for n in range(0, len(cells), 7))
    head = "".join(f"<th>{day}</th>" for day in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"))
    return f"<table><tr>{head}</tr>{weeks}</table>"


# -- HTML that pages of every design have, and the ways to show media since 1996 ------------------


_TABLE = """<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<html>
<head>
<meta http-equiv="Content-Type" content="text/html; charset={declared}">
<title>{title} - {site}</title>
<meta name="keywords" content="{keywords}">
<meta name="description" content="{title}">
<link href="/style.css" rel="stylesheet" type="text/css">
</head>
<body bgcolor="#FFFFFF" topmargin="0" leftmargin="0">
<table width="778" border="0" align="center" cellpadding="0" cellspacing="0">
<tr><td height="80"><img src="/images/logo.gif" width="180" height="80" alt="{site}">
{banner}</td></tr>
<tr><td bgcolor="#E8F0FF" align="center" class="nav">{nav}</td></tr>
</table>
<table width="778" border="0" align="center" cellpadding="4" cellspacing="0">
<tr><td width="180" valign="top" bgcolor="#F5F5F5">
{left}
</td><td valign="top">
<p align="center"><font size="4" color="#003399"><b>{title}</b></font></p>
{content}
</td></tr>
</table>
<table width="778" border="0" align="center"><tr><td align="center" class="foot">
<hr size="1">版权所有 {site} 联系站长 <a href="mailto:web@wuli.demo.test">web@wuli.demo.test</a><br>
京ICP备05000000号 建议使用1024*768分辨率浏览
</td></tr></table>
</body>
</html>
"""
_COLOURS = ("#cc0000", "#0000ff", "green", "#ff6600")
_TABLE_GROUP = """<table width="100%" border="0" cellspacing="1" cellpadding="2" bgcolor="#99CCFF">
<tr><td bgcolor="#CCE5FF"><font color="{colour}"><b>{title}</b></font></td></tr>
<tr><td bgcolor="#FFFFFF">
{links}
</td></tr></table>
<br>"""

_DIV = """<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" \
"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta http-equiv="Content-Type" content="text/html; charset={declared}" />
<title>{title}_{site}</title>
<meta name="keywords" content="{keywords}" />
<link rel="stylesheet" type="text/css" href="/style.css" />
<script type="text/javascript" src="/js/swfobject.js"></script>
</head>
<body>
<div id="header"><h2>{site}</h2>{banner}
<ul id="nav">{nav}</ul></div>
<div id="wrap">
<div id="main">
<h1>{title}</h1>
<div class="info">{info}</div>
<div class="content">
{content}
</div>
</div>
<div id="side">
{side}
</div>
</div>
<div id="footer"><p>Copyright &copy; 2009 {site} 版权所有</p>
<p>京ICP备05000000号</p></div>
</body>
</html>
"""
_DIV_GROUP = '<div class="box"><h3>{title}</h3>\n<ul>\n{links}\n</ul></div>'

_HTML5 = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="{declared}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} | {site}</title>
<meta name="description" content="{title}{words}">
{linked_data}<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><a href="/">{site}</a><nav><ul>{nav}</ul></nav>{banner}</header>
<main>
<article>
<h1>{title}</h1>
{content}
</article>
{lists}
</main>
<footer><p>&copy; {site}</p></footer>
</body>
</html>
"""
_HTML5_GROUP = '<section><h2>{title}</h2>\n<ul class="links">\n{links}\n</ul></section>'


def respond(page: Page, seed: int) -> StoredResponse:
    """The page in its design and charset; `seed` chooses sentences. UTF-8 may be in the header."""
    make = {"table": _table, "div": _div, "html5": _html5}[page.style.design]
    body = make(page, _text(page, Dice(seed, page.url, "text"))).encode(page.style.charset)
    in_header = "; charset=utf-8" if page.style.charset == "utf-8" else ""
    return answer(200, f"text/html{in_header}", body)


def _text(page: Page, dice: Dice) -> list[str]:
    language = page.style.language
    if page.lesson:
        sentences = about(page.lesson, max(2, page.sentences - 4), language, dice)
    elif page.prose:
        sentences = prose(language)[page.prose].sentences
    else:
        return []
    text = paragraphs(sentences, len(sentences) if page.lesson else page.sentences, language, dice)
    if page.prose == "news" and dice.chance(0.1):
        text.append(fill("物理组的{name}老师为活动拍摄了照片。", language, dice))
    return [escape(paragraph, quote=False) for paragraph in text]


def _filled(template: str, page: Page, nav: str, content: list[str], **more: str) -> str:
    style = page.style
    return template.format(
        declared=style.declared,
        title=escape(page.title),
        site=style.site,
        banner=banner(page),
        nav=nav,
        content="\n".join(filter(None, content)),
        **more,
    )


def _table(page: Page, text: list[str]) -> str:
    """Beside a text the links stand left, without one in the middle."""
    groups = [
        _TABLE_GROUP.format(
            colour=_COLOURS[number % len(_COLOURS)],
            title=escape(group.title),
            links=anchors(page, group.links, "·{}", "<br>\n"),
        )
        for number, group in enumerate(page.groups)
    ]
    content = [f'<div align="center">{embed(page, medium)}</div>' for medium in page.media]
    content += [f"<p>&nbsp;&nbsp;&nbsp;&nbsp;{paragraph}</p>" for paragraph in text]
    content += [page.extra, *([] if text else groups)]
    left = "\n".join(groups if text else [])
    nav = anchors(page, page.style.nav, "{}", " | ")
    return _filled(_TABLE, page, nav, content, keywords=keywords(page), left=left)


def _div(page: Page, text: list[str]) -> str:
    """A page without text has its lists in the middle."""
    boxes = _lists(page, _DIV_GROUP)
    content = [f'<div class="player">{embed(page, medium)}</div>' for medium in page.media]
    content += [f"<p>{paragraph}</p>" for paragraph in text]
    content += [page.extra, *([] if text else boxes)]
    info = "发布：本站编辑 点击：1024" if text else ""
    side = "\n".join(boxes if text else [])
    nav = anchors(page, page.style.nav, "<li>{}</li>", "")
    return _filled(_DIV, page, nav, content, keywords=keywords(page), info=info, side=side)


def _html5(page: Page, text: list[str]) -> str:
    """With linked data about a video."""
    named = page.lesson.words if page.lesson else page.keywords
    content = [f"<figure>{embed(page, medium)}</figure>" for medium in page.media]
    content += [*(f"<p>{paragraph}</p>" for paragraph in text), page.extra]
    return _filled(
        _HTML5,
        page,
        anchors(page, page.style.nav, "<li>{}</li>", ""),
        content,
        language=page.style.language,
        words=escape(": " + ", ".join(named) if named else ""),
        linked_data=_linked_data(page),
        lists="\n".join(_lists(page, _HTML5_GROUP)),
    )


def _linked_data(page: Page) -> str:
    """schema.org and Open Graph, for the pages that hold a video of their own."""
    video = next((medium for medium in page.media if medium.form in ("video", "source")), None)
    if video is None:
        return ""
    address = joined_url(page.url, video.url)
    about = {
        "@context": "https://schema.org",
        "@type": "VideoObject",
        "name": video.title,
        "contentUrl": address,
        "uploadDate": "2019-09-02",
    }
    return (
        f'<meta property="og:video" content="{escape(address)}">\n'
        f'<script type="application/ld+json">{json.dumps(about, ensure_ascii=False)}</script>\n'
    )


def _lists(page: Page, form: str) -> list[str]:
    made = ((one.title, anchors(page, one.links, "<li>{}</li>", "\n")) for one in page.groups)
    return [form.format(title=escape(title), links=links) for title, links in made]
