"""What search by URL patterns (`urlrule.py`) knows of each host, and of the directories there."""

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mmcrawl.scoring.clusters import SitePatterns
from mmcrawl.scoring.link_features import directory_of
from mmcrawl.scoring.waiting_urls import WaitingUrls

__all__ = ["Directories", "Site"]

_Ids = np.ndarray[Any, np.dtype[Any]]
_Numbers = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(slots=True)
class Site:
    """What is known of one host.

    `probed` and `unprobed` count, by physical layer, the probes begun and the waiting links that
    match no pattern; `under_way` are the probes whose outcome is not known yet, and `holding` says
    whether links that are no probes wait for them. `measured` is how many URLs each pattern
    generalised when all waiting links were last measured against it.
    """

    host: str
    patterns: SitePatterns
    links: "array[int]" = field(default_factory=lambda: array("I"))
    urls: WaitingUrls = field(default_factory=WaitingUrls)
    measured: list[int] = field(default_factory=list)
    probing: bool = True
    holding: bool = True
    probed: Counter[int] = field(default_factory=Counter)
    unprobed: Counter[int] = field(default_factory=Counter)
    under_way: int = 0
    largest: float = 0.0
    fetched_since_rescore: int = 0


class Directories:
    """How many links, pages and media pages each directory has.

    The pages that one script makes (`show.asp?id=…`) count as a directory of their own.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.links = array("i")
        self.pages = array("i")
        self.relevant = array("i")

    def place(self, url: str) -> int:
        """Return the number of the directory a new link is in, and count the link."""
        number = self._numbers.setdefault(directory_of(url), len(self.links))
        if number == len(self.links):
            for column in (self.links, self.pages, self.relevant):
                column.append(0)
        self.links[number] += 1
        return number

    def count(self, number: int, *, relevant: bool) -> None:
        """Count a page fetched from a directory."""
        self.pages[number] += 1
        self.relevant[number] += relevant

    def rates(self, numbers: _Ids) -> _Numbers:
        """Return the share of media pages to expect in each of some directories, in (0, 1)."""
        relevant = np.frombuffer(self.relevant, dtype=np.int32)[numbers]
        return np.asarray((relevant + 1) / (np.frombuffer(self.pages, dtype=np.int32)[numbers] + 2))
