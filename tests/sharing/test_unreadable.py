"""What is no message, no mail, no sign of life harms nobody, and what it was about is kept."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from threading import Event as Signal
from typing import Any

import pytest
import zstandard
from bson import json_util

from mmcrawl.crawling.reports import PageReport
from mmcrawl.errors import StoreError
from mmcrawl.frontier import NewLink, WaitingLink
from mmcrawl.page import Link, LinkGroup, MediaResource, Page
from mmcrawl.sharing.leader import Leader
from mmcrawl.sharing.messages import (
    Added,
    Entry,
    Failed,
    Fetched,
    Grant,
    Lease,
    Mail,
    Message,
    Pointless,
    Redirected,
    Retried,
    Returned,
)
from mmcrawl.sharing.outbox import Outbox
from mmcrawl.sharing.rules import Rules
from mmcrawl.sharing.store import SharedStore

from .leading import Leading, Memory
from .test_shared_crawl import Laboratory, events_of

LINK = NewLink("http://a.test/", "a", "g", "w", 2, 3, 0.5, 1, b"{}", True, b"POST", "b", "r")
PAGE = Page(
    *("http://a.test/", "utf-8", "t", "k", "d", "en"),
    links=(Link("http://a.test/b", "b", "a", 0, True, "p a", "topic"),),
    groups=(LinkGroup("g", 1),),
    media=(MediaResource("http://a.test/f.mp4", "video", "a", "t"),),
)
REPORT = PageReport(PAGE, 1.5, 200, 7, ["w"], {"a": {"b": 1}})
EVENTS = (
    Fetched(1, 2, REPORT, (LINK,)),
    Failed(1, 2, "HTTP 404", (LINK,)),
    Redirected(1, 2, LINK),
    Retried(1, 2, b"{}", -1),
    Returned(1, 2),
    Added((LINK,)),
)
WAITING = WaitingLink(1, "http://a.test/", 2, 3, 4, b"{}")
KINDS = {
    **{type(event).__name__: Message("ann", 5, 4, 9, (event,), True) for event in EVENTS},
    "Mail": Mail(3, (Lease(7, WAITING, "http://a.test/r"),), (("a.test", "b.test"),)),
    "Entry": Entry(1, "ann", "ab", ("bob",), (), (Grant(1, 2, "ann"),), "x"),
    "Entry of a trap": Entry(1, "ann", "ab", ("bob",), (), (Pointless(3, "trap"),), "x"),
}


def plain_of(data: bytes) -> Any:
    return json.loads(zstandard.ZstdDecompressor().decompress(data))


def data_of(plain: Any) -> bytes:
    return zstandard.ZstdCompressor().compress(json.dumps(plain).encode())


def places(plain: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the way to everything inside of lists and dictionaries."""
    if not isinstance(plain, dict | list):
        return
    for key in plain if isinstance(plain, dict) else range(len(plain)):
        yield (key,)
        yield from ((key, *rest) for rest in places(plain[key]))


def changed(plain: Any, place: tuple[Any, ...], *new: Any) -> Any:
    """Return plain data with something else at a place, or nothing."""
    plain = inner = copy.deepcopy(plain)
    for key in place[:-1]:
        inner = inner[key]
    if new:
        inner[place[-1]] = new[0]
    else:
        del inner[place[-1]]
    return plain


def is_of_many(plain: Any, place: tuple[Any, ...]) -> bool:
    """Whether what is at a place is one of a list of any length."""
    for key in place[:-1]:
        plain = plain[key]
    return isinstance(plain, dict) or len(plain) == 1


def spoilt(plain: Any) -> Iterator[Any]:
    """Yield plain data with each of its parts missing, or of another type."""
    for place in places(plain):
        value = plain
        for key in place:
            value = value[key]
        if not is_of_many(plain, place):
            yield changed(plain, place)
        for other in ("x", 5, 1 << 70, 5.5, True, [], {}, {"a": 1}, [[]]):
            fits = type(other) is type(value) or (type(value), type(other)) == (float, int)
            if not fits or other == 1 << 70:
                yield changed(plain, place, other)


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_that_is_missing_or_wrong_is_told(kind: str) -> None:
    value = KINDS[kind]
    data = value.encode()
    head = data[4:] if isinstance(value, Entry) else data
    count = 0
    for plain in spoilt(plain_of(head)):
        wrong = data_of(plain)
        if isinstance(value, Entry):
            wrong = len(wrong).to_bytes(4, "little") + wrong
        try:
            read = type(value).decode(wrong)
        except ValueError:
            count += 1
        else:
            raise AssertionError(f"{plain} is read as {read}")
    assert count > 30
    assert type(value).decode(data) == value


