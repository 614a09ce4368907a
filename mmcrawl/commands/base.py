"""Shared by all commands of mmcrawl.

An error is one line and an exit code. Every command takes the crawl, its archive and its topic as
`-a NAME=VALUE`, as `scrapy crawl` does, and as `--name VALUE`. A subcommand shows and accepts only
its own options.
"""

import argparse
import json
import os
import sys
from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from math import inf
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TextIO, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError
from rich.console import Console

from mmcrawl.commands import SUMMARIES
from mmcrawl.commands.terminal.files import Target, new_file
from mmcrawl.commands.terminal.telling import Telling, broken_off_in_time, complain
from mmcrawl.crawl.params import DEMO_STORE, FocusedParams
from mmcrawl.crawl.spider_params import DEFAULT_STORE, ArchiveParams, checked_store, explain
from mmcrawl.errors import MissingStoreError, MmcrawlError, did_you_mean, fatal_error
from mmcrawl.frontier.database import is_crawl_store
from mmcrawl.settings import SettingsLike, check_names, value_of
from mmcrawl.store.uris import FILE, file_of, is_server
from mmcrawl.text.writing import CsvWriter, as_called, program

_Params = TypeVar("_Params", bound=BaseModel)
THE_DEMO = "There is no crawl.db here: this is what the demo found."
PLACE = ("store", "archive")
"""Arguments that name an archive: by its crawl, or itself."""


def web_address(text: str) -> str:
    """Return an address that a user wrote."""
    try:
        parts = urlsplit(text)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ValueError(f"{text!r} is no URL; write it as http://host/path")
    return text


def whole(text: str, least: int = 1, most: int | None = None) -> int:
    """Return the whole number that an option was given."""
    number = int(text[:9]) if text.isascii() and text.isdecimal() else least - 1
    if number < least or (most is not None and number > most):
        to = "" if most is None else f" to {most}"
        raise ValueError(f"give a whole number from {least}{to}, not {text[:20]!r}")
    return number


def store_named(named: str) -> str:
    """Return the named store; by default crawl.db in this folder, else the demo's."""
    own, demo = (os.path.exists(file_of(store)) for store in (DEFAULT_STORE, DEMO_STORE))
    if not named and not own and demo:
        print(THE_DEMO, file=sys.stderr)
    store = checked_store(named or (DEMO_STORE if demo and not own else DEFAULT_STORE))
    if store == "memory:":
        raise ValueError("memory: keeps nothing; name the file or the database of a crawl")
    return store


@contextmanager
def output_to(name: str | None) -> Iterator[TextIO]:
    """Open a file that a user named to write text to; standard output for none, and for ``-``."""
    if name in (None, "", "-"):
        yield sys.stdout
        return
    path = os.path.expanduser(name)
    with open(path, "w", encoding="utf-8", newline="") as file:
        try:
            yield file
            file.flush()
        except OSError:  # what came of it would be in the way of the same command
            if os.path.isfile(path) and not os.path.islink(path):
                os.remove(path)
            raise


def as_json(record: Any) -> str:
    """Return a record as one line; addresses may hold characters that no encoding has."""
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "replace").decode()


def write_rows(
    rows: Iterable[Mapping[str, Any]], form: str, stream: TextIO, names: Iterable[str]
) -> None:
    """Write rows as `jsonl` or `csv`; a tuple in a cell is written as JSON."""
    if form == "jsonl":
        for row in rows:
            print(as_json(row), file=stream)
        return
    writer = CsvWriter(stream, lineterminator="\n")
    writer.writerow(names := list(names))
    for row in rows:
        cells = (row[name] for name in names)
        writer.writerow(as_json(cell) if isinstance(cell, tuple) else cell for cell in cells)


def archive_params(opts: argparse.Namespace, settings: SettingsLike) -> ArchiveParams:
    """Return the URI of the archive: as given, else the setting MMCRAWL_ARCHIVE."""
    values = {name: getattr(opts, name) for name in PLACE if getattr(opts, name)}
    if not values:
        values = {"archive": value_of(settings, "MMCRAWL_ARCHIVE") or ""}
    return checked(ArchiveParams, values)


