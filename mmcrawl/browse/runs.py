"""Crawls that are started from the browser: each a process of its own, with its arguments and its
log beside the works. One that is to become a memory stick is run by `scrapy stick`.
"""

import json
import logging
import os
import re
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from pydantic import ValidationError

from mmcrawl.browse.arguments import Problem, wrong_entry
from mmcrawl.browse.catalogue import WorksOfStore
from mmcrawl.browse.programs import Command, Programs
from mmcrawl.cluster.store import is_shared
from mmcrawl.cluster.views.found import FoundMedia
from mmcrawl.crawl.params import FocusedParams
from mmcrawl.crawl.spider_params import explain
from mmcrawl.errors import MmcrawlError, SeedError, StoreError, TopicError
from mmcrawl.frontier.admission import REDIRECT, TRAP
from mmcrawl.frontier.aliases import ALIAS
from mmcrawl.frontier.database import reading
from mmcrawl.frontier.findings import BarrenDirectory, barren_directories
from mmcrawl.frontier.reading import JOB_SHIFT
from mmcrawl.frontier.requisites import keeps_requisites
from mmcrawl.frontier.store import open_store
from mmcrawl.scoring.registry import algorithm_names
from mmcrawl.store.uris import file_of, is_server
from mmcrawl.text.media_kinds import KINDS
from mmcrawl.topic.loading import own_topic_names, topic_names

_KEPT_SECONDS = 0.25  # numbers are shown that long before they are read again,
_REST = 10.0  # and so many times as long as reading them took
_ALIVE_SECONDS = 60.0  # without a page, after which a crawl is not said to run
_RATE_SECONDS = 120.0

_JOBS = "SELECT id, name, arguments, started_at, finished_at, reason FROM job ORDER BY id DESC"
_COUNTS = (
    "SELECT count(*) FILTER (WHERE status = 'W'), count(*) FILTER (WHERE status = 'E'),"
    " (SELECT count(*) FROM page WHERE id >= :first AND id < :end),"
    " (SELECT count(*) FROM media_page WHERE job = :job),"
    " (SELECT count(*) FROM pattern WHERE job = :job)"
    " FROM link WHERE id >= :first AND id < :end"
)
_LAST_PAGES = (
    "SELECT page.relevant, page.visited_at, page.url FROM page JOIN link USING (id)"
    " WHERE id >= :first AND id < :end ORDER BY link.settled DESC LIMIT 500"
)
_ERRORS = (
    "SELECT error, count(*) FROM link WHERE id >= :first AND id < :end AND status = 'E'"
    " GROUP BY error ORDER BY 2 DESC"
)
_REASONS = 8  # that are told, of links that failed

_KINDS = {
    "trap": re.escape(TRAP),
    "alias": re.escape(ALIAS),
    "moved": re.escape(REDIRECT),
    "robots": r"forbidden by robots\.txt",
    "gone": "HTTP 4(04|10)",
    "closed": "HTTP 4(01|03|07|51)",
    "busy": "HTTP (429|503)",
    "server": "HTTP 5",
    "loop": "redirect loop",
    "name": "host not found",
    "slow": "no answer in time",
    "connection": "connection refused|connection broken|broken compression",
    "large": "too large",
    "address": "bad address",
    "player": "it is a page with a player",
    "list": "no sitemap or feed",
}
_KIND = re.compile("|".join(f"(?P<{name}>{begin})" for name, begin in _KINDS.items()))


def kind_of_error(reason: str) -> str:
    """Return the kind of a reason for which a link came to no page; ``other`` for a rare one.

    >>> kind_of_error("HTTP 404"), kind_of_error("trap: host has its share")
    ('gone', 'trap')
    """
    found = _KIND.match(reason)
    return (found.lastgroup or "other") if found else "other"


