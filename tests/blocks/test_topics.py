"""What a block is about."""

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import (
    PageTopics,
    PageTree,
    TopicRules,
    extract,
    has_words,
    partition,
    read_tree,
    trim,
    words_of,
)
from tests.growth import assert_linear
from tests.tables import each

PROSE = "Archimedes of Syracuse said that he would move the earth, had he a place to stand. "
LAW = "The Law of the Lever"


def topic(html: str, **options: int) -> str:
    tree = read_tree(html.encode(), encoding="utf-8")
    return PageTopics(tree, TopicRules(**options)).of(range(1, len(tree)))


@each(
    "html",
    [
        # in the largest type
        f"<h2>{LAW}</h2><p>{PROSE}</p>",
        f"<p>{PROSE}</p><h4>{LAW}</h4><p>{PROSE}</p>",
        f"<h3>Archimedes</h3><h1>{LAW}</h1><p>{PROSE}</p>",
        f"<b style='font-size: 20px'>{LAW}</b> {PROSE}",
        f"<h3>{LAW}</h3><p>2 h ago</p>",
        f"<h2><i>The</i> <i>Law</i> of the Lever</h2><p>{PROSE}</p>",
        f"<h2>The <font color=red>Law</font> of the Lever</h2><p>{PROSE}</p>",
        # neither a price nor a drop cap
        f"<h1>$ 19.99</h1><font size=7>A</font><h3>{LAW}</h3><p>{PROSE}</p>",
        # a short line alone at the front
        f"<p>{LAW}</p><p>{PROSE * 3}</p>",
        f"{LAW}<br>{PROSE * 3}",
        f"<div>{LAW}</div><ul><li><a href=1>One</a><li><a href=2>Two</a></ul>",
        f"<b>{LAW}</b><br>One<br>Two<br>Three<br>Four and five and six",
        f"<table><caption>{LAW}</caption><tr><td>arm<td>force</table>",
        f"<p>» {LAW}:</p>",
        f"<p>* 2008-03-12</p><p>{LAW}</p><p>{PROSE * 3}</p>",
        # in a colour of its own
        f"{PROSE}<font color=red>{LAW}</font> {PROSE}",
        f"<p>{PROSE}</p><table><tr><td bgcolor=gray>{LAW}</table>",
    ],
)
def test_text_that_stands_out_is_the_topic(html: str) -> None:
    assert topic(html) == LAW


