"""Pages as Chinese school sites of 2003 wrote them: nested tables, font tags, coloured titles."""

from html import escape

from mmcrawl.replay.demo.markup import anchor, banner, embed, keywords, meta_robots
from mmcrawl.replay.demo.model import Group, Page

COLOURS = ("#cc0000", "#0000ff", "green", "#ff6600")

PAGE = """<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<html>
<head>
<meta http-equiv="Content-Type" content="text/html; charset={declared}">
{robots}<title>{title} - {site}</title>
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

GROUP = """<table width="100%" border="0" cellspacing="1" cellpadding="2" bgcolor="#99CCFF">
<tr><td bgcolor="#CCE5FF"><font color="{colour}"><b>{title}</b></font></td></tr>
<tr><td bgcolor="#FFFFFF">
{links}
</td></tr></table>
<br>"""

FRAMESET = """<html>
<head><meta http-equiv="Content-Type" content="text/html; charset={declared}">
<title>{title}</title></head>
<frameset cols="180,*" border="0">
{frames}
<noframes><body>本页使用了框架：{links}</body></noframes>
</frameset>
</html>
"""


def page(page: Page, text: list[str]) -> str:
    """The whole page; beside a text the links stand left, without one in the middle."""
    style = page.style
    wide = [] if text else list(page.groups)
    narrow = list(page.groups) if text else []
    body = [f"<p>&nbsp;&nbsp;&nbsp;&nbsp;{paragraph}</p>" for paragraph in text]
    media = [f'<div align="center">{embed(page, medium)}</div>' for medium in page.media]
    content = [*media, *body, page.extra, *(_group(page, n, g) for n, g in enumerate(wide))]
    return PAGE.format(
        declared=style.declared,
        robots=meta_robots(page),
        title=escape(page.title),
        keywords=keywords(page),
        site=style.site,
        banner=banner(page),
        nav=" | ".join(anchor(page, link) for link in style.nav),
        left="\n".join(_group(page, n, group) for n, group in enumerate(narrow)),
        content="\n".join(filter(None, content)),
    )


def frameset(page: Page, text: list[str]) -> str:
    """A page that only says which pages to show side by side."""
    frames = "\n".join(
        f'<frame src="{escape(page.reference(link.url))}" name="{link.anchor}">'
        for link in page.frames
    )
    return FRAMESET.format(
        declared=page.style.declared,
        title=escape(page.title),
        frames=frames,
        links=" ".join(anchor(page, link) for link in page.frames),
    )


def _group(page: Page, number: int, group: Group) -> str:
    links = "<br>\n".join("·" + anchor(page, link) for link in group.links)
    colour = COLOURS[number % len(COLOURS)]
    return GROUP.format(colour=colour, title=escape(group.title), links=links)
