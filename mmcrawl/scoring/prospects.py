"""What is expected of a link before it is fetched: that it is relevant, and what it leads to.

It begins with evidence (`evidence.py`): how the pages turned out that share with the link a
directory, a place on the page, an anchor, the page it was found on and so on. What each kind of
evidence is worth was learnt on other webs. What that gets wrong on this web is learnt by an online
model over hashed features: words of anchor and address, directories, how well the words fit the
topic. A link is worth

    P(relevant) + 10 / (10 + m) · (lookahead · what it leads to + novelty · 5 / (5 + r) / √(1 + n))

with r the relevant pages found so far on its host, n the pages fetched from its directory and m
those of them for nothing (n less the relevant pages among them and found on them): before anything
was found on a host, what was tried least there is tried, and lists that name only what is known
promise less with each of them. Seeds are worth more than all that can be promised.
"""

from collections.abc import Collection, Sequence
from io import FileIO
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mmcrawl.scoring.base import CrawledPage, LinkSource
from mmcrawl.scoring.evidence import COLUMNS, Prior, Rows, shipped_prior
from mmcrawl.scoring.link_features import FLAGS, WIDTH, Origin, link_features, link_flags
from mmcrawl.scoring.link_model import LinkModel
from mmcrawl.store.sqlite_files import no_room, scratch_file
from mmcrawl.text.media_kinds import DEFAULT_KINDS

VARIANCE = 0.03
"""Of a weight of the online model before anything was learnt."""
FIT = 3.0
"""What a perfect fit of a link's words to the topic adds to the log-odds, until learnt."""
NOVELTY = 0.5
"""What a link is worth more where nothing was fetched, as long as nothing was found on its host."""

_SEED_SCORE = 10.0
_SEED = COLUMNS.index("seed")
_FEW_FINDS = 5.0  # with so many relevant pages of a host novelty is worth half of what it was
_PATIENCE = 10.0  # after so many pages for nothing a directory promises half
_NONE = -2  # no link; -1 is the parent of a seed
AT_ONCE = 16_384
"""Links that are scored at once; what that takes of RAM is about a kilobyte for each."""
_NO_PAGE = 0  # outcome of a link that is no page (yet)
_RELEVANT, _HAS_MEDIA = 12, 6
_MADE = 1 << len(FLAGS)  # with the flags of a link whose features were made

Values = NDArray[np.float64]
Ids = NDArray[np.int64]
IN_MEMORY = 65_536  # rows
_GAP = 16  # rows that are read in vain rather than the file twice


