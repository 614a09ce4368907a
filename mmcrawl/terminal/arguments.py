"""What can be told to a spider, as `scrapy crawl SPIDER --help` shows it."""

from math import inf
from textwrap import wrap

from pydantic import BaseModel

from mmcrawl.crawling.params import FocusedParams
from mmcrawl.errors import MmcrawlError
from mmcrawl.scoring.registry import algorithm_names, default_parameters, parameter_ranges

_WIDTH = 100


def argument_help(model: type[BaseModel]) -> str:
    """Return the arguments of a spider, a line for each, with what they do and their defaults.

    Args:
        model: what checks the arguments; those of the focused crawl have parameters of algorithms
            as well.
    """
    lines = ["Arguments of the spider, each given as -a NAME=VALUE:", ""]
    for name, field in model.model_fields.items():
        default = "" if field.default in ("", None) else f" (default: {_shown(field.default)})"
        lines += _entry(name, (field.description or "") + default)
    if issubclass(model, FocusedParams):
        lines += ["", "Parameters of the algorithms, each given as -a NAME=VALUE too:", ""]
        for algorithm in algorithm_names():
            lines += _entry(algorithm, _parameters(algorithm, model))
    return "\n".join(lines) + "\n"


def _entry(name: str, text: str) -> list[str]:
    head = f"  {name:<14}" if len(name) < 14 else f"  {name}\n{'':16}"
    return wrap(text, _WIDTH, initial_indent=head, subsequent_indent=" " * 16) or [head]


def _parameters(algorithm: str, model: type[BaseModel]) -> str:
    """Return the parameters of an algorithm with defaults and ranges, or why it has none."""
    try:
        defaults, ranges = default_parameters(algorithm), parameter_ranges(algorithm)
    except MmcrawlError as error:
        return str(error)
    parts = []
    for name, default in defaults.items():
        if name in model.model_fields:
            continue
        least, greatest = ranges.get(name, (-inf, inf))
        bounds = f"{least:g} to {greatest:g}" if greatest < inf else f"from {least:g}"
        within = f" ({bounds})" if least > -inf else ""
        parts.append(f"{name}={_shown(default)}{within}")
    return ", ".join(parts) or "none"


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"
