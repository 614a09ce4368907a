"""The topic test: whether a page is relevant, and why. Crawl, report and truth share it."""

import logging
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TypeAlias
from urllib.parse import urljoin

from mmcrawl.errors import TopicError
from mmcrawl.frontier.urls import host_of
from mmcrawl.page.model import MediaResource, Page
from mmcrawl.scoring.page_features import page_numbers, page_terms
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS
from mmcrawl.text.url_words import url_text
from mmcrawl.topic.loading import load_topic
from mmcrawl.topic.page_model import PageModel
from mmcrawl.topic.topic import Topic

logger = logging.getLogger(__name__)

FIELD_WEIGHTS = {
    "title": 1.0,
    "media": 1.0,
    "headings": 0.8,
    "keywords": 0.7,
    "description": 0.7,
    "groups": 0.5,
    "url": 0.5,
    "text": 0.25,
}
"""What one topic word is worth, by where it stands. `media`: anchors and alternative texts of the
media; `groups`: titles of link groups; `text`: main text, where it is worth twice as much if it
stands there three times."""

_ROOM = {
    "title": 150,
    "media": 300,
    "headings": 300,
    "keywords": 300,
    "description": 500,
    "groups": 200,
    "url": 150,
    "text": 3000,
}
"""Bytes of UTF-8, about six a word in Chinese as in English, that a field of one subject holds.

In a longer one, as the headings of a list page or a long text, a word counts by its share.
"""

_OFTEN = 3
_MOST_PER_CONCEPT = 1.5  # one word, however often and wherever it stands, is not a topic
_MANY_CONCEPTS = 30  # of so many some word stands on any page; of a few the user meant each
_MOST_OF_THE_FIRST = 0.75  # then the weightiest concept does not reach the threshold alone


EXAMPLES = "examples"
"""Where the evidence of a learnt topic stands among the signs of a page."""

LINKING = "linking page"
"""Where the evidence of the page that links to a medium stands among the signs of that."""

_BETWEEN_LOOKS = 2.0  # seconds, at whether a learnt topic was learnt again

_BETWEEN_PARTS = re.compile(r"(?<=\s)[-–—|·•:»«›‹~]+(?=\s)|[｜—«»]")
"""What separates the name of a page from that of its site in a title."""

Signs: TypeAlias = Mapping[str, Mapping[str, float]]
"""What each concept of the topic is worth by standing in a field of a page, its media left out."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of the topic test on a page, with its reasons.

    Attributes:
        relevant: the page holds wanted media and its score reaches the threshold.
        score: evidence / (evidence + 1), in [0, 1).
        threshold: what the score had to reach.
        media: the wanted media the page holds.
        evidence: for each concept found, how much it adds; of a large topic the first adds less.
        places: for each concept found, the fields it is in.
        alias: address under which the very same page was found before, which makes this one
            irrelevant whatever it holds; "" mostly.
        signs: what was read on the page apart from its media.
    """

    relevant: bool
    score: float
    threshold: float
    media: tuple[MediaResource, ...]
    evidence: dict[str, float]
    places: dict[str, tuple[str, ...]]
    alias: str = ""
    signs: Signs = field(default_factory=dict, repr=False, compare=False)

    @property
    def words(self) -> tuple[str, ...]:
        """The concepts found, the weightiest first."""
        return tuple(sorted(self.evidence, key=lambda concept: (-self.evidence[concept], concept)))


