"""Selects and orders the links of a job for a listing."""

from collections.abc import Sequence
from dataclasses import dataclass

from mmcrawl.frontier.urls import host_of

_HELD = "held(link.id, origin || link.path, score, priority, block)"
_STATES = {
    "waiting": f"status = 'W' AND NOT {_HELD}",
    "held": f"status = 'W' AND {_HELD}",
    "running": "status = 'R'",
    "fetched": "status = 'C'",
    "error": "status = 'E'",
}
_ORDERS = {
    "found": "link.id",
    "place": "page.id IS NULL, settled, link.id",
    "score": "score DESC, link.id",
    "words": "content DESC, link.id",
    "structure": "structure DESC, link.id",
    "layer": "physical_layer, link.id",
    "clicks": "logical_layer, link.id",
    "url": "origin, link.path, link.id",
}
STATES, ORDERS = tuple(_STATES), tuple(_ORDERS)
"""What `LinkRecord.state` can be, and names of orders."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Some links, or all.

    Attributes:
        match: what the whole address is like: `*` stands for anything, `?` for a character, `[ab]`
            for one of several; "" for any.
        order: one of `ORDERS`: as found, by the place at which pages were fetched, best score
            first, best words first, best structure first, nearest to the root of the site, nearest
            to the seed, by address.
    """

    state: str = ""  # one of `STATES`, "" for any
    host: str = ""  # of their addresses, "" for any
    match: str = ""
    media: bool = False  # only of pages with media of the wanted kinds
    min_score: float | None = None  # least score; None for any
    order: str = "found"
    limit: int = 0  # most links, 0 for all

    def __post_init__(self) -> None:
        if self.state not in {"", *STATES}:
            raise ValueError(f"there is no status {self.state!r}; there are {', '.join(STATES)}")
        if self.order not in ORDERS:
            raise ValueError(f"there is no order {self.order!r}; there are {', '.join(ORDERS)}")

    def query(self, origins: Sequence[str]) -> tuple[str, dict[str, object]]:
        """Return the query for the ids, with values for all but `:job`, `:first` and `:last`.

        It asks a function `held` of id, address, score, priority and block whether a link that
        waits must not be fetched for now.

        Args:
            origins: of the job, by number.
        """
        conditions = ["link.id >= :first", "link.id < :last"]
        if self.state:
            conditions.append(_STATES[self.state])
        if self.host:
            hosts = [str(n) for n, one in enumerate(origins) if host_of(one) == self.host.lower()]
            conditions.append(f"link.host IN ({', '.join(hosts)})")
        if self.match:
            conditions.append("origin || link.path GLOB :match")
        if self.media:
            conditions.append("contains_media")
        if self.min_score is not None:
            conditions.append("score >= :min_score")
        text = (
            "SELECT link.id FROM link JOIN host ON host.job = :job AND host.id = link.host"  # noqa: S608 - our own words
            f" LEFT JOIN page ON page.id = link.id WHERE {' AND '.join(conditions)}"
            f" ORDER BY {_ORDERS[self.order]} LIMIT :limit"
        )
        return text, {"match": self.match, "min_score": self.min_score, "limit": self.limit or -1}


ALL = Selection()
