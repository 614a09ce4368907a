"""Checks the spider's arguments: a wrong value gives a sentence that says what is allowed.

Files of URL rules are arguments too, as a person writes them and a crawl exports them. One rule a
line; the first that matches an address counts:

    # PATTERN                            [WEIGHT] [topic=NAME]    # remarks
    http://h.test/lessons/*/film.htm     9
    re:^https?://[^/]+/media/[0-9]+      5        topic=physics-senior
    http://h.test/forum/**               never

`mmcrawl.scoring.pinned_rules` describes the patterns.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from mmcrawl.crawl.seeds import Seed, checked, entries_of, read_seeds
from mmcrawl.crawl.spider_params import (
    DEFAULT_STORE,
    StoreName,
    WebName,
    checked_kinds,
    parse_kinds,
    readable,
)
from mmcrawl.errors import RuleError, did_you_mean
from mmcrawl.frontier.ranking import MOST_WEIGHT
from mmcrawl.frontier.urls import canonical, host_of
from mmcrawl.media.sizes import as_sizes
from mmcrawl.scoring.pinned_rules import REGEX, PinnedRule, PinnedRules, compiled, glob_of
from mmcrawl.scoring.registry import algorithm_names, default_parameters, parse_parameters
from mmcrawl.store.uris import as_archive_uri, is_server
from mmcrawl.text.media_kinds import DEFAULT_KINDS, KINDS
from mmcrawl.topic.loading import ANYTHING, as_one, load_topic, load_topics, topic_from_keywords
from mmcrawl.topic.topic import Topic

if TYPE_CHECKING:  # slow to load
    from mmcrawl.frontier.findings import PatternRecord

logger = logging.getLogger(__name__)

DEMO_TOPIC = "physics-senior"
DEMO_STORE = "sqlite:///demo.db"
MOST_WORKERS = 64
_AUTO = "auto"  # of `workers`
_ALL, _ON_TOPIC, _SCORE = "all", "on-topic", "score:"  # of `expand`
_WAYS = ("sitemap", "feeds", "oembed", "cdx")
_USUAL_WAYS = "sitemap,feeds"

_NEVER = "never"
_TOPIC = "topic="
_FORM = f"PATTERN [0 to {MOST_WEIGHT}, or {_NEVER}] [{_TOPIC}NAME] [# remarks]"
_HEAD = """\
# Rules for addresses: -a rules=FILE gives them to a crawl. The first one that matches counts; links
# of a greater weight come first; never is not fetched. Delete, edit or add lines.
"""


class FocusedParams(BaseModel):
    """Arguments of `scrapy crawl focused`, each given as `-a NAME=VALUE`.

    Others than these are parameters of the algorithm, e.g. `-a algo=urlrule -a alpha=0.5`.
    """

    model_config = ConfigDict(extra="allow", ignored_types=(cached_property,))

    algo: str = Field("urlrule", description="order of waiting links (`scrapy help algorithms`)")
    topic: str = Field("", description="topics by name or file, separated by commas")
    keywords: str = Field(
        "", description="words instead of a topic: 光学|optics, lens; * for any media"
    )
    seeds: str = Field(
        "", description="seed file, URL, or URLs separated by commas (default: the demo web)"
    )
    job: str = Field(
        "", description="name of the crawl in its store (default: made of the arguments)"
    )
    media: str = Field(
        ",".join(DEFAULT_KINDS),
        description=f"wanted kinds of media, separated by commas, also in Chinese (视频):"
        f" {', '.join(KINDS)}",
    )
    download: str = Field("", description="kinds of media to download during the crawl, or all")
    max_media: Annotated[str, readable(as_sizes)] = Field(
        "", description="maximum size of downloads: 20GB, or 20GB,video:15GB"
    )
    max_pages: int = Field(0, ge=0, description="maximum pages to fetch; 0 for no limit")
    max_layer: int = Field(20, ge=0, description="deepest directory layer; 0 for no limit")
    max_depth: int = Field(0, ge=0, description="maximum clicks from a seed; 0 for no limit")
    sites: Literal["hosts", "domains", "anywhere"] = Field(
        "hosts", description="where links may lead: the seeds' hosts, their domains, or anywhere"
    )
    expand: str = Field(
        "all",
        description="pages whose links are followed: all, on-topic, or by score, as score:0.2",
    )
    links: Literal["all", "related"] = Field(
        "all", description="all, or related: navigation later, advertisements and noise never"
    )
    discover: str = Field(
        _USUAL_WAYS,
        description="further sources of links, separated by commas: sitemap, feeds, oembed, cdx; or"
        " none",
    )
    cdx: str = Field("", description="CDX server for discover=cdx, as http://h/cdx")
    render: Literal["", "playwright", "playwright-all"] = Field(
        "",
        description="render pages in Chromium: playwright (pages that are empty without scripts) or"
        " playwright-all (extra `render`)",
    )
    max_rendered: int = Field(1_000, ge=0, description="maximum rendered pages")
    requisites: Literal["no", "yes"] = Field(
        "no", description="archive what pages need to be seen (style sheets, fonts, pictures)"
    )
    rules: str = Field("", description="file of URL rules")
    store: StoreName = Field(
        "",
        description="where the crawl is kept: sqlite:///FILE, memory: or mongodb://HOST/DATABASE"
        " (default: sqlite:///crawl.db, of the demo sqlite:///demo.db)",
    )
    workers: str = Field("", description="number of processes, or auto (by cores and memory)")
    archive: str = Field(
        "",
        description="where pages are archived: sqlite:///FILE, mongodb://HOST/DATABASE or none"
        " (default: by the store)",
    )
    web: WebName = Field(
        "",
        description="stored web instead of the network: demo, a folder with one folder per host, a"
        " WARC file, sim:pages=5000 (simulated), portal:WEB;WEB (several behind one page)",
    )

    @model_validator(mode="before")
    @classmethod
    def _without_job_id(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        """Leave out the `_job` that scrapyd gives every spider."""
        return {name: value for name, value in arguments.items() if name != "_job"}

    @field_validator("algo")
    @classmethod
    def _known_algorithm(cls, name: str) -> str:
        known, colon, rest = name.partition(":")
        if colon and known in algorithm_names():
            arguments = " ".join(
                f"-a {part}" for part in (f"algo={known}", *rest.split(";")) if part
            )
            raise ValueError(f"parameters are arguments of their own: {arguments}")
        if name not in algorithm_names():
            raise ValueError(
                f"there is no algorithm {name!r}; it may be {', '.join(algorithm_names())}"
            )
        return name

    @field_validator("seeds")
    @classmethod
    def _some_seeds(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("there are none")
        return text

    @field_validator("workers")
    @classmethod
    def _some_workers(cls, text: str) -> str:
        if text in {"", _AUTO}:
            return text
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MOST_WORKERS):
            raise ValueError(f"{text!r} is not allowed")
        return str(int(text))

    @field_validator("job")
    @classmethod
    def _good_name(cls, name: str) -> str:
        if not all(c.isalnum() or c in "_.-" or not c.isascii() for c in name):
            raise ValueError(f"{name!r} is not allowed")
        if not name.isprintable():
            raise ValueError(f"{name!r} contains characters that cannot be printed")
        return name

    @field_validator("media")
    @classmethod
    def _known_kinds(cls, text: str) -> str:
        return ",".join(parse_kinds(text))

    @field_validator("download")
    @classmethod
    def _known_download(cls, text: str) -> str:
        return checked_kinds(text) if text else ""

    @field_validator("expand")
    @classmethod
    def _known_expansion(cls, text: str) -> str:
        if text in {_ALL, _ON_TOPIC}:
            return text
        try:
            score = float(text.removeprefix(_SCORE))
        except ValueError:
            score = -1.0
        if not (text.startswith(_SCORE) and 0 <= score <= 1):
            raise ValueError(f"{text!r} is not understood")
        return f"{_SCORE}{score:g}"

    @field_validator("discover")
    @classmethod
    def _known_ways(cls, text: str) -> str:
        ways = {way.strip() for way in text.split(",")} - {""}
        if ways == {"none"}:
            return ""
        if unknown := ways - {*_WAYS}:
            there_are = ", ".join((*_WAYS, "none"))
            raise ValueError(f"there is no {', '.join(sorted(unknown))}; there are {there_are}")
        return ",".join(sorted(ways, reverse=True))

    @field_validator("cdx")
    @classmethod
    def _known_server(cls, url: str) -> str:
        if url and not (url.startswith(("http://", "https://")) and host_of(url)):
            raise ValueError(f"{url!r} is no URL; write it as http://host/cdx")
        return url

    @field_validator("archive")
    @classmethod
    def _known_archive(cls, text: str) -> str:
        return as_archive_uri(text) or text

    @model_validator(mode="after")
    def _complete(self) -> FocusedParams:
        if self.topic and self.keywords:
            raise ValueError("give either topic or keywords, not both")
        if not self.topic and not self.keywords:
            if self.is_demo:
                self.topic = DEMO_TOPIC
            elif not self.seed_list or not all(seed.topic for seed in self.seed_list):
                raise ValueError(
                    "no topic: give -a topic=NAME (`scrapy topic list` shows them)"
                    " or -a keywords=WORDS"
                )
        if ("cdx" in self.discover.split(",")) != bool(self.cdx):
            raise ValueError("discover=cdx and cdx=URL, the server that is asked, go together")
        if self.workers and self.store_uri == "memory:":
            raise ValueError("several workers cannot share what is kept in memory: name a store")
        if self.download and self.store_uri == "memory:":
            raise ValueError("media of a crawl in memory cannot be kept: name a store, as crawl.db")
        if self.requisites == "yes" and (self.workers or is_server(self.store_uri)):
            raise ValueError(
                "requisites=yes is for a crawl of one process with a store in a file: leave out"
                " workers, and name the MongoDB database as archive, not as store"
            )
        _ = self.whole_topic, self.parameters, self.pinned_rules
        return self

    @property
    def is_demo(self) -> bool:
        """Whether neither seeds nor a web were given, so that the demo web is crawled."""
        return not self.seeds and self.web in {"", "demo"}

    @property
    def kinds(self) -> frozenset[str]:
        """The wanted media kinds."""
        return frozenset(self.media.split(","))

    def least_score(self, threshold: float) -> float:
        """Return the topic score in [0, 1] that a page needs for its links to be followed."""
        if self.expand == _ALL or self.whole_topic.anything:
            return 0.0
        return threshold if self.expand == _ON_TOPIC else float(self.expand.removeprefix(_SCORE))

    @cached_property
    def seed_list(self) -> list[Seed]:
        """The seeds given, in order; none for those a stored web brings."""
        return read_seeds(self.seeds) if self.seeds else []

    @cached_property
    def own_topic(self) -> Topic | None:
        """The topic of the crawl as given by `topic` or `keywords`."""
        if self.keywords:
            return topic_from_keywords(self.keywords)
        return load_topics(self.topic) if self.topic else None

    @cached_property
    def topics_by_host(self) -> dict[str, Topic]:
        """The topics that seeds brought along, by the host of the seed."""
        return {host_of(seed.url): load_topic(seed.topic) for seed in self.seed_list if seed.topic}

    @cached_property
    def whole_topic(self) -> Topic:
        """All topics of the crawl as one."""
        topics = [*([self.own_topic] if self.own_topic else []), *self.topics_by_host.values()]
        return as_one(topics)

    @cached_property
    def pinned_rules(self) -> PinnedRules:
        """The rules for addresses, without those for topics the crawl does not look for."""
        if not self.rules:
            return PinnedRules()
        return read_rules(self.rules, frozenset(self.whole_topic.name.split(",")))

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the algorithm."""
        defaults = default_parameters(self.algo)
        own = [name for name in defaults if name not in type(self).model_fields]
        texts = {name: str(value) for name, value in (self.model_extra or {}).items()}
        for name in texts.keys() - own:
            arguments = ", ".join(type(self).model_fields)
            more = f"; {self.algo} has {', '.join(own)} as well" if own else ""
            more += did_you_mean(name, [*type(self).model_fields, *own])
            raise ValueError(f"there is no argument {name!r}; there are {arguments}{more}")
        return defaults | parse_parameters(self.algo, texts)

    @property
    def store_uri(self) -> str:
        """Where the crawl is kept."""
        return self.store or (DEMO_STORE if self.is_demo else DEFAULT_STORE)

    @property
    def made_afresh(self) -> bool:
        """Whether each run starts over: that of the demo does, unless a store is named."""
        return self.is_demo and not self.store

    def identity(self) -> dict[str, Any]:
        """Return the values that decide which pages the crawl covers, however they were written.

        Defaults and other spellings of a value are the value; the order of topics, keywords and
        seeds, and what is named twice, make no difference. `max_pages`, `links` and rules may
        change on resuming; `expand` and the bounds of layers and clicks may not: links beyond them
        were not kept.
        """
        topics = {host: topic.name for host, topic in self.topics_by_host.items()}
        seeds = {(canonical(s.url), topics.get(host_of(s.url), "")) for s in self.seed_list}
        keywords = self.own_topic.concepts if self.own_topic and self.keywords else ()
        if self.own_topic and self.own_topic.anything:
            keywords = ((ANYTHING,),)
        return {
            **self.parameters,
            **({"discover": self.discover or "none"} if self.discover != _USUAL_WAYS else {}),
            **({"render": self.render} if self.render else {}),
            **({"cdx": self.cdx} if self.cdx else {}),
            "algo": self.algo,
            "topic": ",".join(
                sorted({_place(name.strip()) for name in self.topic.split(",")} - {""})
            ),
            "keywords": ",".join(sorted({"|".join(sorted(set(words))) for words in keywords})),
            "seeds": [list(seed) for seed in sorted(seeds)],
            "web": _place(self.web) or ("demo" if self.is_demo else ""),
            "media": self.media,
            "sites": self.sites,
            "max_layer": self.max_layer,
            "max_depth": self.max_depth,
            "expand": self.expand,
        }

    @property
    def job_name(self) -> str:
        """The job's name: as given, or built from the arguments that distinguish crawls."""
        if self.job:
            return self.job
        told = self.identity() | ({"rules": _place(self.rules)} if self.rules else {})
        digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
        topics = ",".join(sorted(set(self.whole_topic.name.split(","))))
        topic = re.sub(r"[^\w.-]+", "-", topics)
        return f"{self.algo}-{topic}-{digest[:6]}"


