"""Works as a harvester of OAI-PMH gets them: one of others, and all that it may ask wrongly."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from lxml import etree
from oaipmh_scythe import Scythe
from oaipmh_scythe.exceptions import NoRecordsMatch
from starlette.testclient import TestClient

from mmcrawl.browse import Context, Options, create_app, oai
from mmcrawl.media import folder_of
from mmcrawl.works import Correction, Work, open_catalogue
from tests.browse.catalogue import browsing
from tests.browse.serving import free_port, served
from tests.browse.works import RIPPLES, TONE, WAVES, store_of
from tests.tables import each
from tests.waiting import HANG

NAMES = {"o": "http://www.openarchives.org/OAI/2.0/", "dc": "http://purl.org/dc/elements/1.1/"}
WORKS = (WAVES, RIPPLES, TONE)


@pytest.fixture
def client(with_works: tuple[TestClient, Context]) -> TestClient:
    return with_works[0]


@pytest.fixture
def harvester(with_works: tuple[TestClient, Context]) -> Iterator[Scythe]:
    app, port = create_app(with_works[1]), free_port()
    with served(app, port) as origin, Scythe(f"{origin}/oai", timeout=HANG) as scythe:
        yield scythe


def correct(folder: Path, work: Work, **values: Any) -> None:
    store = store_of(folder)
    with open_catalogue(store, folder_of(store, None)) as catalogue:
        catalogue.correct([Correction(work.id, values)])


def asked(client: TestClient, **arguments: str) -> etree._Element:
    answer = client.get("/oai?" + urlencode(arguments))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/xml")
    return etree.fromstring(answer.content)


def error(client: TestClient, **arguments: str) -> str:
    return str(asked(client, **arguments).xpath("string(o:error/@code)", namespaces=NAMES))


def test_all_works_are_harvested_page_by_page(harvester, monkeypatch):
    monkeypatch.setattr(oai, "PER_PAGE", 2)
    records = list(harvester.list_records(metadata_prefix="oai_dc"))
    said = {record.header.identifier: record.metadata for record in records}
    assert set(said) == {f"urn:mmcrawl:work:{work.id}" for work in WORKS}
    waves = said[f"urn:mmcrawl:work:{WAVES.id}"]
    assert waves["title"] == [WAVES.title]
    assert waves["description"] == ["How waves meet"]
    assert waves["type"] == ["MovingImage"]
    assert waves["language"] == ["en"]
    assert set(waves["rights"]) == {"CC-BY-4.0", WAVES.licences[0].url}
    assert waves["identifier"] == ["http://films.test/waves.mp4"]
    assert waves["source"] == [WAVES.pages[0].url]


def test_sets_are_kinds_and_topics_and_the_provider_tells_what_it_is(harvester: Scythe) -> None:
    specs = {each.setName: each.setSpec for each in harvester.list_sets()}
    assert set(specs) == {"audio", "video", "animation", "力学"}
    found = list(harvester.list_identifiers(metadata_prefix="oai_dc", set_=specs["力学"]))
    assert [each.identifier for each in found] == [f"urn:mmcrawl:work:{RIPPLES.id}"]
    record = harvester.get_record(
        identifier=f"urn:mmcrawl:work:{RIPPLES.id}", metadata_prefix="oai_dc"
    )
    assert record.metadata["title"] == [RIPPLES.title]
    identify = harvester.identify()
    assert identify.granularity == "YYYY-MM-DDThh:mm:ssZ"
    assert identify.deletedRecord == "transient"
    assert [each.metadataPrefix for each in harvester.list_metadata_formats()] == ["oai_dc"]


def test_only_what_changed_since_is_harvested(harvester, tmp_path, monkeypatch):
    later = time.time() + 10
    now = datetime.fromtimestamp(later, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    with pytest.raises(NoRecordsMatch):
        list(harvester.list_identifiers(metadata_prefix="oai_dc", from_=now))
    monkeypatch.setattr("mmcrawl.works.catalogue.time.time", lambda: later)
    correct(tmp_path, TONE, title="A tone of 440 Hz")
    correct(tmp_path, WAVES, hidden=True)
    monkeypatch.undo()
    found = list(harvester.list_records(metadata_prefix="oai_dc", from_=now))
    said = {each.header.identifier.rpartition(":")[2]: each for each in found}
    assert set(said) == {TONE.id, WAVES.id}
    assert said[WAVES.id].deleted
    assert said[TONE.id].metadata["title"] == ["A tone of 440 Hz"]


DC = "&metadataPrefix=oai_dc"
WRONG = f"""
/oai badVerb
/oai?verb=ListEverything badVerb
/oai?verb=Identify&set=kind:audio badArgument
/oai?verb=GetRecord{DC} badArgument
/oai?verb=ListRecords&metadataPrefix=marc21 cannotDisseminateFormat
/oai?verb=GetRecord{DC}&identifier=urn:x idDoesNotExist
/oai?verb=ListMetadataFormats&identifier=urn:x idDoesNotExist
/oai?verb=ListRecords{DC}&from=yesterday badArgument
/oai?verb=ListRecords{DC}&from=2026-01-02&until=2026-01-02T00:00:00Z badArgument
/oai?verb=ListRecords{DC}&from=2026-01-02&until=2026-01-01 badArgument
/oai?verb=ListRecords{DC}&until=9999-12-32 badArgument
/oai?verb=ListRecords{DC}&until=2026-1-5 badArgument
/oai?verb=ListRecords{DC}&until=٢٠٢٦-01-05 badArgument
/oai?verb=ListRecords{DC}&until=2026-01-05T24:00:00Z badArgument
/oai?verb=ListRecords{DC}&until=1999-01-01 noRecordsMatch
/oai?verb=ListIdentifiers{DC}&set=kind:opera noRecordsMatch
/oai?verb=ListRecords&resumptionToken=W10= badResumptionToken
/oai?verb=ListRecords&resumptionToken=WzAsMWU5OTksIHt9XQ== badResumptionToken
/oai?verb=ListRecords&resumptionToken=x{DC} badArgument
/oai?verb=ListSets&resumptionToken=x badResumptionToken
"""


@each("row", WRONG.split("\n")[1:-1])
def test_wrong_requests_are_told_as_the_protocol_says(shown: TestClient, row: str) -> None:
    path, code = row.split()
    said = etree.fromstring(shown.get(path).content)
    assert said.xpath("string(o:error/@code)", namespaces=NAMES) == code


def test_days_reach_to_the_end_of_the_calendar(shown: TestClient) -> None:
    for until in ("9999-12-31", "9999-12-31T23:59:59Z"):
        found = asked(shown, verb="ListIdentifiers", metadataPrefix="oai_dc", until=until)
        assert len(found.xpath("//o:header", namespaces=NAMES)) == len(WORKS)


def test_harvesters_may_come_before_anything_is_described(archived: str, tmp_path: Path) -> None:
    with browsing(archived, Options(store=store_of(tmp_path))) as (client, _):
        identify = asked(client, verb="Identify")
        assert identify.xpath("string(//o:deletedRecord)", namespaces=NAMES) == "transient"
        assert error(client, verb="ListRecords", metadataPrefix="oai_dc") == "noRecordsMatch"


def test_a_token_of_works_that_have_changed_is_refused(client, tmp_path, monkeypatch):
    monkeypatch.setattr(oai, "PER_PAGE", 2)
    root = asked(client, verb="ListIdentifiers", metadataPrefix="oai_dc")
    (token,) = root.xpath("//o:resumptionToken", namespaces=NAMES)
    assert (token.get("completeListSize"), token.get("cursor")) == ("3", "0")
    last = asked(client, verb="ListIdentifiers", resumptionToken=token.text)
    (end,) = last.xpath("//o:resumptionToken", namespaces=NAMES)
    assert (end.text, end.get("cursor")) == (None, "2")
    correct(tmp_path, TONE, title="A tone of 440 Hz")
    assert error(client, verb="ListIdentifiers", resumptionToken=token.text) == "badResumptionToken"
