"""Which links may be followed, why not, and where endless spaces end."""

from hashlib import sha256
from itertools import product
from random import Random
from string import ascii_lowercase

from mmcrawl.frontier import Admission, Limits, host_of, is_private_host
from tests.tables import each

SEED = "http://www.school.com/"
ANYWHERE = {"sites": "anywhere"}


def refused(url, layer=1, depth=1, seeds=(SEED,), **limits):
    return Admission(Limits(**limits), seeds).refuse(url, layer, depth)


@each(
    "sites, url, reason",
    [
        ("hosts", "http://www.school.com/a", None),
        ("hosts", "https://WWW.school.com:8080/a", None),
        ("hosts", "http://school.com/a", "other site"),
        ("domains", "http://video.school.com/a", None),
        ("domains", "http://other.com/a", "other site"),
        ("anywhere", "http://other.com/a", None),
        ("anywhere", "mailto:someone", "other site"),
        ("anywhere", "http://[bad/", "other site"),
    ],
)
def test_sites_say_how_far_from_the_seeds_a_crawl_goes(sites, url, reason):
    assert refused(url, sites=sites) == reason
    seeds = ["http://www.a.edu.cn/"]  # under a public suffix
    assert refused("http://b.edu.cn/", seeds=seeds, sites="domains")
    assert not refused("http://b.a.edu.cn/", seeds=seeds, sites="domains")


@each(
    "limits, layer, depth, reason",
    [
        ({"max_layer": 3}, 3, 1, None),
        ({"max_layer": 3}, 4, 1, "below max_layer"),
        ({"max_layer": 0}, 99, 1, None),
        ({"max_depth": 2}, 1, 2, None),
        ({"max_depth": 2}, 1, 3, "beyond max_depth"),
        ({"url_length": len(SEED)}, 1, 1, None),
        ({"url_length": len(SEED) - 1}, 1, 1, "address too long"),
        ({"url_length": 0}, 1, 1, None),
    ],
)
def test_layer_depth_and_length_have_bounds_and_zero_is_none(limits, layer, depth, reason):
    assert refused(SEED, layer, depth, **limits) == reason


@each(
    "path, reason",
    [
        ("a/b/a/c/a/d.htm", None),
        ("a/a/a/a/", "trap: repeating path"),
        ("a/b/a/b/a/b/a/d.htm", "trap: repeating path"),
        ("a/a/a/a", None),  # the last one is a file name
        ("x?next=/a/a/a/a/a/", None),
    ],
)
def test_a_path_that_repeats_itself_is_a_loop_of_links(path, reason):
    assert refused(SEED + path, repeats=3) == reason
    assert refused(SEED + path, repeats=0) is None


PRIVATE = [
    *"10.0.0.1 127.0.0.1 169.254.169.254 0.0.0.0 100.64.0.1 192.0.0.9 224.0.0.1 240.0.0.1".split(),
    *"0.1.2.3 ::1 fe80::1 fd00::1 fec0::1 ff02::1 ::ffff:10.0.0.1 ::ffff:8.8.8.8".split(),
    "::127.0.0.1",  # compatible
    *("64:ff9b::7f00:1", "64:ff9b:1::7f00:1"),  # NAT64
    *("2002:7f00:1::", "2001:0:7f00:1::"),  # 6to4, Teredo
    # odd spellings of addresses, which browsers and resolvers take
    *"127.1 2130706433 0x7f.1 0177.0.0.01 127.0.0.1.".split(),
    # names
    *"LOCALHOST intranet printer.local. a.localhost db.internal nas.lan router.home.arpa".split(),
]


def in_url(host):
    return f"http://[{host}]/" if ":" in host else f"http://{host}/"


@each("host", PRIVATE)
def test_public_pages_do_not_lead_into_private_networks(host):
    url = in_url(host)
    assert is_private_host(host_of(url))
    assert refused(url, **ANYWHERE) == "private network"
    assert refused(url, private=True, **ANYWHERE) is None
    assert refused(url, seeds=["http://192.168.0.5/"], **ANYWHERE) == "private network"


@each(
    "host",
    ["8.8.8.8", "2606:4700:4700::1111", "school.test", "163.com", "0x.test", "localhost.test"],
)
def test_public_hosts_are_public(host):
    assert not is_private_host(host_of(in_url(host)))
    assert refused(in_url(host), **ANYWHERE) is None