def checked(model: type[_Params], values: Mapping[str, Any]) -> _Params:
    """Return the arguments of a spider; a wrong one raises MmcrawlError with one sentence."""
    try:
        return model(**values)
    except ValidationError as error:
        raise MmcrawlError("; ".join(explain(error))) from error


def ruffle_folder(named: str | None) -> Path | None:
    """Return the folder of the web build of Ruffle that a setting names, None for none."""
    if not named:
        return None
    folder = Path(os.path.expanduser(named))
    if not (folder / "ruffle.js").is_file():
        raise ValueError(
            f"MMCRAWL_RUFFLE={named}: there is no ruffle.js; name the folder of its web build"
        )
    return folder


_WIDTH = 79

# Scrapy takes every subclass of ScrapyCommand beside this module for a command to be listed. Of an
# object with the base that ScrapyCommand has, `Later` can become an instance.
if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand as _Base
else:
    _Base = ABC


class Option:
    """An option, as argparse's `add_argument` takes it.

    Args:
        target: Whether it names a file to write, which `new_file` checks before the work begins.
        type: May raise ValueError or MmcrawlError with a sentence.
    """

    def __init__(
        self,
        *flags: str,
        target: bool = False,
        type: Callable[[str], Any] | None = None,
        **named: Any,
    ) -> None:
        if target:
            named = {"action": Target, "metavar": "FILE"} | named
        if type is not None:
            named["type"] = _told(type)
        self.flags, self.named, self.is_target = flags, named, target

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(*self.flags, **self.named)


