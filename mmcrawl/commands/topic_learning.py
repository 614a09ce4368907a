"""`scrapy topic learn`: makes a topic from examples."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.opening import open_archive
from mmcrawl.commands.base import OVERWRITE, Option, archive_params, console_of, store_named, whole
from mmcrawl.commands.terminal.tables import facts_table, literal
from mmcrawl.errors import MissingStoreError, MmcrawlError, StoreError
from mmcrawl.learning.examples import Example, Examples, is_address, read_examples, sampled
from mmcrawl.learning.training import Lesson, learn
from mmcrawl.media.parts import folder_of
from mmcrawl.settings import SettingsLike, value_of
from mmcrawl.text.writing import counted, printable
from mmcrawl.topic.loading import LEARNT, learnt_file
from mmcrawl.topic.page_model import PageModel
from mmcrawl.works.catalogue import open_catalogue
from mmcrawl.works.collections import Marks

_UNLABELLED = 200
_MOST_PROBLEMS = 5  # that are named; of others only how many there are
_SHOWN_WORDS = 20

Say = Callable[[object], None]


LEARNING = (
    *(
        Option(
            f"--{name}",
            action="append",
            default=[],
            metavar="PAGES",
            help=f"pages that are {what}: an address in the archive, a file of HTML, a folder with"
            " such files, or a text file with one of these a line; may be repeated",
        )
        for name, what in (("good", "right"), ("bad", "wrong"))
    ),
    Option(
        "--unlabelled",
        type=partial(whole, least=10, most=10_000),
        default=_UNLABELLED,
        metavar="N",
        help="without --bad: pages of the archive drawn by chance to compare with"
        f" (default: {_UNLABELLED})",
    ),
    OVERWRITE,
)


def learning(
    name: str, opts: argparse.Namespace, settings: SettingsLike, say: Say
) -> Callable[[], None]:
    """Check the arguments of `learn`; return a function that does it."""
    path = Path(opts.output).expanduser() if opts.output else learnt_file(name)
    learnt_file(name)  # is it a name?
    if path.suffix != LEARNT:
        raise MmcrawlError(f"-o {path}: the file of a learnt topic ends in {LEARNT}")
    if not opts.good and not opts.marks:
        raise MmcrawlError("--good PAGES is missing: pages that are right; or --marks")
    catalogue = None
    if opts.marks:
        store = store_named(opts.store)
        catalogue = store, folder_of(store, value_of(settings, "MMCRAWL_MEDIA"))

    def do() -> None:
        former = PageModel.load(path) if opts.marks and path.is_file() else None
        named = _with_marks(name, catalogue, former, opts) if catalogue else (opts.good, opts.bad)
        lesson = _learnt(name, named, opts, settings, say=say)
        lesson.model.save(path)
        console_of().print(lesson_shown(lesson, path, name))

    return do


def _learnt(
    name: str,
    named: tuple[list[str], list[str]],
    opts: argparse.Namespace,
    settings: SettingsLike,
    *,
    say: Say,
) -> Lesson:
    good, bad = named
    with _archive_for([*good, *bad], opts, settings, needed=not bad) as archive:
        right = _read(good, archive, "good", say)
        wrong = _read(bad, archive, "bad", say)
        drawn = () if wrong.pages else _drawn(archive, opts.unlabelled, right)
        return learn(name, right.pages, wrong.pages, drawn)


def _read(named: Sequence[str], archive: Archive | None, what: str, say: Say) -> Examples:
    found = read_examples(named, archive)
    for problem in found.problems[:_MOST_PROBLEMS]:
        say(f"{what} page skipped: {problem}")
    if (more := len(found.problems) - _MOST_PROBLEMS) > 0:
        say(f"{more} more {what} pages could not be read")
    return found


def _drawn(archive: Archive | None, most: int, right: Examples) -> list[Example]:
    if archive is None:
        return []
    return list(sampled(archive, most, without=right.names()))


def _with_marks(
    name: str, catalogue: tuple[str, Path], former: PageModel | None, opts: argparse.Namespace
) -> tuple[list[str], list[str]]:
    """Return the examples, those the topic was learnt from before, and the pages that are marked.

    A mark outweighs what was said before.
    """
    good, bad = list(opts.good), list(opts.bad)
    if former is not None:
        good, bad = [*good, *former.good], [*bad, *former.bad]
    try:
        with open_catalogue(*catalogue, create=False) as opened:
            marks = {mark.url: mark.is_good for mark in Marks(opened).of(name)}
    except MissingStoreError:
        marks = {}
    if not marks and not good:
        raise MmcrawlError(
            f"no page is marked for {name!r}; mark some in `scrapy browse`, or give --good PAGES"
        )
    kept = [[one for one in names if one not in marks] for names in (good, bad)]
    return (
        [*kept[0], *(url for url, is_good in marks.items() if is_good)],
        [*kept[1], *(url for url, is_good in marks.items() if not is_good)],
    )


@contextmanager
def _archive_for(
    named: Sequence[str], opts: argparse.Namespace, settings: SettingsLike, *, needed: bool
) -> Iterator[Archive | None]:
    """Open the archive for reading; None if there is none and it is not needed."""
    told = bool(opts.store or opts.archive)
    uri = archive_params(opts, settings).archive_uri or ""
    try:
        opened = open_archive(uri, create=False, read_only=True)
    except StoreError as error:
        if told or any(map(is_address, named)):
            raise
        if needed:
            raise MmcrawlError(
                "--bad PAGES is missing, and there is no archive with other pages to compare with;"
                " give --bad or --store"
            ) from error
        yield None
        return
    with opened as archive:
        yield archive


# -- what is printed ------------------------------------------------------------------------


def lesson_shown(lesson: Lesson, path: Path, name: str) -> RenderableType:
    """Return the result of learning, as it is printed."""
    heading = Text(f"{name} is learnt: {path}", style="bold")
    parts: list[RenderableType] = [heading, facts_table(_facts(lesson))]
    parts += [Text(f"Note: {caution}.", style="yellow") for caution in lesson.cautions]
    named = name if path == learnt_file(name) else path
    parts.append(
        literal(f"scrapy crawl focused -a topic={named} …  or with words: -a topic={named},NAME")
    )
    return Group(*parts)


def _facts(lesson: Lesson) -> Iterator[tuple[str, str]]:
    taken = " that were taken for bad ones" if lesson.taken_as_bad else ""
    yield "good pages", f"{lesson.good} of {counted(lesson.good_sites, 'site')}"
    yield "bad pages", f"{lesson.bad} of {counted(lesson.bad_sites, 'site')}{taken}"
    what = "whole sites" if lesson.by_site else "pages"
    yield "tried on", f"{what} left out in training, {lesson.folds} times"
    for title, rate in (("precision", lesson.precision), ("recall", lesson.recall)):
        yield title, f"{rate.value:.0%}  (95 %: {rate.low:.0%} to {rate.high:.0%})"
    yield "average precision", f"{lesson.average_precision:.2f}"
    for title, words in (("words for it", lesson.words), ("words against it", lesson.against)):
        yield title, printable(", ".join(word.word for word in words[:_SHOWN_WORDS]))
