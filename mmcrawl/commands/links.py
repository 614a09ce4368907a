"""`scrapy links`: the links of a crawl, and why one was or was not fetched."""

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from itertools import chain, islice
from typing import Any, ClassVar, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from scrapy.commands import ScrapyCommand

from mmcrawl.archive.model import as_date
from mmcrawl.commands.base import (
    JSON,
    LIMIT,
    SHOWN,
    MmcrawlCommand,
    Option,
    Subcommand,
    as_json,
    console_of,
    flag,
    output,
    output_to,
    store_named,
    web_address,
    write_rows,
)
from mmcrawl.commands.terminal.tables import facts_table, literal, sentence
from mmcrawl.crawl.history import looked_at
from mmcrawl.crawl.setup import CrawlSetup
from mmcrawl.crawl.why import Why, explain
from mmcrawl.errors import MmcrawlError
from mmcrawl.frontier.interlink import ORDERS, STATES, PlacedPage, Selection
from mmcrawl.frontier.records import HELD, LinkRecord, Status
from mmcrawl.frontier.store import Job, SqliteStore
from mmcrawl.topic.topic import BooleanModel

_HEAD = "    place status      score   words  content layer clicks  URL"

_TABLE = "table"
_Content = Callable[[LinkRecord], float] | None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"give a number, not {text!r}") from None


class Command(MmcrawlCommand, ScrapyCommand):
    """Show the links of a crawl."""

    name = "links"
    subcommands: ClassVar[Sequence[Subcommand]] = (
        Subcommand(
            "",
            "list the link database of a crawl, which may be running",
            options=(
                Option("--status", default="", help=f"only those: {', '.join(STATES)}"),
                Option("--host", default="", help="only links to this host"),
                Option("--match", default="", metavar="GLOB", help="as '*/wuli/*'"),
                flag("--with-media", "only pages with media of the wanted kinds"),
                Option("--min-score", type=_number, metavar="X", help="only from this score on"),
                Option("--sort", default=ORDERS[0], help=f"{', '.join(ORDERS)}"),
                LIMIT,
                *output(_TABLE, "jsonl", "csv"),
            ),
        ),
        Subcommand(
            "why",
            "when a link was fetched, the terms of its score, the way to it and its neighbours in"
            " the order; for a waiting link, what comes before it",
            "URL",
            (JSON,),
        ),
    )
    details = (
        "A crawl in MongoDB is read from the snapshots and logs of its partitions, into a"
        " temporary file."
    )
    arguments = ("store", "job")

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], int]:
        store = store_named(opts.store)
        if words:
            url = web_address(words[0])
            return lambda: self._tell(store, opts, url)
        selection = _selection(opts)
        return lambda: self._list(store, opts, selection)

    def _list(self, store: str, opts: argparse.Namespace, selection: Selection) -> int:
        """Write the links that are asked for; 1 if there are none."""
        with self._opened(store, opts.job) as (opened, job):
            content = self._content(job.arguments)
            records = looked_at(opened, job).records(selection)
            first = list(islice(records, 1))
            if not first:
                self.say(f"no link of job {job.name!r} matches")
            found = chain(first, records)
            with output_to(opts.output) as stream:
                if opts.format == _TABLE:
                    for line in link_lines(found, content) if first else ():
                        print(line, file=stream)
                else:
                    write_rows(rows(found, content), opts.format, stream, COLUMNS)
        return 0 if first else 1

    def _tell(self, store: str, opts: argparse.Namespace, url: str) -> int:
        with self._opened(store, opts.job) as (opened, job):
            why = explain(looked_at(opened, job), job.arguments, url)
            content = self._content(job.arguments)
        if opts.json:
            print(as_json(_plain(why, content)))
        else:
            console_of().print(why_page(why))
        return 0

    def _opened(self, store: str, job: str) -> AbstractContextManager[tuple[SqliteStore, Job]]:
        from mmcrawl.cluster.views.looking import opened_to_look  # MongoDB's driver loads slowly

        return opened_to_look(store, job, self.say)

    def _content(self, arguments: Mapping[str, Any]) -> _Content:
        """Return the function for ContentScore; None, and the reason, if the topic is gone."""
        try:
            return content_model(CrawlSetup.told(arguments, {}))
        except MmcrawlError as error:
            self.say(f"there is no content_score: {error}")
            return None


