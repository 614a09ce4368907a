"""What each kind of evidence is worth (`mmcrawl/scoring/learned_prior.json`), learnt on webs.

Every web is crawled breadth first, and by `urlrule` with the weights that these crawls give: on the
way of a focused crawl links look otherwise than on that of breadth-first search (Ross, Gordon &
Bagnell, AISTATS 2011). Whenever a quarter more pages were fetched, up to 200 of the waiting links
are drawn, with what is known of each then, whether its page is relevant, and how many relevant
pages it leads to that are not known yet. Two ridge regressions, one logistic, tell the weights of
both; every web counts alike, however large.

    python tools/train_search_prior.py /tmp/lab FOLDER… --out mmcrawl/scoring/learned_prior.json
    python tools/train_search_prior.py /tmp/lab FOLDER… --leave-out /tmp/priors

With `--leave-out` the weights for each web are learnt on the others; `search_lab.py --priors` then
measures every web with weights that know nothing of it.
"""

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from mmcrawl.frontier.records import LinkScores
from mmcrawl.frontier.urls import canonical
from mmcrawl.scoring.base import CrawledPage, LinkSource, Scorer
from mmcrawl.scoring.evidence import COLUMNS, prior_of
from mmcrawl.scoring.prospects import Prospects
from mmcrawl.scoring.registry import make_scorer

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from search_lab import Web, crawl, webs_of

STRENGTH = 0.0005  # of the data against the weights' pull to 0; .0002 to .2 tried, leaving webs out
FREE = 30.0  # the host's own rates are pulled less: their weight should be near 1
MOST_LINKS, FURTHER_ON, MANY = 200, 0.3, 30
USED = (
    lambda name: name not in {"seed", "yield"} and not name.endswith((": yield", "numbered")),
    lambda name: name != "seed" and not name.endswith(": rate"),
)


class Sample(NamedTuple):
    """Waiting links at one moment, shape (n, len(COLUMNS)) and (n,)."""

    columns: np.ndarray
    relevant: np.ndarray
    leads: np.ndarray


class Truth:
    """What each address of a web is, and what it links to."""

    def __init__(self) -> None:
        self.relevant: dict[str, bool] = {}
        self.links: dict[str, set[str]] = {}
        self.target: dict[str, str] = {}

    def page(self, url: str) -> str:
        """Return where an address leads."""
        return self.target.get(url, url)

    def leads(self, urls: Iterable[str], known: set[str]) -> list[float]:
        """Return how many relevant pages that are not known pages bring; less if further on."""
        behind: dict[str, int] = {}
        return [
            sum(
                1
                if self._is_relevant(link)
                else FURTHER_ON * min(self._behind(link, known, behind), MANY)
                for link in self._links(url) - known
            )
            for url in urls
        ]

    def _behind(self, url: str, known: set[str], counted: dict[str, int]) -> int:
        """Return how many relevant pages a page links to that are not known; counted once."""
        if url not in counted:
            counted[url] = sum(map(self._is_relevant, self._links(url) - known))
        return counted[url]

    def _is_relevant(self, url: str) -> bool:
        return self.relevant.get(self.page(url), False)

    def _links(self, url: str) -> set[str]:
        return self.links.get(self.page(url), set())


