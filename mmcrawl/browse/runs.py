"""Crawls that are started from the browser: each a process of its own, with its arguments and its
log beside the works.
"""

import json
import logging
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from threading import Event, Lock, Thread

from pydantic import ValidationError

from mmcrawl.browse import programs
from mmcrawl.browse.arguments import Problem, wrong_entry
from mmcrawl.browse.catalogue import Catalogue
from mmcrawl.crawling.arguments import explain
from mmcrawl.crawling.params import FocusedParams
from mmcrawl.errors import MmcrawlError, SeedError, TopicError
from mmcrawl.scoring.registry import algorithm_names
from mmcrawl.stores.uris import is_server
from mmcrawl.text.media_kinds import KINDS
from mmcrawl.topic.loading import own_topic_names, topic_names

_LOG = 4_000  # bytes of a log that are shown
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_SIZE = re.compile(r"[0-9.]+ ?[kMGT]?B?", re.IGNORECASE)
_JOB = re.compile(r"[\w.-]+")
_LOOK_SECONDS = 5.0

logger = logging.getLogger(__name__)


class CrawlRuns:
    """Starts and stops crawls of the store that is browsed. When one ends, works are described."""

    def __init__(self, catalogue: Catalogue, archive: str) -> None:
        self._catalogue, self._archive = catalogue, archive
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = Lock()
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="browse-crawls", daemon=True)

    def watch(self) -> None:
        """Begin to describe the works when a crawl ends."""
        if self.is_possible:
            self._thread.start()

    @property
    def is_possible(self) -> bool:
        """Whether there is a store that crawls can be kept in."""
        return self._catalogue.can_describe

    def start(self, said: Mapping[str, str]) -> str:
        """Start a crawl; return the name of its job.

        Raises:
            Problem: they are not right (400), or another crawl runs (409).
            OSError: it cannot be begun.
        """
        arguments = _arguments(said) | {"store": self._catalogue.store}
        job = _job_of(arguments)
        self._begin(job, arguments)
        return job

    def go_on(self, job: str, max_pages: str = "") -> None:
        """Start a crawl that was started here before; it goes on where it stopped.

        Args:
            max_pages: Pages that it may fetch in all, "" for as many as before.
        """
        arguments = self.arguments(job)
        if arguments is None:
            raise Problem(404, "crawl", name=job)
        if max_pages:
            arguments = {**arguments, "max_pages": max_pages}
            _job_of(arguments)
        self._begin(job, arguments)

    def stop(self, job: str) -> None:
        """Let a crawl end, as Ctrl-C does: what it found stays, and it can go on."""
        process = self._running.get(job)
        if process is not None:
            programs.end(process)

    def is_running(self, job: str) -> bool:
        return programs.runs(self._running.get(job))

    def is_stopping(self, job: str) -> bool:
        return self.is_running(job) and programs.is_ending(self._running[job])

    def can_go_on(self, job: str) -> bool:
        """Whether a crawl was started here and does not run."""
        return not self.is_running(job) and self.arguments(job) is not None

    def log(self, job: str) -> str:
        """Return the last lines of what a crawl said, "" if it was not started here."""
        path = self._path(job, "log")
        if path is None:
            return ""
        try:
            with path.open("rb") as file:
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
            processes = list(self._running.values())
        programs.end_all(processes)

    @property
    def _folder(self) -> Path:
        return self._catalogue.folder / "crawls"

    def _path(self, job: str, suffix: str) -> Path | None:
        return self._folder / f"{job}.{suffix}" if _JOB.fullmatch(job) else None

    def arguments(self, job: str) -> dict[str, str] | None:
        """Return what a crawl was started with, None if that was not done here."""
        path = self._path(job, "json") if self.is_possible else None
        try:
            return None if path is None else dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def _keep(self, job: str, arguments: Mapping[str, str]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        part = self._folder / f".{job}.json"
        part.write_text(json.dumps(dict(arguments)), encoding="utf-8")
        part.replace(self._folder / f"{job}.json")

    def _run(self) -> None:
        seen: set[subprocess.Popen[bytes]] = set()
        while not self._stopped.wait(_LOOK_SECONDS):
            ended = {one for one in [*self._running.values()] if not programs.runs(one)}
            try:
                if ended - seen and not self._catalogue.is_describing:
                    self._catalogue.describe()
                    seen = ended
            except OSError as error:  # a full disk, say: the next time it may be better
                logger.warning("works cannot be described now: %s", error)

    def _begin(self, job: str, arguments: Mapping[str, str]) -> None:
        command = ["crawl", "focused", *self._catalogue.media_arguments]
        for name, value in arguments.items():
            command += ["-a", f"{name}={value}"]
        command += ["-s", f"MMCRAWL_ARCHIVE={self._archive}", "-s", "MMCRAWL_DISPLAY=False"]
        with self._lock:
            if self.is_running(job) and self.arguments(job) == dict(arguments):
                return  # it was pressed twice
            running = [one for one in self._running if self.is_running(one)]
            if job in running or (running and not is_server(self._catalogue.store)):
                raise Problem(409, "running", job=running[0])  # a file is of one crawl at a time
            self._keep(job, arguments)
            with (self._folder / f"{job}.log").open("ab") as log:
                self._running[job] = programs.begin(command, log)


def _arguments(said: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments of a crawl; nothing of them names a file of this machine."""
    if said.get("demo"):
        return {}
    seeds = said.get("seeds", "").replace(",", " ").split()
    if not seeds or not all(map(_URL.fullmatch, seeds)):
        raise wrong_entry("seeds")
    topic, keywords = said.get("topic", ""), said.get("keywords", "")
    known = [*own_topic_names(), *topic_names()]
    if bool(topic) == bool(keywords) or (topic and topic not in known):
        raise wrong_entry("topic")
    algo = said.get("algo") or "urlrule"
    if algo not in algorithm_names():
        raise wrong_entry("algo")
    if said.get("max_media") and not _SIZE.fullmatch(said["max_media"]):
        raise wrong_entry("max_media")
    kinds = ",".join(kind for kind in KINDS if said.get(f"keep.{kind}"))
    arguments = {
        "seeds": ",".join(seeds),
        "topic": topic,
        "keywords": keywords,
        "max_pages": said.get("max_pages", ""),
        "algo": algo,
        "download": kinds,
        "max_media": said.get("max_media", "") if kinds else "",
    }
    return {name: value for name, value in arguments.items() if value}


def _job_of(arguments: Mapping[str, str]) -> str:
    """Return the name of the job of a crawl."""
    try:
        return FocusedParams.model_validate(arguments).job_name
    except ValidationError as error:
        field = str(next(iter(error.errors()[0]["loc"]), ""))
        raise wrong_entry(field, "\n".join(explain(error))) from error
    except SeedError as error:
        raise wrong_entry("seeds", error) from error
    except TopicError as error:
        raise wrong_entry("keywords", error) from error
    except MmcrawlError as error:
        raise wrong_entry("", error) from error
