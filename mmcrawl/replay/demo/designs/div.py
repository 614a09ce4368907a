"""Pages as Chinese sites of 2009 wrote them: XHTML, divisions with a heading and a list."""

from html import escape

from mmcrawl.replay.demo.markup import anchor, banner, embed, keywords, meta_robots
from mmcrawl.replay.demo.model import Group, Page

PAGE = """<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" \
"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta http-equiv="Content-Type" content="text/html; charset={declared}" />
{robots}<title>{title}_{site}</title>
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

BOX = '<div class="box"><h3>{title}</h3>\n<ul>\n{links}\n</ul></div>'


def page(page: Page, text: list[str]) -> str:
    """The whole page; a page without text has its lists in the middle."""
    style = page.style
    boxes = [_box(page, group) for group in page.groups]
    media = [f'<div class="player">{embed(page, medium)}</div>' for medium in page.media]
    body = [f"<p>{paragraph}</p>" for paragraph in text]
    content = [*media, *body, page.extra, *([] if text else boxes)]
    return PAGE.format(
        declared=style.declared,
        robots=meta_robots(page),
        title=escape(page.title),
        keywords=keywords(page),
        site=style.site,
        banner=banner(page),
        nav="".join(f"<li>{anchor(page, link)}</li>" for link in style.nav),
        info="发布：本站编辑 点击：1024" if text else "",
        content="\n".join(filter(None, content)),
        side="\n".join(boxes if text else []),
    )


def _box(page: Page, group: Group) -> str:
    links = "\n".join(f"<li>{anchor(page, link)}</li>" for link in group.links)
    return BOX.format(title=escape(group.title), links=links)
