"""Which hosts are promising, by what stored pages show of them.

A host's score adds, each as log(1 + n) so that the first say most:

* 2 for its stored pages that are on topic and hold wanted media,
* 1 for those on topic without,
* 1 for links to it whose own words fit the topic, counted once a page,
* ½ for the other sites whose pages on topic link to it,
* ½ for its known addresses whose words fit;

and ½ if a person proposed it. Hosts that everybody links to (share buttons, advertisements) are
told by links whose words never fit: votes count by the share of links that fit, with two in doubt.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from math import log1p

from mmcrawl.frontier.addresses import host_of, is_private_host
from mmcrawl.page.model import Link, Page
from mmcrawl.page.urls import physical_layer
from mmcrawl.scoring.relevance import TopicTest
from mmcrawl.text.resources import split_host
from mmcrawl.text.url_words import url_text

_MOST_HOSTS = 200_000
_MOST_VOTERS = 100  # sites that are told apart
_DOUBT = 2


@dataclass(slots=True)
class _Seen:
    """What was seen of a host."""

    pages: int = 0
    on_topic: int = 0
    good: int = 0
    links: int = 0
    fitting: int = 0
    addresses: int = 0
    proposed: bool = False
    voters: set[str] = field(default_factory=set)
    anchor: str = ""
    best: tuple[int, int, str] = (0, 0, "")  # fitting concepts, −directories, address


@dataclass(frozen=True, slots=True)
class Candidate:
    """A host that may be worth a crawl.

    Attributes:
        url: where to begin: the address that promises most.
        host: its host.
        score: see the module; 0 for one of which nothing is known.
        reasons: why, a clause each, the weightiest first.
        known: how many of its pages are stored.
    """

    url: str
    host: str
    score: float
    reasons: tuple[str, ...]
    known: int


class Candidates:
    """Gathers what sources tell of hosts.

    Args:
        test: tells which pages are relevant.
        without: hosts that are known already and left out.
    """

    def __init__(self, test: TopicTest, without: Collection[str] = ()) -> None:
        self._test = test
        self._without = frozenset(without)
        self._seen: dict[str, _Seen] = {}
        self.left_out = 0
        """Pages and links of hosts beyond the first 200,000."""

    def page(self, page: Page) -> None:
        """Take in a stored page, and its links to other hosts."""
        own = host_of(page.url)
        verdict = self._test.judge(page, page.media)
        on_topic = self._test.on_topic(page.url, verdict.score)
        if seen := self._of(own):
            seen.pages += 1
            seen.on_topic += on_topic
            seen.good += verdict.relevant
            if on_topic:
                self._propose(seen, page.url, 3 + verdict.relevant)
        told: set[str] = set()
        for link in page.links:
            host = host_of(link.url)
            if host == own or (seen := self._of(host)) is None:
                continue
            fits = self._fit(link)
            if fits:
                self._propose(seen, link.url, fits)
            if host not in told:
                told.add(host)
                self._vote(seen, link, own if on_topic else "", fits=bool(fits))

    def address(self, link: Link) -> None:
        """Take in an address of which no page is stored."""
        fits = self._fit(link)
        seen = self._of(host_of(link.url)) if fits else None
        if seen is not None:
            seen.addresses += 1
            self._propose(seen, link.url, fits)

    def candidate(self, url: str) -> None:
        """Take in an address that a person proposes."""
        if seen := self._of(host_of(url)):
            seen.proposed = True
            self._propose(seen, url, 100)

    def ranked(self, most: int = 0) -> list[Candidate]:
        """Return the promising hosts, the best first.

        Args:
            most: how many, 0 for all.
        """
        made = (_judged(host, seen) for host, seen in self._seen.items())
        good = [one for one in made if one.score > 0]
        good.sort(key=lambda one: (-one.score, one.host))
        return good[: most or None]

    def _of(self, host: str) -> _Seen | None:
        if not host or host in self._without or is_private_host(host):
            return None
        seen = self._seen.get(host)
        if seen is None:
            if len(self._seen) >= _MOST_HOSTS:
                self.left_out += 1
                return None
            seen = self._seen[host] = _Seen()
        return seen

    def _fit(self, link: Link) -> int:
        """Return how many concepts of the topic the words of a link name."""
        return len(self._test.topic.find(f"{link.anchor}\n{url_text(link.url)}"))

    def _vote(self, seen: _Seen, link: Link, voter: str, *, fits: bool) -> None:
        seen.links += 1
        if voter and len(seen.voters) < _MOST_VOTERS:
            seen.voters.add(split_host(voter).top_domain_under_public_suffix or voter)
        if fits:
            seen.fitting += 1
            seen.anchor = seen.anchor or link.anchor

    def _propose(self, seen: _Seen, url: str, fits: int) -> None:
        """Let an address be where a crawl of the host begins, if none before promised as much."""
        seen.best = max(seen.best, (fits, -physical_layer(url), url))


def _judged(host: str, seen: _Seen) -> Candidate:
    share = (seen.fitting + _DOUBT) / (seen.links + _DOUBT)
    terms = [(worth, why) for worth, why in _terms(seen, share) if worth > 0]
    terms.sort(key=lambda term: -term[0])
    url = seen.best[2] or f"http://{host}/"
    reasons = tuple(why for _, why in terms)
    return Candidate(url, host, sum(worth for worth, _ in terms), reasons, seen.pages)


def _terms(seen: _Seen, share: float) -> Iterator[tuple[float, str]]:
    plain = seen.on_topic - seen.good
    said = f", e.g. “{seen.anchor[:60]}”" if seen.anchor else ""
    sites = len(seen.voters)
    yield 2 * log1p(seen.good), f"{seen.good} of {seen.pages} stored pages on topic with media"
    yield log1p(plain), f"{plain} of {seen.pages} on topic without media"
    yield log1p(seen.fitting), f"{seen.fitting} of {seen.links} links to it fit the topic{said}"
    yield share * 0.5 * log1p(sites), f"pages on topic of {sites} other sites link to it"
    yield 0.5 * log1p(seen.addresses), f"{seen.addresses} of its addresses fit the topic"
    yield 0.5 * seen.proposed, "proposed"


ALIVE, REDIRECTS, FORBIDDEN, DEAD = "alive", "redirects", "robots.txt forbids it", "dead"


@dataclass(frozen=True, slots=True)
class CheckedSeed:
    """A seed and what is known of it now.

    Attributes:
        url: as the list has it.
        state: `alive`, `redirects` to another address, `robots.txt forbids it`, or `dead`.
        target: where it redirects to, "" for nowhere.
        reason: why it is dead, "" if it is not.
        status: of HTTP, 0 if nothing was answered.
        language: of its page, as declared; "" if nothing is.
        title: of its page.
        links: on its page.
        media: on its page.
        listed: pages of its host by its sitemaps; None if it has none, or they cannot be read.
        more: whether there are more than were counted.
        delay: seconds its robots.txt asks to wait between requests, None if it says nothing.
    """

    url: str
    state: str
    target: str = ""
    reason: str = ""
    status: int = 0
    language: str = ""
    title: str = ""
    links: int = 0
    media: int = 0
    listed: int | None = None
    more: bool = False
    delay: float | None = None

    @property
    def is_good(self) -> bool:
        """Whether a crawl can start there."""
        return self.state in {ALIVE, REDIRECTS}
