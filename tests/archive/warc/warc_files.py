"""WARC files in the making, with warcio; also ones that are not as they should be."""

from io import BytesIO
from pathlib import Path
from typing import Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from mmcrawl.archive import Archive, Version, Visit
from mmcrawl.archive.warc import Head, WarcImport

URL = "http://physics.test/levers"
BODY = b"<html><body><p>A lever is a beam on a pivot.</p></body></html>"
HTML = (("Content-Type", "text/html"),)
DATE = "2020-01-01T00:00:00Z"
TIME = 1_577_836_800.0


class Warc:
    """A WARC file that records are written to.

    Attributes:
        path: The file; compressed record by record if its name ends so.
        offsets: Where its records begin.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offsets: list[int] = []
        self._file = path.open("wb")
        self._writer = WARCWriter(self._file, gzip=path.suffix == ".gz", warc_version="1.1")

    def response(
        self,
        url: str,
        body: bytes = b"",
        status: str = "200 OK",
        headers: tuple[tuple[str, str], ...] = HTML,
        date: str = DATE,
        **fields: str,
    ) -> str:
        """Write a response; return its payload digest. ``WARC_Truncated="time"`` is a field."""
        record = self._writer.create_warc_record(
            url,
            "response",
            payload=BytesIO(body),
            length=len(body),
            http_headers=Head(status, list(headers), protocol="HTTP/1.1"),
            warc_headers_dict={"WARC-Date": date, **_named(fields)},
        )
        self._write(record)
        return str(record.rec_headers.get_header("WARC-Payload-Digest"))

    def revisit(self, url: str, status: str = "", date: str = DATE, **fields: str) -> None:
        """Write a revisit, with a head if it has a status."""
        head = StatusAndHeaders(status, [("X-Seen", "again")], protocol="HTTP/1.1")
        kind = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
        named = {"WARC-Date": date, "WARC-Profile": kind, **_named(fields)}
        self._write(
            self._writer.create_warc_record(
                url, "revisit", http_headers=head if status else None, warc_headers_dict=named
            )
        )

    def other(self, url: str, kind: str, content_type: str, payload: bytes = b"x") -> None:
        """Write a record of another type, or a response that is not of HTTP."""
        self._write(
            self._writer.create_warc_record(
                url,
                kind,
                payload=BytesIO(payload),
                length=len(payload),
                warc_content_type=content_type,
                http_headers=None,
            )
        )

    def _write(self, record: Any) -> None:
        self.offsets.append(self._file.tell())
        self._writer.write_record(record)

    def close(self) -> Path:
        self._file.close()
        return self.path


def _named(fields: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in fields.items()}


Told = tuple[list[Version], dict[str, list[Visit]], dict[tuple[str, int], bytes]]


def all_of(archive: Archive) -> Told:
    """Return all that an archive says of its pages."""
    versions = sorted(archive.all_versions(), key=lambda version: (version.url, version.number))
    return (
        versions,
        {url: archive.visits(url) for url in archive.urls()},
        {(one.url, one.number): archive.rebuild(one).body for one in versions},
    )


def is_accounted_for(done: WarcImport) -> bool:
    return done.records == done.captures + sum(done.skipped.values())


def whats(done: WarcImport) -> str:
    assert is_accounted_for(done)
    return "\n".join(str(problem) for problem in done.problems)
