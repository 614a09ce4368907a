"""The inbox, mailboxes, workers' documents and notes."""

from __future__ import annotations

import random
import threading

import pytest
from pymongo.collection import Collection
from pymongo.errors import AutoReconnect

from mmcrawl.errors import StoreError


def test_messages_are_received_in_the_order_of_their_ids(stores):
    stores[1].send([("b/2", b"3"), ("b/3", b"4")])
    stores[2].send([("a/1", b"1"), ("b/1", b"2")])
    stores[2].send([])
    assert stores[0].receive() == [("a/1", b"1"), ("b/1", b"2"), ("b/2", b"3"), ("b/3", b"4")]
    stores[0].remove(["b/1", "a/1", "not there"])
    stores[0].remove([])
    assert stores[0].receive() == [("b/2", b"3"), ("b/3", b"4")]


def test_sending_again_changes_nothing(stores):
    messages = [(f"{number:03d}", b"first") for number in range(50)]
    stores[0].send(messages[10:30])
    stores[0].send([(name, b"second") for name, _ in messages])
    received = dict(stores[1].receive())
    assert len(received) == 50
    assert [received[name] for name, _ in messages] == (
        [b"second"] * 10 + [b"first"] * 20 + [b"second"] * 20
    )


def test_what_was_sent_in_part_is_sent_to_the_end(shared, monkeypatch):
    real, lost = Collection.insert_many, []

    def insert_many(self, rows, **kwargs):
        if not lost:
            lost.append(real(self, rows[:7], **kwargs))
            raise AutoReconnect("connection closed")
        return real(self, rows, **kwargs)

    monkeypatch.setattr(Collection, "insert_many", insert_many)
    messages = [(f"{number:03d}", b"x") for number in range(20)]
    shared.send(messages)
    assert lost
    assert shared.receive() == messages


def test_no_message_is_seen_before_an_earlier_one_of_its_sender(stores):
    """Two send while one receives; what is received is without gaps, for each of them."""

    def send(shared, name):
        for number in range(150):
            shared.send([(f"{name}{number:04d}", random.Random(number).randbytes(2_000))])

    senders = [
        threading.Thread(target=send, args=pair) for pair in zip(stores[1:], "xy", strict=True)
    ]
    for sender in senders:
        sender.start()
    heard = {"x": [], "y": []}
    while any(sender.is_alive() for sender in senders) or stores[0].receive():
        names = [name for name, _ in stores[0].receive()]
        for name in names:
            heard[name[0]].append(int(name[1:]))
        stores[0].remove(names)
    assert heard == {"x": list(range(150)), "y": list(range(150))}


def test_a_full_inbox_comes_in_portions_from_its_beginning(stores):
    # Together more than one answer of the server may hold.
    messages = [(f"{n:02d}", random.Random(n).randbytes(3 << 20)) for n in range(17)]
    stores[1].send(messages)
    heard = []
    while portion := stores[0].receive():
        assert sum(len(message) for _, message in portion) <= 8 << 20
        heard += portion
        stores[0].remove([name for name, _ in portion])
    assert heard == messages


def test_a_message_larger_than_a_portion_is_received(shared):
    message = bytes(12 << 20)
    shared.send([("a", message), ("b", b"x")])
    assert shared.receive() == [("a", message)]
    with pytest.raises(StoreError, match=r"a message of 12\.6 MB is too large"):
        shared.send([("c", message + b"x")])


def test_mail_replaces_mail(stores):
    stores[0].put_mail({"v": b"v1", "w/1": b"w1"})
    stores[1].put_mail({"w/1": b"w2", "x": b"x2"})
    stores[0].put_mail({"w/1": b"w3", "x": b"x3"})
    stores[0].put_mail({})
    assert [stores[2].mail(name) for name in ("v", "w/1", "x", "y")] == [b"v1", b"w3", b"x3", None]


def test_mail_to_a_worker_that_others_forgot(stores):
    stores[0].put_mail({"v": b"1", "w": b"1"})
    stores[1].forget("v")
    assert stores[2].mail("v") is None
    stores[0].put_mail({"v": b"2", "w": b"2"})
    assert [stores[2].mail(name) for name in "vw"] == [b"2", b"2"]


def test_much_mail_at_once(shared):
    mails = {name: random.Random(name).randbytes(12 << 20) for name in "tuvw"}
    for _ in range(2):
        shared.put_mail(mails)
        assert {name: shared.mail(name) for name in mails} == mails
        mails = dict(zip(mails, reversed(mails.values()), strict=True))


def test_workers_are_seen_and_forgotten(stores):
    stores[0].beat("v", {"sign": 1, "capacity": 3, "a.host": {"$rate": 2.5}})
    stores[1].beat("w/1", {"sign": 1, "capacity": 3})
    stores[1].beat("w/1", {"sign": 2, "capacity": 3})
    seen = {
        "v": {"sign": 1, "capacity": 3, "a.host": {"$rate": 2.5}},
        "w/1": {"sign": 2, "capacity": 3},
    }
    assert stores[2].beats() == seen
    stores[2].forget("v")
    stores[2].forget("v")
    assert stores[2].beats() == {"w/1": {"sign": 2, "capacity": 3}}


def test_notes_are_replaced(stores):
    assert stores[0].leader() is stores[0].status() is None
    stores[0].lead({"worker": "v", "term": 1})
    stores[0].set_status({"totals": {"pages": 1}, "workers": {}})
    stores[1].lead({"worker": "w", "term": 1})
    assert stores[2].leader() == {"worker": "w", "term": 1}
    assert stores[2].status() == {"totals": {"pages": 1}, "workers": {}}
