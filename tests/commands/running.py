"""Commands run in this process, as Scrapy runs them, and as a person types them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from scrapy.cmdline import ScrapyArgumentParser
from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from tests.waiting import HANG
from tests.warm import python


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


def typed(
    *words: str, folder: Path, encoding: str | None = "utf-8", answer: str | None = None
) -> subprocess.CompletedProcess[Any]:
    """Run `scrapy` with what a person types behind it, in a folder.

    Without an encoding what it writes is bytes.
    """
    environment = {
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "SCRAPY_SETTINGS_MODULE": "mmcrawl.settings",
    }
    return subprocess.run(
        [python(), "-m", "scrapy", *words],
        capture_output=True,
        encoding=encoding,
        cwd=folder,
        env=os.environ | environment,
        input=answer,
        timeout=HANG,
        check=False,
    )


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
