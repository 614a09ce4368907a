"""Start tags read for what an element is drawn by: the same as when all of a tag is read."""

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.layout import drawn_tags

NAMES = ("class", "id", "style", "bgcolor", "width", "height", "color", "size")
PIECES = [*NAMES, "CLASS", "href", "data-id", "a", "=", "=", '"', '"', "'", " ", " ", "\n", "/"]
PIECES += ["<", "&amp;", "&", "\0", "é", "你", "x class=", ' id="', "1", "%", ";"]
TAGS = st.lists(st.lists(st.sampled_from(PIECES)).map("".join), min_size=1, max_size=4)


@given(TAGS, st.sampled_from(["utf-8", "gb18030", "utf-16-le", "iso2022_jp", "big5"]))
def test_any_start_tag_is_read_as_by_the_tree(tags: list[str], encoding: str) -> None:
    page = "".join(f"<p {tag}>x" for tag in tags).encode(encoding, "replace")
    tree = read_tree(page, encoding=encoding)
    read = [tree.attributes(node) for node in range(len(tree))]
    wanted = [{name: of[name] for name in NAMES if name in of} for of in read]
    assert [found.attributes for found in drawn_tags(tree)] == wanted


def test_tags_that_differ_by_an_address_alone_are_one() -> None:
    tree = read_tree("".join(f"<a class=c href=/{i}>x</a>" for i in range(9)).encode())
    links = {found for found in drawn_tags(tree) if found.name == "a"}
    assert [link.attributes for link in links] == [{"class": "c"}]
