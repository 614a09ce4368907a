"""What the pages fetched so far say of links that share something with them.

A link belongs to units (`link_features.UNITS`): its directory, its place on the page, its anchor, …
For each unit, counts the pages fetched, the relevant ones among them, and the relevant pages they
led to. The weight of each count was learnt on other webs (`learned_prior.json`, made by
tools/train_search_prior.py): an equal place in a list says more than an equal anchor anywhere.

Units are numbered by hash; two share a number once in a million times.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from mmcrawl.errors import MmcrawlError
from mmcrawl.scoring.link_features import BITS, FLAGS, UNITS

COLUMNS = (
    "always", *FLAGS, "linked", "rate", "yield",
    *(f"{unit}: {what}" for unit in UNITS[1:] for what in ("rate", "new", "yield")),
)  # fmt: skip
"""What a prediction is made of. `linked`: on how many pages the link was found, in logarithms.
Of the host: its log-odds of relevant pages (`rate`), and of pages found on a page (`yield`). Of
each unit: by how much it differs from its host in both, and how new it is, 1 / √(1 + fetched)."""

Prior = tuple[NDArray[np.float32], NDArray[np.float32]]
_HOST = 5.0  # pages of other hosts that count as one's own
_LEAST, _MOST = 1e-3, 1 - 1e-3
_LINKED = COLUMNS.index("linked")
_DEEPER_DIRECTORY = 1 << FLAGS.index("deeper directory")

Rows = NDArray[np.uint32]
_Floats = NDArray[np.float32]


@cache
def shipped_prior() -> Prior:
    """Return the weights that ship with mmcrawl."""
    text = (files("mmcrawl.scoring") / "learned_prior.json").read_text(encoding="utf-8")
    return prior_of(json.loads(text))


def prior_of(weights: Mapping[str, tuple[float, float]]) -> Prior:
    """Return weights by name of their column as two arrays, shape (len(COLUMNS),) each.

    Args:
        weights: of columns; 0 for those left out. The first is added to the log-odds of a relevant
            page, the second to what a page is expected to lead to.

    Raises:
        MmcrawlError: a weight is of no column there is.
    """
    if unknown := weights.keys() - set(COLUMNS):
        raise MmcrawlError(
            f"weights of evidence that is not collected: {', '.join(sorted(unknown))}; they were "
            "learnt by another version of mmcrawl: train them again (tools/train_search_prior.py)"
        )
    pairs = np.array([weights.get(name, (0.0, 0.0)) for name in COLUMNS], dtype=np.float32)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


class Evidence:
    """The outcomes of the pages of each unit.

    Attributes:
        counts: of each unit: fetched, relevant, led; shape (2**BITS, 3). Row 0 is no unit, and
            holds those of all pages.
    """

    def __init__(self) -> None:
        self.counts = np.zeros((1 << BITS, 3), dtype=np.float32)

    def found(self, rows: Rows) -> _Floats:
        """Return the number of relevant pages on each link's host, shape (n,)."""
        return np.asarray(self.counts[rows[:, UNITS.index("host")], 1])

    def neighbours(self, rows: Rows, flags: NDArray[np.uint8]) -> tuple[_Floats, _Floats]:
        """Return the pages fetched of each link's directory, and those fetched for nothing.

        The latter are those fetched less the relevant among them and the relevant pages found on
        them, so one list with many finds makes up for others. The page of a directory belongs to
        that above, as tags of a blog do; one at the top of a site is a directory of its own.
        """
        unit = np.where(flags & _DEEPER_DIRECTORY, UNITS.index("above"), UNITS.index("directory"))
        fetched, *finds = self.counts[rows[np.arange(len(rows)), unit]].T
        return fetched, np.maximum(fetched - sum(finds), 0)

    def fetched(self, row: Rows, relevant: bool) -> None:
        """Count a fetched link, given its features."""
        self._count(row, (1, relevant, 0))

    def led(self, row: Rows) -> None:
        """Count that a relevant page was found on the page of a link."""
        self._count(row, (0, 0, 1))

    def take_back(self, row: Rows, parent: Rows | None) -> None:
        """Count a relevant page as none; `parent` are the features of the page it was found on."""
        self._count(row, (0, -1, 0))
        if parent is not None:
            self._count(parent, (0, 0, -1))

    def _count(self, row: Rows, change: tuple[int, int, int]) -> None:
        added = np.array(change, dtype=np.float32)
        self.counts[row[: len(UNITS)]] += added
        self.counts[0] += added

    def columns(self, rows: Rows, flags: NDArray[np.uint8], linked: _Floats) -> _Floats:
        """Return the evidence on links, shape (n, len(COLUMNS)).

        Args:
            rows: features, shape (n, WIDTH).
            flags: bits of `FLAGS`, shape (n,).
            linked: how many fetched pages have the link, shape (n,).
        """
        counts = self.counts.take(rows[:, : len(UNITS)], axis=0)
        # Long rows are what numpy is quick at: (3, n, units) instead of (n, units, 3).
        parts = np.ascontiguousarray(counts.transpose(2, 0, 1))
        found, fetched = parts[1:], 1 + parts[0]
        totals = self.counts[0].astype(np.float64)
        elsewhere = (totals[1:, None] + 0.5) / (totals[0] + 5)
        host = (found[:, :, 0] + _HOST * elsewhere) / (parts[0, :, 0] + _HOST)
        shares = (found + host.astype(np.float32)[:, :, None]) / fetched
        shares[:, :, 0] = host
        odds = _log_odds(shares)
        made = np.empty((len(rows), len(COLUMNS)), dtype=np.float32)
        made[:, 0] = 1
        made[:, 1:_LINKED] = np.unpackbits(
            flags[:, None], axis=1, count=len(FLAGS), bitorder="little"
        )
        made[:, _LINKED] = np.log1p(linked)
        made[:, _LINKED + 1 : _LINKED + 3] = odds[:, :, 0].T
        made[:, _LINKED + 3 :: 3], made[:, _LINKED + 5 :: 3] = odds[:, :, 1:] - odds[:, :, :1]
        made[:, _LINKED + 4 :: 3] = 1 / np.sqrt(fetched[:, 1:])
        return made


def _log_odds(share: _Floats) -> _Floats:
    share = np.minimum(np.maximum(share, _LEAST), _MOST)
    return np.asarray(np.log(share / (1 - share)))
