"""The experiments of Yang 2009: its four algorithms, with its parameters, on any stored web.

The thesis crawled ten Chinese sites of senior physics, which are gone. What it published stands
beside what the same tables come to here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from mmcrawl.experiment.laboratory import Outcome
from mmcrawl.experiment.measures import per_layer, per_pattern, precision, recall
from mmcrawl.experiment.plan import Algorithm, ExperimentError, Plan
from mmcrawl.experiment.presets.tables import PaperTable
from mmcrawl.experiment.series import Series
from mmcrawl.experiment.truth import Truth
from mmcrawl.frontier.addresses import host_of

_FOCUS = {"expand": "on-topic"}  # 5.4: nothing of a page off topic is looked at
_BREADTH = Algorithm("breadth", "breadth")
_FOCUSED = (
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
    Algorithm(
        "urlrule-2009", "urlrule-2009", {"d": "0.85", "beta": "0.8", "alpha": "0.4", **_FOCUS}
    ),
)
ALGORITHMS = (_BREADTH, *_FOCUSED)
"""Those of section 5.2.4, with the parameters of 5.2.5; ω is open in the thesis."""

_NONE = "–"
_HOURS = 30.91  # of the breadth-first crawl


@dataclass(frozen=True, slots=True)
class _Published:
    """A crawl of table 5-5 or 5-6; precision and recall are computed from its counts."""

    title: str
    pages: int
    relevant: int
    hours: float
    per_minute: int
    precision_after: tuple[float, ...] = ()


_PUBLISHED = {
    "breadth": _Published("breadth-first", 73_952, 3_059, _HOURS, 40),
    "topicrank": _Published(
        "Topic-PageRank", 26_872, 984, 18.44, 24, (0.02256, 0.03246, 0.03568, 0.03896)
    ),
    "shark-improved": _Published(
        "improved Shark-Search", 21_691, 1_643, 24.51, 14, (0.07485, 0.12267, 0.19619, 0.21572)
    ),
    "urlrule-2009": _Published(
        "URL rules", 15_892, 2_048, 15.27, 17, (0.06527, 0.16463, 0.21493, 0.25691)
    ),
}
_LAYERS = {
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
_NOTE = (
    "Published: ten sites; media pages are those with Flash, on any topic. The rows sum to 38,810"
    " and 1,312, where the thesis prints 38,820 pages and 1,316 media pages, 2,045 pages in error,"
    " 5,089 Flash files. Here: pages on the topic with wanted media; copies of a page count once."
)
_LAYERS_OF_SITE = {
    1: (1, 0),
    2: (393, 9),
    3: (1_390, 69),
    4: (3_805, 124),
    5: (4_046, 229),
    6: (1_110, 4),
    7: (72, 0),
    8: (0, 0),
}
_SITE = "wsbedu.com"
_NOTE_OF_SITE = (
    "The rows of the thesis sum to 10,817 pages, where it prints 9,817, 1,141 of them in error."
)
_PATTERNS = {"/wu51/*": 69, "/lin/hs/*": 209, "/kejian/shengk/*": 52, "/mid/soft/*": 34}


def tables(plan: Plan, outcome: Outcome) -> Iterator[PaperTable]:
    """Yield the tables of the thesis, each with what was published and what was measured here.

    Args:
        plan: an experiment with `ALGORITHMS`.
        outcome: what it came to.
    """
    truth = outcome.truth
    runs = {algorithm.label: outcome.runs[algorithm.label][0] for algorithm in ALGORITHMS}
    if not truth.relevant:
        raise ExperimentError(
            f"no page of the web {plan.web} is relevant to {plan.topic_title}: the tables of the"
            " thesis would be empty; give other words with --keywords, or another --topic"
        )
    sites = _sites(truth)
    best = max(sites, key=lambda host: sites[host].relevant)
    layers = per_layer(truth.layers, truth.judge(truth.kinds))
    yield _layers("Table 4-1: media pages by physical layer", _LAYERS, "published", layers, _NOTE)
    yield _layers(
        f"Table 4-2: the same, of the site with most media pages, {best}",
        _LAYERS_OF_SITE,
        _SITE,
        sites[best].layers,
        _NOTE_OF_SITE,
    )
    yield _patterns(runs["urlrule-2009"], best, sites[best].relevant)
    yield _crawls(runs, truth)
    yield _precision_by_time(runs)
    if len(sites) > 1:
        yield _by_site(runs, sites)


@dataclass(frozen=True, slots=True)
class _Site:
    """The relevant pages of a host, each once; and pages and relevant ones by layer."""

    relevant: int
    layers: Mapping[int, tuple[int, int]]


def _sites(truth: Truth) -> dict[str, _Site]:
    hosts = [host_of(url) for url in truth.urls]
    verdicts = truth.judge(truth.kinds)
    found: dict[str, tuple[list[int], list[bool]]] = {}
    for host, layer, relevant in zip(hosts, truth.layers, verdicts, strict=True):
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
) -> PaperTable:
    """A table of layers: pages, media pages, and their share in all media pages."""
    both = [_layer_cells(published), _layer_cells(here)]
    rows = [
        (str(layer), *(cell for cells in both for cell in cells.get(layer, ("", "", ""))))
        for layer in sorted({*published, *here})
    ]
    totals = [("all", *(cell for cells in both for cell in cells[0]))]
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
    total = sum(found for _, found in _LAYERS_OF_SITE.values())
    learnt = [
        (pattern.removeprefix(f"http://{host}"), f"{n:,}", _share(recall(n, wanted)))
        for pattern, (_, n) in found.items()
        if pattern and n
    ]
    printed = [(p, f"{n}", _share(n / total)) for p, n in _PATTERNS.items()]
    rows = tuple(
        (*first, *second) for first, second in zip_longest(printed, learnt, fillvalue=("", "", ""))
    )
    return PaperTable(
        "Table 4-3: directories that hold the media pages",
        (_SITE, "media pages", "share", f"here: patterns of {host}", "media pages", "share"),
        rows,
        "Here: media pages that urlrule-2009 fetched, by the most general of its patterns; shares"
        " of all media pages of the site.",
    )


def _crawls(runs: Mapping[str, Series], truth: Truth) -> PaperTable:
    """Tables 5-5 and 5-6: pages, relevant pages, time, speed, precision, recall."""
    everything = _PUBLISHED["breadth"].relevant
    rows = []
    for label, run in runs.items():
        paper = _PUBLISHED[label]
        seconds = _seconds(run)
        rows += [
            (
                f"{paper.title}, published",
                f"{paper.pages:,}",
                f"{paper.relevant:,}",
                _share(precision(paper.relevant, paper.pages)),
                _share(recall(paper.relevant, everything)),
                f"{paper.hours:.2f} h",
                f"{paper.per_minute}",
            ),
            (
                f"{label}, here",
                f"{len(run):,}",
                f"{run.found:,}",
                _share(precision(run.found, len(run))),
                _share(recall(run.found, len(truth.relevant))),
                f"{seconds:.1f} s",
                f"{60 * len(run) / seconds:,.0f}" if seconds else _NONE,
            ),
        ]
    columns = ("crawl", "pages", "relevant", "precision", "recall", "time", "pages a minute")
    return PaperTable(
        "Tables 5-5 and 5-6: the four crawls",
        columns,
        tuple(rows),
        "Published recall is of the pages that breadth-first found, here of all there are."
        " Two shares are misprinted in the thesis, and computed from its counts here: 984 of 26,872"
        " pages are 3.66 %, not 2.67 %, and 3,059 of 73,952 are 4.14 %, not 4.464 %.",
    )


def _precision_by_time(runs: Mapping[str, Series]) -> PaperTable:
    """Table 5-7: precision after 1 to 4 hours; breadth-first takes 30.91 of them."""
    hour = _seconds(runs["breadth"]) / _HOURS
    labels = [algorithm.label for algorithm in _FOCUSED]
    rows = []
    for number in range(1, 5):
        cells = [f"{number}"]
        for label in labels:
            cells.append(_share(_PUBLISHED[label].precision_after[number - 1]))
            cells.append(_share(_precision_after(runs[label], number * hour)))
        rows.append(tuple(cells))
    columns = ("hour", *(f"{label}: {what}" for label in labels for what in ("published", "here")))
    return PaperTable(
        "Table 5-7: precision by time",
        columns,
        tuple(rows),
        f"An hour is the same part of the breadth-first crawl's time as it was there: 1 of {_HOURS}"
        f" hours, {hour:.2f} s here, from the first page on, on this machine and a stored web.",
    )


def _precision_after(run: Series, seconds: float) -> float | None:
    pages = sum(second <= run.seconds[0] + seconds for second in run.seconds)
    return precision(sum(run.relevant[:pages]), pages)


def _by_site(runs: Mapping[str, Series], sites: Mapping[str, _Site]) -> PaperTable:
    """Table 5-6 for each site."""
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


def _seconds(run: Series) -> float:
    """Return how long a run took from its first page to its last."""
    return run.seconds[-1] - run.seconds[0] if run.seconds else 0.0


def _share(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2%}"
