"""What is read of a SWF file."""

from dataclasses import dataclass

MOVIE, DATA, SOUND, VIDEO, IMAGE, PAGE = "movie", "data", "sound", "video", "image", "page"


@dataclass(frozen=True, slots=True)
class Reference:
    """An address that an animation names.

    Attributes:
        url: as written, relative or absolute.
        kind: what it is loaded as: ``movie``, ``data``, ``sound``, ``video``, ``image``; ``page``
            for what a click opens in the browser.
        is_loaded: whether a command that loads it names it; otherwise it is a text in the program
            that looks like the address of a file.
    """

    url: str
    kind: str
    is_loaded: bool


@dataclass(frozen=True, slots=True)
class SwfFacts:
    """What an animation says of itself.

    Attributes:
        version: of Flash that it needs.
        width, height: of the stage in pixels.
        frame_rate: frames a second.
        frames: of the main time line.
        actionscript: 3 or 2 (which stands for 1, too); 0 if it has no program.
        title, description, creator, language, date: from its metadata, "" for none.
        references: the other files it names, each once, those that are loaded first.
        is_whole: whether it could be read to its end.
    """

    version: int
    width: float
    height: float
    frame_rate: float
    frames: int
    actionscript: int = 0
    title: str = ""
    description: str = ""
    creator: str = ""
    language: str = ""
    date: str = ""
    references: tuple[Reference, ...] = ()
    is_whole: bool = True

    @property
    def seconds(self) -> float:
        """How long the main time line plays; 0 where it stands still or no rate is given."""
        return self.frames / self.frame_rate if self.frames > 1 and self.frame_rate else 0.0
