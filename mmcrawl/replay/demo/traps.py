"""What a crawler falls over: pages without end, sessions, redirects, errors, dead links."""

import calendar
import re
from dataclasses import replace
from hashlib import blake2b
from urllib.parse import parse_qs, urlsplit

import mmcrawl.replay.demo.physics as physics_site
import mmcrawl.replay.demo.wuli as wuli_site
from mmcrawl.replay.demo.designs.choice import respond
from mmcrawl.replay.demo.model import DemoConfig, Group, Link, Page
from mmcrawl.replay.web import StoredResponse, answer, moved

# The last two lead to each other.
REDIRECTS = {
    (wuli_site.HOST, "/wuli/"): f"{wuli_site.ROOT}gaozhong/wuli/",
    (wuli_site.HOST, "/old/a.htm"): f"{wuli_site.ROOT}old/b.htm",
    (wuli_site.HOST, "/old/b.htm"): f"{wuli_site.ROOT}old/a.htm",
}

SESSION = re.compile(r";jsessionid=[0-9a-f]*|(?<=[?&])PHPSESSID=[0-9a-f]*&?")
FIRST_YEAR, LAST_YEAR = 1, 999_999
WEEKDAYS = "Mon Tue Wed Thu Fri Sat Sun"


def answer_trap(key: tuple[str, str], config: DemoConfig) -> StoredResponse | None:
    """What stands at this host and path; None if it is no trap."""
    host, path = key
    if key in REDIRECTS:
        return moved(REDIRECTS[key])
    if host == wuli_site.HOST and path.partition("?")[0] == "/search.asp":
        page = "<html><body>Microsoft VBScript 运行时错误 '800a000d' 类型不匹配</body></html>"
        return answer(500, "text/html", page.encode("gbk"))
    if host == physics_site.HOST and path.startswith("/calendar?"):
        return _calendar(path, config)
    return None


def without_session(url: str) -> str:
    """The URL without the session ids of the demo web."""
    return SESSION.sub("", url).rstrip("?&")


def with_sessions(page: Page, requested: str, config: DemoConfig) -> Page:
    """The page with a session id, new for each URL asked for, on the links to its directory."""
    if not page.session:
        return page
    session = blake2b(f"{config.seed} {requested}".encode(), digest_size=8).hexdigest()
    directory = page.url.rpartition("/")[0] + "/"

    def marked(link: Link) -> Link:
        if not link.url.startswith(directory):
            return link
        if page.session == "jsessionid":
            return Link(f"{link.url};jsessionid={session}", link.anchor)
        mark = "&" if "?" in link.url else "?"
        return Link(f"{link.url}{mark}PHPSESSID={session}", link.anchor)

    groups = tuple(Group(group.title, tuple(map(marked, group.links))) for group in page.groups)
    return replace(page, groups=groups)


def month_table(year: int, month: int) -> str:
    """The HTML of one month's days by week; any year from 1."""
    # The Gregorian calendar repeats after 400 years.
    first, days = calendar.monthrange(2000 + year % 400, month)
    cells = ["<td></td>"] * first + [f"<td>{day}</td>" for day in range(1, days + 1)]
    weeks = "".join(f"<tr>{''.join(cells[n : n + 7])}</tr>" for n in range(0, len(cells), 7))
    head = "".join(f"<th>{day}</th>" for day in WEEKDAYS.split())
    return f"<table><tr>{head}</tr>{weeks}</table>"


def _calendar(path: str, config: DemoConfig) -> StoredResponse | None:
    """A month with links to the one before and the one after, for very many years."""
    query = parse_qs(urlsplit(path).query)
    try:
        year, month = int(query["year"][0]), int(query["month"][0])
    except (KeyError, ValueError):
        return None
    if not (FIRST_YEAR <= year <= LAST_YEAR and 1 <= month <= 12):
        return None
    turning = tuple(
        Link(f"{physics_site.ROOT}calendar?year={y}&month={m}", anchor)
        for y, m, anchor in (
            (year - (month == 1), (month - 2) % 12 + 1, "Previous month"),
            (year + (month == 12), month % 12 + 1, "Next month"),
        )
        if FIRST_YEAR <= y <= LAST_YEAR
    )
    page = Page(
        f"{physics_site.ROOT}calendar?year={year}&month={month}",
        f"Calendar {year}-{month:02}",
        physics_site.STYLE,
        groups=(Group("Turn the page", turning),),
        extra=month_table(year, month),
    )
    return respond(page, config.seed)
