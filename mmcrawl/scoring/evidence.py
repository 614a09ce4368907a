"""What pages fetched so far say of links that share something with them.

A link belongs to units (`link_features.UNITS`): its directory, its place on the page, its anchor, …
Of each unit is known how many of its pages were fetched, how many were relevant, to how many
relevant pages they led, and how many brought new links. Of units that depend on the page which
holds a link, the mean over such pages counts (`inlinks.py`). How much each of that weighs was
learnt on other webs (`learned_prior.json`, made by tools/train_search_prior.py): that an equal
place on a list tells more than an equal anchor holds anywhere.

Units are numbered by hash; two share a number once in a million times.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcrawl.errors import MmcrawlError
from mmcrawl.scoring.link_features import BITS, FLAGS, OWN, UNITS

COLUMNS = (
    "always", *FLAGS, "on a media page", "beside a media page", "linked", "rate", "yield",
    *(f"{unit}: {what}" for unit in UNITS[1:] for what in ("rate", "new", "yield")),
)  # fmt: skip
"""What a prediction is made of. `linked`: on how many pages the link was found, in logarithms.
Of the host: its log-odds of relevant pages (`rate`), and of pages found on a page (`yield`). Of
each unit: by how much it differs from its host in both, and how new it is, 1 / √(1 + fetched)."""

Prior = tuple[NDArray[np.float32], NDArray[np.float32]]
_HOST = 5.0  # pages of other hosts that count as one's own
_LEAST, _MOST = 1e-3, 1 - 1e-3
_LINKED = COLUMNS.index("linked")

_FETCHED, _RELEVANT, _LED, _BROUGHT = range(4)
_SUCH = [UNITS.index(name) for name in ("directory", "shape", "place")]

Rows = NDArray[np.uint32]
_Floats = NDArray[np.float32]


class Seen(NamedTuple):
    """What is known of n links that m pages hold.

    Attributes:
        own: their features, shape (n, WIDTH).
        found: their units by a page that holds them (`FOUND`), link by link, shape (m, 6).
        media: whether that page is relevant, and whether it holds media, shape (m, 2).
        starts: where the rows of each link begin in these, shape (n,).
        flags: bits of `FLAGS`, shape (n,).
        linked: how many fetched pages have the link, shape (n,).
    """

    own: Rows
    found: Rows
    media: _Floats
    starts: NDArray[np.int64]
    flags: NDArray[np.uint8]
    linked: _Floats

    def means(self, by_page: _Floats) -> _Floats:
        """Return for each link the mean of what its pages say."""
        if len(by_page) == len(self.own):
            return by_page
        count = np.diff(self.starts, append=len(by_page))
        sums = np.add.reduceat(by_page, self.starts, axis=0)
        return np.asarray(sums / count.reshape(-1, *[1] * (sums.ndim - 1)).astype(np.float32))


class Told(NamedTuple):
    """What the evidence says of links.

    Attributes:
        columns: shape (n, len(COLUMNS)).
        fetched, relevant: pages of their hosts, shape (n,).
        brings: how far pages like theirs brought new links, against all of the host, in [0, 1].
    """

    columns: _Floats
    fetched: _Floats
    relevant: _Floats
    brings: _Floats


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
            "learnt by another version of mmcrawl: train them anew (tools/train_search_prior.py)"
        )
    pairs = np.array([weights.get(name, (0.0, 0.0)) for name in COLUMNS], dtype=np.float32)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


class Evidence:
    """How the pages of each unit turned out.

    Attributes:
        counts: of each unit: fetched, relevant, led, brought; shape (2**BITS, 4). Row 0 is no unit,
            and holds those of all pages.
    """

    def __init__(self) -> None:
        self.counts = np.zeros((1 << BITS, 4), dtype=np.float32)

    def count(
        self,
        units: Rows,
        *,
        fetched: float = 0,
        relevant: float = 0,
        led: float = 0,
        brought: float = 0,
    ) -> None:
        """Add to the counts of the units of a link, each once."""
        added = np.array([fetched, relevant, led, brought], dtype=np.float32)
        self.counts[units] += added
        self.counts[0] += added

    def add(self, units: Rows, counts: _Floats) -> None:
        """Add what others counted of units, shape (n,) and (n, 4)."""
        self.counts[units] += counts

    def told(self, links: Seen) -> Told:
        """Return what is known of links."""
        own = self.counts.take(links.own[:, : len(OWN)], axis=0)
        by_page = links.means(self.counts.take(links.found, axis=0))
        # Long rows are what numpy is quick at: (4, n, units) instead of (n, units, 4).
        parts = np.concatenate([own.transpose(2, 0, 1), by_page.transpose(2, 0, 1)], axis=2)
        found, fetched = parts[_RELEVANT : _LED + 1], 1 + parts[_FETCHED]
        totals = self.counts[0].astype(np.float64)
        elsewhere = (totals[_RELEVANT : _LED + 1, None] + 0.5) / (totals[_FETCHED] + 5)
        host = (found[:, :, 0] + _HOST * elsewhere) / (parts[_FETCHED, :, 0] + _HOST)
        shares = (found + host.astype(np.float32)[:, :, None]) / fetched
        shares[:, :, 0] = host
        odds = _log_odds(shares)
        made = np.empty((len(own), len(COLUMNS)), dtype=np.float32)
        made[:, 0] = 1
        made[:, 1 : 1 + len(FLAGS)] = np.unpackbits(
            links.flags[:, None], axis=1, count=len(FLAGS), bitorder="little"
        )
        made[:, 1 + len(FLAGS) : _LINKED] = links.means(links.media)
        made[:, _LINKED] = np.log1p(links.linked)
        made[:, _LINKED + 1 : _LINKED + 3] = odds[:, :, 0].T
        made[:, _LINKED + 3 :: 3], made[:, _LINKED + 5 :: 3] = odds[:, :, 1:] - odds[:, :, :1]
        made[:, _LINKED + 4 :: 3] = 1 / np.sqrt(fetched[:, 1:])
        of_host = (parts[_BROUGHT, :, 0] + 1) / fetched[:, 0]
        such = ((parts[_BROUGHT][:, _SUCH].T + of_host) / fetched[:, _SUCH].T).mean(axis=0)
        brings = np.minimum(such / of_host, 1)
        return Told(made, parts[_FETCHED, :, 0], parts[_RELEVANT, :, 0], brings)


def _log_odds(share: _Floats) -> _Floats:
    share = np.minimum(np.maximum(share, _LEAST), _MOST)
    return np.asarray(np.log(share / (1 - share)))
