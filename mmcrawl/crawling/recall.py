"""A crawl that is taken up again: algorithm and bounds are told what happened, in that order."""

from mmcrawl.crawling.seeds import MovedSeeds
from mmcrawl.frontier.admission import REDIRECT, Admission
from mmcrawl.frontier.reading import PastFailure
from mmcrawl.frontier.sqlite import SqliteFrontier
from mmcrawl.frontier.twins import TWIN
from mmcrawl.scoring.base import CrawledPage, Scorer


def recall(
    frontier: SqliteFrontier, scorer: Scorer, admission: Admission, moved: MovedSeeds
) -> None:
    """Bring algorithm and bounds to where they stood when the job was left.

    The scores they answer with are in the frontier already.

    Args:
        frontier: knows what became of links.
        scorer, admission, moved: new ones.
    """
    scorer.added(frontier.without_parent())
    for past in frontier.history():
        scorer.started(past.id)
        if isinstance(past, PastFailure):
            if past.error == TWIN:
                continue
            scorer.failed(past.id)
            admission.failed(past.url, past.error)
            if past.error.startswith(REDIRECT):
                target = past.error.removeprefix(REDIRECT)
                moved.follow(past.id, target)
                number = frontier.lookup(target)
                if number is not None and frontier.known(number).parent == past.id:
                    scorer.added([number])
        else:
            page = CrawledPage(
                past.id,
                past.url,
                past.relevant,
                past.contains_media,
                past.links,
                past.topic_score,
            )
            scorer.crawled(page)
            admission.crawled(past.url, relevant=past.relevant)
    scorer.added(frontier.waiting())
