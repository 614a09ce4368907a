"""The experiments of Yang 2009: its four algorithms, with its parameters, on any stored web.

The thesis crawled ten Chinese sites of senior physics, which are gone. Its published tables stand
beside the same tables measured here.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import fmean

from mmcrawl.experiment.laboratory import Outcome
from mmcrawl.experiment.measures import (
    pages_at_share,
    per_layer,
    per_pattern,
    precision,
    recall,
    recall_interval,
)
from mmcrawl.experiment.plan import Algorithm, ExperimentError, Plan
from mmcrawl.experiment.presets.tables import PaperTable
from mmcrawl.experiment.truth import Series, Truth
from mmcrawl.frontier.urls import host_of
from mmcrawl.replay.opening import SIMULATED
from mmcrawl.scoring.urlrule_2009 import layer_of

# 5.4: nothing of a page off topic is looked at. Not so in search by URL rules: probing goes through
# pages of any topic, to pass tunnels (4.3.2).
_FOCUS = {"expand": "on-topic"}
FOCUSED = (
    Algorithm(
        "topicrank",
        "topicrank",
        {"d": "0.8", "omega": "0.5", "lambda_": "0.85", "alpha": "0.4", **_FOCUS},
    ),
    Algorithm(
        "shark-improved",
        "shark-improved",
        {
            "beta": "0.8",
            "sigma": "0.6",
            "theta": "0.5",
            "alpha": "0.4",
            "with_media": "false",
            **_FOCUS,
        },
    ),
    Algorithm("urlrule-2009", "urlrule-2009", {"d": "0.85", "beta": "0.8", "alpha": "0.4"}),
)
ALGORITHMS = (Algorithm("breadth", "breadth"), *FOCUSED)
"""Those of section 5.2.4, with the parameters of 5.2.5; ω is open in the thesis."""


@dataclass(frozen=True, slots=True)
class Published:
    """A crawl of table 5-5 or 5-6; precision and recall are computed from its counts."""

    title: str
    pages: int
    relevant: int
    hours: float
    per_minute: int
    precision_after: tuple[float, ...] = ()


PUBLISHED = {
    "breadth": Published("breadth-first", 73_952, 3_059, 30.91, 40),
    "topicrank": Published(
        "Topic-PageRank", 26_872, 984, 18.44, 24, (0.02256, 0.03246, 0.03568, 0.03896)
    ),
    "shark-improved": Published(
        "improved Shark-Search", 21_691, 1_643, 24.51, 14, (0.07485, 0.12267, 0.19619, 0.21572)
    ),
    "urlrule-2009": Published(
        "URL rules", 15_892, 2_048, 15.27, 17, (0.06527, 0.16463, 0.21493, 0.25691)
    ),
}
LAYERS = {
    1: (621, 3),
    2: (1_010, 72),
    3: (5_250, 178),
    4: (1_824, 103),
    5: (18_851, 775),
    6: (730, 20),
    7: (2_734, 84),
    8: (2_129, 64),
    9: (3_498, 5),
    10: (1_325, 8),
    11: (838, 0),
}
ERRORS = 2_045
"""Pages of table 4-1 that could not be fetched."""

NOTE = (
    "Published: ten sites; media pages are those with Flash, on any topic. The rows sum to 38,810"
    " and 1,312, where the thesis prints 38,820 pages and 1,316 media pages with 5,089 Flash files."
    " Here: pages on the topic with wanted media; copies of a page count once."
)
CRAWLS_NOTE = (
    "Published recall is of the pages that breadth-first found, here of all there are; in brackets"
    " its 95 % interval over sites (bootstrap), if there are three or more. Algorithms are compared"
    " after the share of the pages that each fetched in the thesis, and at the end, where those"
    " that follow the same links have the same pages. Two shares are misprinted in the thesis, and"
    " computed from its counts here: 984 of 26,872 pages are 3.66 %, not 2.67 %, and 3,059 of"
    " 73,952 are 4.14 %, not 4.464 %."
)
LAYER_NOTE = (
    "Layers count the slashes of an address, so that only a home page is in the first: the 69 pages"
    " of /wu51/* in table 4-3 are the 69 of layer 3 in table 4-2."
)
LAYERS_OF_SITE = {
    1: (1, 0),
    2: (393, 9),
    3: (1_390, 69),
    4: (3_805, 124),
    5: (4_046, 229),
    6: (1_110, 4),
    7: (72, 0),
    8: (0, 0),
}
SITE = "wsbedu.com"
NOTE_OF_SITE = (
    "The rows of the thesis sum to 10,817 pages, where it prints 9,817, 1,141 of them in error."
)
PATTERNS = {"/wu51/*": 69, "/lin/hs/*": 209, "/kejian/shengk/*": 52, "/mid/soft/*": 34}


_NONE = "–"


_SEEDS = re.compile(r"\bseed=(\d{1,9})-(\d{1,9})\b")
_MOST_WEBS = 100


def tables(plan: Plan, outcome: Outcome) -> Iterator[PaperTable]:
    """Yield the tables of the thesis, each with what was published and what was measured here."""
    truth = outcome.truth
    runs = {algorithm.label: outcome.runs[algorithm.label][0] for algorithm in ALGORITHMS}
    if not truth.relevant:
        raise ExperimentError(
            f"no page of the web {plan.web} is relevant to {plan.topic_title}: the tables of the"
            " thesis would be empty; give other words with --keywords, or another --topic"
        )
    sites = _sites(truth)
    best = max(sites, key=lambda host: sites[host].relevant)
    layers = per_layer([layer_of(url) for url in truth.urls], truth.judge(truth.kinds))
    yield _layers(
        "Table 4-1: media pages by physical layer",
        LAYERS,
        "published",
        layers,
        f"{NOTE} {LAYER_NOTE}",
        errors=(ERRORS, sum(truth.errors.values())),
    )
    yield _layers(
        f"Table 4-2: the same, of the site with most media pages, {best}",
        LAYERS_OF_SITE,
        SITE,
        sites[best].layers,
        NOTE_OF_SITE,
    )
    yield _patterns(runs["urlrule-2009"], best, sites[best].relevant)
    yield _crawls(runs, truth, sites)
    yield _precision_by_time(runs)
    if len(sites) > 1:
        yield _by_site(runs, sites)


def webs_of(web: str) -> dict[str, str]:
    """Return the webs of a name, as ``sim:media=0.04,seed=1-10``, by folders of experiments."""
    given = _SEEDS.search(web) if web.startswith(SIMULATED) else None
    if given is None:
        return {"": web}
    first, last = map(int, given.groups())
    if not first <= last < first + _MOST_WEBS:
        raise ExperimentError(f"{given[0]} is no range of 1 to {_MOST_WEBS} seeds; write seed=1-10")
    named = ((f"seed={n}", _SEEDS.sub(f"seed={n}", web)) for n in range(first, last + 1))
    return dict(named)


def over_webs(web: str, outcomes: Iterable[Outcome]) -> PaperTable:
    """Return tables 5-5 and 5-6 over webs, and how often the order is the published one."""
    fetched: dict[str, list[int]] = {}  # by row: pages of each web, and relevant ones
    found: dict[str, list[int]] = {}
    wanted, ordered, first = [], 0, 0
    for outcome in outcomes:
        runs = {algorithm.label: outcome.runs[algorithm.label][0] for algorithm in ALGORITHMS}
        wanted.append(len(outcome.truth.relevant))
        at_share = []
        for label, run in runs.items():
            for name, pages in _stages(runs, label):
                fetched.setdefault(name, []).append(pages)
                found.setdefault(name, []).append(sum(run.relevant[:pages]))
            at_share.append(found[next(name for name, _ in _stages(runs, label))][-1])
        _, *focused = at_share
        ordered += focused == sorted(set(focused))
        first += focused[-1] > max(focused[:-1])
    rows = []
    for name, relevant in found.items():
        shares = [f / w for f, w in zip(relevant, wanted, strict=True) if w]
        share = _share(recall(sum(relevant), sum(wanted))) + _interval(relevant, wanted)
        apart = f"{min(shares):.0%}–{max(shares):.0%}" if shares else _NONE
        rows.append((name, f"{fmean(fetched[name]):,.0f}", share, apart))
    columns = ("crawl", "pages, mean", "recall (95 % interval)", "least to most")
    return PaperTable(
        f"Tables 5-5 and 5-6 over {len(wanted)} webs, {web}",
        columns,
        tuple(rows),
        f"After the shares of the pages of the thesis its order, URL rules before improved"
        f" Shark-Search before Topic-PageRank, appears on {ordered} of {len(wanted)} webs; URL"
        f" rules are first on {first}. Intervals are over webs (bootstrap).",
    )


@dataclass(frozen=True, slots=True)
class _Site:
    """The relevant pages of a host, each once; and pages and relevant ones by layer."""

    relevant: int
    layers: Mapping[int, tuple[int, int]]


def _sites(truth: Truth) -> dict[str, _Site]:
    hosts = [host_of(url) for url in truth.urls]
    verdicts, every = truth.judge(truth.kinds), map(layer_of, truth.urls)
    found: dict[str, tuple[list[int], list[bool]]] = {}
    for host, layer, relevant in zip(hosts, every, verdicts, strict=True):
        layers, counts = found.setdefault(host, ([], []))
        layers.append(layer)
        counts.append(relevant)
    return {
        host: _Site(sum(counts), per_layer(layers, counts))
        for host, (layers, counts) in found.items()
    }


def _layers(
    title: str,
    published: Mapping[int, tuple[int, int]],
    name: str,
    here: Mapping[int, tuple[int, int]],
    note: str,
    *,
    errors: tuple[int, int] | None = None,
) -> PaperTable:
    """A table of layers: pages, media pages, and their share in all media pages; errors."""
    both = [_layer_cells(published), _layer_cells(here)]
    rows = [
        (str(layer), *(cell for cells in both for cell in cells.get(layer, ("", "", ""))))
        for layer in sorted({*published, *here})
    ]
    totals = [("all", *(cell for cells in both for cell in cells[0]))]
    if errors:
        totals.append(("in error", *(cell for count in errors for cell in (f"{count:,}", "", ""))))
    kinds = ("pages", "media pages", "share")
    columns = ("layer", *(f"{source}: {kind}" for source in (name, "here") for kind in kinds))
    return PaperTable(title, columns, (*rows, *totals), note)


def _layer_cells(layers: Mapping[int, tuple[int, int]]) -> dict[int, tuple[str, str, str]]:
    """Return the cells of each layer, and under 0 those of all."""
    pages, found = (sum(column) for column in zip(*layers.values(), strict=True))
    cells = {n: (f"{p:,}", f"{f:,}", _share(recall(f, found))) for n, (p, f) in layers.items()}
    return cells | {0: (f"{pages:,}", f"{found:,}", _share(precision(found, pages)))}


def _patterns(run: Series, host: str, wanted: int) -> PaperTable:
    """Table 4-3: where the media pages of one site are, by the patterns that were learnt."""
    own = [n for n, url in enumerate(run.url) if host_of(url) == host]
    found = per_pattern((run.pattern[n] for n in own), [run.relevant[n] for n in own])
    total = sum(found for _, found in LAYERS_OF_SITE.values())
    learnt = [
        (_shown(pattern, host), f"{n:,}", _share(recall(n, wanted)))
        for pattern, (_, n) in found.items()
        if pattern and n
    ]
    printed = [(p, f"{n}", _share(n / total)) for p, n in PATTERNS.items()]
    rows = tuple(
        (*first, *second) for first, second in zip_longest(printed, learnt, fillvalue=("", "", ""))
    )
    return PaperTable(
        "Table 4-3: directories that hold the media pages",
        (SITE, "media pages", "share", f"here: patterns of {host}", "media pages", "share"),
        rows,
        "Here: media pages that urlrule-2009 fetched, by the most general of its patterns; shares"
        " of all media pages of the site.",
    )


def _shown(pattern: str, host: str) -> str:
    """Return a pattern as the thesis writes it: a `*` stands for all that lies below."""
    return pattern.removeprefix(f"http://{host}").replace("/*/**", "/*")


def _after(runs: Mapping[str, Series], label: str, share: float) -> int:
    """Return how many pages a run had after a share of the breadth-first crawl's, or at its end."""
    return min(pages_at_share(len(runs["breadth"]), share), len(runs[label]))


