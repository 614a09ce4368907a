"""How the time that something takes grows with its input."""

import gc
import time
from collections.abc import Callable
from math import inf
from typing import TypeVar

__all__ = ["assert_linear", "least_of_three"]

T = TypeVar("T")

_FOURFOLD = 10  # times the time that four times the input may take; quadratic work takes sixteen
_LEAST = 0.02  # seconds that are measured well


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Assert that `work`, called with a size, takes no more than linear time."""
    small = least_of_three(work, size)
    bound = _FOURFOLD * max(small, _LEAST)
    large = _least(work, 4 * size, enough=bound)
    assert large < bound, f"{small:.3f} s, and {large:.3f} s for 4 x"


def least_of_three(work: Callable[[T], object], given: T) -> float:
    """Return the processor time in seconds of `work`, called three times: the least."""
    return _least(work, given, enough=0.0)


def _least(work: Callable[[T], object], given: T, *, enough: float) -> float:
    """Return the least processor time of three calls; the first one below `enough` is the last."""
    least = inf
    for _ in range(3):
        gc.collect()
        start = time.process_time()
        work(given)
        least = min(least, time.process_time() - start)
        if least < enough:
            break
    return least
