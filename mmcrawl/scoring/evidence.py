"""What pages fetched so far say of links that share something with them.

A link belongs to units (`link_features.UNITS`): its directory, its place on the page, its anchor, …
Of each unit is known how many of its pages were fetched, how many were relevant, and to how many
relevant pages they led. How much each of that weighs was learnt on other webs
(`learned_prior.json`, made by benchmarks/search_prior.py): that an equal place on a list tells
more than an equal anchor holds anywhere.

Units are numbered by hash; two share a number once in a million times.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

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
    """
    pairs = np.array([weights.get(name, (0.0, 0.0)) for name in COLUMNS], dtype=np.float32)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


class Evidence:
    """How the pages of each unit turned out."""

    def __init__(self) -> None:
        self._fetched = np.zeros(1 << BITS, dtype=np.float32)
        self._relevant = np.zeros(1 << BITS, dtype=np.float32)
        self._led = np.zeros(1 << BITS, dtype=np.float32)
        self._totals = np.zeros(3)  # fetched, relevant, led

    @property
    def found(self) -> float:
        """How many relevant pages there are."""
        return float(self._totals[1])

    def tried(self, rows: Rows) -> _Floats:
        """Return how many pages of each link's directory were fetched, shape (n,)."""
        return self._fetched[rows[:, UNITS.index("directory")]]

    def fetched(self, row: Rows, relevant: bool) -> None:
        """Count a fetched link, given its features."""
        units = row[: len(UNITS)]
        self._fetched[units] += 1
        self._relevant[units] += relevant
        self._totals[:2] += 1, relevant

    def led(self, row: Rows) -> None:
        """Count that a relevant page was found on the page of a link."""
        self._led[row[: len(UNITS)]] += 1
        self._totals[2] += 1

    def take_back(self, row: Rows, parent: Rows | None) -> None:
        """Count a relevant page as none; `parent` are the features of the page it was found on."""
        self._relevant[row[: len(UNITS)]] -= 1
        self._totals[1] -= 1
        if parent is not None:
            self._led[parent[: len(UNITS)]] -= 1
            self._totals[2] -= 1

    def columns(self, rows: Rows, flags: NDArray[np.uint8], linked: _Floats) -> _Floats:
        """Return what is known of links, shape (n, len(COLUMNS)).

        Args:
            rows: features, shape (n, WIDTH).
            flags: bits of `FLAGS`, shape (n,).
            linked: how many fetched pages have the link, shape (n,).
        """
        units = rows[:, : len(UNITS)]
        fetched, relevant, led = self._fetched[units], self._relevant[units], self._led[units]
        all_fetched, all_relevant, all_led = self._totals
        rate = _share(relevant[:, :1], fetched[:, :1], (all_relevant + 0.5) / (all_fetched + 5))
        lead = _share(led[:, :1], fetched[:, :1], (all_led + 0.5) / (all_fetched + 5))
        made = np.empty((len(rows), len(COLUMNS)), dtype=np.float32)
        made[:, 0] = 1
        made[:, 1 : 1 + len(FLAGS)] = flags[:, None] >> np.arange(len(FLAGS)) & 1
        host, first = 2 + len(FLAGS), 4 + len(FLAGS)
        made[:, host - 1] = np.log1p(linked)
        made[:, host : host + 1] = _log_odds(rate)
        made[:, host + 1 : host + 2] = _log_odds(lead)
        fetched, relevant, led = fetched[:, 1:], relevant[:, 1:], led[:, 1:]
        made[:, first::3] = _log_odds((relevant + rate) / (fetched + 1)) - _log_odds(rate)
        made[:, first + 1 :: 3] = 1 / np.sqrt(1 + fetched)
        made[:, first + 2 :: 3] = _log_odds((led + lead) / (fetched + 1)) - _log_odds(lead)
        return made


def _share(part: _Floats, whole: _Floats, elsewhere: float) -> _Floats:
    return np.asarray((part + _HOST * elsewhere) / (whole + _HOST), dtype=np.float32)


def _log_odds(share: _Floats) -> _Floats:
    share = np.clip(share, _LEAST, _MOST)
    return np.asarray(np.log(share / (1 - share)), dtype=np.float32)
