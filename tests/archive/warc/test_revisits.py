import gzip

import pytest

from mmcrawl.archive import Archive
from mmcrawl.archive.warc import import_warc
from tests.archive.warc.warc_files import BODY, DATE, HTML, URL, Warc, whats


def test_a_revisit_takes_its_body_from_the_record_of_its_digest(archive, warc):
    digest = warc.response(URL, BODY)
    later = "2020-01-02T00:00:00Z"
    warc.revisit("http://copy.test/", "203 Fine", later, WARC_Payload_Digest=digest)
    assert import_warc(archive, [warc.close()]).problems == ()
    (version,) = archive.versions("http://copy.test/")
    assert archive.rebuild(version).body == BODY
    assert (version.status, version.reason) == (203, "Fine")
    assert version.headers == (("X-Seen", "again"),)


def test_a_revisit_without_a_head_has_the_one_of_that_record(archive: Archive, warc: Warc) -> None:
    digest = warc.response(URL, BODY, "404 Gone")
    warc.revisit("http://copy.test/", WARC_Payload_Digest=digest)
    import_warc(archive, [warc.close()])
    (version,) = archive.versions("http://copy.test/")
    assert (version.status, version.reason, version.headers) == (404, "Gone", HTML)


@pytest.mark.parametrize("first", [False, True])
def test_a_revisit_may_refer_to_another_file(archive, warc, other, first):
    digest = other.response(URL, BODY)
    warc.revisit(URL, "200 OK", "2020-01-02T00:00:00Z", WARC_Payload_Digest=digest)
    files = [warc.close(), other.close()]
    done = import_warc(archive, files if first else reversed(files))
    assert (done.versions, done.unchanged, done.problems) == (1, 1, ())


def test_a_revisit_may_refer_to_a_record_by_uri_and_date(archive: Archive, warc: Warc) -> None:
    warc.response(URL, b"before", date="2019-01-01T00:00:00Z", WARC_Payload_Digest="")
    warc.response(URL, BODY, WARC_Payload_Digest="")
    warc.revisit(
        "http://copy.test/",
        "200 OK",
        "2020-01-02T00:00:00Z",
        WARC_Refers_To_Target_URI=URL,
        WARC_Refers_To_Date=DATE,
    )
    import_warc(archive, [warc.close()])
    assert archive.rebuild(archive.get("http://copy.test/")).body == BODY


def test_a_revisit_may_refer_to_what_the_archive_has(archive, warc, other):
    digest = other.response(URL, gzip.compress(BODY), headers=(("Content-Encoding", "gzip"),))
    import_warc(archive, [other.close()])
    warc.revisit(
        "http://copy.test/",
        "200 OK",
        "2020-01-02T00:00:00Z",
        WARC_Payload_Digest=digest,
        WARC_Refers_To_Target_URI=URL,
        WARC_Refers_To_Date=DATE,
    )
    assert import_warc(archive, [warc.close()]).problems == ()
    assert archive.rebuild(archive.get("http://copy.test/")).body == BODY


def test_a_revisit_not_modified_is_a_visit(archive: Archive, warc: Warc) -> None:
    warc.response(URL, BODY)
    profile = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"
    later = "2020-01-02T00:00:00Z"
    warc.revisit(URL, "304 Not Modified", later, WARC_Profile=profile)
    done = import_warc(archive, [warc.close()])
    assert (done.versions, done.unchanged) == (1, 1)
    assert [visit.status for visit in archive.visits(URL)] == [200, 304]


def test_a_revisit_not_modified_of_another_record_is_a_version(archive, warc):
    warc.response(URL, BODY)
    warc.revisit(
        "http://copy.test/",
        "304 Not Modified",
        WARC_Profile="http://netpreserve.org/warc/1.0/revisit/server-not-modified",
        WARC_Refers_To_Target_URI=URL,
        WARC_Refers_To_Date=DATE,
    )
    assert import_warc(archive, [warc.close()]).versions == 2
    (version,) = archive.versions("http://copy.test/")
    assert (version.status, version.headers) == (200, HTML)


def test_revisits_of_what_is_nowhere_are_named(archive: Archive, warc: Warc) -> None:
    warc.response(URL, BODY)
    named = {"WARC_Refers_To_Target_URI": URL, "WARC_Refers_To_Date": DATE}
    another_date = {**named, "WARC_Refers_To_Date": "2020-01-01T00:00:05Z"}
    another_digest = {**named, "WARC_Payload_Digest": "sha1:OTHER"}
    for fields in ({"WARC_Payload_Digest": "sha1:NONE"}, another_date, another_digest):
        warc.revisit("http://copy.test/", "200 OK", "2020-01-02T00:00:00Z", **fields)
    done = import_warc(archive, [warc.close()])
    assert list(archive.urls()) == [URL]
    assert done.skipped == {"unresolved revisit": 3}
    for offset in warc.offsets[1:]:
        assert f"offset {offset}: a revisit of" in whats(done)
