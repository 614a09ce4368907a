"""How the time that something takes grows with its input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["assert_linear", "least_of_three"]

T = TypeVar("T")

_FOURFOLD = 10  # times the time that four times the input may take; quadratic work takes sixteen
_LEAST = 0.02  # seconds that are measured well


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Assert that `work`, called with a size, takes no more than linear time."""
    small, large = least_of_three(work, size), least_of_three(work, 4 * size)
    assert large < _FOURFOLD * max(small, _LEAST), f"{small:.3f} s, and {large:.3f} s for 4 x"


def least_of_three(work: Callable[[T], object], given: T) -> float:
    """Return the processor time in seconds of `work`, called three times: the least."""
    times = []
    for _ in range(3):
        gc.collect()
        start = time.process_time()
        work(given)
        times.append(time.process_time() - start)
    return min(times)
