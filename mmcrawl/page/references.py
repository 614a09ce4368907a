"""What a page refers to as it is written there, before URLs are resolved; and what names it."""

from collections.abc import Callable
from dataclasses import dataclass

from mmcrawl.page.groups import Run

LONGEST_CAPTION = 200
# Elements whose text is a caption of the media that their attributes name.
CAPTIONED = frozenset(
    "a b button dd dt em h1 h2 h3 h4 h5 h6 i label li p span strong summary td th".split()
)


@dataclass(slots=True)
class Reference:
    """One reference in the source, to a page or to a media file.

    Attributes:
        href: As written.
        tag: As in :class:`Link` and :class:`MediaResource`.
        text: The words that come with it.
        run: The run of links it stands in.
        nofollow: Whether its ``rel`` asks not to follow it.
        mime: Declared type, if any.
        file_name: Under which a link asks to save what it leads to.
        kind: What it is when neither URL nor type tells: ``<video src="stream?id=3">``.
        only_kind: Whether ``kind`` holds whatever the URL says: all in ``<audio>`` is audio.
        may_be_page: Whether it is a link to follow when it is no media file.
        tag_path: As in :class:`Link`.
        is_player: Whether a file name in a query value is what it plays.
        variables: What is handed to a Flash movie besides its query.
        is_banner: Whether its element is much wider than high.
        medium: What the references to other addresses of one medium have in common; 0 for none.
        is_page: Whether the page itself is meant: a simulation that is drawn on it.
    """

    href: str
    tag: str
    text: str = ""
    run: Run | None = None
    nofollow: bool = False
    mime: str | None = None
    file_name: str = ""
    kind: str | None = None
    only_kind: bool = False
    may_be_page: bool = False
    is_player: bool = False
    tag_path: str = ""
    variables: str = ""
    is_banner: bool = False
    medium: int = 0
    is_page: bool = False


class Captions:
    """Takes the text of open elements, and gives it to references that have none.

    Args:
        references: Of the page so far.
    """

    def __init__(self, references: list[Reference]) -> None:
        self._references = references
        self._labels: list[tuple[list[str], list[Reference]]] = []
        self._figures: list[int] = []
        self._figure_text: list[str] | None = None

    def data(self, text: str) -> None:
        """Take text of the page."""
        for pieces, _ in self._labels:
            pieces.append(text)

    def figure_data(self, text: str) -> None:
        """Take text that is no link's."""
        if self._figure_text is not None:
            self._figure_text.append(text)

    def open_for(self, references: list[Reference]) -> Callable[[], None]:
        """Begin to collect the caption of some references; return what to do at its end."""
        self._labels.append(([], references))
        return self._close

    def _close(self) -> None:
        pieces, references = self._labels.pop()
        _name(references, collapsed(pieces))

    def open_figure(self) -> Callable[[], None]:
        self._figures.append(len(self._references))
        return self._close_figure

    def open_figure_caption(self) -> None:
        if self._figures:
            self._figure_text = []

    def _close_figure(self) -> None:
        start = self._figures.pop()
        if self._figure_text is None:
            return
        caption, self._figure_text = collapsed(self._figure_text), None
        _name(self._references[start:], caption)


def collapsed(pieces: list[str]) -> str:
    """Return pieces of text as one line of at most `LONGEST_CAPTION` characters."""
    return " ".join("".join(pieces).split())[:LONGEST_CAPTION]


def _name(references: list[Reference], text: str) -> None:
    for reference in references:
        reference.text = reference.text or text
