"""Scoring: what makes a link worth fetching, one module for each algorithm.

An algorithm is a `Scorer` (`base.py`, begin there), made by its name through `make_scorer`. The
crawl reports what became of links: added, crawled, failed, redirected. The scorer answers with
scores of new links and changed scores of waiting ones, higher first; it never fetches and never
stores. A crawl that is continued replays its history to a new scorer, which must arrive at the same
scores. `graph` holds the algorithms that rank links by the graph seen so far.

`relevance.py` is the topic test, which says whether a fetched page was worth it: one test for the
crawl, the report and the truth of experiments.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.scoring.base import CrawledPage, LinkSource, LinkText, Scorer
    from mmcrawl.scoring.breadth import Breadth
    from mmcrawl.scoring.evidence import COLUMNS, Evidence, prior_of, shipped_prior
    from mmcrawl.scoring.learned import Learned
    from mmcrawl.scoring.link_features import (
        BITS,
        FLAGS,
        UNITS,
        WIDTH,
        Origin,
        directory_of,
        fit_features,
        link_features,
        link_flags,
    )
    from mmcrawl.scoring.link_model import LinkModel, OnlineLogisticModel
    from mmcrawl.scoring.page_features import page_terms
    from mmcrawl.scoring.patterns import (
        ANY,
        Pattern,
        SitePatterns,
        UrlParts,
        distance,
        generalise,
        query_keys,
        url_parts,
    )
    from mmcrawl.scoring.pinned_rules import (
        PinnedRule,
        PinnedRules,
        address_form,
        glob_of,
        glob_regex,
    )
    from mmcrawl.scoring.prospects import FeatureRows, Prospects
    from mmcrawl.scoring.registry import (
        algorithm_names,
        default_parameters,
        is_random,
        make_scorer,
        parameter_ranges,
        parse_parameters,
    )
    from mmcrawl.scoring.relevance import EXAMPLES, FIELD_WEIGHTS, Signs, TopicTest, Verdict
    from mmcrawl.scoring.shark import Shark
    from mmcrawl.scoring.shark_improved import SharkImproved
    from mmcrawl.scoring.similarity import LinkSimilarity
    from mmcrawl.scoring.site_state import NO_PATTERN, TAKEN, WAITING, Links, WaitingUrls
    from mmcrawl.scoring.tag_path import Arms
    from mmcrawl.scoring.urlrule import UrlRule
    from mmcrawl.scoring.urlrule_2009 import layer_of

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
