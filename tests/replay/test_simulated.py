import gc
import hashlib
import random
import re
import tracemalloc
from collections import Counter, deque
from urllib.parse import urlsplit

from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from mmcrawl.crawl import FetchedPage, FocusedParams
from mmcrawl.engine import make_job
from mmcrawl.frontier import NewLink, page_digest
from mmcrawl.page import Page, parse_page
from mmcrawl.replay import SimulatedWeb, SimulationConfig, open_web
from mmcrawl.replay.simulated import item, lessons
from tests.replay.fetching import fetch
from tests.tables import each

DEAD = re.compile(r"/old[1-3]\.htm")
PLAYERS = {"www.youtube.com", "player.bilibili.com"}
SMALL = "pages=600,sites=3"


def simulated(parameters: str) -> SimulatedWeb:
    return SimulatedWeb(SimulationConfig.parse(parameters))


def page_at(web: SimulatedWeb, url: str) -> Page:
    response = fetch(web, url)
    return parse_page(response.body, url, response.header("Content-Type") or "")


def directory(url: str) -> str:
    return url.rpartition("/")[0]


def crawl(web: SimulatedWeb) -> tuple[dict[str, int], dict[str, int]]:
    """Clicks from the start pages to every page, and the status of everything asked for."""
    clicks = dict.fromkeys(web.start_urls(), 0)
    statuses: dict[str, int] = {}
    waiting = deque(clicks)
    while waiting:
        url = waiting.popleft()
        response = fetch(web, url)
        statuses[url] = response.status
        found = [response.header("Location") or ""] if response.status == 301 else []
        if response.status == 200:
            found = [link.url for link in page_at(web, url).links]
        for target in found:
            if target not in clicks:
                clicks[target] = clicks[url] + (response.status == 200)
                waiting.append(target)
    return {url: n for url, n in clicks.items() if statuses[url] == 200}, statuses


def found_by_a_full_crawl(spec: str) -> set[str]:
    """The media pages that a crawl in order of discovery ends with, without its bound on shapes."""
    web = open_web(spec)
    args = FocusedParams(algo="breadth", topic="physics-senior", web=spec, store="memory:")
    job = make_job(args, Settings({"MMCRAWL_BARREN_PAGES_PER_SHAPE": 0}), web)
    while (link := job.next()) is not None:
        response = fetch(web, link.url)
        if response.status == 301:
            location = response.header("Location") or ""
            job.redirected(link.id, NewLink(location, logical_layer=link.logical_layer))
        elif response.status == 200:
            page = parse_page(response.body, link.url, response.header("Content-Type") or "")
            digest = page_digest(link.url, response.body)
            verdict = job.judge(page, digest)
            job.crawled(link.id, FetchedPage(page, digest=digest, verdict=verdict))
        else:
            job.failed(link.id, str(response.status))
    found = {record.url for record in job.findings.media_pages()}
    job.store.close()
    return found


@each(
    "parameters",
    [
        "pages=60,sites=1,adjacency=1,tunnel=10,dynamic=1",
        "pages=100,sites=2,adjacency=0,media=0.5,noise=1,banner=1,languages=zh",
    ],
)
def test_a_full_crawl_finds_what_the_generator_says_is_relevant(parameters: str) -> None:
    web = simulated(parameters)
    found = found_by_a_full_crawl(f"sim:{parameters}")
    assert found == web.relevant_urls()


def test_all_pages_are_reached_and_every_other_link_is_dead_on_purpose() -> None:
    web = simulated("pages=250,noise=1,flat=0.5,menu=9")
    urls = list(web.page_urls())
    assert len(urls) == len(set(urls)) == 250
    clicks, statuses = crawl(web)
    assert clicks.keys() == set(urls)
    assert {urlsplit(url).path for url, status in statuses.items() if status == 301} == {
        "/index.asp",
        "/old/",
    }
    assert set(statuses.values()) == {200, 301, 404}
    assert all(DEAD.search(url) for url, status in statuses.items() if status == 404)
    media = [one.url for url in urls[::5] for one in page_at(web, url).media]
    for url in (one for one in media if urlsplit(one).netloc not in PLAYERS):
        assert fetch(web, url).status == 200, url
        assert "text/html" not in (fetch(web, url).header("Content-Type") or "")