def _selection(opts: argparse.Namespace) -> Selection:
    default = SHOWN if opts.format == _TABLE else 0
    return Selection(
        state=opts.status,
        host=opts.host,
        match=opts.match,
        media=opts.with_media,
        min_score=opts.min_score,
        order=opts.sort,
        limit=default if opts.limit is None else opts.limit,
    )


def _plain(why: Why, content: _Content) -> dict[str, Any]:
    [link] = rows(iter([why.link]), content)
    names = ("outcome", "standing", "steps", "parts", "parts_note")
    told = {name: getattr(why, name) for name in names}
    told["rule"] = None if why.rule is None else asdict(why.rule)
    for name in ("before", "after", "first", "nearest"):
        told[name] = [asdict(page) for page in getattr(why, name)]
    return {**told, "ahead": why.ahead, "link": link}


def link_lines(
    records: Iterable[LinkRecord], content: Callable[[LinkRecord], float] | None
) -> Iterator[str]:
    """Yield a line for each link, below one with the names of columns."""
    yield _HEAD
    for link in records:
        place = "" if link.place is None else f"{link.place:,}"
        similarity = f"{content(link):.4f}" if content else ""
        error = f"  ({link.error})" if link.error else ""
        yield (
            f"{place:>9} {link.state:<8}{_score(link.score):>9}{link.words_score:>8.3f}"
            f"{similarity:>9}{link.physical_layer:>6}{link.logical_layer:>7}"
            f"  {literal(link.url + error)}"
        )


def why_page(why: Why) -> RenderableType:
    """Return on one page why a link was fetched when it was, or was not."""
    link = why.link
    shown: list[RenderableType] = [
        Text(literal(link.url).plain, "bold"),
        literal(sentence(why.outcome)),
        *(literal(sentence(told)) for told in why.standing),
        Text(""),
        _facts(link),
        Text(""),
        _parts(why),
        Text("\nThe way from the seed", "bold"),
        *(_step(number, *step) for number, step in enumerate(why.steps)),
    ]
    for title, pages in (
        ("Fetched just before", why.before),
        ("Fetched just after", why.after),
        ("First of those that wait", why.first),
        ("Just before it", why.nearest),
    ):
        if pages:
            shown += [Text(f"\n{title}", "bold"), *map(_placed, pages)]
    return Group(*shown)


def _facts(link: LinkRecord) -> Table:
    facts = {
        "score": _score(link.score),
        "of its words": f"{link.words_score:.4f}",
        "structure": f"{link.structure_score:.4f}",
        "text of the link": link.anchor,
        "group of links": link.group_title,
        "words of the URL": link.url_words,
        "block": link.block,
        "title": link.title,
        "layer": f"{link.physical_layer}, {link.logical_layer - 1} clicks from the seed",
    }
    return facts_table((name, literal(value)) for name, value in facts.items() if value)


def _parts(why: Why) -> RenderableType:
    if not why.parts:
        return literal(f"Parts of the score: {why.parts_note}.")
    whole = {f"in all, {why.parts_note}": sum(why.parts.values())}
    parts = [*why.parts.items(), *whole.items()]
    rows = facts_table((f"{_score(value):>8}", literal(name)) for name, value in parts)
    return Group(Text("Parts of the score", "bold"), rows)


def _step(number: int, url: str, anchor: str) -> Text:
    text = literal(f"“{anchor}” → {url}" if anchor else url)
    return Text("  " * (number + 1)).append(text)


