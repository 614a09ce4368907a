"""The parameters of a simulated web, and their form on a command line."""

from collections.abc import Sequence
from dataclasses import Field, dataclass, field, fields
from hashlib import blake2b
from random import Random
from typing import Any, TypeVar

from mmcrawl.errors import WebError

LANGUAGES = ("zh", "en", "mixed")
FEWEST_PAGES_PER_SITE = 50


def _number(default: float, least: float, most: float) -> Any:
    return field(default=default, metadata={"least": least, "most": most})


@dataclass(frozen=True, slots=True)
class SimulationConfig:
    """The numbers that make one simulated web differ from another.

    The same numbers give the same bytes, on every machine.
    """

    pages: int = _number(2000, FEWEST_PAGES_PER_SITE, 10_000_000)
    """Pages of all sites together, at least 50 a site."""

    sites: int = _number(4, 1, 10_000)
    """Hosts; the first ones are the largest."""

    media: float = _number(0.1, 0, 0.5)
    """Share of all pages that are relevant: on the topic and with media of their own."""

    adjacency: float = _number(0.9, 0, 1)
    """How near each other the relevant pages are.

    1: all are in the few directories of each site kept for them, where four pages in five are
    relevant. 0: every directory has the same share of them. Between: this share of them is in
    those directories, the rest is spread evenly.
    """

    tunnel: int = _number(2, 0, 10)
    """Pages off the topic to click through before each directory of media."""

    topic: float = _number(0.25, 0, 1)
    """Share of the directories without tunnels that are on the topic, with few media: on a school
    site some are, on a site of one subject nearly all."""

    noise: float = _number(0.2, 0, 1)
    """Share of the cross links of a page that lead off the topic, to another site, or nowhere. One
    in ten of them is dead. The others stay in their directory or among its like."""

    banner: float = _number(0.25, 0, 1)
    """Share of sites with an animation above each of their pages."""

    dynamic: float = _number(0.25, 0, 1)
    """Share of directories with addresses like `show.asp?id=7` in place of files."""

    flat: float = _number(0.0, 0, 1)
    """Share of sites with one directory, all of whose pages stand on one list; `adjacency` and
    `tunnel` mean nothing there."""

    menu: int = _number(0, 0, 1000)
    """Links to the first pages of a directory, the same ones on each of its pages."""

    languages: str = "mixed"
    """`zh` (in GBK and UTF-8), `en` (in UTF-8), or `mixed`: every second site is in English."""

    seed: int = _number(2009, 0, 2**63 - 1)
    """Chooses texts, links and which pages are relevant."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value, bounds = getattr(self, one.name), one.metadata
            allowed = bounds["least"] <= value <= bounds["most"] if bounds else value in LANGUAGES
            if not allowed:  # nan is not, too
                raise _refused(one, value)
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
    by_name = {one.name: one for one in fields(SimulationConfig)}
    if name not in by_name:
        known = ", ".join(by_name)
        raise WebError(f"A simulated web has no parameter {name!r}; it has {known}.")
    one = by_name[name]
    kind: Any = type(one.default)
    try:
        value: int | float | str = kind(text)
    except ValueError as error:
        raise _refused(one, text) from error
    return value


def _refused(one: Field[Any], value: object) -> WebError:
    if not one.metadata:
        may_be = f"one of {', '.join(LANGUAGES)}"
    elif isinstance(one.default, int):
        may_be = "a whole number from {least} to {most}".format(**one.metadata)
    else:
        may_be = "a number from {least:g} to {most:g}".format(**one.metadata)
    return WebError(f"{one.name}={value} does not describe a simulated web: it may be {may_be}.")


T = TypeVar("T")
MASK = 2**64 - 1


class Dice:
    """Choices drawn from `Random.random` alone.

    Python promises that its sequence stays the same for a seed; how `choice` or `sample` use it
    has changed before. Whatever is generated gets dice of its own, keyed by what it is, so that
    one page does not depend on which pages were made before it.
    """

    def __init__(self, *key: object) -> None:
        self.share = Random("\n".join(map(str, key))).random  # noqa: S311

    def chance(self, share: float) -> bool:
        """True in `share` (0..1) of all throws."""
        return self.share() < share

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self.share() * (high - low + 1))

    def pick(self, values: Sequence[T]) -> T:
        return values[self.number(0, len(values) - 1)]

    def sample(self, values: Sequence[T], count: int) -> list[T]:
        """`count` different values in random order; all of them when there are no more."""
        left = list(values)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(min(count, len(left)))]


class QuickDice(Dice):
    """Dice drawn from SplitMix64 in place of a Mersenne twister.

    Making the latter costs ten times what is drawn from it here: each title on a list page has dice
    of its own. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
    OOPSLA 2014.
    """

    def __init__(self, *key: object) -> None:
        digest = blake2b("\n".join(map(str, key)).encode(), digest_size=8).digest()
        self._state = int.from_bytes(digest, "big")

    def share(self) -> float:
        """A number from 0 to less than 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
        return ((mixed ^ (mixed >> 31)) >> 11) / 2**53
