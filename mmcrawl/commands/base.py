"""What the commands of mmcrawl have in common: what goes wrong is one line and an exit code."""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import Console
from scrapy.exceptions import UsageError

from mmcrawl.commands.arguments import add_arguments, read_arguments, take_archive
from mmcrawl.errors import MmcrawlError
from mmcrawl.terminal.program import complain

# Scrapy takes every subclass of ScrapyCommand beside this module for a command to be listed.
if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand as _Base
else:
    _Base = object


class MmcrawlCommand(_Base):
    """A command that checks all it was told before it begins; goes before `ScrapyCommand`.

    Exit code 0: done; 1: it could not be done; 2: what was told is wrong; 130: Ctrl-C.

    Attributes:
        name: As it is typed.
        usage, summary, details: For the help: what follows the name, and what it does.
        arguments: Of the crawl, that it takes by `-a NAME=VALUE` and `--name VALUE`.
        has_operands: Whether words may follow that are no options.
        interrupted: What Ctrl-C makes it say.
    """

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}
    name: ClassVar[str]
    usage: ClassVar[str]
    summary: ClassVar[str]
    details: ClassVar[str] = ""
    arguments: ClassVar[tuple[str, ...]]
    has_operands: ClassVar[bool] = False
    interrupted: ClassVar[str] = "stopped"

    def syntax(self) -> str:
        return self.usage

    def short_desc(self) -> str:
        return self.summary

    def long_desc(self) -> str:
        return self.details or self.summary

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_arguments(parser, self.arguments)

    def prepared(self, args: list[str], opts: argparse.Namespace) -> Callable[[], int | None]:
        """Check what was told; return what does it, which returns an exit code if not 0.

        Raises:
            MmcrawlError, ValueError: it is wrong, in a sentence.
        """
        raise NotImplementedError

    def code_of(self, error: MmcrawlError) -> int:
        """Return the exit code for what went wrong while the command ran."""
        return 1

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if "archive" in self.arguments:
            take_archive(args, opts, behind=int(self.has_operands))
        if args and not self.has_operands:
            raise UsageError(f"{args[0]!r} is not understood; all is said with options")
        try:
            read_arguments(opts, self.arguments)
            do = self.prepared(args, opts)
        except (MmcrawlError, ValueError) as error:
            self.say(error, 2)
            return
        try:
            self.exitcode = do() or 0
            sys.stdout.flush()
        except MmcrawlError as error:
            self.say(error, self.code_of(error))
        except BrokenPipeError:  # the reader has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.exitcode = 1
        except OSError as error:
            self.say(f"{error.filename}: {error.strerror}" if error.filename else error, 1)
        except KeyboardInterrupt:
            self.say(self.interrupted, 130)

    def say(self, problem: object, code: int = 0) -> None:
        """Name a problem on standard error; `code` is the exit code."""
        complain(self.name, problem)
        self.exitcode = code


def console_of(width: int = 110) -> Console:
    """Return standard output as wide as it is, or of so many columns where nobody tells."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if known else width, highlight=False)


def whole(text: str, option: str, least: int = 1, most: int | None = None) -> int:
    """Return the whole number that an option was given.

    Raises:
        ValueError: it is none, or out of bounds.
    """
    number = int(text[:9]) if text.isascii() and text.isdecimal() else least - 1
    if number < least or (most is not None and number > most):
        to = "" if most is None else f" to {most}"
        raise ValueError(f"{option} {text}: give a whole number from {least}{to}")
    return number


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """Let SIGTERM end what runs as Ctrl-C does: no process and no semaphore is left behind."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