class Prospects:
    """What a crawl has learnt of its links.

    Args:
        source: where links are looked up.
        fit: what a perfect fit of a link's words to the topic adds to the log-odds, until learnt.
        variance: of a weight of the online model before anything was learnt, above 0.
        kinds: of media that are wanted, whose words in a link count.

    Attributes:
        prior: other weights of the evidence than those shipped, for who trains them.
        link_model: what was learnt beyond single links.
    """

    prior: ClassVar[Prior | None] = None

    def __init__(
        self,
        source: LinkSource,
        *,
        fit: float = FIT,
        variance: float = VARIANCE,
        kinds: Collection[str] = DEFAULT_KINDS,
    ) -> None:
        self._source = source
        self._kinds = frozenset(kinds)
        self._for_relevance, self._for_yield = self.prior or shipped_prior()
        self.link_model = LinkModel(fit=fit, variance=variance, in_memory=IN_MEMORY)
        self._features = FeatureRows(WIDTH, self.link_model.in_memory)
        self._flags = np.zeros(1024, dtype=np.uint8)
        self._linked = np.zeros(1024, dtype=np.float32)
        self._outcome = bytearray()
        self._failure = _NONE
        self._origin, self._origin_of = Origin(), (-1, _NO_PAGE)

    def load_model(self, link_model: LinkModel) -> None:
        """Share the model of another scorer; call it before any event."""
        self.link_model = link_model
        self._features = FeatureRows(WIDTH, link_model.in_memory)

    def register(self, link: int) -> None:
        """Register a new link; the target of a redirect before any other event."""
        missing = link + 1 - len(self._outcome)
        if missing > 0:
            self._outcome.extend(bytes(missing))
        while link >= len(self._flags):
            self._flags, self._linked = grown(self._flags), grown(self._linked)
        if self._failure != _NONE and self._parent(link) == self._failure:
            self._failure = _NONE

    def crawled(self, page: CrawledPage) -> None:
        """Learn from a page; the new links on it are to be registered afterwards."""
        self.learn_failure()
        self._outcome[page.id] = _outcome(page)
        self._learn(page.id, page.relevant)

    def linked(self, links: Sequence[int] | Ids) -> None:
        """Count the links of a page, each once; all are registered."""
        self._linked[np.asarray(links, dtype=np.int64)] += 1

    def failed(self, link: int) -> None:
        """Learn that a link leads to nothing, unless its redirect is what is registered next."""
        self.learn_failure()
        self._failure = link

    def learn_failure(self) -> None:
        """Learn of the last link that failed: it did not redirect."""
        link, self._failure = self._failure, _NONE
        if link != _NONE:
            self._learn(link, False)

    def revised(self, page: int) -> None:
        """Learn that a page called relevant is not; nor is what redirected to it.

        Of the links on it keeps that they were found on a relevant page: a crawl that is taken up
        again, which never knew it as such, scores them a little lower.
        """
        self.learn_failure()
        if (
            self._outcome[page] <= _RELEVANT or not self.link_model.is_learning
        ):  # not learnt as such
            return
        self._outcome[page] -= _RELEVANT
        link, parent = page, self._page_above(page)
        led = None if parent < 0 else self._row(parent)
        while link != parent:
            row = self._row(link)
            self.link_model.evidence.take_back(row, led)
            self.link_model.model.learn(row, self._expected(link), False)
            link, led = self._parent(link), None

    def worth(
        self, ids: Ids, *, lookahead: float = 1.0, novelty: float = NOVELTY
    ) -> tuple[Values, Values]:
        """Return the worth of links, and what they lead to in [0, 1]; both of shape (len(ids),).

        Args:
            ids: of registered links.
            lookahead: weight of what a link leads to, at least 0.
            novelty: what a link is worth more in a directory of which nothing was fetched, as long
                as nothing was found on its host, at least 0.
        """
        worth, leads = np.empty(len(ids)), np.empty(len(ids))
        for first in range(0, len(ids), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            relevant, leads[some], tried, seeds = self._terms(ids[some], novelty)
            worth[some] = relevant + lookahead * leads[some] + tried + seeds
        return worth, leads

    def parts(
        self, link: int, *, lookahead: float = 1.0, novelty: float = NOVELTY
    ) -> dict[str, float]:
        """Return the terms of what a link is worth, see `worth`."""
        terms = [float(term[0]) for term in self._terms(np.array([link]), novelty)]
        relevant, leads, tried, seed = terms
        return {
            "chance that it is relevant": relevant,
            "what it leads to": lookahead * leads,
            "novelty of its directory": tried,
            **({"seed": seed} if seed else {}),
        }

    def columns(self, ids: Ids) -> NDArray[np.float32]:
        """Return the evidence for registered links, shape (len(ids), len(COLUMNS))."""
        return self._columns_of(ids, self._rows(ids))

    # -- inside ---------------------------------------------------------------------------------

    def _terms(self, ids: Ids, novelty: float) -> tuple[Values, Values, Values, Values]:
        """Return P(relevant), what links lead to, novelty and what seeds are worth more."""
        rows = self._rows(ids)
        columns = self._columns_of(ids, rows)
        log_odds = columns @ self._for_relevance + self.link_model.model.log_odds(rows)
        relevant: Values = 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))
        fetched, barren = self.link_model.evidence.neighbours(rows, self._flags[ids])
        hope = _PATIENCE / (_PATIENCE + barren)
        leads = hope * np.clip(columns @ self._for_yield, 0, 1).astype(np.float64)
        tried = (
            novelty
            * hope
            * _FEW_FINDS
            / (_FEW_FINDS + self.link_model.evidence.found(rows))
            / np.sqrt(1 + fetched)
        )
        seeds = _SEED_SCORE * columns[:, _SEED]
        return relevant, leads, tried.astype(np.float64), seeds.astype(np.float64)

    def _rows(self, ids: Ids) -> Rows:
        """Return the features of registered links, made when they are asked for first.

        Of a history that others learnt from, most links have ended: nobody asks for theirs.
        """
        for link in ids[self._flags[ids] < _MADE].tolist():
            known, parent = self._source.known(link), self._parent(link)
            outcome = _NO_PAGE if parent < 0 else self._outcome[parent]
            if self._origin_of != (parent, outcome):  # not as for the link before
                self._origin_of = parent, outcome
                self._origin = Origin() if parent < 0 else self._made_origin(parent, outcome)
            self._features.put(link, link_features(known, self._origin))
            self._flags[link] = _MADE | link_flags(known, self._origin, self._kinds)
        return self._features.rows(ids)

    def _row(self, link: int) -> Rows:
        return np.asarray(self._rows(np.array([link]))[0])

    def _made_origin(self, page: int, outcome: int) -> Origin:
        return Origin(
            self._source.known(page).url,
            str(outcome),
            relevant=outcome > _RELEVANT,
            has_media=outcome > _NO_PAGE and (outcome - 1) // _HAS_MEDIA % 2 == 1,
        )

    def _learn(self, link: int, relevant: bool) -> None:
        """Learn what a link led to, and so did those that redirected to it."""
        if not self.link_model.is_learning:
            return
        page = self._page_above(link)
        while link != page:
            row = self._row(link)
            self.link_model.model.learn(row, self._expected(link), relevant)
            self.link_model.evidence.fetched(row, relevant)
            link = self._parent(link)
        if page >= 0 and relevant:
            self.link_model.evidence.led(self._row(page))

    def _parent(self, link: int) -> int:
        """Return the page that a link was first found on, or what redirected to it; -1 for none."""
        parent = self._source.known(link).parent
        return -1 if parent is None else parent

    def _page_above(self, link: int) -> int:
        """Return the page that holds a link, or what redirected to it; -1 for none."""
        parent = self._parent(link)
        while parent >= 0 and self._outcome[parent] == _NO_PAGE:
            parent = self._parent(parent)
        return parent

    def _expected(self, link: int) -> float:
        """Return the log-odds that a link is relevant, by the evidence."""
        ids = np.array([link])
        return float((self.columns(ids) @ self._for_relevance)[0])

    def _columns_of(self, ids: Ids, rows: Rows) -> NDArray[np.float32]:
        return self.link_model.evidence.columns(rows, self._flags[ids], self._linked[ids])


