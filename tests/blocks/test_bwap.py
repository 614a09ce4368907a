"""The partition with levels of Song et al. 2008: its worked example, and its table 1."""

import pytest

from mmcrawl.blocks import PageTree, Partition, partition, read_tree
from mmcrawl.blocks.partitioners import MAX_LEVEL, RULES, BlockRules, Bwap
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


def column(name: str, story: str = STORY) -> str:
    stories = "".join(story.format(f"{name}{n}") for n in range(1, 6))
    dates = f"<tr><td>Dates of <b>{name}</b></td></tr><tr><td>{CALENDAR}</td></tr>"
    return f"<td id={name}>{stories}<table id={name}6>{dates}</table></td>\n"


def portal(bar: str = BAR, story: str = STORY) -> str:
    """Return the example; `bar` and `story` have the ids of the blocks where these come to lie."""
    bars = [bar.format(n, n, t) for n, t in zip(BARS, BAR_TITLES, strict=True)]
    middle = f"<tr id=C><td id=CL>{LINKS}</td>\n{column('CC', story)}{column('CR', story)}</tr>"
    rows = "".join([*bars[:2], middle, *bars[2:]])
    head = "<html><head><title>A portal</title><script>var a = '<p>';</script></head>"
    return f"{head}\n<body>\n<table>{rows}</table>\n</body></html>\n"


BARS, BAR_TITLES = ("T1", "T2", "B1", "B2"), ("Portal", "Sections", "Partners", "Imprint")
EXAMPLE = portal()
LEVEL_1 = ["T1", "T2", "C", "B1", "B2"]
LEVEL_2 = ["T1", "T2", "CL", "CC", "CR", "B1", "B2"]
LEVEL_3 = [
    "T1", "T2", "CL",
    "CC1", "CC2", "CC3", "CC4", "CC5", "CC6",
    "CR1", "CR2", "CR3", "CR4", "CR5", "CR6",
    "B1", "B2",
]  # fmt: skip


def cut(html: str | bytes, level: int = 3, **options: float) -> Partition:
    body = html if isinstance(html, bytes) else html.encode()
    page = partition(body, level=level, **options)
    assert page.splice() == body
    return page


def ids(page: Partition) -> list[str]:
    return [page.tree.attributes(block.node).get("id", "") for block in page.blocks]


def contents(page: Partition) -> list[bytes]:
    return [block.content for block in page.blocks]


def new_blocks(before: str, after: str, level: int = 3) -> list[bytes]:
    known = contents(cut(before, level))
    return [content for content in contents(cut(after, level)) if content not in known]


def in_layout(page: Partition, text: str) -> bool:
    return any(text.encode() in piece for piece in page.layout)


class TestWorkedExample:
    """Section 2.1, figures 2 to 4 and 6."""

    @each("story", [STORY, TABLE])
    @each("bar", [BAR, BAR_OF_ONE])
    def test_blocks_of_each_level_however_bars_and_stories_are_drawn(self, bar, story):
        page = portal(bar, story)
        for level, names in enumerate((LEVEL_1, LEVEL_2, LEVEL_3), 1):
            assert ids(cut(page, level)) == names
        deeper = ids(cut(page, 4))
        assert (deeper[:3], deeper[-2:]) == (["T1", "T2", "CL"], ["B1", "B2"])

    def test_the_rules_that_the_paper_names(self) -> None:
        tree = read_tree(EXAMPLE.encode())
        rules = BlockRules(tree)
        assert self._deciding(rules, "CL", False) == 8
        assert self._deciding(rules, "CC", True) == 10
        assert self._deciding(rules, "CR", True) == 10
        assert self._deciding(rules, "CC", False) == 11
        tables = BlockRules(read_tree(portal(story=TABLE).encode()))
        assert self._deciding(tables, "CC", True) == 10
        assert self._deciding(tables, "CC", False) == 7

    def test_cl_cannot_be_split_by_rules_2_and_3(self) -> None:
        tree = read_tree(EXAMPLE.encode())
        rules, cl = BlockRules(tree), self._node(tree, "CL")
        inside = range(cl + 1, tree.after[cl])
        elements = [node for node in inside if tree.tags[node] in ("div", "a")]
        assert len(elements) == 48
        for node in elements:
            first = next(n for n, rule in enumerate(RULES, 1) if rule(rules, node, True) is False)
            assert first == (3 if tree.tags[node] == "div" else 2)

    def test_what_stands_where(self) -> None:
        page = cut(EXAMPLE, 3)
        assert page.blocks[3].content == STORY.format("CC1").rstrip("\n").encode()
        assert page.blocks[3].path == "html/body/table/tr[3]/td[2]/p"
        assert page.layout[0].startswith(b"<html><head><title>A portal")
        assert page.layout[-1].startswith(b"</table>")
        assert page.layout[4] == b"\n"

    @staticmethod
    def _node(tree: PageTree, name: str) -> int:
        return next(i for i in range(len(tree)) if tree.attributes(i).get("id") == name)

    def _deciding(self, rules: BlockRules, name: str, follows_block: bool) -> int:
        node = self._node(rules.tree, name)
        verdicts = (rule(rules, node, follows_block) for rule in RULES)
        return next((n for n, verdict in enumerate(verdicts, 1) if verdict is not None), 11)


