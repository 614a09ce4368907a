"""Many addresses measured at once stand to a pattern as each of them does by itself."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.scoring import ANY, TAKEN, WAITING, Pattern, WaitingUrls, url_parts

names = st.sampled_from(["a", "b", "c.htm", "*", ""])
values = st.sampled_from(["1", "2", "*", ""])
pairs = st.lists(st.tuples(st.sampled_from(["x", "y"]), values), max_size=3)


@st.composite
def urls(draw):
    query = "&".join(f"{key}={value}" for key, value in draw(pairs))
    path = "/".join(draw(st.lists(names, min_size=1, max_size=4)))
    return url_parts(f"http://h/{path}" + (f"?{query}" if query else ""))


@st.composite
def patterns(draw):
    """Patterns made of a URL, of which any part may be open; so they are near to some."""
    url = draw(urls())
    directories = tuple(draw(st.sampled_from([part, ANY])) for part in url.directories)
    query = tuple((key, draw(st.sampled_from([value, ANY]))) for key, value in url.query)
    return Pattern("h", directories, query, longer=draw(st.booleans()))


def measured(waiting, pattern):
    found = {}
    for links, gaps in waiting.gaps(pattern):
        found |= dict(zip(links.tolist(), gaps.tolist(), strict=True))
    return found


@given(st.lists(st.tuples(urls(), st.booleans()), max_size=12), patterns(), urls())
def test_what_no_longer_waits_is_forgotten(links, pattern, another):
    waiting = WaitingUrls()
    for link, (url, _) in enumerate(links):
        waiting.add(link, url)
    states = np.array([WAITING if waits else TAKEN for _, waits in links], dtype=np.uint8)
    waiting.keep_waiting(states)
    assert len(waiting) == sum(waits for _, waits in links)
    waiting.add(len(links), another)
    expected = {link: url for link, (url, waits) in enumerate(links) if waits}
    expected[len(links)] = another
    assert measured(waiting, pattern) == {n: pattern.distance(url) for n, url in expected.items()}
