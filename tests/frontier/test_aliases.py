"""Addresses that may lead to one page."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from time import process_time

from mmcrawl.frontier import Aliases, alias_key
from tests.tables import each


class Links:
    """Links with the digests of their pages, None for those without."""

    def __init__(self, *pages: tuple[str, int | None]) -> None:
        self.pages = list(pages)
        self._by_key: defaultdict[int, list[int]] = defaultdict(list)
        self._read = 0

    def alike(self, key: int, most: int) -> list[int]:
        while self._read < len(self.pages):
            self._by_key[alias_key(self.pages[self._read][0])].append(self._read)
            self._read += 1
        return self._by_key[key][:most]

    def known_alias_keys(self, keys: Sequence[int]) -> set[int]:
        return {key for key in keys if self.alike(key, 1)}

    def fetched_alike(self) -> list[int]:
        keys = Counter(alias_key(url) for url, digest in self.pages if digest is not None)
        return [key for key, count in keys.items() if count > 1]

    def lookup(self, url: str) -> int | None:
        return next((n for n, (known, _) in enumerate(self.pages) if known == url), None)

    def url(self, link: int) -> str:
        return self.pages[link][0]

    def digest(self, link: int) -> int | None:
        return self.pages[link][1]


@each(
    "other",
    [
        "https://h.test/a/b",
        "http://www.h.test/a/b",
        "http://h.test/a/b/",
        "http://h.test/A/b",
        "http://h.test/a/b/index.html",
        "https://www.h.test/A/B/Default.aspx",
    ],
)
def test_addresses_that_servers_often_answer_alike_may_be_aliases(other: str) -> None:
    assert Aliases(Links(("http://h.test/a/b", None))).known([other]) == [True]
    others = ("http://h.test:8080/a/b", "http://h.test/a/b?x=1", "http://h.test/a/b/main.html")
    assert not any(Aliases(Links(("http://h.test/a/b", None))).known(others))
    new = ["http://h.test/a/b", "http://h.test/c", other]
    assert Aliases(Links()).known(new) == [False, False, True]


def pairs(*digests: tuple[int | None, int | None], host: str = "h.test") -> Links:
    """Pages with and without a slash at the end."""
    return Links(
        *((f"http://{host}/{n}", first) for n, (first, _) in enumerate(digests)),
        *((f"http://{host}/{n}/", second) for n, (_, second) in enumerate(digests)),
    )


@each(
    "digests, known",
    [
        ([(1, 1), (2, None)], False),
        ([(1, 1), (2, 2), (3, None)], True),
        ([(1, 1), (2, 2), (3, 4), (5, None)], False),  # the difference matters
        ([(0, 0), (0, 0), (3, None)], False),  # what was not taken tells nothing
        ([(1, 1), (2, 2), (None, None)], False),  # an alias without a page stands for no other
    ],
)
def test_a_difference_means_nothing_after_two_pairs_of_equal_pages(digests, known) -> None:
    last = len(digests) - 1
    links = pairs(*digests)
    assert Aliases(links).was_fetched(2 * last + 1, f"http://h.test/{last}/") is known


def test_each_difference_is_learnt_for_itself_and_for_each_host() -> None:
    links = pairs((1, 1), (2, 2), (3, None))
    links.pages += [("https://h.test/2", None), ("http://g.test/2", 3), ("http://g.test/2/", None)]
    aliases = Aliases(links)
    assert not aliases.was_fetched(6, "https://h.test/2")
    assert not aliases.was_fetched(8, "http://g.test/2/")


def test_what_is_learnt_while_crawling_is_what_is_known_when_it_goes_on() -> None:
    links = pairs((None, None), (None, None), (None, None))
    aliases = Aliases(links)
    for link, digest in enumerate((1, 2, 3, 1, 2)):
        links.pages[link] = (links.url(link), digest)
        aliases.crawled(link, links.url(link))
    for found in (aliases, Aliases(links)):
        assert found.was_fetched(5, "http://h.test/2/")


def test_the_aliases_of_a_link_without_a_page_are_those_left() -> None:
    links = Links(("http://h.test/a", None), ("https://h.test/a", None), ("http://h.test/a/", 7))
    assert Aliases(links).left(0, "http://h.test/a") == [1]


def test_a_path_spelt_in_thousands_of_ways_is_compared_with_a_few() -> None:
    spelt = [f"http://h.test/{n:015b}".replace("1", "a").replace("0", "A") for n in range(8_000)]
    links = Links()
    aliases = Aliases(links)
    began = process_time()
    assert sum(aliases.known(spelt)) == len(spelt) - 1
    links.pages += [(url, 7) for url in spelt]
    for link, url in enumerate(spelt):
        aliases.crawled(link, url)
    assert process_time() - began < 10  # each with each would take a thousand times as long
    assert aliases.was_fetched(7_999, spelt[-1])


def fetched(*pages: tuple[str, int]) -> Callable[[str], bool]:
    """Tell of another address whether its page is known, after some were fetched in this order."""
    links = Links(*((f"http://h.test/{path}", digest) for path, digest in pages))
    aliases = Aliases(links)
    for link in range(len(pages)):
        aliases.crawled(link, links.url(link))

    def known(path: str) -> bool:
        links.pages.append((f"http://h.test/{path}", None))
        number = len(links.pages)
        return aliases.was_fetched(number + (number % 16 == 0), f"http://h.test/{path}")

    return known


def test_a_parameter_that_left_two_pages_as_they_were_means_nothing() -> None:
    known = fetched(("a", 1), ("a?from=x", 1), ("b", 2), ("b?from=y", 2), ("c", 3), ("d?from=x", 4))
    assert known("c?from=z")
    assert known("d?from=y")
    assert not known("e?from=x")  # under no address
    assert not known("c?page=2")
    assert not known("c?from=z&page=2")


def test_of_several_parameters_one_may_mean_nothing() -> None:
    known = fetched(
        ("show?id=1&from=x", 1),
        ("show?id=1&from=y", 1),
        ("show?id=2&from=y", 2),
        ("show?id=2&from=z", 2),
        ("show?from=x&id=3", 3),
    )
    assert known("show?id=3&from=w")
    assert not known("show?id=4&from=x")


def test_parameters_that_come_together_mean_nothing_together() -> None:
    pairs = [(f"{name}{query}", n) for n, name in enumerate("abc", 1) for query in ("", "?x=1&y=1")]
    assert fetched(*pairs[:5])("c?x=2&y=3")
    assert not fetched(*pairs[:5])("c?x=2")


def test_a_script_that_gives_one_page_for_all_addresses_tells_nothing_of_its_parameters() -> None:
    assert not fetched(*((f"show?id={n}", 7) for n in range(9)))("show?id=9")


def test_a_parameter_that_changed_a_page_means_something() -> None:
    same = [("a", 1), ("a?p=2", 1), ("b", 2), ("b?p=2", 2)]
    assert fetched(*same, ("c", 3))("c?p=2")
    assert not fetched(*same, ("c", 3), ("d", 4), ("d?p=2", 5))("c?p=2")


def test_now_and_then_it_is_seen_whether_a_parameter_still_means_nothing() -> None:
    links = Links(
        *(
            (f"http://h.test/{name}{query}", n)
            for n, name in enumerate("abc", 1)
            for query in ("", "?from=x")
        )
    )
    aliases = Aliases(links)
    for link in range(len(links.pages)):
        aliases.crawled(link, links.url(link))
    answers = [
        aliases.was_fetched(link, f"http://h.test/c?from={link}") for link in range(100, 148)
    ]
    assert answers.count(False) == 3


def test_an_address_of_thousands_of_parameters_is_read_once() -> None:
    query = "&".join(f"p{n}={n}" for n in range(5_000))
    began = process_time()
    assert not fetched(("a", 1), (f"a?{query}", 1), ("b", 2))(f"b?{query}")
    assert process_time() - began < 20  # each left out alone would take hundreds of times as long
