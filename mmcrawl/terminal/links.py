"""What a person sees of the links of a crawl: a line for each, and why one was fetched or not."""

from collections.abc import Callable, Iterable, Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mmcrawl.crawling.why import Why
from mmcrawl.frontier.interlink import PlacedPage
from mmcrawl.frontier.records import HELD, LinkRecord
from mmcrawl.terminal.crawl import literal, sentence

_HEAD = "    place status      score   words  content layer clicks  URL"


def link_lines(
    records: Iterable[LinkRecord], content: Callable[[LinkRecord], float] | None
) -> Iterator[str]:
    """Yield a line for each link, below one with the names of columns.

    Args:
        records: the links.
        content: gives ContentScore; None where the topic is not known any more.
    """
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
    table = _table()
    for name, value in (
        ("score", _score(link.score)),
        ("of its words", f"{link.words_score:.4f}"),
        ("structure", f"{link.structure_score:.4f}"),
        ("text of the link", link.anchor),
        ("group of links", link.group_title),
        ("words of the URL", link.url_words),
        ("block", link.block),
        ("title", link.title),
        ("layer", f"{link.physical_layer}, {link.logical_layer - 1} clicks from the seed"),
    ):
        if value:
            table.add_row(name, literal(value))
    return table


def _parts(why: Why) -> RenderableType:
    if not why.parts:
        return literal(f"Parts of the score: {why.parts_note}.")
    table = _table()
    for name, value in why.parts.items():
        table.add_row(f"{_score(value):>8}", literal(name))
    table.add_row(f"{_score(sum(why.parts.values())):>8}", literal(f"in all, {why.parts_note}"))
    return Group(Text("Parts of the score", "bold"), table)


def _step(number: int, url: str, anchor: str) -> Text:
    text = literal(f"“{anchor}” → {url}" if anchor else url)
    return Text("  " * (number + 1)).append(text)


def _placed(page: PlacedPage) -> Text:
    place = "" if page.place is None else f"{page.place:,}"
    relevant = " (relevant)" if page.relevant else ""
    return Text(f"{place:>9} {_score(page.score):>9}  ").append(literal(page.url + relevant))


def _score(score: float) -> str:
    return "" if score == HELD else f"{score:.4f}"


def _table() -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    return table
