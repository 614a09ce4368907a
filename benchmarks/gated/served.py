"""Crawls by Scrapy of stored sites that another process serves on the loopback network."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from _crawls import Run, focused, plain
from page_server import Running, running

SPEED_SITE = "insertcredit.test"
ROUNDS = 4
KINDS = {
    "neither": (False, "off"),
    "archive": (True, "off"),
    "blocks": (False, "bwap"),
    "both": (True, "bwap"),
}


@contextmanager
def site(corpora: Path | None, host: str) -> Iterator[tuple[Running, str] | None]:
    """Serve a stored site; give the server and the words of its topic, None if it is not here."""
    for folder in (corpora / name for name in ("web", "web2")) if corpora else ():
        if (folder / host).is_dir():
            about = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))[host]
            with running(folder, [host]) as server:
                yield server, about["topic"]
            return
    yield None


@cache
def runs(corpora: Path | None) -> list[dict[str, Run]]:
    """Crawl one site by the plain spider and in each of `KINDS`, in turn; return the rounds."""
    rounds: list[dict[str, Run]] = []
    with site(corpora, SPEED_SITE) as served:
        for number in range(ROUNDS if served else 0):
            assert served is not None
            server, words = served
            names = ["plain", *KINDS]
            done = {}
            for name in names if number % 2 == 0 else reversed(names):
                with tempfile.TemporaryDirectory() as place:
                    folder = Path(place)
                    if name == "plain":
                        done[name] = plain(server, folder)
                        continue
                    has_archive, blocks = KINDS[name]
                    uri = f"sqlite:///{folder / 'archive.db'}" if has_archive else "none"
                    options = {"archive": uri, "blocks": blocks}
                    done[name] = focused(words, server, folder, **options)
            rounds.append(done)
    return rounds
