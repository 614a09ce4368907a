"""How a simulated web is made, and how its parameters are written on a command line."""

from dataclasses import dataclass, fields
from math import isfinite

from mmcrawl.errors import WebError

LANGUAGES = ("zh", "en", "mixed")
FEWEST_PAGES_PER_SITE = 50
WHOLE = {
    "pages": (FEWEST_PAGES_PER_SITE, 10_000_000),
    "sites": (1, 10_000),
    "tunnel": (0, 10),
    "seed": (0, 2**63 - 1),
}
SHARES = {
    "media": (0.0, 0.5),
    "adjacency": (0.0, 1.0),
    "noise": (0.0, 1.0),
    "banner": (0.0, 1.0),
    "dynamic": (0.0, 1.0),
}


@dataclass(frozen=True, slots=True)
class SimulationConfig:
    """The numbers that make one simulated web differ from another.

    The same numbers give the same bytes, on every machine.

    Raises:
        WebError: A value is out of its range, or there are too few pages for the sites.
    """

    pages: int = 2000
    """Pages of all sites together, 50 to 10,000,000, at least 50 a site."""

    sites: int = 4
    """Hosts, 1 to 10,000; the first ones are the largest."""

    media: float = 0.1
    """Share of all pages that are relevant: on the topic and with media of their own, 0 to 0.5."""

    adjacency: float = 0.9
    """How near each other the relevant pages are, 0 to 1.

    1: all are in the few directories of each site kept for them, where four pages in five are
    relevant. 0: every directory has the same share of them. Between: this share of them is in
    those directories, the rest is spread evenly.
    """

    tunnel: int = 2
    """Pages off the topic to click through before each directory of media, 0 to 10."""

    noise: float = 0.2
    """Share of the cross links of a page that lead off the topic, to another site, or nowhere,
    0 to 1. One in ten of them is dead. The others stay in their directory or among its like."""

    banner: float = 0.25
    """Share of sites with an animation above each of their pages, 0 to 1."""

    dynamic: float = 0.25
    """Share of directories with addresses like `show.asp?id=7` in place of files, 0 to 1."""

    languages: str = "mixed"
    """`zh` (in GBK and UTF-8), `en` (in UTF-8), or `mixed`: every second site is in English."""

    seed: int = 2009
    """Chooses texts, links and which pages are relevant; 0 or more."""

    def __post_init__(self) -> None:
        for name, (low, high) in (*WHOLE.items(), *SHARES.items()):
            value = getattr(self, name)
            if not low <= value <= high:
                raise _refused(name, value)
        if self.languages not in LANGUAGES:
            raise _refused("languages", self.languages)
        if self.pages < FEWEST_PAGES_PER_SITE * self.sites:
            raise WebError(
                f"{self.pages} pages are too few for {self.sites} sites:"
                f" give at least {FEWEST_PAGES_PER_SITE} a site."
            )

    @classmethod
    def parse(cls, text: str) -> "SimulationConfig":
        """Read parameters as `NAME=VALUE,NAME=VALUE`; the ones left out keep their defaults.

        >>> SimulationConfig.parse("pages=5000, tunnel=1").tunnel
        1

        Raises:
            WebError: A name is unknown or given twice, or a value is not what it may be.
        """
        given: dict[str, int | float | str] = {}
        for part in filter(None, map(str.strip, text.split(","))):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals:
                raise WebError(f"{part!r} is no parameter of a simulated web: give NAME=VALUE.")
            if name in given:
                raise WebError(f"The parameter {name!r} of the simulated web is given twice.")
            given[name] = _value(name, value)
        return cls(**given)  # type: ignore[arg-type]


def _value(name: str, text: str) -> int | float | str:
    try:
        if name in WHOLE:
            return int(text)
        if name in SHARES:
            return _share(text)
    except ValueError as error:
        raise _refused(name, text) from error
    if name == "languages":
        return text
    known = ", ".join(field.name for field in fields(SimulationConfig))
    raise WebError(f"A simulated web has no parameter {name!r}; it has {known}.")


def _share(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(text)
    return value


def _refused(name: str, value: object) -> WebError:
    if name == "languages":
        may_be = f"one of {', '.join(LANGUAGES)}"
    elif name in WHOLE:
        may_be = "a whole number from {} to {}".format(*WHOLE[name])
    else:
        may_be = "a number from {:g} to {:g}".format(*SHARES[name])
    return WebError(f"{name}={value} does not describe a simulated web: it may be {may_be}.")
