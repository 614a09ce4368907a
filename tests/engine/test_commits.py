"""When reports become durable."""

import asyncio

from mmcrawl.engine import Commits


def test_the_first_report_is_committed_at_once_and_those_after_it_wait() -> None:
    made: list[int] = []

    def commit() -> bool:
        made.append(1)
        return True

    async def reporting() -> list[int]:
        commits = Commits(commit, lambda *_: None)
        counts = []
        for _ in range(3):
            commits.count()
            counts.append(len(made))
        return counts

    assert asyncio.run(reporting()) == [1, 1, 1]
