"""What can be told to a spider, as `scrapy crawl SPIDER --help` shows it."""

from collections.abc import Iterator
from math import inf
from textwrap import wrap

from pydantic import BaseModel

from mmcrawl.crawling.params import FocusedParams
from mmcrawl.errors import MmcrawlError
from mmcrawl.scoring.registry import (
    algorithm_names,
    default_parameters,
    parameter_ranges,
    parameter_words,
)

_WIDTH = 100


def argument_help(model: type[BaseModel]) -> str:
    """Return the arguments of a spider, a line for each, with what they do and their defaults.

    Args:
        model: what checks the arguments; those of the focused crawl have parameters of algorithms
            as well.
    """
    lines = ["Arguments of the spider, each given as -a NAME=VALUE:", ""]
    for name, text, default in spider_arguments(model):
        lines += _entry(name, text + (f" (default: {default})" if default else ""))
    if issubclass(model, FocusedParams):
        lines += ["", "Parameters of the algorithms, each given as -a NAME=VALUE too:", ""]
        for algorithm in algorithm_names():
            try:
                said = ", ".join(algorithm_parameters(algorithm)) or "none"
            except MmcrawlError as error:
                said = str(error)
            lines += _entry(algorithm, said)
    return "\n".join(lines) + "\n"


def spider_arguments(model: type[BaseModel]) -> Iterator[tuple[str, str, str]]:
    """Yield name, description and default of the arguments of a spider; "" for no default."""
    for name, field in model.model_fields.items():
        default = "" if field.default in ("", None) else _shown(field.default)
        yield name, field.description or "", default


def algorithm_parameters(algorithm: str) -> list[str]:
    """Return the parameters that an algorithm has beside the arguments of every crawl.

    Each with its default and the range it may be in: ``alpha=0.4 (0 to 1)``.

    Raises:
        MmcrawlError: the algorithm cannot be loaded.
    """
    ranges, words = parameter_ranges(algorithm), parameter_words(algorithm)
    parts = []
    for name, default in default_parameters(algorithm).items():
        if name in FocusedParams.model_fields:
            continue
        least, greatest = ranges.get(name, (-inf, inf))
        bounds = f"{least:g} to {greatest:g}" if greatest < inf else f"from {least:g}"
        bounds += f", or {words[name]}" if name in words else ""
        within = f" ({bounds})" if least > -inf else ""
        parts.append(f"{name}={_shown(default)}{within}")
    return parts


def _entry(name: str, text: str) -> list[str]:
    head = f"  {name:<14}" if len(name) < 14 else f"  {name}\n{'':16}"
    return wrap(text, _WIDTH, initial_indent=head, subsequent_indent=" " * 16) or [head]


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"
