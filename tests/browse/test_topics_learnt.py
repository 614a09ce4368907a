"""Topics in the browser: pages offered and marked, learnt from the marks; and who may do that."""

import random
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

import pytest
from lxml import html
from starlette.testclient import TestClient

from mmcrawl.archive import Capture
from mmcrawl.browse import Options
from mmcrawl.frontier import Findings, MediaPageRecord, open_store
from mmcrawl.media import folder_of
from mmcrawl.topic import PageModel, load_topic
from mmcrawl.works import Marks, open_catalogue
from tests.browse.catalogue import HTML, START, browsing, fill
from tests.browse.works import key_of, store_of
from tests.waiting import until

GOOD = "erhu bow strings tuning melody luthier".split()
BAD = "football league goal striker transfer keeper".split()


def address(number: int) -> str:
    return f"http://s{number % 4}.test/{number}.html"


def captures() -> Iterator[Capture]:
    """Yield 24 pages of four sites, every other one about fiddles."""
    for number in range(24):
        words = random.Random(number).sample(BAD if number // 4 % 2 else GOOD, 5)
        body = f"<title>{words[0]} {number}</title><p>{' '.join(words * 2)}</p>"
        yield Capture(address(number), body.encode(), START + number, headers=HTML)


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    return fill(tmp_path_factory.mktemp("fiddles"), captures())


@pytest.fixture
def client(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.chdir(tmp_path)  # where topics are kept
    with browsing(uri, Options(store=store_of(tmp_path))) as (client, _):
        yield client


def post(client: TestClient, path: str, **form: str) -> str:
    sent = {"form_key": key_of(client, "/topic?name=fiddles"), **form}
    answer = client.post(path, data=sent, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def offered(client: TestClient) -> list[str]:
    page = html.document_fromstring(client.get("/topic?name=fiddles").text)
    return page.xpath("//section[1]//form[@class='marking']/input[@name='url']/@value")


def mark(client: TestClient, number: int) -> None:
    kind = "bad" if number // 4 % 2 else "good"
    post(client, "/topic/mark", topic="fiddles", url=address(number), mark=kind)


def test_pages_are_offered_marked_and_learnt_from(client: TestClient, tmp_path: Path) -> None:
    assert "No topics have been learnt" in client.get("/topics").text
    first = offered(client)
    assert len(first) == 10
    for number in range(16):
        mark(client, number)
    assert not {address(number) for number in range(16)} & set(offered(client))
    shown = client.get("/topic?name=fiddles").text
    assert "8 marked relevant, 8 not relevant" in shown
    assert "Not learnt yet" in shown

    shown = learnt(client)
    assert "from 8 relevant and 8 other pages" in shown
    assert "Words for the topic:" in shown
    assert "8 relevant pages are too few" in shown
    assert "只有 8 个相关网页" in client.get("/topic?name=fiddles&lang=zh").text
    client.cookies.clear()
    model = load_topic("fiddles").learnt[0]
    assert set(model.good) == {address(n) for n in range(16) if not n // 4 % 2}
    assert not set(model.good) & set(offered(client))
    assert "relevant with probability" in shown

    mark(client, 16)  # and what was learnt from before counts again
    learnt(client)
    assert len(load_topic("fiddles").learnt[0].good) == 9
    assert "fiddles" in html.document_fromstring(client.get("/crawls").text).xpath(
        "//select[@name='topic']/option/text()"
    )


def test_a_damaged_topic_is_named_and_hides_no_other(client: TestClient, tmp_path: Path) -> None:
    mark(client, 0)
    tmp_path.joinpath("topics").mkdir(exist_ok=True)
    tmp_path.joinpath("topics", "empty.json").touch()
    assert {"fiddles", "empty"} <= {
        cell.strip() for cell in html.document_fromstring(client.get("/topics").text).itertext()
    }
    answer = client.get("/topic?name=empty")
    assert answer.status_code == 400
    assert "This topic cannot be read:" in answer.text


def learnt(client: TestClient) -> str:
    """Learn; return the page of the topic afterwards."""
    assert post(client, "/topic/learn", name="fiddles") == "/topic?name=fiddles"
    busy = "Learning is in progress"
    until(lambda: busy not in client.get("/topic?name=fiddles").text, 0.1)
    return client.get("/topic?name=fiddles").text


def test_what_cannot_be_learnt_is_told(client: TestClient) -> None:
    mark(client, 0)
    shown = learnt(client)
    assert "Learning failed:" in shown
    assert "too few to learn from" in shown


def test_a_page_is_marked_where_it_is_shown_and_the_mark_is_taken_back(client, tmp_path):
    sent = {"url": address(3), "new": "fiddles", "mark": "good", "from": "page"}
    assert post(client, "/topic/mark", **sent).startswith("/page?url=")
    shown = html.document_fromstring(client.get("/page", params={"url": address(3)}).text)
    assert shown.xpath("//details/p[starts-with(., '✓')]/a/bdi/text()") == ["fiddles"]
    store = store_of(tmp_path)
    with open_catalogue(store, folder_of(store, None)) as catalogue:
        assert [(m.url, m.is_good) for m in Marks(catalogue).of("fiddles")] == [(address(3), True)]
        post(client, "/topic/mark", topic="fiddles", url=address(3), mark="bad")
        assert [m.is_good for m in Marks(catalogue).of("fiddles")] == [False]
        post(client, "/topic/mark", topic="fiddles", url=address(3), mark="none")
        assert not Marks(catalogue).of("fiddles")


def test_names_that_are_none_are_refused(client: TestClient) -> None:
    key = key_of(client, "/topic?name=fiddles")
    for name in ("../x", "a/b", "", "physics-senior", ".hidden", "x.json", "a b"):
        form = {"form_key": key, "topic": name, "url": address(0), "mark": "good"}
        assert client.post("/topic/mark", data=form).status_code == 400
        assert client.post("/topic/learn", data={"form_key": key, "name": name}).status_code == 400
        assert client.get("/topic", params={"name": name}).status_code == 400
    assert not Path("topics").exists()


def test_a_hostile_model_is_shown_as_text(client: TestClient, tmp_path: Path) -> None:
    told: dict[str, object] = {"words": ["<script>alert(1)</script>"], "precision": "x"}
    told["cautions"] = {"x": 1, "few_bad": 1}
    model = PageModel("fiddles", {}, {}, {}, 0.0, 1.0, 0.0, measured=told)
    model.save(tmp_path / "topics" / "fiddles.json")
    shown = client.get("/topic?name=fiddles")
    assert shown.status_code == 200
    assert "<script>alert" not in shown.text
    (tmp_path / "topics" / "fiddles.json").write_text("{")
    assert client.get("/topic?name=fiddles").status_code == 400


def test_a_topic_of_words_is_written_with_words_that_marks_suggest(client, tmp_path):
    for number in range(16):
        mark(client, number)
    shown = client.get("/topic/words?name=strings&marks=fiddles").text
    page = html.document_fromstring(shown)
    suggested = set(page.xpath("//input[@name='add']/@value"))
    assert len(suggested & set(GOOD)) >= 4
    assert not suggested & set(BAD)
    form = {"name": "strings", "words": "二胡|erhu\r\nviola # a remark", "add": "luthier"}
    assert post(client, "/topic/words", **form) == "/topic/words?name=strings"
    assert load_topic("strings").concepts == (("二胡", "erhu"), ("viola",), ("luthier",))
    again = html.document_fromstring(client.get("/topic/words?name=strings").text)
    assert again.xpath("string(//textarea)").split() == [
        "二胡|erhu", "viola", "#", "a", "remark", "luthier",
    ]  # fmt: skip
    assert "strings" in client.get("/topics").text


def test_words_are_suggested_by_what_a_crawl_found(client, tmp_path):
    with open_store(store_of(tmp_path)) as store:
        findings = Findings(store, store.job("fiddles-1", {}))
        for number in (*range(4), *range(8, 12)):
            findings.add_media_page(MediaPageRecord(address(number), "", 0.9, (), 200, 0.0, ()))
        store.commit()
    page = html.document_fromstring(client.get("/topic/words?job=fiddles-1").text)
    suggested = set(page.xpath("//input[@name='add']/@value"))
    assert len(suggested & set(GOOD)) >= 4
    assert not suggested & set(BAD)
    assert client.get("/topic/words?job=nosuch").status_code == 404


def test_words_and_names_that_are_none_are_not_kept(client: TestClient) -> None:
    PageModel("fiddles", {}, {}, {}, 0.0, 1.0, 0.0).save(Path("topics", "fiddles.json"))
    key = key_of(client, "/topic?name=fiddles")
    for name, words in (("x", "!!!"), ("x", ""), ("../x", "lens"), ("fiddles", "lens")):
        form = {"form_key": key, "name": name, "words": words}
        assert client.post("/topic/words", data=form).status_code == 400
    assert not Path("topics", "x.txt").exists()


def waiting(client: TestClient) -> dict[str, str]:
    """Return the ids of the suggestions that wait, by their words."""
    page = html.document_fromstring(client.get("/topic/suggestions").text)
    rows = page.xpath("//section//tbody/tr")
    ids = [row.xpath("string(.//input[@name='id']/@value)") for row in rows]
    return dict(zip([row.xpath("string(td[2])") for row in rows], ids, strict=True))


def test_words_are_handed_in_and_taken_into_a_topic_or_declined(client: TestClient) -> None:
    shown = html.document_fromstring(client.get("/topic/suggestions").text)
    stages = shown.xpath("//optgroup[@label='Senior secondary school']/option/@value")
    assert "physics-senior" in stages
    before = load_topic("physics-senior").concepts
    words = "迈克尔逊|michelson\r\n<b>beam</b>\nInterferometer|干涉仪"
    form = {"topic": "physics-senior", "words": words, "by": "<i>Li</i>"}
    assert post(client, "/topic/suggestions", **form).endswith("topic=physics-senior&new=3")
    again = {"topic": "physics-senior", "words": "干涉仪|interferometer"}
    told = client.get(post(client, "/topic/suggestions", **again))
    assert "These words have been submitted before." in told.text
    found = waiting(client)
    assert list(found) == ["迈克尔逊 | michelson", "<b>beam</b>", "Interferometer | 干涉仪"]
    assert "<b>beam" not in told.text
    assert "<i>Li" not in told.text
    assert load_topic("physics-senior").concepts == before

    undecided = {"form_key": key_of(client, "/topic/suggestions"), "id": found["<b>beam</b>"]}
    assert client.post("/topic/suggestions/decide", data=undecided).status_code == 400
    assert waiting(client) == found
    for words, decision in zip(found, ("accept", "decline", "accept"), strict=True):
        post(client, "/topic/suggestions/decide", id=found[words], decision=decision)
    new = (("迈克尔逊", "michelson"), ("Interferometer", "干涉仪"))
    assert load_topic("高中物理").concepts == before + new
    assert not waiting(client)
    post(client, "/topic/suggestions", **form)  # what was decided is not asked again
    assert not waiting(client)
    once_more = undecided | {"decision": "accept"}
    answer = client.post("/topic/suggestions/decide", data=once_more)
    assert answer.status_code == 400
    assert "this suggestion was already decided" in answer.text

    own = client.get("/topic/words?name=physics-senior").text  # where they are taken back
    assert "迈克尔逊|michelson" in own
    post(client, "/topic/words", name="physics-senior", words="Interferometer|干涉仪")
    assert load_topic("physics-senior").concepts == before + new[1:]


def test_words_are_taken_into_a_file_as_it_was_written(client: TestClient, tmp_path: Path) -> None:
    own = tmp_path / "topics" / "physics-senior.txt"
    own.parent.mkdir()
    own.write_text("!!!\n")  # a bad file is told where it is changed, other pages go on
    post(client, "/topic/suggestions", topic="physics-senior", words="lens")
    ids = waiting(client)
    decided = {"id": ids["lens"], "decision": "accept"}
    form = decided | {"form_key": key_of(client, "/topic/suggestions")}
    assert "line 1" in client.post("/topic/suggestions/decide", data=form).text
    assert waiting(client) == ids
    own.write_bytes(b"\0")
    assert client.get("/topic/words?name=physics-senior").status_code == 400

    own.write_bytes("# 光学词表\n\nX光|x-ray\n\n".encode("gb18030"))
    post(client, "/topic/suggestions/decide", **decided)
    assert own.read_text(encoding="utf-8") == "# 光学词表\n\nX光|x-ray\n\nlens\n"


def test_what_is_handed_in_wrongly_is_not_kept(client: TestClient, tmp_path: Path) -> None:
    key = key_of(client, "/topic/suggestions")
    topics = [{"topic": name, "words": "lens"} for name in ("../x", "fiddles", "")]
    words = [{"topic": "physics-senior", "words": said} for said in (" \n", "!!!", "lens|" * 401)]
    for form in (*topics, *words, {"words": "lens"}):
        answer = client.post("/topic/suggestions", data={"form_key": key, **form})
        assert answer.status_code == 400, form
    assert not waiting(client)
    assert not (tmp_path / "topics").exists()


def test_a_file_of_words_is_written_by_one_at_a_time(tmp_path, monkeypatch):
    lock, locked = Lock(), list[bool]()
    monkeypatch.setattr("mmcrawl.browse.learning.Lock", lambda: lock)
    for writes in ("add_words", "keep_words"):
        told = f"mmcrawl.browse.learning.{writes}"
        monkeypatch.setattr(told, lambda *_: locked.append(lock.locked()))
    with browsing(fill(tmp_path, captures()), Options(store=store_of(tmp_path))) as (client, _):
        post(client, "/topic/suggestions", topic="physics-senior", words="lens")
        decided = {"id": waiting(client)["lens"], "decision": "accept"}
        post(client, "/topic/suggestions/decide", **decided)
        post(client, "/topic/words", name="physics-senior", words="lens")
    assert locked == [True, True]


def test_a_topic_that_was_learnt_while_its_page_was_made_is_shown_again(client, monkeypatch):
    """What is read before learning ends is not shown as what came of it."""
    running = ["fiddles"]
    monkeypatch.setattr("mmcrawl.browse.programs.Programs.running", lambda _: [*running])
    monkeypatch.setattr("mmcrawl.browse.learning.TopicDesk.model", lambda *_: running.clear())
    shown = client.get("/topic?name=fiddles").text
    assert not running
    assert "Learning is in progress" in shown
    assert "Learning is in progress" not in client.get("/topic?name=fiddles").text
