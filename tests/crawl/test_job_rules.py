"""Rules for addresses in a crawl: learnt by one, exported, edited, and given to another."""

import logging
from pathlib import Path
from typing import Any

from mmcrawl.crawl import read_rules, rules_text
from mmcrawl.frontier import NewLink, Status
from mmcrawl.scoring import PinnedRule, PinnedRules, algorithm_names
from tests.crawl.conftest import SEED, crawl, page
from tests.tables import each

START = f"{SEED}start.htm"
FILMS = [f"{SEED}lessons/{n}.htm" for n in range(12)]
NEWS = [f"{SEED}news/{n}.htm" for n in range(30)]


WEB = {
    START: page("/"),
    SEED: page(*NEWS, *FILMS, "/forum/1.htm", "/away.htm"),
    **{url: page(media=f"{n}.mp4") for n, url in enumerate(FILMS)},
    **{url: page(f"/more/{n}.htm") for n, url in enumerate(NEWS)},
    f"{SEED}forum/1.htm": page("/forum/2.htm"),
}


def rules(*lines: tuple[str, int]) -> PinnedRules:
    return PinnedRules(PinnedRule(pattern, weight) for pattern, weight in lines)


def test_what_one_crawl_learns_another_is_given_edited_or_not(opened: Any, tmp_path: Path) -> None:
    first = opened(algo="urlrule", parameters={})
    assert set(crawl(first, WEB)[1:13]) != set(FILMS)
    file = tmp_path / "rules.txt"
    totals = first.totals()
    file.write_text(rules_text(first.patterns(), totals.media_pages / totals.pages))
    (rule,) = read_rules(str(file)).rules
    assert rule.pattern == f"{SEED}lessons/*"
    for algo in ("breadth", "urlrule"):
        fed_back = opened(f"sqlite:///{tmp_path}/{algo}.db", algo, rules=read_rules(str(file)))
        assert set(crawl(fed_back, WEB)[1:13]) == set(FILMS)
    with file.open("a") as more:
        more.write("re:/(news|forum)/  never\n")
    edited = opened(f"sqlite:///{tmp_path}/edited.db", rules=read_rules(str(file)))
    assert crawl(edited, WEB) == [SEED, *FILMS, f"{SEED}away.htm"]
    assert (edited.totals().held, edited.totals().media_pages) == (len(NEWS) + 1, len(FILMS))


@each("algo", algorithm_names())
def test_rules_count_with_every_algorithm(opened: Any, algo: str) -> None:
    job = opened(algo=algo, rules=rules((f"{SEED}news/*", 0), (FILMS[9], 2), ("re:lessons", 1)))
    taken = crawl(job, WEB)
    assert taken[:2] == [SEED, FILMS[9]]
    assert set(taken[1:13]) == set(FILMS)
    assert not set(taken) & set(NEWS)


def test_with_hard_focus_a_rule_frees_what_is_held(opened: Any) -> None:
    def fetched(given: PinnedRules | None) -> list[str]:  # all links of a seed's page are probed
        more = {"parameters": {"num2": 1}, "rules": given}
        return crawl(opened("memory:", "urlrule-2009", [START], **more), WEB)

    assert len(set(fetched(None)) & set(FILMS)) < 12
    assert set(fetched(rules((f"{SEED}lessons/*", 1)))) >= set(FILMS)


def test_rules_edited_between_two_runs_count_at_once_and_the_log_says_so(opened, store, caplog):
    begun = crawl(opened(store, rules=rules(("re:/news/", 3))), WEB, most=5)
    assert begun == [SEED, *NEWS[:4]]
    changed = "Rules for addresses have changed since the last run; these count from now on"
    with caplog.at_level(logging.INFO):
        job = opened(store, rules=rules(("re:/news/", 3)))
        assert changed not in caplog.messages
        assert crawl(job, WEB, most=1) == NEWS[4:5]
        caplog.clear()
        job = opened(store, rules=rules(("re:/news/", 0), ("re:/lessons/", 1)))
        assert caplog.messages == ["Rules for addresses that count in this crawl: 2", changed]
    taken = crawl(job, WEB)
    assert taken[:12] == FILMS
    assert not set(NEWS) & set(taken)


def test_a_crawl_at_its_end_goes_on_where_a_rule_is_lifted(opened: Any, store: str) -> None:
    never = rules(("re:/lessons/", 0))
    job = opened(store, rules=never)
    assert not set(crawl(job, WEB)) & set(FILMS)
    job.stop("finished", finished=True)
    assert opened(store, rules=never).job.finished_at is not None
    again = opened(store)
    assert again.job.finished_at is None
    assert crawl(again, WEB) == FILMS


def test_a_redirect_to_what_is_never_fetched_ends_there(opened: Any) -> None:
    job = opened(rules=rules(("re:/forum/", 0), ("re:/away", 1)))
    crawl(job, WEB, most=1)
    link = job.next()
    assert link.url == f"{SEED}away.htm"
    job.redirected(link.id, NewLink(f"{SEED}forum/new.htm"))
    target = job.frontier.lookup(f"{SEED}forum/new.htm")
    assert job.frontier.record(target).status is Status.WAITING
    assert not [url for url in crawl(job, WEB) if "/forum/" in url]


def test_a_seed_that_is_never_fetched_is_told(opened, caplog):
    caplog.set_level("WARNING", "mmcrawl")  # another test may have asked for more
    job = opened(rules=rules((SEED, 0)))
    assert crawl(job, WEB) == []
    assert caplog.messages == [f"The seed {SEED} is not fetched: a rule says never"]
