"""A page is replayed with what it needs to be seen, which came a little later than the page."""

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from mmcrawl.archive import Capture, open_archive
from mmcrawl.browse.replay import Mode, replay_address
from mmcrawl.page import page_requisites, read_tree, sheet_requisites
from tests.browse.catalogue import browsing

SITE, TIME = "http://h.test/", 1_700_000_000
PAGE = b"""<!DOCTYPE html><link rel=stylesheet href=/s.css><link rel=icon href=i.png>
<style>@import "e.css"; p { background: url(b.png) }</style>
<table background=t.png><tr><td style="background:url('td.png')"><img src=p.png
srcset="p2.png 2x, p3.png 3x"><picture><source srcset=w.webp></picture><input type=image src=n.png>
<svg><image xlink:href=v.png /><use href="u.svg#a"/></svg><video poster=o.png></video>"""
SHEET = b'@import url("m.css"); @font-face { font-family: own; src: url(f.woff2) }'


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    uri = f"sqlite:///{tmp_path_factory.mktemp('archive') / 'archive.db'}"
    types = {"css": "text/css", "svg": "image/svg+xml", "woff2": "application/octet-stream"}
    named = {*page_requisites(read_tree(PAGE), SITE), *sheet_requisites(SHEET, f"{SITE}s.css")}
    with open_archive(uri) as archive:
        head = (("Content-Type", "text/html"),)
        archive.store(Capture(SITE, PAGE, TIME, headers=head))
        for late, url in enumerate(sorted(named - {f"{SITE}i.png"}), 5):
            head = (("Content-Type", types.get(url.rpartition(".")[2], "image/png")),)
            body = SHEET if url.endswith("s.css") else b""
            archive.store(Capture(url, body, TIME + late, headers=head))
        archive.store(Capture(f"{SITE}new", b"moved", TIME, headers=head))
        head = (("Location", "/new"),)
        archive.store(Capture(f"{SITE}i.png", b"", TIME + 40, 301, head))
    with browsing(uri) as (client, _):
        yield client


def test_what_pages_ask_for_is_answered_without_redirects(client: TestClient) -> None:
    page = client.get(replay_address(SITE, TIME, Mode.PAGE)).text
    sheet = client.get(replay_address(f"{SITE}s.css", TIME, Mode.PAGE), follow_redirects=True).text
    addresses = re.findall(r"/replay/[^\"' ,#&]*", page + sheet)
    assert len({*addresses}) == 16
    asked = {"http://" + address.rpartition("http://")[2] for address in addresses}
    assert asked == {*page_requisites(read_tree(PAGE), SITE), f"{SITE}m.css", f"{SITE}f.woff2"}
    for address in addresses:
        for headers, allowed in (({"Sec-Fetch-Dest": "font"}, "*"), ({}, "")):
            answer = client.get(address, headers=headers)
            assert answer.status_code == 200
            assert answer.headers.get("access-control-allow-origin", "") == allowed
    moved = next(one for one in addresses if one.endswith("i.png"))
    assert client.get(moved).content == b"moved"
    assert client.get(replay_address(f"{SITE}p.png", TIME, Mode.PAGE)).status_code == 302
