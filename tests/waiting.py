"""How long a test waits for what must happen: until it does, or until it is clear that it hangs."""

import time
from collections.abc import Callable

HANG = 570.0
"""Seconds, a little less than pytest's own time-out, which would not say what was waited for."""


def until(true: Callable[[], object], pause: float = 0.01) -> None:
    """Wait for something to be true, looked at with pauses of so many seconds."""
    end = time.monotonic() + HANG
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(pause)
