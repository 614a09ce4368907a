"""Writes the golden files of `tests/golden`: what the product did when they were last written.

    python tools/write_golden.py [NAME…]

A file changes only in a commit that says why. Each is made by one case: the order in which every
algorithm fetches the demo web and three stored webs, the tables of the four presets, blocks, kinds
and main text of 200 pages, and feeds. Stored webs and others' pages are in the folder that the
variable MMCRAWL_CORPORA names (`web/`, `web2/`, `pages/`); their files are left alone without it.
Of others' pages there are digests only.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from content import load
from search_lab import Web, crawl, webs_of

from mmcrawl.blocks import page_content, partition
from mmcrawl.experiment import Outcome
from mmcrawl.experiment.presets import song2008, yang2009
from mmcrawl.experiment.presets.labelled_pages import LabelledPage, pages_in
from mmcrawl.experiment.presets.tables import PaperTable
from mmcrawl.experiment.truth import series_of, truth_of
from mmcrawl.scoring import algorithm_names

PROJECT = Path(__file__).resolve().parent.parent
GOLDEN = PROJECT / "tests" / "golden"
DEMO = Web("demo", "demo", "", "")
STORED = {"ocwexample": "topic", "geekwhisperers": "topic", "strobofm": "any"}
FETCHED, SHOWN = 250, 100
"""Pages of the demo web that are fetched, and of them those written down by their addresses."""
OTHERS = 61
"""Pages of others, beside the 139 that ship."""
PARTITIONERS = ("bwap", "spcola", "quark")
FEEDS = ("media.csv", "media.jsonl")


class NoCorporaError(Exception):
    """A case needs pages that are not here."""


def digest(lines: Iterable[str]) -> str:
    return sha256("\n".join(lines).encode(errors="surrogatepass")).hexdigest()[:12]


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for parsed pages, which is gone when the process ends."""
    return tempfile.TemporaryDirectory(prefix="mmcrawl-golden-")


def _corpora(*names: str) -> list[Path]:
    root = Path(os.environ.get("MMCRAWL_CORPORA") or "none")
    found = [root / name for name in names]
    if not all(folder.is_dir() for folder in found):
        raise NoCorporaError(f"name the folder that holds {', '.join(names)} in MMCRAWL_CORPORA")
    return found


# ---------------------------------------------------------------- the order of fetching


def demo_order(algorithm: str) -> Iterator[str]:
    """Yield the first pages an algorithm fetches of the demo web, and a digest of some more."""
    run = crawl(DEMO, algorithm, "topic", Path(_scratch().name), most=FETCHED)
    told = [f"{'+' if p.relevant else '-'} {p.url.partition('//')[2]}" for p in run.pages]
    yield from told[:SHOWN]
    yield f"{len(told)} pages: {digest(told)}"