def _place(text: str) -> str:
    """Return a file's name in one spelling, relative if below this folder; others as they are."""
    path = os.path.abspath(os.path.expanduser(text))
    if not text or not os.path.exists(path):
        return text
    here = os.path.join(os.getcwd(), "")
    return path.removeprefix(here)


def read_rules(text: str, topics: Collection[str] | None = None) -> PinnedRules:
    """Return the rules of a file.

    Args:
        topics: names of those a crawl looks for: rules for others are left out. None for any.

    Raises:
        RuleError: it is missing, or has wrong lines: the first 20 of them, a line each.
    """
    path = Path(os.path.expanduser(text))
    if not os.path.isfile(path):
        raise RuleError(
            f"there is no rules file {text}; write one, or have a crawl's with"
            " `scrapy rules export -o FILE`"
        )
    places: dict[tuple[str, str], str] = {}

    def make(where: str, words: list[str]) -> PinnedRule:
        rule = replace(_rule(words), place=where.removesuffix(": "))
        first = places.setdefault((rule.pattern, rule.topic), rule.place)
        if first != rule.place:
            raise RuleError(f"the pattern is already in {first}; remove one of them")
        return rule

    entries = entries_of(path, "rules file", RuleError)
    rules = checked(entries, f"lines of {path}", RuleError, make)
    own = [rule for rule in rules if topics is None or not rule.topic or rule.topic in topics]
    if len(own) < len(rules):
        logger.info(
            "Rules for other topics, which are left out: %d of %d",
            len(rules) - len(own),
            len(rules),
        )
    return PinnedRules(own)


