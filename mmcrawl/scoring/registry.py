"""The algorithms by name: built in, or registered by other packages."""

import re
from collections.abc import Mapping
from inspect import Parameter, getdoc, signature
from math import isfinite
from typing import Any

from mmcrawl.errors import MmcrawlError
from mmcrawl.plugins import Registry
from mmcrawl.scoring.base import LinkSource, Ranges, Scorer, Words, check_ranges
from mmcrawl.scoring.similarity import LinkSimilarity

ENTRY_POINT_GROUP = "mmcrawl.scorers"
"""Group under which a package registers `name = module:factory`; the factory is called like the
constructor of a scorer: `factory(source, similarity, **parameters)`. Its keyword-only parameters
can be set with `-a`, if their defaults are numbers, truth values or strings. Its attribute `ranges`
(see `Ranges`), if there is one, says which numbers are refused before a crawl begins; `words` (see
`Words`), what may be given instead of one; `random` (see `Scorer`), that its parameter `seed`
decides what chance brings."""

_SCORERS: Registry[Scorer] = Registry(
    "algorithm",
    "parameter",
    ENTRY_POINT_GROUP,
    {
        "breadth": "mmcrawl.scoring.breadth:Breadth",
        "fish": "mmcrawl.scoring.fish:Fish",
        "hits": "mmcrawl.scoring.graph.hits:Hits",
        "learned": "mmcrawl.scoring.learned:Learned",
        "pagerank": "mmcrawl.scoring.graph.topicrank:PageRank",
        "shark": "mmcrawl.scoring.shark:Shark",
        "shark-improved": "mmcrawl.scoring.shark_improved:SharkImproved",
        "tag-path": "mmcrawl.scoring.tag_path:TagPath",
        "topic-centric-pagerank": "mmcrawl.scoring.graph.topicrank:TopicCentricPageRank",
        "topicrank": "mmcrawl.scoring.graph.topicrank:TopicRank",
        "urlrule": "mmcrawl.scoring.urlrule:UrlRule",
        "urlrule-2009": "mmcrawl.scoring.urlrule_2009:UrlRule2009",
        "weighted-pagerank": "mmcrawl.scoring.graph.topicrank:WeightedPageRank",
    },
    MmcrawlError,
)


def algorithm_names() -> list[str]:
    """Return the names of all algorithms, sorted."""
    return _SCORERS.names()


def make_scorer(
    name: str, source: LinkSource, similarity: LinkSimilarity, **parameters: Any
) -> Scorer:
    """Return a new scorer of the algorithm called `name`.

    Raises:
        MmcrawlError: there is no such algorithm, it cannot be loaded, it takes no such parameter,
            or a parameter is out of its range.
    """
    _SCORERS.check(name, parameters, list(default_parameters(name)))
    try:
        return _SCORERS.factory(name)(source, similarity, **parameters)
    except ValueError as error:
        raise MmcrawlError(f"algorithm {name}: {error}") from error


def default_parameters(name: str) -> dict[str, Any]:
    """Return the parameters of an algorithm, with their defaults.

    Raises:
        MmcrawlError: there is no such algorithm, or it cannot be loaded.
    """
    return {
        parameter.name: parameter.default
        for parameter in signature(_SCORERS.factory(name)).parameters.values()
        if parameter.kind is Parameter.KEYWORD_ONLY
    }


def parameter_ranges(name: str) -> Ranges:
    """Return the bounds of an algorithm's numbers, as far as it tells them.

    Raises:
        MmcrawlError: there is no such algorithm, or it cannot be loaded.
    """
    ranges: Ranges = getattr(_SCORERS.factory(name), "ranges", {})
    return ranges


def parameter_words(name: str) -> Words:
    """Return the words that some of an algorithm's numbers may be instead.

    Raises:
        MmcrawlError: there is no such algorithm, or it cannot be loaded.
    """
    words: Words = getattr(_SCORERS.factory(name), "words", {})
    return words


def described(name: str) -> tuple[str, dict[str, str]]:
    """Return the description of an algorithm and its parameters, from its docstring.

    Raises:
        MmcrawlError: there is no such algorithm, or it cannot be loaded.
    """
    text = getdoc(_SCORERS.factory(name)) or ""
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", text.partition("Args:")[2], re.MULTILINE)
    return text.partition("\n")[0], {each: " ".join(what.split()) for each, what in entries}


def is_random(name: str) -> bool:
    """Return whether chance plays a part in an algorithm, which then has a parameter `seed`.

    Raises:
        MmcrawlError: there is no such algorithm, or it cannot be loaded.
    """
    return bool(getattr(_SCORERS.factory(name), "random", False))


def parse_parameters(name: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return parameters of an algorithm from what a user typed.

    Args:
        name: of the algorithm.
        texts: value of each parameter, e.g. `{"alpha": "0.5", "num2": "auto"}`.

    Raises:
        MmcrawlError: it has no such parameter, or the value is of another type or out of its range.
    """
    values = {parameter: _value(name, parameter, text) for parameter, text in texts.items()}
    try:
        check_ranges(parameter_ranges(name), values, parameter_words(name))
    except ValueError as error:
        raise MmcrawlError(f"algorithm {name}: {error}") from error
    return values


def _value(name: str, parameter: str, text: str) -> Any:
    defaults = default_parameters(name)
    _SCORERS.check(name, [parameter], list(defaults))
    default = defaults[parameter]
    if isinstance(default, bool):
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if text.lower() not in words:
            raise MmcrawlError(f"{parameter}: {text!r} is not allowed; it may be true or false")
        return words[text.lower()]
    word = parameter_words(name).get(parameter)
    if text == word:
        return text
    number = int if default == word or isinstance(default, int) else type(default)
    try:
        value = number(text)
    except ValueError:
        value = None
    if value is None or (isinstance(value, float) and not isfinite(value)):
        kind = "a whole number" if number is int else "a number"
        kind += f" or {word}" if word else ""
        raise MmcrawlError(f"{parameter}: {text!r} is not allowed; it may be {kind}")
    return value