def _told(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Let argparse show the message of a ValueError."""

    def call(text: str) -> Any:
        try:
            return read(text)
        except (ValueError, MmcrawlError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return call


def flag(name: str, help: str) -> Option:
    """Return an option without a value."""
    return Option(name, action="store_true", help=help)


JSON: Option = flag("--json", "for programs: a line of JSON for each result")
SHOWN = 20
"""Rows of a table that are shown unless ``--limit`` says how many."""
LIMIT: Option = Option(
    "--limit",
    type=partial(whole, least=0),
    metavar="N",
    help=f"maximum number of rows, 0 for all (default: {SHOWN} in a table)",
)
OVERWRITE: Option = flag("--overwrite", "replace a file that exists")


def output(*formats: str) -> tuple[Option, ...]:
    """Return the options of a command for several formats (see `written`), the first by default."""
    known = f"{', '.join(formats)} (default: {formats[0]})"
    return (
        Option("--format", choices=formats, default=formats[0], metavar="FORMAT", help=known),
        Option("-o", "--output", target=True, help="where to (default: standard output)"),
        OVERWRITE,
    )


@dataclass(frozen=True, slots=True)
class Subcommand:
    """A subcommand.

    Attributes:
        arguments: Words that follow the name, as the help shows them: "URL [V1 V2]", "FILE…";
            those in brackets are last and may be left out.
        fetches: Whether it asks the network, for which Scrapy's process is made; that takes time.
    """

    name: str  # "" for what the command does without one
    what: str
    arguments: str = ""
    options: Sequence[Option] = ()
    takes: Sequence[str] | None = None  # which arguments of the command; None for all
    fetches: bool = False

    @property
    def words(self) -> tuple[int, float]:
        """The number of words after the name, at least and at most."""
        most = inf if "…" in self.arguments else len(self.arguments.split())
        needed, _, _ = self.arguments.partition("[")
        return len(needed.split()), most


class _Argument(argparse.Action):
    """Sets an argument by `-a NAME=VALUE` as the option of its name does."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        name, sign, value = values.partition("=")
        names: Sequence[str] = self.const
        if not sign:
            parser.error(f"-a {name}: give NAME=VALUE, as -a {names[0]}=VALUE")
        if name not in names:
            hint = f"there are {', '.join(names)}{did_you_mean(name, names)}"
            parser.error(f"there is no argument {name!r}; {hint}")
        setattr(namespace, name, value)


class _Parser(argparse.ArgumentParser):
    """argparse's parser, with errors on one line."""

    command: str

    def error(self, message: str) -> NoReturn:
        complain(self.command, message.removeprefix("argument "))
        raise SystemExit(2)


class MmcrawlCommand(_Base):
    """A command that checks its arguments before it begins; a mixin before `ScrapyCommand`.

    Exit code 0: done; 1: failed; 2: a wrong argument, or a missing file; 130: Ctrl-C.

    Attributes:
        details: What it does, for the help; without them the line in the list of commands.
        arguments: That it takes by `-a NAME=VALUE` and `--name VALUE`; `model` has their help.
        subcommands: What it can be told to do; a command that does one thing, and takes no words,
            has `options` instead.
        interrupted: What Ctrl-C makes it say; "" where it hears Ctrl-C itself, as its way to end.
        working: What it says while it takes long; "" where it shows more by itself.
    """

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}
    name: ClassVar[str]
    telling: Telling
    details: ClassVar[str] = ""
    arguments: ClassVar[tuple[str, ...]]
    model: ClassVar[type[BaseModel]] = FocusedParams
    subcommands: ClassVar[Sequence[Subcommand]]
    options: ClassVar[Sequence[Option]]
    unknown_hint: ClassVar[str] = ""  # what is said besides of an option that is none
    interrupted: ClassVar[str] = "stopped"
    working: ClassVar[str] = "working"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "options" in vars(cls):
            cls.subcommands = (Subcommand("", "", options=cls.options),)

    def syntax(self) -> str:
        return "WHAT [options]"

    def short_desc(self) -> str:
        return SUMMARIES[self.name]

    def long_desc(self) -> str:
        """Return the description, and the subcommands, a line or two for each."""
        lines = wrap(self.details or self.short_desc(), _WIDTH)
        named = [one for one in self.subcommands if one.name]
        if not named:
            return "\n".join(lines)
        wide = max(len(one.name) for one in named) + 2
        for one in named:
            told = f"{one.name:<{wide}}{one.what}"
            lines += wrap(told, _WIDTH, subsequent_indent=" " * wide)
        return "\n".join([*lines, "", f"`scrapy {self.name} WHAT --help` shows its options."])

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Leave all but `--help` to the parser of the subcommand."""
        parser.add_argument("-h", "--help", action="store_true")

    def parser_of(self, chosen: Subcommand | None) -> argparse.ArgumentParser:
        """Return the parser for the options of a subcommand; None for a command without one."""
        name, shown = (chosen.name, chosen.arguments) if chosen else ("", "WHAT")
        place = "" if not chosen or self._taken(chosen).isdisjoint(PLACE) else "[FILE.db]"
        words = ["scrapy", self.name, name, *self._ordered(place, shown), "[options]"]
        what = f"{chosen.what[0].upper()}{chosen.what[1:]}." if chosen and name else ""
        parser = _Parser(
            usage=" ".join(filter(None, words)),
            description=what or self.long_desc(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.command = self.name
        parser.set_defaults(**dict.fromkeys(self.arguments, ""))
        if taken := [one for one in self.arguments if chosen and one in self._taken(chosen)]:
            parser.add_argument(
                "-a",
                action=_Argument,
                const=taken,
                metavar="NAME=VALUE",
                help=f"as for scrapy crawl: {', '.join(taken)}; the same as {_option(taken[0])} …",
            )
        for argument in taken:
            told = (self.model.model_fields[argument].description or "").replace("%", "%%")
            parser.add_argument(_option(argument), dest=argument, default="", help=told)
        for option in chosen.options if chosen else ():
            option.add_to(parser)
        super().add_options(parser)
        return parser

    def _taken(self, chosen: Subcommand) -> set[str]:
        return {*(self.arguments if chosen.takes is None else chosen.takes)}

    def _ordered(self, place: str, words: str) -> tuple[str, str]:
        """An archive stands first, as in `archive show FILE.db URL`, a crawl last."""
        return (place, words) if "archive" in self.arguments else (words, place)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options of the subcommand; ends the process if one is wrong, or for help."""
        known = {one.name: one for one in self.subcommands}
        chosen = known.get(args[0] if args else "") or known.get("")
        words = args[1:] if chosen and chosen.name else args
        parser = self.parser_of(chosen)
        if opts.help:
            print(as_called(parser.format_help()), end="")
            raise SystemExit(0)
        names = ", ".join(filter(None, known))
        if chosen is None:
            what = f"there is no {args[0]!r}; " if args else ""
            parser.error(f"{what}say one of {names}")
        _, words = parser.parse_known_args(words, opts)
        if unknown := next((one for one in words if one.startswith("-") and one != "-"), None):
            hint = did_you_mean(unknown, parser._option_string_actions)
            parser.error(
                f"there is no option {unknown}{hint or '; --help shows all'}{self.unknown_hint}"
            )
        self._take_place(chosen, words, opts)
        least, most = chosen.words
        if names and words and not chosen.name and most < len(words):
            parser.error(f"there is no {words[0]!r}; say one of {names}")
        if not least <= len(words) <= most:
            parser.error(f"it is {parser.usage}")
        self.chosen, self.words = chosen, words
        self.requires_crawler_process = chosen.fetches
        super().process_options(args, opts)

    def _take_place(self, chosen: Subcommand, words: list[str], opts: argparse.Namespace) -> None:
        """Accept an archive, or a crawl, named without an option."""
        taken, behind = self._taken(chosen), 0
        if "archive" not in self.arguments:
            behind = len(words) - 1
            if "store" not in taken or behind != chosen.words[1]:
                return
        place = words[behind] if words and not taken.isdisjoint(PLACE) else ""
        if is_server(place) or place.startswith("sqlite:///") or place.endswith(".db"):
            is_crawl = "archive" not in taken or is_crawl_store(Path(place.removeprefix(FILE)))
            setattr(opts, "store" if is_crawl else "archive", words.pop(behind))

    def prepared(self, args: list[str], opts: argparse.Namespace) -> Callable[[], int | None]:
        """Check the arguments; return a function that does the work and returns an exit code."""
        raise NotImplementedError

    def setting(self, name: str) -> Any:
        """Return the value of one of our settings, checked."""
        return value_of(self.settings, name)  # type: ignore[arg-type]

    def code_of(self, error: MmcrawlError) -> int:
        """Return the exit code for what went wrong while the command ran."""
        return 1

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if isinstance(sys.stdout, TextIOWrapper):  # whose encoding may lack what pages have
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            with self._ends_when_told():
                self._run(opts)
        except KeyboardInterrupt:
            self.exitcode = 130

    def _ends_when_told(self) -> AbstractContextManager[None]:
        if not self.interrupted:
            return nullcontext()
        return broken_off_in_time(lambda: self.say(self.interrupted))

    def _run(self, opts: argparse.Namespace) -> None:
        try:
            check_names(self.settings or ())
            for option in self.chosen.options:
                if option.is_target:
                    named = getattr(opts, option.flags[-1].strip("-"))
                    new_file(named, option.flags[0], overwrite=opts.overwrite)
            do = self.prepared(self.words, opts)
        except (MmcrawlError, ValueError) as error:
            self.say(error, 2)
            return
        except OSError as error:
            self.say(_why(error), 2)
            return
        self.telling = Telling(f"{program()} {self.name}", self.working)
        try:
            with self.telling:
                self.exitcode = do() or 0
                sys.stdout.flush()
        except MmcrawlError as error:
            self.say(error, 2 if isinstance(error, MissingStoreError) else self.code_of(error))
        except BrokenPipeError:  # the reader has seen enough
            _drop_output()
            self.exitcode = 1
        except OSError as error:
            self.say(_why(error), 2 if isinstance(error, FileNotFoundError) else 1)
            try:
                sys.stdout.flush()
            except OSError:
                _drop_output()

    def say(self, problem: object, code: int = 0) -> None:
        """Name a problem on standard error; `code` is the exit code."""
        complain(self.name, problem)
        self.exitcode = code


def _drop_output() -> None:
    """Discard the remaining output, so that closing it raises no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _why(error: OSError) -> object:
    named = f"{error.filename}: {error.strerror}" if error.filename else error
    return fatal_error(error) or named


def console_of(width: int = 110) -> Console:
    """Return a console of the width of standard output, or of some columns if that is unknown."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if known else width, highlight=False)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
