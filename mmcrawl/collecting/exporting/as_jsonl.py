"""JSON Lines: all that is known of each work, an object a line."""

import json
from pathlib import Path

from mmcrawl.collecting.exporting.exporter import Shipment, whole_file
from mmcrawl.collecting.works.model import Work


class JsonLines:
    """An `Exporter`."""

    summary = "a line of JSON for each work, with all that is known"
    suffix = ".jsonl"

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_file(target) as stream:

            def write(work: Work) -> None:
                line = json.dumps(work.as_plain(), ensure_ascii=False, allow_nan=False)
                stream.write(line.encode("utf-8", "replace") + b"\n")

            return shipment.each(write)
