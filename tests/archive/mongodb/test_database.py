"""How rows and packs are kept in a MongoDB database."""

from __future__ import annotations

import random

from bson import ObjectId

from mmcrawl.archive import PackRow, place


def stream_of(backend):
    return backend.streams_named(["a"])["a"]


def pack_of(stream, data, *, entry=0, entries=1, chunk=0, chunks=1, level=0):
    return PackRow(stream, entry, entries, chunk, chunks, len(data), level, len(data) + 1)


def test_a_pack_is_cut_into_parts(backend, database):
    data = random.Random(1).randbytes((20 << 20) + 1)
    pack = pack_of(stream_of(backend), data)
    backend.add_packs([(pack, b"m", data)])
    sizes = [len(part["bytes"]) for part in database["archive_part"].find()]
    assert sorted(sizes) == [1, (4 << 20) + 1, 8 << 20, 8 << 20]
    backend._known.forget()
    assert backend.pack_with_chunk(place(pack.stream, 0)) == pack
    assert (backend.manifest(pack), backend.data(pack)) == (b"m", data)
    backend.remove_pack(pack)
    assert backend.data(pack) is None
    assert database["archive_part"].count_documents({}) == 0


def test_what_was_replaced_but_not_removed_is_not_met(backend, others):
    stream = stream_of(backend)
    old = [pack_of(stream, b"x", entry=n, chunk=n) for n in range(9)]
    for pack in (*old[6:], pack_of(stream, b"x" * 9, entries=9, chunks=9, level=3)):
        backend.add_packs([(pack, b"m", b"x")])
    backend.add_packs([(pack_of(stream, b"y", entry=9, chunk=9), b"m", b"y")])
    for n in range(10):
        for found in (
            others[0].pack_with_entry(place(stream, n)),
            others[1].pack_with_chunk(place(stream, n)),
        ):
            assert found.entry <= n < found.entry + found.entries
    assert [pack.entry for pack in others[0].tail(stream)] == [0, 9]


def test_parts_that_nobody_names_are_removed_after_a_day(backend, database):
    old, new = ObjectId("5f0000000000000000000000"), ObjectId()
    rows = [{"_id": f"00000001/00000000/00000001/{made}/d0", "bytes": b""} for made in (old, new)]
    database["archive_part"].insert_many(rows)
    backend.compact()
    assert [row["_id"] for row in database["archive_part"].find()] == [rows[1]["_id"]]
