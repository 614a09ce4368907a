"""The partition with levels of Song et al. 2008: its worked example, and what bwap adds.

The functional tests of the paper's table 1 are in `tests/golden/tables/song2008.txt`.
"""

import pytest

from mmcrawl.blocks import Partition, partition
from mmcrawl.blocks.partitioners import Bwap
from tests.growth import assert_linear
from tests.tables import each

# Figures 1 and 2: bars above, three columns, bars below.
BAR = "<tr id={}><td><img src=/{}.gif></td><td>{} <a href=/1>one</a> <a href=/2>two</a></td></tr>"
LINKS = "".join(f"<div><a href=/menu/{n}>Menu {n}</a></div>\n" for n in range(24))
STORY = "<p id={0}><b><a href=/{0}>Story {0}</a></b><br>What happened in {0}, and <i>why</i>.</p>\n"
CALENDAR = (
    "<table><tr><td><div><p>Monday<p>Tuesday</div><div><p>May<p>June</div></td>"
    "<td><div><p>Week<p>Year</div><div><p>Day<p>Night</div></td></tr></table>"
)
# The same in rows and tables of one cell, as pages were drawn when the paper was written.
BAR_OF_ONE = "<tr><td id={}><img src=/{}.gif> {} <a href=/1>one</a> <a href=/2>two</a></td></tr>"
TABLE = "<table><tr><td id={0}><b><a href=/{0}>Story {0}</a></b><br>All about {0}.</table>\n"

LEVELS = (
    "T1 T2 C B1 B2",
    "T1 T2 CL CC CR B1 B2",
    "T1 T2 CL CC1 CC2 CC3 CC4 CC5 CC6 CR1 CR2 CR3 CR4 CR5 CR6 B1 B2",
)


def column(name: str, story: str = STORY) -> str:
    stories = "".join(story.format(f"{name}{n}") for n in range(1, 6))
    dates = f"<tr><td>Dates of <b>{name}</b></td></tr><tr><td>{CALENDAR}</td></tr>"
    return f"<td id={name}>{stories}<table id={name}6>{dates}</table></td>\n"


def portal(bar: str = BAR, story: str = STORY) -> str:
    """Return the example; `bar` and `story` have the ids of the blocks where these come to lie."""
    titles = {"T1": "Portal", "T2": "Sections", "B1": "Partners", "B2": "Imprint"}
    bars = [bar.format(name, name, title) for name, title in titles.items()]
    middle = f"<tr id=C><td id=CL>{LINKS}</td>\n{column('CC', story)}{column('CR', story)}</tr>"
    rows = "".join([*bars[:2], middle, *bars[2:]])
    head = "<html><head><title>A portal</title><script>var a = '<p>';</script></head>"
    return f"{head}\n<body>\n<table>{rows}</table>\n</body></html>\n"


def cut(html: str, level: int = 3, **options: float) -> Partition:
    page = partition(html.encode(), level=level, **options)
    assert page.splice() == html.encode()
    return page


def ids(page: Partition) -> list[str]:
    return [page.tree.attributes(block.node).get("id", "") for block in page.blocks]


def contents(page: Partition) -> list[str]:
    return [block.content.decode() for block in page.blocks]


@each("story", [STORY, TABLE])
@each("bar", [BAR, BAR_OF_ONE])
def test_blocks_of_each_level_however_bars_and_stories_are_drawn(bar: str, story: str) -> None:
    page = portal(bar, story)
    for level, names in enumerate(LEVELS, 1):
        assert ids(cut(page, level)) == names.split()
    deeper = ids(cut(page, 4))
    assert (deeper[:3], deeper[-2:]) == (["T1", "T2", "CL"], ["B1", "B2"])


def test_what_stands_where() -> None:
    page = cut(portal())
    assert page.blocks[3].content == STORY.format("CC1").rstrip("\n").encode()
    assert page.blocks[3].path == "html/body/table/tr[3]/td[2]/p"
    assert page.layout[0].startswith(b"<html><head><title>A portal")
    assert page.layout[4] == b"\n"


def test_a_local_change_touches_one_block_and_no_layout() -> None:
    before = cut(portal())
    for words in ("yesterday ", "<i>again</i> ", "<img src=/new.png>", "x" * 500):
        after = cut(portal().replace("happened in CC2", f"happened {words}in CC2"))
        assert len(set(contents(after)) - set(contents(before))) == 1
        assert after.layout == before.layout


FRAMES = "<frameset cols='20%,*'><frame src=a><frame src=b><noframes>No<p>x"


