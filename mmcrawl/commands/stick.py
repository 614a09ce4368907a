"""`scrapy stick`: from a topic to a folder that opens by itself: crawl, collect, describe, export.

Each step is the command of its name, in a separate process since Scrapy runs only once in one. The
working files are in a folder beside the stick, so the same command continues where it was stopped.
Once the stick is complete, the next run crawls again, as another job of the same store.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field
from rich.padding import Padding
from rich.rule import Rule
from scrapy.commands import ScrapyCommand

from mmcrawl.cluster.views.found import FoundMedia
from mmcrawl.commands.base import MmcrawlCommand, Option, checked, console_of, ruffle_folder
from mmcrawl.commands.crawl_workers import program_command
from mmcrawl.commands.terminal.tables import literal
from mmcrawl.crawl.params import FocusedParams
from mmcrawl.crawl.spider_params import CollectParams
from mmcrawl.errors import CollectionError
from mmcrawl.media.parts import folder_of
from mmcrawl.store.child_process import signals_to
from mmcrawl.store.uris import file_of
from mmcrawl.text.media_kinds import KINDS
from mmcrawl.text.writing import counted, program, size_of
from mmcrawl.works.catalogue import open_catalogue
from mmcrawl.works.collections import Marks
from mmcrawl.works.model import Work

_OF_CRAWL = ("topic", "keywords", "seeds", "media", "algo", "sites", "rules", "max_pages", "web")
_OF_COLLECT = ("max_media", "max_file", "hosted", "web")
_PLACE = ("store", "job")
_MOST_REASONS = 5
_FROM_PLAYERS = "it is a page with a player, not a file"


class StickParams(FocusedParams):
    """The options of a stick: arguments of the crawl and of collecting."""

    max_pages: int = Field(2_000, ge=0, description="maximum of pages to fetch (default: 2000)")
    max_media: str = Field("14GB", description="maximum of downloads (default: 14GB)")
    max_file: str = Field("1GB", description="largest file (default: 1GB)")
    hosted: str = Field("", description=CollectParams.model_fields["hosted"].description)


class Command(MmcrawlCommand, ScrapyCommand):
    """Make or update a stick."""

    name = "stick"
    details = (
        "Crawls for pages on the topic, downloads their media, describes the works and writes a"
        " folder with an index.html for a memory stick. The same command continues after Ctrl-C;"
        " later it brings the stick up to date. What it works on stands in FOLDER-work, but for the"
        " crawl if --store names another place. Flash plays if MMCRAWL_RUFFLE names a folder with"
        " the web build of Ruffle."
    )
    arguments = tuple(dict.fromkeys((*_OF_CRAWL, *_OF_COLLECT, *_PLACE)))
    model = StickParams
    interrupted = ""
    working = ""

    options = (Option("--out", default="", metavar="FOLDER", help="the stick, made if needed"),)

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], int | None]:
        if not opts.out:
            raise ValueError("--out FOLDER is missing: where to write the stick")
        given = {name: getattr(opts, name) for name in self.arguments if getattr(opts, name)}
        params = checked(StickParams, given)
        checked(CollectParams, {name: getattr(params, name) for name in _OF_COLLECT})
        ruffle_folder(self.setting("MMCRAWL_RUFFLE"))
        out = Path(os.path.expanduser(opts.out)).absolute()
        if out.exists() and not (out / "index.html").is_file() and any(out.iterdir()):
            raise CollectionError(f"{out} contains other files; name a new folder with --out")
        settings = [word for pair in opts.set for word in ("-s", pair)]
        return lambda: self._make(params, given, out, settings)

    def _make(
        self, params: StickParams, given: dict[str, Any], out: Path, settings: list[str]
    ) -> int:
        work = out.with_name(f"{out.name}-work")
        work.mkdir(parents=True, exist_ok=True)
        made = len([*work.glob("*.json")])  # how often the stick was made: what each came to
        store = params.store or f"sqlite:///{work / 'crawl.db'}"
        job = params.job or f"stick-{made + 1}"
        of_crawl = {name: value for name, value in given.items() if name in _OF_CRAWL}
        of_crawl |= {"max_pages": params.max_pages, "job": job}
        of_collect = {name: getattr(params, name) for name in _OF_COLLECT}
        of_collect["kinds"] = params.media
        steps: Sequence[tuple[str, list[str]]] = (
            ("crawling", ["crawl", "focused", *_as_words(of_crawl)]),
            ("downloading", ["collect", *_as_words(of_collect)]),
            ("describing", ["works", "describe"]),
            ("writing", ["works", "export", "--to", "folder", "-o", str(out), "--overwrite"]),
        )
        for number, (doing, words) in enumerate(steps, 1):
            head = f"{number}/{len(steps)} {doing}" + (f" (round {made + 1})" if made else "")
            console_of().print(Rule(head, align="left"))
            sys.stdout.flush()
            code, stopped = _run([*words, "-a", f"store={store}", *settings])
            if stopped:
                self.say("stopped; the same command continues")
                return 130
            if code and not (code == 1 and words[1:2] == ["export"]):
                self.say(f"ended while {doing}; once that is fixed, the same command continues")
                return code
        with open_catalogue(store, folder_of(store, self.setting("MMCRAWL_MEDIA"))) as catalogue:
            works, found = list(catalogue.works()), FoundMedia(store, job)
            marked = {mark.url for mark in Marks(catalogue).of(found.near_name)}
        near = found.near_misses(self.setting("MMCRAWL_TOPIC_THRESHOLD"), marked)
        facts = closing_facts(works, len(near), flash=bool(self.setting("MMCRAWL_RUFFLE")))
        (work / f"{job}.json").write_text(json.dumps(facts), encoding="utf-8")
        said = " ".join(closing_sentences(facts, out, file_of(store) or store))
        console_of().print(Rule("the stick", align="left"), Padding(literal(said), (0, 0, 1, 0)))
        return 0


def closing_facts(works: Sequence[Work], near: int, *, flash: bool) -> dict[str, Any]:
    """Return what is on a stick and what is not, as plain data; the browser shows it too."""
    held = [work for work in works if _is_held(work)]
    kinds = Counter(work.kind for work in held)
    missing = Counter(why_missing(work) for work in works if not _is_held(work))
    return {
        "held": len(held),
        "kinds": {kind: kinds[kind] for kind in KINDS if kinds[kind]},
        "size": sum({f.digest: f.size for w in held for f in w.files if f.digest}.values()),
        "missing": missing.total(),
        "reasons": dict(missing.most_common(_MOST_REASONS)),
        "hosted": missing[_FROM_PLAYERS],
        "flash": bool(kinds["animation"]) and not flash,
        "unstated": sum(work.licence is None for work in held),
        "near": near,
    }


def closing_sentences(facts: Mapping[str, Any], out: Path, place: str) -> Iterator[str]:
    """Yield what is on a stick, what is not and why, and what to do next."""
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in facts["kinds"].items()) or "nothing"
    size = size_of(facts["size"])
    yield f"On it: {counted(facts['held'], 'work')} ({kinds}; {size}), {out / 'index.html'}."
    if facts["missing"]:
        told = "; ".join(f"{count:,}: {why}" for why, count in facts["reasons"].items())
        yield f"Only links: {counted(facts['missing'], 'work')} ({told})."
    if facts["hosted"]:
        yield "For films of other sites: --hosted 5GB."
    if facts["flash"]:
        yield "Flash plays with Ruffle: -s MMCRAWL_RUFFLE=FOLDER names its web build."
    if facts["unstated"]:
        yield f"Without a licence: {counted(facts['unstated'], 'work')}; ask before you share."
    if facts["near"]:
        yield (
            f"Just below the threshold: {counted(facts['near'], 'page')} with media, to be taken or"
            f" refused in `{program()} browse {place}`."
        )
    yield "Copy the folder to a stick; the same command brings it up to date."


def _is_held(work: Work) -> bool:
    return any(file.digest for file in work.files)


def why_missing(work: Work) -> str:
    """Return why nothing of a work is held."""
    reasons = (file.reason or file.state for file in work.files)
    return next(filter(None, reasons), "not downloaded yet")


def _as_words(arguments: dict[str, Any]) -> list[str]:
    """Return arguments as they are typed; those that say nothing are left out."""
    pairs = (f"{name}={value}" for name, value in arguments.items() if value not in ("", None))
    return [word for pair in pairs for word in ("-a", pair)]


def _run(words: list[str]) -> tuple[int, bool]:
    """Run a command in its own session; return its exit code, and whether it was told to stop."""
    quiet = subprocess.DEVNULL if words[0] == "works" else None
    process = subprocess.Popen(  # noqa: S603 - a command of ours
        [*program_command(), *words], stdout=quiet, start_new_session=True
    )
    stopped: list[int] = []

    def pass_on(number: int) -> None:
        stopped.append(number)
        process.send_signal(number)

    with signals_to(pass_on):
        return process.wait(), bool(stopped)
