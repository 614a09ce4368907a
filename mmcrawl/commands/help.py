"""`scrapy help`: lists the commands, and the options of a command or a spider."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from math import inf
from textwrap import wrap

from pydantic import BaseModel
from scrapy.addons import AddonManager
from scrapy.cmdline import execute
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader

from mmcrawl.commands import SUMMARIES
from mmcrawl.crawl.params import FocusedParams
from mmcrawl.errors import MmcrawlError, did_you_mean
from mmcrawl.scoring.registry import (
    algorithm_names,
    default_parameters,
    described,
    parameter_ranges,
    parameter_words,
)
from mmcrawl.text.writing import as_called


class Command(ScrapyCommand):
    """Show the help of a command, or the arguments of a spider."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "[command or spider|algorithms [NAME…]]"

    def short_desc(self) -> str:
        return SUMMARIES["help"]

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print the help of `scrapy`, of a command, or of a spider."""
        if args[:1] == ["algorithms"]:
            names = algorithm_names()
            if unknown := next((name for name in args[1:] if name not in names), ""):
                raise UsageError(f"there is no algorithm {unknown!r}{did_you_mean(unknown, names)}")
            print(as_called(algorithm_help(args[1:] or names)), end="")
            return
        if len(args) > 2:
            raise UsageError("name one command, with its subcommand, or one spider")
        settings = self.settings.copy()  # type: ignore[union-attr]
        AddonManager.load_pre_crawler_settings(settings)
        spiders = get_spider_loader(settings).list()
        asked = ["crawl", *args, "--help"] if args and args[0] in spiders else [*args, "--help"]
        execute([sys.argv[0], *(asked if args else [])])


_WIDTH = 100


def argument_help(model: type[BaseModel]) -> str:
    """Return the arguments of a spider, a line for each, with meanings and defaults."""
    lines = ["Arguments of the spider, each given as -a NAME=VALUE:", ""]
    for name, text, default in spider_arguments(model):
        lines += _entry(name, text + (f" (default: {default})" if default else ""))
    if issubclass(model, FocusedParams):
        lines += [
            "",
            "`scrapy help algorithms` shows what the algorithms are, and their parameters.",
        ]
    return "\n".join(lines) + "\n"


def algorithm_help(names: Iterable[str]) -> str:
    """Return the algorithms, and their parameters with meaning, default and range."""
    lines = [
        "Algorithms, named with -a algo=NAME; their parameters are given as -a NAME=VALUE too:"
    ]
    for name in names:
        try:
            does, parameters = described(name)[0], algorithm_parameters(name)
        except MmcrawlError as error:
            does, parameters = str(error), []
        lines += ["", *wrap(f"{name}: {does}", _WIDTH)]
        for parameter, default, bounds, what in parameters:
            within = f"; {bounds}" if bounds else ""
            lines += _entry(parameter, f"{what} (default: {default}{within})")
    return "\n".join(lines) + "\n"


def spider_arguments(model: type[BaseModel]) -> Iterator[tuple[str, str, str]]:
    """Yield name, description and default of the arguments of a spider; "" for no default."""
    for name, field in model.model_fields.items():
        default = "" if field.default in ("", None) else _shown(field.default)
        yield name, field.description or "", default


def algorithm_parameters(algorithm: str) -> list[tuple[str, str, str, str]]:
    """Return an algorithm's own parameters, besides the arguments of every crawl.

    Each with its default, the range it may be in, "" for any, and what it means:
    ``("alpha", "0.4", "0 to 1", "weight of …")``.
    """
    ranges, words = parameter_ranges(algorithm), parameter_words(algorithm)
    meanings, parameters = described(algorithm)[1], []
    for name, default in default_parameters(algorithm).items():
        if name in FocusedParams.model_fields:
            continue
        least, greatest = ranges.get(name, (-inf, inf))
        bounds = f"{least:g} to {greatest:g}" if greatest < inf else f"from {least:g}"
        bounds += f", or {words[name]}" if name in words else ""
        what = meanings.get(name, "").rstrip(".")
        parameters.append((name, _shown(default), bounds if least > -inf else "", what))
    return parameters


def _entry(name: str, text: str) -> list[str]:
    head = f"  {name:<14}" if len(name) < 14 else f"  {name}\n{'':16}"
    return wrap(text, _WIDTH, initial_indent=head, subsequent_indent=" " * 16) or [head]


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"
