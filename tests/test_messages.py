"""What a wrong call is answered with, one sentence a row: what was wrong and what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError
from scrapy.settings import Settings

from mmcrawl.crawl import FocusedParams, as_time, explain_arguments, read_rules, read_seeds
from mmcrawl.engine import Configuration, make_job
from mmcrawl.errors import MmcrawlError
from mmcrawl.experiment import Plan, algorithms_of
from mmcrawl.frontier import open_store
from mmcrawl.media import as_size, as_sizes, media_beside, open_files
from mmcrawl.replay import FolderWeb, Latency, open_web
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
from mmcrawl.text import kind_named
from mmcrawl.topic import Topic, load_topic
from mmcrawl.works.exporting import exporter_named
from tests.tables import each

Call = Callable[[], object]

TOPIC = Topic("optics", "光学", (("光学",),))
SIMILARITY = LinkSimilarity(TOPIC)


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
    (scorer("learned", variance=float("inf")), "learned: variance must be a number from"),
    (scorer("shark-improved", sigma=1.0), "sigma must be a number from 0 to 0.999, not 1.0"),
    (parameter("urlrule", alpha="nan"), "alpha: 'nan' is not allowed; it may be a number"),
    (parameter("urlrule", m="0.5"), "m: '0.5' is not allowed; it may be a whole number"),
    (parameter("urlrule-2009", num2="-1"), "num2 must be a number from 0 up, not -1"),
    (lambda: prior_of({"pageing": (1, 0), "list: age": (0, 0)}), "collected: list: age, pageing; "),
]


def arguments(**given: str) -> Call:
    return lambda: make_job(FocusedParams(keywords="optics", store="memory:", **given), OFF, None)


def setting(**values: str) -> Call:
    return lambda: Configuration.read(Settings(values))


def crawl(**given: str) -> Call:
    """Arguments of a crawl that has seeds and a topic unless others are given."""
    return lambda: FocusedParams(**({"seeds": "http://a.test/", "topic": "physics-senior"} | given))


def alone(**given: str) -> Call:
    return lambda: FocusedParams(**given)


def seeds(text: str) -> Call:
    return lambda: read_seeds(text)


OFF = Settings({"MMCRAWL_BLOCKS": "off"})
LONG = "x" * 300
NO_NAME = "it may hold letters, digits, dots, dashes and underscores"
WHOLE = ("MMCRAWL_PAGES_PER_HOST", "MMCRAWL_HEAD_REQUESTS", "MMCRAWL_BARREN_PAGES_PER_SHAPE")
CRAWL = [
    (arguments(seeds="http://h.test/", links="related"), "links=related goes by "),
    (crawl(links="none"), "links: 'none' is not allowed; it may be all or related"),
    (crawl(algo="nope"), "algo: there is no algorithm 'nope'; it may be breadth, fish"),
    (
        crawl(media="film"),
        "media: there is no media kind 'film'; it may be any of audio (音频), video (视频), "
        "animation (动画), simulation (仿真), document",
    ),
    (crawl(sites="all"), "sites: 'all' is not allowed; it may be hosts, domains or anywhere"),
    (crawl(expand="score:nan"), "expand: 'score:nan' is not understood; it may be all, on-topic"),
    (crawl(job="a/b"), f"job: 'a/b' is not allowed; {NO_NAME}"),
    (crawl(job="a\u202eb"), r"job: 'a\u202eb' contains characters that cannot be printed; it may"),
    (crawl(workers="65"), "'65' is not allowed; it may be auto, or a whole number from 1 to 64"),
    (crawl(workers="9" * 5_000), "workers: "),
    (crawl(max_pages="-1"), "max_pages: '-1' is not allowed; it may be a whole number from 0"),
    (crawl(max_pages="9" * 5000), "max_pages: '999"),
    (crawl(store="redis://host/0"), "store: 'redis://host/0' is not understood; it may be sqlite:"),
    (crawl(archive="memory:"), "archive: 'memory:' is not understood; it may be sqlite:///FILE, "),
    (crawl(seeds=""), "seeds: there are none; they may be a seed file, a URL, or URLs separated"),
    *((crawl(web=name), f"web: {name!r} does not exist") for name in (LONG, "~nosuchuser/x")),
    (crawl(topic=LONG), "unknown topic 'xxx"),
    (crawl(topic="physics-senio"), "did you mean physics-senior"),
    (crawl(topic=","), "no topic is named"),
    (crawl(topic="/no/topic.toml"), "there is no topic file /no/topic.toml"),
    (crawl(keywords="lens"), "either topic or keywords, not both"),
    (crawl(algo="urlrule", alpha="-5"), "alpha must be a number from 0 to 1, not -5"),
    (
        crawl(colour="red"),
        f"there is no argument 'colour'; there are {', '.join(FocusedParams.model_fields)}; ",
    ),
    (alone(keywords=" , "), "topic 'keywords' holds no words"),
    (alone(seeds="http://a.test/"), "no topic: give -a topic=NAME"),
    (setting(MMCRAWL_BLOCKS="sieve"), "unknown partitioner 'sieve'"),
    (setting(MMCRAWL_BLOCKS="quark:least=1"), "no option 'least'"),
    (setting(MMCRAWL_BLOCKS="bwap:min_size=x"), "min_size must be a number"),
    *(
        (setting(MMCRAWL_METRICS=text), "must be an address with a port, as 127.0.0.1:9410")
        for text in ("9410", "127.0.0.1:", "host:port")
    ),
    *(
        (setting(MMCRAWL_TOPIC_THRESHOLD=text), "THRESHOLD must be a number between 0 and 1")
        for text in ("0", "1", "nan", "half")
    ),
    *(
        (setting(**{name: text}), f"{name} must be a whole number from 0, as")
        for name, text in zip(WHOLE, ("", "1.5", -1), strict=True)
    ),
    *(
        (seeds(text), "there is no seed file")
        for text in (LONG * 20, "~nobody-of-that-name/seeds.txt", "a\0b/", "物" * 100)
    ),
    (seeds("nosuch.txt"), "there is no seed file nosuch.txt; give a file, or URLs"),
    *(
        (seeds(text), f"seed {text.rpartition(',')[2]!r} is no URL; write it as http://host/path")
        for text in ("ftp://a.test/", "http://", "http://a.test/,http://[")
    ),
    (seeds("."), ". is a folder; give a seed file, or URLs"),
]


def read(reader: Callable[[str], object], name: str, content: str | bytes | None = None) -> Call:
    """Read a file of the folder that the test is in; None for one that is not there."""

    def call() -> object:
        if content is not None:
            data = content.encode() if isinstance(content, str) else content
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(data)
        return reader(name)

    return call


def toml(content: str | bytes) -> Call:
    return read(load_topic, "topic.toml", content)


def words(content: str) -> Call:
    return read(load_topic, "words.txt", content)


def listed(content: str | bytes) -> Call:
    return read(read_seeds, "seeds.txt", content)


def ruled(line: str) -> Call:
    return read(read_rules, "rules.txt", f"# first\nhttp://h.test/good\n{line}\n")


def web(name: str) -> Call:
    return lambda: open_web(name)


def manifest(text: str) -> Call:
    return read(lambda name: (Path("a.test").mkdir(), FolderWeb(Path())), "manifest.json", text)


def plan(algos: str, **arguments: str) -> Call:
    names = ["breadth", "urlrule", "learned"]
    return lambda: Plan("demo", arguments, algorithms_of(algos, names)).check()


LENS = {"keywords": "lens"}
WEIGHT = "a rule is PATTERN [0 to 99, or never]"
FILES = [
    (toml('name = "x"\nwords = [["a" 3]]'), "topic.toml: not valid TOML: Unclosed array (at line"),
    (toml('words = [["a"]]'), "has no name"),
    (toml('name = "x"\nwords = []'), "holds no words"),
    (toml('name = "x"\nwords = [["a", 3]]'), "is no list of words"),
    (toml('name = "x"\nwords = [["a"],\n["!"]]'), "topic.toml, line 3: the word '!' holds no"),
    (toml('name = "x"\nword = [["a"]]'), "unknown key 'word'; there are name"),
    (toml('name = "x"\nwords = [["a"]]\n[media.film]\nwords = []'), "unknown key 'film'"),
    (toml('name = "力"'.encode("utf-16")), "neither UTF-8 nor GB18030"),
    (words("ok\n\n!!!\n"), "words.txt, line 3: the word '!!!' holds no letter"),
    (words("ok\n" + "x" * 65), f"words.txt, line 2: the word '{'x' * 20}'… is longer than 64"),
    (words("# nothing\n"), "holds no words"),
    (words("ok\0"), "neither UTF-8 nor GB18030"),
    (read(load_topic, "x.json", b"\x80\x04pickled"), "is no learnt topic"),
    (read(load_topic, "y.json"), "there is no topic file"),
    (read(load_topic, "nowhere/optics.toml"), "no topic file nowhere/optics.toml"),
    *(
        (read(load_topic, name), "no topic file" if "/" in name else "unknown topic")
        for name in (LONG, "a/" * 3000 + "x.toml")
    ),
    (read(load_topic, "高中物里"), "高中物理? `scrapy topic list` shows"),
    (lambda: TOPIC.wanting(["vidoe"]), "no such media kind 'vidoe'; there are audio, video, "),
    (listed("# \n \n"), "seeds.txt names no seeds; write one URL a line"),
    *(
        (listed(f"http://good.test/\n# comment\n{line}\n"), f"seeds.txt, line 3: {line!r} ")
        for line in (
            *("http:///path", "http://a.test:99999/", "javascript:alert(1)"),
            "http://a.test/ physics-senior biology-senior",
        )
    ),
    (listed(b"\xef\xbb\xbfhttp://a.test/\xe5\x85"), "is not UTF-8, UTF-16 or GBK text; save it as"),
    *(
        (listed(content), "seeds.txt is no text; give a seed file, one entry a line")
        for content in ("http://a/".encode("utf-16-le"), b"RIFF\x00\x00\x08\x00AVI")
    ),
    (ruled("h.test/a"), "line 3: 'h.test/a' is no pattern: begin it with http://, https:// or re:"),
    (ruled("re:(a"), "line 3: 're:(a' is no pattern: missing ): (a (RE2 has no look-around"),
    (ruled("http://h.test/ often"), f"line 3: 'often' is no weight; {WEIGHT}"),
    *((ruled(f"http://h.test/ {n}"), f"'{n}' is no weight") for n in ("-1", "100", "1.5")),
    (ruled(f"http://h.test/ {'0' * 5_000}"), "line 3: '000"),
    (ruled("http://h.test/ 1 2"), "line 3: '2' is not understood; a rule is PATTERN"),
    (ruled("http://h.test/ topic=fisics-senior"), "unknown topic 'fisics-senior'; did you mean"),
    (read(read_rules, "x"), "there is no rules file x; write one, or have a crawl's with"),
    (read(read_rules, "."), "there is no rules file"),
    (read(read_rules, "x", b"\0\1"), "is no text; give a rules file, one entry a line"),
]
WEBS = [
    *((web(name), "does not exist") for name in ("", "nowhere")),
    (web(LONG), LONG),
    (web("x\0y"), "x"),
    (read(open_web, "notes.txt", "x"), "is no stored web"),
    (web("."), "is empty"),
    *((manifest(text), "manifest.json") for text in ("{", '{"a.test": 1}')),
    (manifest('{"a.test": {"aliases": "x"}}'), "manifest.json"),
    *((web(spec), "leads nowhere") for spec in ("portal:", "portal: ; ")),
    (web("portal:demo;nowhere"), "'nowhere' does not exist"),
    (web("portal:demo;portal:demo"), "cannot lead to another portal"),
    (web("portal:sim:pages=x"), "a whole number"),
    (web("sim:colour=red"), "no parameter 'colour'; it has pages, sites, media, adjacency, tunnel"),
    (web("sim:pages"), "'pages' is no parameter"),
    (web("sim:pages=many"), "a whole number from 50 to 10000000"),
    (web("sim:pages=99,sites=2"), "too few for 2 sites: give at least 50 a site"),
    (web("sim:tunnel=1.5"), "a whole number from 0 to 10"),
    (web("sim:seed=" + "9" * 5000), "a whole number from 0"),
    (web("sim:media=0.6"), "a number from 0 to 0.5"),
    (web("sim:adjacency=nan"), "a number from 0 to 1"),
    (web("sim:languages=fr"), "one of zh, en, mixed"),
    (web("sim:seed=1,seed=2"), "given twice"),
    (crawl(web="sim:pages=5"), "web: pages=5 does not describe a simulated web"),
    *(
        ((lambda value=value: Latency.parse(value)), "no latency")
        for value in ("fast", -1, True, "NaN", [1], {"a.test": "x"})
    ),
]
REST = [
    (plan("nope"), "there is no algorithm 'nope'; there are breadth, urlrule"),
    (plan("urlrule:lift"), "'urlrule:lift' is not understood; write urlrule:parameter=value"),
    (plan("", **LENS), "there is no algorithm to compare"),
    (plan("breadth,breadth", **LENS), "breadth is named twice"),
    (plan("breadth", **LENS, max_depth="x"), "max_depth: 'x' is not allowed"),
    (plan("breadth", **LENS, seeds="http://else.test/"), "seed http://else.test/ is not in the"),
    (plan("urlrule:lift=much", **LENS), "lift: 'much' is not allowed"),
    (plan("learned:variance=-1", **LENS), "learned: variance must be "),
    (plan("urlrule:store=x", **LENS), "store is no parameter of an algorithm"),
    *(
        ((lambda uri=uri: open_store(uri)), "is not understood; use sqlite:///FILE")
        for uri in ("", "crawl.db", "sqlite:///", "sqlite://crawl.db")
    ),
    (lambda: open_files("nowhere://a"), "media store nowhere://a is not understood"),
    (lambda: media_beside("memory:"), "in memory"),
    (lambda: exporter_named("paper"), "csv"),
]
# What reads a word; who asked for it says where it stands.
WORDS = [
    (pattern(), "one host with the same query keys"),
    (pattern("http://h/a", "http://i/a"), "one host with the same query keys"),
    (pattern("http://h/a", "http://h/a?x=1"), "one host with the same query keys"),
    (glob("h.test/xy/*"), "begin it with http://, https:// or re:"),
    (glob("http://h.test"), "write host and path, as http://h.test/"),
    (glob("http://h.test/**/a"), "** may stand at the end only; write * within"),
    (glob("http://h.test/a?b=**"), "at the end only"),
    (glob("http://h.test/a?*=1"), "values of a query only; write ?** for any"),
    (glob("http://h.test/a#b"), "what follows # is not sent"),
    *(
        (rule(f"re:{regex}"), "RE2 has no look-around and no back-references")
        for regex in ("(?=a)", "a{2000}", r"(a)\1", "[a-")
    ),
    *(
        (lambda text=text: as_time(text), f"{text!r} is no time; give one as")
        for text in ("", "2024-13-01", "@1e99", "@nan")
    ),
    (lambda: kind_named("simulatoin"), "'simulatoin'; did you mean simulation"),
    *(
        ((lambda text=text: as_size(text)), "is no size")
        for text in ("", "GB", "1e3", "1" * 20, "٣")
    ),
    (lambda: as_sizes("films:1GB"), "there is no media kind 'films'"),
]
REFUSED = (MmcrawlError, ValidationError)
ROWS = [(REFUSED, *row) for row in (*SCORING, *CRAWL, *FILES, *WEBS, *REST)]


@each("kind, call, sentence", [*ROWS, *((ValueError, *row) for row in WORDS)])
def test_a_wrong_call_is_answered_with_a_sentence(
    kind: type[Exception],
    call: Call,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind) as told:
        call()
    error = told.value
    [said] = explain_arguments(error) if isinstance(error, ValidationError) else [str(error)]
    assert sentence in said
    assert "\n" not in said
