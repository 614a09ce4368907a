"""What an algorithm costs as a crawl grows: CPU per page from 1,000 to 100,000 pages.

    python benchmarks/scoring.py [--algos pagerank,topicrank] [--pages 100000]

A made-up web is crawled in the order the algorithm asks for; nothing is fetched or parsed. It has
100 sites of 6,000 pages. A page links to the 10 sections of its site, to its 8 children in a tree,
to 3 other pages of the site and to a page of another one. A tenth of the sections hold media pages
on topic, and the words of links to these mostly say so. Scores are applied to a real frontier,
`SqliteFrontier` on `memory:`.

The columns: pages crawled; links known; and for each page since the row before CPU µs of the
scorer, CPU µs of the frontier taking in its answers (commits included), and scores given; CPU ms of
the longest wait that one answer caused, both together. The growth exponent is the slope of all this
CPU time against pages, both logarithmic, over the last decade: 1 grows as the crawl does. The exit
code is 1 if an algorithm's is more than `--limit`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log
from random import Random

from mmcrawl.frontier import LinkScores, NewLink, PageRecord, SqliteFrontier, open_store
from mmcrawl.scoring import (
    CrawledPage,
    LinkSimilarity,
    Scorer,
    algorithm_names,
    make_scorer,
)
from mmcrawl.topic import Topic

SITES = 100
PAGES_OF_SITE = 6_000
SECTIONS = 10
CHILDREN = 8
STEPS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
TOPIC = Topic("optics", "光学", (("光学", "optics"),))


class MadeUpWeb:
    """A web in which everything about a page follows from its number."""

    def links(self, page: int) -> list[int]:
        """Return the pages that a page links to, each once."""
        site, number = divmod(page, PAGES_OF_SITE)
        dice = Random(page)
        numbers = [
            *range(1, SECTIONS + 1),
            *range(CHILDREN * number + 1, CHILDREN * number + CHILDREN + 1),
            *(dice.randrange(PAGES_OF_SITE) for _ in range(3)),
        ]
        found = [site * PAGES_OF_SITE + n for n in numbers if n < PAGES_OF_SITE]
        return list(dict.fromkeys([*found, dice.randrange(SITES) * PAGES_OF_SITE]))

    def section(self, page: int) -> int:
        """Return the child of the home page that a page lies below, 0 for the home page."""
        number = page % PAGES_OF_SITE
        while number > CHILDREN:
            number = (number - 1) // CHILDREN
        return number

    def relevant(self, page: int) -> bool:
        """Tell whether a page holds media on topic."""
        site, number = divmod(page, PAGES_OF_SITE)
        return self.section(page) == site % SECTIONS and number % 3 != 0

    def url(self, page: int) -> str:
        """Return a page's address."""
        site, number = divmod(page, PAGES_OF_SITE)
        folder = (number - 1) // CHILDREN
        return f"http://www.site{site}.test/s{self.section(page)}/d{folder}/p{number}.html"

    def link(self, page: int, layer: int) -> NewLink:
        """Return the link to a page."""
        share = Random(~page).random()
        on_topic = share < 0.8 if self.relevant(page) else share < 0.1
        return NewLink(
            self.url(page),
            logical_layer=layer,
            physical_layer=3,
            content_score=round(share, 2) if on_topic else 0.0,
        )


@dataclass
class Spent:
    """CPU seconds of the scorer and of the frontier with its answers, and scores given.

    `longest` is the most that a single answer took, of both together.
    """

    scoring: float = 0.0
    applying: float = 0.0
    answers: int = 0
    longest: float = 0.0


