"""What editors do to works and collections at once, by mistake, or with what is not there."""

import errno
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from lxml import html
from starlette.testclient import TestClient

from mmcrawl.browse import Context, Options
from mmcrawl.media import folder_of
from mmcrawl.works import Collections, Work, open_catalogue
from tests.browse.catalogue import browsing
from tests.browse.works import WAVES, key_of, store_of
from tests.tables import each
from tests.waiting import HANG


@pytest.fixture
def client(with_works: tuple[TestClient, Context]) -> TestClient:
    return with_works[0]


def form_of(client: TestClient, page: str, button: str) -> dict[str, str]:
    """Return what the form with a button would send, as a browser shows it."""
    tree = html.document_fromstring(client.get(page).text)
    (form,) = (f for f in tree.forms if f.xpath(f".//button[@value='{button}' or .='{button}']"))
    return {name: value or "" for name, value in form.form_values()}


def send(client: TestClient, path: str, **form: str) -> str:
    answer = client.post(path, data={"form_key": key_of(client), **form})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def found(tmp_path: Path, id_: str) -> Work:
    store = store_of(tmp_path)
    with open_catalogue(store, folder_of(store, None)) as catalogue:
        return catalogue.find(id_)


def test_of_two_who_correct_a_work_neither_takes_back_what_the_other_said(client, tmp_path):
    page = f"/work?id={WAVES.id}"
    one, other = form_of(client, page, "Save"), form_of(client, page, "Save")
    send(client, "/work/correct", **one | {"title": "Wellen", "date": "2020"})
    send(client, "/work/correct", **other | {"creator": "Huygens", "date": "2021"})
    work = found(tmp_path, WAVES.id)
    assert (work.title, work.creator) == ("Wellen", "Huygens")
    assert work.date == "2021"  # of the same field the last word counts


def test_of_two_who_describe_a_collection_neither_takes_back_what_the_other_said(client, tmp_path):
    to = send(client, "/collections/add", name="Friday", work=WAVES.id)
    one, other = form_of(client, to, "say"), form_of(client, to, "say")
    send(client, "/collection", **one | {"tags": "tides", "do": "say"})
    send(client, "/collection", **other | {"note": "for Monday", "rating": "3", "do": "say"})
    one, other = form_of(client, to, "rename"), form_of(client, to, "rename")
    send(client, "/collection", **one | {"name": "Monday", "do": "rename"})
    send(client, "/collection", **other | {"note": "of term 2", "do": "rename"})
    store = store_of(tmp_path)
    with open_catalogue(store, folder_of(store, None)) as catalogue:
        (collection,) = Collections(catalogue).all()
    assert (collection.name, collection.note) == ("Monday", "of term 2")
    (member,) = collection.members
    assert (member.tags, member.note, member.rating) == (("tides",), "for Monday", 3)


def test_only_works_that_are_there_are_collected(shown: TestClient) -> None:
    form = {"form_key": key_of(shown), "name": "Friday", "work": "nosuch"}
    assert shown.post("/collections/add", data=form).status_code == 400
    assert "Friday" not in shown.get("/collections").text


def test_an_address_of_forms_says_so(shown: TestClient) -> None:
    answer = shown.get("/work/correct?lang=zh")
    assert answer.status_code == 405
    assert "此地址只接收表单" in answer.text
    failed = shown.post("/work/correct", data={"form_key": key_of(shown), "id": "nosuch"})
    assert "lang=zh" not in failed.text  # what answers a form is at no address


@each(
    "form, says",
    [
        ({"title": " "}, "作品需要标题"),
        ({"date": "yesterday"}, "YYYY-MM-DD"),
        ({"licence": "mine"}, "许可请写成"),
        ({"languages": "en, zh-Klingonisch"}, "语言请写成"),
        ({"caption": "a\0b"}, "无法保存的字符"),
    ],
)
def test_a_value_that_cannot_be_kept_is_told_in_the_language_of_the_form(shown, form, says):
    said = {"form_key": key_of(shown), "id": WAVES.id, "lang": "zh", **form}
    answer = shown.post("/work/correct", data=said)
    assert answer.status_code == 400
    assert says in answer.text
    (name,) = form
    assert 'name="back.' not in shown.get(f"/work?id={WAVES.id}").text  # nothing was corrected
    page = html.document_fromstring(answer.text)
    if "\0" not in form[name]:
        assert says in page.get_element_by_id(f"{name}-wrong").text_content()
        field = page.get_element_by_id(name)
        assert field.value.strip() == form[name].strip()
        assert field.get("aria-invalid") == "true"


def test_what_cannot_be_written_is_a_sentence(client, tmp_path, monkeypatch):
    make = Path.mkdir

    def full(path: Path, *arguments: Any, **named: Any) -> None:
        if "exports" in path.parts:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        make(path, *arguments, **named)

    to = send(client, "/collections/add", name="Friday", work=WAVES.id)
    monkeypatch.setattr(Path, "mkdir", full)
    form = {"form_key": key_of(client), "id": to.partition("id=")[2], "to": "csv"}
    answer = client.post("/collection/export", data=form)
    assert answer.status_code == 503
    assert "No space left" in answer.text


def exported(client: TestClient, id_: str, format_: str) -> Any:
    """Make an export; return the page of the collection when it is done."""
    send(client, "/collection/export", id=id_, to=format_)
    end = time.monotonic() + HANG
    while "data-again" in (text := client.get(f"/collection?id={id_}").text):
        assert time.monotonic() < end
        time.sleep(0.1)
    return html.document_fromstring(text)


@pytest.mark.processes
def test_an_export_is_had_by_the_name_of_its_collection_also_later(client, archived, tmp_path):
    id_ = send(client, "/collections/add", name="Light: sound", work=WAVES.id).partition("id=")[2]
    exported(client, id_, "csv")
    with browsing(archived, Options(store=store_of(tmp_path))) as (later, _):  # begun anew
        page = html.document_fromstring(later.get(f"/collection?id={id_}").text)
        (address,) = page.xpath("//section[@id='exports']//a/@href")
        answer = later.get(address)
        assert "Light%20sound.csv" in answer.headers["content-disposition"]
        send(later, "/collection", id=id_, work=WAVES.id, do="say", note="new")
        assert "has changed since" in later.get(f"/collection?id={id_}").text
        send(later, "/collection", id=id_, do="delete")
    assert not list((tmp_path / "crawl-media" / "exports").iterdir())


@pytest.mark.processes
def test_an_export_that_cannot_be_packed_is_not_offered(client, tmp_path, monkeypatch):
    def half(base: str, *_: Any) -> str:
        Path(f"{base}.zip").write_bytes(b"PK half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "make_archive", half)
    id_ = send(client, "/collections/add", name="Friday", work=WAVES.id).partition("id=")[2]
    page = exported(client, id_, "folder")
    text = page.xpath("//section[@id='exports']")[0].text_content()
    assert "could not be created" in text
    assert "No space left" in text
    assert client.get(f"/collection/export?id={id_}&to=folder").status_code == 404
    assert not list((tmp_path / "crawl-media" / "exports" / id_).iterdir())