KEPT = {
    SMALL: "46cdb939f891",
    "pages=120,sites=1,adjacency=1,tunnel=10,dynamic=1": "b42bde344325",
    "pages=100,sites=2,adjacency=0,media=0.5,noise=1,banner=1,languages=zh": "919eff140b64",
    "pages=100,flat=0.5,menu=20,languages=en,tunnel=0,noise=0,sites=1,seed=7": "ecaea2eb495e",
}
"""Digests of webs: experiments that name a web by its parameters are to mean the same one."""


@each("parameters, kept", KEPT.items())
def test_the_same_parameters_give_the_same_web_in_every_version(parameters: str, kept: str) -> None:
    web, told = simulated(parameters), hashlib.sha256()
    relevant = web.relevant_urls()
    for url in web.page_urls():
        page = fetch(web, url)
        told.update(f"{url} {url in relevant} {page.header('Content-Type')}".encode() + page.body)
    assert told.hexdigest()[:12] == kept
    asked_first = simulated(parameters)
    assert fetch(asked_first, url) == page  # whatever was asked for before


def test_another_seed_gives_another_web() -> None:
    one, two = simulated(f"{SMALL},seed=1"), simulated(f"{SMALL},seed=2")
    assert not set(one.page_urls()) & set(two.page_urls())
    paths = [{urlsplit(url).path for url in web.relevant_urls()} for web in (one, two)]
    assert paths[0] != paths[1]


def fullest(web: SimulatedWeb) -> float:
    """Share of the relevant pages that lie in the fifth of the pages with most of them."""
    relevant = Counter(map(directory, web.relevant_urls()))
    pages = Counter(map(directory, web.page_urls()))
    covered = held = 0
    for name in sorted(pages, key=lambda name: -relevant[name] / pages[name]):
        if covered + pages[name] > sum(pages.values()) / 5:
            break
        covered += pages[name]
        held += relevant[name]
    return held / sum(relevant.values())


def dynamic(web: SimulatedWeb) -> float:
    items = [url for url in web.page_urls() if not re.search("calendar|zhuanti", url)]
    folders = {directory(url) for url in items if url.count("/") > 3}
    return len({directory(url) for url in items if "show.asp?id=" in url}) / len(folders)


def relevant_pages(web: SimulatedWeb) -> float:
    return len(web.relevant_urls()) / 2_000


def off_topic(web: SimulatedWeb) -> float:
    """Share of the cross links of relevant pages that lead to others."""
    relevant = web.relevant_urls()
    pages = [page_at(web, url) for url in sorted(relevant)]
    related = [
        link.url not in relevant
        for page in pages
        for link in page.links
        if page.groups[link.group].title in ("Related", "相关内容")
    ]
    return sum(related) / len(related)


@each(
    "parameters, measure, least, most",
    [
        ("pages=5000,adjacency=0", fullest, 0, 0.35),
        ("pages=5000,adjacency=1", fullest, 1, 1),
        ("pages=4000,sites=9,dynamic=0.3", dynamic, 0.18, 0.42),
        ("pages=500,adjacency=1,noise=0", off_topic, 0, 0.35),  # a directory may have no others
        ("pages=500,adjacency=1,noise=1", off_topic, 1, 1),
        ("pages=2000,media=0.5,adjacency=1", relevant_pages, 0.45, 0.55),
        ("pages=2000,media=0.02,adjacency=0", relevant_pages, 0.015, 0.03),
        ("pages=2000,media=0", relevant_pages, 0, 0),
    ],
)
def test_a_share_is_about_what_was_asked_for(parameters, measure, least, most):
    assert least <= measure(simulated(parameters)) <= most


def test_all_pages_of_a_flat_site_stand_on_one_list_relevant_ones_anywhere() -> None:
    web = simulated("pages=120,sites=1,flat=1,media=0.3")
    front, *_ = web.start_urls()
    listed = [url for url in web.page_urls() if directory(url) != directory(front)]
    assert len({directory(url) for url in listed}) == 1
    clicks, _ = crawl(web)
    assert max(clicks[url] for url in listed) == 2
    relevant = web.relevant_urls()
    places = [n for n, url in enumerate(listed) if url in relevant]
    assert places[0] < 24
    assert places[-1] > 96


