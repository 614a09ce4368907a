"""Every command line in README and docs is one that can be typed, and every command is found."""

import argparse
import re
import shlex
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module
from itertools import repeat, takewhile
from pathlib import Path
from typing import Any

from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from mmcrawl.crawl import ArchiveParams, CollectParams, FocusedParams
from mmcrawl.scoring import algorithm_names, default_parameters
from mmcrawl.settings import declared
from tests.tables import each

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = ROOT / "mmcrawl" / "commands"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
OF_SCRAPY = {"startproject", "genspider", "settings", "view", "version", "bench", "runspider"}
OF_BENCHMARKS = {"--without", "--first"}
OWN_SPIDERS = {"focused", "revisit", "collect"}
_LINE = re.compile(r"(?:[\w./]*bin/)?(scrapy|mmcrawl) +([a-z].*)")


def commands() -> set[str]:
    """Return the modules and packages that hold a command."""
    paths = [*COMMANDS.glob("*.py"), *COMMANDS.glob("*/__init__.py")]
    names = {path.stem if path.stem != "__init__" else path.parent.name for path in paths}
    found = {name: import_module(f"mmcrawl.commands.{name}") for name in names - {"commands"}}
    return {
        name
        for name, module in found.items()
        if issubclass(getattr(module, "Command", object), ScrapyCommand)
    }


def test_every_command_is_found_in_another_project() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text)["project"]["entry-points"]["scrapy.commands"]
    assert entries == {name: f"mmcrawl.commands.{name}:Later" for name in commands()}


@cache
def _made(command: str) -> tuple[Any, argparse.ArgumentParser]:
    made = import_module(f"mmcrawl.commands.{command}").Command()
    made.settings = Settings()
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    made.add_options(parser)
    return made, parser


def command_of(command: str) -> Any:
    return _made(command)[0]


def parser_of(command: str) -> argparse.ArgumentParser:
    return _made(command)[1]


def parsers_of(command: str) -> list[argparse.ArgumentParser]:
    """Return a parser for each subcommand."""
    made, parser = _made(command)
    subcommands = getattr(made, "subcommands", ())
    return [made.parser_of(one) for one in subcommands] or [parser]


@cache
def arguments_of(spider: str) -> set[str]:
    if spider == "focused":
        own = {name for algorithm in algorithm_names() for name in default_parameters(algorithm)}
        return {*FocusedParams.model_fields, *own}
    return {*(CollectParams if spider == "collect" else ArchiveParams).model_fields}


def command_lines(text: str) -> Iterator[str]:
    """Yield what is typed in the code of a page."""
    code = re.findall(r"^ *```[^\n]*\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)
    lines = [line.strip() for block in code for line in re.sub(r"\\\n", " ", block).splitlines()]
    text = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    for line in [*lines, *(" ".join(one.split()) for one in re.findall(r"`([^`]+)`", text))]:
        if found := _LINE.fullmatch(line.removeprefix("$ ")):
            yield found[0]


def options_alone(text: str) -> Iterator[str]:
    """Yield the options that stand in running text, as those of any command."""
    text = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    for code in re.findall(r"`(--?[a-z][^`]*)`", text):
        yield re.match(r"(--[a-z-]+|-[a-zA-Z])", code)[0]


def problems_of(line: str) -> Iterator[str]:
    """Yield what cannot be typed so."""
    program, command, *words = takewhile(
        lambda word: word not in ("|", ">", "&", "&&", ";"), shlex.split(line, comments=True)
    )
    if "mmcrawl" in program and command == "revisit":
        command, words = "crawl", ["revisit", *words]
    first = words[0] if words else ""
    if command not in commands():
        yield from [] if command in OF_SCRAPY else [f"no command {command}"]
    elif subcommands := {one.name: one for one in getattr(command_of(command), "subcommands", ())}:
        chosen = subcommands.get(first) or subcommands.get("")
        if chosen:
            yield from wrong_options(command_of(command).parser_of(chosen), command, words)
        elif first not in ("", "…") and first[:1] != "-" and "|" not in first:
            yield f"no subcommand {first}"
    elif command != "crawl" or first in OWN_SPIDERS or first[:1] in ("", "-"):  # else the reader's
        spider = first if first in OWN_SPIDERS else "focused"
        known = arguments_of(spider) if command == "crawl" else ()
        yield from wrong_options(parser_of(command), command, words, known)


def wrong_options(
    parser: argparse.ArgumentParser, command: str, words: list[str], known: Collection[str] = ()
) -> Iterator[str]:
    """Yield options, arguments and settings that a command does not take."""
    flags = parser._option_string_actions
    rest = iter(words)
    for word in rest:
        if not (option := re.match(r"--[a-zA-Z-]+|-[a-zA-Z]", word)):
            continue
        flag = option[0]
        near = (one for one in flags if one == flag or (flag[:2] == "--" and one.startswith(flag)))
        action = flags.get(next(near, ""))
        if action is None:
            yield f"{command} takes no {flag}"
        elif action.nargs != 0:
            value = word[len(flag) :].removeprefix("=") or next(rest, "")
            name = value.partition("=")[0]
            if flag == "-a" and name.isascii():
                taken = {*(action.const or known), "NAME", ""}
                yield from [] if name in taken else [f"no argument {name}"]
            if action.dest == "set" and name.startswith("MMCRAWL_"):
                yield from [] if name in declared else [f"no setting {name}"]


@each("page", PAGES)
def test_every_documented_command_line_can_be_typed(page: Path) -> None:
    lines = command_lines(page.read_text(encoding="utf-8"))
    wrong = [(line, problem) for line in lines for problem in problems_of(line)]
    assert not wrong
    if page.parent.name == "guide" or page.stem.partition(".")[0] in ("README", "faq", "tutorial"):
        known = [
            flag
            for name in commands()
            for parser in parsers_of(name)
            for flag in parser._option_string_actions
        ]
        alone = {*options_alone(page.read_text(encoding="utf-8"))} - OF_BENCHMARKS
        assert not [one for one in alone if not any(map(str.startswith, known, repeat(one)))]


@each("chinese", [page for page in PAGES if ".zh" in page.name])
def test_a_chinese_page_has_the_headings_and_commands_of_the_english_one(chinese: Path) -> None:
    def outline(page: Path) -> list[str]:
        text = page.read_text(encoding="utf-8")
        code = re.findall(r"^```.*?^```", text, re.DOTALL | re.MULTILINE)
        lines = [re.sub(r" *#.*", "", line) for block in code for line in block.splitlines()]
        headings = re.findall(r"^(#+) ", re.sub(r"(?ms)^```.*?^```", "", text), re.MULTILINE)
        return [*headings, *lines]

    assert outline(chinese) == outline(chinese.with_name(chinese.name.replace(".zh", "")))


def test_a_wrong_command_line_is_noticed() -> None:
    for line in (
        "scrapy archvie list",
        "scrapy crawl focused -k x",
        "mmcrawl crawl -a tpic=x",
        "scrapy archive list --percent 3",
        "scrapy topic list -a web=demo",
        "scrapy works list --store crawl.db --jsno",
        "mmcrawl crawl -s MMCRAWL_TOPIC_TRESHOLD=1",
    ):
        assert list(problems_of(line)), line
    assert sum(len(list(command_lines(page.read_text(encoding="utf-8")))) for page in PAGES) > 150
