"""Power iteration, which all ranks share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mmcrawl.rank.graph import Numbers

__all__ = ["TOLERANCE", "Ranking", "converge", "random_surfer"]

TOLERANCE = 1e-12
"""Sum of the changes of all ranks in a step, below which they are taken to have settled."""

MOST_STEPS = 1_000

Step = Callable[[Numbers], Numbers]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranks that sum to 1, one for each node; empty for an empty graph.

    Attributes:
        scores: Of each node, not negative.
        steps: How many were taken.
        change: Sum of the changes in the last one.
        settled: Whether that is within the tolerance.
    """

    scores: Numbers
    steps: int
    change: float
    settled: bool


def converge(
    step: Step,
    nodes: int,
    *,
    tolerance: float = TOLERANCE,
    most_steps: int = MOST_STEPS,
    progress: Callable[[int, float], None] | None = None,
) -> Ranking:
    """Repeat a step, beginning with equal ranks, until they change no more.

    Args:
        step: From ranks to the next ones; both sum to 1.
        nodes: How many ranks there are.
        tolerance: Greatest sum of changes that counts as none.
        most_steps: At which it ends all the same.
        progress: Told of the number of each step and its change.
    """
    if not nodes:
        return Ranking(np.zeros(0), 0, 0.0, True)
    ranks = np.full(nodes, 1.0 / nodes)
    change, taken = 1.0, 0
    while change > tolerance and taken < most_steps:
        following = step(ranks)
        change = float(np.abs(following - ranks).sum())
        ranks = following
        taken += 1
        if progress is not None:
            progress(taken, change)
    return Ranking(ranks / ranks.sum(), taken, change, change <= tolerance)


def random_surfer(
    passed_on: Step,
    nodes: int,
    *,
    epsilon: float,
    tolerance: float = TOLERANCE,
    progress: Callable[[int, float], None] | None = None,
) -> Ranking:
    """Solve (εU + (1−ε)M)ᵀ p = p, U being 1/n everywhere (Cai et al. 2004).

    What nodes without links would pass on goes to all alike.

    Args:
        passed_on: p ↦ Mᵀ p; rows of M sum to 1, or to 0 for a node without links.
        nodes: n.
        epsilon: ε, the share of jumps to any node, in (0, 1): 1 − d of PageRank.
        tolerance, progress: As :func:`converge` takes them.

    Raises:
        ValueError: ε is not in (0, 1).
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"the share of jumps must be above 0 and below 1, not {epsilon:g}")

    def step(ranks: Numbers) -> Numbers:
        following = passed_on(ranks)
        following *= 1 - epsilon
        following += (1 - following.sum()) / nodes
        return following

    return converge(step, nodes, tolerance=tolerance, progress=progress)