@dataclass(frozen=True, slots=True)
class CrawlNumbers:
    """Where a crawl stands.

    Attributes:
        state: ``running``, ``stopped``, ``finished``, or another word of the store.
        started_at, finished_at: Unix seconds; None if unknown, or not yet.
        reason: Why it stopped last.
        pages, media_pages, waiting, errors, patterns: Counts.
        harvest_rate: Share of relevant pages among the last 500, in [0, 1]; None without pages.
        pages_per_second: None if that is not known, or nothing runs.
        error_reasons: How many links failed, by reason.
        error_kinds: The same by :func:`kind_of_error`, the most frequent first.
        workers: How many are alive; None for a crawl that is not shared.
        barren: Parts of sites that took many of the last pages for nothing.
    """

    name: str
    state: str
    started_at: float | None
    finished_at: float | None
    reason: str
    arguments: dict[str, Any]
    pages: int
    media_pages: int
    waiting: int
    errors: int
    patterns: int
    harvest_rate: float | None
    pages_per_second: float | None
    error_reasons: dict[str, int] = field(default_factory=dict)
    workers: int | None = None
    error_kinds: dict[str, int] = field(default_factory=dict)
    barren: list[BarrenDirectory] = field(default_factory=list)


class CrawlWatch:
    """Reads the crawls of a store, and keeps what it read for a few seconds.

    Args:
        is_running: Tells of a job whether its crawl was started here, and runs.
    """

    def __init__(self, uri: str, is_running: Callable[[str], bool] = lambda _: False) -> None:
        self._uri, self._is_running = uri, is_running
        self._lock = Lock()
        self._next = float("-inf")
        self._numbers: list[CrawlNumbers] = []
        self._beats: dict[Any, Any] = {}  # of workers, that were seen

    def crawls(self) -> list[CrawlNumbers]:
        """Return where each crawl stands, those begun last first."""
        with self._lock:
            began = time.monotonic()
            if began > self._next:
                self._numbers = self._read()
                took = time.monotonic() - began
                self._next = began + took + max(_KEPT_SECONDS, _REST * took)
            return self._numbers

    def _read(self) -> list[CrawlNumbers]:
        if is_shared(self._uri):
            return [*self._shared()][::-1]
        path = file_of(self._uri)
        if not path or not Path(path).exists():
            return []
        with reading(Path(path)) as db:
            jobs = db.execute(_JOBS).fetchall()
            return [_sqlite_crawl(db, job, self._is_running(job[1])) for job in jobs]

    def _shared(self) -> Iterator[CrawlNumbers]:
        from mmcrawl.cluster.views.observing import Observer

        with Observer(self._uri, self._beats) as observer:
            for job in observer.jobs():
                view = observer.look(job.name, time.monotonic())
                of, totals = view.job, view.totals
                yield CrawlNumbers(
                    *(job.name, of.state or "running", of.started_at, of.finished_at, of.reason),
                    *(job.arguments, totals.pages, totals.media_pages, totals.waiting),
                    *(totals.errors, totals.patterns),
                    *(totals.harvest_rate if totals.pages else None, view.pages_per_second),
                    workers=sum(worker.alive is not False for worker in view.workers),
                )


def _sqlite_crawl(db: sqlite3.Connection, job: Sequence[Any], runs: bool) -> CrawlNumbers:
    number, name, arguments, started, finished, reason = job
    ours = {"job": number, "first": number << JOB_SHIFT, "end": (number + 1) << JOB_SHIFT}
    waiting, errors, pages, media, patterns = db.execute(_COUNTS, ours).fetchone()
    last = db.execute(_LAST_PAGES, ours).fetchall()
    reasons = db.execute(_ERRORS, ours).fetchall() if errors else []
    kinds = Counter[str]()
    for error, count in reasons:
        kinds[kind_of_error(error)] += count
    times = sorted(visited for _, visited, _ in last)
    is_over = finished is not None or bool(reason)
    silent = time.time() - (times[-1] if times else started)
    running = runs or (not is_over and silent < _ALIVE_SECONDS)
    return CrawlNumbers(
        name,
        "running" if running else "stopped" if finished is None else "finished",
        *(started, finished, reason, json.loads(arguments)),
        *(pages, media, waiting, errors, patterns),
        sum(relevant for relevant, *_ in last) / len(last) if last else None,
        _rate(times) if running and times else None,
        dict(reasons[:_REASONS]),
        error_kinds=dict(sorted(kinds.items(), key=lambda one: (-one[1], one[0]))),
        barren=barren_directories((url, bool(relevant)) for relevant, _, url in last),
    )


