"""Traps: that they come to an end, and starve nothing meanwhile."""

import heapq
from random import Random
from string import ascii_lowercase

from mmcrawl.frontier import Admission, Limits
from tests.tables import each

HOST = "http://site.test"
PER_SHAPE = 40
LEARNT = 5 * PER_SHAPE
SITE = {
    f"/s{section}/{page}.htm": page == "d"
    for section in ascii_lowercase[:10]
    for page in ascii_lowercase[:10]
}
"""Its pages, and whether they are relevant."""


def _word(dice: Random) -> str:
    return "".join(dice.choices(ascii_lowercase, k=5))


def _deeper(path: str, dice: Random) -> list[str]:
    base = path.rstrip("/") if path.count("/") < 5 else path.rpartition("/")[0]
    return [f"{base}/{_word(dice)}" for _ in range(4)]


def _facets(path: str, dice: Random) -> list[str]:
    values = dict(pair.split("=") for pair in path.partition("?")[2].split("&") if pair)
    changed = []
    for _ in range(6):
        key = dice.choice(["sort", "view", "dir", "colour", "brand", "page"])
        new = {**values, key: _word(dice)[:2]}
        new.pop(dice.choice(sorted(new)) if dice.random() < 0.4 else "", None)
        changed.append("/list?" + "&".join(f"{k}={v}" for k, v in new.items()))
    return changed


def _facets_in_paths(path: str, dice: Random) -> list[str]:
    parts = {part.partition("-")[0]: part for part in path.split("/")[2:] if part}
    changed = []
    for _ in range(6):
        key = dice.choice(["sort", "view", "dir", "colour", "brand"])
        changed.append(
            "/list/" + "/".join({**parts, key: f"{key}-{dice.choice(ascii_lowercase)}"}.values())
        )
    return changed


TRAPS = {
    "words at every depth": (_deeper, "/x"),
    "words from the root on": (lambda path, dice: [*_deeper(path, dice), f"/{_word(dice)}"], "/q"),
    "words in one directory": (lambda _, dice: [f"/x/{_word(dice)}" for _ in range(5)], "/x/a"),
    "facets in all combinations": (_facets, "/list"),
    "facets in paths": (_facets_in_paths, "/list/"),
    "words and a query": (lambda _, dice: [f"/go/{_word(dice)}?r={_word(dice)}"] * 5, "/go/a?r=b"),
    "a calendar": (lambda path, _: [f"/day/{int(path[5:]) + n}" for n in (1, 2, 7)], "/day/1"),
}


def crawl(leads_to, first):
    """Crawl the site and a trap as a job does; return the paths of the pages in order."""
    admission = Admission(Limits(per_shape=PER_SHAPE), [HOST])
    waiting = [(0, number, path) for number, path in enumerate([first, *SITE])]
    known, taken = {first, *SITE}, []
    while waiting:
        behind, number, path = heapq.heappop(waiting)
        steps = admission.steps_behind(HOST + path)
        if steps > behind:
            heapq.heappush(waiting, (steps, number, path))
        elif admission.exhausted(HOST + path) is None:
            taken.append(path)
            admission.crawled(HOST + path, relevant=SITE.get(path, False))
            for found in [] if path in SITE else leads_to(path, Random(path)):
                if found not in known and admission.refuse(HOST + found, 1, 1) is None:
                    known.add(found)
                    heapq.heappush(waiting, (0, len(known), found))
    return taken


@each("leads_to, first", TRAPS.values())
def test_a_trap_comes_to_an_end_and_starves_nothing(leads_to, first):
    taken = crawl(leads_to, first)
    assert {*taken[: 2 * len(SITE)]} >= SITE.keys()
    most = {
        "/q": 2 * 5 * LEARNT,  # beside ten sections that all brought something, more is tried
        "/list": PER_SHAPE + 2,  # one script, whatever its parameters
    }.get(first, LEARNT + 5)
    assert len(taken) <= len(SITE) + most


def test_an_area_comes_before_those_that_were_begun_when_there_were_very_many() -> None:
    admission = Admission(Limits(per_shape=PER_SHAPE), [HOST])
    for path in ["/lessons/a.htm", *(f"/{_word(Random(n))}/a.htm" for n in range(100))]:
        admission.crawled(HOST + path, relevant=False)
    assert admission.steps_behind(f"{HOST}/lessons/b.htm") == 0
    assert admission.steps_behind(f"{HOST}/other/b.htm") > 0


def test_links_that_are_dead_let_their_area_not_fall_behind() -> None:
    admission = Admission(Limits(per_shape=PER_SHAPE), [HOST])
    for number in range(PER_SHAPE):
        admission.failed(f"{HOST}/lessons/{number}", "HTTP 404")
    assert admission.steps_behind(f"{HOST}/lessons/lever.htm") == 0
    assert admission.exhausted(f"{HOST}/lessons/{PER_SHAPE}") is not None
