"""Labelled pages: those that ship are whole, and what is wrong with other ones is told."""

import json
import re
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.layout import Measures
from mmcrawl.experiment import ExperimentError
from mmcrawl.experiment.presets import (
    LabelledPage,
    NodeLabels,
    labelled_pages,
    pages_in,
)
from mmcrawl.replay import DemoWeb
from tests.tables import each

BODY = b"<h1>Levers</h1><p>A bar.</p>"
DECLARED = re.compile(rb"""charset=["']?([\w-]+)""")


def labels(**changes: Any) -> bytes:
    """Return labels of one page, with other values than those it would have."""
    regions = [{"start": 0, "end": 15, "kind": "title"}, {"start": 15, "end": 28, "kind": "topic"}]
    entry = {"name": "levers", "source": "levers.html", "type": "topic", "regions": regions}
    return json.dumps({"pages": [{**entry, **changes}]}).encode()


def read(source: str) -> bytes:
    if source != "levers.html":
        raise FileNotFoundError("there is none")
    return BODY


@pytest.fixture(scope="module")
def shipped() -> list[LabelledPage]:
    return pages_in(None)


def test_sixty_different_pages_ship_half_of_them_chinese(shipped: list[LabelledPage]) -> None:
    assert len({page.body for page in shipped}) == len({page.name for page in shipped}) == 60
    assert Counter(page.name[:3] for page in shipped) == {"zh-": 30, "en-": 30}
    for page in shipped:
        han = len(re.findall(r"[\u4e00-\u9fff]", decoded(page)))
        assert (han > 300) == page.name.startswith("zh-"), page.name
    assert len({page.type for page in shipped}) == 3


def test_all_visible_text_and_all_links_of_the_pages_are_labelled(shipped):
    for page in shipped:
        tree = read_tree(page.body)
        found = NodeLabels.of(page, tree)
        hidden = Measures(tree).hidden
        plain = [
            tree.text(node)
            for node, kind in enumerate(found.kinds)
            if not kind and not hidden[node] and (found.chars[node] or found.links[node])
        ]
        assert [text for text in plain if text.strip(" /-|·»\n")] == [], page.name


def decoded(page: LabelledPage) -> str:
    return page.body.decode(read_encoding(page), "replace")


def read_encoding(page: LabelledPage) -> str:
    found = DECLARED.search(page.body)
    assert found, page.name
    return found[1].decode().lower()


def test_a_page_is_read_with_its_regions_and_address() -> None:
    [page] = labelled_pages(labels(half="judge", sha256=sha256(BODY).hexdigest()), read)
    assert (page.body, page.half, page.url) == (BODY, "judge", "http://levers.html")
    assert page.regions == ((0, 15, "title"), (15, 28, "topic"))
    [page] = labelled_pages(labels(url="http://h.test/levers"), read)
    assert (page.half, page.url) == ("", "http://h.test/levers")


def test_a_page_of_the_demo_web_is_labelled_by_its_address() -> None:
    [start] = list(DemoWeb().start_urls())[:1]
    regions = [{"start": 0, "end": 15, "kind": "other"}]
    [page] = labelled_pages(labels(source=f"demo:{start}", regions=regions), read)
    answer = DemoWeb().get(start)
    assert (page.url, page.body) == (start, answer.body)
    with pytest.raises(ExperimentError, match="demo web has no such page"):
        labelled_pages(labels(source="demo:http://nowhere.test/"), read)


@each(
    "given, said",
    [
        (b"not json", "not in the form of labels"),
        (b"{}", "not in the form of labels"),
        (b'{"pages": []}', "names no pages"),
        (b'{"pages": [{"name": "a"}]}', "not in the form of labels"),
        (labels(type="shop"), "a type that is none of hub, media, topic"),
        (labels(source="other.html"), "other.html of levers cannot be read: there is none"),
        (labels(sha256="0" * 64), "is not the page that was labelled as levers"),
        (labels(regions=[{"start": 0, "end": 5, "kind": "menu"}]), "a region 'menu'; kinds are"),
        (labels(regions=[{"start": 0, "end": 29, "kind": "topic"}]), "beyond the 28 bytes"),
        (labels(regions=[{"start": 5, "end": 5, "kind": "topic"}]), "is empty"),
        (labels(regions=[{"start": s, "end": 9, "kind": "topic"} for s in (0, 5)]), "in another"),
    ],
)
def test_what_is_wrong_with_labels_is_told(given: bytes, said: str) -> None:
    with pytest.raises(ExperimentError, match=said):
        labelled_pages(given, read)


def test_pages_outside_of_the_folder_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_bytes(BODY)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "pages.json").write_bytes(labels(source="../secret.html"))
    with pytest.raises(ExperimentError, match="is not in"):
        pages_in(folder)
