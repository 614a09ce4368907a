"""Writes the pages of docs/reference that say what is declared: settings, arguments, links.

python tools/write_reference.py
"""

from collections.abc import Iterable
from pathlib import Path

from mmcrawl.commands.help import spider_arguments
from mmcrawl.commands.links import COLUMNS
from mmcrawl.crawl.params import FocusedParams
from mmcrawl.crawl.spider_params import CollectParams, RevisitParams
from mmcrawl.settings import Setting, declared

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
SETTINGS = """# Settings

All of [Scrapy's settings](https://docs.scrapy.org/en/latest/topics/settings.html) work. These are
ours: `-s NAME=VALUE`, or in the settings of your project. A value that is not allowed stops the
start with one sentence and exit code 2.

"""
ARGUMENTS = """# Arguments

Give each as `-a NAME=VALUE`; `scrapy help focused` prints the same list. Other commands take the
arguments that concern them, as `-a NAME=VALUE` or `--name VALUE`. Parameters of
[algorithms](../algorithms.md) are arguments too; `scrapy help algorithms` lists them.

## scrapy crawl focused

"""
LINKS = """# Columns of links

`scrapy links --format jsonl` or `csv` writes these columns, in this order; see
[Looking into a crawl](../guide/links.md). Lists are JSON in CSV too. InterLink is the link
database of Yang 2009, table 5-4.

"""
REVISIT = """
## scrapy crawl revisit

"""
COLLECT = """
## scrapy collect

"""


def pages() -> dict[Path, str]:
    """Return the pages."""
    settings = (
        (f"`{each.name}`", f"`{each.shown_default}`", each.help + _noted(each))
        for each in declared.values()
    )
    columns = ((f"`{name}`", column.paper, column.what) for name, column in COLUMNS.items())
    arguments = ("argument", "what it does", "default")
    return {
        FOLDER / "links.md": LINKS + _table(("column", "InterLink", "what"), columns),
        FOLDER / "settings.md": SETTINGS + _table(("setting", "default", "what it does"), settings),
        FOLDER / "arguments.md": (
            ARGUMENTS
            + _table(arguments, _arguments(FocusedParams))
            + REVISIT
            + _table(arguments, _arguments(RevisitParams))
            + COLLECT
            + _table(arguments, _arguments(CollectParams))
        ),
    }


def _arguments(
    model: type[FocusedParams | RevisitParams | CollectParams],
) -> Iterable[tuple[str, ...]]:
    for name, text, default in spider_arguments(model):
        yield f"`{name}`", text, f"`{default}`" if default else ""


def _noted(setting: Setting) -> str:
    said = not setting.may_be or "; 0 for" in setting.help
    return "" if said else f" ({setting.may_be})"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    ruled = f"{_row(head)}{'|---' * len(head)}|\n"
    return ruled + "".join(_row(tuple(cell.replace("|", "\\|") for cell in row)) for row in rows)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
