"""Which waiting link comes next: the best score of all hosts that are not busy.

Only the best links of each host are in memory (*hot*), some 65,000 in all; the others (*cold*) are
in `ColdLinks`, ordered, on disk. Every hot link of a host comes before all its cold ones: a link
whose score rises above the *floor* of its host becomes hot, one whose score falls below becomes
cold. When a host has too many hot links, the worse half becomes cold; when it has none left, the
best cold ones are loaded. So the best link of each host is always in memory, and the order is the
same as if all links were.

The hot links of a host are a binary heap, and a small heap holds the best link of each host. Both
are lazy: an entry counts only if the link still has that score; a change adds an entry, and stale
entries are dropped when they reach the top. Among equal scores the lower number, which was seen
earlier, comes first. A held link is known to wait, but has no place in the order.

RAM: 5 bytes for every link ever seen (its state and its host), some 200 for a hot link and 400 for
a host that has links.
"""

import sqlite3
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from heapq import heapify, heappop, heappush
from itertools import islice
from math import inf
from operator import itemgetter

from mmcrawl.store.sqlite_files import no_room

# -- The waiting links that are not in memory, with the scores that order those of each host ------
# They lie in a scratch database of SQLite's that has no name: it stays in memory while it is
# small, goes to the folder for temporary files (`SQLITE_TMPDIR`, `TMPDIR`, /var/tmp) when it
# grows, and is gone with the process. What waits is also in the store of the crawl, from where it
# is read when the crawl continues; so nothing here has to last.
#
# Changes are gathered and written by some ten thousands, sorted by link. The index by score is made
# when it is first needed, and again after very many changes at once: a sort is faster than a search
# for each. About 50 bytes of disk a link.

_MOST_UNWRITTEN = 20_000
_CACHE_KILOBYTES = 16_000
_SETTINGS = (
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
    " CREATE TABLE cold (link INTEGER PRIMARY KEY, host INTEGER NOT NULL, score REAL NOT NULL)"
)
_PUT = (
    "INSERT INTO cold VALUES (?, ?, ?)"
    " ON CONFLICT DO UPDATE SET host = excluded.host, score = excluded.score"
)


