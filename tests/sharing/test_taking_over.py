"""Parts of a worker that died, as the one who takes them over has them."""

from __future__ import annotations

import pytest

from mmcrawl.sharing.places import Rules

from .memory import Gang, MadeWeb, Worker


def scores(worker: Worker) -> dict[str, float]:
    """Return the scores of the links that wait in the parts of a worker."""
    found = {}
    for job in worker.job.parts.jobs.values():
        for link in job.frontier.waiting():
            record = job.frontier.record(link)
            found[record.url] = record.score
    return found


@pytest.mark.parametrize(
    ("algo", "most"), [("shark", 1e-9), ("topicrank", 1e-9), ("hits", 1e-9), ("learned", 0.05)]
)
def test_links_that_wait_have_the_scores_they_had(algo: str, most: float) -> None:
    """Logs have older ones; what other parts taught meanwhile counts for all at once."""
    gang = Gang(MadeWeb(3, 40), Rules(parts=16, lease=4.0, rest=0.0), algo=algo)
    first = gang.join()
    for _ in range(12):
        gang.pass_time()
    gang.pages_a_step = 0
    for _ in range(8):  # what is under way comes, and is written down
        gang.pass_time()
    before = scores(first)
    assert len(before) > 10
    first.die()
    second = gang.join()
    for _ in range(40):
        gang.pass_time()
    after = scores(second)
    assert after.keys() == before.keys()
    assert after == {url: pytest.approx(score, abs=most) for url, score in before.items()}
