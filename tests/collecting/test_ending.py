"""Collecting ends when nothing waits any more, not before."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from mmcrawl.spiders import CollectSpider, collect

HOST = "http://a.test"


class Work:
    """A collector of files of one host, which come while it is asked for more."""

    def __init__(self, spider: CollectSpider, files: int) -> None:
        self.spider = spider
        self.waiting = [f"{HOST}/{number}.mp4" for number in range(files)]

    def begin(self, again: object) -> None:
        """Do nothing."""

    def take(self, most: int, busy: set[str]) -> list[Any]:
        if busy:
            self.end()
            return []
        taken, self.waiting = self.waiting[:40], self.waiting[40:]
        return [Download(url) for url in taken]

    def end(self) -> None:
        for download in [*self.spider._downloads]:
            self.spider._done(download)


class Download:
    """A file that is to be fetched."""

    is_whole = False

    def __init__(self, url: str) -> None:
        self.file = SimpleNamespace(url=url)


def test_what_waits_for_a_busy_host_is_taken_when_that_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def at_once(call: Any, *arguments: Any) -> Any:
        return call(*arguments)

    loop = SimpleNamespace(start=lambda *_, **__: None)
    monkeypatch.setattr(collect, "run_in_thread", at_once)
    monkeypatch.setattr(collect, "create_looping_call", lambda call: loop)
    monkeypatch.setattr(CollectSpider, "_look", lambda self, all: asyncio.sleep(0))
    monkeypatch.setattr(CollectSpider, "_fetch_player", lambda self: None)
    spider = CollectSpider.__new__(CollectSpider)
    spider.args = SimpleNamespace(states_again=())
    spider._calls, spider._downloads, spider._hosts = [], set(), collect.Counter()
    spider._waiting = None
    spider._collector = work = Work(spider, 64)  # type: ignore[assignment]

    async def next_one(self: CollectSpider) -> None:
        work.end()

    monkeypatch.setattr(CollectSpider, "_next", next_one)

    async def requests() -> list[str]:
        return [request.url async for request in spider.start()]

    assert len(set(asyncio.run(requests()))) == 64