def test_a_menu_stands_on_all_pages_of_its_directory() -> None:
    web = simulated("pages=60,sites=1,flat=1,menu=30")
    articles = [url for url in web.page_urls() if re.search(r"\d\.html?|\?id=", url)]
    on_all = set(articles)
    for url in articles:
        on_all &= {url, *(link.url for link in page_at(web, url).links)}
    assert len(on_all) == 30


def test_a_tunnel_is_as_many_clicks_longer_as_it_has_pages() -> None:
    webs = [simulated(f"pages=150,sites=1,adjacency=1,tunnel={tunnel}") for tunnel in (0, 4)]
    near, far = (crawl(web)[0] for web in webs)
    names = {directory(url) for url in webs[0].relevant_urls()}
    assert names == {directory(url) for url in webs[1].relevant_urls()}
    for name in names:
        assert far[f"{name}/"] - near[f"{name}/"] == 4


@each("languages, charsets", [("en", {"utf-8"}), ("mixed", {"gb2312", "utf-8"})])
def test_pages_are_in_the_charset_they_name(languages: str, charsets: set[str]) -> None:
    web = simulated(f"pages=150,sites=3,languages={languages}")
    named, hans = set(), 0
    for url in web.page_urls():
        response = fetch(web, url)
        found = re.search(rb'charset="?([\w-]+)', response.body)
        assert found
        charset = found[1].decode().lower()
        named.add(charset)
        text = response.body.decode("gbk" if charset == "gb2312" else charset)
        hans += bool(re.search("[一-鿿]", text))
        in_header = response.header("Content-Type") == "text/html; charset=utf-8"
        assert in_header == (charset == "utf-8")
    assert named == charsets
    assert (0 < hans < 150) == (languages == "mixed")


def test_media_alone_and_the_topic_alone_do_not_make_a_page_relevant() -> None:
    web = simulated("pages=300,banner=0")
    relevant = web.relevant_urls()
    others = [page_at(web, url) for url in web.page_urls() if url not in relevant]
    with_media = [page for page in others if page.media]
    names = [lesson.name for language in ("zh", "en") for lesson in lessons(language)]
    on_topic = [page for page in others if any(name in page.title for name in names)]
    assert len(with_media) > 0.5 * len(relevant)
    assert len(on_topic) > 0.5 * len(relevant)


def test_a_hundred_thousand_pages_are_neither_planned_nor_kept(monkeypatch):
    web = simulated("pages=100000,sites=2")
    urls = random.Random(1).sample(list(web.page_urls()), 100)
    calls = Counter[str]()

    def counted(*args: object) -> object:
        calls["item"] += 1
        return item(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("mmcrawl.replay.simulated.web.item", counted)
    for url in urls[:50]:
        assert fetch(web, url).status == 200
    assert calls["item"] < 50 * 50  # no more than the links on those pages
    gc.collect()
    tracemalloc.start()
    for url in urls:
        fetch(web, url)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 300_000


def test_hosts_have_a_second_name_and_others_do_not_exist() -> None:
    web = simulated(SMALL)
    moved = fetch(web, "https://WWW.site1.sim2009.test/x?a=1")
    assert moved.status == 301
    assert moved.header("Location") == "https://site1.sim2009.test/x?a=1"
    assert web.aliases()["www.site1.sim2009.test"] == "site1.sim2009.test"
    assert web.get("http://elsewhere.test/") is None
    assert fetch(web, "http://site1.sim2009.test/nothing.htm").status == 404
    head = fetch(web, "http://site1.sim2009.test/", "HEAD")
    assert (head.status, head.body) == (200, b"")


ONE_SITE = simulated("pages=50,sites=1")


@given(st.text())
def test_any_url_is_answered(text: str) -> None:
    web = ONE_SITE
    web.get(text)
    web.get("http://site1.sim2009.test/" + text)
    web.get("http://site1.sim2009.test/calendar.asp?" + text)
