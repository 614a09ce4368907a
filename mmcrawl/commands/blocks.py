"""`scrapy blocks URL-or-file`: the blocks of a page as a table, as JSON, drawn; and its content."""

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import get_args

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree
from scrapy.commands import ScrapyCommand

from mmcrawl.blocks.content.content import Form
from mmcrawl.blocks.drawing import draw, short_path, summary
from mmcrawl.blocks.metadata_rules import MetadataRules, ReceivedText
from mmcrawl.blocks.partition import Block, Partition, partition, partition_json
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, DEFAULT_METHOD, MAX_LEVEL
from mmcrawl.blocks.partitioners.registry import make_partitioner, partitioner_names
from mmcrawl.commands.base import (
    OVERWRITE,
    MmcrawlCommand,
    Option,
    Subcommand,
    console_of,
    flag,
    whole,
)
from mmcrawl.commands.fetching import ReceivedPage, check_web, fetched, page_named
from mmcrawl.commands.terminal import extraction
from mmcrawl.commands.terminal.files import NoPageError, PageFile, Target, is_address, page_problem
from mmcrawl.commands.terminal.tables import kind_of
from mmcrawl.errors import MmcrawlError
from mmcrawl.page.html.encoding import page_encoding, text_of_utf_32
from mmcrawl.text.writing import printable

_TEXT = 200  # characters of a block's text that are shown, at most
_SHOWN = 1000  # blocks


class Command(MmcrawlCommand, ScrapyCommand):
    """Show the blocks of a page."""

    name = "blocks"
    working = ""
    details = (
        "Show the blocks of a page. With --format, write the content of a page, or of all pages in"
        " files, folders and WARC files: mmcrawl blocks --format md --output texts pages/"
    )
    arguments = ("web",)

    subcommands = (
        Subcommand(
            "",
            "show the blocks of a page",
            "[URL-or-file…]",
            fetches=True,
            options=(
                Option(
                    "--method",
                    help=f"how the page is cut: {', '.join(partitioner_names())} (default:"
                    f" {DEFAULT_METHOD}); with options, if any, as"
                    ' "bwap:min_size=0.5;theta=9" or'
                    ' "quark:custom_tags=h1 h2;custom_text=PATTERN"',
                ),
                Option(
                    "--level",
                    type=partial(whole, most=MAX_LEVEL),
                    metavar="N",
                    help=f"how many times blocks are split again (default: {DEFAULT_LEVEL})",
                ),
                Option("--encoding", default="", help="of the page (default: detected)"),
                Option("--url", default="", help="address of a page that is given as a file"),
                flag("--json", "write the blocks as JSON"),
                flag("--html", "write the page as HTML with its blocks drawn over it"),
                Option(
                    "--format",
                    choices=get_args(Form),
                    help="write the content of pages as Markdown, text or JSON; of files, folders,"
                    " WARC",
                ),
                Option(
                    "--output",
                    action=Target,  # a folder, which `new_folder` checks
                    metavar="FOLDER",
                    help="--format: where to write a file for each page",
                ),
                OVERWRITE,
            ),
        ),
    )

    def code_of(self, error: MmcrawlError) -> int:
        return 1 if isinstance(error, NoPageError) else 2

    def prepared(self, args: list[str], opts: argparse.Namespace) -> Callable[[], int | None]:
        if sum(map(bool, (opts.json, opts.html, opts.format))) > 1:
            raise ValueError("give only one of --json, --html, --format")
        if opts.format:
            return self._contents(args, opts)
        if len(args) != 1:
            raise ValueError("give one URL or file, or - for standard input")
        (name,) = args
        if opts.output:
            raise MmcrawlError("--output goes with --format")
        method = DEFAULT_METHOD if opts.method is None else opts.method
        level = DEFAULT_LEVEL if opts.level is None else opts.level
        encoding = extraction.encoding_named(opts.encoding)
        make_partitioner(method)
        rules = MetadataRules.read(self.setting("MMCRAWL_METADATA"))
        return lambda: self._show(name, (method, level), encoding, opts, rules)

    def _contents(self, args: list[str], opts: argparse.Namespace) -> Callable[[], int | None]:
        """Check the options of --format; return a function that writes the content of pages."""
        if opts.method is not None or opts.level is not None:
            raise MmcrawlError("--format reads the page as a whole; leave out --method and --level")
        if not args:
            raise ValueError(
                "give a URL, or files, folders and WARC files, or - for standard input"
            )
        if not any(map(is_address, args)):
            check_web(opts.web, args[0])
            return extraction.extract(args, opts, self.say)
        if len(args) > 1:
            raise ValueError("give one URL at a time; of files there may be several")
        if opts.output:
            raise MmcrawlError("--output is for files; the content of a URL is written as text")
        wanted = extraction.Wanted(opts.format, extraction.encoding_named(opts.encoding))
        return lambda: self._content_of(args[0], wanted, opts.web)

    def _content_of(self, url: str, wanted: extraction.Wanted, web: str) -> None:
        self.telling.what = "reading the page"
        page = fetched(self, url, web)
        _check_body(url, page)
        received = PageFile(url, body=page.body, url=page.url, content_type=page.content_type)
        extraction.write_out(extraction.content_of(received, wanted))

    def _show(
        self,
        name: str,
        method: tuple[str, int],
        encoding: str,
        opts: argparse.Namespace,
        rules: MetadataRules,
    ) -> None:
        self.telling.what = "reading the page"
        source = page_named(self, name, opts)
        _check_body(name, source)
        if text_of_utf_32(source.body):
            raise NoPageError(
                f"{name}: the page is in UTF-32, which browsers do not read; --format md writes"
                " its content"
            )
        encoding = encoding or page_encoding(source.body, source.content_type)
        url = source.url or None
        how, level = method
        page = partition(source.body, method=how, level=level, encoding=encoding, url=url)
        metadata = None
        if rules:
            html = source.body.decode(encoding, "replace")
            metadata = rules(ReceivedText(source.url, source.headers, html))
        if opts.json:
            extraction.write_out(partition_json(page, metadata))
        elif opts.html:
            extraction.write_out(draw(page))
        else:
            console_of(100).print(_block_tree(page, name, metadata or {}))


def _check_body(name: str, page: ReceivedPage) -> None:
    if problem := page_problem(page.body, page.content_type):
        raise NoPageError(f"{name}: {problem}")


def _block_tree(page: Partition, name: str, metadata: Mapping[str, str]) -> RenderableType:
    """Return the first blocks of a page, those of a level inside the one before."""
    tree = Tree(Text(printable(page.url or name), style="bold"), guide_style="dim")
    branches = [tree]  # of each level the last, from the page on
    blocks = list(page)
    for block in blocks[:_SHOWN]:
        del branches[block.level :]
        branches.append(branches[-1].add(_block_lines(block)))
    if len(blocks) > _SHOWN:
        tree.add(Text(f"… and {len(blocks) - _SHOWN:,} more: --json writes all"))
    told = (Text.assemble((f"{key}: ", "bold"), printable(metadata[key])) for key in metadata)
    return Group(tree, *told, Text(summary(page)))


def _block_lines(block: Block) -> RenderableType:
    size = block.end - block.start
    lines = [
        Text.assemble(
            kind_of(block.kind), f" {block.score:.2f}  ", (printable(block.topic, _TEXT), "bold")
        ),
        Text(f"{block.start}–{block.end} ({size:,} bytes)  {short_path(block.path)}", "dim"),
    ]
    text = printable(block.text, _TEXT)
    if text and text != lines[0].plain.partition("  ")[2]:
        lines.append(Text(text))
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return Group(*lines)
