"""Commands run in this process, as Scrapy runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from scrapy.cmdline import ScrapyArgumentParser
from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings


class Said(NamedTuple):
    """What a run of a command came to."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """What was written, with one space between words."""
        return " ".join(self.out.split())

    def lines(self) -> list[dict[str, Any]]:
        """Return what was written, a line of JSON each."""
        return [json.loads(line) for line in self.out.splitlines()]

    def json(self) -> Any:
        """Return what was written, if it is one line of JSON."""
        [line] = self.lines()
        return line


Run = Callable[..., Said]


def exit_code(make: type[ScrapyCommand], *args: str, **settings: object) -> int:
    """Run a command with what is typed behind its name."""
    command = make()
    command.settings = Settings(settings)
    parser = ScrapyArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    options, rest = parser.parse_known_args(args)
    command.run(rest, options)
    return command.exitcode


def runner(make: type[ScrapyCommand], capture: pytest.CaptureFixture[str]) -> Run:
    """Return what runs a command and tells what it said."""
    return lambda *args, **settings: Said(exit_code(make, *args, **settings), *capture.readouterr())
