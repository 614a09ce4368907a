"""What the commands of mmcrawl have in common.

What goes wrong is one line and an exit code. What names a crawl, its archive or a topic every
command takes as `-a NAME=VALUE`, as `scrapy crawl` does, and as `--name VALUE`. A subcommand shows
and takes its own options alone.
"""

import argparse
import json
import os
import sys
from abc import ABC
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from textwrap import wrap
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TextIO, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError
from rich.console import Console
from scrapy.commands import ScrapyHelpFormatter
from scrapy.exceptions import UsageError

from mmcrawl.commands import SUMMARIES
from mmcrawl.commands.terminal.files import add_overwrite, add_target, new_file
from mmcrawl.commands.terminal.telling import Telling, broken_off_in_time, complain
from mmcrawl.crawl.params import DEMO_STORE, FocusedParams
from mmcrawl.crawl.spider_params import DEFAULT_STORE, ArchiveParams, checked_store, explain
from mmcrawl.errors import MissingStoreError, MmcrawlError, did_you_mean, fatal_error
from mmcrawl.frontier.database import is_crawl_store
from mmcrawl.settings import SettingsLike, check_names, value_of
from mmcrawl.store.uris import FILE, file_of, is_server
from mmcrawl.text.writing import CsvWriter, program

T_co = TypeVar("T_co", covariant=True)

PLACE: tuple[str, ...] = ("store", "archive")
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


def whole(text: str, option: str, least: int = 1, most: int | None = None) -> int:
    """Return the whole number that an option was given."""
    number = int(text[:9]) if text.isascii() and text.isdecimal() else least - 1
    if number < least or (most is not None and number > most):
        to = "" if most is None else f" to {most}"
        raise ValueError(f"{option} {text}: give a whole number from {least}{to}")
    return number


def one_of(text: str, option: str, choices: Collection[str]) -> str:
    """Return the choice that an option was given."""
    if text not in choices:
        raise ValueError(f"{option} {text}: unknown; choose from {', '.join(choices)}")
    return text


