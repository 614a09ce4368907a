"""Which pages are taken for empty shells, and when a host is given up."""

from mmcrawl.page import Link, MediaResource, Page, parse_page
from mmcrawl.page.lists import Choice, is_shell
from tests.tables import each

URL = "http://h.test/"
SCRIPT = '<script src="/static/app.js"></script>'
TEXT = "<p>The lever is one of the simple machines.</p>" * 12
MENU = "".join(f'<a href="/{n}">Menu {n}</a> ' for n in range(8))


def parsed(html: str) -> tuple[Page, bytes]:
    body = html.encode()
    return parse_page(body, URL, "text/html; charset=utf-8"), body


@each(
    "html",
    [
        f'<title>x</title><div id="root"></div>{SCRIPT}',
        f"<div id=__next><!-- here --></div>{MENU}{SCRIPT}",
        f"<noscript>You need to enable JavaScript to run this app.</noscript>{SCRIPT}",
        f"<noscript><p>请启用脚本</p></noscript>{MENU}{SCRIPT}",
        f"<p>Loading …</p>{SCRIPT}",
    ],
)
def test_what_says_nothing_without_its_scripts_is_a_shell(html: str) -> None:
    assert is_shell(*parsed(html))


@each(
    "html",
    [
        "<p>Nothing here yet.</p>",  # and no script that could change it
        f'<div id="root"></div>{TEXT}{SCRIPT}',
        f"<noscript>JavaScript is off</noscript>{TEXT}{SCRIPT}",
        f"{MENU}{SCRIPT}",  # short, but it leads on
        f'<video src="a.mp4"></video>{SCRIPT}',
    ],
)
def test_what_can_be_read_as_it_is_is_none(html: str) -> None:
    assert not is_shell(*parsed(html))


def test_a_host_whose_shells_gain_nothing_is_left_alone() -> None:
    shell = parsed(f'<div id="root"></div>{SCRIPT}')
    choice = Choice(100)
    for _ in range(3):
        assert choice.chooses("dull.test", *shell)
        assert not choice.note("dull.test", shell[0], shell[0])
    assert not choice.chooses("dull.test", *shell)
    assert choice.chooses("other.test", *shell)


def test_a_host_is_not_judged_by_pages_that_are_still_being_rendered() -> None:
    shell = parsed(f'<div id="root"></div>{SCRIPT}')
    choice = Choice(100)
    assert all(choice.chooses("slow.test", *shell) for _ in range(5))
    for _ in range(3):
        choice.failed("slow.test")
    assert not choice.chooses("slow.test", *shell)


def test_a_host_with_gains_is_rendered_up_to_the_bound() -> None:
    shell, body = parsed(f'<div id="root"></div>{SCRIPT}')
    choice = Choice(5)
    film = Page(URL, media=(MediaResource("http://h.test/a.mp4", "video", "video"),))
    chosen = 0
    for number in range(9):
        if choice.chooses("h.test", shell, body):
            chosen += 1
            assert choice.note("h.test", shell, film if number == 2 else shell) == (number == 2)
    assert chosen == choice.rendered == 5


def test_every_page_is_chosen_if_that_is_asked_for_and_a_link_more_is_a_gain() -> None:
    choice = Choice(2, every=True)
    page, body = parsed(TEXT)
    assert [choice.chooses("h.test", page, body) for _ in range(3)] == [True, True, False]
    one = Page(URL, links=(Link("http://h.test/a", "a", "a"),))
    assert choice.note("h.test", Page(URL), one)
    assert not choice.note("h.test", one, Page(URL))