@each("sites", ["hosts", "domains"])
def test_a_seed_in_a_private_network_opens_its_host_and_port_only(sites):
    seeds = ["http://10.0.0.1:8000/", "http://[::1]/"]
    private = Admission(Limits(sites=sites), [*seeds, SEED]).sites.private_hosts
    for url in (*seeds, "http://10.0.0.1:8000/a", "https://[::1]/", "http://school.test/"):
        assert private.may_ask(url)
    for url in (
        "http://10.0.0.1/",
        "http://10.0.0.1:8001/",
        "http://10.0.0.2:8000/",
        "http://[::1]:22/",
    ):
        assert not private.may_ask(url)


def crawl(admission, urls, *, relevant=frozenset()):
    """Follow links as a crawl does; return those that were fetched."""
    fetched = []
    for url in urls:
        if admission.refuse(url, 1, 1) is None:
            admission.crawled(url, relevant=url in relevant)
            fetched.append(url)
    return fetched


TRAPS = {
    "calendar by query": "calendar.php?year={n}&month=5",
    "calendar by path": "calendar/{n}/05/01.htm",
    "session in the path": "page.jsp;jsessionid={n:x}ABC",
    "numbered pages": "list_{n}.htm",
    "keys of the query": "page.asp?k{n}=1",
}


@each("form", TRAPS.values())
def test_an_endless_space_without_finds_is_bounded(form):
    admission = Admission(Limits(per_shape=20), [SEED])
    urls = [SEED + form.format(n=n) for n in range(300)]
    assert crawl(admission, urls) == urls[:20]
    assert admission.refuse(urls[0], 1, 1) == "trap: nothing found on pages like this"
    assert admission.refuse(SEED + "lessons/1.htm", 1, 1) is None
    ports = [f"{SEED[:-1]}:{port}/a" for port in range(1, 100)]
    assert len(crawl(Admission(Limits(per_shape=20), [SEED]), ports)) == 20
    without_bounds = Admission(Limits(per_shape=0, per_host=0), [SEED])
    assert crawl(without_bounds, urls) == urls


@each("hit", [0, 19])
def test_pages_like_one_that_was_relevant_are_not_bounded(hit):
    admission = Admission(Limits(per_shape=20), [SEED])
    urls = [SEED + f"lesson.asp?id={n}" for n in range(100)]
    assert crawl(admission, urls, relevant={urls[hit]}) == urls


WORDS = ["".join(letters) for letters in product(ascii_lowercase, repeat=3)][::3]


@each("form", ["wiki/{}", "{}/index.htm"])
def test_a_large_directory_with_media_on_some_pages_is_fetched_to_its_end(form):
    admission = Admission(Limits(), [SEED])
    urls = [SEED + form.format(word) for word in WORDS[:2_500]]
    assert crawl(admission, urls, relevant={*Random(0).sample(urls, 50)}) == urls


def test_sections_of_a_site_are_bounded_apart_though_its_root_is_large():
    admission = Admission(Limits(per_shape=100), [SEED])
    crawl(admission, [SEED + word for word in WORDS[:1_500]])
    films = [f"{SEED}films/{word}" for word in WORDS[:500]]
    assert crawl(admission, films, relevant={films[499]}) == films


def test_what_is_taken_back_bounds_a_directory_again():
    admission = Admission(Limits(per_shape=100), [SEED])
    urls = [f"{SEED}x/{word}" for word in WORDS]
    assert crawl(admission, urls[:1_000], relevant={urls[3]}) == urls[:1_000]
    admission.revised(urls[3])
    assert admission.exhausted(urls[1_000]) == "trap: nothing found on pages like this"


def test_a_host_has_its_share():
    admission = Admission(Limits(per_host=3, per_shape=0, sites="anywhere"), [SEED])
    here = [f"{SEED}{name}" for name in "abcde"]
    there = [f"http://other.com/{name}" for name in "abcde"]
    assert crawl(admission, [*here, *there], relevant={here[0]}) == [*here[:3], *there[:3]]
    assert admission.exhausted(here[4]) == "trap: host has its share"
    admission = Admission(Limits(per_shape=100, sites="anywhere"), [SEED])
    many = [f"http://{word}.com/{name}" for word in WORDS[:150] for name in WORDS[:5]]
    assert crawl(admission, many) == many  # many hosts are bounded apart


@each("form", ["x/{word}", "x/{word}/index.htm", "x/{id}"])
def test_an_endless_space_of_names_is_bounded(form):
    admission = Admission(Limits(per_shape=100), [SEED])
    urls = [
        SEED + form.format(word=word, id=sha256(word.encode()).hexdigest()[:12]) for word in WORDS
    ]
    assert len(crawl(admission, urls)) == 500
    assert admission.refuse(urls[-1], 1, 1) == "trap: nothing found on pages like this"
    assert admission.refuse(SEED + "lessons/levers.htm", 1, 1) is None
    assert admission.refuse(f"http://school.org/{form}", 1, 1) == "other site"
