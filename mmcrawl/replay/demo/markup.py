"""HTML that pages of every dress have."""

from html import escape

from mmcrawl.replay.demo.model import Link, Page

__all__ = ["anchor", "keywords", "meta_robots"]


def anchor(page: Page, link: Link) -> str:
    return f'<a href="{escape(page.reference(link.url))}">{escape(link.anchor)}</a>'


def keywords(page: Page) -> str:
    """What the page's meta element names as its keywords."""
    return escape(",".join((page.lesson.name, *page.lesson.words) if page.lesson else ()))


def meta_robots(page: Page) -> str:
    return f'<meta name="robots" content="{page.robots}">\n' if page.robots else ""
