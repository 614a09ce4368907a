"""HTML that pages of every design have, and the ways in which they have shown media since 1996."""

import calendar
from collections.abc import Iterable
from html import escape

from mmcrawl.replay.simulated.model import Link, Medium, Page

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
