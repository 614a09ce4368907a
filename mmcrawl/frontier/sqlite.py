"""The frontier on SQLite: records in the database, the best waiting links in RAM.

A link costs one row (URL without its host, anchor, words, scores) and two keys in the database,
whose cache is bounded if it is a file, and 5 bytes of RAM (`order.py`). Scores change often, so a
new score takes effect in the order at once and is written at the next commit, or earlier when there
are many.

In a crawl partitioned by hosts, links to hosts of other partitions are not added but laid out to be
sent; pages of other partitions that link here are known by name only.

Links in some kinds of blocks are ranked below their scores or are never fetched, and a user's rules
come before scores (`ranking.py`).
"""

from array import array
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence

from mmcrawl.frontier.aliases import alias_key
from mmcrawl.frontier.database import NEW_LINK, NEW_PAGE, link_values, page_values
from mmcrawl.frontier.interlink import InterLink
from mmcrawl.frontier.order import PendingOrder
from mmcrawl.frontier.ranking import ALL, PRIORITY_STEP, Ranking, WeightOf
from mmcrawl.frontier.reading import ELSEWHERE
from mmcrawl.frontier.records import (
    HELD,
    LinkRecord,
    LinkScores,
    NewLink,
    PageRecord,
    Status,
    WaitingLink,
)
from mmcrawl.frontier.store import Job, SqliteStore
from mmcrawl.frontier.urls import split_origin, url_key

_RECENT_KEYS = 50_000  # of links that were looked for last
_MOST_UNWRITTEN_SCORES = 20_000
_ELSEWHERE = b"elsewhere"  # keeps the link of a page of others apart from links to it