class TopicTest:
    """Decides whether a page is relevant.

    A page is relevant if it holds media of a wanted kind and is on topic. Every concept of the
    topic that stands on the page adds the weights of the fields it is in (`FIELD_WEIGHTS`), at
    most 1.5; the sum is the *evidence*, and evidence / (evidence + 1) the score. At the threshold
    of 0.5 one topic word in the title or in a link to the media is enough, as are four different
    ones in the main text; a single mention in passing is not. Two things ask for more: of a field
    that is long, such as the headings of a list, a word is worth its share; and of a topic with
    many concepts (30, any that ships) the weightiest one counts at most 0.75, so that a second one
    must stand somewhere.

    Entries of a feed or sitemap are judged each by itself, with what the list says of all of them:
    those off topic are not its media.

    What was learnt from pages adds p / (1 - p), p being how probable it is that the page is like
    the good ones: alone, its score is p; beside words, either may carry a page. So does the page
    that links to an answer that is a medium, with its own evidence.

    Args:
        topic: what is looked for.
        kinds: the media kinds that are wanted, of `mmcrawl.text.media_kinds.KINDS`.
        threshold: score to reach, in (0, 1).
        topics_by_host: other topics for the pages of some hosts.
    """

    def __init__(
        self,
        topic: Topic,
        kinds: Iterable[str],
        threshold: float = 0.5,
        *,
        topics_by_host: Mapping[str, Topic] | None = None,
    ) -> None:
        self.kinds = frozenset(kinds)
        self.topic = topic.wanting(self.kinds)
        self.threshold = threshold
        own = topics_by_host or {}
        self._own_topics = {host: topic.wanting(self.kinds) for host, topic in own.items()}
        learnt = {m.name: m for t in (topic, *own.values()) for m in t.learnt}
        self._learnt = {name: LearntTest(model) for name, model in learnt.items()}

    def moved(self, host: str, target: str) -> None:
        """Search `target` for what `host` was to be searched for: a seed redirects there."""
        if host in self._own_topics:
            self._own_topics.setdefault(target, self._own_topics[host])

    def judge(self, page: Page, media: Sequence[MediaResource]) -> Verdict:
        """Return the verdict on a page that holds `media` (its own, without site-wide ones)."""
        return self.verdict(page.url, self.signs(page), media)

    def signs(self, page: Page) -> Signs:
        """Return the topic words of a page, for verdicts on it with any media."""
        topic = self._topic_of(page.url)
        found: dict[str, Mapping[str, float]] = {}
        if words := topic.by_words:
            lists = any(medium.is_listed for medium in page.media)  # their titles are its text
            found = {
                name: _worth(name, text, words)
                for name, text in _fields(page)
                if not (lists and name == "text")
            }
        if topic.learnt:
            tests = [self._learnt[model.name] for model in topic.learnt]
            found[EXAMPLES] = {f"≈{test.model.name}": test.odds(page) for test in tests}
        if page.led_by is not None and page.led_by.score > 0:
            score = page.led_by.score
            found[LINKING] = {f"≈{LINKING}": score / (1 - score)}
        return {name: worth for name, worth in found.items() if worth}

    def verdict(self, url: str, signs: Signs, media: Sequence[MediaResource]) -> Verdict:
        """Return the verdict on the page at `url` with these `signs`, if it holds `media`."""
        wanted = tuple(resource for resource in media if resource.kind in self.kinds)
        if any(medium.is_listed for medium in wanted):
            each = [self._verdict(url, signs, (medium,)) for medium in wanted]
            own = tuple(verdict.media[0] for verdict in each if verdict.relevant)
            wanted = own or max(each, key=lambda verdict: verdict.score).media
        return self._verdict(url, signs, wanted)

    def _verdict(self, url: str, signs: Signs, wanted: tuple[MediaResource, ...]) -> Verdict:
        topic = self._topic_of(url)
        texts = "\n".join(dict.fromkeys(resource.text for resource in wanted))
        words, found = topic.by_words, signs
        if words and texts.strip():
            found = {**signs, "media": _worth("media", texts, words)}
        evidence: dict[str, float] = {}
        places: dict[str, tuple[str, ...]] = {}
        for name in FIELD_WEIGHTS:
            for concept, worth in found.get(name, {}).items():
                evidence[concept] = min(evidence.get(concept, 0.0) + worth, _MOST_PER_CONCEPT)
                places[concept] = (*places.get(concept, ()), name)
        total = sum(evidence.values())
        if words and len(words.terms) >= _MANY_CONCEPTS:
            total -= max(0.0, max(evidence.values(), default=0.0) - _MOST_OF_THE_FIRST)
        for name in (EXAMPLES, LINKING):
            more = found.get(name, {})
            evidence |= more
            places |= dict.fromkeys(more, (name,))
            total += sum(more.values())
        score = total / (total + 1)
        relevant = bool(wanted) and self.on_topic(url, score)
        return Verdict(relevant, score, self.threshold, wanted, evidence, places, signs=signs)

    def on_topic(self, url: str, score: float) -> bool:
        """Return whether the page at `url`, given its score, is on topic, with media or without."""
        return score >= self.threshold or self._topic_of(url).anything

    def _topic_of(self, url: str) -> Topic:
        return self._own_topics.get(host_of(url), self.topic)


