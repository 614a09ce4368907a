"""What headings are taken to say of the lines below them."""

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks.content import sections
from tests.tables import each


@each("pattern", sections.SECTIONS)
@given(data=st.data())
def test_the_quick_look_at_a_heading_misses_nothing(pattern, data):
    text = data.draw(st.from_regex(pattern, fullmatch=True))[:80]
    found = [float(one.search(text) is not None) for one in sections.SECTIONS]
    assert sections._sections_named(text, heading=True) == found
