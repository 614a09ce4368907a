"""How well a topic learnt from 20 + 20 pages does on webs it has not seen, beside topics of words.

Three kinds of tasks. *Subjects*: the pages of data/topic_labels.jsonl, which were read (what a page
is about, what it may or may not be about, and why); the words are those of the topics that ship for
the subject. *Themes*: media pages of the stored webs that are podcasts, or
lectures, against their other pages and those of other webs; the words are the keywords below, which
a user may have given. *Page types* of WCXB (`--pages`): each page is of another site; the words are
keywords likewise.

    python benchmarks/learnt_topics.py FOLDER… [--pages FOLDER] [--seeds 5] [--examples 20]

Each web with four right pages or more is left out in turn, and with it a third of the others, drawn
by chance (of page types half of the sites); 20 right and 20 wrong pages of the rest are the
examples, fewer where there are fewer. Average precision over all pages that were left out: by
chance, by words, as learnt, and by both together (the odds added, as `-a topic=LEARNT,WORDS` does);
precision and recall at a probability of 0.5, over all repetitions. What stands behind ± is the
standard deviation over seeds. `--without` leaves parts of what is learnt from out.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlsplit

import numpy as np
from sklearn.metrics import average_precision_score

from mmcrawl.learning.examples import Example
from mmcrawl.learning.training import Design, Seen, calibrated, fitted, folds_of, left_out, seen_of
from mmcrawl.page.model import Page
from mmcrawl.page.parse import parse_page
from mmcrawl.replay.opening import open_web
from mmcrawl.scoring.relevance import TopicTest
from mmcrawl.topic.loading import load_topic, topic_from_keywords, topic_names, union
from mmcrawl.topic.topic import MEDIA_KINDS, Topic

LABELS = Path(__file__).parent / "data" / "topic_labels.jsonl"
NOT_LABELLED = {"science", "society"}  # they overlap with all other subjects
SAME_SUBJECT = {"language": "chinese"}

THEMES = {
    "podcast": (
        ("castalio", "insertcredit", "strobofm", "geekwhisperers"),
        "podcast|podcasts|播客|ポッドキャスト",
    ),
    "lecture": (
        ("ocw801", "ocwexample", "ocw1802", "cb2k", "egr124"),
        "lecture|lectures|lecture video|讲座",
    ),
}
TYPES = {
    "forum": "forum, reply, thread, post",
    "product": "price, cart|add to cart, product, shipping",
    "documentation": "documentation|docs, api, reference, install",
    "listing": "listing, results, page",
}
OF_A_WEB = 40  # pages with media, and as many without, of a web of a theme
PARTS = ("words", "numbers", "topics")


class Pages:
    """Pages of the stored webs, parsed when asked for."""

    def __init__(self, folders: list[Path]) -> None:
        self._webs = {}
        for folder in folders:
            hosts = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
            self._webs |= dict.fromkeys(hosts, open_web(str(folder)))
        self.page = cache(self._page)

    def __contains__(self, web: str) -> bool:
        return f"{web}.test" in self._webs

    def _page(self, web: str, path: str) -> Page:
        url = f"http://{web}.test{path}"
        answer = self._webs[f"{web}.test"].get(url)
        if answer is None:
            raise SystemExit(f"{url} is labelled but not stored: another state of the web?")
        return parse_page(answer.body, url, answer.header("Content-Type") or "")


def subjects() -> dict[str, Topic]:
    """Return for each labelled subject the union of the topics that ship for it."""
    topics = defaultdict(list)
    for topic in map(load_topic, topic_names()):
        if topic.subject not in NOT_LABELLED:
            topics[SAME_SUBJECT.get(topic.subject, topic.subject)].append(topic)
    return {subject: union(parts) for subject, parts in sorted(topics.items())}


@dataclass(frozen=True)
class Known:
    """A page of a task: whether it is right, what is seen of it, and what words say of it."""

    web: str
    right: bool
    seen: Seen
    by_words: float


_SEEN: dict[tuple[str, str], Seen] = {}


def known(page: Page, web: str, right: bool, test: TopicTest) -> Known:
    """Return a page of a task; what is seen of it is the same in all tasks."""
    seen = _SEEN.get((web, page.url)) or seen_of(Example(page.url, web, page))
    _SEEN[web, page.url] = seen
    return Known(web, right, seen, test.judge(page, page.media).score)


def of_subjects(pages: Pages) -> Iterator[tuple[str, list[Known]]]:
    """Yield the labelled pages for each subject that four right pages of two webs are about."""
    lines = map(json.loads, LABELS.read_text(encoding="utf-8").splitlines())
    labels = [label for label in lines if label["web"] in pages]
    for subject, topic in subjects().items():
        webs = Counter(one["web"] for one in labels if subject in one["subjects"])
        if sum(count >= 4 for count in webs.values()) < 2:
            continue
        test = TopicTest(topic, MEDIA_KINDS)
        yield (
            subject,
            [
                known(
                    pages.page(one["web"], one["path"]),
                    one["web"],
                    subject in one["subjects"],
                    test,
                )
                for one in labels
                if subject not in one["unsure"]
            ],
        )


def of_themes(folders: list[Path], pages: Pages) -> Iterator[tuple[str, list[Known]]]:
    """Yield pages of all webs for each theme."""
    drawn = []
    for folder in folders:
        for host in json.loads((folder / "manifest.json").read_text(encoding="utf-8")):
            web = host.removesuffix(".test")
            listed = folder / "media" / f"{host}.jsonl"  # none for a web without media
            lines = listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else []
            content = {one["page"]: one["content"] for one in map(json.loads, lines)}
            files = sorted(p.relative_to(folder / host).as_posix() for p in _html(folder / host))
            chance = random.Random(web)
            for holds_media in (True, False):
                own = [f for f in files if (content.get(f) if holds_media else f not in content)]
                for file in chance.sample(own, min(OF_A_WEB, len(own))):
                    drawn.append((web, pages.page(web, f"/{quote(file)}"), holds_media))
    for theme, (webs, keywords) in THEMES.items():
        test = TopicTest(topic_from_keywords(keywords), MEDIA_KINDS)
        yield theme, [known(page, web, media and web in webs, test) for web, page, media in drawn]


def _html(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*.htm*") if path.is_file())


def of_types(folder: Path) -> Iterator[tuple[str, list[Known]]]:
    """Yield the pages of WCXB for some types of pages."""
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    pages = []
    for name, label in sorted(truth.items()):
        path = folder / f"{name}.html"
        if name.startswith("wcxb/") and path.is_file():
            url = label["url"] or f"http://{path.stem}.test/"
            page = parse_page(path.read_bytes(), url)
            pages.append((urlsplit(url).netloc, label["type"], page))
    for kind, keywords in TYPES.items():
        test = TopicTest(topic_from_keywords(keywords), MEDIA_KINDS)
        yield f"type: {kind}", [known(page, site, own == kind, test) for site, own, page in pages]


def splits(pages: list[Known], seeds: int) -> Iterator[tuple[str, int, set[str]]]:
    """Yield the web that is left out, a seed, and all webs that are left out with it."""
    right = Counter(page.web for page in pages if page.right)
    webs = sorted({page.web for page in pages})
    if len(webs) > 100:  # sites of one page
        for seed in range(seeds):
            yield "half of the sites", seed, set(random.Random(seed).sample(webs, len(webs) // 2))
        return
    total = sum(right.values())
    for web in sorted(web for web, count in right.items() if count >= 4 and total - count >= 5):
        for seed in range(seeds):
            others = [one for one in webs if one != web]
            random.Random(f"{web}{seed}").shuffle(others)
            out, rest = {web}, total - right[web]
            for one in others[: len(others) // 3]:
                if rest - right[one] >= min(20, rest / 2):
                    out.add(one)
                    rest -= right[one]
            yield web, seed, out


def tried(pages: list[Known], out: set[str], count: int, seed: str) -> dict[str, float]:
    """Return what was measured on the webs that were left out."""
    chance = random.Random(seed)
    rest = [page for page in pages if page.web not in out]
    examples = []
    for right in (True, False):
        own = [page for page in rest if page.right is right]
        examples += chance.sample(own, min(count, len(own)))
    seen = [page.seen for page in examples]
    labels = np.array([int(page.right) for page in examples])
    design = Design(seen)
    classifier = fitted(design.matrix(seen), labels)
    slope, offset = calibrated(
        left_out(seen, labels, folds_of(labels, [s.site for s in seen])[0]), labels
    )
    test = [page for page in pages if page.web in out]
    sums = classifier.decision_function(design.matrix([page.seen for page in test]))
    learnt = np.clip(1 / (1 + np.exp(-(slope * sums + offset))), 0.01, 0.99)
    words = np.array([page.by_words for page in test])
    odds = learnt / (1 - learnt) + words / (1 - words)
    truth = np.array([page.right for page in test])
    found = learnt >= 0.5
    return {
        "chance": truth.mean(),
        "words": average_precision_score(truth, words),
        "learnt": average_precision_score(truth, sums),
        "both": average_precision_score(truth, odds),
        "right": (found & truth).sum(),
        "found": found.sum(),
        "wanted": truth.sum(),
    }


def lacking(pages: list[Known], without: list[str]) -> list[Known]:
    """Return the pages with parts of what is learnt from left out."""
    nothing = {"none": 0.0}
    changes = {
        "words": {"terms": {}},
        "numbers": {"numbers": nothing},
        "topics": {"topics": nothing},
    }
    gone = {key: value for part in without for key, value in changes[part].items()}
    return [replace(page, seen=replace(page.seen, **gone)) for page in pages] if gone else pages


def table(task: str, pages: list[Known], seeds: int, count: int) -> list[float]:
    """Print a line for each web that is left out, and their mean; return this."""
    results = defaultdict(list)
    for web, seed, out in splits(pages, seeds):
        results[web].append(tried(pages, out, count, f"{task}{web}{seed}"))
    means = []
    for web, several in results.items():
        mean = {key: float(np.mean([one[key] for one in several])) for key in several[0]}
        spread = np.std([one["learnt"] for one in several])
        means.append([mean[key] for key in ("chance", "words", "learnt", "both")])
        found, right = (sum(one[key] for one in several) for key in ("found", "right"))
        wanted = sum(one["wanted"] for one in several)
        print(
            f"| {task} | {web} | {mean['chance']:.2f} | {mean['words']:.3f} |"
            f" {mean['learnt']:.3f} ± {spread:.3f} | {mean['both']:.3f} |"
            f" {right / max(found, 1):.0%}, {right / max(wanted, 1):.0%} |",
            flush=True,
        )
    return np.mean(means, axis=0).tolist()


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, help="folders of stored sites")
    parser.add_argument("--pages", type=Path, help="folder of labelled pages, with truth.json")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--examples", type=int, default=20, help="right ones, and wrong ones")
    parser.add_argument("--without", action="append", default=[], choices=PARTS)
    args = parser.parse_args()
    pages = Pages(args.folders)
    print("| task | web left out | chance | words | learnt | both | precision, recall |")
    print("|---" * 7 + "|")
    means = {}
    tasks = [*of_subjects(pages), *of_themes(args.folders, pages)]
    for task, own in [*tasks, *(of_types(args.pages) if args.pages else ())]:
        means[task] = table(task, lacking(own, args.without), args.seeds, args.examples)
    print("\n| task | chance | words | learnt | both |\n" + "|---" * 5 + "|")
    means["mean"] = np.mean(list(means.values()), axis=0).tolist()
    for task, values in means.items():
        print(f"| {task} |", " | ".join(f"{value:.3f}" for value in values), "|")


if __name__ == "__main__":
    main()
