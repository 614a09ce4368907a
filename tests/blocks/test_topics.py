"""What a block is about."""

import time

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
from tests.tables import each

PROSE = "Archimedes of Syracuse said that he would move the earth, had he a place to stand. "


def topic(html: str, encoding: str = "utf-8", **options: int) -> str:
    tree = read_tree(html.encode(encoding), encoding=encoding)
    return PageTopics(tree, TopicRules(**options)).of(range(1, len(tree)))


def topic_of(tree: PageTree, name: str, **options: int) -> str:
    """Return the topic of the element with an id."""
    node = next(i for i in range(len(tree)) if tree.attributes(i).get("id") == name)
    return PageTopics(tree, TopicRules(**options)).of(range(node, tree.after[node]))


# ---------------------------------------------------------------- found


@each(
    "html",
    [
        f"<h2>The Law of the Lever</h2><p>{PROSE}</p>",
        f"<p>{PROSE}</p><h4>The Law of the Lever</h4><p>{PROSE}</p>",
        f"<h3>Archimedes</h3><h1>The Law of the Lever</h1><p>{PROSE}</p>",
        f"<font size=5>The Law of the Lever</font> {PROSE}",
        f"<b style='font-size: 20px'>The Law of the Lever</b> {PROSE}",
        "<h3>The Law of the Lever</h3><p>2 h ago</p>",
        f"<h2>The <i>Law</i> of the Lever</h2><p>{PROSE}</p>",
        f"<h2><i>The</i> <i>Law</i> of the Lever</h2><p>{PROSE}</p>",
        f"<h2>The <font color=red>Law</font> of the Lever</h2><p>{PROSE}</p>",
    ],
)
def test_the_text_in_the_largest_type_is_the_topic(html: str):
    assert topic(html) == "The Law of the Lever"


def test_small_print_does_not_make_the_rest_a_topic():
    html = f"<p>Levers and pulleys.</p><p>{PROSE * 3}</p><small>all rights reserved</small>"
    assert topic(html) == "Archimedes Syracuse said move earth place stand"


def test_a_price_or_a_drop_cap_in_large_type_is_no_topic():
    html = f"<h1>$ 19.99</h1><font size=7>A</font><h3>The Lever</h3><p>{PROSE}</p>"
    assert topic(html) == "The Lever"


@each(
    "html",
    [
        f"<p>The Law of the Lever</p><p>{PROSE * 3}</p>",
        f"The Law of the Lever<br>{PROSE * 3}",
        f"<div>The Law of the Lever</div>{PROSE * 3}",
        "<div>The Law of the Lever</div><ul><li><a href=1>One</a><li><a href=2>Two</a></ul>",
        "<b>The Law of the Lever</b><br>One<br>Two<br>Three<br>Four and five and six",
        "<table><caption>The Law of the Lever</caption><tr><td>arm<td>force</table>",
        "<p>» The Law of the Lever:</p>",
        f"<p>* 2008-03-12</p><p>The Law of the Lever</p><p>{PROSE * 3}</p>",
    ],
)
def test_a_short_line_alone_at_the_front_is_the_topic(html: str):
    assert topic(html) == "The Law of the Lever"


def test_the_first_of_several_like_lines_is_no_topic():
    assert topic("<ul><li>Levers<li>Pulleys<li>Screws</ul>") == "Levers Pulleys Screws"
    assert topic("<b>The lever</b><br><b>The pulley</b>") == "lever pulley"
    assert topic("<a href=1>Levers</a><br><a href=2>Pulleys</a>") == "Levers Pulleys"


@each(
    "html",
    [
        f"{PROSE}<font color=red>The Law of the Lever</font> {PROSE}",
        f"<p>{PROSE}</p><p style='color: #f00'>The Law of the Lever</p><p>{PROSE}</p>",
        f"<p>{PROSE}</p><table><tr><td bgcolor=gray>The Law of the Lever</table>",
    ],
)
def test_text_of_a_colour_of_its_own_is_the_topic(html: str):
    assert topic(html) == "The Law of the Lever"


def test_a_colour_used_again_and_again_is_no_sign():
    red = "<font color=red>new</font>"
    assert topic(f"<p>{PROSE}{red} {PROSE} {red} {PROSE}</p>").startswith("Archimedes")


def test_a_long_found_text_is_trimmed():
    html = f"<h1>{PROSE}</h1><p>{PROSE}</p>"
    assert topic(html, theta=4) == "Archimedes Syracuse said move"
    assert topic(f"<h1>{PROSE}</h1><p>{PROSE}</p>", theta=30) == PROSE.strip()


# ---------------------------------------------------------------- extracted


def test_trimming_drops_stop_words_and_repeated_words():
    text = "The laws of the lever, the law of the pulley, and Levers again"
    assert trim(text, 9) == "laws lever pulley"
    assert trim(text, 2) == "laws lever"
    assert trim("to be or not to be", 3) == "to be or"
    assert trim("", 3) == ""


def test_extraction_takes_the_first_words_that_occur_more_than_epsilon_times():
    text = "Levers lift. A pulley lifts. The screw, a lever, and pulleys: lifting levers lift it."
    assert extract(text, 9, 1) == "Levers lift pulley"
    assert extract(text, 2, 1) == "Levers lift"
    # Fewer than three words occur three times: all of them count.
    assert extract(text, 9, 2) == "Levers lift pulley screw"


def test_numbers_single_letters_and_small_particles_are_not_extracted():
    text = "12 12 x x X X 书 书 da da de de NASA NASA lever lever pulley pulley"
    assert extract(text, 9, 1) == "NASA lever pulley"


