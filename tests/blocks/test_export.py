"""A partition as JSON."""

import json
import sys

import pytest

from mmcrawl.blocks import BlockKind, Partition, partition_json, partition_record, read_tree
from mmcrawl.blocks.partitioners import Cut
from tests.tables import each

BODY = (
    "<html><body><div id=a><p id=b>光学 <a href=' x.htm '>透镜</a><p id=c>lens</div>"
    "<p id=d>foot</body></html>"
)


@pytest.fixture(autouse=True)
def kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocks be of a kind, with features that are no numbers, without looking at them."""
    module = sys.modules[Partition.__module__]
    kind = BlockKind("topic", float("nan"))
    monkeypatch.setattr(module, "block_kinds", lambda page, blocks: [kind for _ in blocks])
    features = {"links": 2, "x": float("inf"), "y": 0.5}
    monkeypatch.setattr(module.Block, "features", property(lambda block: features))
    monkeypatch.setattr(module.Block, "topic", "光学")


def nested(encoding: str = "utf-8", url: str | None = None) -> Partition:
    tree = read_tree(BODY.encode(encoding), encoding=encoding)
    ids = {tree.attributes(node).get("id"): node for node in range(len(tree))}

    def cut(name: str, *children: Cut) -> Cut:
        node = ids[name]
        return Cut(node, tree.starts[node], tree.ends[node], children)

    cuts = [cut("a", cut("b"), cut("c")), cut("d")]
    return Partition(tree, cuts, method="bwap", level=2, url=url)


@each("encoding", ["utf-8", "gb18030", "utf-16"])
def test_the_page_can_be_put_together_from_the_document_and_the_page(encoding: str) -> None:
    document = json.loads(partition_json(nested(encoding)))
    body = BODY.encode(encoding)
    assert document["size"] == len(body)
    first, last = document["blocks"]
    innermost = [*first["children"], last]
    position, pieces = 0, []
    for block, layout in zip(innermost, document["layout"], strict=False):
        pieces += [body[position : position + layout], body[block["start"] : block["end"]]]
        position = block["end"]
    assert b"".join(pieces) + body[position:] == body
    assert document["layout"][-1] == len(body) - position


def test_blocks_are_nested_and_say_all_that_is_known_of_them() -> None:
    document = json.loads(partition_json(nested(url="http://h.test/")))
    told = {"url": "http://h.test/", "method": "bwap", "level": 2, "encoding": "utf-8"}
    assert document.items() >= told.items()
    outer, last = document["blocks"]
    inner, other = outer["children"]
    assert [block["level"] for block in (outer, inner, other, last)] == [1, 2, 2, 1]
    told = {"path": "html/body/div/p", "topic": "光学", "text": "光学 透镜"}
    assert inner.items() >= told.items()
    assert inner["links"] == [{"href": "x.htm", "text": "透镜"}]
    assert inner["children"] == other["children"] == last["children"] == []
    assert BODY.encode()[last["start"] : last["end"]] == b"<p id=d>foot</body></html>"


def test_what_is_no_number_is_null() -> None:
    text = partition_json(nested("gb18030"))
    assert "光学" in text
    assert "NaN" not in text
    assert "Infinity" not in text
    block = json.loads(text)["blocks"][0]
    assert block["score"] is None
    assert block["features"] == {"links": 2, "x": None, "y": 0.5}


def test_a_page_without_blocks_is_all_layout() -> None:
    record = partition_record(Partition(read_tree(b"<p>a"), [], method="nom", level=1))
    assert record["blocks"] == []
    assert record["layout"] == [4]