def _outcome(page: CrawledPage) -> int:
    """Return the outcome of a page in [1, 24]: relevant, with media, how much on topic."""
    media = _RELEVANT * page.relevant + _HAS_MEDIA * page.contains_media
    return 1 + media + min(int(page.topic_score * 5), 5)


def grown(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column with room for an eighth more entries, at least for some."""
    return np.concatenate([column, np.zeros(max(len(column) // 8, 1_024), dtype=column.dtype)])


class FeatureRows:
    """The features of links, a row each: the first in memory, the others in a temporary file.

    A row is read when its link is scored or fetched. All are read one after another now and then;
    in between a few at a time, mostly of links that were found together and lie side by side.

    Args:
        width: of a row.
        in_memory: how many links, the first ones, have their row there.
    """

    def __init__(self, width: int, in_memory: int = IN_MEMORY) -> None:
        self._width, self._in_memory = width, in_memory
        self._first = np.zeros((0, width), dtype=np.uint32)
        self._file: FileIO | None = None

    def put(self, link: int, row: Rows) -> None:
        """Keep the row of a link.

        Raises:
            StoreError: there is no room for temporary files.
        """
        if link >= self._in_memory:
            self._write(link, row)
            return
        if link >= len(self._first):
            grown = min(max(1_024, 2 * link), self._in_memory)
            self._first = np.concatenate(
                [self._first, np.zeros((grown - len(self._first), self._width), dtype=np.uint32)]
            )
        self._first[link] = row

    def rows(self, links: Ids) -> Rows:
        """Return the rows of links, shape (len(links), width).

        Raises:
            StoreError: the temporary file cannot be read.
        """
        if not len(links) or links.max() < self._in_memory:
            return np.asarray(self._first[links])
        found = np.empty((len(links), self._width), dtype=np.uint32)
        near = links < self._in_memory
        found[near] = self._first[links[near]]
        far = np.flatnonzero(~near)
        far = far[np.argsort(links[far], kind="stable")]
        for run in np.split(far, np.flatnonzero(np.diff(links[far]) > _GAP) + 1):
            first = int(links[run[0]])
            found[run] = self._read(first, int(links[run[-1]]) + 1 - first)[links[run] - first]
        return found

    def _write(self, link: int, row: Rows) -> None:
        if self._file is None:
            self._file = scratch_file()
        data = memoryview(row.astype(np.uint32).tobytes())
        try:
            self._file.seek((link - self._in_memory) * 4 * self._width)
            while data:  # a disk that is full takes a part, and fails the next time
                data = data[self._file.write(data) :]
        except OSError as error:
            raise no_room(error) from error

    def _read(self, first: int, count: int) -> Rows:
        data = bytearray(4 * count * self._width)
        room = memoryview(data)
        try:
            if self._file is not None:
                self._file.seek((first - self._in_memory) * 4 * self._width)
                while room and (read := self._file.readinto(room)):
                    room = room[read:]
        except OSError as error:
            raise no_room(error) from error
        return np.frombuffer(data, dtype=np.uint32).reshape(count, self._width)
