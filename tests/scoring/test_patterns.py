"""URL distance and patterns, on cases reckoned by hand and as properties."""

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.scoring import ANY, Pattern, UrlParts, distance, generalise, query_keys, url_parts
from tests.growth import assert_linear
from tests.tables import each

paths = st.lists(st.sampled_from(["a", "b", "c.htm", "*", ""]), min_size=1, max_size=4)
query_pairs = st.lists(
    st.tuples(st.sampled_from(["x", "y"]), st.sampled_from(["1", "2", "*"])), max_size=2
)


@st.composite
def urls(draw, host="h", pairs=query_pairs):
    query = "&".join(f"{key}={value}" for key, value in draw(pairs))
    return url_parts(f"http://{host}/" + "/".join(draw(paths)) + (f"?{query}" if query else ""))


def parts(path):
    return url_parts(f"http://h/{path}")


def pattern(*paths):
    return generalise([parts(path) for path in paths])


@each(
    "one, other, expected",
    [
        ("a/b.htm", "a/b.htm", 0),
        ("a/1.htm", "a/2.htm", 4),  # k = 1
        ("a/1.htm", "b/2.htm", 8),  # k = 2
        ("a/b", "a/b/c", 2),  # n - m = 1
        ("a/x", "b/x/y", 6),  # 4 + 2
        ("c.php?id=1", "c.php?id=2", 1),  # (0 + 1)(1 + 1) - 1
        ("c.php?id=1", "d.php?id=2", 9),  # (4 + 1)(1 + 1) - 1
        ("c.php?id=1", "c.php", 1),
        ("", "a", 4),
    ],
)
def test_distance_follows_equations_4_3_and_4_4(one, other, expected):
    assert distance(parts(one), parts(other)) == expected
    assert distance(parts(other), url_parts(f"https://H/{one}")) == expected
    elsewhere = url_parts(f"http://i/{other}")
    assert distance(parts(one), elsewhere) is pattern(one).distance(elsewhere) is None


@each(
    "paths, form",
    [
        (["c.php?a=1&b=2", "c.php?b=3&a=1"], "http://h/c.php?a=1&b=*"),
        (["a/1/x", "b/2/x", "a/3/x"], "http://h/*/*/x"),
        (["a/b", "a/b/c"], "http://h/a/b/**"),
        (["a/b", "a/c/d/e"], "http://h/a/*/**"),
        (["one.htm"], "http://h/one.htm"),
    ],
)
def test_equal_parts_stay_and_others_become_a_star(paths, form):
    assert str(pattern(*paths)) == form


def test_the_examples_of_the_paper_come_to_its_patterns():
    directories = ("xy/jc/", "xy/wxs/", "xy/wz/")
    urls = [url_parts(f"http://teacher.cqbxzx.com/{path}", slash=False) for path in directories]
    assert str(generalise(urls)) == "http://teacher.cqbxzx.com/xy/*"
    page = "http://www.cbe21.com/subject/physics/courseware.php?photo_id="
    urls = [url_parts(f"{page}{number}") for number in (100003, 100002, 100001)]
    assert str(generalise(urls)) == f"{page}*"
    assert url_parts("http://h/", slash=False) == url_parts("http://h/")


@each(
    "learnt_from, url, matches",
    [
        (["xy/1", "xy/2"], "xy/3", True),
        (["xy/1", "xy/2"], "yx/3", False),
        (["xy/1", "xy/2"], "xy", False),
        (["xy/1", "xy/2"], "xy/3/4", False),
        (["xy/1", "xy/2"], "xy/3?a=1", False),
        (["a/b", "a/b/c"], "a/b/d/e/f", True),
        (["a/b", "a/b/c"], "a/x/d", False),
        (["c?id=1", "c?id=2"], "c?id=77", True),
        (["c?id=1", "c?id=2"], "c?no=77", False),
        (["c?id=1", "c?id=2"], "c?id=77&page=2", False),
        (["c?id=1&p=1", "c?id=2&p=1"], "c?p=2&id=9", False),
    ],
)
def test_a_pattern_matches_urls_of_its_form(learnt_from, url, matches):
    learnt = pattern(*learnt_from)
    assert learnt.matches(parts(url)) is matches
    assert (learnt.distance(parts(url)) == 0) is matches


@each(
    "learnt_from, url, gap",
    [
        (["xy/1", "xy/2"], "yx/3", 4),
        (["xy/1", "xy/2"], "xy", 2),
        (["xy/1", "xy/2"], "z/3/4", 6),
        (["c?id=1", "c?id=2"], "c?no=7", 1),
        (["c?id=1", "c?id=2"], "d?no=7", 9),
        (["a/b", "a/b/c"], "x/b/c/d/e", 4),
    ],
)
def test_the_distance_to_a_pattern_leaves_its_stars_out(learnt_from, url, gap):
    assert pattern(*learnt_from).distance(parts(url)) == gap


@given(st.lists(urls(pairs=st.just([("x", "1"), ("y", "2")])), min_size=1, max_size=5), urls())
def test_a_pattern_matches_what_it_was_learnt_from_and_what_is_at_distance_zero(group, other):
    learnt = generalise(group)
    assert all(learnt.matches(url) for url in group)
    assert learnt.matches(other) is (learnt.distance(other) == 0)


def test_a_star_in_a_url_is_no_wildcard():
    assert pattern("a/*").matches(parts("a/*"))
    assert not pattern("a/*").matches(parts("a/b"))
    assert distance(parts("a/*"), parts("a/b")) == 4
    assert not pattern("c?id=*").matches(parts("c?id=1"))


def test_a_url_is_cut_up_into_host_directories_and_sorted_query():
    url = url_parts("http://H.test:80/a/b.php?y=2&x=1&flag&x=0#part")
    assert url.host == "h.test:80"
    assert url.directories == ("a", "b.php")
    assert url.query == (("flag", ""), ("x", "0"), ("x", "1"), ("y", "2"))
    assert query_keys(url) == ("flag", "x", "x", "y")
    assert url_parts("http://h") == UrlParts("h", ("",), ())
    assert url_parts("http://[h/a") == UrlParts("", ("http://[h/a",), ())


def test_the_work_of_a_hostile_pattern_grows_with_the_length_of_the_url_alone():
    def work(length):
        hostile = Pattern("h", (*(ANY, "a") * (length // 2), "b"), longer=True)
        url = UrlParts("h", ("a",) * (length + 1), ())
        assert (hostile.matches(url), hostile.distance(url)) == (False, 4)

    assert_linear(work, 10_000)