def add_output(parser: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    """Add the options of a command that writes in one of several formats, the first by default."""
    known = f"{', '.join(formats)} (default: {formats[0]})"
    parser.add_argument("--format", default=formats[0], help=known)
    add_target(parser, "-o", "--output", help="where to (default: standard output)")
    add_overwrite(parser)


def check_output(opts: argparse.Namespace, formats: Sequence[str]) -> None:
    """Refuse a format there is not, and a file that must not be written."""
    one_of(opts.format, "--format", formats)
    new_file(opts.output, "-o", overwrite=opts.overwrite)


def store_named(named: str) -> str:
    """Return the named store; by default crawl.db in this folder, else the demo's."""
    own, demo = (os.path.exists(file_of(store)) for store in (DEFAULT_STORE, DEMO_STORE))
    if not named and not own and demo:
        print("There is no crawl.db here: this is what the demo found.", file=sys.stderr)
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
    with open(os.path.expanduser(name), "w", encoding="utf-8", newline="") as file:
        yield file


def write_jsonl(rows: Iterable[Any], stream: TextIO) -> None:
    for row in rows:
        print(json.dumps(row, ensure_ascii=False), file=stream)


def write_csv(names: Iterable[str], rows: Iterable[Mapping[str, Any]], stream: TextIO) -> None:
    """Write rows below their names; a list is written as JSON, which keeps its parts apart."""
    writer = CsvWriter(stream, lineterminator="\n")
    writer.writerow(names := list(names))
    for row in rows:
        cells = (row[name] for name in names)
        writer.writerow(
            json.dumps(cell, ensure_ascii=False) if isinstance(cell, tuple) else cell
            for cell in cells
        )


def archive_params(opts: argparse.Namespace, settings: SettingsLike) -> ArchiveParams:
    """Return which archive is meant; where nothing is named, what MMCRAWL_ARCHIVE says."""
    values = {name: getattr(opts, name) for name in PLACE if getattr(opts, name)}
    if not values:
        values = {"archive": value_of(settings, "MMCRAWL_ARCHIVE") or ""}
    try:
        return ArchiveParams.model_validate(values)
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


class HelpFormatter(ScrapyHelpFormatter):
    """Scrapy's help, in which no line of an option's help is taken for a heading.

    Scrapy makes a heading of each line that ends with a colon, as lines do where the width has it.
    """

    def _split_lines(self, text: str, width: int) -> list[str]:
        lines = super()._split_lines(text.replace(": ", ":\xa0"), width)
        return [line.replace("\xa0", " ") for line in lines]


class _SubcommandsHelpFormatter(argparse.RawDescriptionHelpFormatter, HelpFormatter):
    """The same, with the lines of the description as they are."""


def as_given(text: Any, flag: str) -> Any:
    return text


@dataclass(frozen=True, slots=True, eq=False)
class Option(Generic[T_co]):
    """An option of one or several subcommands.

    Attributes:
        flag: As it is written; "-o --output" for both forms.
        default: Its value where it is not given.
        metavar: What stands behind it; "" for its name, None where nothing does.
        read: Returns its value, given the text and the flag; ValueError for what is none.
        action: What argparse does with it: "append" where it may be repeated, "extend" where
            several words may follow.
        name: Of the value, if that is not the flag's.
    """

    flag: str
    help: str
    default: T_co
    metavar: str | None = None
    read: Callable[[Any, str], T_co] = as_given
    is_target: bool = False
    action: str = "store"
    name: str = ""

    @property
    def dest(self) -> str:
        """How argparse calls it."""
        return self.name or self.flag.split()[-1].strip("-").replace("-", "_")

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        named: dict[str, Any] = {"dest": self.dest, "help": self.help}
        if self.metavar is None:
            parser.add_argument(*self.flag.split(), action="store_true", **named)
            return
        named["metavar"] = self.metavar or None
        if self.is_target:
            add_target(parser, *self.flag.split(), **named)
        else:
            several: dict[str, Any] = {"nargs": "+"} if self.action == "extend" else {}
            parser.add_argument(*self.flag.split(), action=self.action, **several, **named)

    def value(self, given: Any) -> T_co:
        """Return its value; ValueError if what was given is none."""
        return self.default if given in (None, False) else self.read(given, self.flag.split()[0])


JSON = Option("--json", "for programs: a line of JSON for each result", False)
OVERWRITE = Option("--overwrite", "replace a file that exists", False)


@dataclass(frozen=True, slots=True)
class Subcommand:
    """What a command can be told to do, as the help shows it.

    Attributes:
        name: "" for what the command does without one.
        arguments: What follows the name, for the help.
        words: How many words follow, at least and at most; a crawl or an archive is not counted.
        takes: Which arguments of the command; None for all.
    """

    name: str
    what: str
    arguments: str = ""
    words: tuple[int, int] = (0, 0)
    options: Sequence[Option[Any]] = ()
    takes: Sequence[str] | None = None

    @property
    def shown_arguments(self) -> str:
        """What follows the name in the help."""
        return self.arguments


class MmcrawlCommand(_Base):
    """A command that checks its arguments before it begins; a mixin before `ScrapyCommand`.

    Exit code 0: done; 1: failed; 2: a wrong argument, or a missing file; 130: Ctrl-C.

    Attributes:
        usage, details: For the help: what follows the name, and what it does; without details the
            line in the list of commands.
        arguments: That it takes by `-a NAME=VALUE` and `--name VALUE`; `model` has their help.
        has_operands: Whether words may follow that are no options.
        subcommands: What it can be told to do; none where it does one thing.
        unknown_hint: What is said besides of an option that is none.
        interrupted: What Ctrl-C makes it say; "" where it hears Ctrl-C itself, as its way to end.
        working: What it says while it takes long; "" where it shows more by itself.
    """

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}
    name: ClassVar[str]
    telling: Telling
    usage: ClassVar[str]
    details: ClassVar[str] = ""
    arguments: ClassVar[tuple[str, ...]]
    model: ClassVar[type[BaseModel]] = FocusedParams
    has_operands: ClassVar[bool] = False
    subcommands: ClassVar[Sequence[Subcommand]] = ()
    unknown_hint: ClassVar[str] = ""
    interrupted: ClassVar[str] = "stopped"
    working: ClassVar[str] = "working"

    def syntax(self) -> str:
        return self.usage

    def short_desc(self) -> str:
        return SUMMARIES[self.name]

    def long_desc(self) -> str:
        """Return what it does, and its subcommands, a line or two for each."""
        details = self.details or self.short_desc()
        if not self.subcommands:
            return details
        wide = max(len(one.name) for one in self.subcommands) + 2
        lines = [*wrap(details, _WIDTH), ""]
        for one in self.subcommands:
            indent = " " * wide
            lines += wrap(f"{one.name:<{wide}}{one.what}", _WIDTH, subsequent_indent=indent)
            lines += wrap(one.shown_arguments, _WIDTH, initial_indent=f"{indent}  ")
        return "\n".join([*lines, "", f"`scrapy {self.name} SUBCOMMAND --help` shows its options."])

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = HelpFormatter
        self._parser = parser
        self._own: list[tuple[Sequence[str], argparse._ArgumentGroup]] = []
        if self.subcommands:
            parser.formatter_class = _SubcommandsHelpFormatter
            shown = "show this help; after a subcommand, its options"
            parser.add_argument("-h", "--help", action="store_true", help=shown)
        own = {
            name: self._options_of(takers)
            for name in self.arguments
            if len(takers := self._takers(name)) < len(self.subcommands)
        }
        add_arguments(parser, self.arguments, self.model, own)
        takers_of: dict[Option[Any], list[str]] = {}
        for one in self.subcommands:
            for option in one.options:
                takers_of.setdefault(option, []).append(one.name)
        for option, names in takers_of.items():
            option.add_to(self._options_of(names))

    def _takers(self, argument: str) -> list[str]:
        """Return the names of the subcommands that take an argument."""
        subs = self.subcommands
        return [one.name for one in subs if one.takes is None or argument in one.takes]

    def _options_of(self, subcommands: Sequence[str]) -> argparse._ArgumentGroup:
        group = self._parser.add_argument_group()
        self._own.append((subcommands, group))
        return group

    def _named_in(self, args: Sequence[str]) -> Subcommand | None:
        """Return the subcommand that the first word names, or else the one without a name."""
        known = {one.name: one for one in self.subcommands}
        return known.get(args[0] if args and args[0] in known else "")

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Take over the options; show the help of a subcommand, and end, if it is asked for."""
        super().process_options(args, opts)
        if self.subcommands and opts.help:
            print(self._help_of(self._named_in(args)))
            raise SystemExit(0)

    def _help_of(self, subcommand: Subcommand | None) -> str:
        name = subcommand.name if subcommand else ""
        for names, group in self._own:  # are shown among the options, or not at all
            shown = group._group_actions if name in names else []
            self._parser._optionals._group_actions += shown
            group._group_actions = []
        every = len(self.subcommands)
        takes = [
            one
            for one in self.arguments
            if name in (takers := self._takers(one)) or len(takers) == every
        ]
        self._parser._option_string_actions["-a"].help = _help_of_arguments(takes)
        if subcommand and name:
            words = ("scrapy", self.name, name, subcommand.shown_arguments, "[options]")
            self._parser.usage = " ".join(filter(None, words))
            self._parser.description = f"{subcommand.what[0].upper()}{subcommand.what[1:]}."
        return self._parser.format_help()

    def _check_subcommand(self, args: list[str], opts: argparse.Namespace) -> None:
        """Refuse another subcommand, another number of words, and options of others.

        What was given to its options is read; the others have their defaults.
        """
        chosen = self._named_in(args)
        if chosen is None or (args and not chosen.name):
            what = f"there is no {args[0]!r}; " if args else ""
            names = ", ".join(one.name for one in self.subcommands if one.name)
            raise UsageError(f"{what}say one of {names}")
        name, called = chosen.name, f"scrapy {self.name} {chosen.name}".rstrip()
        least, most = chosen.words
        if not least <= len(args) - bool(name) <= most:
            raise UsageError(f"it is {called} {chosen.shown_arguments}".rstrip())
        for owners, group in self._own:
            for action in group._group_actions if name not in owners else ():
                if getattr(opts, action.dest) != action.default:
                    all_of = ", ".join(f"scrapy {self.name} {one}".rstrip() for one in owners)
                    flag = action.option_strings[0]
                    raise UsageError(f"{called} takes no {flag}, which belongs to {all_of}")
        for one in self.subcommands:
            for option in one.options:
                if option not in chosen.options:
                    setattr(opts, option.dest, option.default)
        for option in chosen.options:
            setattr(opts, option.dest, option.value(getattr(opts, option.dest)))

    def prepared(self, args: list[str], opts: argparse.Namespace) -> Callable[[], int | None]:
        """Check the arguments; return a function that does the work and returns an exit code.

        Raises:
            MmcrawlError, ValueError: it is wrong, in a sentence.
        """
        raise NotImplementedError

    def setting(self, name: str) -> Any:
        """Return the value of one of our settings, checked."""
        return value_of(self.settings, name)  # type: ignore[arg-type]

    def code_of(self, error: MmcrawlError) -> int:
        """Return the exit code for what went wrong while the command ran."""
        return 1

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        unknown = next((arg for arg in args if arg.startswith("-") and arg != "-"), None)
        if unknown is not None:
            raise UsageError(f"there is no option {unknown}; --help shows all{self.unknown_hint}")
        self._take_place(args, opts)
        if args and not self.has_operands:
            raise UsageError(f"{args[0]!r} is unexpected; give options instead")
        if isinstance(sys.stdout, TextIOWrapper):  # whose encoding may lack what pages have
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            with self._ends_when_told():
                self._run(args, opts)
        except KeyboardInterrupt:
            self.exitcode = 130

    def _ends_when_told(self) -> AbstractContextManager[None]:
        if not self.interrupted:
            return nullcontext()
        return broken_off_in_time(lambda: self.say(self.interrupted))

    def _run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            check_names(self.settings or ())
            read_arguments(opts, self.arguments)
            if self.subcommands:
                self._check_subcommand(args, opts)
            do = self.prepared(args, opts)
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

    def _take_place(self, args: list[str], opts: argparse.Namespace) -> None:
        """Take an archive, or the crawl whose archive is meant, named without an option.

        So are `rank FILE.db` and `archive list FILE.db`; a crawl alone stands last, as in
        `works show ID FILE.db`.
        """
        of_archive = "archive" in self.arguments
        chosen = self._named_in(args)
        named = chosen is not None and chosen.name != ""
        behind = int(named or (self.has_operands and of_archive))
        if not of_archive:
            if chosen is None or "store" not in self.arguments:
                return
            behind += chosen.words[1]
            if len(args) != behind + 1:
                return
        place = args[behind] if len(args) > behind else ""
        if is_server(place) or place.startswith("sqlite:///") or place.endswith(".db"):
            is_crawl = not of_archive or is_crawl_store(Path(place.removeprefix(FILE)))
            opts.arguments.append(f"{'store' if is_crawl else 'archive'}={args.pop(behind)}")

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
    """Return standard output as wide as it is, or of so many columns where nobody tells."""
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if known else width, highlight=False)


def add_arguments(
    parser: argparse.ArgumentParser,
    names: Sequence[str],
    model: type[BaseModel] = FocusedParams,
    own: Mapping[str, argparse._ArgumentGroup] = MappingProxyType({}),
) -> None:
    """Add arguments of a spider to the options of a command; their help is that of the model."""
    parser.add_argument(
        "-a",
        dest="arguments",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=_help_of_arguments(names),
    )
    for name in names:
        told = model.model_fields[name].description or ""
        to = own.get(name, parser)
        to.add_argument(_option(name), dest=name, default="", help=told.replace("%", "%%"))


def _help_of_arguments(names: Sequence[str]) -> str:
    if not names:
        return argparse.SUPPRESS
    return f"as for scrapy crawl: {', '.join(names)}; the same as {_option(names[0])} VALUE, …"


def read_arguments(opts: argparse.Namespace, names: Sequence[str]) -> None:
    """Set what was given with `-a` as if it had been given by the option of its name."""
    for pair in opts.arguments:
        name, sign, value = pair.partition("=")
        if not sign:
            raise MmcrawlError(f"-a {name}: give NAME=VALUE, as -a {names[0]}=VALUE")
        if name not in names:
            hint = f"there are {', '.join(names)}{did_you_mean(name, names)}"
            raise MmcrawlError(f"there is no argument {name!r}; {hint}")
        if getattr(opts, name) not in ("", value):
            raise MmcrawlError(f"{name} is given twice: {getattr(opts, name)} and {value}")
        setattr(opts, name, value)


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
