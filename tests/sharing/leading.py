"""A coordinator that leads a crawl in this process, on a shared store in RAM."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event as Signal
from typing import Any

from mmcrawl.frontier import Job
from mmcrawl.sharing.leader import Leader
from mmcrawl.sharing.rules import Rules

from .test_shared_crawl import Laboratory


class Memory:
    """A shared store in RAM, of which one process knows; `spoil` puts there what is no message."""

    uri_shown = "memory"

    def __init__(self) -> None:
        self.job = Job(0, "test", {}, None, "")
        self.log: list[bytes] = []
        self.inbox: dict[str, bytes] = {}
        self.mails: dict[str, bytes] = {}
        self.signs: dict[str, dict[str, Any]] = {}
        self.aside: dict[str, str] = {}
        self.note: dict[str, Any] | None = None

    def append(self, number: int, entry: bytes) -> bool:
        assert number == len(self.log)
        self.log.append(entry)
        return True

    def entries(self, first: int) -> Iterator[tuple[int, bytes]]:
        return iter(list(enumerate(self.log))[first:])

    def receive(self) -> list[tuple[str, bytes]]:
        return sorted(self.inbox.items())

    def remove(self, ids: list[str]) -> None:
        for name in ids:
            self.inbox.pop(name, None)

    def set_aside(self, table: str, name: str, why: str) -> None:
        self.aside[f"{table}/{name}"] = why
        (self.inbox if table == "inbox" else self.mails).pop(name)

    def beats(self) -> dict[str, dict[str, Any]]:
        return self.signs

    def leader(self) -> dict[str, Any] | None:
        return self.note

    def lead(self, facts: dict[str, Any]) -> None:
        self.note = facts

    def put_mail(self, mails: dict[str, bytes]) -> None:
        self.mails |= mails

    def mail(self, worker: str) -> bytes | None:
        return self.mails.get(worker)

    def nothing(self, *arguments: Any, **options: Any) -> None:
        return None

    load_snapshot = publish = publish_patterns = set_status = forget = send = nothing


class Leading:
    """A coordinator that leads on a store in RAM, and a worker bob that gives signs of life."""

    def __init__(self, laboratory: Laboratory, folder: Path, lease: float = 15.0) -> None:
        folder.mkdir()
        closing = Signal()
        closing.wait = lambda timeout=None: False  # type: ignore[method-assign]
        self.shared = Memory()
        self.leader = Leader(
            self.shared,  # type: ignore[arg-type]
            laboratory.job,
            folder,
            worker="ann",
            rules=Rules(rest=0.0, lease=lease),
            closing=closing,
        )
        assert self.leader.begin()
        self.sign = 0
        for _ in range(3):
            self.beat()
            self.leader._signed_at = 0.0
            assert self.leader.step()

    def beat(self) -> None:
        self.sign += 1
        self.shared.signs["bob"] = {"sign": self.sign, "capacity": 6}

    def held(self) -> dict[int, int]:
        """Return the links bob holds, and the numbers of their leases."""
        return {k.link.id: k.number for k in self.leader._crawl.leases.of("bob")}
