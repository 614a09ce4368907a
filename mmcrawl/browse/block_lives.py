"""Which block of a page changes how often.

A block lives from version to version: where :meth:`mmcrawl.archive.Archive.diff` says that it was
kept, moved or changed, it is the same block still.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mmcrawl.archive import Difference, StoredBlock

__all__ = ["BlockLife", "lives_of"]


@dataclass(slots=True)
class BlockLife:
    """A block over several versions.

    Attributes:
        block: As it was last.
        first, last: Numbers of the first and the last version with it.
        steps: From one version to the next, while it was there.
        changes: Of these, those that changed its bytes.
        pattern: For each step ``kept``, ``moved`` or ``changed``; ``absent`` before it appeared and
            after it went.
    """

    block: StoredBlock
    first: int
    last: int
    steps: int = 0
    changes: int = 0
    pattern: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """How many of the steps changed it, in [0, 1]."""
        return self.changes / self.steps if self.steps else 0.0


def lives_of(differences: Iterable[Difference]) -> list[BlockLife]:
    """Return the blocks of a page, those that changed most often first.

    Args:
        differences: Of each version to the next, in order.
    """
    lives: list[BlockLife] = []
    now: dict[tuple[int, int], BlockLife] = {}
    for step, difference in enumerate(differences):
        later: dict[tuple[int, int], BlockLife] = {}
        for change in difference.blocks:
            life = None
            if change.old is not None:
                life = now.get((change.old.start, change.old.end))
                if life is None:
                    number = difference.old.number
                    life = BlockLife(change.old, number, number, pattern=["absent"] * step)
                    lives.append(life)
            if change.new is None:
                continue
            if life is None:
                number = difference.new.number
                life = BlockLife(change.new, number, number, pattern=["absent"] * (step + 1))
                lives.append(life)
            else:
                life.steps += 1
                life.changes += change.change == "changed"
                life.pattern.append(change.change)
            life.block, life.last = change.new, difference.new.number
            later[change.new.start, change.new.end] = life
        for life in lives:
            life.pattern += ["absent"] * (step + 1 - len(life.pattern))
        now = later
    return sorted(lives, key=lambda life: (-life.changes, -life.share, -life.steps))
