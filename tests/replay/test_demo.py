import hashlib
import os
import re
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Iterator
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parsel import Selector
from scrapy.robotstxt import ProtegoRobotParser

from mmcrawl.replay import DemoConfig, DemoWeb, StoredResponse
from mmcrawl.replay.demo import REDIRECTS, lessons

# Of all pages. It changes with their texts, never with the machine or the version of Python.
KNOWN_DIGEST = "1d92cd5e13364f9209caa0735055f3b2c2192b0d4497525ad13007e480187eee"
DIGEST = """
import hashlib
from mmcrawl.replay import DemoWeb
web = DemoWeb()
digest = hashlib.sha256()
for url in web.page_urls():
    digest.update(url.encode() + web.get(url).body)
print(digest.hexdigest(), len(web.relevant_urls()))
"""
LINKS = "//a/@href | //area/@href | //frame/@src | //iframe/@src | //embed/@src | //source/@src"
FILES = "//img/@src | //script/@src | //link/@href | //video/@src | //param[@name='movie']/@value"
POPUP = re.compile(r"window\.open\('([^']+)'")
PLAYERS = {"www.youtube.com", "player.bilibili.com"}
WULI = "http://wuli.demo.test/"
DEAD_LINKS = {f"{WULI}gaozhong/wuli/kejian/kj999.htm", f"{WULI}dating/"}
PHYSICS = "http://physics.demo.test/"


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb()


def fetch(web: DemoWeb, url: str) -> StoredResponse:
    response = web.get(url)
    assert response is not None, url
    return response


def text_of(response: StoredResponse) -> str:
    return response.body.decode("gbk" if b"charset=gb2312" in response.body else "utf-8")


def references(url: str, response: StoredResponse, xpath: str) -> Iterator[str]:
    for value in Selector(text_of(response)).xpath(xpath).getall():
        popup = POPUP.search(value)
        if popup or not value.startswith(("javascript:", "mailto:")):
            yield urljoin(url, popup[1] if popup else value)


def endless(url: str) -> bool:
    return "/calendar?" in url or "PHPSESSID=" in url or ";jsessionid=" in url


def directory(url: str) -> str:
    parts = [part for part in urlsplit(url).path.split("/") if part]
    return urlsplit(url).netloc + "/" + "/".join(parts[:-1])


def test_it_has_a_few_hundred_pages_and_all_answer(web: DemoWeb) -> None:
    urls = web.page_urls()
    assert 300 <= len(urls) <= 500
    assert len(set(urls)) == len(urls)
    assert all(fetch(web, url).status == 200 for url in urls)
    assert set(web.start_urls()) <= set(urls)


def test_the_same_configuration_gives_the_same_bytes_everywhere(web: DemoWeb) -> None:
    digest = hashlib.sha256()
    for url in web.page_urls():
        digest.update(url.encode() + fetch(web, url).body)
    assert digest.hexdigest() == KNOWN_DIGEST
    here = f"{digest.hexdigest()} {len(web.relevant_urls())}"
    other = DemoWeb()
    for url in reversed(web.page_urls()):  # the order of asking makes no difference
        assert fetch(other, url) == fetch(web, url)
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.getcwd()}
        there = subprocess.run(
            [sys.executable, "-c", DIGEST], env=environment, capture_output=True, check=True
        )
        assert there.stdout.decode().strip() == here


def test_another_seed_gives_another_web_of_the_same_shape(web: DemoWeb) -> None:
    other = DemoWeb(DemoConfig(seed=1))
    assert len(other.page_urls()) == len(web.page_urls())
    url = f"{WULI}gaozhong/wuli/donghua/"
    assert fetch(other, url).body != fetch(web, url).body


def test_every_link_resolves_or_is_meant_to_be_dead(web: DemoWeb) -> None:
    statuses: dict[int, set[str]] = {}
    for page in web.page_urls():
        response = fetch(web, page)
        for url in references(page, response, f"{LINKS} | {FILES}"):
            if urlsplit(url).netloc in PLAYERS:
                assert web.get(url) is None
            else:
                statuses.setdefault(fetch(web, url).status, set()).add(url)
    assert statuses[404] == DEAD_LINKS
    assert statuses[500] == {f"{WULI}search.asp?q="}
    assert statuses[301] == {f"{WULI}wuli/", f"{WULI}old/a.htm"}
    assert set(statuses) == {200, 301, 404, 500}


def robots_of(web: DemoWeb) -> dict[str, ProtegoRobotParser]:
    hosts = {urlsplit(url).netloc for url in web.page_urls()}
    files = {host: fetch(web, f"http://{host}/robots.txt") for host in hosts}
    return {
        host: ProtegoRobotParser(answer.body, None)
        for host, answer in files.items()
        if answer.status == 200
    }


