"""How long somebody was silent, by the clock of one who may be held up himself."""

import time


class ListeningClock:
    """Seconds in which others could be heard.

    Between two looks nobody is heard, and a server that is away keeps the others from giving signs:
    what comes between counts, but only so much. So whoever looks after a long time does not take
    for dead who could not be heard, and who looks but seldom still does whoever is.

    Args:
        most: seconds that count between two looks, at most.
    """

    def __init__(self, most: float) -> None:
        self._most = most
        self._looked = time.monotonic()
        self._now = 0.0

    def look(self) -> float:
        """Return the seconds counted until this look; call it at each."""
        now = time.monotonic()
        self._now += min(now - self._looked, self._most)
        self._looked = now
        return self._now