def _stages(runs: Mapping[str, Series], label: str) -> Iterator[tuple[str, int]]:
    """Yield after how many pages a run is looked at, as in the thesis and at its end, and why."""
    if label != "breadth":
        share = PUBLISHED[label].pages / PUBLISHED["breadth"].pages
        yield f"{label}, here, {share:.0%} of the web", _after(runs, label, share)
    yield f"{label}, here", len(runs[label])


def _crawls(runs: Mapping[str, Series], truth: Truth, sites: Mapping[str, _Site]) -> PaperTable:
    """Tables 5-5 and 5-6: pages, relevant pages, precision, recall; time and speed at the end."""
    everything, rows = PUBLISHED["breadth"], []

    def found_in(run: Series, pages: int) -> tuple[str, str, str]:
        found, share, part = _found(sum(run.relevant[:pages]), pages, len(truth.relevant))
        by_site = Counter(
            host_of(url)
            for url, relevant in zip(run.url[:pages], run.relevant, strict=False)
            if relevant
        )
        counts = [by_site[host] for host in sites], [site.relevant for site in sites.values()]
        return found, share, part + _interval(*counts)

    for label, run in runs.items():
        paper = PUBLISHED[label]
        published = _found(paper.relevant, paper.pages, everything.relevant)
        name, hours, speed = f"{paper.title}, published", f"{paper.hours:.2f} h", paper.per_minute
        rows.append((name, f"{paper.pages:,}", *published, hours, f"{speed}"))
        rows += [
            (name, f"{pages:,}", *found_in(run, pages), *_times(run, pages))
            for name, pages in _stages(runs, label)
        ]
    columns = ("crawl", "pages", "relevant", "precision", "recall", "time", "pages a minute")
    return PaperTable("Tables 5-5 and 5-6: the four crawls", columns, tuple(rows), CRAWLS_NOTE)


