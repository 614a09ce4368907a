"""The plan of an experiment: its web, topic, seeds, limits and algorithms, checked."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import mmcrawl
from mmcrawl.crawl.params import FocusedParams
from mmcrawl.crawl.spider_params import explain
from mmcrawl.errors import MmcrawlError, SeedError, WebError
from mmcrawl.experiment.measures import pages_at_share
from mmcrawl.frontier.urls import host_of
from mmcrawl.replay.opening import PORTAL, PORTAL_HOST, SIMULATED, demo_files, open_web
from mmcrawl.scoring.base import NoLinks
from mmcrawl.scoring.registry import default_parameters, is_random, make_scorer
from mmcrawl.scoring.similarity import LinkSimilarity
from mmcrawl.text.resources import data_file
from mmcrawl.topic.topic import Topic

SHARED = ("topic", "keywords", "seeds", "media", "sites", "max_layer", "max_depth")
"""Spider arguments that are the same for all runs."""

RANDOM_RUNS = 3
"""Runs of an algorithm in which chance has a part."""

_OURS = ("store", "job", "web", "max_pages")

# Code that only shows what was measured: runs made before it changed are as good as those after.
_SHOWING = ("commands/", "experiment/report")

# Cuts off endless spaces of pages, and with them parts of webs that do end.
_TRAP_LIMIT = "MMCRAWL_BARREN_PAGES_PER_SHAPE"
_ENDLESS = "demo"


class ExperimentError(MmcrawlError):
    """An experiment cannot be done as it was asked for."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One line of the comparison: an algorithm with its parameters."""

    label: str  # what it is called in the report: the name, and the parameters if there are any
    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def file_name(self) -> str:
        """The label as part of a file name."""
        return "".join(c if c.isalnum() or c in "-_.=" else "+" for c in self.label)


