"""WARC and WACZ: the archived pages of works, what these need to be displayed, and their media, for
replay.

Of a collected file the bytes are known, but not the HTTP headers it came with. So it is a resource
record, with the date of the page that shows it, so that players find both at one time.
"""

from collections.abc import Callable
from pathlib import Path

from mmcrawl.archive.model import Capture
from mmcrawl.archive.warc.heads import RecordWriter, Written, is_http
from mmcrawl.archive.warc.wacz import wacz_in
from mmcrawl.errors import StoreError
from mmcrawl.works.exporting.exporter import Shipment, checked_file, whole_file
from mmcrawl.works.model import Appearance, Work


class AsWarc:
    summary = "a WARC file: the archived pages, and the files that are held"
    suffix = ".warc.gz"

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_file(target) as stream:
            export = _Export(shipment, RecordWriter(stream, gzip=True))
            return export.write()


class AsWacz:
    summary = "a WACZ file, which replayweb.page plays: pages, and the files that are held"
    suffix = ".wacz"

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        name = " ".join(shipment.name.split())
        with whole_file(target) as stream, wacz_in(stream, name, shipment.time) as wacz:
            return _Export(shipment, wacz.records, wacz.add_page).write()


class _Export:
    def __init__(
        self,
        shipment: Shipment,
        writer: RecordWriter,
        list_page: Callable[[str, float, str], None] = lambda url, time, title: None,
    ) -> None:
        self._shipment, self._writer, self._list_page = shipment, writer, list_page
        self._pages: dict[str, float] = {}  # the time of each, of which there may be no record
        self._files: set[str] = set()
        self._by_digest: dict[str, Written] = {}
        self._problems: list[str] = []

    def write(self) -> list[str]:
        self._writer.write_info(self._shipment.time)
        return self._shipment.each(self._work) + self._problems

    def _work(self, work: Work) -> None:
        times = [self._page(one) for one in work.pages]
        time = times[0] if times else self._shipment.time
        for file in work.files:
            if file.digest and is_http(file.url):
                self._resource(file.url, file.digest, file.mime, time)
                for part in self._shipment.parts_of(file):
                    self._resource(part.url, part.digest, part.mime, time)

    def _page(self, page: Appearance) -> float:
        """Write a page, unless it was; return the time at which it is replayed."""
        if page.url not in self._pages:
            capture = self._archived(page.url)
            self._pages[page.url] = capture.time if capture else page.time
            if capture is not None and is_http(page.url):
                self._writer.write_response(capture, capture.body)
                self._list_page(page.url, capture.time, page.title)
                self._needed_by(capture)
        return self._pages[page.url]

    def _needed_by(self, page: Capture) -> None:
        try:
            for needed in self._shipment.needed_by(page, self._files):
                self._writer.write_response(needed, needed.body)
        except StoreError as error:
            self._problems.append(str(error))

    def _archived(self, url: str) -> Capture | None:
        try:
            return self._shipment.page_at(url)
        except StoreError as error:
            self._problems.append(str(error))
            return None

    def _resource(self, url: str, digest: str, mime: str, time: float) -> None:
        if url in self._files:
            return
        self._files.add(url)
        if digest in self._by_digest:
            self._writer.write_same_resource(url, time, self._by_digest[digest])
            return
        try:
            with checked_file(self._shipment, digest) as content:
                size = content.seek(0, 2)
                content.seek(0)
                written = self._writer.write_resource(url, time, mime, content, size)
        except StoreError as error:
            self._problems.append(f"{url}: {error}")
        else:
            self._by_digest[digest] = written