def _rate(times: list[float]) -> float | None:
    """Return the pages a second of the last two minutes."""
    recent = [one for one in times if one > times[-1] - _RATE_SECONDS]
    span = recent[-1] - recent[0]
    return (len(recent) - 1) / span if span > 1 else None


_FIELDS_OF: Mapping[type[Exception], str] = {SeedError: "seeds", TopicError: "keywords"}
_NEEDED = (  # most of what a crawl loads: nine tenths of the time until it asks for a page
    "scrapy.commands.crawl",
    "scrapy.core.downloader.handlers.http11",
    "mmcrawl.spiders.focused",
    "mmcrawl.engine.requisites",
    "mmcrawl.archive.storing",
    "scrapy.downloadermiddlewares.cookies",
)
_LOG = 4_000  # bytes of a log that are shown
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_SIZE = re.compile(r"[0-9.]+ ?[kMGT]?B?", re.IGNORECASE)
_JOB = re.compile(r"[\w.-]+")
_FOLDER = re.compile(r"\w[\w.-]{0,60}")
_STEP = re.compile(rb"^(\d)/\d ", re.MULTILINE)  # as `scrapy stick` begins its steps
_LOOK_SECONDS = 5.0

logger = logging.getLogger(__name__)


class CrawlRuns:
    """Starts and stops crawls of the store that is browsed. When one ends, works are described."""

    def __init__(self, catalogue: WorksOfStore, archive: str, ruffle: Path | None = None) -> None:
        self._catalogue, self._archive = catalogue, archive
        self._settings = ["-s", f"MMCRAWL_RUFFLE={ruffle}"] if ruffle else []
        self._programs = Programs()
        self._ready: Command | None = None
        self._lock = Lock()
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="browse-crawls", daemon=True)

    def watch(self) -> None:
        """Begin to describe the works when a crawl ends."""
        if self._catalogue.can_keep:
            self._thread.start()

    def prepare(self) -> None:
        """Load what a crawl needs, while somebody fills in its form."""
        with self._lock:
            if self._catalogue.can_keep and not self._programs.running() and not self._prepared():
                self._ready = Command(*_NEEDED)

    def _prepared(self) -> Command | None:
        """Return the process that was prepared, if it still waits; else end it."""
        if self._ready is not None and not self._ready.is_ready:
            self._ready.end()
            self._ready = None
        return self._ready

    def start(self, said: Mapping[str, str]) -> str:
        """Start a crawl; return the name of its job.

        Raises:
            Problem: they are not right (400), or another crawl runs (409).
            OSError: it cannot be begun.
        """
        arguments = _arguments(said) | self._of_store
        return self._begin(self._job_of(arguments), arguments)

    def go_on(self, job: str, max_pages: str = "", rule: str = "") -> str:
        """Continue a crawl, also one that was not started here.

        A stick that is ready is brought up to date, by another job. Returns the name of the job.

        Args:
            max_pages: Pages that it may fetch in all, "" for as many as before.
            rule: A line that is added to its rules, "" for none.
        """
        arguments = self.arguments(job)
        if arguments is None:
            raise Problem(404, "crawl", name=job)
        if max_pages:
            arguments = {**arguments, "max_pages": max_pages}
        if rule:
            self._folder.mkdir(parents=True, exist_ok=True)
            rules = self._folder / f"{job}.rules"
            known = rules.read_text(encoding="utf-8").split("\n") if rules.exists() else []
            rules.write_text("\n".join(dict.fromkeys([rule, *known])), encoding="utf-8")
            arguments = {**arguments, "rules": str(rules), "job": job}
        return self._begin(self._job_of(arguments) if "stick" in arguments else job, arguments)

    def stop(self, job: str) -> None:
        """Let a crawl end, as Ctrl-C does: what it found stays, and it can go on."""
        if job in self._programs:
            self._programs[job].end()

    def is_running(self, job: str) -> bool:
        return job in self._programs.running()

    def is_stopping(self, job: str) -> bool:
        return job in self._programs and self._programs[job].is_ending

    def log(self, job: str) -> str:
        """Return the last lines of what a crawl said, "" if it was not started here."""
        try:
            with (self._path(job, "log") or Path()).open("rb") as file:
                start = max(0, file.seek(0, os.SEEK_END) - _LOG)
                file.seek(start)
                text = file.read().decode("utf-8", "replace")
        except OSError:  # there is none, or its name would be too long for one
            return ""
        return (text.partition("\n")[2] if start else text).strip()

    def close(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()
        with self._lock:
            if self._ready is not None:
                self._programs[""] = self._ready
            self._programs.close()

    def stick(self, job: str) -> dict[str, Any] | None:
        """Return where the stick stands that a crawl is for, None if it is for none.

        That is its `folder`; the `step` that is under way or was last, from 1: crawl, download,
        describe, write; and the `facts` that `scrapy stick` says once it is ready, None before.
        """
        path = self._path(job, "json")
        is_ours = path is not None and path.exists()
        name = (self.arguments(job) or {}).get("stick") if is_ours else None
        if name is None:
            return None
        closing = self._stick_of(f"{name}-work") / f"{job}.json"
        facts = json.loads(closing.read_text(encoding="utf-8")) if closing.exists() else None
        log = self._folder / f"{job}.log"
        steps = _STEP.findall(log.read_bytes()) if log.exists() else []
        step = int(steps[-1]) if steps else 1
        return {"folder": self._stick_of(name), "step": step, "facts": facts}

    def _stick_of(self, name: str) -> Path:
        return self._catalogue.folder.parent.absolute() / name

    def _job_of(self, arguments: Mapping[str, str]) -> str:
        """Return the name of the job for which a crawl is begun now."""
        job = _job_of(arguments)
        if name := arguments.get("stick"):
            made = len([*self._stick_of(f"{name}-work").glob("*.json")])
            return f"{name}-{made + 1}"
        return job

    @property
    def _of_store(self) -> dict[str, str]:
        """The arguments for the store; one of several workers is refused to a crawl without."""
        store = self._catalogue.store
        is_of_workers = is_shared(store) and not is_server(store)
        return {"store": store} | ({"workers": "1"} if is_of_workers else {})

    @property
    def _folder(self) -> Path:
        return self._catalogue.folder / "crawls"

    def _path(self, job: str, suffix: str) -> Path | None:
        return self._folder / f"{job}.{suffix}" if _JOB.fullmatch(job) else None

    def arguments(self, job: str) -> dict[str, str] | None:
        """Return what a crawl was started with, None if that is not known."""
        path = self._path(job, "json") if self._catalogue.can_keep else None
        try:
            return None if path is None else dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return self._restored(job)

    def _restored(self, job: str) -> dict[str, str] | None:
        """Return what a crawl was started with that its file says all of: no rules, no name."""
        if not self._catalogue.can_keep or is_server(self._catalogue.store):
            return None
        try:
            found = FoundMedia(self._catalogue.store, job).jobs[0]
            said = found.arguments
            known = {**said, "seeds": ",".join(str(url) for url, _ in said["seeds"])}
            named = ((name, known.get(name, "")) for name in FocusedParams.model_fields)
            arguments = {name: str(value) for name, value in named if value not in ("", [])}
            is_whole = _job_of(arguments) == job
            if not is_shared(self._catalogue.store):
                with open_store(self._catalogue.store, read_only=True) as store:
                    if keeps_requisites(store, found.number):
                        arguments["requisites"] = "yes"
        except (StoreError, Problem, KeyError, TypeError, ValueError):
            return None
        return arguments | self._of_store if is_whole else None

    def _run(self) -> None:
        seen = set[Command]()
        while not self._stopped.wait(_LOOK_SECONDS):
            ended = {one for one in [*self._programs.values()] if not one.runs}
            try:
                if ended - seen and not self._catalogue.is_describing:
                    self._catalogue.describe()
                    seen = ended
            except OSError as error:  # a full disk, say: the next time it may be better
                logger.warning("works cannot be described now: %s", error)

    def _begin(self, job: str, arguments: Mapping[str, str]) -> str:
        stick = arguments.get("stick")
        command = ["stick", "--out", str(self._stick_of(stick))] if stick else ["crawl", "focused"]
        said = {"job": job, **arguments} if stick else arguments
        for name, value in said.items():
            command += ["-a", f"{name}={value}"] if name != "stick" else []
        command += [*self._catalogue.media_arguments, "-s", f"MMCRAWL_ARCHIVE={self._archive}"]
        command += ["-s", "MMCRAWL_DISPLAY=False", *self._settings]
        with self._lock:
            running = self._programs.running()
            is_same = self.is_running(job) and self.arguments(job) == dict(arguments)
            if is_same and not (job in running and self._programs[job].is_ending):
                return job  # it was pressed twice
            if job in running or (running and not is_server(self._catalogue.store)):
                raise Problem(409, "running", job=running[0])  # a file is of one crawl at a time
            self._folder.mkdir(parents=True, exist_ok=True)
            part = self._folder / f".{job}.json"
            part.write_text(json.dumps(dict(arguments)), encoding="utf-8")
            part.replace(self._folder / f"{job}.json")
            log = self._folder / f"{job}.log"
            program = self._prepared() or Command()
            self._programs[job] = program.begin(command, log, "ab", whole=bool(stick))
            self._ready = None
        return job


def _arguments(said: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments of a crawl; nothing of them names a file of this machine."""
    if said.get("demo"):
        return {}
    said = defaultdict(str, said)
    seeds = said["seeds"].replace(",", " ").split()
    topic, keywords, stick = said["topic"], said["keywords"], said["stick"]
    algo, most = said["algo"] or "urlrule", said["max_media"]
    is_right = {
        "seeds": bool(seeds) and all(map(_URL.fullmatch, seeds)),
        "topic": bool(topic) != bool(keywords)
        and topic in ("", *own_topic_names(), *topic_names()),
        "algo": algo in algorithm_names(),
        "max_media": not most or _SIZE.fullmatch(most),
        "stick": not stick or _FOLDER.fullmatch(stick),
    }
    if wrong := [field for field, right in is_right.items() if not right]:
        raise Problem(400, "entry", fields=wrong, error="")
    kinds = ",".join(kind for kind in KINDS if said[f"keep.{kind}"])
    arguments = {
        "seeds": ",".join(seeds),
        "topic": topic,
        "keywords": keywords,
        "max_pages": said["max_pages"],
        "algo": algo,
        "media" if stick else "download": kinds,
        "max_media": most if kinds or stick else "",
        "stick": stick,
        "requisites": "yes" if said["requisites"] else "",
    }
    return {name: value for name, value in arguments.items() if value}


def _job_of(arguments: Mapping[str, str]) -> str:
    """Return the name of the job of a crawl."""
    of_crawl = {name: value for name, value in arguments.items() if name != "stick"}
    try:
        return FocusedParams.model_validate(of_crawl).job_name
    except ValidationError as error:
        field = str(next(iter(error.errors()[0]["loc"]), ""))
        raise wrong_entry(field, "\n".join(explain(error))) from error
    except MmcrawlError as error:
        raise wrong_entry(_FIELDS_OF.get(type(error), ""), error) from error
