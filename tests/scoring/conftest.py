"""A crawl of a made-up web: the real frontier and a real scorer, pages given by a table."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import pytest

from mmcrawl.frontier import (
    HELD,
    REDIRECT,
    LinkScores,
    NewLink,
    PageRecord,
    PastFailure,
    SqliteFrontier,
    open_store,
)
from mmcrawl.page import physical_layer
from mmcrawl.scoring import (
    CrawledPage,
    Learned,
    LinkSimilarity,
    Prospects,
    Scorer,
    make_scorer,
    prior_of,
)
from mmcrawl.topic import Topic

OPTICS = Topic("optics", "光学", (("光学", "optics"), ("折射", "refraction"), ("透镜", "lens")))


class MadeUpCrawl:
    """Crawls a web given as links by page; which pages are relevant, a function says.

    Addresses without a host are of `h.test`. `content` gives the content score of a link,
    `tag_path` where it stands on its page; `media` says which pages besides relevant ones hold
    media. With topic scores by address, a page is on topic if its own is above 1/2, and relevant
    if it holds media as well, which none does whose address ends in `-`.
    """

    def __init__(
        self,
        algorithm: str,
        web: Mapping[str, Iterable[str]],
        relevant: Callable[[str], bool] = lambda url: False,
        content: Callable[[str], float] = lambda url: 0.0,
        *,
        tag_path: Callable[[str], str] = lambda url: "",
        media: Callable[[str], bool] = lambda url: False,
        topic: Mapping[str, float] | None = None,
        **parameters: object,
    ) -> None:
        self.web, self.is_relevant, self.content, self.topic = web, relevant, content, topic
        self.tag_path, self.has_media = tag_path, media
        self.store = open_store("memory:")
        self.frontier = SqliteFrontier(self.store, self.store.job("crawl", {}))
        self._make = lambda: make_scorer(
            algorithm, self.frontier, LinkSimilarity(OPTICS), **parameters
        )
        self.scorer: Scorer = self._make()
        self.fetched: list[str] = []
        self.answer = LinkScores([], [], [])
        self.answers: list[LinkScores] = []

    def apply(self, answer: LinkScores) -> None:
        assert len(set(answer.ids)) == len(answer.ids)
        assert all(score == HELD or 0 <= score < 1000 for score in answer.score)
        assert all(0 <= structure < 1000 for structure in answer.structure)
        self.answer = answer
        self.answers.append(answer)
        self.frontier.apply(answer)

    def link(self, url: str) -> NewLink:
        full = url if "//" in url else f"http://h.test{url}"
        return NewLink(
            full,
            physical_layer=physical_layer(full),
            content_score=self.content(url),
            tag_path=self.tag_path(url),
        )

    def add(self, *urls: str, parent: int | None = None) -> list[int]:
        links = map(self.link, urls)
        return list(dict.fromkeys(n for n, _ in self.frontier.add(list(links), parent)))

    def seed(self, *urls: str, parent: int | None = None) -> None:
        self.apply(self.scorer.added(self.add(*urls, parent=parent)))

    def start(self) -> tuple[int, str] | None:
        """Take the next link; return its id and its address in the web."""
        link = self.frontier.next()
        if link is None:
            return None
        self.apply(self.scorer.started(link.id))
        url = link.url.removeprefix("http://h.test")
        self.fetched.append(url)
        return link.id, url

    def finish(self, link: int, url: str) -> CrawledPage:
        links = self.add(*self.web.get(url, ()), parent=link)
        topic = 0.0 if self.topic is None else self.topic.get(url, 0.0)
        if self.topic is None:
            on_topic = relevant = self.is_relevant(url)
            media = relevant or self.has_media(url)
        else:
            on_topic, media = topic > 0.5, not url.endswith("-")
            relevant = on_topic and media
        new, full = int(relevant), self.frontier.url(link)
        record = PageRecord(
            *(full, "", "", "", media, relevant, len(links), 1.0), topic_score=topic, new_media=new
        )
        self.frontier.complete(link, record, links)
        page = CrawledPage(link, full, relevant, media, links, topic, new, on_topic)
        self.apply(self.scorer.crawled(page))
        return page

    def fail(self, link: int) -> None:
        self.frontier.fail(link, "404")
        self.apply(self.scorer.failed(link))

    def redirect(self, link: int, url: str) -> None:
        """Let a link lead on to an address, which waits then if it is new."""
        [target] = self.frontier.add([self.link(url)], link)
        self.frontier.leave(link, REDIRECT + self.frontier.url(target[0]))
        self.apply(self.scorer.failed(link))
        self.apply(self.scorer.added([number for number, is_new in [target] if is_new]))

    def run(self, pages: int = 10_000, *, dead: str | None = None) -> list[str]:
        """Crawl some pages one after another; return what was fetched by this call.

        Links whose address begins with `dead` cannot be had.
        """
        before = len(self.fetched)
        while len(self.fetched) < before + pages and (taken := self.start()) is not None:
            link, url = taken
            if dead is not None and url.startswith(dead):
                self.fail(link)
            else:
                self.finish(link, url)
        return self.fetched[before:]

    def fetch(self, *urls: str) -> None:
        """Crawl certain pages, whatever their scores."""
        for url in urls:
            self.finish(self.take(url), url)

    def take(self, url: str) -> int:
        """Take a certain link, whatever its score; return its id."""
        link = self.frontier.lookup(self.link(url).url)
        self.frontier.take(link)
        self.apply(self.scorer.started(link))
        self.fetched.append(url)
        return link

    def replayed(self) -> tuple[Scorer, dict[int, float]]:
        """Return a new scorer that was told the history, and the scores it gave to links."""
        scorer, scores = self._make(), {}
        answers = [scorer.added(self.frontier.without_parent())]
        for past in self.frontier.history():
            answers.append(scorer.started(past.id))
            if isinstance(past, PastFailure):
                answers.append(scorer.failed(past.id))
                if past.error.startswith(REDIRECT):
                    target = self.frontier.lookup(past.error.removeprefix(REDIRECT))
                    if self.frontier.known(target).parent == past.id:
                        answers.append(scorer.added([target]))
                continue
            on_topic = past.relevant if self.topic is None else past.topic_score > 0.5
            answers.append(scorer.crawled(CrawledPage.again(past, on_topic=on_topic)))
        answers.append(scorer.added(self.frontier.waiting()))
        for answer in answers:
            scores |= dict(zip(answer.ids, answer.score, strict=True))
        return scorer, scores

    def id(self, url: str) -> int | None:
        return self.frontier.lookup(self.link(url).url)

    def scores(self, kind: str = "score") -> dict[str, float]:
        """Return the scores of the waiting links, or their structure scores."""
        records = map(self.frontier.record, self.frontier.waiting())
        return {r.url.removeprefix("http://h.test"): getattr(r, kind) for r in records}

    def structures(self) -> dict[str, float]:
        return self.scores("structure_score")


@pytest.fixture(scope="session")
def made_up_crawls() -> Callable[..., MadeUpCrawl]:
    """Make crawls for the examples of a property test; their stores end with them."""
    return MadeUpCrawl


@pytest.fixture
def made_up_crawl() -> Iterator[Callable[..., MadeUpCrawl]]:
    """Make crawls whose stores are closed in the end."""
    crawls = []

    def make(*args: object, **options: object) -> MadeUpCrawl:
        crawls.append(MadeUpCrawl(*args, **options))
        return crawls[-1]

    yield make
    for crawl in crawls:
        crawl.store.close()


@pytest.fixture
def weighed(monkeypatch):
    """Let `learned` weigh its evidence by weights of the test, and seek nothing new."""

    def weigh(weights):
        monkeypatch.setattr(Prospects, "prior", prior_of(weights))
        monkeypatch.setitem(Learned.__init__.__kwdefaults__, "novelty", 0.0)

    return weigh
