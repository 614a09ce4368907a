"""Pages as they are written today: landmarks, HTML5 media, linked data about a video."""

import json
from html import escape

from mmcrawl.page.urls import joined_url
from mmcrawl.replay.demo.markup import anchor, banner, embed, meta_robots
from mmcrawl.replay.demo.model import Group, Page

PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="{declared}">
<meta name="viewport" content="width=device-width, initial-scale=1">
{robots}<title>{title} | {site}</title>
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

LIST = '<section><h2>{title}</h2>\n<ul class="links">\n{links}\n</ul></section>'
OPEN_GRAPH = '<meta property="og:video" content="{0}">\n'
LINKED_DATA = '<script type="application/ld+json">{0}</script>\n'
VIDEOS = ("video", "source")


def page(page: Page, text: list[str]) -> str:
    style = page.style
    named = page.lesson.words if page.lesson else page.keywords
    words = ": " + ", ".join(named) if named else ""
    media = [f"<figure>{embed(page, medium)}</figure>" for medium in page.media]
    body = [f"<p>{paragraph}</p>" for paragraph in text]
    return PAGE.format(
        language=style.language,
        declared=style.declared,
        robots=meta_robots(page),
        title=escape(page.title),
        words=escape(words),
        site=style.site,
        linked_data=_linked_data(page),
        banner=banner(page),
        nav="".join(f"<li>{anchor(page, link)}</li>" for link in style.nav),
        content="\n".join(filter(None, [*media, *body, page.extra])),
        lists="\n".join(_list(page, group) for group in page.groups),
    )


def _linked_data(page: Page) -> str:
    """schema.org and Open Graph, for the pages that hold a video of their own."""
    video = next((medium for medium in page.media if medium.form in VIDEOS), None)
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
    data = json.dumps(about, ensure_ascii=False)
    return OPEN_GRAPH.format(escape(address)) + LINKED_DATA.format(data)


def _list(page: Page, group: Group) -> str:
    links = "\n".join(f"<li>{anchor(page, link)}</li>" for link in group.links)
    return LIST.format(title=escape(group.title), links=links)
