"""Rules for addresses: what a glob and a regular expression match, and which rule counts."""

import re
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from mmcrawl.scoring import (
    PinnedRule,
    PinnedRules,
    address_form,
    generalise,
    glob_of,
    glob_regex,
    query_keys,
    url_parts,
)
from tests.growth import assert_linear
from tests.tables import each

DIRECTORIES = st.lists(st.sampled_from(["", "a", "b.htm", "x*y", "%2A", "q.z"]), max_size=4)
QUERIES = st.lists(st.sampled_from(["id=1", "id=2", "id=*", "p=a/b", "p", "k.=?"]), max_size=3)
HOSTS = st.sampled_from(["h.test", "H.test", "hxtest", "h.test:81"])
SCHEMES = st.sampled_from(["http", "https"])


@st.composite
def addresses(draw: st.DrawFn) -> str:
    query = "&".join(draw(QUERIES))
    path = "/".join(draw(DIRECTORIES))
    return f"{draw(SCHEMES)}://{draw(HOSTS)}/{path}" + (f"?{query}" if query else "")


def matches(pattern: str, url: str) -> bool:
    return bool(list(PinnedRules([PinnedRule(pattern)]).matching(url)))


PHYSICS = (
    "/%E7%89%A9%E7%90%86/1.htm",
    "/%e7%89%a9%e7%90%86/1.htm",
    "/%CE%EF%C0%ED/1.htm",  # GB 18030
    "/%ce%ef%c0%ed/1.htm",
    "/%AA%AB%B2%7A/1.htm",  # Big5; its second character ends in a letter
    "/%AA%AB%B2z/1.htm",
    "/物理/1.htm",
)
"""Ways to write one address with two Chinese characters."""


@each(
    "glob, yes, no",
    [
        ("http://h.test/xy/*", "/xy/1.htm /xy/ /xy/a#top", "/xy /xy/a/b /xy/a?b=1 /ab/1.htm"),
        ("http://h.test/xy/l*n.htm", "/xy/ln.htm /xy/lesson.htm", "/xy/l/n.htm /xy/lnxhtm"),
        ("http://h.test/xy/**", "/xy /xy/ /xy/a/b?c=1 /xy?c=1", "/xyz /a/xy/"),
        ("http://h.test/xy/**?", "/xy /xy/a/b", "/xy/a?b=1 /xyz"),
        ("http://h.test/le**", "/le /lesson/a?b=1", "/l /a/le"),
        ("http://h.test/s.php?b=*&a=1", "/s.php?a=1&b=7 /s.php?b=&a=1", "/s.php /s.php?a=1"),
        ("http://h.test/s.php?id=1*", "/s.php?id=12", "/s.php?id=21 /s.php?id=1&x=2"),
        ("http://h.test/s.php?**", "/s.php /s.php?a=1&b=2", "/s.php/a /sxphp"),
        ("http://h.test/s.php", "/s.php /s.php?", "/s.php?a=1 /S.php"),
        ("http://H.test/物理/*", f"{' '.join(PHYSICS)}", "/%E7%89%A9/1.htm /%CE%EF/1.htm"),
        (
            "http://h.test/物理/%E5%85%89*",
            "/%CE%EF%C0%ED/%B9%E2 /%E7%89%A9%E7%90%86/%E5%85%89x",
            "/%CE%EF%C0%ED/%B9",
        ),
        ("http://h.test/s.asp?k=物理&p=*", "/s.asp?p=2&k=%CE%EF%C0%ED", "/s.asp?k=%CE%EF&p=2"),
        ("http://h.test/%CE%EF*", "/%CE%EF%C0%ED", "/%E7%89%A9 /%CE%EE"),
        ("re:/(物理|wuli)/[0-9]+", f"/wuli/1.htm {' '.join(PHYSICS)}", "/%CE%EF/1.htm /%CE%EFwuli"),
        ("re:[物光]理?/", "/%CE%EF/ /%E5%85%89/ /%A5%FA%B2z/", "/%C0%ED/"),
        ("re:𠮷/", "/%F0%A0%AE%B7/ /%95%34%B2%35/ /%954%B25/", "/%95%34%B2%36/"),
        ("re:%CE", "/%CE%EF", "/%E7%89%A9"),
        ("re:^https?://[^/]+/[a-z]$", "/a", "/ab /a/b"),
    ],
)
def test_a_pattern_matches_some_addresses_and_not_others(glob: str, yes: str, no: str) -> None:
    for scheme in ("http", "https"):
        assert [url for url in yes.split() if not matches(glob, f"{scheme}://h.test{url}")] == []
        assert [url for url in no.split() if matches(glob, f"{scheme}://h.test{url}")] == []
    assert not matches(glob.replace("[^/]+", "h"), "http://other.test/nothing")


GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "rules.md"


ROWS = re.findall(r"(?m)^\| (`[^|]*\|[^|]*\|[^|]*) \|$", GUIDE.read_text(encoding="utf-8"))


@each("row", ROWS)
def test_what_the_guide_says_of_patterns_is_so(row: str) -> None:
    (pattern,), yes, no = (re.findall("`([^`]+)`", cell) for cell in row.split("|"))
    assert yes
    assert [matches(pattern, url) for url in yes] == [True] * len(yes)
    assert [matches(pattern, url) for url in no] == [False] * len(no)


@given(st.lists(addresses(), min_size=1, max_size=4), addresses())
@example(["http://h.test/a", "http://h.test/a/b"], "http://h.test/a/b?id=1")
@example(["http://h.test/?a=1&a=2", "http://h.test/?a=1&a=3"], "http://h.test/?a=2&a=1")
def test_a_learnt_pattern_is_the_same_as_glob_and_as_regular_expression(urls, other):
    first = url_parts(urls[0])
    alike = [parts for parts in map(url_parts, urls) if parts.host == first.host]
    alike = [parts for parts in alike if query_keys(parts) == query_keys(first)]
    pattern = generalise(alike)
    glob = glob_of(str(pattern))
    for url in (*urls, other):
        expected = pattern.matches(url_parts(url))
        assert matches(glob, url) is expected
        assert matches(f"re:{glob_regex(glob)}", url) is expected
        # What is printed may be used elsewhere too.
        assert bool(re.search(glob_regex(glob), address_form(url))) is expected


@given(st.text())
def test_no_address_is_too_odd_to_be_looked_up(text: str) -> None:
    rules = PinnedRules([PinnedRule("http://h.test/**"), PinnedRule("re:x\\.mp4$", 2)])
    assert rules.weight_of(f"http://h.test/{text.replace('/', '')}") in {1, 2}
    rules.weight_of(text)


def test_the_first_rule_that_matches_counts_whatever_hosts_it_is_for() -> None:
    rules = PinnedRules(
        [
            PinnedRule("http://h.test/a/b", 4),
            PinnedRule("re:/a/", 0),
            PinnedRule("http://h.test/a/*", 7),
            PinnedRule("http://*.test/**", 2),
        ]
    )
    places = ("h.test/a/b", "h.test/a/c", "h.test/d", "i.test/a/b", "i.test/d", "h.org/")
    assert [rules.weight_of(f"http://{place}") for place in places] == [4, 0, 2, 0, 2, None]
    assert [rule.weight for rule in rules.matching("http://h.test/a/c")] == [0, 7, 2]


def test_rules_are_told_apart_by_what_they_do() -> None:
    one, two = PinnedRule("http://h.test/a", 3, "", "x.txt, line 1"), PinnedRule("re:a", 0)
    same = PinnedRule("https://H.test/a", 3, "", "y.txt, line 9")
    assert PinnedRules([one, two]).digest == PinnedRules([same, two]).digest
    others = ([two, one], [one], [PinnedRule("http://h.test/a", 2), two], [])
    assert (
        len({PinnedRules(rules).digest for rules in others} - {PinnedRules([one, two]).digest}) == 4
    )
    assert PinnedRules().digest == ""


@each("escaped", ["%CE%EF", "%81%30%81"])
def test_reading_an_address_takes_time_in_proportion_to_its_length(escaped: str) -> None:
    rules = PinnedRules([PinnedRule("re:物理$")])
    assert_linear(lambda times: rules.weight_of(f"http://h.test/{escaped * times}"), 5_000)


def test_a_glob_of_many_stars_takes_no_longer_than_others() -> None:
    rules = PinnedRules([PinnedRule(f"http://h.test/{'a*' * 30}b")])
    assert rules.weight_of(f"http://h.test/{'a' * 20_000}") is None  # with backtracking, never