@dataclass(frozen=True)
class Plan:
    """An experiment.

    Attributes:
        arguments: spider arguments shared by all runs (topic, seeds, media, limits); none is empty.
        budget: most pages a run may fetch, 0 for all; a share of the reachable pages if below 1.
        runs: runs of each algorithm; 0 for `RANDOM_RUNS` where chance has a part in it, else 1.
    """

    web: str  # the stored web, as for `mmcrawl.replay.open_web`
    arguments: Mapping[str, str]
    algorithms: tuple[Algorithm, ...]
    budget: float = 0
    runs: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raise ExperimentError, in one sentence, if the experiment cannot be run."""
        if not self.algorithms:
            raise ExperimentError("there is no algorithm to compare; give --algos a,b,c or all")
        doubled = [
            a.label
            for n, a in enumerate(self.algorithms)
            if a.file_name in {b.file_name for b in self.algorithms[:n]}
        ]
        if doubled:
            raise ExperimentError(f"algorithm {doubled[0]} is named twice; name each once")
        params = [self._params(self.spider_arguments(algorithm)) for algorithm in self.algorithms]
        for algorithm in self.algorithms:
            self.seed_of(algorithm)
        similarity = LinkSimilarity(params[0].whole_topic.wanting(params[0].kinds))
        for own in params:  # made only to report a parameter out of its range at once
            make_scorer(own.algo, NoLinks(), similarity, **own.parameters)
        self._check_seeds()

    def runs_of(self, algorithm: Algorithm) -> int:
        return self.runs or (RANDOM_RUNS if is_random(algorithm.name) else 1)

    def seed_of(self, algorithm: Algorithm, repeat: int = 1) -> int | None:
        """Return the seed of a run, from 1 on; None if chance has no part in the algorithm."""
        if not is_random(algorithm.name):
            return None
        defaults = default_parameters(algorithm.name)
        if "seed" not in defaults:
            raise ExperimentError(
                f"algorithm {algorithm.name} says that it is random, but has no parameter seed:"
                " its runs could not be made again"
            )
        return int(algorithm.parameters.get("seed", defaults["seed"])) + repeat - 1

    def most_pages(self, web: int) -> int:
        """Return how many pages a run may fetch of a web of so many, 0 for all."""
        return pages_at_share(web, self.budget) if 0 < self.budget < 1 else int(self.budget)

    def spider_arguments(
        self, algorithm: Algorithm | None = None, repeat: int = 1, most: int = 0
    ) -> dict[str, str]:
        """Return the arguments of a run of at most so many pages, or of the truth, checked."""
        # Algorithms are compared by what they make of links.
        ours = {"algo": "breadth", "job": "run", "discover": "none"}
        arguments = {"web": self.web, **self.arguments, **ours}
        if algorithm is not None:
            taken = {*arguments, *SHARED, *_OURS} & algorithm.parameters.keys()
            if taken:
                raise ExperimentError(
                    f"{algorithm.label}: {min(taken)} is no parameter of an algorithm; what holds"
                    " for the whole experiment is given as an option"
                )
            arguments |= {"algo": algorithm.name, **algorithm.parameters}
            if most:
                arguments["max_pages"] = str(most)
        self._params(arguments)
        if algorithm is not None and (seed := self.seed_of(algorithm, repeat)) is not None:
            arguments["seed"] = str(seed)
        return arguments

    @cached_property
    def seeds(self) -> list[str]:
        given = [seed.url for seed in self._shared.seed_list]
        return given or list(open_web(self.web).start_urls())

    @cached_property
    def entries(self) -> set[str]:
        """The hosts that are to be entered: those of the seeds, and where a portal leads to."""
        hosts = {host_of(url) for url in self.seeds}
        webs = self._webs if PORTAL_HOST in hosts else []
        return hosts | {host_of(url) for web in webs for url in open_web(web).start_urls()}

    @cached_property
    def topic_title(self) -> str:
        """The topic of the pages, for people."""
        topic = self._shared.whole_topic
        if self._shared.keywords:
            return topic.title
        return f"{topic.title} ({topic.title_en or topic.name})"

    @property
    def media(self) -> str:
        return self._shared.media

    @cached_property
    def limits(self) -> dict[str, Any]:
        names = ("sites", "max_layer", "max_depth")
        limits = {name: getattr(self._shared, name) for name in names}
        return limits | {"settings": dict(sorted(self.crawl_settings.items()))}

    @property
    def crawl_settings(self) -> dict[str, str]:
        """The Scrapy settings of all crawls: a web that ends is not cut by the trap limit."""
        own = {} if _ENDLESS in self._webs else {_TRAP_LIMIT: "0"}
        return own | dict(self.settings)

    @cached_property
    def topic_digest(self) -> str:
        """Identifies topics by content, not by name: a topic file may be edited."""
        topics = self._shared.topics_by_host.items()
        by_host = [f"{host} {_written(topic)}" for host, topic in topics]
        return _digest([_written(self._shared.whole_topic), *by_host])

    @cached_property
    def web_digest(self) -> str:
        """Identifies webs: names, sizes and times of files, or parameters of a simulation."""
        return _digest([line for web in self._webs for line in _signs(web)])

    @property
    def _webs(self) -> list[str]:
        """The web, or those a portal leads to."""
        if not self.web.startswith(PORTAL):
            return [self.web]
        return [web.strip() for web in self.web.removeprefix(PORTAL).split(";")]

    def identity(self) -> dict[str, Any]:
        """Return the identity of this experiment; a folder holds one experiment."""
        return {
            "mmcrawl": mmcrawl.__version__,
            "code": code_digest(),
            "web_digest": self.web_digest,
            "topic_digest": self.topic_digest,
            "topic": self.topic_title,
            "seeds": self.seeds,
            "media": self.media,
            "limits": self.limits,
            "algorithms": {a.label: {"algo": a.name, **a.parameters} for a in self.algorithms},
            "budget": self.budget,
            "runs": {algorithm.label: self.runs_of(algorithm) for algorithm in self.algorithms},
        }

    @cached_property
    def _shared(self) -> FocusedParams:
        return self._params({"web": self.web, **self.arguments})

    def _params(self, arguments: Mapping[str, str]) -> FocusedParams:
        try:
            return FocusedParams(**dict(arguments))  # type: ignore[arg-type]
        except ValidationError as error:
            raise ExperimentError(explain(error)[0]) from None

    def _check_seeds(self) -> None:
        try:
            web = open_web(self.web)
        except WebError as error:
            raise ExperimentError(str(error)) from error
        outside = [seed for seed in self.seeds if web.get(seed, "HEAD") is None]
        if outside:
            hosts = list(dict.fromkeys(host_of(url) for url in web.start_urls()))
            shown = ", ".join(hosts[:5]) + (" …" if len(hosts) > 5 else "")
            raise SeedError(
                f"seed {outside[0]} is not in the web {self.web}, which has the hosts {shown}"
            )


def algorithms_of(text: str, names: list[str]) -> tuple[Algorithm, ...]:
    """Return the algorithms in `a,b:parameter=value;parameter=value` or `all`; else raise."""
    if text.strip() == "all":
        return tuple(Algorithm(name, name) for name in names)
    return tuple(_algorithm(part.strip(), names) for part in text.split(",") if part.strip())


def _algorithm(text: str, names: list[str]) -> Algorithm:
    name, _, rest = text.partition(":")
    if name not in names:
        raise ExperimentError(f"there is no algorithm {name!r}; there are {', '.join(names)}")
    parameters = {}
    for part in filter(None, rest.split(";")):
        key, equals, value = part.partition("=")
        if not key.strip() or not equals:
            raise ExperimentError(f"{text!r} is not understood; write {name}:parameter=value")
        parameters[key.strip()] = value.strip()
    shown = ";".join(f"{key}={value}" for key, value in sorted(parameters.items()))
    return Algorithm(f"{name}:{shown}" if shown else name, name, parameters)


def truth_key(plan: Plan) -> str:
    """Return the name of a plan's truth: all that decides which pages there are and which count."""
    return _digest(
        [
            mmcrawl.__version__,
            code_digest(),
            plan.web_digest,
            plan.topic_digest,
            plan.media,
            *plan.seeds,
            json.dumps(plan.limits, sort_keys=True),
        ]
    )[:16]


