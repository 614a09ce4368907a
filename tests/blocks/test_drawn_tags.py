"""Start tags read for what an element is drawn by: the same as when all of a tag is read."""

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import PageTree, read_tree
from mmcrawl.blocks.layout import drawn_tags

NAMES = ("class", "id", "style", "bgcolor", "width", "height", "color", "size")
PIECES = [*NAMES, "CLASS", "href", "data-id", "a", "=", "=", '"', '"', "'", " ", " ", "\n", "/"]
PIECES += ["<", "&amp;", "&", "\0", "é", "你", "x class=", ' id="', "1", "%", ";"]
TAGS = st.lists(st.lists(st.sampled_from(PIECES)).map("".join), min_size=1, max_size=4)


def assert_same(tree: PageTree) -> None:
    told = [found.attributes for found in drawn_tags(tree)]
    all_read = [tree.attributes(node) for node in range(len(tree))]
    for some, of in zip(told, all_read, strict=True):
        assert {n: some[n] for n in NAMES if n in some} == {n: of[n] for n in NAMES if n in of}


@given(TAGS, st.sampled_from(["utf-8", "gb18030", "utf-16-le", "iso2022_jp", "big5"]))
def test_any_start_tag_is_read_as_by_the_tree(tags: list[str], encoding: str) -> None:
    page = "".join(f"<p {tag}>x" for tag in tags).encode(encoding, "replace")
    tree = read_tree(page, encoding=encoding)
    assert_same(tree)


def test_a_quote_that_goes_with_a_character_cut_short() -> None:
    for encoding in ("gb18030", "big5", "shift_jis", "euc_kr"):
        tree = read_tree(b'<p title="\xb0" class="a" id="\x81">x', encoding=encoding)
        assert_same(tree)


def test_tags_that_differ_by_an_address_alone_are_one() -> None:
    tree = read_tree("".join(f"<a class=c href=/{i}>x</a>" for i in range(9)).encode())
    links = {found for found in drawn_tags(tree) if found.name == "a"}
    assert [link.attributes for link in links] == [{"class": "c"}]
