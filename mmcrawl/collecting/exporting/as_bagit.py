"""BagIt (RFC 8493): the files that are held, with checksums, and the works as JSON Lines."""

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from mmcrawl.collecting.exporting.as_jsonl import JsonLines
from mmcrawl.collecting.exporting.exporter import Shipment, whole_folder
from mmcrawl.collecting.exporting.held_files import HeldFiles, files_in
from mmcrawl.collecting.works.model import Work
from mmcrawl.text.xml import xml_text


class BagIt:
    """An `Exporter`."""

    summary = "a bag (RFC 8493): the files that are held, checksums, works.jsonl"
    suffix = ""

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_folder(target) as bag:
            held = HeldFiles(shipment, files_in(bag))
            works: list[Work] = []

            def copy(work: Work) -> None:
                held.copied_of(work, "data/media/")
                works.append(work)

            problems = shipment.each(copy)
            (bag / "data").mkdir(exist_ok=True)
            problems += JsonLines().export(Shipment(works), bag / "data/works.jsonl")
            sums = held.copied | {"data/works.jsonl": _sum(bag / "data/works.jsonl")}
            size = sum((bag / name).stat().st_size for name in sums)
            day = datetime.fromtimestamp(shipment.time, UTC).date().isoformat()
            name = " ".join(xml_text(shipment.name).split())
            tags = {
                "bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
                "bag-info.txt": f"Bagging-Date: {day}\nExternal-Description: {name}\n"
                f"Payload-Oxum: {size}.{len(sums)}\nBag-Software-Agent: mmcrawl\n",
                "manifest-sha256.txt": _manifest(sums),
            }
            _write(bag, tags)
            own = {name: _sum(bag / name) for name in tags}
            _write(bag, {"tagmanifest-sha256.txt": _manifest(own)})
        return held.missing + problems


def _write(bag: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (bag / name).write_text(text, encoding="utf-8", newline="\n")


def _manifest(sums: dict[str, str]) -> str:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))


def _sum(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
