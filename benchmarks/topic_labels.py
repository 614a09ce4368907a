"""How often the topic test is right: pages of stored webs that were labelled by reading them.

Each line of data/topic_labels.jsonl names a page, the page that led to it, the school subjects it
is about, those it may or may not be said to be about (left out for these), and why. A subject is
looked for by the topics that ship for it, all stages together. A page counts as found when the
score reaches the threshold, whether it holds media or not.

    python benchmarks/topic_labels.py FOLDER…      # folders of stored sites, each with a manifest

For each subject: precision and recall, and both with the threshold chosen on the other webs. For
each web: on how many pages a subject was found rightly, wrongly, or missed. `--wrong` lists those.

`--text main` has the test read the main text of each page in place of all its visible text.
"""

import argparse
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from mmcrawl.blocks import page_content
from mmcrawl.page.model import Page
from mmcrawl.page.parse import parse_page
from mmcrawl.replay.opening import open_web
from mmcrawl.scoring.relevance import TopicTest
from mmcrawl.topic.loading import load_topic, topic_names, union
from mmcrawl.topic.topic import MEDIA_KINDS, Topic

LABELS = Path(__file__).parent / "data" / "topic_labels.jsonl"
NOT_LABELLED = {"science", "society"}  # they overlap with all other subjects
SAME_SUBJECT = {"language": "chinese"}
THRESHOLDS = [0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7]


@dataclass(frozen=True)
class Judged:
    """A labelled page and what the test said of it for one subject."""

    web: str
    path: str
    about: bool
    score: float
    reason: str
    words: dict[str, float]


class Pages:
    """Pages of the stored webs, parsed when asked for.

    Of `text`, "whole" is all that is visible and no link, "main" what `page_content` takes for the
    page's own.
    """

    def __init__(self, folders: list[Path], text: str = "whole") -> None:
        self._webs = {}
        self._text = text
        for folder in folders:
            hosts = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
            stored = open_web(str(folder))
            self._webs |= dict.fromkeys(hosts, stored)
        self.page = cache(self._page)

    def __contains__(self, web: str) -> bool:
        return f"{web}.test" in self._webs

    def _page(self, web: str, path: str) -> Page:
        url = f"http://{web}.test{path}"
        answer = self._webs[f"{web}.test"].get(url)
        if answer is None:
            raise SystemExit(f"{url} is labelled but not stored: another state of the web?")
        content_type = answer.header("Content-Type") or ""
        page = parse_page(answer.body, url, content_type)
        if self._text == "whole":
            return page
        return replace(page, text=page_content(answer.body, url, content_type=content_type).text)


def subjects() -> dict[str, Topic]:
    """Return for each labelled subject the union of the topics that ship for it."""
    topics = defaultdict(list)
    for topic in map(load_topic, topic_names()):
        if topic.subject not in NOT_LABELLED:
            topics[SAME_SUBJECT.get(topic.subject, topic.subject)].append(topic)
    return {subject: union(parts) for subject, parts in sorted(topics.items())}


def nameless(topic: Topic) -> Topic:
    """Return a topic without the words that name its subject, as pages of a course all hold."""
    return Topic(topic.name, topic.title, topic.concepts, media=topic.media)


def judge(topic: Topic, subject: str, labels: list[dict], pages: Pages) -> list[Judged]:
    """Return what the test says of all pages that are labelled for a subject."""
    test = TopicTest(topic, MEDIA_KINDS)

    judged = []
    for label in labels:
        if subject in label["unsure"]:
            continue
        page = pages.page(label["web"], label["path"])
        verdict = test.judge(page, page.media)
        about = subject in label["subjects"]
        why = label["reason"]
        score = verdict.score
        judged.append(Judged(label["web"], label["path"], about, score, why, verdict.evidence))
    return judged


def rates(judged: list[Judged], threshold: float | dict[str, float]) -> tuple[int, int, int]:
    """Return how many pages are found rightly, found wrongly, and missed."""
    at = threshold if isinstance(threshold, dict) else defaultdict(lambda: threshold)
    found = Counter((one.about, one.score >= at[one.web]) for one in judged)
    return found[True, True], found[False, True], found[True, False]


def chosen_elsewhere(judged: list[Judged]) -> dict[str, float]:
    """Return for each web the threshold that is best on all other webs, by F1."""

    def best(web: str) -> float:
        others = [one for one in judged if one.web != web]

        def f1(threshold: float) -> tuple[float, float]:
            right, wrong, missed = rates(others, threshold)
            return 2 * right / max(2 * right + wrong + missed, 1), -abs(threshold - 0.5)

        return max(THRESHOLDS, key=f1)

    return {web: best(web) for web in {one.web for one in judged}}


def share(part: int, rest: int) -> str:
    """Return part / (part + rest) in per cent."""
    return f"{part / (part + rest):.0%}" if part + rest else "–"


def table_of_subjects(results: dict[str, list[Judged]]) -> None:
    """Print precision and recall of each subject."""
    print("| subject | pages | about it | right | wrong | missed | precision | recall |", end="")
    print(" precision, recall at thresholds of other webs |\n" + "|---" * 9 + "|")
    for subject, judged in results.items():
        right, wrong, missed = rates(judged, 0.5)
        print(
            f"| {subject} | {len(judged)} | {right + missed} | {right} | {wrong} | {missed} |",
            end="",
        )
        print(f" {share(right, wrong)} | {share(right, missed)} |", end="")
        right, wrong, missed = rates(judged, chosen_elsewhere(judged))
        print(f" {share(right, wrong)}, {share(right, missed)} |")


def table_of_webs(results: dict[str, list[Judged]]) -> None:
    """Print right, wrong and missed of each subject on each web."""
    webs = sorted({one.web for judged in results.values() for one in judged})
    print("\nright / wrong / missed\n\n| web |", " | ".join(results), "|")
    print("|---" * (1 + len(results)) + "|")
    for web in webs:
        cells = []
        for judged in results.values():
            counts = rates([one for one in judged if one.web == web], 0.5)
            cells.append(" / ".join(map(str, counts)) if any(counts) else "")
        print(f"| {web} |", " | ".join(cells), "|")


def list_wrong(results: dict[str, list[Judged]]) -> None:
    """Print the pages that were judged wrongly, with the label's reason and the words found."""
    for subject, judged in results.items():
        for one in judged:
            if one.about != (one.score >= 0.5):
                words = {word: round(worth, 2) for word, worth in one.words.items()}
                said = "missed" if one.about else "wrong"
                print(
                    f"{subject} {said} {one.web}{one.path} {one.score:.2f} ({one.reason}) {words}"
                )


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, help="folders of stored sites")
    parser.add_argument("--wrong", action="store_true", help="list the pages judged wrongly")
    parser.add_argument("--text", choices=["whole", "main"], default="whole")
    args = parser.parse_args()
    pages = Pages(args.folders, args.text)
    lines = LABELS.read_text(encoding="utf-8").splitlines()
    labels = [label for label in map(json.loads, lines) if label["web"] in pages]
    results, unnamed = {}, {}
    for subject, topic in subjects().items():
        results[subject] = judge(topic, subject, labels, pages)
        unnamed[subject] = judge(nameless(topic), subject, labels, pages)
    print(f"{len(labels)} labelled pages\n")
    table_of_subjects(results)
    print("\nWithout the words that name the subject\n")
    table_of_subjects(unnamed)
    table_of_webs(results)
    if args.wrong:
        list_wrong(results)


if __name__ == "__main__":
    main()