class TestTable1:
    """The functional tests of the paper's table 1, in its order."""

    def test_layouts_that_change(self) -> None:
        columns = EXAMPLE.replace("<tr id=C>", "<tr id=C class=wide><td>New column <b>!</b></td>")
        bars = EXAMPLE.replace(BAR.format("T2", "T2", "Sections"), "")
        boxed = EXAMPLE.replace("<body>", "<body><div id=frame>").replace(
            "</body>", "</div></body>"
        )
        for changed in (columns, bars, boxed):
            new = new_blocks(EXAMPLE, changed)
            assert len(new) <= 1
            assert not any(b"What happened" in content for content in new)

    def test_a_tiny_change(self) -> None:
        changed = EXAMPLE.replace("happened in CC2", "happened yesterday in CC2")
        assert len(new_blocks(EXAMPLE, changed)) == 1
        assert cut(changed).layout == cut(EXAMPLE).layout

    def test_a_story_more(self) -> None:
        story = STORY.format("CC0")
        changed = EXAMPLE.replace("<td id=CC>", "<td id=CC>" + story)
        assert new_blocks(EXAMPLE, changed) == [story.rstrip("\n").encode()]

    @each(
        "html, blocks",
        [
            ("", []),
            ("   \n", []),
            ("<html></html>", []),
            ("<html><head><title>t</title></head><body></body></html>", []),
            ("lever", ["lever"]),
            ("lever <b>and</b> pulley", ["lever <b>and</b> pulley"]),
            ("<body>lever</body>", ["<body>lever</body>"]),
            ("<body><p>lever</p></body>", ["<p>lever</p>"]),
            ("<img src=/a.png>", ["<img src=/a.png>"]),
        ],
    )
    def test_abnormally_simple(self, html: str, blocks: list[str]) -> None:
        assert contents(cut(html)) == [block.encode() for block in blocks]

    def test_many_scripts(self) -> None:
        script = "<script>document.write('<table><tr><td>no</td></tr></table>');</script>\n"
        style = "<style>p { color: red }</style>"
        html = EXAMPLE.replace("<tr", script + style + "<tr").replace("<body>", script + "<body>")
        page = cut(html)
        assert ids(page) == LEVEL_3
        assert in_layout(page, "document.write")
        within = html.replace("<br>", f"<br>{script}")
        assert ids(cut(within)) == LEVEL_3

    def test_mostly_text(self) -> None:
        """The paper's one failure. Here paragraphs are blocks; loose text stays in the layout."""
        paragraphs = "".join(f"<p>Paragraph {n} is about <i>levers</i>.\n" for n in range(40))
        assert len(cut(f"<body>{paragraphs}</body>").blocks) == 40
        lines = "<br>".join(f"Line {n} is about levers." for n in range(40))
        assert contents(cut(f"<body>{lines}</body>")) == [f"<body>{lines}</body>".encode()]
        loose = f"<body>{lines}<p>And pulleys.</p>{lines}</body>"
        page = cut(loose)
        assert contents(page) == [b"<p>And pulleys.</p>"]
        assert in_layout(page, "Line 7 is about levers.")

    def test_a_block_is_not_split_where_its_text_would_be_left_to_the_layout(self) -> None:
        teasers = "".join(f"<a href=/{n}>Lever {n}</a> and more<p>Pulley {n}</p>" for n in range(9))
        page = cut(f"<div><section id=x>{teasers}</section><p>Pulleys</p></div>", 3)
        assert ids(page) == ["x", ""]

    @each("piece", ["and more", "<img src=/a.png>", "<input>", "<b>more</b>"])
    def test_what_would_be_left_is_counted_in_pieces(self, piece: str) -> None:
        def parts(loose: int) -> int:
            boxes = "<div><p>Lever <b>lifts</b></p></div><p>Wheels <b>turn</b></p>" * 2
            html = f"<article>{f'{piece}<br>' * loose}{boxes}</article>"
            return len(cut(f"<div>{html}<p>Pulleys</p></div>", 3).blocks) - 1

        assert parts(4) == 4  # 8 of 12 pieces are in them
        assert parts(5) == 1

    def test_many_blanks(self) -> None:
        html = EXAMPLE.replace("><", ">\n\n \t <").replace(">\n", ">" + "\r\n  " * 50)
        assert ids(cut(html)) == LEVEL_3

    def test_many_images(self) -> None:
        cells = "".join(f"<td><img src=/{n}.jpg><br><img src=/{n}b.jpg></td>" for n in range(8))
        rows = "".join(f"<tr id=row{n}>{cells}</tr>" for n in range(8))
        html = f"<body><table id=wall>{rows}</table><p>Photographs of levers</p></body>"
        assert ids(cut(html, 1)) == ["wall", ""]
        assert ids(cut(html, 2)) == [*(f"row{n}" for n in range(8)), ""]
        assert len(cut(html, 3).blocks) == 65

    @each("level", [9, MAX_LEVEL - 1])
    def test_a_great_level(self, level: int) -> None:
        page = cut(EXAMPLE, level)
        assert contents(page) == contents(cut(EXAMPLE, level + 1))
        assert len(page.blocks) >= len(LEVEL_3)


