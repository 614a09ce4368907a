"""Kinds of blocks by the model, and the pages it is trained on."""

import io
import sys
import tracemalloc
from pathlib import Path

import pytest

from mmcrawl.blocks import (
    ELSE,
    FEATURES,
    OWN,
    PAPER_KINDS,
    TEXT,
    KindModel,
    Partition,
    kind_model,
    learnt_kinds,
    partition,
    read_tree,
)
from mmcrawl.errors import BlockError
from mmcrawl.experiment.presets import NodeLabels, pages_in
from tests.tables import each

LABELLED = Path(__file__).parents[2] / "benchmarks" / "data" / "block_kinds"
TEXT_OF_LEVERS = (
    "A lever is a rigid bar that turns about a pivot. The farther from it you push, the less force"
    " you need, and the longer the way that your hand goes. "
)
ARTICLE = f"""<title>How levers work - Workshop weekly</title>
<div class=top><a href=/>Workshop weekly</a> <a href=/tools>Tools</a> <a href=/wood>Wood</a></div>
<h1>How levers work</h1><p>{TEXT_OF_LEVERS}</p><p>{TEXT_OF_LEVERS * 2}</p>
<div class=rel><h3>Related stories</h3><ul><li><a href=/2019/pulleys-and-levers>Pulleys, levers and
other machines</a><li><a href=/2018/archimedes-lever>Archimedes and the lever that moves the world
</a></ul></div>
<div class=c><h3>2 comments</h3><div><b>anna</b> says: <p>I tried it with a broom and it broke at
once.</p><a href=#r>Reply</a></div><div><b>joe</b> says: <p>Great piece, my pupils liked the part
with the door.</p><a href=#r>Reply</a></div></div>
<div class=f>© 2019 Workshop weekly. All rights reserved.</div>"""


def told(html: str, **options: str) -> dict[str, str]:
    page = partition(html.encode(), method="spcola", url="http://w.test/2019/levers", **options)
    return {block.text: block.kind for block in page.blocks}


def test_comments_are_a_kind_of_their_own() -> None:
    found = told(ARTICLE, kinds="learnt")
    assert {k for text, k in found.items() if "broom" in text or "pupils" in text} == {"comments"}
    assert found["How levers work"] == "title"
    assert found[TEXT_OF_LEVERS.strip()] == "topic"
    related = next(kind for text, kind in found.items() if "Archimedes" in text)
    assert related == "related-links"
    assert found["© 2019 Workshop weekly. All rights reserved."] == "copyright"


def test_the_rules_tell_the_kinds_of_the_paper_only() -> None:
    assert "comments" not in told(ARTICLE).values()


@each(
    "method, kinds",
    [
        ("bwap", "learnt"),
        ("quark", "learnt"),
        ("spcola", "rules"),
        ("bwap:kinds=rules", "rules"),
        ("spcola:kinds=learnt;min_width=1", "learnt"),
    ],
)
def test_what_tells_the_kinds_is_an_option_of_every_method(method: str, kinds: str) -> None:
    assert partition(b"<p>Levers", method=method).kinds == kinds


def test_of_a_page_of_very_many_blocks_the_rules_tell_the_kinds(monkeypatch) -> None:
    def kinds(**options: str) -> list[str]:
        page = partition(ARTICLE.encode(), method="spcola", **options)
        return [block.kind for block in page.blocks]

    learnt, rules = kinds(kinds="learnt"), kinds(kinds="rules")
    for most, expected in ((len(learnt), learnt), (len(learnt) - 1, rules)):
        monkeypatch.setattr(sys.modules[Partition.__module__], "_MOST_LEARNT", most)
        assert kinds(kinds="learnt") == expected


def test_other_words_for_it_are_refused() -> None:
    with pytest.raises(BlockError, match="bwap: kinds=guessed; it is learnt or rules"):
        partition(b"<p>Levers", kinds="guessed")


def test_the_line_with_the_date_is_of_no_kind_of_links_by_any_method() -> None:
    body = "杠杆原理由阿基米德提出：等重的物体放在离支点等距离处则平衡，不等重时与距离成反比。" * 4
    for line in ("<i>2008-03-12</i> 来源：<b>新华网</b>", "发布日期：2008年3月12日 14:05"):
        html = f"<title>杠杆原理</title><div><h1>杠杆原理</h1><p>{line}</p><p>{body}</p></div>"
        for method in ("bwap", r"quark:custom_text=\d{4}", "spcola", "spcola:kinds=learnt"):
            found = {b.text: b.kind for b in partition(html.encode(), method=method).blocks}
            kind = next(kind for text, kind in found.items() if "2008" in text)
            assert not kind.endswith("-links")


def test_a_model_is_read_as_it_was_written() -> None:
    file = io.BytesIO()
    kind_model().save(file)  # type: ignore[arg-type]
    read = KindModel.load(io.BytesIO(file.getvalue()))
    assert (read.follows == kind_model().follows).all()
    assert (read.own.hidden == kind_model().own.hidden).all()
    assert len(read.mean) == len(FEATURES) + len(PAPER_KINDS)
    assert read.own.out.shape[2] == len(OWN)
    assert read.other.out.shape[2] == len(ELSE)


@each("page", pages_in(LABELLED))
def test_all_text_of_a_labelled_page_is_labelled(page) -> None:
    tree = read_tree(page.body)
    labels = NodeLabels.of(page, tree)
    unlabelled = [
        tree.raw_text(node)
        for node, tag in enumerate(tree.tags)
        if tag == TEXT and labels.chars[node] and not labels.kinds[node]
    ]
    assert not unlabelled


def test_nothing_is_kept_of_the_text_of_a_page_but_of_its_links() -> None:
    def read(pages: range) -> None:
        for step in pages:
            text = "".join(chr(0x4E00 + (step * number) % 20_000) for number in range(3_000))
            body = f"<meta charset=utf-8>{ARTICLE.replace(TEXT_OF_LEVERS, text)}"
            page = partition(body.encode())
            assert learnt_kinds(page.facts, [block.nodes for block in page.blocks])

    read(range(1, 3))
    tracemalloc.start()
    read(range(3, 7))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2_000_000  # terms of four texts would be more than three
