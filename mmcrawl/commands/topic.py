"""`scrapy topic`: topics, their words, and why a page fits.

`list`, `show NAME`, `find WORD`, `score PAGE`; `learn NAME` makes a topic from examples.
"""

import argparse
import mimetypes
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text
from scrapy.commands import ScrapyCommand

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.opening import open_archive
from mmcrawl.commands.base import (
    OVERWRITE,
    MmcrawlCommand,
    Option,
    Subcommand,
    archive_params,
    console_of,
    flag,
    store_named,
    whole,
)
from mmcrawl.commands.terminal.files import NoPageError
from mmcrawl.commands.terminal.tables import facts_table, folded, literal, plain_table, right
from mmcrawl.crawl.spider_params import parse_kinds
from mmcrawl.errors import MissingStoreError, MmcrawlError, StoreError, TopicError
from mmcrawl.learning.examples import Example, Examples, is_address, read_examples, sampled
from mmcrawl.learning.training import Lesson, learn
from mmcrawl.media.parts import folder_of
from mmcrawl.page.media import media_kind
from mmcrawl.page.model import Page
from mmcrawl.page.parse import parse_page
from mmcrawl.scoring.relevance import FIELD_WEIGHTS, LearntTest, TopicTest, Verdict
from mmcrawl.settings import SettingsLike, value_of
from mmcrawl.text import url_words
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS
from mmcrawl.text.writing import counted, printable
from mmcrawl.topic.loading import (
    LEARNT,
    learnt_file,
    load_topic,
    load_topics,
    own_topic_names,
    topic_from_keywords,
    topic_names,
)
from mmcrawl.topic.page_model import PageModel
from mmcrawl.topic.topic import Topic
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

_MOST_TOPICS = 5
_MOST_REASONS = 12
_PLAIN_TYPES = ("text/plain", "text/xml", "application/xml")
_NO_PAGES = ("audio/", "video/", "image/", "application/pdf", "application/zip")
_BY_ITSELF = (
    "This is the page by itself: a crawl leaves out media that stand on most pages of a site."
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
        lesson = _learn(name, named, opts, settings, say=say)
        lesson.model.save(path)
        console_of().print(lesson_shown(lesson, path, name))

    return do


def _learn(
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
    """Return the examples: named ones, those learnt from before, and marked ones, which win."""
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


class Command(MmcrawlCommand, ScrapyCommand):
    """Show topics, and how a page fits them."""

    name = "topic"
    subcommands: ClassVar[Sequence[Subcommand]] = (
        Subcommand("list", "the topics that ship, and your own", takes=()),
        Subcommand("show", "words of a topic", "NAME", takes=()),
        Subcommand("find", "topics that contain a word", "WORD", takes=()),
        Subcommand(
            "score",
            "why a page is on a topic or not",
            "URL-or-file",
            (Option("--url", default="", help="address of a page that is given as a file"),),
            takes=("topic", "keywords", "media", "web"),
            fetches=True,
        ),
        Subcommand(
            "learn",
            "make a topic of pages that are right, and of those that are wrong",
            "NAME",
            (
                *LEARNING,
                Option(
                    *("-o", "--output"),
                    target=True,
                    help="file of the topic, ending in .topic.json",
                ),
                flag("--marks", "also from the pages marked in `scrapy browse`"),
            ),
            takes=("store", "archive"),
        ),
    )
    arguments = ("topic", "keywords", "media", "web", "store", "archive")

    def code_of(self, error: MmcrawlError) -> int:
        return 1 if isinstance(error, NoPageError) else 2

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], int | None]:
        name, word = self.chosen.name, "".join(words)
        if name == "learn":
            return learning(word, opts, self.settings, self.say)  # type: ignore[arg-type]
        if name == "list":
            return self._list
        return lambda: console_of(120).print(self._shown(name, word, opts))

    def _shown(self, name: str, word: str, opts: argparse.Namespace) -> RenderableType:
        if name == "show":
            return _description(load_topic(word))
        if name == "find":
            return _places_of(word)
        threshold = self.setting("MMCRAWL_TOPIC_THRESHOLD")
        topics = _topics(opts)
        return _explanation(self._page(word, opts), topics, threshold)

    def _list(self) -> int:
        """Print a table of all topics; name those that cannot be read, and return 2."""
        topics, code = [], 0
        for name in (*topic_names(), *own_topic_names()):
            try:
                topics.append(load_topic(name))
            except TopicError as error:
                code = self.code_of(error)
                self.say(error)
        console_of(120).print(_topic_table(topics))
        return code

    def _page(self, name: str, opts: argparse.Namespace) -> Page:
        from mmcrawl.commands.fetching import HTML_TYPES, page_named  # slow to load

        declared = mimetypes.guess_type(name)[0] or "text/html"
        if os.path.isfile(os.path.expanduser(name)) and (
            media_kind(name) or declared.startswith(_NO_PAGES)
        ):
            raise NoPageError(f"{name}: no page: {declared}")
        page = page_named(self, name, opts, (*HTML_TYPES, *_PLAIN_TYPES))
        return parse_page(
            page.body,
            page.url or "http://localhost/",
            page.content_type or ("" if page.headers else declared),
        )


