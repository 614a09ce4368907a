"""The content of many pages, by all cores: read, extracted, written.

Nothing here needs Scrapy, whose import alone takes longer than a hundred pages do.
"""

import argparse
import json
import os
import re
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, get_args

from mmcrawl.blocks.content.content import Form, page_content
from mmcrawl.commands.terminal.files import (
    PageFile,
    PageFiles,
    is_address,
    new_file,
    new_folder,
    page_problem,
)
from mmcrawl.errors import MmcrawlError
from mmcrawl.page.encoding import codec_of

_ENDINGS: dict[Form, str] = {"md": ".md", "txt": ".txt", "json": ".json"}
_NO_NAME = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 120  # bytes of a file that is named after an address
_WAITING = 8  # pages per process that are read ahead
_CHARACTERS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)))
_DIRECTIONS = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of each page.

    Attributes:
        lines: Whether JSON stands on one line, with the ``source`` of the page.
    """

    form: Form
    encoding: str = ""
    lines: bool = False


@dataclass(frozen=True, slots=True)
class Extracted:
    """What became of a page: its content as text, or what is wrong with it."""

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
    """Check what was asked for; return what does it, which returns an exit code."""
    processes = _processes(opts.processes)
    pages = PageFiles(names, opts.url, say)
    lines = opts.format == "json" and not pages.single
    wanted = Wanted(opts.format, encoding_named(opts.encoding), lines)
    target = Path(opts.output).expanduser() if opts.output else None
    _check(target, pages, wanted, overwrite=opts.overwrite)
    return lambda: _extract(pages, wanted, target, 1 if pages.single else processes, say)


def _processes(written: str | None) -> int:
    if written is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if not (written.isascii() and written.isdecimal() and 1 <= int(written[:5]) <= 256):
        raise MmcrawlError(f"--processes {written}: give a whole number from 1 to 256")
    return int(written)


def _check(target: Path | None, pages: PageFiles, wanted: Wanted, *, overwrite: bool) -> None:
    if target is None:
        if not pages.single and wanted.form != "json":
            raise MmcrawlError(
                f"several pages as {wanted.form}: name a folder with --output, or take --format"
                " json, a line a page"
            )
    elif pages.single or target.suffix == ".jsonl":
        new_file(str(target), "--output", overwrite=overwrite)
        if target.suffix == ".jsonl" and wanted.form != "json":
            raise MmcrawlError(f"--output {target} goes with --format json")
    else:
        new_folder(target, "--output", overwrite=overwrite)


def _extract(
    pages: PageFiles,
    wanted: Wanted,
    target: Path | None,
    processes: int,
    say: Callable[[object], None],
) -> int:
    done = problems = 0
    with ExitStack() as stack:
        write = _writer(target, pages, wanted, stack)
        results = _over(pages, wanted, processes)
        for one in _shown(results, pages.total) if not pages.single else results:
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


def _over(pages: Iterable[PageFile], wanted: Wanted, processes: int) -> Iterator[Extracted]:
    """Yield what becomes of each page, in order; few are in memory at once."""
    if processes == 1:
        for page in pages:
            yield extracted(page, wanted)
        return
    from concurrent.futures import Future, ProcessPoolExecutor

    from mmcrawl.archive.processes import begin_beside

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


def _shown(results: Iterator[Extracted], total: int | None) -> Iterator[Extracted]:
    """Yield results, and show on a terminal how far it is."""
    if not sys.stderr.isatty():
        yield from results
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total)
        for one in results:
            yield one
            progress.advance(task)


def _writer(
    target: Path | None, pages: PageFiles, wanted: Wanted, stack: ExitStack
) -> Callable[[Extracted], None]:
    """Return what writes a content: to standard output, to one file, or to one for each page."""
    if target is None:
        return lambda one: _write(sys.stdout.buffer, one.text)
    if pages.single or target.suffix == ".jsonl":
        new = _NewFile(target)
        stack.callback(new.close)
        return new.write
    target.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()

    def write(one: Extracted) -> None:
        name = _file_name(one.page, taken) + _ENDINGS[wanted.form]
        text = one.text
        if wanted.form == "json":
            text = json.dumps(json.loads(text), ensure_ascii=False, indent=2) + "\n"
        (target / name).write_bytes(text.encode("utf-8", "replace"))

    return write


class _NewFile:
    """A file that takes the place of what is there once something was written to it.

    So a page may be its own target, and one that gives nothing costs no earlier result.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self._beside = target.with_name(f"{target.name}.part")
        self._file: IO[bytes] | None = None

    def write(self, one: Extracted) -> None:
        if self._file is None:
            self._file = self._beside.open("wb")
        _write(self._file, one.text)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._beside.replace(self._target)


def _write(file: IO[bytes], text: str) -> None:
    file.write(text.encode("utf-8", "replace"))
    file.flush()


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
    """Do what was typed behind ``mmcrawl blocks``, if it asks for contents of files.

    Returns:
        The exit code; None if it is for the command of that name, which fetches and draws.
    """
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--encoding", default="")
    parser.add_argument("--url", default="")
    parser.add_argument("--format", choices=get_args(Form))
    parser.add_argument("--output")
    parser.add_argument("--overwrite", action="store_true")
    parser.add_argument("--processes")
    try:
        opts, unknown = parser.parse_known_args(words)
    except argparse.ArgumentError:
        return None
    if not opts.format or not opts.names or unknown or any(map(is_address, opts.names)):
        return None
    return _ended(opts)


def _ended(opts: argparse.Namespace) -> int:
    """Do what was asked for; return the exit code, with a sentence for what went wrong."""
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