@pytest.mark.parametrize("kind", KINDS)
def test_broken_bytes_are_told(kind: str) -> None:
    decode, data = type(KINDS[kind]).decode, KINDS[kind].encode()
    huge = zstandard.ZstdCompressor().compress(bytes(1 << 29))
    broken = [b"", b"\0", data[:-1], data[: len(data) // 2], b"\xff" * 40, huge]
    broken += [data_of(None), data_of(5), data_of({}), zstandard.compress(b"[" * 100_000)]
    for some in broken:
        with pytest.raises(ValueError, match=r".+"):
            decode(some)


@pytest.fixture
def laboratory(tmp_path: Path):
    made = Laboratory(tmp_path, "breadth")
    yield made
    made.close()


@pytest.fixture
def leading(laboratory: Laboratory, tmp_path: Path):
    made = Leading(laboratory, tmp_path / "copy")
    yield made
    made.leader.__exit__()


def test_links_that_an_unreadable_message_was_about_are_given_anew(leading: Leading) -> None:
    before = leading.held()
    assert before
    leading.shared.inbox["bob/000000000007"] = b"broken"
    leading.shared.inbox["someone"] = b""
    assert leading.leader.step()
    assert leading.shared.inbox == {}
    assert set(leading.shared.aside) == {"inbox/bob/000000000007", "inbox/someone"}
    after = leading.held()
    assert after.keys() == before.keys()
    assert all(after[link] > before[link] for link in before)
    mail = Mail.decode(leading.shared.mails["bob"])
    assert {k.link.id: k.number for k in mail.leases} == after


def test_the_crawl_is_led_on_from_its_log_after_an_unreadable_message(
    leading: Leading, laboratory: Laboratory, tmp_path: Path
) -> None:
    rng = random.Random(3)
    for number in range(6):
        held = list(leading.leader._crawl.leases.of("bob"))
        message = Message("bob", number, 0, 6, events_of(laboratory, held, rng))
        data = message.encode() if number != 2 else b"broken"
        leading.shared.inbox[f"bob/{number:012d}"] = data
        assert leading.leader.step()
    again = laboratory.crawl("again.db")
    for data in leading.shared.log:
        again.replay(Entry.decode(data))
    assert again.state() == leading.leader._crawl.state()
    assert again.job.pages > 3


def test_a_message_in_the_name_of_another_worker_is_set_aside(leading: Leading) -> None:
    before = leading.held()
    link, lease = next(iter(before.items()))
    forged = Message("bob", 0, 0, 6, (Failed(link, lease, "no"),)).encode()
    leading.shared.inbox["eve/000000000000"] = forged
    assert leading.leader.step()
    assert set(leading.shared.aside) == {"inbox/eve/000000000000"}
    assert leading.held() == before


def test_an_entry_of_the_log_that_cannot_be_read_is_told_in_a_sentence(
    leading: Leading, laboratory: Laboratory, tmp_path: Path
) -> None:
    leading.shared.log[1] = b"broken"
    (tmp_path / "second").mkdir()
    with (
        Leader(
            leading.shared,  # type: ignore[arg-type]
            laboratory.job,
            tmp_path / "second",
            worker="eve",
            rules=Rules(),
            closing=Signal(),
        ) as leader,
        pytest.raises(StoreError, match="entry 1 of the log of job 'test' in memory"),
    ):
        leader.begin()


def test_a_worker_goes_on_after_mail_that_cannot_be_read() -> None:
    shared, failed = Memory(), []
    outbox = Outbox(shared, "bob", Rules(), news=lambda: None, failed=failed.append)  # type: ignore[arg-type]
    for plain in [*spoilt(plain_of(KINDS["Mail"].encode()))][::5]:
        shared.mails["bob"] = data_of(plain)
        outbox._read_mail()
        assert "mail/bob" in shared.aside
        assert shared.mails == {}
    shared.mails["bob"] = KINDS["Mail"].encode()
    outbox._read_mail()
    assert (outbox.ready, failed) == (1, [])


MALFORMED: dict[str, dict[str, Any]] = {
    "nothing": {},
    "text": {"bytes": "text", "facts": 5},
    "number": {"bytes": 5, "facts": None},
    "list": {"bytes": [b"x"], "facts": ["{}"]},
    "nested": {"bytes": {"a": 1}, "facts": "[]"},
    "null": {"bytes": None, "facts": "{"},
    "broken": {"bytes": b"\xff\xfe", "facts": '{"sign": "x", "capacity": 1, "term": "x"}'},
    "other": {"more": "é", "facts": '{"capacity": 1}'},
}


@pytest.mark.parametrize("table", ["inbox", "mail", "worker", "note"])
@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_document_is_set_aside_where_people_see_it(
    shared: SharedStore, database: Any, table: str, name: str
) -> None:
    prefix = shared._prefix
    own = "leader" if table == "note" else "bob/1"
    document = {"_id": f"{prefix}/{own}", **MALFORMED[name]}
    database[f"crawl_{table}"].insert_one(document)
    if table == "inbox":
        ((found, data),) = shared.receive()
        with pytest.raises(ValueError, match=r".+") as error:
            Message.decode(data)
        shared.set_aside("inbox", found, str(error.value))
        assert shared.receive() == []
    elif table == "mail":
        with pytest.raises(ValueError, match=r".+") as error:
            Mail.decode(shared.mail(own) or b"")
        shared.set_aside("mail", own, str(error.value))
        assert shared.mail(own) is None
    else:
        assert not (shared.beats() if table == "worker" else shared.leader())
    (kept,) = database["crawl_aside"].find()
    assert kept["_id"] == f"{prefix}/{table}/{own}"
    assert kept["why"]
    assert json_util.loads(kept["document"]) == document
