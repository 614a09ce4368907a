"""What workers and coordinator write arrives as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.crawling.reports import PageReport
from mmcrawl.frontier import NewLink, WaitingLink
from mmcrawl.page import Link, LinkGroup, MediaResource, Page
from mmcrawl.sharing.messages import (
    Added,
    Entry,
    Failed,
    Fetched,
    Grant,
    Lease,
    Mail,
    Message,
    Pointless,
    Redirected,
    Retried,
    Returned,
)

# Also with surrogates and NUL, which addresses on pages may hold.
text = st.text(st.characters(), max_size=20)
numbers = st.integers(0, 1 << 40)
some_bytes = st.binary(max_size=20)
new_links = st.builds(
    NewLink,
    url=text,
    anchor=text,
    group_title=text,
    url_words=text,
    logical_layer=numbers,
    physical_layer=numbers,
    content_score=st.floats(0, 1),
    priority=st.integers(-9, 9),
    request=st.none() | some_bytes,
    filtered=st.booleans(),
    extra=some_bytes,
    block=text,
    tag_path=text,
)
pages = st.builds(
    Page,
    url=text,
    title=text,
    keywords=text,
    description=text,
    links=st.lists(
        st.builds(Link, text, text, text, st.integers(-1, 9), st.booleans(), text), max_size=3
    ).map(tuple),
    groups=st.lists(st.builds(LinkGroup, text, numbers), max_size=2).map(tuple),
    media=st.lists(st.builds(MediaResource, text, text, text, text), max_size=2).map(tuple),
    nofollow=st.booleans(),
)
reports = st.builds(
    PageReport,
    page=pages,
    visited_at=st.floats(0, 2e9),
    http_status=st.integers(100, 599),
    digest=st.integers(-(1 << 63), (1 << 63) - 1),
    words=st.lists(text, max_size=3),
    signs=st.dictionaries(text, st.dictionaries(text, st.floats(0, 2), max_size=2), max_size=2),
)
some_links = st.lists(new_links, max_size=2).map(tuple)
events = st.one_of(
    st.builds(Fetched, numbers, numbers, reports, some_links),
    st.builds(Failed, numbers, numbers, text, some_links),
    st.builds(Redirected, numbers, numbers, new_links),
    st.builds(Retried, numbers, numbers, st.none() | some_bytes, st.integers(-9, 9)),
    st.builds(Returned, numbers, numbers),
    st.builds(Added, some_links),
)
messages = st.builds(
    Message,
    text,
    numbers,
    st.integers(-1, 99),
    numbers,
    st.lists(events, max_size=4).map(tuple),
    st.booleans(),
)
waiting = st.builds(
    WaitingLink, numbers, text, st.none() | numbers, numbers, numbers, st.none() | some_bytes
)


@given(messages)
def test_a_message_arrives_as_it_was(message: Message) -> None:
    assert Message.decode(message.encode()) == message


@given(
    st.builds(
        Entry,
        numbers,
        text,
        text,
        st.lists(text, max_size=2).map(tuple),
        st.lists(some_bytes, max_size=3).map(tuple),
        st.lists(
            st.builds(Grant, numbers, numbers, text) | st.builds(Pointless, numbers, text),
            max_size=4,
        ).map(tuple),
        text,
    )
)
def test_an_entry_arrives_as_it_was(entry: Entry) -> None:
    assert Entry.decode(entry.encode()) == entry


@given(
    st.builds(
        Mail,
        numbers,
        st.lists(st.builds(Lease, numbers, waiting, st.none() | text), max_size=3).map(tuple),
        st.lists(st.tuples(text, text), max_size=2).map(tuple),
    )
)
def test_mail_arrives_as_it_was(mail: Mail) -> None:
    assert Mail.decode(mail.encode()) == mail
