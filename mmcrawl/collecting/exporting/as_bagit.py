"""BagIt (RFC 8493): the files that are held, with checksums, and the works as JSON Lines."""

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from mmcrawl.collecting.exporting.as_jsonl import JsonLines
from mmcrawl.collecting.exporting.exporter import Shipment
from mmcrawl.collecting.exporting.held_files import HeldFiles


class BagIt:
    """An `Exporter`."""

    summary = "a bag (RFC 8493): the files that are held, checksums, works.jsonl"
    suffix = ""

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        data = target / "data"
        data.mkdir(parents=True)
        held = HeldFiles(shipment, data / "media")
        works = list(shipment.works)
        sums = {}
        for work in works:
            for file in work.files:
                if name := held.copy(work, file):
                    sums[f"data/media/{name}"] = file.digest
        JsonLines().export(Shipment(works), data / "works.jsonl")
        sums["data/works.jsonl"] = _sum(data / "works.jsonl")
        files = [target / name for name in sums]
        size = sum(path.stat().st_size for path in files)
        day = datetime.fromtimestamp(shipment.time, UTC).date().isoformat()
        name = " ".join(shipment.name.split())
        tags = {
            "bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
            "bag-info.txt": f"Bagging-Date: {day}\nExternal-Description: {name}\n"
            f"Payload-Oxum: {size}.{len(files)}\nBag-Software-Agent: mmcrawl\n",
            "manifest-sha256.txt": _manifest(sums),
        }
        for name, text in tags.items():
            (target / name).write_text(text, encoding="utf-8", newline="\n")
        own = {name: _sum(target / name) for name in tags}
        (target / "tagmanifest-sha256.txt").write_text(
            _manifest(own), encoding="utf-8", newline="\n"
        )
        return held.missing


def _manifest(sums: dict[str, str]) -> str:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))


def _sum(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