def _topics(opts: argparse.Namespace) -> list[Topic]:
    """Return the topics to score for, with the words for the wanted media kinds."""
    try:
        kinds = parse_kinds(opts.media or ",".join(MEDIA_KINDS))
    except ValueError as error:
        raise MmcrawlError(f"--media: {error}; there are {', '.join(MEDIA_KINDS)}") from None
    if opts.keywords:
        topics = [topic_from_keywords(opts.keywords)]
    elif opts.topic:
        topics = [load_topics(opts.topic)]
    else:
        topics = [load_topic(name) for name in topic_names()]
    return [topic.wanting(kinds) for topic in topics]


def _with_words(topics: list[Topic]) -> list[str]:
    """Return the kinds of media for which some topic has its own words."""
    return [kind for kind in MEDIA_KINDS if any(topic.media.get(kind) for topic in topics)]


def _topic_table(topics: list[Topic]) -> RenderableType:
    kinds = _with_words(topics)
    table = plain_table(
        Column("name", style="cyan", no_wrap=True),
        *(Column(name, no_wrap=True) for name in ("topic", "in English")),
        *map(right, ("concepts", *kinds)),
    )
    for topic in topics:
        counts = [len(topic.terms), *(len(topic.wanting([kind]).terms) for kind in kinds)]
        table.add_row(topic.name, topic.title, topic.title_en, *map(str, counts))
    usage = (
        "Use one with -a topic=NAME[,NAME]. Below a kind of media: the concepts that count with"
        " -a media=KIND."
    )
    return Group(table, Text(usage, style="dim"))


def _places_of(word: str) -> RenderableType:
    """Return in which topics a word stands, and for which media it counts."""
    topics = [load_topic(name) for name in topic_names()]
    kinds = _with_words(topics)
    ticked = (Column(kind, justify="center") for kind in kinds)
    name = Column("topic", style="cyan", no_wrap=True)
    table = plain_table(name, "in English", *ticked, folded("concepts"))
    for topic in topics:
        found = {kind: topic.wanting([kind]).concepts_in(word) for kind in kinds}
        if concepts := sorted(frozenset[str]().union(*found.values())):
            ticks = ("✓" if found[kind] else "" for kind in kinds)
            table.add_row(topic.name, topic.title_en, *ticks, literal(", ".join(concepts)))
    return table if table.rows else literal(f"No topic that ships contains {word}.")


def _description(topic: Topic) -> RenderableType:
    parts: list[RenderableType] = [
        Text.assemble((f"{topic.title}  {topic.title_en}", "bold"), f"  ({topic.name})"),
        Text(f"Source: {topic.source}", style="dim"),
    ]
    sections = {
        "words that name the subject": topic.subject_words,
        "words that say the topic": topic.concepts,
    }
    sections |= {f"only when {kind} is wanted": topic.media.get(kind, ()) for kind in MEDIA_KINDS}
    for title, concepts in sections.items():
        if concepts:
            parts.append(Text(f"\n{title} ({len(concepts)})", style="bold"))
            parts += [Text("  " + " | ".join(concept)) for concept in concepts]
    for model in topic.learnt:
        parts += _learnt(model)
    return Group(*parts)


def _learnt(model: PageModel) -> list[RenderableType]:
    """Return the facts about a learnt topic."""
    facts = model.facts
    lines = [
        f"learnt from {len(model.good)} good and {facts['bad'] or len(model.bad):.0f} bad pages",
        f"precision {facts['precision']:.0%}, recall {facts['recall']:.0%}, average precision"
        f" {facts['average_precision']:.2f}, on {facts['left_out']} left out in training",
        f"words that speak for a page: {', '.join(facts['words'])}",
        f"words that speak against it: {', '.join(facts['against'])}",
    ]
    return [literal(line) for line in lines]


