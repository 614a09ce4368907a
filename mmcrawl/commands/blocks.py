"""`scrapy blocks URL-or-file`: the blocks of a page, shown, as JSON, drawn, or as text."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from w3lib.encoding import resolve_encoding

from mmcrawl.blocks.drawing import draw, printable, short_path, summary
from mmcrawl.blocks.export import partition_json
from mmcrawl.blocks.metadata_rules import MetadataRules, ReceivedText
from mmcrawl.blocks.partition import Block, Partition, partition
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, DEFAULT_METHOD, MAX_LEVEL
from mmcrawl.blocks.partitioners.registry import make_partitioner, partitioner_names
from mmcrawl.commands.base import MmcrawlCommand, console_of, whole
from mmcrawl.commands.fetching import NoPageError, ReceivedPage, fetched, with_sheets
from mmcrawl.errors import MmcrawlError
from mmcrawl.page.encoding import page_encoding
from mmcrawl.settings import value_of
from mmcrawl.terminal.archive import KIND_STYLES

_STANDARD = "-"
_READS_STYLES = "spcola"
_TEXT = 200  # characters of a block's text that are shown, at most
_SAMPLE = 4096
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\f\r\x1b"))
_MANY_CONTROLS = 0.03


class Command(MmcrawlCommand, ScrapyCommand):
    """Show the blocks of a page."""

    requires_crawler_process = True
    name = "blocks"
    usage = "[options] URL-or-file"
    summary = "Show the blocks of a page: what is content, navigation, advertisement"
    arguments = ("web",)
    has_operands = True

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        methods = ", ".join(partitioner_names())
        add(
            "--method",
            help=f"how the page is cut: {methods} (default: {DEFAULT_METHOD}); with options, if"
            ' any, as "bwap:min_size=0.5;theta=9" or "quark:custom_tags=h1 h2;custom_text=PATTERN"',
        )
        add(
            "--level",
            metavar="N",
            help=f"how often blocks are cut again (default: {DEFAULT_LEVEL})",
        )
        add(
            "--styles",
            action="store_true",
            help=f"fetch the style sheets the page links to, for --method {_READS_STYLES}",
        )
        add("--encoding", default="", metavar="E", help="encoding of the page (default: found out)")
        add("--url", default="", help="address of a page that is given as a file")
        add(
            "--metadata",
            metavar="FILE",
            help="rules for metadata of the page, as JSON (default: MMCRAWL_METADATA)",
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="write the blocks as JSON")
        form.add_argument("--text", action="store_true", help="write title and text of the page")
        form.add_argument(
            "--html",
            nargs="?",
            const=_STANDARD,
            metavar="FILE",
            help="write an HTML file in which the blocks are drawn over the page",
        )

    def code_of(self, error: MmcrawlError) -> int:
        return 1 if isinstance(error, NoPageError | _UnwrittenError) else 2

    def prepared(self, args: list[str], opts: argparse.Namespace) -> Callable[[], None]:
        unknown = [arg for arg in args if arg.startswith("-") and arg != _STANDARD]
        if unknown:
            raise UsageError(f"there is no option {unknown[0]}")
        if not args and opts.html not in (None, _STANDARD):
            raise UsageError("give the page before --html: scrapy blocks PAGE --html FILE")
        if len(args) != 1:
            raise UsageError("give one URL or file, or - for standard input")
        (name,) = args
        if not name:
            raise MmcrawlError(
                "the argument is empty; give one URL or file, or - for standard input"
            )
        if opts.text and (opts.method is not None or opts.level is not None or opts.styles):
            raise MmcrawlError(
                "--text reads the page as a whole; leave out --method, --level and --styles"
            )
        usual = _READS_STYLES if opts.styles else DEFAULT_METHOD
        method = usual if opts.method is None else opts.method
        level = DEFAULT_LEVEL if opts.level is None else whole(opts.level, "--level", 1, MAX_LEVEL)
        encoding = _encoding(opts.encoding)
        _check_method(method, {"styles": ()} if opts.styles else {})
        if opts.html not in (None, _STANDARD):
            _check_target(Path(os.path.expanduser(opts.html)), name)
        rules = self._rules(opts.metadata)
        return lambda: self._show(name, (method, level), encoding, opts, rules)

    def _rules(self, path: str | None) -> MetadataRules:
        """Return the rules of a file, or those of the settings."""
        if path is None:
            return MetadataRules.read(
                value_of(self.settings, "MMCRAWL_METADATA")  # type: ignore[arg-type]
            )
        try:
            return MetadataRules.read(Path(os.path.expanduser(path)).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise MmcrawlError(f"--metadata {path} cannot be read: {error}") from error

    def _show(
        self,
        name: str,
        method: tuple[str, int],
        encoding: str,
        opts: argparse.Namespace,
        rules: MetadataRules,
    ) -> None:
        source = self._source(name, opts)
        _check_body(name, source)
        encoding = encoding or page_encoding(source.body, source.content_type)
        if opts.text:
            _write(_content(source, encoding))
            return
        url = source.url or None
        for problem in source.missing:
            self.say(problem)
        how, level = method
        options = {"styles": source.sheets} if opts.styles else {}
        page = partition(
            source.body, method=how, level=level, encoding=encoding, url=url, **options
        )
        metadata = None
        if rules:
            html = source.body.decode(encoding, "replace")
            metadata = rules(ReceivedText(source.url, source.headers, html))
        if opts.json:
            _write(partition_json(page, metadata))
        elif opts.html is not None:
            _write(draw(page), opts.html)
        else:
            console_of(100).print(_block_tree(page, name, metadata or {}))

    def _source(self, name: str, opts: argparse.Namespace) -> ReceivedPage:
        """Return the page of a file, of standard input, or of a URL."""
        if opts.web and (name == _STANDARD or os.path.exists(os.path.expanduser(name))):
            raise MmcrawlError(f"--web {opts.web} goes with a URL; {name} is not taken from there")
        if name == _STANDARD:
            return self._styled(ReceivedPage(sys.stdin.buffer.read(), opts.url), opts)
        path = Path(os.path.expanduser(name))
        if os.path.isdir(path):
            raise MmcrawlError(f"{name} is a folder; give an HTML file in it")
        if os.path.exists(path):
            return self._styled(ReceivedPage(path.read_bytes(), opts.url), opts)
        if not name.lower().startswith(("http://", "https://")):
            raise MmcrawlError(f"there is no file {name}; give a file, or a URL with http://")
        return fetched(self, name, opts.web, styles=opts.styles)

    def _styled(self, page: ReceivedPage, opts: argparse.Namespace) -> ReceivedPage:
        return with_sheets(self, page) if opts.styles else page


class _UnwrittenError(MmcrawlError):
    """The drawing could not be written."""


def _encoding(label: str) -> str:
    """Return the Python name of an encoding that the user names, "" for none."""
    name = page_encoding(b"", f"text/html; charset={label}")
    if label and name == "utf-8" and resolve_encoding(label) != name:
        raise MmcrawlError(f"--encoding {label}: unknown; give one of the web, as utf-8 or gb18030")
    return name if label else ""


def _check_method(method: str, options: Mapping[str, Sequence[str]]) -> None:
    names, name = partitioner_names(), method.partition(":")[0]
    if name not in names:
        raise MmcrawlError(f"--method {name}: there is none; there are {', '.join(names)}")
    make_partitioner(method, **options)


def _check_target(path: Path, source: str) -> None:
    """Refuse a file that cannot be written before anything is fetched."""
    if path.is_dir():
        raise MmcrawlError(f"--html {path} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise MmcrawlError(f"--html {path}: there is no folder {path.parent}")
    if path.exists() and os.path.exists(source) and path.samefile(source):
        raise MmcrawlError(f"--html {path} is the page itself; give the name of another file")


def _check_body(name: str, page: ReceivedPage) -> None:
    if not page.body.strip():
        raise NoPageError(f"{name}: the page is empty")
    sample = page.body[:_SAMPLE]
    if page_encoding(page.body, page.content_type).startswith("utf-16"):
        return
    if len(sample) - len(sample.translate(None, _CONTROLS)) > _MANY_CONTROLS * len(sample):
        raise NoPageError(f"{name}: no HTML page: binary data")


def _content(page: ReceivedPage, encoding: str) -> str:
    """Return title and text of a page, a paragraph after the other."""
    from mmcrawl.blocks.content.content import page_content

    content = page_content(page.body, page.url or None, encoding=encoding)
    title, *paragraphs = map(printable, (content.title, *content.paragraphs))
    if paragraphs[:1] != [title]:
        paragraphs.insert(0, title)
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _write(text: str, target: str = _STANDARD) -> None:
    """Write a document as UTF-8, whatever the terminal speaks."""
    content = text.encode("utf-8", "replace")
    if target == _STANDARD:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        try:
            Path(os.path.expanduser(target)).write_bytes(content)
        except OSError as error:  # a full disk does not tell which file
            raise _UnwrittenError(f"--html {target}: {error.strerror}") from error


def _block_tree(page: Partition, name: str, metadata: Mapping[str, str]) -> RenderableType:
    """Return the blocks of a page, those of a level inside of the one before."""
    tree = Tree(Text(printable(page.url or name), style="bold"), guide_style="dim")
    branches = [tree]  # of each level the last, from the page on
    for block in page:
        del branches[block.level :]
        branches.append(branches[-1].add(_block_lines(block)))
    told = (Text.assemble((f"{key}: ", "bold"), printable(metadata[key])) for key in metadata)
    return Group(tree, *told, Text(summary(page)))


def _block_lines(block: Block) -> RenderableType:
    size = block.end - block.start
    lines = [
        Text.assemble(
            (block.kind, KIND_STYLES.get(block.kind, "")),
            f" {block.score:.2f}  ",
            (printable(block.topic, _TEXT), "bold"),
        ),
        Text(f"{block.start}–{block.end} ({size:,} bytes)  {short_path(block.path)}", "dim"),
    ]
    text = printable(block.text, _TEXT)
    if text and text != lines[0].plain.partition("  ")[2]:
        lines.append(Text(text))
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return Group(*lines)
