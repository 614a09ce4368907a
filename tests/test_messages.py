"""What a wrong call is answered with, one sentence a row: what was wrong and what to do."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError
from scrapy.settings import Settings

from mmcrawl.crawling import FocusedParams, explain_arguments
from mmcrawl.engine import check_settings, make_job
from mmcrawl.errors import MmcrawlError
from mmcrawl.scoring import (
    LinkSimilarity,
    PinnedRule,
    PinnedRules,
    generalise,
    glob_regex,
    make_scorer,
    parse_parameters,
    prior_of,
    url_parts,
)
from mmcrawl.topic import Topic
from tests.tables import each

Call = Callable[[], object]

SIMILARITY = LinkSimilarity(Topic("optics", "光学", (("光学",),)))


def scorer(name: str, **parameters: object) -> Call:
    return lambda: make_scorer(name, None, SIMILARITY, **parameters)


def parameter(name: str, **texts: str) -> Call:
    return lambda: parse_parameters(name, texts)


def pattern(*urls: str) -> Call:
    return lambda: generalise([url_parts(url) for url in urls])


def glob(text: str) -> Call:
    return lambda: glob_regex(text)


def rule(text: str) -> Call:
    return lambda: PinnedRules([PinnedRule(text)])


SCORING = [
    (scorer("depth"), "unknown algorithm 'depth'; there are breadth, "),
    (scorer("breadth", speed=3), "algorithm breadth has no parameter 'speed'; it has "),
    (scorer("pagerank", d=1.0), "algorithm pagerank: d must be a number from"),
    (scorer("fish", depth=-1), "algorithm fish: depth must be a number from"),
    (scorer("learned", variance=0.0), "variance must be a number from 1e-06 to 100, not 0"),
    (scorer("learned", variance=float("inf")), "learned: variance must be a number from"),
    (scorer("shark-improved", sigma=1.0), "sigma must be a number from 0 to 0.999, not 1.0"),
    (parameter("urlrule", alpha="nan"), "alpha: 'nan' is not allowed; it may be a number"),
    (parameter("urlrule", alpha="much"), "alpha: 'much' is not allowed; it may be a number"),
    (parameter("urlrule", m="0.5"), "m: '0.5' is not allowed; it may be a whole number"),
    (parameter("urlrule-2009", num2="auto"), "it may be a whole number"),
    (parameter("urlrule-2009", num2="-1"), "num2 must be a number from 0 up, not -1"),
    (lambda: prior_of({"pageing": (1, 0), "list: age": (0, 0)}), "collected: list: age, pageing; "),
    (pattern(), "one host with the same query keys"),
    (pattern("http://h/a", "http://i/a"), "one host with the same query keys"),
    (pattern("http://h/a?x=1", "http://h/a?y=1"), "one host with the same query keys"),
    (pattern("http://h/a", "http://h/a?x=1"), "one host with the same query keys"),
    (glob("h.test/xy/*"), "begin it with http://, https:// or re:"),
    (glob("http://h.test"), "write host and path, as http://h.test/"),
    (glob("http:///xy/*"), "write host and path"),
    (glob("http://h.test/**/a"), "** may stand at the end only; write * within"),
    (glob("http://**/a"), "at the end only"),
    (glob("http://h.test/a?b=**"), "at the end only"),
    (glob("http://h.test/a?*=1"), "values of a query only; write ?** for any"),
    (glob("http://h.test/a#b"), "what follows # is not sent"),
    *(
        (rule(f"re:{regex}"), "RE2 has no look-around and no back-references")
        for regex in ("(a", "(?=a)", "a{2000}", r"(a)\1", "((a{100}){100}){100}", "[a-")
    ),
]


def arguments(**given: str) -> Call:
    return lambda: make_job(FocusedParams(keywords="optics", store="memory:", **given), OFF, None)


def setting(**values: str) -> Call:
    return lambda: check_settings(Settings(values))


OFF = Settings({"MMCRAWL_BLOCKS": "off"})
CRAWL = [
    (arguments(seeds="http://h.test/", links="related"), "links=related goes by "),
    (arguments(links="none"), "'none' is not allowed; it may be all or related"),
    (setting(MMCRAWL_BLOCKS="sieve"), "unknown partitioner 'sieve'"),
    (setting(MMCRAWL_BLOCKS="quark:least=1"), "no option 'least'"),
    (setting(MMCRAWL_BLOCKS="bwap:min_size=x"), "min_size must be a number"),
    *(
        (setting(MMCRAWL_METRICS=text), "must be an address with a port, as 127.0.0.1:9410")
        for text in ("9410", "127.0.0.1", "127.0.0.1:", "host:port")
    ),
]


@each("call, sentence", [*SCORING, *CRAWL])
def test_a_wrong_call_is_answered_with_a_sentence(call: Call, sentence: str) -> None:
    with pytest.raises((MmcrawlError, ValueError)) as told:
        call()
    error = told.value
    [said] = explain_arguments(error) if isinstance(error, ValidationError) else [str(error)]
    assert sentence in said
    assert "\n" not in said
