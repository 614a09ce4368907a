"""The index beside an exported WARC file, compared with that of cdxj-indexer.

cdxj-indexer comes with py-wacz, so it is looked for beside the program that the variable
MMCRAWL_TEST_WACZ names.
"""

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from mmcrawl.archive import Archive, Capture
from mmcrawl.archive.warc import export_warc
from tests.programs import run

WACZ = "MMCRAWL_TEST_WACZ"
TIME = 1_700_000_000.25  # 2023-11-14T22:13:20Z
TYPE = ("Content-Type", "text/html; charset=utf-8")
PAGE = "<html><body><p>Größe of a lever</p></body></html>".encode()
URL = "http://www.physics.test:8080/Levers?b=2&a=1"


@pytest.fixture(params=["all.warc.gz", "all.warc"])
def warc(archive: Archive, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return an archive as a WARC file: two pages, visits, and one of another host."""
    archive.store(Capture(URL, PAGE, TIME, 200, (TYPE,), "OK"))
    archive.store(Capture(URL, PAGE, TIME + 60, 200, (TYPE,), "OK"))
    archive.store(Capture(URL, PAGE + b"2", TIME + 120, 200, (TYPE,), "OK"))
    archive.store(Capture("http://a.test/gone", b"gone", TIME, 404, (TYPE,), "Not Found"))
    path = tmp_path / request.param
    report = export_warc(archive, path, gzip=path.suffix == ".gz")
    assert report.problems == ()
    assert report.index == tmp_path / "all.cdxj"
    return path


def lines_of(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Return key, time and facts of each line."""
    parted = (line.split(" ", 2) for line in text.splitlines())
    return [(key, stamp, json.loads(facts)) for key, stamp, facts in parted]


def test_each_line_leads_to_its_record(warc: Path) -> None:
    text = (warc.parent / "all.cdxj").read_text()
    assert text.splitlines() == sorted(text.splitlines())
    found = lines_of(text)
    assert [key for key, _, _ in found] == ["test,a)/gone"] + 3 * [
        "test,physics:8080)/levers?a=1&b=2"
    ]
    content = warc.read_bytes()
    for _, _, facts in found:
        assert facts["filename"] == warc.name
        begin = int(facts["offset"])
        (record,) = ArchiveIterator(io.BytesIO(content[begin:][: int(facts["length"])]))
        assert record.rec_headers.get_header("WARC-Target-URI") == facts["url"]
    assert [facts["mime"] for _, _, facts in found].count("warc/revisit") == 1


def test_it_is_what_cdxj_indexer_writes(warc: Path) -> None:
    program = os.environ.get(WACZ)
    if not program:
        pytest.skip(f"no py-wacz: name the program in the variable {WACZ}")
    indexer = Path(program).with_name("cdxj-indexer")
    said = run(indexer, "--sort", warc).stdout
    ours, theirs = lines_of((warc.parent / "all.cdxj").read_text()), lines_of(said)
    assert len(ours) == len(theirs) == 4
    for (key, stamp, facts), (other_key, other_stamp, others) in zip(ours, theirs, strict=True):
        assert (key, stamp) == (other_key, other_stamp)
        for name in ("url", "offset", "filename", "mime"):
            assert facts[name] == others[name]
        # cdxj-indexer leaves the two blank lines out where nothing is compressed.
        blank = 0 if warc.suffix == ".gz" else 4
        assert int(facts["length"]) - int(others["length"]) == blank
        assert facts["digest"].removeprefix("sha1:") == others["digest"].removeprefix("sha1:")
        assert facts["mime"] == "warc/revisit" or facts["status"] == others["status"]
