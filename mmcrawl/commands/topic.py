"""`scrapy topic`: `list`, `show NAME`, `find WORD`, `score PAGE`: topics, their words, and why.

`learn NAME` makes a topic of examples, see `mmcrawl.commands.topic_learning`.
"""

import argparse
import mimetypes
import os
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text
from scrapy.commands import ScrapyCommand

from mmcrawl.commands.base import MmcrawlCommand, Option, Subcommand, console_of, flag
from mmcrawl.commands.terminal.files import NoPageError
from mmcrawl.commands.terminal.tables import facts_table, folded, literal, plain_table, right
from mmcrawl.commands.topic_learning import LEARNING, learning
from mmcrawl.crawl.spider_params import parse_kinds
from mmcrawl.errors import MmcrawlError, TopicError
from mmcrawl.page.media import media_kind
from mmcrawl.page.model import Page
from mmcrawl.page.parse import parse_page
from mmcrawl.scoring.relevance import FIELD_WEIGHTS, LearntTest, TopicTest, Verdict
from mmcrawl.text import url_words
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS
from mmcrawl.topic.loading import (
    load_topic,
    load_topics,
    own_topic_names,
    topic_from_keywords,
    topic_names,
)
from mmcrawl.topic.page_model import PageModel
from mmcrawl.topic.topic import Topic

_MOST_TOPICS = 5
_MOST_REASONS = 12
_PLAIN_TYPES = ("text/plain", "text/xml", "application/xml")
_NO_PAGES = ("audio/", "video/", "image/", "application/pdf", "application/zip")
_BY_ITSELF = (
    "This is the page by itself: a crawl leaves out media that stand on most pages of a site."
)


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
