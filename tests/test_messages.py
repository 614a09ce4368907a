"""What a wrong call is answered with, one sentence a row: what was wrong and what to do."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError
from scrapy.settings import Settings

from mmcrawl.crawling import FocusedParams, as_time, explain_arguments, read_seeds
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


def crawl(**given: str) -> Call:
    """Arguments of a crawl that has seeds and a topic unless others are given."""
    return lambda: FocusedParams(**({"seeds": "http://a.test/", "topic": "physics-senior"} | given))


def alone(**given: str) -> Call:
    return lambda: FocusedParams(**given)


def seeds(text: str) -> Call:
    return lambda: read_seeds(text)


OFF = Settings({"MMCRAWL_BLOCKS": "off"})
LONG = "x" * 300
NO_NAME = "letters, digits, dots, dashes and underscores"
WHOLE = ("MMCRAWL_PAGES_PER_HOST", "MMCRAWL_HEAD_REQUESTS", "MMCRAWL_BARREN_PAGES_PER_SHAPE")
CRAWL = [
    (arguments(seeds="http://h.test/", links="related"), "links=related goes by "),
    (crawl(links="none"), "links: 'none' is not allowed; it may be all or related"),
    (crawl(algo="nope"), "algo: there is no algorithm 'nope'; it may be breadth, fish"),
    (
        crawl(media="film"),
        "audio (音频), video (视频), animation (动画), simulation (仿真), document",
    ),
    (crawl(sites="all"), "sites: 'all' is not allowed; it may be hosts, domains or anywhere"),
    *(
        (crawl(expand=one), "all, on-topic, or score:S")
        for one in ("some", "score:1.5", "score:nan")
    ),
    (crawl(job="a/b"), NO_NAME),
    (crawl(job="a\u202eb"), NO_NAME),
    (crawl(max_pages="-1"), "max_pages: '-1' is not allowed; it may be a whole number from 0"),
    (crawl(max_pages="9" * 5000), "a whole number from 0"),
    (crawl(max_layer="1.5"), "a whole number from 0"),
    (crawl(store="redis://host/0"), "sqlite:///FILE, memory: or mongodb://HOST/DATABASE"),
    (crawl(archive="memory:"), "sqlite:///FILE, mongodb://HOST/DATABASE or none"),
    (crawl(seeds=""), "a seed file, a URL, or URLs parted by commas"),
    (crawl(web="/no/such/folder"), "demo, a folder with one folder per host, or a .warc"),
    *((crawl(web=name), "does not exist") for name in (LONG, "~nosuchuser/x", "物" * 100)),
    *((crawl(seeds=name), "no seed file") for name in (LONG, "~nosuchuser/x", "物" * 100)),
    (crawl(topic=LONG), "topic"),
    (crawl(topic="nosuch"), "unknown topic 'nosuch'"),
    (crawl(topic="physics-senio"), "did you mean physics-senior"),
    (crawl(topic=","), "no topic is named"),
    (crawl(topic="/no/topic.toml"), "there is no topic file /no/topic.toml"),
    (crawl(keywords="lens"), "either topic or keywords, not both"),
    (crawl(algo="urlrule", alpha="-5"), "alpha must be a number from 0 to 1, not -5"),
    (crawl(colour="red"), "there is no argument 'colour'; there are algo, "),
    (crawl(seeds="nosuch.txt"), "there is no seed file nosuch.txt"),
    (alone(keywords=" , "), "topic 'keywords' holds no words"),
    (alone(seeds="http://a.test/"), "no topic: give -a topic=NAME"),
    (alone(web="demo", seeds="http://a.test/"), "no topic: give -a topic=NAME"),
    (setting(MMCRAWL_BLOCKS="sieve"), "unknown partitioner 'sieve'"),
    (setting(MMCRAWL_BLOCKS="quark:least=1"), "no option 'least'"),
    (setting(MMCRAWL_BLOCKS="bwap:min_size=x"), "min_size must be a number"),
    *(
        (setting(MMCRAWL_METRICS=text), "must be an address with a port, as 127.0.0.1:9410")
        for text in ("9410", "127.0.0.1", "127.0.0.1:", "host:port")
    ),
    *(
        (setting(MMCRAWL_TOPIC_THRESHOLD=text), "THRESHOLD must be a number between 0 and 1")
        for text in ("0", "1", "1.5", "-0.1", "nan", "half", "")
    ),
    *(
        (setting(**{name: text}), f"{name} must be a whole number from 0, as")
        for name in WHOLE
        for text in ("abc", "", "1.5", "-1", -1, [1])
    ),
    *(
        (seeds(text), "there is no seed file")
        for text in (LONG * 20, "~nobody-of-that-name/seeds.txt", "a\0b/")
    ),
    *(
        (seeds(name), f"no seed file {name}; give a file, or URLs")
        for name in ("nosuch.txt", "seeds/physics.txt", "nosuch", "list.csv")
    ),
    *(
        (seeds(text), f"seed {text.rpartition(',')[2]!r} is no URL; write it as http://host/path")
        for text in ("ftp://a.test/", "http://", "http://a.test/,http://[")
    ),
    (seeds("."), ". is a folder; give a seed file, or URLs"),
    (lambda: as_time("yesterday"), "'yesterday' is no time; give one as"),
    *(
        (lambda text=text: as_time(text), "is no time; give one as")
        for text in ("", "2024-13-01", "@", "@1e99", "99999", "@nan")
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
