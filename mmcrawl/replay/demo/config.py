"""How the demo web is made."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DemoConfig:
    """The few numbers that make one demo web differ from another.

    The same numbers give the same bytes, on every machine.
    """

    seed: int = 2009
    """Chooses texts, links and which pages hold media."""

    size: float = 1.0
    """Factor of the number of pages in every directory; > 0. 1 gives some 460 pages."""

    media_share: float = 0.8
    """Share of pages that hold media in the directories kept for it, 0..1."""

    stray_share: float = 0.06
    """Share of pages that hold media in the other directories on the topic, 0..1.

    The closer to `media_share`, the less does knowing a directory help.
    """

    tunnel: int = 3
    """Pages off the topic between the front page and the directory of videos, 0..8."""

    def __post_init__(self) -> None:
        shares = (self.media_share, self.stray_share)
        if not all(0 <= share <= 1 for share in shares):
            raise ValueError("media_share and stray_share lie between 0 and 1")
        if not 0 < self.size < float("inf"):
            raise ValueError("size is a factor greater than 0")
        if not 0 <= self.tunnel <= 8:
            raise ValueError("tunnel lies between 0 and 8")