def _explanation(page: Page, topics: list[Topic], threshold: float) -> RenderableType:
    """Return why a page is relevant to a topic, or is not; of several topics, to the nearest."""
    verdicts = [
        (topic, TopicTest(topic, topic.wanted, threshold).judge(page, page.media))
        for topic in topics
    ]
    verdicts.sort(key=lambda pair: -pair[1].score)
    parts = [_about(page), _media(page)]
    if len(verdicts) > 1:
        parts.append(_ranking(verdicts[:_MOST_TOPICS]))
    topic, verdict = verdicts[0]
    parts += [_evidence(verdict), *(_reasons(page, model) for model in topic.learnt)]
    parts.append(_conclusion(page, topic, verdict))
    return Group(*parts)


def _about(page: Page) -> RenderableType:
    words = " ".join(
        word.source if word.translation in {None, word.source} else f"{word.source}→{word.text}"
        for word in url_words(page.url)
    )
    facts = {
        "page": page.url,
        "title": page.title,
        "keywords": page.keywords,
        "description": page.description,
        "URL words": words,
        "encoding": page.encoding,
        "links": f"{len(page.links)} in {len(page.groups)} groups",
    }
    return facts_table((name, literal(value)) for name, value in facts.items())


def _media(page: Page) -> RenderableType:
    if not page.media:
        return Text("\nno audio, video or swf on this page", style="bold")
    names = (Column(name, no_wrap=True) for name in ("kind", "tag"))
    columns = (*names, Column("text", max_width=30), folded("address"))
    table = Table(*columns, title="Media", title_justify="left")
    for resource in page.media:
        table.add_row(resource.kind, resource.tag, literal(resource.text), literal(resource.url))
    return table


def _ranking(verdicts: list[tuple[Topic, Verdict]]) -> RenderableType:
    columns = (right("score"), Column("topic", style="cyan"), folded("words found"))
    table = Table(*columns, title="Nearest topics", title_justify="left")
    for topic, verdict in verdicts:
        table.add_row(f"{verdict.score:.2f}", topic.name, literal(" ".join(verdict.words)))
    return table


def _evidence(verdict: Verdict) -> RenderableType:
    columns = (right("evidence"), "word", folded("where it stands (weight)"))
    table = Table(*columns, title="Why", title_justify="left")
    for word in verdict.words:
        places = ", ".join(
            f"{field} ({FIELD_WEIGHTS[field]:g})" if field in FIELD_WEIGHTS else "all of the page"
            for field in verdict.places[word]
        )
        table.add_row(f"{verdict.evidence[word]:.2f}", literal(word), places)
    return table if verdict.words else Text("this page contains no word of the topic")


def _reasons(page: Page, model: PageModel) -> RenderableType:
    """Return the strongest evidence on a page for a learnt topic."""
    test = LearntTest(model)
    adding = sorted(test.reasons(page).items(), key=lambda pair: -abs(pair[1]))
    told = ", ".join(f"{name} {value:+.2f}" for name, value in adding[:_MOST_REASONS])
    return literal(f"≈{model.name}: probability {test.probability(page):.2f}, most by {told}")


def _conclusion(page: Page, topic: Topic, verdict: Verdict) -> RenderableType:
    total = verdict.score / (1 - verdict.score)
    less = sum(verdict.evidence.values()) - total
    capped = (
        f"the strongest word is discounted by {less:.2f}, so that one word alone cannot qualify a"
        " page\n"
    )
    on_topic = verdict.score >= verdict.threshold
    missing = "none of the wanted media" if page.media else "no media"
    why_not = "" if verdict.relevant else f" ({missing})" if on_topic else " (not on topic)"
    conclusion = Text.assemble(
        capped if less > 0.005 else "",  # shown with two digits
        f"score = {total:.2f} / ({total:.2f} + 1) = {verdict.score:.2f},"
        f" threshold {verdict.threshold:g}: ",
        ("relevant" if verdict.relevant else "not relevant", "bold"),
        f"{why_not} to {topic.title} ({topic.name})",
    )
    return Group(conclusion, Text(_BY_ITSELF, style="dim")) if verdict.relevant else conclusion
