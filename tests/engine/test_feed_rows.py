"""The rows of feeds: one record a medium, with its own caption."""

import io

from mmcrawl.engine import MediaCsvExporter, MediaPageItem
from mmcrawl.frontier import MediaPageRecord
from mmcrawl.page import MediaResource
from mmcrawl.text import KINDS

FILM = MediaResource("http://h.test/z.webm", "video", "source", "Levers", ("http://h.test/z.mp4",))
MUTE = MediaResource("http://h.test/b.mp3", "audio", "audio")
DEMO = MediaResource("http://h.test/a", "image-animation", "img", "A pump")
PAGE = MediaPageRecord("http://h.test/p", "P", 0.5, ("lever",), 200, 1.0, (FILM, MUTE, DEMO))


def test_each_medium_has_its_own_caption_in_the_order_of_the_page():
    item = MediaPageItem.from_record(PAGE)
    assert [(one["url"], one["text"], one["others"]) for one in item.media] == [
        ("http://h.test/z.webm", "Levers", ["http://h.test/z.mp4"]),
        ("http://h.test/b.mp3", "", []),
        ("http://h.test/a", "A pump", []),
    ]
    assert (item.video, item.image_animation) == (["http://h.test/z.webm"], ["http://h.test/a"])
    counts = [getattr(item, f"{kind.replace('-', '_')}_count") for kind in KINDS]
    assert counts == [1, 1, 0, 0, 0, 0, 1]


def test_a_cell_of_media_is_text():
    file = io.BytesIO()
    exporter = MediaCsvExporter(file, fields_to_export=["url", "media", "audio"])
    exporter.start_exporting()
    exporter.export_item(MediaPageItem.from_record(PAGE))
    exporter.finish_exporting()
    [_, row] = file.getvalue().decode().splitlines()
    cell = row.partition(",")[2].rpartition(",")[0].strip('"')
    assert [one.split(" ", 2)[2:] for one in cell.split("; ")] == [["Levers"], [], ["A pump"]]
    assert row.endswith(",http://h.test/b.mp3")
