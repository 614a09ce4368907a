"""When two addresses are one page, and what the pages of one template share."""

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.frontier import canonical, page_digest, shape, split_origin, url_key
from tests.tables import each

plain_paths = st.text("abzAZ09._~-/", max_size=20)
queries = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "PHPSESSID", "sid", "s", "id"]), st.text("09af", max_size=17)
    ),
    max_size=4,
)


@each(
    "url",
    [
        "http://h.test/a?y=2&x=1",
        "HTTP://H.Test/a?x=1&y=2",
        "http://h.test/%61?x=1&y=2",
        "http://h.test/b/../a?x=1&y=2",
        "http://h.test/a?x=1&y=2#part",
        "http://h.test/a;jsessionid=5F3A?x=1&y=2",
        "http://h.test/(S(5f3a))/a?x=1&y=2",
        "http://h.test/a?x=1&PHPSESSID=77ab&y=2",
        "http://h.test/a?ASPSESSIONIDQQ=K&x=1&y=2",
        "http://h.test/a?x=1&y=2&sid=0123456789abcdef0",
        "http://h.test/a?x=1&y=2&CFID=1&CFTOKEN=2#top",
    ],
)
def test_spellings_of_one_page_have_one_form(url):
    assert canonical(url) == "http://h.test/a?x=1&y=2"


@each(
    "one, other",
    [
        ("http://h.test/a", "http://h.test/A"),
        ("http://h.test/a", "http://h.test/a/"),
        ("http://h.test/a", "https://h.test/a"),
        ("http://h.test/a", "http://www.h.test/a"),
        ("http://h.test/a?id=1", "http://h.test/a?id=2"),
        ("http://h.test/a?sid=3", "http://h.test/a?sid=4"),  # a subject, not a session
        ("http://h.test/a?s=physics", "http://h.test/a?s=music"),
        ("http://h.test/a?b=c", "http://h.test/a?b=d"),
    ],
)
def test_different_pages_stay_apart(one, other):
    assert canonical(one) != canonical(other)
    assert url_key(0, one) != url_key(0, other)


@given(plain_paths, queries)
def test_the_canonical_form_of_a_canonical_form_is_itself(path, pairs):
    url = f"http://h.test/{path}?" + "&".join(f"{key}={value}" for key, value in pairs)
    assert canonical(canonical(url)) == canonical(url)


def test_keys_tell_jobs_and_request_bodies_apart():
    url = "http://h.test/search"
    keys = [url_key(0, url), url_key(1, url), url_key(0, url, b"POST q=1"), url_key(0, url, b"GET")]
    assert len(set(keys)) == 4
    assert url_key(0, "http://H.test/search#x") == keys[0]


@given(st.text())
def test_every_address_has_a_key_that_sqlite_can_hold_and_what_is_cut_can_be_joined(text):
    for url in (text, f"http://{text}"):
        assert "".join(split_origin(url)) == url
    assert -(2**63) <= url_key(0, f"http://h.test/{text}") < 2**63


def test_digests_tell_bodies_and_hosts_apart_but_not_schemes():
    digest = page_digest("http://h.test/a", b"body")
    assert digest == page_digest("https://www.h.test/b?c", b"body")
    assert digest != page_digest("http://h.test/a", b"other body")
    assert digest != page_digest("http://i.test/a", b"body")
    assert digest != 0


@each(
    "url, origin",
    [
        ("http://h.test:8080/a/b.htm?c=1", "http://h.test:8080"),
        ("http://h.test?c=/a", "http://h.test"),
        ("http://h.test#a/b", "http://h.test"),
        ("http://h.test", "http://h.test"),
        ("https://[::1]:8/a", "https://[::1]:8"),
    ],
)
def test_an_address_is_cut_behind_its_host(url, origin):
    assert split_origin(url).origin == origin
    assert "".join(split_origin(url)) == url


@each(
    "one, other, alike",
    [
        ("http://h/cal?month=5&year=2024", "http://h/cal?year=2031&month=12", True),
        ("http://h/a;jsessionid=1F?x=1", "http://h/a;jsessionid=AB?x=2", True),
        ("http://h/a?sid=9f8e", "http://h/a?sid=k", True),
        ("http://h/news/1.htm", "http://h/talks/1.htm", False),
        ("http://h/cal?month=5", "http://h/cal?month=5&day=1", False),
        ("http://h/1", "http://i/1", False),
        ("http://[h/1", "http://[h/2", False),
    ],
)
def test_pages_of_one_template_share_their_shape(one, other, alike):
    assert (shape(one) == shape(other)) is alike