class ColdLinks:
    """Links with host and score. Link and host numbers are small non-negative integers.

    Methods raise StoreError where there is no room for temporary files.

    Args:
        siblings: among so many as this its memory is divided.
    """

    def __init__(self, siblings: int = 1) -> None:
        self._most_unwritten = _MOST_UNWRITTEN // siblings
        self._cache = _CACHE_KILOBYTES // siblings
        self._opened: sqlite3.Connection | None = None
        self._unwritten: dict[int, tuple[int, float]] = {}
        self._removed: set[int] = set()
        self._has_index = False

    def put(self, link: int, host: int, score: float) -> None:
        """Add a link, or give one that is there another score."""
        self._removed.discard(link)
        self._unwritten[link] = (host, score)
        if len(self._unwritten) > self._most_unwritten:
            with self._writing():
                pass

    def put_all(self, links: Iterable[tuple[int, int, float]]) -> None:
        """Do as `put` with links, each its number, host and score, that are a good part of all."""
        with self._writing() as db:
            if self._has_index:
                db.execute("DROP INDEX cold_order")
                self._has_index = False
            rows = iter(links)
            while some := sorted(islice(rows, _MOST_UNWRITTEN), key=itemgetter(0)):
                db.executemany(_PUT, some)

    def remove(self, link: int) -> None:
        """Remove a link."""
        self._unwritten.pop(link, None)
        self._removed.add(link)
        if len(self._removed) > self._most_unwritten:
            with self._writing():
                pass

    def score(self, link: int) -> float:
        """Return the score of a link that is there."""
        if link in self._unwritten:
            return self._unwritten[link][1]
        with self._writing() as db:
            row = db.execute("SELECT score FROM cold WHERE link = ?", (link,)).fetchone()
        return float(row[0])

    def take_best(self, host: int, most: int) -> list[tuple[int, float]]:
        """Remove and return number and score of a host's best links, of equals the oldest first."""
        with self._writing() as db:
            if not self._has_index:
                # Its last column is the number of the link, as in each index of SQLite's.
                db.execute("CREATE INDEX cold_order ON cold (host, score DESC)")
                self._has_index = True
            found = db.execute(
                "SELECT link, score FROM cold WHERE host = ? ORDER BY score DESC, link LIMIT ?",
                (host, most),
            ).fetchall()
            db.executemany("DELETE FROM cold WHERE link = ?", [row[:1] for row in found])
        return found

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Give the database for changes and queries, after writing everything gathered."""
        try:
            db = self._opened or self._open()
            db.execute("BEGIN")
            if self._removed:
                rows = [(link,) for link in sorted(self._removed)]
                db.executemany("DELETE FROM cold WHERE link = ?", rows)
            if self._unwritten:
                changed = sorted(self._unwritten.items())
                db.executemany(_PUT, [(link, *values) for link, values in changed])
            self._removed.clear()
            self._unwritten.clear()
            yield db
            db.execute("COMMIT")
        except sqlite3.Error as error:
            raise no_room(error) from error

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, db.close)
        db.executescript(_SETTINGS)
        db.execute(f"PRAGMA cache_size = -{self._cache}")
        self._opened = db
        return db


# -- Which waiting link comes next: best score first, hosts that are busy left aside --------------

Key = tuple[float, int]
"""What orders links: the score with the other sign, and the number. The least comes first."""

_NOWHERE, _HELD, _HOT, _COLD = range(4)
_MOST_HOT = 65_536  # of all hosts together
_FEWEST_HOT = 16  # of a host that has more links: fewer would be fetched from disk too often
_NO_FLOOR: Key = (inf, 0)
_ALL_COLD: Key = (-inf, -1)
_BULK = 8  # so many parts of the waiting links are moved one by one, if fewer than one change


class _Host:
    """The links of one host.

    Attributes:
        hot, cold: how many of its links are.
        floor: all links at or before it are hot, all behind it cold; `_NO_FLOOR` if none is cold.
        top: the best of them with the number of the host, as the heap of hosts has it.
    """

    __slots__ = ("cold", "floor", "heap", "hot", "top")

    def __init__(self) -> None:
        self.top = (0.0, -1, -1)
        self.heap: list[Key] = []  # keys of its hot links, and keys that are not true any more
        self.hot = self.cold = 0
        self.floor = _NO_FLOOR


class PendingOrder:
    """The order of waiting links. Link and host numbers are small non-negative integers.

    Args:
        most_hot: how many links are held in memory, more or less.
        fewest_hot: of each host, however many hosts there are.
        siblings: among so many orders the memory is divided.
    """

    def __init__(
        self, most_hot: int = _MOST_HOT, fewest_hot: int = _FEWEST_HOT, *, siblings: int = 1
    ) -> None:
        self._most_hot, self._fewest_hot = most_hot // siblings, fewest_hot
        self._state = bytearray()
        self._host_of = array("i")
        self._hot: dict[int, float] = {}
        self._cold = ColdLinks(siblings)
        self._hosts: dict[int, _Host] = {}
        self._best: list[tuple[float, int, int]] = []
        self._waiting = 0

    def __len__(self) -> int:
        return self._waiting

    def __contains__(self, link: int) -> bool:
        return self.stands(link) > 0

    def is_held(self, link: int) -> bool:
        """Return whether `link` waits without a place in the order."""
        return self.stands(link) < 0

    def stands(self, link: int) -> int:
        """Return 1 if `link` is in the order, −1 if it is held, 0 if it does not wait."""
        state = self._state[link] if link < len(self._state) else _NOWHERE
        return 1 if state >= _HOT else -1 if state == _HELD else 0

    def score(self, link: int) -> float:
        """Return the score of a link in the order."""
        return self._hot[link] if self._state[link] == _HOT else self._cold.score(link)

    def host(self, link: int) -> int:
        """Return the host that `link` was last noted with."""
        return self._host_of[link]

    def hosts(self) -> dict[int, int]:
        """Return how many links wait for each host that has any."""
        return {number: host.hot + host.cold for number, host in self._hosts.items()}

    def hold(self, link: int, host: int) -> None:
        """Record a link that must not be popped yet; take it out if it was to be."""
        self._reserve(link)
        if self._state[link] >= _HOT:
            self.remove(link)
        self._host_of[link] = host
        self._state[link] = _HELD

    def release(self, link: int, score: float) -> None:
        """Give a held link its place."""
        self.push(link, self._host_of[link], score)

    def push(self, link: int, host: int, score: float) -> None:
        """Add a link that is not waiting."""
        self._reserve(link)
        self._host_of[link] = host
        self._waiting += 1
        of_host = self._hosts.get(host)
        if of_host is None:
            of_host = self._hosts[host] = _Host()
        self._place(link, host, of_host, score)

    def rescore(self, link: int, score: float) -> None:
        """Move a waiting link to where its new score puts it."""
        number = self._host_of[link]
        host = self._hosts[number]
        if self._state[link] == _COLD:
            if (-score, link) > host.floor:
                self._cold.put(link, number, score)
                return
        elif self._hot[link] == score:
            return
        self._displace(link, host)
        self._place(link, number, host, score)
        self._mend(number, host)

    def rescore_many(self, links: Sequence[int], scores: Sequence[float]) -> None:
        """Re-score waiting links; very many at once are sorted instead of moved one by one."""
        if len(links) * _BULK < self._waiting:
            for link, score in zip(links, scores, strict=True):
                self.rescore(link, score)
            return
        hosts = {self._host_of[link] for link in links}
        if len(self._hot) == self._waiting:
            self._hot.update(zip(links, scores, strict=True))
            for number in hosts:
                self._sort(number)
            return
        for number in hosts:
            self._chill(number, self._hosts[number], 0)
        numbers = map(self._host_of.__getitem__, links)
        self._cold.put_all(zip(links, numbers, scores, strict=True))
        for number in hosts:
            self._refill(number, self._hosts[number])

    def remove(self, link: int) -> None:
        """Remove a waiting link."""
        number = self._host_of[link]
        host = self._hosts[number]
        self._displace(link, host)
        self._state[link] = _NOWHERE
        self._waiting -= 1
        if host.hot or host.cold:
            self._mend(number, host)
        else:
            del self._hosts[number]

    def take(self, link: int) -> None:
        """Remove a link, whether it has a place in the order or is held."""
        if self.stands(link) > 0:
            self.remove(link)
        else:
            self._reserve(link)
            self._state[link] = _NOWHERE

    def pop(self, ready: Callable[[int], bool] = lambda host: True) -> int | None:
        """Remove and return the best link of a host that is `ready`; None if there is none."""
        found = self._first(ready)
        if found is not None:
            self.remove(found)
        return found

    def best(self, ready: Callable[[int], bool] = lambda host: True) -> float | None:
        """Return the score of the link that `pop` would give."""
        found = self._first(ready)
        return None if found is None else self._hot[found]

    # -- inside ---------------------------------------------------------------------------------

    def _first(self, ready: Callable[[int], bool]) -> int | None:
        """Return the best link of a host that is `ready`."""
        aside: list[tuple[float, int, int]] = []
        found = None
        while self._best and found is None:
            entry = heappop(self._best)
            if aside and aside[-1] == entry:  # it was set aside twice
                continue
            host = self._hosts.get(entry[2])
            if host is None or host.top != entry:
                continue
            if ready(entry[2]):
                found = entry[1]
            aside.append(entry)
        for entry in aside:
            heappush(self._best, entry)
        return found

    def _reserve(self, link: int) -> None:
        missing = link + 1 - len(self._state)
        if missing > 0:
            self._state.extend(bytes(missing))
            self._host_of.frombytes(bytes(self._host_of.itemsize * missing))

    def _place(self, link: int, number: int, host: _Host, score: float) -> None:
        """Make a link hot or cold; if there are too many hot ones, make the worse ones cold."""
        key = -score, link
        if key > host.floor:
            self._cold.put(link, number, score)
            self._state[link] = _COLD
            host.cold += 1
            return
        self._hot[link] = score
        self._state[link] = _HOT
        host.hot += 1
        heappush(host.heap, key)
        if host.heap[0] == key:
            self._announce(number, host)
        if len(host.heap) > 64 + 2 * host.hot:
            self._sort(number)
        if len(self._hot) > self._most_hot and host.hot > 2 * self._share:
            self._chill(number, host, self._share)

    def _displace(self, link: int, host: _Host) -> None:
        """Remove a link from the hot or the cold ones of its host."""
        if self._state[link] == _HOT:
            del self._hot[link]
            host.hot -= 1
            return
        self._cold.remove(link)
        host.cold -= 1
        if not host.cold:
            host.floor = _NO_FLOOR

    def _mend(self, number: int, host: _Host) -> None:
        """Ensure that the best link of a host is hot, and in the heap of hosts."""
        if not host.hot:
            self._refill(number, host)
        elif not self._is_true(host.heap[0], number):
            while not self._is_true(host.heap[0], number):
                heappop(host.heap)
            self._announce(number, host)

    @property
    def _share(self) -> int:
        """How many hot links a host may keep where there is not room for all."""
        return max(self._fewest_hot, self._most_hot // (2 * len(self._hosts)))

    def _announce(self, number: int, host: _Host) -> None:
        """Push the new best link of a host to the heap of hosts."""
        host.top = (*host.heap[0], number)
        heappush(self._best, host.top)
        if len(self._best) > 64 + 4 * len(self._hosts):
            self._best = [host.top for host in self._hosts.values()]
            heapify(self._best)

    def _is_true(self, key: Key, number: int) -> bool:
        """Return whether an entry of the heap of a host still holds."""
        return self._hot.get(key[1]) == -key[0] and self._host_of[key[1]] == number

    def _sort(self, number: int) -> None:
        """Sort the hot links of a host: a sorted list is a heap."""
        host, hot, host_of = self._hosts[number], self._hot, self._host_of
        links = {link for _, link in host.heap if link in hot and host_of[link] == number}
        host.heap = sorted((-hot[link], link) for link in links)
        if host.top != (*host.heap[0], number):
            self._announce(number, host)

    def _chill(self, number: int, host: _Host, kept: int) -> None:
        """Make the hot links of a host cold, but for the best."""
        if not host.hot:
            return
        self._sort(number)
        for key, link in host.heap[kept:]:
            self._cold.put(link, number, -key)
            self._state[link] = _COLD
            del self._hot[link]
        host.cold += host.hot - kept
        host.hot = kept
        del host.heap[kept:]
        host.floor = host.heap[-1] if kept else _ALL_COLD

    def _refill(self, number: int, host: _Host) -> None:
        """Make the best cold links of a host without hot ones hot."""
        found = self._cold.take_best(number, self._share)
        host.heap = [(-score, link) for link, score in found]
        host.hot = len(found)
        host.cold -= len(found)
        host.floor = host.heap[-1] if host.cold else _NO_FLOOR
        self._hot.update(found)
        for link, _ in found:
            self._state[link] = _HOT
        self._announce(number, host)
