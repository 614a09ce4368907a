"""`scrapy links`: the link database of a crawl on either store, and why a page was fetched."""

import csv
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pymongo import MongoClient
from scrapy.settings import Settings

from mmcrawl.cluster import Rules, SharedJob
from mmcrawl.commands import COLUMNS
from mmcrawl.commands import links as module
from mmcrawl.crawl import CrawlJob, FetchedPage, FocusedParams, PageReport
from mmcrawl.engine import make_job
from mmcrawl.frontier import (
    HELD,
    InterLink,
    LinkScores,
    NewLink,
    SqliteFrontier,
    WaitingLink,
    open_store,
)
from mmcrawl.page import parse_page, physical_layer
from mmcrawl.settings import declared
from tests.commands.running import Run, runner
from tests.databases import MONGODB, mongodb_uri, opened_uri
from tests.tables import each

SITE = "http://site.test"
FETCHED = 12


def page(title: str, *links: str, film: str = "") -> str:
    shown = f'<p><a href="{film}">film of a lens</a></p>' if film else ""
    anchors = "".join(f'<p><a href="{link}">{link.strip("/")}</a></p>' for link in links)
    return f'<title>{title}</title><meta name="keywords" content="light">{shown}{anchors}'


LENSES = [f"/optics/lens{n}.htm" for n in range(20)]
SOLD = ["/sold.htm", "/bought.htm", "/bar.htm", "/never.htm", "/first.htm", "/plain.htm"]
BLOCKS = {"/sold.htm": "advertisement", "/bought.htm": "advertisement", "/bar.htm": "navigation"}
WEB = {
    "/": page("school", "/news/", "/optics/", "/moved", "/gone", "http://other.test/lens"),
    "/news/": page("news", *(f"/news/{n}.htm" for n in range(5))),
    "/optics/": page("optics", *LENSES),
    **{lens: page("optics of a lens", "/", film=f"{lens}.mp4") for lens in LENSES},
    **{f"/news/{n}.htm": page("news") for n in range(5)},
    "/shop": page("shop", *SOLD),
}
RULES = f"""# written by hand
{SITE}/never*    never
{SITE}/bought.*
re:/(first|hold)  9    # the best
"""


# -- crawls of that site, which are told what came of each link ----------------------------------


def arguments(store: str, algo: str = "urlrule", **more: str) -> FocusedParams:
    given = {"keywords": "optics, lens, light", "seeds": f"{SITE}/", "job": "school"} | more
    return FocusedParams(algo=algo, store=store, archive="none", **given)


def ruled(store: str, folder: Path) -> FocusedParams:
    """Of a crawl of the shop with rules and links=related."""
    rules = folder / "rules.txt"
    rules.write_text(RULES, encoding="utf-8")
    more = {"seeds": f"{SITE}/shop", "rules": str(rules), "links": "related"}
    return arguments(store, "breadth", **more)


@contextmanager
def working_on(args: FocusedParams) -> Iterator[tuple[CrawlJob, Callable[..., None]]]:
    """Give a crawl, and what writes down what it was told; a shared one as its worker has it."""
    settings = Settings({name: setting.default for name, setting in declared.items()})
    with closing(make_job(args, settings, None)) as made:
        if isinstance(made, CrawlJob):
            yield made, lambda **_: made.commit()
            return
        assert isinstance(made, SharedJob)
        partition = Rules().partition_of(SITE)

        def write(*, snapshot: bool = False) -> None:
            if partition in made.partitions.jobs:
                made.partitions.note(partition)
            with patch("mmcrawl.cluster.exchange._SMALLEST_LOG", 0 if snapshot else 1 << 60):
                for _ in range(2):  # what was handed over before comes first
                    made._hand_over()
                    made.exchange.turn()
                    made._hear()

        write()
        yield made.partitions.jobs[partition], write


def report_of(job: CrawlJob, url: str) -> PageReport:
    """Return what a page of the site is, whose links may stand in blocks."""
    path = url.removeprefix(SITE)
    shown = parse_page(WEB[path].encode(), url)
    links = (replace(one, block=BLOCKS.get(one.url.removeprefix(SITE), "")) for one in shown.links)
    return job.reporter.report(FetchedPage(replace(shown, links=tuple(links))), 1e9)