def _placed(page: PlacedPage) -> Text:
    place = "" if page.place is None else f"{page.place:,}"
    relevant = " (relevant)" if page.relevant else ""
    return Text(f"{place:>9} {_score(page.score):>9}  ").append(literal(page.url + relevant))


def _score(score: float) -> str:
    return "" if score == HELD else f"{score:.4f}"


# -- rows of the link table -----------------------------------------------------------------------


class Column(NamedTuple):
    """A column: what the paper calls it, "" if it has none like it, and what it holds."""

    paper: str
    what: str


COLUMNS: Mapping[str, Column] = {
    "id": Column("ID", "number of the link, from 0"),
    "url": Column("URL", "address as fetched"),
    "status": Column("Status", "W waiting, R running, C crawled, E error"),
    "url_words": Column("URLFanyi", "words of the address, translated"),
    "anchor": Column("Anchor", "text of the link it was first found by"),
    "title": Column("Title", "title of the page"),
    "keywords": Column("Keywords", "keywords the page declares"),
    "description": Column("Description", "description the page declares"),
    "content_intro": Column(
        "FileContentIntroduce", "url_words, anchor, title, keywords and description together"
    ),
    "anchor_path": Column("AnchorPath", "all anchors from the seed to it"),
    "url_path": Column("URLPath", "all addresses from the seed to it"),
    "internal_urls": Column("InternalURLs", "addresses of the accepted links on the page"),
    "path_score": Column("PathScore", "relevant pages reached through it, itself included"),
    "total_path_score": Column("TotalPathScore", "pages reached through it, itself included"),
    "contains_media": Column("Contain_or_not", "whether the page has media of the wanted kinds"),
    "content_score": Column(
        "ContentScore", "share of the topic's concepts that stand in content_intro (4.1)"
    ),
    "structure_score": Column(
        "linkStructureScore", "the algorithm's score of its place among links"
    ),
    "link_ratio": Column("LinkRatio", "path_score / total_path_score"),
    "links_on_page": Column("Hyper_Links", "number of links on the page"),
    "logical_layer": Column("L_Layer", "clicks from the seed; a seed has 1"),
    "physical_layer": Column("P_Layer", "directories in the address; the root has 1"),
    "is_checked": Column("IsChecked", "whether it was crawled"),
    "visited_at": Column("VisitedTime", "time of the visit, UTC"),
    "error": Column("ErrorMessage", "why there is no page: an error, a redirect, a trap"),
    "state": Column("", "status in a word: waiting, held, running, fetched, error"),
    "place": Column("", "it was the n-th page of the crawl"),
    "score": Column(
        "", "at fetching time; of a waiting link, now; empty while the algorithm holds it"
    ),
    "words_score": Column("", "the algorithm's score of its words when it was found"),
    "relevant": Column("", "whether the page holds media of the wanted kinds and is on topic"),
    "group_title": Column("", "title of the group of links it is in"),
    "block": Column("", "kind of the block it is in"),
    "priority": Column("", "comes before the score; -1: it may be another address of a known page"),
}
"""The columns by name."""


def content_model(setup: CrawlSetup) -> Callable[[LinkRecord], float]:
    """Return the ContentScore function: the share of the topic in a link's `content_intro`.

    By the boolean model (4.1), unscaled. Of a page all its fields are known, of a link that was not
    fetched its anchor and the words of its address.
    """
    model = BooleanModel(setup.whole_topic)
    return lambda record: model.score(record.content_intro)


def rows(
    records: Iterator[LinkRecord], content: Callable[[LinkRecord], float] | None
) -> Iterator[dict[str, Any]]:
    for record in records:
        own = {
            "content_score": content(record) if content else None,
            "is_checked": record.status is Status.CRAWLED,
            "visited_at": as_date(record.visited_at),
            "score": None if record.score == HELD else record.score,
        }
        yield {name: own[name] if name in own else getattr(record, name) for name in COLUMNS}