def _interval(found: Sequence[int], wanted: Sequence[int]) -> str:
    interval = recall_interval(found, wanted)
    return f" ({interval[0]:.0%}–{interval[1]:.0%})" if interval else ""


def _times(run: Series, pages: int) -> tuple[str, str]:
    """Return the cells of time and speed, which are those of the end."""
    if pages < len(run):
        return "", ""
    seconds = run.seconds[-1] - run.seconds[0] if run.seconds else 0.0
    return f"{seconds:.1f} s", f"{60 * len(run) / seconds:,.0f}" if seconds else _NONE


def _found(relevant: int, pages: int, wanted: int) -> tuple[str, str, str]:
    """Return the cells of relevant pages, precision and recall."""
    return f"{relevant:,}", _share(precision(relevant, pages)), _share(recall(relevant, wanted))


def _precision_by_time(runs: Mapping[str, Series]) -> PaperTable:
    """Table 5-7: precision after 1 to 4 hours, measured in pages of breadth-first."""
    rows = []
    for number in range(1, 5):
        cells = [f"{number}"]
        for algorithm in FOCUSED:
            run, paper = runs[algorithm.label], PUBLISHED[algorithm.label]
            share = 60 * number * paper.per_minute / PUBLISHED["breadth"].pages
            pages = _after(runs, algorithm.label, share)
            cells += [
                f"{share:.1%}",
                _share(paper.precision_after[number - 1]),
                _share(precision(sum(run.relevant[:pages]), pages)),
            ]
        rows.append(tuple(cells))
    kinds = ("pages", "published", "here")
    columns = ("hour", *(f"{a.label}: {kind}" for a in FOCUSED for kind in kinds))
    return PaperTable(
        "Table 5-7: precision by time",
        columns,
        tuple(rows),
        "Pages: what an algorithm fetched by then at its speed in table 5-6, as a share of the"
        " breadth-first crawl's; here precision is after the same share of the web.",
    )


def _by_site(runs: Mapping[str, Series], sites: Mapping[str, _Site]) -> PaperTable:
    fetched: dict[tuple[str, str], tuple[int, int]] = {}
    for label, run in runs.items():
        for url, relevant in zip(run.url, run.relevant, strict=True):
            pages, found = fetched.get((label, host_of(url)), (0, 0))
            fetched[label, host_of(url)] = pages + 1, found + relevant
    rows = []
    for host, site in sorted(sites.items()):
        for label in runs:
            pages, found = fetched.get((label, host), (0, 0))
            row = (f"{pages:,}", f"{found:,}", _share(precision(found, pages)))
            rows.append((host, label, *row, _share(recall(found, site.relevant))))
    columns = ("site", "crawl", "pages", "relevant", "precision", "recall")
    return PaperTable("Tables 5-5 and 5-6 by site, here", columns, tuple(rows))


def _share(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2%}"
