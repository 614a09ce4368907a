"""What a page refers to as it is written there, before URLs are resolved."""

from dataclasses import dataclass

from mmcrawl.page.groups import Run


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