class Watch:
    """A scorer that hands everything to another one, and watches.

    Args:
        inner: the algorithm.
        source: where links are looked up.
        truth: of the web; it is filled if there is no `samples`.
        samples: where samples go.
    """

    def __init__(
        self, inner: Scorer, source: LinkSource, truth: Truth, samples: list[Sample] | None
    ) -> None:
        self._inner, self._source, self._truth, self._samples = inner, source, truth, samples
        self._prospects = Prospects(source)
        self._dice = random.Random(2026)  # noqa: S311 - the same links each time
        self._waiting: dict[int, str] = {}
        self._known: set[str] = set()
        self._fetched, self._next, self._failed = 0, 3, -1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _register(self, links: Iterable[int]) -> None:
        for link in links:
            url = canonical(self._source.known(link).url)
            if url not in self._known:
                self._known.add(url)
                self._waiting[link] = url
                self._prospects.register(link)

    def added(self, links: Iterable[int]) -> LinkScores:
        links = list(links)
        for link in links:
            known = self._source.known(link)
            if known.parent is not None and known.parent == self._failed:
                before = canonical(self._source.known(self._failed).url)
                self._truth.target[before] = canonical(known.url)
        self._register(links)
        return self._inner.added(links)

    def started(self, link: int) -> LinkScores:
        self._waiting.pop(link, None)
        return self._inner.started(link)

    def failed(self, link: int) -> LinkScores:
        self._prospects.failed(link)
        self._failed = link
        return self._inner.failed(link)

    def revised(self, links: Iterable[int]) -> LinkScores:
        links = list(links)
        for link in links:
            self._truth.relevant[canonical(self._source.known(link).url)] = False
            self._prospects.revised(link)
        return self._inner.revised(links)

    def crawled(self, page: CrawledPage) -> LinkScores:
        scores = self._inner.crawled(page)
        self._prospects.crawled(page)
        self._register(page.links)
        self._prospects.linked(page.links)
        if self._samples is None:
            url = canonical(self._source.known(page.id).url)
            self._truth.relevant[url] = page.relevant
            self._truth.links[url] = {canonical(self._source.known(n).url) for n in page.links}
        else:
            self._fetched += 1
            if self._fetched >= self._next:
                self._next = max(self._fetched + 2, self._fetched * 5 // 4)
                self._draw(self._samples)
        return scores

    def _draw(self, samples: list[Sample]) -> None:
        links = list(self._waiting)
        if len(links) < 5:
            return
        drawn = self._dice.sample(links, min(len(links), MOST_LINKS))
        urls = [self._waiting[link] for link in drawn]
        truth = self._truth
        relevant = np.array([truth.relevant.get(truth.page(url), False) for url in urls])
        leads = np.array(truth.leads(urls, self._known))
        ids = np.array(drawn)
        columns = self._prospects.columns(ids)
        samples.append(Sample(columns, relevant, leads))


def samples_of(
    web: Web, algo: str, prior: dict[str, list[float]], task: str, cache: Path
) -> list[Sample]:
    """Crawl a web, and return what was known of its links at some moments.

    Args:
        web: what is crawled.
        algo: the algorithm, with what weights.
        prior: these weights.
        task, cache: as of `search_lab.crawl`.
    """
    truth, samples = Truth(), list[Sample]()
    Prospects.prior = prior_of(prior)
    for name, kept in (("breadth", None), (algo, samples)):

        def watched(
            name: str,
            source: LinkSource,
            *more: Any,
            kept: list[Sample] | None = kept,
            **given: Any,
        ) -> Any:
            return Watch(make_scorer(name, source, *more, **given), source, truth, kept)

        crawl(web, name, task, cache, scorer=watched)
    return samples


def weights(samples: list[list[Sample]]) -> dict[str, list[float]]:
    """Return the weights of all columns, for what is relevant and for what leads on."""
    share = [1 / len(web) / len(one.relevant) for web in samples for one in web]
    each = [one for web in samples for one in web]
    weight = 100 * np.repeat(share, [len(one.relevant) for one in each])
    columns = np.concatenate([one.columns for one in each])
    relevant = np.concatenate([one.relevant for one in each])
    leads = 1 - np.exp(-np.concatenate([one.leads for one in each]) / 3)
    models = LogisticRegression(C=STRENGTH, max_iter=500), Ridge(alpha=1 / STRENGTH)
    found = defaultdict(lambda: [0.0, 0.0])
    for head, (model, outcome, used) in enumerate(
        zip(models, (relevant, leads), USED, strict=True)
    ):
        names = [name for name in COLUMNS[1:] if used(name)]
        chosen = columns[:, [COLUMNS.index(name) for name in names]]
        middle, scale = chosen.mean(axis=0), chosen.std(axis=0) + 1e-3
        for name in {"rate", "yield"} & set(names):
            scale[names.index(name)] /= FREE
        model.fit((chosen - middle) / scale, outcome, sample_weight=weight)
        slopes = np.ravel(model.coef_) / scale
        found["always"][head] = round(float(np.ravel(model.intercept_)[0] - slopes @ middle), 4)
        for name, slope in zip(names, slopes, strict=True):
            found[name][head] = round(float(slope), 4)
    return {name: found[name] for name in COLUMNS if name in found}


def write(path: Path, found: dict[str, list[float]]) -> None:
    """Write weights, a line each."""
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(pair)}" for name, pair in found.items())
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cache", type=Path, help="folder for parsed pages")
    parser.add_argument("folders", nargs="+", type=Path, help="folders of stored sites")
    parser.add_argument("--task", choices=("topic", "any"), default="any")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write the weights that all webs give")
    parser.add_argument("--leave-out", type=Path, help="folder for the weights without each web")
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    webs = webs_of(args.folders, sims=False)
    by_web: dict[str, list[Sample]] = {web.name: [] for web in webs}
    useful: dict[str, list[Sample]] = {}
    for algo in ("breadth", "urlrule"):
        prior = weights(list(useful.values())) if useful else {}
        draw = partial(samples_of, algo=algo, prior=prior, task=args.task, cache=args.cache)
        with ProcessPoolExecutor(args.jobs) as pool:
            for web, samples in zip(webs, pool.map(draw, webs), strict=True):
                by_web[web.name] += samples
        useful = {
            name: samples
            for name, samples in by_web.items()
            if any(one.relevant.any() for one in samples)
        }
    if args.out:
        write(args.out, weights(list(useful.values())))
    if args.leave_out:
        args.leave_out.mkdir(parents=True, exist_ok=True)
        for name in by_web:
            others = [samples for other, samples in useful.items() if other != name]
            write(args.leave_out / f"{name}.json", weights(others))


if __name__ == "__main__":
    main()