class SqliteFrontier(InterLink):
    """The links of one job. Link ids are small integers, counted from 0 within the job.

    Args:
        job: the job whose links these are. Links left running by a crawl that died wait again; so
            do those that failed or led astray, if no page at all could be fetched.
        links: which are to be followed: `all`, those in advertisements and notices of rights behind
            others of equal score; or `related`, those in navigation behind these, and none that
            stand in advertisements, notices of rights and noise only: they are left waiting.
        weight_of: tells the user's rule for an address: links of a greater weight come first, all
            of them before those without a rule; one of weight 0 is not fetched.
        elsewhere: tells of an address whether it belongs to another part of the crawl.
        siblings: among so many frontiers of the process the memory is divided.

    Attributes:
        outgoing: links that belong elsewhere, each with the link of the page it was found on, in
            the order they were found. Who sends them takes them out.
    """

    def __init__(
        self,
        store: SqliteStore,
        job: Job,
        links: str = ALL,
        weight_of: WeightOf | None = None,
        *,
        elsewhere: Callable[[str], bool] | None = None,
        siblings: int = 1,
    ) -> None:
        super().__init__(store, job.number, Ranking(links, weight_of))
        self.outgoing: list[tuple[NewLink, int | None]] = []
        self._elsewhere = elsewhere
        self._sent: OrderedDict[int, None] = OrderedDict()
        self._most_recent = _RECENT_KEYS // siblings
        self._order = PendingOrder(siblings=siblings)
        self._hosts = {origin: number for number, origin in enumerate(self._origins)}
        self._recent: OrderedDict[int, int] = OrderedDict()
        self._rescored: dict[int, tuple[float, float]] = {}
        self._counts: Counter[Status] = Counter()
        self._size = 0
        self._pages = 0
        self._settled = 0
        self._load()

    # -- what is there --------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return how many links are known, whatever their status."""
        return self._size

    @property
    def ready(self) -> int:
        """How many links wait and may be fetched (held ones may not)."""
        return len(self._order)

    @property
    def pages(self) -> int:
        """How many pages were crawled (links that only redirect are none)."""
        return self._pages

    @property
    def counts(self) -> dict[Status, int]:
        """How many links have each status."""
        return {status: self._counts[status] for status in Status}

    def held(self) -> list[int]:
        """Return the waiting links that may not be fetched for now."""
        return list(filter(self._order.is_held, self.each_waiting()))

    def record(self, link: int) -> LinkRecord:
        """Return the full record of a link, see `InterLink`."""
        self._write_scores()
        return super().record(link)

    def lookup(self, url: str) -> int | None:
        """Return the id of the link that `url` is, None if it was never seen."""
        return self._find(url_key(self.job, url, b""))  # as `_key` asks, so that it is made once

    def request_before(self, link: NewLink) -> bytes | None:
        """Return the request preceding a link's own, b"" for a fetched address; None if none."""
        key = self._key(link)
        number = None if key is None else self._find(key)
        if number is None:
            return None
        request, status = self._read("request, status FROM link", number)
        return None if request is None and status == Status.WAITING.value else request or b""

    # -- what happens to links ------------------------------------------------------------------

    def add(self, links: Sequence[NewLink], parent: int | None = None) -> list[tuple[int, bool]]:
        """Add links found on the page `parent`; return the id of each, and whether it is new.

        New links are held until `apply` gives them a score. A link that is there already, under
        any spelling of its URL, keeps its record; one that waits to be fetched as a mere address
        takes the request that is given for it. One that is refused is only recorded: it is not
        among those returned, and does not stand in the way of others with its URL. Nor are those
        that belong elsewhere.
        """
        if self._elsewhere is not None:
            links = [link for link in links if not self._lay_out(link, parent, self._elsewhere)]
        keys = [self._key(link) for link in links]
        rows, answer = [], []
        unwritten: dict[int, int] = {}
        requests: list[tuple[bytes, int, str]] = []
        with self.store.writing() as db:
            for link, key in zip(links, keys, strict=True):
                known = None
                if key is not None:
                    known = unwritten[key] if key in unwritten else self._find(key)
                new = known is None
                if known is None:
                    known = self._size
                    self._size += 1
                    rows.append(self._row(known, key, link, parent))
                    self._counts[Status.ERROR if link.refused else Status.WAITING] += 1
                    if key is not None:
                        unwritten[key] = known
                elif link.request is not None and not link.refused:
                    requests.append((link.request, self._base + known, Status.WAITING.value))
                if not link.refused:
                    answer.append((known, new))
            db.executemany(NEW_LINK, rows)
            db.executemany(
                "UPDATE link SET request = ? WHERE id = ? AND status = ? AND request IS NULL",
                requests,
            )
        for key, known in unwritten.items():
            self._note_key(key, known)
        return answer

    def add_elsewhere(self, page: PageRecord, layer: int) -> int:
        """Add a page that another partition fetched, unless known; return the link for it."""
        link = NewLink(page.url, logical_layer=layer, extra=_ELSEWHERE, refused=ELSEWHERE)
        key = url_key(self.job, link.url, link.extra)
        known = self._find(key)
        if known is not None:
            return known
        number, self._size = self._size, self._size + 1
        row = list(self._row(number, key, link, None))
        row[4] = Status.CRAWLED.value
        self._counts[Status.CRAWLED] += 1
        self._settled += 1
        with self.store.writing() as db:
            db.execute(NEW_LINK, row)
            settled = (self._settled, self._base + number)
            db.execute("UPDATE link SET settled = ? WHERE id = ?", settled)
            db.execute(NEW_PAGE, (self._base + number, b"", *page_values(page)))
        self._note_key(key, number)
        return number

    def link_from(self, page: int, links: Sequence[int]) -> list[int]:
        """Record links on a page that another partition fetched; return those that are new."""
        new = sorted({*links} - {*self.outlinks(page)})
        with self.store.writing() as db:
            db.execute(
                "UPDATE page SET links = CAST(links || ? AS BLOB) WHERE id = ?",
                (array("I", new).tobytes(), self._base + page),
            )
        return new

    def apply(self, scores: LinkScores) -> None:
        """Give links their scores; those that do not wait keep theirs."""
        order, rescored = self._order, self._rescored
        plain, rank_of = self._ranking.is_plain, self._ranking.rank
        moved, moved_scores = array("I"), array("d")  # they may be many millions
        for link, score, structure in zip(scores.ids, scores.score, scores.structure, strict=True):
            stands = order.stands(link)
            if not stands:
                continue
            rescored[link] = (score, structure)
            if len(rescored) > _MOST_UNWRITTEN_SCORES:
                self._write_scores()
            rank = score if plain else rank_of(link, score)
            if rank == HELD:
                if stands > 0:
                    order.hold(link, order.host(link))
            elif stands > 0:
                moved.append(link)
                moved_scores.append(rank)
            else:
                order.release(link, rank)
        if moved:
            self._order.rescore_many(moved, moved_scores)

    def found_in(self, link: int, block: str) -> None:
        """Record another block that holds a link; the best one counts."""
        if not self._ranking.improve(link, block):
            return
        with self.store.writing() as db:
            db.execute("UPDATE link SET block = ? WHERE id = ?", (block, self._base + link))
        if self._order.stands(link):
            self._write_scores()
            score, structure = self._read("score, structure FROM link", link)
            self.apply(LinkScores([link], [score], [structure]))

    def next(self, ready: Callable[[str], bool] = lambda origin: True) -> WaitingLink | None:
        """Take the best waiting link of a host that is `ready` and mark it running."""
        link = self._order.pop(lambda host: ready(self._origins[host]))
        return None if link is None else self._start(link)

    def best(self, ready: Callable[[str], bool]) -> float | None:
        """Return the rank of the link that `next` would take: the greatest number comes first."""
        return self._order.best(lambda host: ready(self._origins[host]))

    def take(self, link: int) -> WaitingLink:
        """Mark a certain waiting link running, held or not; a ValueError if it does not wait."""
        taken = self._start(link)
        self._order.take(link)
        return taken

    def complete(self, link: int, page: PageRecord, links: Sequence[int]) -> None:
        """Mark a running link crawled: the page it led to, and the ids of the links on it."""
        with self.store.writing() as db:
            self._settle(link, Status.CRAWLED)
            self._pages += 1
            values = (self._base + link, array("I", links).tobytes(), *page_values(page))
            db.execute(NEW_PAGE, values)

    def leave(self, link: int, error: str) -> None:
        """Mark a running link as crawled although it led to no page of its own, e.g. a redirect."""
        self._end(link, Status.CRAWLED, error)

    def fail(self, link: int, error: str) -> None:
        """Mark a running link as failed, with the reason."""
        self._end(link, Status.ERROR, error)

    def void(self, link: int, error: str) -> None:
        """Mark a crawled link as one whose page cannot be kept, with the reason."""
        with self.store.writing() as db:
            self._set_status(link, Status.CRAWLED, Status.ERROR)
            db.execute("UPDATE link SET error = ? WHERE id = ?", (error, self._base + link))
            db.execute("DELETE FROM page WHERE id = ?", (self._base + link,))
        self._pages -= 1

    def revise(self, links: Sequence[int]) -> None:
        """Record that crawled pages reported as relevant are not."""
        with self.store.writing() as db:
            db.executemany(
                "UPDATE page SET relevant = 0, new_media = 0 WHERE id = ?",
                [(self._base + n,) for n in links],
            )

    def prioritise(self, link: int, priority: int, *, instead_of: int) -> None:
        """Change the priority of a link if it is as given; the order follows at once."""
        if self._ranking.priority(link) != instead_of:
            return
        more = PRIORITY_STEP * (priority - instead_of)
        with self.store.writing() as db:
            db.execute("UPDATE link SET priority = ? WHERE id = ?", (priority, self._base + link))
        self._ranking.set_priority(link, priority)
        if self._order.stands(link) > 0:
            self._order.rescore_many([link], [self._order.score(link) + more])

    def requeue(self, link: int, request: bytes | None, priority: int) -> None:
        """Let a running link wait again, with its next request."""
        with self.store.writing() as db:
            self._set_status(link, Status.RUNNING, Status.WAITING)
            db.execute(
                "UPDATE link SET request = ?, priority = ? WHERE id = ?",
                (request, priority, self._base + link),
            )
        self._write_scores()
        (score,) = self._read("score FROM link", link)
        self._ranking.set_priority(link, priority)
        rank = self._ranking.rank(link, max(score, 0.0))
        self._put_in_order(link, self._order.host(link), rank)

    @property
    def settled(self) -> int:
        """How many links have ended, earlier runs of the job included."""
        return self._settled

    def commit(self) -> None:
        """Make everything since the last commit durable, all of it or nothing."""
        self._write_scores()
        self.store.commit()

    # -- inside ---------------------------------------------------------------------------------

    def _load(self) -> None:
        db, ours = self.store.db, self._ours
        self._pages, self._settled, under_way = db.execute(
            "SELECT count(page.id) FILTER (WHERE error = ''), coalesce(max(settled), 0),"
            " total(status IN ('W', 'R'))"
            " FROM link LEFT JOIN page USING (id) WHERE id >= ? AND id < ?",
            ours,
        ).fetchone()
        with self.store.writing():
            db.execute(
                "UPDATE link SET status = 'W', error = '', settled = NULL WHERE id >= ? AND id < ?"
                " AND (status = 'R' OR status <> 'W' AND settled IS NOT NULL AND ?)",
                (*ours, self._elsewhere is None and self._pages == 0 and not under_way),
            )
        self.store.commit()
        rows = db.execute(
            "SELECT status, count(*), max(id) FROM link WHERE id >= ? AND id < ? GROUP BY status",
            ours,
        )
        for status, count, last in rows:
            self._counts[Status(status)] = count
            self._size = max(self._size, last - self._base + 1)
        for link, host, score in self._noted():
            self._put_in_order(link, host, self._ranking.rank(link, score))

    def _put_in_order(self, link: int, host: int, rank: float) -> None:
        """Add a newly waiting link to the order, unless it is held."""
        if rank == HELD:
            self._order.hold(link, host)
        else:
            self._order.push(link, host, rank)

    def _start(self, link: int) -> WaitingLink:
        row = self._read("host, path, parent, logical_layer, priority, request FROM link", link)
        self._set_status(link, Status.WAITING, Status.RUNNING)
        parent = None if row[2] is None else row[2] - self._base
        return WaitingLink(link, self._origins[row[0]] + row[1], parent, row[3], row[4], row[5])

    def _row(
        self, link: int, key: int | None, new: NewLink, parent: int | None
    ) -> tuple[object, ...]:
        origin, path = split_origin(new.url)
        host = self._host_number(origin)
        if not new.refused:
            self._order.hold(link, host)
            self._ranking.note(link, new.url, new.priority, new.block)
        return (
            self._base + link,
            key,
            host,
            path,
            (Status.ERROR if new.refused else Status.WAITING).value,
            HELD,
            None if parent is None else self._base + parent,
            new.content_score,
            *link_values(new),
            new.refused,
            None if new.refused else alias_key(new.url),
        )

    def _key(self, link: NewLink) -> int | None:
        """Return the key that identifies a link; None if it always counts as a new one."""
        if link.refused:
            return url_key(self.job, link.url, f"refused: {link.refused}".encode())
        return url_key(self.job, link.url, link.extra) if link.filtered else None

    def _find(self, key: int) -> int | None:
        link = self._recent.get(key)
        if link is not None:
            self._recent.move_to_end(key)
            return link
        row = self.store.db.execute("SELECT id FROM link WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        self._note_key(key, row[0] - self._base)
        return int(row[0]) - self._base

    def _lay_out(self, link: NewLink, parent: int | None, elsewhere: Callable[[str], bool]) -> bool:
        """Return whether a link belongs to another partition; queue it unless just sent."""
        if link.refused or not elsewhere(link.url):
            return False
        key = self._key(link)
        if key is None or key not in self._sent:
            self.outgoing.append((link, parent))
        if key is not None:
            self._sent[key] = None
            if len(self._sent) > self._most_recent:
                self._sent.popitem(last=False)
        return True

    def _note_key(self, key: int, link: int) -> None:
        self._recent[key] = link
        if len(self._recent) > self._most_recent:
            self._recent.popitem(last=False)

    def _host_number(self, origin: str) -> int:
        number = self._hosts.get(origin)
        if number is None:
            number = self._hosts[origin] = len(self._origins)
            self._origins.append(origin)
            self.store.db.execute("INSERT INTO host VALUES (?, ?, ?)", (self.job, number, origin))
        return number

    def _set_status(self, link: int, old: Status, new: Status) -> None:
        with self.store.writing() as db:
            changed = db.execute(
                "UPDATE link SET status = ? WHERE id = ? AND status = ?",
                (new.value, self._base + link, old.value),
            ).rowcount
        if not changed:
            raise ValueError(f"link {link} is not {old.name.lower()}")
        self._counts[old] -= 1
        self._counts[new] += 1

    def _end(self, link: int, status: Status, error: str) -> None:
        with self.store.writing() as db:
            self._settle(link, status)
            db.execute("UPDATE link SET error = ? WHERE id = ?", (error, self._base + link))

    def _settle(self, link: int, status: Status) -> None:
        """End a running link, and record its place among the ended ones."""
        self._set_status(link, Status.RUNNING, status)
        self._settled += 1
        self.store.db.execute(
            "UPDATE link SET settled = ? WHERE id = ?", (self._settled, self._base + link)
        )

    def _write_scores(self) -> None:
        if not self._rescored:
            return
        with self.store.writing() as db:
            db.executemany(
                "UPDATE link SET score = ?, structure = ? WHERE id = ?",
                [
                    (score, structure, self._base + link)
                    for link, (score, structure) in sorted(self._rescored.items())
                ],
            )
        self._rescored.clear()