def stored_order(name: str) -> Iterator[str]:
    """Yield for each algorithm digests of the first fifth of the pages it fetches, and of all."""
    webs = {web.name: web for web in webs_of(_corpora("web", "web2"), sims=False)}
    for algorithm in algorithm_names():
        run = crawl(webs[name], algorithm, STORED[name], Path(_scratch().name))
        told = [f"{page.relevant} {page.url}" for page in run.pages]
        first = digest(told[: len(told) // 5])
        relevant = sum(page.relevant for page in run.pages)
        yield f"{algorithm}: {len(told)} pages, {relevant} relevant, {first} {digest(told)}"


# ---------------------------------------------------------------- tables of the presets


def preset_tables(name: str) -> Iterator[str]:
    """Yield the tables of a preset, without what a clock measures."""
    for table in _TABLES[name]():
        yield f"# {table.title}"
        yield " | ".join(table.columns)
        yield from (" | ".join(row) for row in table.rows)


def _of_labelled_pages(preset: str) -> Iterator[PaperTable]:
    pages = Path(str(import_module("mmcrawl.experiment.presets").__file__)).parent / "data/pages"
    module = import_module(f"mmcrawl.experiment.presets.{preset}")
    return iter(module.tables(pages, lambda *_: None))


def _song2008() -> Iterator[PaperTable]:
    """Yield table 1 without its cases on speed and memory."""
    rows = [
        (case.text, case.published, case.here())
        for case in song2008.CASES
        if case.category == "functional"
    ]
    yield PaperTable("Table 1: test cases", ("case", "published", "here"), tuple(rows))


def _yang2009() -> Iterator[PaperTable]:
    """Yield the tables of crawls of the demo web in which a page takes a second."""
    left: dict[str, tuple[Path, Path]] = {}
    for number, algorithm in enumerate(yang2009.ALGORITHMS):
        base = Path(_scratch().name, f"yang2009-{number}")
        store, clock = base.with_suffix(".db"), base.with_suffix(".clock")
        store.unlink(missing_ok=True)
        given = ";".join(f"{key}={value}" for key, value in algorithm.parameters.items())
        spec = f"{algorithm.name}:{given}" if given else algorithm.name
        run = crawl(DEMO, spec, "topic", base.parent, store=f"sqlite:///{store}")
        lines = (f"{second}\t{second}\t{page.url}\n" for second, page in enumerate(run.pages, 1))
        clock.write_text("".join(lines), encoding="utf-8")
        left[algorithm.label] = store, clock
    truth = truth_of(left["breadth"][0])
    runs = {label: [series_of(label, 1, *files, truth)] for label, files in left.items()}
    plan = yang2009.Plan("demo", {"topic": "physics-senior"}, yang2009.ALGORITHMS)
    yield from yang2009.tables(plan, Outcome({}, {}, truth, runs))


_TABLES: Mapping[str, Callable[[], Iterator[PaperTable]]] = {
    "yang2009": _yang2009,
    "song2008": _song2008,
    "wang2012": partial(_of_labelled_pages, "wang2012"),
    "quark": partial(_of_labelled_pages, "quark"),
}


# ---------------------------------------------------------------- pages


def pages_told(pages: Iterable[tuple[str, bytes, str | None]]) -> Iterator[str]:
    """Yield for each page digests of its blocks by each method, of their kinds, and main text."""
    for name, body, url in pages:
        told = []
        for method in PARTITIONERS:
            blocks = partition(body, method=method, url=url).blocks
            places = digest(f"{block.start} {block.end} {block.level}" for block in blocks)
            told.append(f"{method} {len(blocks)} blocks {places}")
            if method == PARTITIONERS[0]:
                kinds = [block.kind for block in blocks]
                counts = Counter(kinds)
                listed = ",".join(f"{kind}:{counts[kind]}" for kind in sorted(counts))
                told.append(f"kinds {listed} {digest(kinds)}")
        text = page_content(body, url).text
        told.append(f"main text {len(text.split())} words {digest([text])}")
        yield f"{name}: {'; '.join(told)}"


def _shipped(pages: Callable[[], Sequence[LabelledPage]]) -> Iterator[str]:
    return pages_told((page.name, page.body, page.url) for page in pages())


def _of_others() -> Iterator[str]:
    _corpora("pages")
    pages = load("pages", Path(os.environ["MMCRAWL_CORPORA"]))
    chosen = pages[:: len(pages) // OTHERS][:OTHERS]
    return pages_told((page.key, page.body, page.url) for page in chosen)


# ---------------------------------------------------------------- feeds


def feed(name: str) -> Iterator[str]:
    """Yield the lines of a feed of the demo web, with TIME where a time stands."""
    text = _feeds()[name]
    for time in _times(name, text):
        text = text.replace(time, "TIME")
    yield from text.splitlines()


@cache
def _feeds() -> dict[str, str]:
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "scrapy", "crawl", "focused"]
        arguments = ("web=demo", "algo=urlrule", "store=memory:", "archive=none", "max_pages=60")
        settings = ("CONCURRENT_REQUESTS=1", "SCRAPER_SLOT_MAX_ACTIVE_SIZE=1", "LOG_LEVEL=ERROR")
        command += [word for one in arguments for word in ("-a", one)]
        command += [word for one in settings for word in ("-s", one)]
        command += [word for one in FEEDS for word in ("-O", str(Path(place, one)))]
        subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)  # noqa: S603
        return {one: Path(place, one).read_text(encoding="utf-8") for one in FEEDS}


def _times(name: str, text: str) -> list[str]:
    if name.endswith("csv"):
        rows = csv.DictReader(text.removeprefix("\ufeff").splitlines(keepends=True))
        return [row["visited_at"] for row in rows]
    return re.findall(r'(?<="visited_at": )[^,}]+', text)


# ---------------------------------------------------------------- all of it

_OWN_PAGES = PROJECT / "benchmarks" / "data" / "block_kinds"
CASES: Mapping[str, Callable[[], Iterator[str]]] = {
    **{f"order/demo/{name}.txt": partial(demo_order, name) for name in algorithm_names()},
    **{f"order/{name}.txt": partial(stored_order, name) for name in STORED},
    **{f"tables/{name}.txt": partial(preset_tables, name) for name in _TABLES},
    "pages/shipped.txt": partial(_shipped, partial(pages_in, None)),
    "pages/own.txt": partial(_shipped, partial(pages_in, _OWN_PAGES)),
    "pages/others.txt": _of_others,
    **{f"feeds/{name}.txt": partial(feed, name) for name in FEEDS},
}
"""What makes the lines of each golden file; raises NoCorporaError where its pages are not here."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="files, or folders of them")
    given = parser.parse_args()
    for name, lines in CASES.items():
        if given.names and not any(name.startswith(one) for one in given.names):
            continue
        file = GOLDEN / name
        try:
            text = "\n".join(lines()) + "\n"
        except NoCorporaError as error:
            print(f"{name} is left as it is: {error}", file=sys.stderr)
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            print(f"changed: {file.relative_to(PROJECT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
