"""What versions cost the archive: bytes, round trips to the store, and CPU beside warcio.

Two series of front pages; "no blocks" is how a page without them is kept. Round trips are SQL
statements of SQLite, and commands of a MongoDB server where the variable MMCRAWL_TEST_MONGODB names
one, for versions stored and read one by one.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean, median
from typing import Any, Protocol
from unittest.mock import patch

from _archive_series import Event, captures, events_in, series
from archive import Result, measured

from gated.row import Row
from mmcrawl.archive import open_archive

SITES = ("compact-online.de/index", "faz.net/technik")
VERSIONS = 40  # of each series
ASKED = 20  # versions of which round trips are counted
ROUNDS = 2
SPEED_BOUND = 0.15  # see the README
_BACKGROUND = {"hello", "ping", "endSessions"}
_WAYS = ("archive", "unblocked", "warc")


def rows(corpora: Path | None) -> Iterator[Row]:
    """Store some versions of the series, each way in turn."""
    found = _events(corpora)
    for site in SITES:
        events = found.get(site, [])
        rounds = ROUNDS if events else 0
        taken = [{way: measured(way, events) for way in _WAYS} for _ in range(rounds)]
        yield from _figures(site, len(events), taken)
    some = found.get(SITES[0], [])[:ASKED]
    yield from _round_trips("SQL statements", "sqlite", some)
    yield from _round_trips("MongoDB commands", os.environ.get("MMCRAWL_TEST_MONGODB", ""), some)


def _events(corpora: Path | None) -> dict[str, list[Event]]:
    if corpora is None or not (corpora / "series").is_dir():
        return {}
    found: dict[str, list[Event]] = {}
    for event in events_in(series(corpora, corpora)):
        found.setdefault(event.url.removeprefix("https://"), []).append(event)
    return {site: found[site][:VERSIONS] for site in SITES if site in found}


def _figures(site: str, count: int, taken: list[dict[str, Result]]) -> Iterator[Row]:
    def of(figure: Callable[[dict[str, Result]], float]) -> float | None:
        return median(map(figure, taken)) if taken else None

    for way, title in {"archive": "with blocks", "unblocked": "no blocks"}.items():
        size = of(lambda one, way=way: one[way].size / count)
        yield Row(f"bytes a version, {title}, {site}", size, "less")
        cpu = of(lambda one, way=way: one[way].cpu / one["warc"].cpu)
        yield Row(f"CPU of storing / warcio, {title}, {site}", cpu, "less", SPEED_BOUND)
    size = of(lambda one: one["archive"].size / one["warc"].size)
    yield Row(f"size / WARC, {site}", size, "less")
    reads = of(lambda one: median(one["archive"].reads))
    yield Row(f"ms to read a version, {site}", reads, "less", bound=None)


def _round_trips(what: str, server: str, events: list[Event]) -> Iterator[Row]:
    stored = read = None
    if server and events:
        with tempfile.TemporaryDirectory() as folder:
            if server == "sqlite":
                with _Statements() as statements:
                    stored, read = _asked(f"sqlite:///{folder}/archive.db", events, statements)
            else:
                stored, read = _on_server(server, events)
    yield Row(f"{what} to store a version", stored, "less")
    yield Row(f"{what} to read a version", read, "less")


class _Counter(Protocol):
    count: int


class _Statements:
    """Counts what all SQLite connections are asked that are opened inside of its `with` block."""

    count = 0

    def __enter__(self) -> _Statements:
        connect = sqlite3.connect

        def counted(*args: Any, **options: Any) -> sqlite3.Connection:
            connection = connect(*args, **options)
            connection.set_trace_callback(self._add)
            return connection

        self._patch = patch("sqlite3.connect", counted)
        self._patch.start()
        return self

    def _add(self, statement: str) -> None:
        self.count += 1

    def __exit__(self, *error: object) -> None:
        self._patch.stop()


def _on_server(server: str, events: list[Event]) -> tuple[float, float]:
    from pymongo import MongoClient, monitoring

    class Commands(monitoring.CommandListener):
        """Counts what servers are asked by clients that are made from now on."""

        count = 0

        def started(self, event: monitoring.CommandStartedEvent) -> None:
            self.count += event.command_name not in _BACKGROUND

        def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
            pass

        def failed(self, event: monitoring.CommandFailedEvent) -> None:
            pass

    commands = Commands()
    monitoring.register(commands)
    name = f"gate_{uuid.uuid4().hex[:8]}"
    try:
        return _asked(f"{server.rstrip('/')}/{name}", events, commands)
    finally:
        with MongoClient(server) as client:
            client.drop_database(name)


def _asked(uri: str, events: list[Event], counter: _Counter) -> tuple[float, float]:
    """Return the mean round trips of storing a version, and of reading one."""
    stored: list[int] = []
    read: list[int] = []

    def count(call: Callable[[], object], into: list[int]) -> None:
        before = counter.count
        call()
        into.append(counter.count - before)

    with open_archive(uri) as archive:
        for capture in captures(events):
            count(lambda c=capture: archive.store(c), stored)
    with open_archive(uri, read_only=True) as archive:
        for version in list(archive.all_versions()):
            count(lambda v=version: archive.rebuild(v).body, read)
    return fmean(stored), fmean(read)