def crawl(web: DemoWeb) -> dict[str, int]:
    """Clicks from the start pages to everything a polite crawler can reach."""
    robots = robots_of(web)
    clicks = dict.fromkeys(web.start_urls(), 0)
    waiting = deque(clicks)
    while waiting:
        url = waiting.popleft()
        response = fetch(web, url)
        if response.status == 301:
            found = [response.header("Location") or ""]
        elif response.status != 200 or b'content="nofollow"' in response.body:
            continue
        elif response.header(
            "Content-Type",
        ).startswith("text/html"):
            found = list(references(url, response, LINKS))
        else:
            continue
        for target in found:
            host = urlsplit(target).netloc
            parser = robots.get(host)
            allowed = parser is None or parser.allowed(target, "mmcrawl")
            if target not in clicks and allowed and host not in PLAYERS and not endless(target):
                clicks[target] = clicks[url] + (response.status == 200)
                waiting.append(target)
    return clicks


def test_relevant_pages_are_reached_without_what_robots_txt_forbids(web: DemoWeb) -> None:
    clicks = crawl(web)
    assert web.relevant_urls() <= clicks.keys()
    assert not any("/neibu/" in url or "/drafts/" in url for url in clicks)
    assert any("/neibu/" in url for url in web.page_urls())
    assert max(clicks[url] for url in web.relevant_urls()) >= 5


@pytest.mark.parametrize("tunnel", [0, 1, 3, 8])
def test_the_videos_lie_behind_a_tunnel_of_the_length_asked_for(tunnel: int) -> None:
    clicks = crawl(DemoWeb(DemoConfig(tunnel=tunnel)))
    assert clicks[f"{WULI}shipin/"] - clicks[f"{WULI}xuexiao/"] == tunnel + 1


def test_relevant_pages_are_about_physics_and_hold_media_of_their_own(web: DemoWeb) -> None:
    names = [lesson.name for language in ("zh", "en") for lesson in lessons(language)]
    assert len(web.relevant_urls()) >= 60
    for url in web.relevant_urls():
        page = text_of(fetch(web, url)).replace("/images/welcome.swf", "")
        assert any(name in page for name in names)
        assert re.search(
            r"<(embed|video|audio|iframe|object)|SWFObject|embedSWF|\.(mp3|rmvb)", page
        )


def test_pages_off_the_topic_have_at_most_one_word_of_it(web: DemoWeb) -> None:
    words = {
        word for language in ("zh", "en") for lesson in lessons(language) for word in lesson.words
    }
    words |= {lesson.name for language in ("zh", "en") for lesson in lessons(language)}
    words -= {"系统", "做功", "range", "force", "work", "power", "period", "charge", "lens", "mass"}
    off_topic = re.compile(
        r"/(xinwen|xuexiao|luntan|yuwen|lishi|yingyu|blog/2009|about|library|zuofa|singles)/."
    )
    pages = [url for url in web.page_urls() if off_topic.search(url)]
    assert len(pages) > 100
    mentions = 0
    for url in pages:
        text = " ".join(Selector(text_of(fetch(web, url))).xpath("//p//text()").getall()).lower()
        found = [
            word
            for word in words
            if re.search(rf"(?<![a-z]){re.escape(word.lower())}(?![a-z])", text)
        ]
        assert not found, (url, found)
        assert text.count("物理") + text.count("physics") <= 1
        mentions += text.count("物理")
    assert mentions >= 1


def test_media_are_concentrated_in_few_directories(web: DemoWeb) -> None:
    relevant = web.relevant_urls()
    counts = Counter(map(directory, relevant))
    pages = Counter(map(directory, web.page_urls()))
    assert sum(count for _, count in counts.most_common(8)) >= 0.85 * len(relevant)
    assert sum(pages[name] for name, _ in counts.most_common(8)) <= 0.4 * len(web.page_urls())


def test_media_off_the_topic_and_the_banner_do_not_count(web: DemoWeb) -> None:
    relevant = web.relevant_urls()
    singles = [url for url in web.page_urls() if "/singles/" in url]
    assert any(b"<audio" in fetch(web, url).body for url in singles)
    assert not relevant.intersection(singles)
    old = [url for url in web.page_urls() if "/gaozhong/" in url and "yanshi" not in url]
    assert all(b"/images/welcome.swf" in fetch(web, url).body for url in old)
    assert not [url for url in relevant if "/yuwen/" in url or "/neibu/" in url]


def test_numbers_of_the_configuration_change_what_they_name() -> None:
    larger = DemoWeb(DemoConfig(size=2.0))
    assert len(larger.page_urls()) > 1.7 * len(DemoWeb().page_urls())
    full = DemoWeb(DemoConfig(media_share=1.0, stray_share=0.0)).relevant_urls()
    assert {url for url in full if "/jiaoan/" in url} == set()
    assert len([url for url in full if "/donghua/" in url]) == 26
    for wrong in ({"size": 0}, {"media_share": 1.1}, {"tunnel": 9}, {"stray_share": -0.1}):
        with pytest.raises(ValueError):
            DemoConfig(**wrong)