def test_words_are_extracted_from_delta_words_on():
    html = "<ul><li>lever arm<li>pulley rope<li>lever force<li>pulley load<li>arm force</ul>"
    assert topic(html, delta=11) == "lever arm pulley rope force load"
    assert topic(html, delta=10) == "lever arm pulley force"


def test_words_are_extracted_from_the_first_ten_thousand_characters():
    front = "wedge lever lever pulley pulley screw screw "
    assert topic(front + "of " * 3000 + "wedge") == "wedge lever pulley screw"
    assert topic(front + "of " * 4000 + "wedge") == "lever pulley screw"


def test_chinese_is_cut_into_words_and_joined_as_written():
    assert trim("牛顿发现了万有引力定律，并且研究光学", 9) == "牛顿发现 万有引力定律 研究光学"
    text = "力学的书。牛顿的光学。光学和力学。牛顿。"
    assert extract(text, 9, 1) == "力学 牛顿 光学"


def test_a_chinese_headline_is_found():
    html = "<div><font size=4>杠杆原理</font><br>阿基米德说，给我一个支点，我可以撬动地球。</div>"
    assert topic(html) == "杠杆原理"


def test_scripts_styles_and_options_are_not_read():
    html = "<script>lever()</script><style>p{}</style><select><option>arm</select><p>Pulley</p>"
    assert topic(html) == "Pulley"


def test_text_for_readers_without_scripts_counts_where_there_is_little_else():
    assert topic("<p>Pulleys and ropes</p><noscript>Scripts!</noscript>") == "Pulleys and ropes"
    assert topic("<p>x</p><noscript>Levers and arms</noscript>") == "Levers and arms"


def test_a_block_of_images_is_about_their_alternative_texts():
    html = "<img alt='A lever' src=a.png><a href=b><img alt=Pulley title=Rope><img alt=Pulley></a>"
    assert topic(html) == "A lever Pulley Rope"
    assert topic("<img src=a.png>") == topic("<script>f()</script>") == topic("") == ""


# ---------------------------------------------------------------- always the same


PAGES = (
    "<html><body>{}</body></html>",
    "<h1>Another page</h1><table><tr><td bgcolor=red><font size=7 color=blue><b>{}</b></font>",
    "<style>p {{ color: red }}</style><noscript><a href=x><div style='font-size: 3em'>{}",
    "<object><p>Levers<br><b style='color: navy'>{}",
)
PARTS = [
    "<h2>Law</h2>",
    "<font color=red>red</font>",
    "<p style='font-size: 90%'>small</p>",
    "<p>杠杆原理与力学</p>",
    "<noscript>no script</noscript>",
    "<img alt=picture>",
    "<ul><li>Levers<li>Pulleys</ul>",
    PROSE,
    " ",
]


@given(st.lists(st.sampled_from(PARTS), max_size=5).map("".join))
def test_the_same_bytes_have_the_same_topic_on_any_page(inner: str):
    block = f"<div id=block>{inner}</div>"
    topics = {topic_of(read_tree(page.format(block).encode()), "block") for page in PAGES}
    assert len(topics) == 1


@given(st.text())
def test_words_stand_in_the_text_in_order(text: str):
    end = 0
    for word in words_of(text):
        start = text.index(word.text, end)
        assert word.key
        assert word.text
        assert not word.adjoins or start == end
        end = start + len(word.text)


@given(st.lists(st.sampled_from(["don't ", "力学的", "x" * 65, "É", " ", "ﷺ"])), st.integers(1, 5))
def test_words_are_counted_without_being_stemmed(parts: list[str], count: int):
    text = "".join(parts)
    assert has_words(text, count) == (len(words_of(text)) >= count)


@given(st.text(max_size=200), st.integers(1, 5))
def test_a_topic_has_at_most_theta_words_of_the_block(text: str, theta: int):
    tree = read_tree(text.encode("utf-8", "replace"), encoding="utf-8")
    found = PageTopics(tree, TopicRules(theta)).of(range(1, len(tree)))
    assert len(words_of(found)) <= theta


@each(
    "repeated", ["<font size=+3 color=red>x ", "<p style='font-size:0%'>x", "<b>a</b><br>", "力学"]
)
def test_long_and_deep_blocks_take_linear_time(repeated: str):
    tree = read_tree((repeated * 20_000).encode(), encoding="utf-8")
    started = time.process_time()
    PageTopics(tree).of(range(1, len(tree)))
    assert time.process_time() - started < 10  # half a second; quadratic work takes minutes


# ---------------------------------------------------------------- as printed, or not


def test_the_first_words_are_taken_as_printed_repeated_ones_among_them():
    text = "lever lever pulley wheel"
    assert trim(text, 3) == "lever pulley"
    assert trim(text, 3, distinct=True) == "lever pulley wheel"
    text = "lever lever pulley pulley screw screw wedge wedge"
    assert extract(text, 6, 1) == "lever pulley screw"
    assert extract(text, 5, 1, distinct=True) == "lever pulley screw wedge"


def test_frequent_words_behind_the_first_ones_are_not_looked_at():
    text = "arm lever rope pulley screw lever pulley screw"
    assert extract(text, 5, 1) == "lever pulley screw"
    assert extract(text, 4, 1) == "arm lever rope pulley"  # two that are repeated are too few
    assert extract(text, 4, 1, distinct=True) == "lever pulley screw"


def test_the_rules_of_a_method_are_those_of_the_topics_of_its_blocks():
    body = b"<div><p>lever lever pulley wheel axle wedge screw</p></div>"
    [block] = partition(body, method="bwap:theta=3").blocks
    assert block.topic == "lever pulley"
    [block] = partition(body, method="bwap", theta="3", distinct="true").blocks
    assert block.topic == "lever pulley wheel"
