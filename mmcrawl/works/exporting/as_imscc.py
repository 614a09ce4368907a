"""Common Cartridge 1.1, which Moodle, Canvas and other learning platforms import.

It has a page for each work, with its player and files, ordered by topic and kind; works without
collected files are links. Moodle reads version 1.1 (1.2 and 1.3 add nothing needed here).
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import urlsplit
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from lxml import etree
from lxml.builder import ElementMaker

from mmcrawl.text.media_kinds import CHINESE
from mmcrawl.text.writing import xml_document, xml_text
from mmcrawl.works.exporting.article import work_page
from mmcrawl.works.exporting.exporter import HeldFiles, Shipment, whole_file
from mmcrawl.works.model import Work

_PACKAGE = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
_LOM = "http://ltsc.ieee.org/xsd/imsccv1p1/LOM/manifest"
_LINK = "http://www.imsglobal.org/xsd/imsccv1p1/imswl_v1p1"
_E = ElementMaker(namespace=_PACKAGE, nsmap={None: _PACKAGE, "lomimscc": _LOM})
_L = ElementMaker(namespace=_LOM)
_W = ElementMaker(namespace=_LINK, nsmap={None: _LINK})
_KINDS = {kind: f"{kind.replace('-', ' ').capitalize()} {name}" for kind, name in CHINESE.items()}
_WEB = ("http", "https")


class Imscc:
    summary = "Common Cartridge 1.1 for Moodle and Canvas: a page for each work"
    suffix = ".imscc"

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_file(target) as stream, ZipFile(stream, "w", ZIP_DEFLATED) as cartridge:
            return _Cartridge(cartridge, shipment).write()


class _Cartridge:
    def __init__(self, cartridge: ZipFile, shipment: Shipment) -> None:
        self._zip, self._shipment = cartridge, shipment
        self._held = HeldFiles(shipment, self._create)
        self._resources = _E.resources()
        self._items: dict[tuple[str, str], list[etree._Element]] = defaultdict(list)
        self._problems: list[str] = []

    def write(self) -> list[str]:
        problems = self._shipment.each(self._write)
        self._zip.writestr("imsmanifest.xml", xml_document(self._manifest()))
        return self._held.missing + problems + self._problems

    def _write(self, work: Work) -> None:
        before = set(self._held.copied)
        copied = self._held.copied_of(work, "media/")
        if copied:
            page = f"works/{work.id}.html"
            self._zip.writestr(page, work_page(work, [(f, f"../{path}") for f, path in copied]))
            paths = [path for _, path in copied]
            paths += [path for path in self._held.copied if path not in {*before, *paths}]
            self._add(work, "webcontent", page, paths)
        elif (url := _address(work)) is not None:
            link = f"links/{work.id}.xml"
            self._zip.writestr(link, _link(work, url))
            self._add(work, "imswl_xmlv1p1", link, [])
        else:
            self._problems.append(f"{work.title}: it is neither held nor on the web")

    @contextmanager
    def _create(self, path: str) -> Iterator[BinaryIO]:
        entry = ZipInfo(path)
        entry.compress_type = ZIP_STORED  # media are compressed already
        with self._zip.open(entry, "w", force_zip64=True) as file:
            yield cast("BinaryIO", file)

    def _add(self, work: Work, kind: str, path: str, files: list[str]) -> None:
        resource = _E.resource({"identifier": f"R_{work.id}", "type": kind})
        if kind == "webcontent":
            resource.set("href", path)
        resource.extend(_E.file({"href": name}) for name in (path, *files))
        item = _E.item(
            {"identifier": f"I_{work.id}", "identifierref": f"R_{work.id}"},
            _E.title(xml_text(work.title)),
        )
        self._resources.append(resource)
        self._items[work.topic, work.kind].append(item)

    def _manifest(self) -> etree._Element:
        topics: dict[str, list[etree._Element]] = defaultdict(list)
        for number, ((topic, kind), items) in enumerate(sorted(self._items.items())):
            title = _E.title(_KINDS.get(kind, kind))
            topics[topic].append(_E.item({"identifier": f"K_{number}"}, title, *items))
        root = _E.item({"identifier": "root"})
        for number, (topic, folders) in enumerate(topics.items()):
            if topic:
                title = _E.title(xml_text(topic))
                root.append(_E.item({"identifier": f"T_{number}"}, title, *folders))
            else:
                root.extend(folders)
        name = xml_text(self._shipment.name)
        return _E.manifest(
            {"identifier": "mmcrawl"},
            _E.metadata(
                _E.schema("IMS Common Cartridge"),
                _E.schemaversion("1.1.0"),
                _L.lom(_L.general(_L.title(_L.string(name)))),
            ),
            _E.organizations(
                _E.organization({"identifier": "O_1", "structure": "rooted-hierarchy"}, root)
            ),
            self._resources,
        )


def _address(work: Work) -> str | None:
    """Return where a work is on the web: its file, its player, or its page."""
    for url in (*(file.url for file in work.files), *(page.url for page in work.pages)):
        try:
            if urlsplit(url).scheme in _WEB:
                return xml_text(url)
        except ValueError:
            continue
    return None


def _link(work: Work, url: str) -> bytes:
    return xml_document(
        _W.webLink(_W.title(xml_text(work.title)), _W.url({"href": url, "target": "_blank"}))
    )