def _rule(words: list[str]) -> PinnedRule:
    """Return the rule of a line; RuleError or ValueError if it is none."""
    pattern, *options = words
    weight, topic = None, ""
    for option in options:
        if option.startswith(_TOPIC) and not topic:
            topic = load_topic(option.removeprefix(_TOPIC)).name
        elif weight is None:
            weight = _weight(option)
        else:
            raise RuleError(f"{option!r} is not understood; a rule is {_FORM}")
    rule = PinnedRule(pattern, 1 if weight is None else weight, topic)
    try:
        compiled(rule.regex)
    except ValueError as error:
        raise RuleError(f"{pattern!r} is no pattern: {error}") from error
    return rule


def _weight(text: str) -> int:
    if text == _NEVER:
        return 0
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_WEIGHT))):
        raise RuleError(f"{text!r} is no weight; a rule is {_FORM}")
    return int(text)


def learnt_rules(patterns: Iterable[PatternRecord], topic: str = "") -> PinnedRules:
    """Return learnt rules of a topic ("" for any), best first; weights are hits in ten pages."""
    best = sorted(patterns, key=lambda record: (-record.rate, -record.hits, record.pattern))
    return PinnedRules(
        PinnedRule(
            glob_of(record.pattern),
            max(1, round(10 * record.rate)),
            topic,
            f"{record.hits:,} hits, {record.misses:,} misses",
        )
        for record in best
    )


def rules_text(patterns: Sequence[PatternRecord], rate: float, topic: str = "") -> str:
    """Return learnt rules as a file's text; those no better than the crawl's `rate` as remarks."""
    poor = {glob_of(record.pattern) for record in patterns if record.rate <= rate}
    lines = [_HEAD]
    for rule in learnt_rules(patterns, topic).rules:
        words = [rule.pattern, str(rule.weight), *([_TOPIC + topic] if topic else [])]
        remark = f"# {rule.place}; {REGEX}{rule.regex}"
        lines.append(f"{'# ' * (rule.pattern in poor)}{'  '.join([*words, remark])}\n")
    return "".join(lines)