class LearntTest:
    """Judges pages by what was learnt from others.

    A model that was read from a file is read again when that is rewritten: a crawl that runs
    takes it up within seconds. One that cannot be read leaves the former in use.

    Args:
        model: What was learnt.
    """

    def __init__(self, model: PageModel) -> None:
        self.model = model
        self._nearness = _nearness(model)
        self._looked_at = time.monotonic()

    def odds(self, page: Page) -> float:
        """Return p / (1 - p), p being how probable it is that a page is like the good ones."""
        probability = self.probability(page)
        return probability / (1 - probability)

    def probability(self, page: Page) -> float:
        """Return how probable it is that a page is like the good ones, in [0.01, 0.99]."""
        self._look()
        return self.model.probability(*self._seen(page))

    def reasons(self, page: Page) -> dict[str, float]:
        """Return the contributions of words, numbers and topics, see `PageModel.contributions`."""
        return self.model.contributions(*self._seen(page))

    def _seen(self, page: Page) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
        near = {name: test.judge(page, page.media).score for name, test in self._nearness.items()}
        return page_terms(page), page_numbers(page), near

    def _look(self) -> None:
        now, path = time.monotonic(), self.model.path
        if path is None or now - self._looked_at < _BETWEEN_LOOKS:
            return
        self._looked_at = now
        try:
            stat = path.stat()
            if (stat.st_mtime_ns, stat.st_size) == self.model.stamp:
                return
            model = PageModel.load(path)
            self._nearness = _nearness(model)
        except (OSError, TopicError) as error:
            logger.warning("%s; the crawl continues with what it knows", error)
            return
        self.model = replace(model, name=self.model.name)
        logger.info("%s was learnt again: pages are judged by it from now on", path)


def _nearness(model: PageModel) -> dict[str, TopicTest]:
    """Return the tests for the topics that a model looks at."""
    return {name: TopicTest(load_topic(name), MEDIA_KINDS) for name in model.topics}


def _fields(page: Page) -> Iterator[tuple[str, str]]:
    """Yield the fields of a page that hold text, by the names of `FIELD_WEIGHTS`."""
    names = _names_of_site(page)
    fields = {
        "title": _without(names, [*map(str.strip, _BETWEEN_PARTS.split(page.title))], " | "),
        "headings": _without(names, page.headings.split("\n"), "\n"),
        "keywords": page.keywords,
        "description": page.description,
        "groups": "\n".join(dict.fromkeys(group.title for group in page.groups)),
        "url": url_text(page.url),
        "text": page.text,
    }
    return ((name, text) for name, text in fields.items() if text.strip())


def _names_of_site(page: Page) -> set[str]:
    """Return the texts of links to the site's front page, in lower case; none on that page."""
    front = urljoin(page.url, "/")
    if page.url == front:
        return set()
    return {_plain(link.anchor) for link in page.links if link.url == front}


def _without(names: Collection[str], parts: Sequence[str], between: str) -> str:
    """Return the parts of a text that are no names of the site; all of them if there are no others.

    The site's name stands on each of its pages, and says of none what it is about.
    """
    own = [part for part in parts if _plain(part) not in names]
    return between.join(own or parts)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _worth(field: str, text: str, topic: Topic) -> dict[str, float]:
    """Return the weight of each concept found in a field's text."""
    found = topic.find(text)
    if not found:
        return {}
    weight = FIELD_WEIGHTS[field]
    share = min(1.0, _ROOM[field] / len(text.encode(errors="surrogatepass")))
    often = _OFTEN if field == "text" else inf
    return {
        concept: weight * (2.0 if count * share >= often else min(1.0, count * share))
        for concept, count in found.items()
    }
