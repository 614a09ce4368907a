"""HTML that pages of every dress have."""

from html import escape

from mmcrawl.replay.demo.model import Link, Page

BANNER = (
    '<object classid="clsid:D27CDB6E-AE6D-11cf-96B8-444553540000" width="590" height="80">'
    '<param name="movie" value="{0}"><embed src="{0}" width="590" height="80"></embed></object>'
)


def anchor(page: Page, link: Link) -> str:
    return f'<a href="{escape(page.reference(link.url))}">{escape(link.anchor)}</a>'


def banner(page: Page) -> str:
    """The animation above every page of a site that has one."""
    return BANNER.format(page.style.banner_swf) if page.style.banner_swf else ""


def keywords(page: Page) -> str:
    """What the page's meta element names as its keywords."""
    lesson = page.lesson
    return escape(",".join((lesson.name, *lesson.words) if lesson else page.keywords))


def meta_robots(page: Page) -> str:
    return f'<meta name="robots" content="{page.robots}">\n' if page.robots else ""
