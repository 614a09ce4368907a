"""What headings are taken to say of the lines below them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks.content import sections

SAID = st.sampled_from(sections.SECTIONS).flatmap(
    lambda pattern: st.from_regex(pattern, fullmatch=True)
)


@given(text=SAID | st.text(max_size=80))
def test_the_quick_look_at_a_heading_misses_nothing(text: str) -> None:
    text = text[:80]
    found = [float(pattern.search(text) is not None) for pattern in sections.SECTIONS]
    assert sections._sections_named(text, heading=True) == found