@cache
def code_digest() -> str:
    """Return the versions of everything that takes part in a crawl, and of its words."""
    package = Path(mmcrawl.__file__).parent
    code = [file for ending in ("py", "toml") for file in package.rglob(f"*.{ending}")]
    own = {file.relative_to(package).as_posix(): file for file in code}
    parts = [_sign_of(name, own[name]) for name in sorted(own) if not name.startswith(_SHOWING)]
    root = Path(str(data_file()))
    files = [path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    parts += sorted(_sign_of(f"dictionaries/{f.relative_to(root).as_posix()}", f) for f in files)
    return _digest(parts)


def _sign_of(name: str, file: Path) -> str:
    return f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}"


def _signs(web: str) -> Iterator[str]:
    """Yield the identity of a web, without reading it."""
    path = Path(os.path.expanduser(web))
    if web == "demo":
        yield from (f"{name} {_digest([body.hex()])}" for name, body in demo_files().items())
        return
    if web.startswith(SIMULATED) or not path.exists():
        yield web
        return
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            state = file.stat()
            name = file.relative_to(path).as_posix() if path.is_dir() else file.name
            yield f"{name}\t{state.st_size}\t{state.st_mtime_ns}"


def _written(topic: Topic) -> str:
    """Return all that a topic holds, the same in every process."""
    values = {field.name: getattr(topic, field.name) for field in fields(topic)}
    return json.dumps(
        values, default=lambda v: dict(v) if isinstance(v, Mapping) else sorted(v), sort_keys=True
    )


def _digest(parts: list[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
