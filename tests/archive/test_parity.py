"""Parity beside the file of an archive: damage that it mends, and damage that it tells."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcrawl.archive import Capture, open_archive
from mmcrawl.archive.parity import ParityCheck, examine, parity_beside, write_parity
from mmcrawl.archive.parity.erasures import add_row, lost_rows
from mmcrawl.archive.parity.sidecar import UNIT
from mmcrawl.errors import StoreError

URL = "http://physics.test/levers"
TIME = 1_700_000_000.0


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return the file of an archive of some 300 units, closed."""
    path = tmp_path / "archive.db"
    chance = Random(7)
    with open_archive(f"sqlite:///{path}") as archive:
        for number in range(40):
            body = b"<p>lever</p>" + chance.randbytes(30_000)
            archive.store(Capture(f"{URL}/{number}", body, TIME, 200))
    return path


def damage(path: Path, content: bytes) -> None:
    """Put other bytes into a file, as a disk does: nobody wrote to it."""
    times = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@settings(deadline=None)
@given(
    data=st.lists(st.binary(min_size=8, max_size=8), min_size=1, max_size=128),
    chance=st.randoms(use_true_random=False),
)
def test_any_rows_are_found_again_from_as_many_of_parity(data: list[bytes], chance: Random) -> None:
    lost = chance.sample(range(len(data)), chance.randint(1, min(len(data), 20)))
    rows = chance.sample(range(128), len(lost))
    parity, rest = np.zeros((2, len(rows), 8), np.uint8)
    for column, row in enumerate(data):
        add_row(parity, rows, column, np.frombuffer(row, np.uint8))
        if column not in lost:
            add_row(rest, rows, column, np.frombuffer(row, np.uint8))
    found = lost_rows(parity ^ rest, rows, lost)
    assert [row.tobytes() for row in found] == [data[column] for column in lost]


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_bit_is_mended(kept: Path, seed: int) -> None:
    write_parity(kept)
    before = kept.read_bytes()
    damaged = bytearray(before)
    damaged[Random(seed).randrange(len(before))] ^= 1 << seed % 8
    damage(kept, damaged)
    told = examine(kept, repair=False)
    assert told is not None
    assert (told.damaged, told.mendable, told.clean) == (1, 1, False)
    assert kept.read_bytes() == damaged
    mended = examine(kept, repair=True)
    assert mended is not None
    assert mended.clean
    assert kept.read_bytes() == before
    assert examine(kept, repair=False) == ParityCheck(5)


@pytest.mark.parametrize("filler", [b"\0", b"\xff"])
def test_holes_side_by_side_are_mended_with_the_header_among_them(
    kept: Path, filler: bytes
) -> None:
    write_parity(kept, 5)
    before = kept.read_bytes()
    assert len(before) > 200 * UNIT
    damaged = bytearray(before)
    damaged[: 10 * UNIT] = filler * (10 * UNIT)
    damage(kept, damaged)
    mended = examine(kept, repair=True)
    assert mended is not None
    assert mended.clean
    assert kept.read_bytes() == before


def test_an_end_that_is_cut_off_is_mended(kept: Path) -> None:
    write_parity(kept)
    before = kept.read_bytes()
    damage(kept, before[: -3 * UNIT])
    mended = examine(kept, repair=True)
    assert mended is not None
    assert mended.clean
    assert kept.read_bytes() == before


def test_damage_beyond_the_parity_is_told_and_left(kept: Path) -> None:
    write_parity(kept, 1)
    damaged = bytearray(kept.read_bytes())
    damaged[UNIT : 31 * UNIT] = b"x" * (30 * UNIT)
    damage(kept, damaged)
    told = examine(kept, repair=True)
    assert told is not None
    assert (told.damaged, told.mendable, told.clean) == (30, 0, False)
    assert kept.read_bytes() == damaged


def test_damaged_parity_is_not_believed(kept: Path) -> None:
    beside = write_parity(kept, 5)
    before = kept.read_bytes()
    parity = bytearray(beside.read_bytes())
    parity[:UNIT] = bytes(UNIT)  # one of two summaries
    parity[len(parity) // 2] ^= 1
    beside.write_bytes(parity)
    damaged = bytearray(before)
    for unit in range(0, 9):
        damaged[unit * UNIT + 50] ^= 4
    damage(kept, damaged)
    mended = examine(kept, repair=True)
    assert mended is not None
    assert mended.clean
    assert kept.read_bytes() == before
    beside.write_bytes(bytes(len(parity)))
    with pytest.raises(StoreError, match="is damaged: remove it"):
        examine(kept, repair=True)


def test_what_was_written_since_is_not_taken_back(kept: Path) -> None:
    write_parity(kept)
    with open_archive(f"sqlite:///{kept}") as archive:
        archive.store(Capture(URL, b"<p>new</p>", TIME, 200))
    after = kept.read_bytes()
    told = examine(kept, repair=True)
    assert told is not None
    assert (told.is_old, told.mended) == (True, False)
    assert not told.clean
    assert kept.read_bytes() == after


def test_a_file_with_a_journal_is_left_alone(kept: Path) -> None:
    write_parity(kept)
    damaged = bytearray(kept.read_bytes())
    damaged[9 * UNIT] ^= 1
    damage(kept, damaged)
    kept.with_name(kept.name + "-wal").write_bytes(b"begun")
    told = examine(kept, repair=True)
    assert told is not None
    assert told.is_old
    assert kept.read_bytes() == damaged
    with pytest.raises(StoreError, match="is being written to"):
        write_parity(kept)


def test_a_file_without_parity_has_no_report(kept: Path) -> None:
    assert examine(kept, repair=True) is None
    assert not parity_beside(kept).exists()
