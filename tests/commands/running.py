"""Commands run in this process, as Scrapy runs them, and as a person types them."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from scrapy import cmdline
from scrapy.cmdline import ScrapyArgumentParser
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from mmcrawl.commands import main


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
    try:
        command.process_options(rest, options)
    except SystemExit as end:
        return int(end.code or 0)
    command.run(rest, options)
    return command.exitcode


def ran(name: str, *words: str, folder: Path, answer: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command that crawls nothing as `typed` does, but in this process."""
    made = import_module(f"mmcrawl.commands.{name}").Command
    with (
        pytest.MonkeyPatch.context() as patched,
        chdir(folder),
        redirect_stdout(io.StringIO()) as out,
        redirect_stderr(io.StringIO()) as err,
    ):
        patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(answer.encode())))
        try:
            code = exit_code(made, *words)
        except UsageError as error:
            code = 2
            print(f"scrapy {name}: error: {error}", file=err)
    return subprocess.CompletedProcess([name, *words], code, out.getvalue(), err.getvalue())


def called(program: str, *words: str, capture: pytest.CaptureFixture[str]) -> Said:
    """Run `scrapy` or `mmcrawl` in this process, which ends before anything is crawled."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SCRAPY_SETTINGS_MODULE", "mmcrawl.settings")
        patched.setattr(sys, "argv", [f"/bin/{program}", *words])
        for name in ("ScrapyArgumentParser", "print"):  # commands of ours put theirs in place
            patched.setattr(cmdline, name, vars(cmdline).get(name, print), raising=False)
        with pytest.raises(SystemExit) as end:
            main() if program == "mmcrawl" else cmdline.execute()
    return Said(int(end.value.code or 0), *capture.readouterr())


def runner(make: type[ScrapyCommand], capture: pytest.CaptureFixture[str]) -> Run:
    """Return what runs a command and tells what it said."""
    return lambda *args, **settings: Said(exit_code(make, *args, **settings), *capture.readouterr())