@each(
    "html, expected",
    [
        (f"<p>Levers.</p><p>{PROSE * 3}</p><small>all rights reserved</small>",
         "Archimedes Syracuse said move earth place stand"),
        (f"{PROSE} <font color=red>new</font>" * 2 + PROSE,
         "Archimedes Syracuse said move earth place stand new"),
        ("<ul><li>Levers<li>Pulleys<li>Screws</ul>", "Levers Pulleys Screws"),
        ("<b>The lever</b><br><b>The pulley</b>", "lever pulley"),
        ("<a href=1>Levers</a><br><a href=2>Pulleys</a>", "Levers Pulleys"),
        ("<font size=4>杠杆原理</font><br>阿基米德说，给我一个支点，我可以撬动地球。", "杠杆原理"),
        ("<script>lever()</script><style>p{}</style><select><option>arm</select><p>Pulley</p>",
         "Pulley"),
        ("<p>Pulleys and ropes</p><noscript>Scripts!</noscript>", "Pulleys and ropes"),
        ("<p>x</p><noscript>Levers and arms</noscript>", "Levers and arms"),
        ("<img alt='A lever' src=a.png><a href=b><img alt=Pulley title=Rope><img alt=Pulley></a>",
         "A lever Pulley Rope"),
        ("<img src=a.png>", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_what_else_a_block_is_about(html: str, expected: str) -> None:
    assert topic(html) == expected


def test_a_long_found_text_is_trimmed() -> None:
    html = f"<h1>{PROSE}</h1><p>{PROSE}</p>"
    assert topic(html, theta=4) == "Archimedes Syracuse said move"
    assert topic(html, theta=30) == PROSE.strip()


def test_trimming_drops_stop_words_and_repeated_words() -> None:
    text = "The laws of the lever, the law of the pulley, and Levers again"
    assert (trim(text, 9), trim(text, 2)) == ("laws lever pulley", "laws lever")
    assert (trim("to be or not to be", 3), trim("", 3)) == ("to be or", "")
    assert trim("牛顿发现了万有引力定律，并且研究光学", 9) == "牛顿发现 万有引力定律 研究光学"


def test_extraction_takes_the_first_words_that_occur_more_than_epsilon_times() -> None:
    text = "Levers lift. A pulley lifts. The screw, a lever, and pulleys: lifting levers lift it."
    assert extract(text, 9, 1) == "Levers lift pulley"
    assert extract(text, 2, 1) == "Levers lift"
    # Fewer than three words occur three times: all of them count.
    assert extract(text, 9, 2) == "Levers lift pulley screw"
    assert extract("力学的书。牛顿的光学。光学和力学。牛顿。", 9, 1) == "力学 牛顿 光学"
    text = "12 12 x x X X 书 书 da da de de NASA NASA lever lever pulley pulley"
    assert extract(text, 9, 1) == "NASA lever pulley"


def test_words_are_extracted_from_delta_words_on_and_from_ten_thousand_characters() -> None:
    html = "<ul><li>lever arm<li>pulley rope<li>lever force<li>pulley load<li>arm force</ul>"
    assert topic(html, delta=11) == "lever arm pulley rope force load"
    assert topic(html, delta=10) == "lever arm pulley force"
    front = "wedge lever lever pulley pulley screw screw "
    assert topic(front + "of " * 3000 + "wedge") == "wedge lever pulley screw"
    assert topic(front + "of " * 4000 + "wedge") == "lever pulley screw"


def test_words_are_taken_as_printed_repeated_ones_among_them() -> None:
    text = "lever lever pulley wheel"
    assert (trim(text, 3), trim(text, 3, distinct=True)) == ("lever pulley", "lever pulley wheel")
    text = "lever lever pulley pulley screw screw wedge wedge"
    assert extract(text, 6, 1) == "lever pulley screw"
    assert extract(text, 5, 1, distinct=True) == "lever pulley screw wedge"
    text = "arm lever rope pulley screw lever pulley screw"
    assert extract(text, 5, 1) == "lever pulley screw"
    assert extract(text, 4, 1) == "arm lever rope pulley"  # two that are repeated are too few
    assert extract(text, 4, 1, distinct=True) == "lever pulley screw"


def test_the_rules_of_a_method_are_those_of_the_topics_of_its_blocks() -> None:
    body = b"<div><p>lever lever pulley wheel axle wedge screw</p></div>"
    [block] = partition(body, method="bwap:theta=3").blocks
    assert block.topic == "lever pulley"
    [block] = partition(body, method="bwap", theta="3", distinct="true").blocks
    assert block.topic == "lever pulley wheel"


PAGES = (
    "<html><body>{}</body></html>",
    "<h1>Another page</h1><table><tr><td bgcolor=red><font size=7 color=blue><b>{}</b></font>",
    "<style>p {{ color: red }}</style><noscript><a href=x><div style='font-size: 3em'>{}",
)
PARTS = [
    "<h2>Law</h2>", "<font color=red>red</font>", "<p style='font-size: 90%'>small</p>",
    "<p>杠杆原理与力学</p>", "<noscript>no script</noscript>", "<img alt=picture>",
    "<ul><li>Levers<li>Pulleys</ul>", PROSE, " ",
]  # fmt: skip


def topic_of_block(tree: PageTree) -> str:
    node = next(i for i in range(len(tree)) if tree.attributes(i).get("id") == "block")
    return PageTopics(tree, TopicRules()).of(range(node, tree.after[node]))


@given(st.lists(st.sampled_from(PARTS), max_size=5).map("".join))
def test_the_same_bytes_have_the_same_topic_on_any_page(inner: str) -> None:
    block = f"<div id=block>{inner}</div>"
    topics = {topic_of_block(read_tree(page.format(block).encode())) for page in PAGES}
    assert len(topics) == 1


WORDS = st.lists(st.sampled_from(["don't ", "力学的", "x" * 65, "É", "ﷺ"])).map("".join)


@given(st.text(max_size=200) | WORDS, st.integers(1, 5))
def test_words_stand_in_the_text_in_order_and_a_topic_has_theta_of_them(text: str, theta: int):
    words, end = words_of(text), 0
    for word in words:
        start = text.index(word.text, end)
        assert word.key
        assert word.text
        assert not word.adjoins or start == end
        end = start + len(word.text)
    assert has_words(text, theta) == (len(words) >= theta)
    tree = read_tree(text.encode("utf-8", "replace"), encoding="utf-8")
    found = PageTopics(tree, TopicRules(theta)).of(range(1, len(tree)))
    assert len(words_of(found)) <= theta


@each("repeated", ["<font size=+3 color=red>x ", "<b>a</b><br>", "力学"])
def test_long_and_deep_blocks_take_linear_time(repeated: str) -> None:
    trees = {size: read_tree((repeated * size).encode()) for size in (1_500, 6_000)}
    assert_linear(lambda size: PageTopics(trees[size]).of(range(1, len(trees[size]))), 1_500)