def assert_nested(page: Partition) -> None:
    """Each block of level n + 1 lies in one of level n; those of one level do not overlap."""
    for block in page:
        position = block.start
        for child in block.children:
            assert child.level == block.level + 1
            assert position <= child.start < child.end <= block.end
            position = child.end
        assert len(block.children) != 1


class TestLevels:
    @each("level", [1, 2, 3, 4, 7])
    def test_blocks_nest(self, level: int) -> None:
        page = cut(EXAMPLE, level)
        assert_nested(page)
        assert max(block.level for block in page) <= level

    def test_a_level_more_keeps_the_blocks_above(self) -> None:
        def of_level(page: Partition, level: int) -> list[tuple[int, int]]:
            return [(block.start, block.end) for block in page if block.level == level]

        for level in (1, 2, 3):
            more, less = cut(EXAMPLE, level + 1), cut(EXAMPLE, level)
            assert of_level(more, level) == of_level(less, level)

    def test_a_block_around_one_block_is_looked_into(self) -> None:
        inner = "<div>{}<p>Levers</p></div>"
        parts = "<p id=a>Levers lift</p><p id=b>Wheels turn</p>"
        box = inner.format(f"<section>{parts * 3}</section>".replace("<p>Levers</p>", ""))
        page = cut(f"<article>A word {box}</article><p>Pulleys", 2)
        assert len(page.roots) == 2
        assert len(page.roots[0].children) > 1

    def test_links_around_boxes_are_one_thing(self) -> None:
        cards = "".join(f"<a href=/{n}><h3>Lever {n}</h3><p>It lifts</p></a>" for n in range(5))
        more = "<p>More</p>"
        page = cut(f"<main><div id=cards>{cards}{more}</div><p id=end>The end</p></main>", 3)
        assert ids(page) == ["cards", "end"]

    def test_an_item_of_one_link_beside_parted_items_is_a_block(self) -> None:
        offers = "<li><h3>Shop offers</h3><p>text of it here</p></li>"
        item = "<li><a href=1>First product of the shop</a></li>"
        parts = ["<h3>Shop offers</h3>", "<p>text of it here</p>", item]
        assert contents(cut(f"<ul>{offers}{item}</ul>", 3)) == [part.encode() for part in parts]

    def test_framesets(self) -> None:
        html = "<html><frameset cols='20%,*' id=x><frame src=a><frame src=b><noframes>No<p>x"
        assert ids(cut(html)) == ["x"]


class TestOptions:
    def test_max_depth(self) -> None:
        html = "<div>" * 30 + "<p>Levers</p>" + "</div>" * 30
        assert contents(cut(html)) == [b"<p>Levers</p>"]
        assert contents(cut(html, max_depth=31)) == [b"<p>Levers</p>"]
        assert contents(cut(html, max_depth=30)) == []

    def test_max_depth_counts_from_the_page_in_all_levels(self) -> None:
        html = "<section>Levers<div>" + "<div>" * 30 + "<p>a b<p>c d" + "</div>" * 31 + "</section>"
        assert len(cut(html, 2).blocks) == 2
        assert len(cut(html, 2, max_depth=33).blocks) == 2
        assert len(cut(html, 2, max_depth=32).blocks) == 1

    def test_min_size(self) -> None:
        html = "<div><p>Levers</p><p>|</p><p>Pulleys</p></div>"
        assert len(cut(html, 2).blocks) == 2
        assert len(cut(html, 2, min_size=0).blocks) == 3
        assert cut(html, 2, min_size=1000).blocks == ()

    @each(
        "options",
        [
            {"max_depth": 0},
            {"max_depth": "deep"},
            {"max_depth": float("inf")},
            {"min_size": -1},
            {"min_size": "small"},
            {"min_size": float("nan")},
        ],
    )
    def test_impossible_values(self, options: dict[str, float]) -> None:
        with pytest.raises(ValueError, match=next(iter(options))):
            Bwap(**options)  # type: ignore[arg-type]

    def test_values_of_a_command_line(self) -> None:
        bwap = Bwap(max_depth="99", min_size="0.5")
        assert (bwap.max_depth, bwap.min_size) == (99, 0.5)
