"""DSpace's Simple Archive Format: a folder for each item, with Dublin Core and its files."""

from pathlib import Path

from lxml import etree

from mmcrawl.collecting.exporting.dublin_core import dublin_core
from mmcrawl.collecting.exporting.exporter import Shipment, whole_folder
from mmcrawl.collecting.exporting.held_files import HeldFiles, files_in
from mmcrawl.collecting.works.model import Work
from mmcrawl.text.xml import xml_document

_QUALIFIED = {
    "abstract": ("description", "abstract"),
    "audience": ("subject", "none"),
    "creator": ("contributor", "author"),
    "extent": ("format", "extent"),
    "format": ("format", "mimetype"),
    "identifier": ("identifier", "uri"),
    "issued": ("date", "issued"),
    "language": ("language", "iso"),
    "license": ("rights", "uri"),
    "relation": ("relation", "uri"),
    "source": ("source", "uri"),
}
"""Elements and qualifiers of DSpace's own registry; terms that are not here have no qualifier."""


class DSpace:
    """An `Exporter`."""

    summary = "DSpace's Simple Archive Format: an item for each work, with its files"
    suffix = ""

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        missing = []
        with whole_folder(target) as folder:
            for number, work in enumerate(shipment.works, 1):
                item = folder / f"item_{number:06}"
                item.mkdir()
                held = HeldFiles(shipment, files_in(item))
                copied = held.copied_of(work)
                (item / "dublin_core.xml").write_bytes(_metadata(work))
                (item / "contents").write_text(
                    _contents(held, copied[0][1] if copied else ""), encoding="utf-8"
                )
                missing += held.missing
        return missing


def _metadata(work: Work) -> bytes:
    root = etree.Element("dublin_core", schema="dc")
    for term, value in dublin_core(work):
        element, qualifier = _QUALIFIED.get(term, (term, "none"))
        etree.SubElement(root, "dcvalue", element=element, qualifier=qualifier).text = value
    return xml_document(root)


def _contents(held: HeldFiles, best: str) -> str:
    """Return the list of the files; the best one is shown first."""
    return "".join(
        f"{path}\tbundle:ORIGINAL" + ("\tprimary:true\n" if path == best else "\n")
        for path in held.copied
    )