def test_one_page_claims_gb2312_and_needs_gbk(web: DemoWeb) -> None:
    mislabelled = []
    for url in web.page_urls():
        body = fetch(web, url).body
        if b"charset=gb2312" not in body:
            body.decode("utf-8")
            continue
        body.decode("gbk")
        try:
            body.decode("gb2312")
        except UnicodeDecodeError:
            mislabelled.append(url)
    assert mislabelled == [f"{WULI}xuexiao/mingshi.htm"]


def test_both_charsets_have_their_part_of_the_site(web: DemoWeb) -> None:
    old, new = fetch(web, f"{WULI}gaozhong/"), fetch(web, f"{WULI}xinwen/")
    assert old.header("Content-Type") == "text/html"
    assert "高中各科" in old.body.decode("gbk")
    assert new.header("Content-Type") == "text/html; charset=utf-8"


def test_the_calendar_has_no_end(web: DemoWeb) -> None:
    url, seen = f"{PHYSICS}calendar?year=2009&month=9", set()
    for _ in range(200):
        seen.add(url)
        turning = references(url, fetch(web, url), "//a[contains(., 'Next')]/@href")
        url = next(turning)
    assert len(seen) == 200
    assert url.endswith("year=2026&month=5")
    for query in ("year=0&month=1", "year=2009&month=13", "year=x&month=1", "month=1", ""):
        assert fetch(web, f"{PHYSICS}calendar?{query}").status == 404
    first = fetch(web, f"{PHYSICS}calendar?year=1&month=1")
    assert "year=0" not in unescape(text_of(first))


@pytest.mark.parametrize("start", [f"{WULI}luntan/", "http://shop.demo.test/gouwuche/"])
def test_sessions_give_every_page_endless_new_addresses(web: DemoWeb, start: str) -> None:
    url, plain = start, set()
    for _ in range(20):
        links = [u for u in references(url, fetch(web, url), "//a/@href") if endless(u)]
        url = links[0]
        assert fetch(web, url).status == 200
        plain.add(url)
    assert len(plain) == 20


def test_redirects_lead_on_or_round_in_a_circle(web: DemoWeb) -> None:
    assert fetch(web, f"{WULI}wuli/").header("Location") == f"{WULI}gaozhong/wuli/"
    assert fetch(web, f"{WULI}gaozhong/wuli").header("Location") == f"{WULI}gaozhong/wuli/"
    a, b = f"{WULI}old/a.htm", f"{WULI}old/b.htm"
    assert (fetch(web, a).header("Location"), fetch(web, b).header("Location")) == (b, a)
    assert len(REDIRECTS) == 3
    moved = fetch(web, "https://WWW.wuli.demo.test/xinwen/?x=1")
    assert moved.header("Location") == "https://wuli.demo.test/xinwen/?x=1"
    assert web.aliases()["www.wuli.demo.test"] == "wuli.demo.test"


def test_its_oddities_are_there(web: DemoWeb) -> None:
    pages = {url: text_of(fetch(web, url)) for url in web.page_urls()}
    for sign in ("<frameset", "<area", "window.open(", 'content="nofollow"', "ld+json", "og:video"):
        assert any(sign in page for page in pages.values()), sign
    assert any("show.asp?id=" in url for url in web.relevant_urls())


@pytest.mark.parametrize(
    ("element", "kind"),
    [
        ("//audio/source/@src", "audio/"),
        ("//video/@src | //video/source/@src", "video/"),
        ("//embed/@src[contains(., 'mp3')]", "audio/"),
        ("//param[@name='URL']/@value", "video/"),
    ],
)
def test_elements_play_files_of_their_kind(web: DemoWeb, element: str, kind: str) -> None:
    pages = web.relevant_urls() | {url for url in web.page_urls() if "/yuwen/" in url}
    files = {u for url in pages for u in references(url, fetch(web, url), element)}
    assert files
    assert all((fetch(web, url).header("Content-Type") or "").startswith(kind) for url in files)


def test_media_files_answer_with_their_type(web: DemoWeb) -> None:
    pages = [url for url in sorted(web.relevant_urls()) if "/donghua/" in url]
    films = (u for url in pages for u in references(url, fetch(web, url), "//embed/@src"))
    film = next(url for url in films if "welcome" not in url)
    head = fetch(web, film)
    assert head.header("Content-Type") == "application/x-shockwave-flash"
    answer = web.get(film, "HEAD")
    assert answer is not None
    assert answer.body == b""
    assert answer.headers == head.headers


@given(
    st.one_of(
        st.text(), st.text().map(WULI.__add__), st.text().map((PHYSICS + "calendar?").__add__)
    )
)
def test_any_url_is_answered(web: DemoWeb, url: str) -> None:
    web.get(url)