def tell(job: CrawlJob, link: WaitingLink) -> None:
    """Tell a crawl what a link led to."""
    if link.url.endswith("/moved"):
        url = f"{SITE}/optics/"
        layer = physical_layer(url)
        job.redirected(link.id, NewLink(url, logical_layer=2, physical_layer=layer))
    elif link.url.endswith("/gone"):
        job.failed(link.id, "HTTP 404")
    else:
        job.take_in(link.id, report_of(job, link.url))


def crawl(store: str, pages: int) -> None:
    """Crawl the school, one link after the other, with a snapshot of a shared crawl half-way.

    The second and the third are those that lead to no page.
    """
    with working_on(arguments(store)) as (job, write):
        for number in range(pages):
            if name := {1: "moved", 2: "gone"}.get(number):
                waiting = job.frontier.lookup(f"{SITE}/{name}")
                assert waiting is not None
                link = job.frontier.take(waiting)
                job.frontier.apply(job.scorer.started(waiting))
            else:
                link = job.next()
            tell(job, link)
            write(snapshot=number == pages // 2)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URI of the store of a crawl of some pages of the school."""
    store = f"sqlite:///{tmp_path_factory.mktemp('alone')}/crawl.db"
    crawl(store, FETCHED)
    return store


@pytest.fixture(scope="module")
def shared() -> Iterator[str]:
    """The URI of a database with the same crawl."""
    with mongodb_uri() as store:
        crawl(store, FETCHED)
        yield store


@pytest.fixture(params=["alone", "shared"])
def store(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


@pytest.fixture(scope="module", params=["sqlite", "mongodb"])
def ruled_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """The URI of a store of a crawl of the first page of the shop, and the folder of its rules.

    Of the one in a database there is no snapshot yet: all that is known is in its logs.
    """
    folder = tmp_path_factory.mktemp("ruled")
    with opened_uri(request.param, folder) as store:
        with working_on(ruled(store, folder)) as (job, write):
            tell(job, job.next())
            write()
        yield store, folder


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process."""
    monkeypatch.setenv("COLUMNS", "150")
    return runner(module.Command, capfd)


def rows_of(run: Run, store: str, *options: str) -> list[dict[str, Any]]:
    said = run("-a", f"store={store}", "--format", "jsonl", *options)
    assert (said.code, said.err) == (0, "")
    return said.lines()


def paths(rows: list[dict[str, Any]]) -> list[str]:
    return [row["url"].removeprefix(SITE) for row in rows]


# -- the table --------------------------------------------------------------------------------


def test_both_stores_tell_the_same_of_every_link(run: Run, alone: str, shared: str) -> None:
    found = rows_of(run, alone)
    assert rows_of(run, shared) == found
    assert len(found) == 25


def test_the_columns_are_those_of_the_paper_and_ours(run: Run, alone: str) -> None:
    seed = rows_of(run, alone, "--limit", "1")[0]
    assert list(seed) == list(COLUMNS)
    assert len([column for column in COLUMNS.values() if column.paper]) == 24
    relevant = rows_of(run, alone, "--with-media")
    found = rows_of(run, alone, "--sort", "place")
    pages = [row for row in found if row["place"]]
    assert [row["place"] for row in pages] == list(range(1, len(pages) + 1))
    assert (seed["url"], seed["place"], seed["status"]) == (f"{SITE}/", 1, "C")
    assert (seed["path_score"], seed["total_path_score"]) == (len(relevant), len(pages))
    assert seed["link_ratio"] == len(relevant) / len(pages)
    assert seed["is_checked"]
    assert seed["visited_at"] == "2001-09-09T01:46:40.000Z"
    assert f"{SITE}/optics/" in seed["internal_urls"]
    [lens] = [row for row in found if row["url"].endswith("lens0.htm")]
    assert lens["url_path"] == [f"{SITE}/", f"{SITE}/optics/", f"{SITE}/optics/lens0.htm"]
    assert lens["anchor_path"] == ["optics", "optics/lens0.htm"]
    lens = [row for row in found if "/lens" in row["url"]]
    fetched = [row for row in lens if row["place"]]
    waiting = [row for row in lens if row["state"] == "waiting"]
    assert fetched
    assert waiting
    assert {row["content_score"] for row in fetched} == {1.0}  # optics, lens; light of the keywords
    assert all(0 < row["content_score"] < 1 for row in waiting)
    assert "light" in fetched[0]["content_intro"]


@each(
    "options, expected",
    [
        (["--status", "error"], ["/gone"]),
        (["--match", "*/optics/", "--status", "fetched"], ["/optics/"]),
        (["--sort", "layer", "--limit", "2"], ["/", "/moved"]),
        (["--min-score", "5", "--sort", "score"], ["/"]),
        (["--host", "SITE.test", "--sort", "url", "--limit", "2"], ["/", "/gone"]),
    ],
)
def test_links_are_chosen_and_put_in_order(run, alone, options, expected):
    assert paths(rows_of(run, alone, *options)) == expected


def test_all_formats_hold_the_same(run: Run, alone: str, tmp_path: Path) -> None:
    rows = rows_of(run, alone)
    file = tmp_path / "links.csv"
    assert run("-a", f"store={alone}", "--format", "csv", "-o", str(file)).out == ""
    table = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"))))
    assert [row["url"] for row in table] == [row["url"] for row in rows]
    assert json.loads(table[0]["internal_urls"]) == rows[0]["internal_urls"]
    shown = run("-a", f"store={alone}", "--limit", "0").out.splitlines()
    assert len(shown) == 1 + len(rows)


def test_a_crawl_is_looked_at_while_it_runs(run: Run, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/crawl.db"
    crawl(store, 3)
    with working_on(arguments(store)) as (job, commit):
        link = job.next()
        assert run("-a", f"store={store}", "--status", "running").code == 1  # not committed
        commit()
        running = rows_of(run, store, "--status", "running")
        assert [row["url"] for row in running] == [link.url]
        assert "it is being fetched" in run("why", link.url, "-a", f"store={store}").out.lower()


def test_nothing_is_written_to_a_database(run: Run, shared: str) -> None:
    def contents() -> dict[str, list[Any]]:
        with MongoClient(os.environ[MONGODB]) as client:
            database = client[shared.rpartition("/")[2]]
            return {
                name: sorted(map(repr, database[name].find()))
                for name in database.list_collection_names()
            }

    before = contents()
    assert before["crawl_log"]
    assert any("'size': 0" not in lease for lease in before["crawl_lease"]), "no snapshot"
    assert run("-a", f"store={shared}").code == 0
    assert run("why", f"{SITE}/optics/", "-a", f"store={shared}").code == 0
    assert contents() == before


# -- why --------------------------------------------------------------------------------------


def why(run: Run, store: str, path: str) -> dict[str, Any]:
    said = run("why", SITE + path, "-a", f"store={store}", "--json")
    assert (said.code, said.err) == (0, "")
    told: dict[str, Any] = json.loads(said.out)
    return told


def test_why_a_page_was_fetched_at_its_place(run: Run, store: str) -> None:
    order = rows_of(run, store, "--sort", "place")
    pages = [row for row in order if row["place"]]
    lenses = [row for row in pages if "/lens" in row["url"]]
    last = lenses[-1]
    told = why(run, store, last["url"].removeprefix(SITE))
    place = last["place"]
    assert told["outcome"] == f"it was fetched as page {place} of the crawl: relevant"
    assert [page["url"] for page in told["before"]] == [
        row["url"] for row in pages[place - 4 : place - 1]
    ]
    assert [page["place"] for page in told["before"]] == [place - 3, place - 2, place - 1]
    assert [page["url"] for page in told["after"]] == [row["url"] for row in pages[place:][:3]]
    assert told["steps"][:2] == [[f"{SITE}/", ""], [f"{SITE}/optics/", "optics"]]
    assert told["link"]["score"] == last["score"]
    assert sum(told["parts"].values()) == pytest.approx(last["score"], abs=1e-6)
    assert f"rate of its pattern, {SITE}/optics/*" in told["parts"]


def test_the_parts_are_of_the_score_a_page_was_fetched_with(run: Run, tmp_path: Path) -> None:
    """It was under way while another page came, which would have scored it anew."""
    store = f"sqlite:///{tmp_path}/crawl.db"
    crawl(store, 7)
    with working_on(arguments(store)) as (job, commit):
        early, *others = [job.next() for _ in range(4)]
        for link in (*others, early):
            tell(job, link)
        commit()
    found = why(run, store, early.url.removeprefix(SITE))
    assert sum(found["parts"].values()) == pytest.approx(found["link"]["score"], abs=1e-6)


def test_why_another_page_still_waits(run: Run, store: str) -> None:
    waiting = rows_of(run, store, "--sort", "score", "--status", "waiting")
    last = waiting[-1]
    told = why(run, store, last["url"].removeprefix(SITE))
    assert told["ahead"] == len(waiting) - 1
    assert told["outcome"] == f"it waits; {told['ahead']} links stand before it"
    assert [one["url"] for one in told["first"]] == [row["url"] for row in waiting[:3]]
    shown = told["first"] + told["nearest"]
    assert [one["url"] for one in shown[3:]] == [row["url"] for row in waiting[3:-1]][-3:]
    assert sum(told["parts"].values()) == pytest.approx(last["score"], abs=0.01)


@each(
    "path, outcome",
    [
        ("/gone", "it was given up after {} pages: HTTP 404"),
        (
            "/moved",
            "it was fetched after {} pages and led to no page of its own: it redirects to"
            f" {SITE}/optics/",
        ),
    ],
)
def test_why_a_link_led_to_no_page(run: Run, store: str, path: str, outcome: str) -> None:
    told = why(run, store, path)
    before = told["before"][-1]["place"]
    assert told["outcome"] == outcome.format(before)
    assert [page["place"] for page in told["after"]][:1] in ([before + 1], [])


def test_links_that_rules_and_blocks_hold_are_listed_as_held(run, ruled_store):
    store, _ = ruled_store
    held, waiting = (rows_of(run, store, "--status", status) for status in ("held", "waiting"))
    assert paths(held) == ["/sold.htm", "/never.htm"]
    assert {row["state"] for row in held} == {"held"}
    assert paths(waiting) == ["/bought.htm", "/bar.htm", "/first.htm", "/plain.htm"]


LEFT = "links=related leaves it waiting, as it is in a block of kind advertisement, and in none"


RULE = "it before links without a rule, weight"
STANDING = {
    "/sold.htm": [f"it waits, and is not fetched: {LEFT} better"],
    "/never.htm": [
        f"it waits, and is not fetched: the rule {SITE}/never* (rules.txt, line 2) says never"
    ],
    "/plain.htm": ["it waits; 2 links stand before it"],
    "/bar.htm": [
        "it waits; 3 links stand before it",
        "links=related puts it behind others of equal score: it is in a block of kind navigation,"
        " and in none better",
    ],
    "/first.htm": [
        "it waits; 0 links stand before it",
        f"the rule re:/(first|hold) (rules.txt, line 4) puts {RULE} 9",
    ],
    "/bought.htm": [
        "it waits; 1 links stand before it",
        f"the rule {SITE}/bought.* (rules.txt, line 3) puts {RULE} 1",
        f"only that rule lets it be fetched: {LEFT} better",
    ],
}


def test_why_tells_what_rules_and_blocks_did_to_the_place_of_a_link(run, ruled_store):
    store, folder = ruled_store
    found = {path: why(run, store, path) for path in STANDING}
    for path, sentences in STANDING.items():
        said = [found[path]["outcome"], *found[path]["standing"]]
        assert [one.replace(f"{folder}/", "") for one in said] == sentences
    place = f"{folder}/rules.txt, line 4"
    rule = {"pattern": "re:/(first|hold)", "weight": 9, "topic": "", "place": place}
    assert found["/first.htm"]["rule"] == rule
    assert found["/plain.htm"]["rule"] is None
    said = run("why", f"{SITE}/first.htm", "-a", f"store={store}").out
    assert "The rule re:/(first|hold)" in said
    assert [one["url"] for one in found["/bar.htm"]["first"]] == [
        f"{SITE}/{name}.htm" for name in ("first", "bought", "plain")
    ]


def test_a_rule_that_lets_a_link_go_which_the_algorithm_holds_is_named(run, tmp_path):
    store = f"sqlite:///{tmp_path}/crawl.db"
    with working_on(ruled(store, tmp_path)) as (job, commit):
        numbers = [number for number, _ in job.frontier.add([NewLink(f"{SITE}/hold.htm")])]
        assert job.frontier.held() == numbers
        job.frontier.apply(LinkScores(numbers, [HELD], [0.0]))
        commit()
    found = why(run, store, "/hold.htm")
    assert found["standing"][1] == "only that rule lets it be fetched: the algorithm holds it"
    assert (found["ahead"], found["parts"]) == (0, {})
    assert found["parts_note"] == "it has none as long as the algorithm holds it"


@each(
    "url, told",
    [
        (f"{SITE}/optics/lens77.htm", f"like it are {SITE}/optics/lens7.htm"),
        ("http://other.test/lens", "one would not have been followed: other site"),
        (f"{SITE}/a/a/a/a/a/", "one would not have been followed: trap: repeating path"),
    ],
)
def test_an_unknown_address_is_told_with_what_is_like_it(run, alone, url, told):
    said = run("why", url, "-a", f"store={alone}")
    assert (said.code, said.out) == (1, "")
    assert f"the crawl has no link to {url}" in said.err
    assert told in said.err


def test_an_algorithm_that_adds_nothing_up_says_so(run: Run, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/crawl.db"
    with working_on(arguments(store, "breadth")):
        pass
    told = why(run, store, "/")
    assert (told["parts"], told["outcome"]) == ({}, "it waits; 0 links stand before it")
    assert told["parts_note"] == "breadth does not add its scores up from parts"


# -- what is wrong ----------------------------------------------------------------------------


def test_the_job_that_is_meant_must_be_said(run: Run, alone: str, tmp_path: Path) -> None:
    said = run("-a", f"store={alone}", "-a", "job=college")
    assert (said.code, "there is no job 'college'" in said.err) == (1, True)
    assert "there are school" in said.err
    store = f"sqlite:///{tmp_path}/crawl.db"
    with open_store(store) as opened:
        assert "there is no crawl in store" in run("-a", f"store={store}").err
        opened.job("one", {})
        opened.job("two", {})
    assert (
        "has several jobs: say -a job=NAME; there are one, two" in run("-a", f"store={store}").err
    )


def test_a_crawl_of_another_version_is_not_replayed(run, shared, monkeypatch):
    monkeypatch.setattr("mmcrawl.cluster.views.looking.__version__", "99")
    said = run("-a", f"store={shared}")
    assert said.code == 1
    assert "was begun by mmcrawl" in said.err


def test_without_its_topic_a_crawl_is_listed_all_the_same(run: Run, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/crawl.db"
    topic = tmp_path / "own.txt"
    topic.write_text("lens\noptics\n", encoding="utf-8")
    with working_on(arguments(store, keywords="", topic=str(topic))):
        pass
    topic.unlink()
    said = run("-a", f"store={store}", "--format", "jsonl")
    assert (said.code, said.lines()[0]["content_score"]) == (0, None)
    assert "there is no content_score: there is no topic file" in said.err
    told = run("why", f"{SITE}/", "-a", f"store={store}")
    assert (told.code, "Parts of the score: not known: there is no topic" in told.out) == (0, True)


def test_a_job_of_other_arguments_is_listed_all_the_same(run: Run, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/crawl.db"
    with open_store(store) as opened:
        frontier = SqliteFrontier(opened, opened.job("made by hand", {"topic": 3}))
        frontier.add([NewLink(f"{SITE}/"), NewLink(f"{SITE}/form", refused="body of 9 MB")])
        frontier.commit()
    said = run("-a", f"store={store}")
    assert (said.code, f"{SITE}/" in said.out) == (0, True)
    assert "the arguments that the store keeps of the job cannot be read" in said.err
    assert "not let it be fetched" in run("why", f"{SITE}/", "-a", f"store={store}").out
    refused = run("why", f"{SITE}/form", "-a", f"store={store}").out
    assert "It was refused when it was found: body of 9 MB." in refused


def test_ctrl_c_leaves_nothing_behind(run, shared, monkeypatch, tmp_path):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(InterLink, "records", interrupted)
    said = run("-a", f"store={shared}")
    assert (said.code, said.out) == (130, "")
    assert "stopped" in said.err
    assert not list(tmp_path.iterdir())
