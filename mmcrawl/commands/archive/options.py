"""What a user asks of `scrapy archive`, checked."""

import argparse
from dataclasses import dataclass, field

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Version
from mmcrawl.archive.revisits import RevisitRules
from mmcrawl.blocks.kinds import KINDS
from mmcrawl.crawling.archive_params import as_time


@dataclass
class Options:
    """What the user asked for, checked.

    Attributes:
        args: What follows the subcommand.
        numbers: Of the two versions that are compared, none for the last two.
        at, since, until, before: Unix seconds.
        skip: Hits that are left out at the beginning.
        near: In (0, 1].
        rules: Bounds of the time between two visits.
        uri: Of the archive.
        others: As the options of their names.
    """

    args: list[str]
    numbers: tuple[int, ...] = ()
    at: float | None = None
    version: int | None = None
    body: bool = False
    kinds: tuple[str, ...] = ()
    all: bool = False
    output: str = ""
    limit: int | None = None
    repair: bool = False
    host: str | None = None
    url: str | None = None
    since: float | None = None
    until: float | None = None
    before: float | None = None
    yes: bool = False
    order: str = "relevance"
    skip: int | None = None
    collapse: bool = False
    near: float | None = None
    bodies: bool = False
    json: bool = False
    rules: RevisitRules = field(default_factory=RevisitRules)
    uri: str = ""

    @classmethod
    def read(cls, name: str, args: list[str], opts: argparse.Namespace) -> "Options":
        """Take over what was given to a subcommand.

        Raises:
            ValueError: a value is not understood.
        """
        kinds = tuple(kind.strip() for kind in (opts.kinds or "").split(",") if kind.strip())
        unknown = [kind for kind in kinds if kind not in KINDS]
        if unknown:
            raise ValueError(f"--kinds {unknown[0]}: there is none; there are {', '.join(KINDS)}")
        since, until = _time(opts.since, "--since"), _time(opts.until, "--until")
        if since is not None and until is not None and since >= until:
            raise ValueError(f"--since {opts.since} is not before --until {opts.until}")
        numbers = [_whole(text, "version") or 0 for text in args[1:]] if name == "diff" else []
        return cls(
            args=args,
            numbers=tuple(numbers),
            at=_time(opts.at, "--at"),
            version=_whole(opts.version, "--version"),
            body=opts.body,
            kinds=kinds,
            all=opts.all,
            output=opts.output or "",
            limit=_whole(opts.limit, "--limit"),
            repair=opts.repair,
            host=opts.host.lower() if opts.host else None,
            url=opts.url,
            since=since,
            until=until,
            before=_time(opts.before, "--before"),
            yes=opts.yes,
            order=opts.order or "relevance",
            skip=_whole(opts.skip, "--skip"),
            collapse=opts.collapse,
            near=_share(opts.near, "--near"),
            bodies=opts.bodies,
            json=opts.json,
        )

    def found(self, archive: Archive) -> Version:
        """Return the version of the URL that is meant."""
        if self.version is not None:
            return archive.version(self.args[0], self.version)
        return archive.get(self.args[0], self.at)


def _time(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    try:
        return as_time(text)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


def _whole(text: str | None, option: str) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or int(text[:9]) < 1:
        raise ValueError(f"{option} {text}: give a whole number from 1")
    return int(text)


def _share(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise ValueError(f"{option} {text}: give a number above 0 and at most 1, as 0.8")
    return value
