"""Scoring: what makes a link worth fetching, one module for each algorithm.

An algorithm follows the `Scorer` protocol and is found by name through `make_scorer`. The topic
test, which says whether a fetched page was worth it, lives here too.
"""

from mmcrawl.scoring.base import CrawledPage, LinkSource, LinkText, Scorer
from mmcrawl.scoring.breadth import Breadth
from mmcrawl.scoring.registry import (
    algorithm_names,
    default_parameters,
    make_scorer,
    parse_parameters,
)
from mmcrawl.scoring.relevance import FIELD_WEIGHTS, Signs, TopicTest, Verdict
from mmcrawl.scoring.similarity import LinkSimilarity
from mmcrawl.scoring.urlrule import UrlRule

__all__ = [
    "FIELD_WEIGHTS",
    "Breadth",
    "CrawledPage",
    "LinkSimilarity",
    "LinkSource",
    "LinkText",
    "Scorer",
    "Signs",
    "TopicTest",
    "UrlRule",
    "Verdict",
    "algorithm_names",
    "default_parameters",
    "make_scorer",
    "parse_parameters",
]
