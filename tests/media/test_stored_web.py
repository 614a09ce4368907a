"""Media of a stored web come from there, and `scrapy collect` says what is wrong in a sentence."""

import json
from pathlib import Path

from mmcrawl.media import State
from tests.commands.running import ran
from tests.media.serving import MediaDesk


def test_media_of_a_stored_web_come_from_it_and_simulations_that_run_by_themselves(tmp_path):
    phet = "phet.colorado.edu/sims/html/bending-light/latest/bending-light_en.html"
    geogebra = "www.geogebra.org/material/download/format/file/id/abc123"
    pages = {
        "h.test/index.html": '<title>optics</title><h1>optics</h1><iframe src="https://www.geogebra.org'
        f'/m/abc123"></iframe><iframe src="https://{phet}"></iframe><a href="w.h5p">optics h5p</a>'
        '<iframe src="https://www.desmos.com/calculator/abcdefgh"></iframe>'
        '<a href="/lens.mp4">optics lens</a>',
        "h.test/lens.mp4": "\0\0\0\x18ftypisom" + "x" * 5_000,
        phet: "<!doctype html><html><title>Bending light</title>",
        geogebra: "PK\x03\x04 geogebra",
        "h.test/w.h5p": "PK\x03\x04 h5p",
    }
    for name, text in pages.items():
        (tmp_path / "web" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "web" / name).write_text(text)
    desk = MediaDesk(tmp_path)
    crawl = ("web=web", "keywords=optics", "seeds=http://h.test/")
    assert desk.crawl(*crawl, f"store={desk.uri}").code == 0
    run = desk.collect()
    assert run.code == 0, run.err
    records = desk.records()
    film = records["/lens.mp4"]
    assert (film.state, film.size, film.reason) == (State.HELD, 5_012, "")
    types = {path: one.content_type for path, one in records.items()}
    assert types == {
        f"/{phet.partition('/')[2]}": "text/html",
        "/m/abc123": "application/vnd.geogebra.file",
        "/w.h5p": "application/zip",
        "/lens.mp4": "video/mp4",
        "/calculator/abcdefgh": "",
    }


def test_the_records_are_listed_for_programs(tmp_path: Path) -> None:
    desk = MediaDesk(tmp_path)
    desk.found(["rtsp://h.test/a.rm", "mms://h.test/b.wmv"])
    assert desk.collect().code == 0
    listed = ran("collect", "list", "--state", "skipped", folder=tmp_path)
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    told = "{}: is a protocol that is not fetched"
    assert {row["reason"] for row in rows} == {told.format("rtsp"), told.format("mms")}
    status = ran("collect", "status", folder=tmp_path)
    assert "skipped" in status.stdout
    assert "2 addresses" in status.stdout
    assert ran("collect", "list", "--state", "held", folder=tmp_path).stdout == ""


def test_what_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    desk = MediaDesk(tmp_path)
    desk.found([])
    run = desk.collect("job=other")
    assert run.code == 1, run.err
    assert "there is no job 'other' in the store" in run.words
    assert "Traceback" not in run.err