@each(
    "html, blocks",
    [
        ("", []),
        ("<html><head><title>t</title></head><body></body></html>", []),
        ("lever <b>and</b> pulley", ["lever <b>and</b> pulley"]),
        ("<body>lever</body>", ["<body>lever</body>"]),
        ("<body><p>lever</p></body>", ["<p>lever</p>"]),
        ("<img src=/a.png>", ["<img src=/a.png>"]),
        ("lever<br>" * 9 + "<p>And pulleys.</p>", ["<p>And pulleys.</p>"]),  # the paper's failure
        (f"<html>{FRAMES}", [FRAMES]),
    ],
)
def test_pages_of_little_structure(html: str, blocks: list[str]) -> None:
    assert contents(cut(html)) == blocks


@each("piece", ["and more", "<img src=/a.png>", "<input>", "<b>more</b>"])
def test_a_block_is_not_split_where_too_much_would_be_left_to_the_layout(piece: str) -> None:
    def parts(loose: int) -> int:
        boxes = "<div><p>Lever <b>lifts</b></p></div><p>Wheels <b>turn</b></p>" * 2
        html = f"<article>{f'{piece}<br>' * loose}{boxes}</article>"
        return len(cut(f"<div>{html}<p>Pulleys</p></div>").blocks) - 1

    assert parts(4) == 4  # 8 of 12 pieces are in them
    assert parts(5) == 1


def test_a_level_more_keeps_the_blocks_above() -> None:
    def of_level(page: Partition, level: int) -> list[tuple[int, int]]:
        return [(block.start, block.end) for block in page if block.level == level]

    for level in (1, 2, 3):
        more, less = cut(portal(), level + 1), cut(portal(), level)
        assert of_level(more, level) == of_level(less, level)
        assert max(block.level for block in less) == level


def test_a_block_around_one_block_is_looked_into() -> None:
    parts = "<p id=a>Levers lift</p><p id=b>Wheels turn</p>"
    page = cut(f"<article>A word <div><section>{parts * 3}</section></div></article><p>Pulleys", 2)
    assert [len(block.children) for block in page.roots] == [6, 0]


def test_a_link_around_boxes_is_one_thing_and_an_item_of_one_link_is_not_lost() -> None:
    cards = "".join(f"<a href=/{n}><h3>Lever {n}</h3><p>It lifts</p></a>" for n in range(5))
    page = cut(f"<main><div id=cards>{cards}<p>More</p></div><p id=end>The end</p></main>")
    assert ids(page) == ["cards", "end"]
    parts = ["<h3>Shop offers</h3>", "<p>text of it here</p>", "<li><a href=1>First one</a></li>"]
    assert contents(cut(f"<ul><li>{parts[0]}{parts[1]}</li>{parts[2]}</ul>")) == parts


def test_options() -> None:
    deep = "<div>" * 30 + "<p>Levers</p>" + "</div>" * 30
    assert contents(cut(deep, max_depth=31)) == ["<p>Levers</p>"]
    assert contents(cut(deep, max_depth=30)) == []
    inner = f"<section>Levers<div>{deep.replace('</p>', '<p>Wheels turn')}</div></section>"
    assert len(cut(inner, 2, max_depth=33).blocks) == 2  # counted from the page in all levels
    assert len(cut(inner, 2, max_depth=32).blocks) == 1
    small = "<div><p>Levers</p><p>|</p><p>Pulleys</p></div>"
    assert [len(cut(small, 2, min_size=size).blocks) for size in (0, 1, 1000)] == [3, 2, 0]
    bwap = Bwap(max_depth="99", min_size="0.5")
    assert (bwap.max_depth, bwap.min_size) == (99, 0.5)
    nan = float("nan")
    for wrong in ({"max_depth": 0}, {"max_depth": "a"}, {"min_size": -1}, {"min_size": nan}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Bwap(**wrong)


def test_time_is_in_proportion_to_the_page_however_deep() -> None:
    def deep(depth: int) -> str:
        return "<div>" * depth + "<p>Levers<p>Pulleys" + "</div>" * depth

    def mixed(depth: int) -> str:
        return "<div bgcolor=red>text <b>x</b>" * depth + "</div>" * depth

    assert cut(deep(20_000)).blocks == ()  # deeper than max_depth
    assert len(cut(deep(20_000), max_depth=40_000).blocks) == 2
    assert_linear(lambda depth: cut(deep(depth), 50, max_depth=40_000), 2_000)
    assert_linear(lambda depth: cut(mixed(depth), 50, max_depth=40_000), 2_000)
