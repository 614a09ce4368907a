"""Links of areas that brought little so far wait behind others until something is found there."""

from mmcrawl.frontier.admission import Admission
from mmcrawl.frontier.records import WaitingLink
from mmcrawl.frontier.sqlite import SqliteFrontier

_MOST = 10_000


class LinksBehind:
    """The links that fell behind, each by so many steps.

    Args:
        frontier: where they wait.
        admission: tells what their areas brought.
    """

    def __init__(self, frontier: SqliteFrontier, admission: Admission) -> None:
        self._frontier, self._admission = frontier, admission
        self._steps: dict[int, int] = {}

    def falls(self, link: WaitingLink) -> bool:
        """Let a link that was taken wait behind others, if its area brought less meanwhile."""
        if link.request is not None or link.parent is None or link.priority > 0:
            return False  # what is to come early keeps its place
        steps = self._admission.steps_behind(link.url)
        if steps <= -link.priority:
            self._steps.pop(link.id, None)
            return False
        self._frontier.requeue(link.id, None, -steps)
        self._steps[link.id] = steps
        if len(self._steps) > _MOST:
            del self._steps[next(iter(self._steps))]
        return True

    def lift(self) -> None:
        """Bring those forward in whose area something was found now."""
        for link, before in list(self._steps.items()):
            steps = self._admission.steps_behind(self._frontier.url(link))
            if steps < before:
                self._frontier.prioritise(link, -steps, instead_of=-before)
                self._steps[link] = steps
