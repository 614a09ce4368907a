"""Works and collections: listed, played, corrected, ordered, exported; and who may do that."""

import io
from pathlib import Path
from urllib.parse import urlencode
from zipfile import ZipFile

import pytest
from lxml import html
from starlette.testclient import TestClient

from mmcrawl.browse import Context, Options, WorksOfStore, programs
from mmcrawl.media import folder_of, has_pictures
from mmcrawl.works import Collections, Work, open_catalogue
from tests.browse.catalogue import browsing
from tests.browse.works import (
    MOVIE,
    PART,
    RIPPLE,
    RIPPLES,
    TONE,
    WAVES,
    keep_works,
    key_of,
    store_of,
)
from tests.tables import each
from tests.waiting import until

OWN = {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def client(with_works: tuple[TestClient, Context]) -> TestClient:
    return with_works[0]


def titles(client: TestClient, **wanted: str) -> list[str]:
    page = html.document_fromstring(client.get("/works", params=wanted).text)
    return [heading.text_content() for heading in page.xpath("//article/h2")]


def post(client: TestClient, path: str, **form: str | list[str]) -> str:
    """Send a form as a page of ours does; return the address that follows."""
    answer = client.post(path, data={"form_key": key_of(client), **form}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def work_of(client: TestClient, id_: str, tmp_path: Path) -> Work:
    store = store_of(tmp_path)
    with open_catalogue(store, folder_of(store, None)) as catalogue:
        return catalogue.find(id_)


def test_works_are_headed_by_titles_and_narrowed(shown: TestClient) -> None:
    assert titles(shown) == [WAVES.title, RIPPLES.title, TONE.title]
    assert titles(shown, kind="animation") == [RIPPLES.title]
    assert titles(shown, q="WAVES meet") == [WAVES.title]
    assert titles(shown, q="水波") == [RIPPLES.title]
    assert titles(shown, held="yes", language="en") == [WAVES.title]
    assert titles(shown, q="nothing of the kind") == []


def test_facets_count_and_lead_in_and_out_and_home_begins_with_works(shown: TestClient) -> None:
    page = html.document_fromstring(shown.get("/").text)
    headings = page.xpath("//article/h2")
    assert {one.text_content() for one in headings} == {WAVES.title, RIPPLES.title, TONE.title}
    (kinds,) = page.xpath("//ul[@aria-labelledby='facet-kind']")
    assert "/works?kind=audio" in [a.get("href") for a in kinds.iter("a")]
    page = html.document_fromstring(shown.get("/works?kind=audio").text)
    (kinds,) = page.xpath("//ul[@aria-labelledby='facet-kind']")
    said = {" ".join(a.text_content().split()[:2]): a.get("href") for a in kinds.iter("a")}
    assert said["audio 1"] == "/works"
    assert said["video 1"] == "/works?kind=video"


def test_a_work_tells_all_that_is_known_of_it(shown: TestClient) -> None:
    text = shown.get(f"/work?id={WAVES.id}").text
    page = html.document_fromstring(text)
    assert page.xpath("//h1")[0].text_content() == WAVES.title
    for said in ("How waves meet", "CC-BY-4.0", "primary school", "http://films.test/waves.mp4"):
        assert said in text
    assert page.xpath("//a[starts-with(@href, '/page?')]")
    missing = shown.get("/work?id=nosuch")
    assert missing.status_code == 404
    assert "nosuch" in missing.text


def test_a_kept_file_that_no_browser_plays_is_to_be_opened(
    shown: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/work?id={WAVES.id}"
    assert "Browsers do not play" not in shown.get(address).text
    monkeypatch.setattr("mmcrawl.browse.views.works.PLAYED", ())
    assert "Browsers do not play this format" in shown.get(address).text


def test_kept_files_are_played_from_here_in_ranges(shown: TestClient) -> None:
    page = html.document_fromstring(shown.get(f"/work?id={WAVES.id}").text)
    (source,) = page.xpath("//video/@src")
    answer = shown.get(source, headers={"Range": "bytes=4-11"})
    assert (answer.status_code, answer.content) == (206, MOVIE[4:12])
    assert answer.headers["content-type"] == "video/mp4"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert not html.document_fromstring(shown.get(f"/work?id={TONE.id}").text).xpath("//audio")


def test_an_animation_finds_what_it_loads(shown: TestClient) -> None:
    folder = f"/work/file/{RIPPLES.id}/0/"
    assert shown.get(f"{folder}水.swf").content == RIPPLE
    assert shown.get(f"{folder}parts/two.swf").content == PART
    for path in ("parts/three.swf", "../../../works.db", "%2e%2e/%2e%2e/works.db"):
        assert shown.get(folder + path).status_code == 404


def test_what_an_animation_does_reaches_nothing_of_the_page(archived, kept_works, tmp_path):
    options = Options(store=store_of(kept_works), ruffle=tmp_path)
    with browsing(archived, options) as (client, _):
        page = html.document_fromstring(client.get(f"/work?id={RIPPLES.id}").text)
    assert page.cssselect("object > param[name=allowScriptAccess][value=never]")


@pytest.mark.skipif(not has_pictures(), reason="ffmpeg is not installed")
def test_a_film_has_a_picture(client: TestClient, tmp_path: Path) -> None:
    answer = client.get(f"/work/picture?id={WAVES.id}")
    assert answer.headers["content-type"] == "image/jpeg"
    assert len(list((tmp_path / "crawl-media" / "pictures").iterdir())) == 1


def test_a_record_is_corrected_and_given_back(client: TestClient, tmp_path: Path) -> None:
    form = {"id": WAVES.id, "title": "Waves", "languages": "en, zh-CN", "level": "primary"}
    assert post(client, "/work/correct", **form) == f"/work?id={WAVES.id}"
    work = work_of(client, WAVES.id, tmp_path)
    assert (work.title, work.languages) == ("Waves", ("en", "zh-CN"))
    assert work.corrected == ("languages", "title")
    assert titles(client, q="waves")[0] == "Waves"
    post(client, "/work/correct", **{"id": WAVES.id, "back.title": "1"})
    assert work_of(client, WAVES.id, tmp_path).title == WAVES.title
    post(client, "/work/correct", id=TONE.id, hide="1")
    assert TONE.title not in titles(client)
    assert "hidden" in client.get(f"/work?id={TONE.id}").text
    post(client, "/work/correct", id=TONE.id, hide="")
    assert TONE.title in titles(client)


def test_several_works_are_changed_at_once(client: TestClient, tmp_path: Path) -> None:
    form = {"set.level": "primary", "set.licence": "CC-BY-4.0", "q": "", "kind": "audio"}
    to = post(client, "/works/change", work=[WAVES.id, TONE.id], **form)
    assert to == "/works?kind=audio"
    for work in (WAVES, TONE):
        assert work_of(client, work.id, tmp_path).level == "primary"
    assert work_of(client, TONE.id, tmp_path).licence.code == "CC-BY-4.0"
    assert "licence" not in work_of(client, RIPPLES.id, tmp_path).corrected
    post(client, "/works/change", work=[WAVES.id, TONE.id], hide="1")
    assert titles(client) == [RIPPLES.title]


@each("form, field", [({"set.date": "yesterday"}, "set.date"), ({}, "work")])
def test_what_is_wrong_with_a_change_is_marked_and_kept(shown, form, field) -> None:
    said = {"form_key": key_of(shown), "set.creator": "Huygens", **form}
    if field != "work":
        said["work"] = WAVES.id
    answer = shown.post("/works/change", data=said)
    page = html.document_fromstring(answer.text)
    assert answer.status_code == 400
    assert page.get_element_by_id(f"{field}-wrong").text_content()
    assert page.get_element_by_id("set.creator").value == "Huygens"
    ticked = page.xpath("//input[@name='work'][@checked]/@value")
    assert ticked == ([] if field == "work" else [WAVES.id])


def members(client: TestClient, to: str) -> list[str]:
    page = html.document_fromstring(client.get(to).text)
    return [heading.text_content() for heading in page.xpath("//ol//h2")]


def test_a_list_becomes_a_collection_that_is_ordered_by_hand(client: TestClient) -> None:
    to = post(client, "/collections/add", name="Friday", held="yes")
    id_ = to.partition("id=")[2]
    assert members(client, to) == [f"1. {WAVES.title}", f"2. {RIPPLES.title}"]
    post(client, "/collections/add", collection=id_, work=TONE.id)
    post(client, "/collection", id=id_, work=TONE.id, do="up")
    post(client, "/collection", id=id_, work=WAVES.id, do="place", to="3")
    assert members(client, to)[2] == f"3. {WAVES.title}"
    post(client, "/collection", id=id_, work=WAVES.id, do="remove")
    assert members(client, to) == [f"1. {TONE.title}", f"2. {RIPPLES.title}"]
    form = {"tags": "optics, 光学", "note": "for Friday", "rating": "4"}
    post(client, "/collection", id=id_, work=TONE.id, do="say", **form)
    text = client.get(to).text
    assert "rated 4 of 5" in text
    assert "光学" in text
    assert "Friday" in client.get(f"/work?id={TONE.id}").text
    post(client, "/collection", id=id_, do="delete")
    assert client.get(to).status_code == 404


def test_few_exports_are_made_at_once(client, monkeypatch):
    waits = "import sys; sys.stdin.read()"  # until it is ended
    monkeypatch.setattr(programs, "_PROGRAM", waits)
    id_ = post(client, "/collections/add", name="All", held="yes").partition("id=")[2]
    for format in ("csv", "folder", "jsonl", "bagit"):
        post(client, "/collection/export", id=id_, to=format)
    form = {"form_key": key_of(client), "id": id_, "to": "zim"}
    refused = client.post("/collection/export", data=form, follow_redirects=False)
    assert refused.status_code == 503
    assert refused.headers["retry-after"]


@pytest.mark.parametrize("format", ["csv", "folder"])
def test_a_collection_is_exported_in_its_order(client: TestClient, format: str) -> None:
    to = post(client, "/collections/add", name="Friday", held="yes")
    id_ = to.partition("id=")[2]
    post(client, "/collection", id=id_, work=RIPPLES.id, do="first")
    post(client, "/collection/export", id=id_, to=format)
    address = f"/collection/export?{urlencode({'id': id_, 'to': format})}"
    until(lambda: client.get(address).status_code != 404, 0.1)
    answer = client.get(address)
    assert answer.status_code == 200, client.get(to).text
    name = {"csv": "Friday.csv", "folder": "Friday-folder.zip"}[format]  # bags are ZIP files too
    assert name in answer.headers["content-disposition"]
    if format == "csv":
        text = answer.content.decode("utf-8-sig")
    else:
        with ZipFile(io.BytesIO(answer.content)) as packed:
            text = packed.read("index.html").decode()
            assert MOVIE in [packed.read(name) for name in packed.namelist()]
    assert 0 < text.index("水波") < text.index("Water waves")
    assert TONE.title not in text


@each(
    "path, form, says",
    [
        ("/collections/add", {"name": " ", "work": WAVES.id}, "has 1 to"),
        ("/collection", {"id": "nosuch", "do": "up"}, "collection does not exist"),
        ("/collection", {"id": "nosuch", "do": "burn"}, "do=burn"),
        ("/collection/export", {"id": "nosuch", "to": "paper"}, "to=paper"),
    ],
)
def test_wrong_forms_are_told(shown, path, form, says):
    answer = shown.post(path, data={"form_key": key_of(shown), **form})
    assert answer.status_code in (400, 404)
    assert says in html.document_fromstring(answer.text).text_content()


@each(
    "headers, status",
    [
        ({"Origin": "http://evil.test"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"}, 403),
        ({"Host": "rebound.test"}, 400),
        ({"Content-Type": "text/plain"}, 415),
        (OWN, 303),
    ],
)
def test_only_forms_of_ours_change_anything(client, headers, status):
    body = urlencode({"form_key": key_of(client), "name": "x", "work": WAVES.id})
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.post(
        "/collections/add", content=body, headers=kind | headers, follow_redirects=False
    )
    assert answer.status_code == status


FORMS = """/crawls /crawl /topic/mark /topic/learn /topic/words /topic/suggestions
/topic/suggestions/decide /work/correct /works/change /works/describe /collections/add /collection
/collection/export"""


@each("path", FORMS.split())
def test_every_form_needs_its_key_and_comes_from_a_page_of_ours(shown: TestClient, path: str):
    for key in ("", "0" * 64, "é"):
        answer = shown.post(path, data={"form_key": key, "name": "x", "demo": "1"})
        assert answer.status_code == 403
        assert "reload the page" in answer.text
    foreign = {"Origin": "http://evil.test"}
    answer = shown.post(path, data={"form_key": key_of(shown), "demo": "1"}, headers=foreign)
    assert answer.status_code == 403


def test_a_form_that_is_too_long_is_not_read(shown: TestClient) -> None:
    form = {"form_key": key_of(shown), "name": "x" * 300_000}
    assert shown.post("/collections/add", data=form).status_code == 413


def test_elsewhere_only_those_with_the_token_change_anything(archived: str, tmp_path: Path) -> None:
    store = keep_works(tmp_path).store
    options = Options(store=store, host="0.0.0.0", token="correct horse")
    with browsing(archived, options) as (client, context):
        form = {"form_key": context.form_key, "name": "x", "work": WAVES.id}
        assert client.post("/collections/add", data=form).status_code == 401
        client.get("/?token=correct+horse")
        answer = client.post("/collections/add", data=form, follow_redirects=False)
        assert answer.status_code == 303


def test_archived_pages_post_nothing(with_works: tuple[TestClient, Context]) -> None:
    client, context = with_works
    path = f"/replay/~{context.derived('replay')[:32]}/20231114000000/http://physics.test/"
    form = {"form_key": context.form_key}
    assert client.post(path, data=form).status_code == 405


def test_what_was_not_described_is_described_by_a_button(archived: str, tmp_path: Path) -> None:
    with browsing(archived, Options(store=store_of(tmp_path))) as (client, context):
        assert "Describe what was found" in client.get("/works").text
        assert client.get("/collections").status_code == 404
        post(client, "/works/describe")
        until(lambda: not context.catalogue.is_describing)
        assert "could not be described" in client.get("/works").text  # there is no crawl


@each("described", [True, False])
def test_a_list_that_describing_ended_behind_is_shown_again(
    archived, described, tmp_path, monkeypatch
):
    options = keep_works(tmp_path) if described else Options(store=store_of(tmp_path))
    read, running = vars(WorksOfStore)["is_there"].fget, [True]

    def reading(catalogue: WorksOfStore) -> bool:
        running[:] = []
        return bool(read(catalogue))

    monkeypatch.setattr(WorksOfStore, "is_there", property(reading))
    monkeypatch.setattr(WorksOfStore, "is_describing", property(lambda _: bool(running)))
    with browsing(archived, options) as (client, _):
        assert "data-again" in client.get("/works").text
        assert "data-again" not in client.get("/works").text


def test_an_archive_without_a_crawl_says_so(archived: str) -> None:
    with browsing(archived) as (client, _):
        assert "without crawls" in client.get("/works").text


def test_a_damaged_file_of_works_is_a_sentence(archived: str, tmp_path: Path) -> None:
    options = keep_works(tmp_path)
    (tmp_path / "crawl-media" / "works.db").write_bytes(b"no database" * 1_000)
    with browsing(archived, options) as (client, _):
        answer = client.get("/works")
        assert answer.status_code == 503
        assert "works.db" in answer.text


def test_what_another_process_describes_is_shown(client: TestClient, tmp_path: Path) -> None:
    assert TONE.title in titles(client)
    store = store_of(tmp_path)
    with open_catalogue(store, folder_of(store, None)) as catalogue:
        catalogue.describe([(WAVES, ("x",))])
        Collections(catalogue).create("Elsewhere")
    assert titles(client) == [WAVES.title]
    assert "Elsewhere" in client.get("/collections").text
