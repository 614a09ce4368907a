"""How fast URLs are put into words, and pages compared with a topic.

    python benchmarks/words.py FOLDER [--topic physics-senior]

FOLDER holds .htm and .html files, one folder for each host. Of these pages

* URL words: `translate_url` of each different link of the pages, in the order they stand there, as
  a crawl asks for them; beside it `jieba.lcut` of the same URLs, decoded, which cuts out Latin
  runs and Chinese words but parts no words that are run together, and translates nothing;
* topic: `TopicTest.judge` of each parsed page; beside it the plain way, `jieba.lcut` of title,
  headings and text, and a look at each word in the set of the topic's words. (Parsing is measured
  by `page_parsing.py`.)

Every round is a process of its own, so that its caches are as empty as at the start of a crawl; the
dictionaries are loaded before the clock starts, which the first line of output times. Figures are
medians of the rounds; a ratio is the median of the rounds' ratios, mmcrawl to jieba in speed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import unquote

from page_parsing import read_pages

_SPARE = "http://www.example.test/shiyan/experiment.html"


@dataclass
class Figures:
    """One round: seconds for each work, and on how much of it."""

    urls: int
    pages: int
    loading: float
    url_words: float
    url_jieba: float
    judging: float
    judging_jieba: float


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def one_round(folder: Path, topic_name: str, most: int, ours_first: bool) -> Figures:
    """Measure everything once, in a new process."""
    import jieba

    from mmcrawl.page import parse_page
    from mmcrawl.scoring import TopicTest
    from mmcrawl.text import segment, translate_url
    from mmcrawl.topic import MEDIA_KINDS, load_topic

    stored = read_pages(folder)
    pages = [parse_page(body, url) for body, url in stored[:: max(1, len(stored) // most)]]
    urls = list(dict.fromkeys(link.url for page in pages for link in page.links))
    topic = load_topic(topic_name)
    test = TopicTest(topic, MEDIA_KINDS)

    def load() -> None:
        translate_url(_SPARE)
        segment("实验")
        test.judge(parse_page(b"<title>x</title>", _SPARE), ())

    loading = seconds(load)
    jieba.setLogLevel("ERROR")
    jieba.initialize()
    terms = {word.lower() for concept in topic.terms for word in concept}

    def judge_with_jieba() -> None:
        for page in pages:
            text = f"{page.title}\n{page.headings}\n{page.text}".lower()
            sum(word in terms for word in jieba.lcut(text))

    works: dict[str, Callable[[], object]] = {
        "url_words": lambda: [translate_url(url) for url in urls],
        "url_jieba": lambda: [jieba.lcut(unquote(url)) for url in urls],
        "judging": lambda: [test.judge(page, page.media) for page in pages],
        "judging_jieba": judge_with_jieba,
    }
    order = list(works) if ours_first else list(reversed(works))
    took = {name: seconds(works[name]) for name in order}
    return Figures(len(urls), len(pages), loading, **took)


def report(rounds: list[Figures]) -> None:
    first = rounds[0]
    loading = median(figures.loading for figures in rounds)
    print(f"{first.pages} pages, {first.urls} links; dictionaries loaded in {loading:.2f} s")
    print(f"{'':<14}{'mmcrawl':>12}{'jieba':>12}{'ratio':>8}")
    rows = (
        ("URL words/s", first.urls, "url_words", "url_jieba"),
        ("topic pages/s", first.pages, "judging", "judging_jieba"),
    )
    for name, count, ours, theirs in rows:
        speed = count / median(getattr(figures, ours) for figures in rounds)
        peer = count / median(getattr(figures, theirs) for figures in rounds)
        ratio = median(getattr(figures, theirs) / getattr(figures, ours) for figures in rounds)
        print(f"{name:<14}{speed:>12.0f}{peer:>12.0f}{ratio:>8.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with one folder of pages for each host")
    parser.add_argument("--topic", default="physics-senior", help="name or file of the topic")
    parser.add_argument("--pages", type=int, default=1_000, help="about so many (default 1000)")
    parser.add_argument("--rounds", type=int, default=3, help="default 3")
    arguments = parser.parse_args()
    if not arguments.folder.is_dir() or not read_pages(arguments.folder):
        print(f"{arguments.folder} holds no .htm or .html file.", file=sys.stderr)
        return 2
    rounds = []
    for number in range(arguments.rounds):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            work = process.submit(
                one_round, arguments.folder, arguments.topic, arguments.pages, number % 2 == 0
            )
            rounds.append(work.result())
    report(rounds)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
