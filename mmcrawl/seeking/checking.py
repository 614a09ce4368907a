"""What a seed turned out to be when it was asked once, before a long crawl."""

from dataclasses import dataclass

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