class Crawl:
    """A crawl of the made-up web by one algorithm."""

    def __init__(self, algorithm: str) -> None:
        self._web = MadeUpWeb()
        self._store = open_store("memory:")
        self.frontier = SqliteFrontier(self._store, self._store.job("crawl", {}))
        self._scorer: Scorer = make_scorer(algorithm, self.frontier, LinkSimilarity(TOPIC))
        self._page_of_link: list[int] = []
        self.spent = Spent()
        seeds = self._add([site * PAGES_OF_SITE for site in range(0, SITES, 10)], None, 1)
        self._tell(self._scorer.added, seeds)

    def run(self) -> Iterator[int]:
        """Crawl; yield the number of pages so far after each."""
        while (taken := self.frontier.next()) is not None:
            number = self._page_of_link[taken.id]
            self._tell(self._scorer.started, taken.id)
            relevant = self._web.relevant(number)
            links = self._add(self._web.links(number), taken.id, taken.logical_layer + 1)
            record = PageRecord(taken.url, "", "", "", relevant, relevant, len(links), 0.0)
            self.frontier.complete(taken.id, record, links)
            page = CrawledPage(taken.id, taken.url, relevant, relevant, links, float(relevant))
            self._tell(self._scorer.crawled, page)
            if self.frontier.pages % 100 == 0:
                self._timed(self.frontier.commit)
            yield self.frontier.pages

    def close(self) -> None:
        self._store.close()

    def _add(self, pages: list[int], parent: int | None, layer: int) -> list[int]:
        added = self.frontier.add([self._web.link(page, layer) for page in pages], parent)
        new = [page for page, (_, is_new) in zip(pages, added, strict=True) if is_new]
        self._page_of_link.extend(new)
        return [link for link, _ in added]

    def _tell(self, method, news) -> None:
        begin = time.process_time()
        answer: LinkScores = method(news)
        self.spent.scoring += time.process_time() - begin
        self.spent.answers += len(answer.ids)
        self._timed(self.frontier.apply, answer)
        self.spent.longest = max(self.spent.longest, time.process_time() - begin)

    def _timed(self, method, *arguments) -> None:
        begin = time.process_time()
        method(*arguments)
        self.spent.applying += time.process_time() - begin


def measure(algorithm: str, most: int) -> float:
    """Crawl by an algorithm, print its table, return its growth exponent."""
    crawl = Crawl(algorithm)
    print(f"\n{algorithm}")
    print(
        f"{'pages':>9}{'links':>10}{'scoring µs':>12}{'applying µs':>13}{'answers':>9}"
        f"{'longest ms':>12}"
    )
    steps = [*(step for step in STEPS if step < most), most]
    since, pages_then, total = Spent(), 0, {}
    for pages in crawl.run():
        if pages != steps[len(total)]:
            continue
        now, count = crawl.spent, pages - pages_then
        print(
            f"{pages:>9,}{len(crawl.frontier):>10,}"
            f"{(now.scoring - since.scoring) / count * 1e6:>12.0f}"
            f"{(now.applying - since.applying) / count * 1e6:>13.0f}"
            f"{(now.answers - since.answers) / count:>9.0f}{now.longest * 1e3:>12.0f}",
            flush=True,
        )
        since, pages_then = replace(now), pages
        now.longest = 0.0
        total[pages] = now.scoring + now.applying
        if len(total) == len(steps):
            break
    crawl.close()
    if not total:
        print("the crawl ended before that")
        return 1.0
    last = max(total)
    first = min((step for step in total if step * 10 >= last), default=last)
    exponent = log(total[last] / total[first]) / log(last / first) if first < last else 1.0
    print(f"growth exponent from {first:,} pages: {exponent:.2f}")
    return exponent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--algos", default=",".join(algorithm_names()), help="default: all")
    parser.add_argument("--pages", type=int, default=STEPS[-1], help="default 100,000")
    parser.add_argument("--limit", type=float, default=1.15, help="largest exponent (1.15)")
    arguments = parser.parse_args()
    exponents = {name: measure(name, arguments.pages) for name in arguments.algos.split(",")}
    grows = [name for name, exponent in exponents.items() if exponent > arguments.limit]
    if grows:
        print(f"\ngrows faster than the crawl: {', '.join(grows)}")
    return 1 if grows else 0


if __name__ == "__main__":
    raise SystemExit(main())
