"""Extracts the content of many pages, on all cores.

Nothing here needs Scrapy, whose import alone takes longer than a hundred pages.
"""

import argparse
import json
import os
import re
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from mmcrawl.blocks.content.content import Form, page_content
from mmcrawl.commands.terminal.files import (
    PageFile,
    PageFiles,
    is_address,
    new_folder,
    page_problem,
)
from mmcrawl.errors import MmcrawlError
from mmcrawl.page.html.encoding import codec_of
from mmcrawl.store.child_process import cores
from mmcrawl.text.writing import program

_ENDINGS: dict[Form, str] = {"md": ".md", "txt": ".txt", "json": ".json"}
_NO_NAME = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 120  # bytes of a file that is named after an address
_WAITING = 8  # pages per process that are read ahead
_CHARACTERS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)))
_DIRECTIONS = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)))


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requested output of each page."""

    form: Form
    encoding: str = ""
    lines: bool = False  # whether JSON stands on one line, with the ``source`` of the page


@dataclass(frozen=True, slots=True)
class Extracted:
    """The result for a page: its content as text, or what is wrong with it."""

    page: str
    text: str
    problem: str = ""


def encoding_named(label: str) -> str:
    """Return the Python name of an encoding that the user names, "" for none."""
    if not label:
        return ""
    name = codec_of(label)
    if name is None:
        raise MmcrawlError(f"--encoding {label}: unknown; give one of the web, as utf-8 or gb18030")
    return name


def content_of(page: PageFile, wanted: Wanted) -> str:
    body = page.read()
    if problem := page_problem(body, page.content_type):
        raise MmcrawlError(problem)
    content = page_content(
        body,
        page.url or None,
        encoding=wanted.encoding or None,
        content_type=page.content_type or None,
    )
    if wanted.lines:
        record = {"source": page.name, **content.record()}
        return json.dumps(record, ensure_ascii=False) + "\n"
    # Nothing that a page holds acts upon a terminal, or turns the direction of what follows.
    return content.write(wanted.form).translate(_CHARACTERS).translate(_DIRECTIONS)


def extracted(page: PageFile, wanted: Wanted) -> Extracted:
    """Return the content of a page, or why there is none; raises nothing."""
    try:
        return Extracted(page.name, content_of(page, wanted))
    except OSError as error:
        return Extracted(page.name, "", error.strerror or str(error))
    except (MmcrawlError, EOFError, zlib.error) as error:
        return Extracted(page.name, "", str(error))


def extract(
    names: Sequence[str], opts: argparse.Namespace, say: Callable[[object], None]
) -> Callable[[], int]:
    """Check the options; return a function that does the work and returns an exit code."""
    pages = PageFiles(names, opts.url, say)
    folder = Path(opts.output).expanduser() if opts.output else None
    if folder is not None:
        new_folder(folder, "--output", overwrite=opts.overwrite)
    elif not pages.single and opts.format != "json":
        raise MmcrawlError(
            f"several pages as {opts.format}: name a folder with --output, or take --format json,"
            " a line a page"
        )
    lines = opts.format == "json" and not pages.single and folder is None
    wanted = Wanted(opts.format, encoding_named(opts.encoding), lines)
    return lambda: _extract(pages, wanted, folder, say)


def _extract(
    pages: PageFiles, wanted: Wanted, folder: Path | None, say: Callable[[object], None]
) -> int:
    done = problems = 0
    write = (lambda one: write_out(one.text)) if folder is None else _into(folder, wanted.form)
    results = _over(pages, wanted)
    for one in results if pages.single else _counted(results, pages.total):
        if one.problem:
            problems += 1
            say(f"{one.page}: {one.problem}")
        else:
            done += 1
            write(one)
    problems += pages.problems
    if not pages.single:
        say(f"{done:,} pages extracted, {problems:,} not")
    return 1 if problems else 0


def _over(pages: PageFiles, wanted: Wanted) -> Iterator[Extracted]:
    """Yield the result of each page, in order; few are in memory at once."""
    if pages.single:
        for page in pages:
            yield extracted(page, wanted)
        return
    from concurrent.futures import Future, ProcessPoolExecutor

    from mmcrawl.archive.processes import begin_beside

    processes = cores()
    with ProcessPoolExecutor(processes, initializer=begin_beside) as pool:
        waiting: deque[Future[Extracted]] = deque()
        try:
            for page in pages:
                waiting.append(pool.submit(extracted, page, wanted))
                if len(waiting) >= _WAITING * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def _counted(results: Iterator[Extracted], total: int | None) -> Iterator[Extracted]:
    """Yield results, and tell on standard error how far it is."""
    from mmcrawl.commands.terminal.telling import Telling

    with Telling(f"{program()} blocks", "extracting pages") as telling:
        for count, one in enumerate(results, 1):
            yield one
            telling.progress("extracting pages", count, total or 0)


def write_out(text: str) -> None:
    """Write a document as UTF-8, whatever the terminal speaks."""
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def _into(folder: Path, form: Form) -> Callable[[Extracted], None]:
    """Return a function that writes a file for each page."""
    folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()

    def write(one: Extracted) -> None:
        name = _file_name(one.page, taken) + _ENDINGS[form]
        (folder / name).write_bytes(one.text.encode("utf-8", "replace"))

    return write


def _file_name(page: str, taken: set[str]) -> str:
    """Return a name that no other page has, after a path or an address."""
    bare = page.partition("://")[2] if is_address(page) else page
    end = _NO_NAME.sub("_", bare).encode()[-_LONGEST_NAME:].decode(errors="ignore")
    stem = end.strip("._") or "page"
    name, number = stem, 1
    while name.casefold() in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name.casefold())
    return name


def run(words: Sequence[str]) -> int | None:
    """Run ``mmcrawl blocks`` on contents of files; return the exit code, None for other calls."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--encoding", default="")
    parser.add_argument("--url", default="")
    parser.add_argument("--format", choices=get_args(Form))
    parser.add_argument("--output")
    parser.add_argument("--overwrite", action="store_true")
    try:
        opts, unknown = parser.parse_known_args(words)
    except argparse.ArgumentError:
        return None
    if not opts.format or not opts.names or unknown or any(map(is_address, opts.names)):
        return None
    return _ended(opts)


def _ended(opts: argparse.Namespace) -> int:
    """Run the request; return the exit code, with a sentence for an error."""
    from mmcrawl.commands.terminal.telling import broken_off_in_time, complain

    def say(problem: object) -> None:
        complain("blocks", problem)

    code = 1
    try:
        do = extract(opts.names, opts, say)
    except MmcrawlError as error:
        say(error)
        return 2
    try:
        with broken_off_in_time(lambda: say("stopped")):
            code = do()
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        say(f"{error.filename or opts.output or 'standard output'}: {error.strerror}")
    except KeyboardInterrupt:
        code = 130
    return code
