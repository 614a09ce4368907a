"""Through how much code a page goes, and how often the same is done to it.

Crawls a stored web of two pages, the second with a film on the topic, in one process (a thread
writes the archive), and counts modules and functions of mmcrawl that run from the seed's entering
the frontier until the crawl is closed: by then both pages are archived and their links are known.
The stored web, which stands for the network, is left out. Then two versions of a page are compared.

    python benchmarks/route.py [-v]
"""

import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import mmcrawl

HOME = f"{Path(mmcrawl.__file__).parent}/"
BEGIN, END = "SqliteFrontier.add", "FocusedScheduler.close"
LEFT_OUT = "replay/"
COUNTED = {
    "pages parsed (parse_page)": ("page/parse.py:parse_page",),
    "trees built (read_tree)": ("blocks/tree.py:read_tree",),
    "encodings found out": ("page/encoding.py:decode_page", "page/encoding.py:page_encoding"),
    "signs read (TopicTest.signs)": ("scoring/relevance.py:TopicTest.signs",),
    "verdicts (TopicTest.verdict)": ("scoring/relevance.py:TopicTest.verdict",),
    "media records": ("crawling/intake.py:media_page",),
    "bodies digested (page_digest)": ("frontier/urls.py:page_digest",),
    "headers looked up": ("archive/model.py:Capture.header",),
    "keys of URLs made": ("frontier/urls.py:url_key",),
    "URLs canonicalised": ("frontier/urls.py:canonical",),
    "packs looked up": ("sqlite/backend.py:SqliteBackend.pack_with_entry", "pack_with_chunk"),
    "versions read (rows and bytes)": ("archive/archive.py:Archive._read",),
}
PAGES = {
    "index.html": '<title>Levers</title><h1>Levers</h1><ul><li><a href="/a/film.html">Lever and'
    " force</a></ul><p>" + "Words about a lever. " * 40,
    "a/film.html": '<title>Lever: force</title><h1>Lever</h1><a href="lever.mp4">Film of a lever'
    '</a> <a href="/index.html">Home</a><p>' + "The force on a lever. " * 60,
}


class Route:
    """Counts what runs, as `sys.setprofile` and `threading.setprofile` take it."""

    def __init__(self, begin: str = "", end: str = "-") -> None:
        self.calls: Counter[str] = Counter()
        self.digests = 0
        self._begin, self._end, self._on = begin, end, not begin

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "c_call":
            self.digests += self._on and getattr(argument, "__name__", "") == "openssl_sha256"
            return
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(HOME):
            return
        name = f"{code.co_filename[len(HOME) :]}:{code.co_qualname}"
        self._on = (self._on or name.endswith(self._begin)) and not name.endswith(self._end)
        if self._on and not name.startswith(LEFT_OUT) and not code.co_name.startswith("<"):
            self.calls[name] += 1

    def run(self, what: Callable[[], object]) -> None:
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            what()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def tell(self, title: str, *, every: bool) -> None:
        modules = Counter(name.partition(":")[0] for name in self.calls)
        print(f"{title}: {len(modules)} modules, {len(self.calls)} functions")
        for what, endings in COUNTED.items():
            count = sum(n for name, n in self.calls.items() if name.endswith(endings))
            if count:
                print(f"  {count:4} {what}")
        print(f"  {self.digests:4} SHA-256 (bodies, chunks, blocks)")
        for module, functions in sorted(modules.items()) if every else ():
            print(f"  {functions:4} functions of {module}")


def crawl(folder: Path) -> None:
    """Crawl the two pages into an archive."""
    from scrapy.crawler import CrawlerProcess
    from scrapy.settings import Settings

    from mmcrawl.pipelines import archive

    archive._cores = lambda: 1  # a thread writes
    settings = Settings()
    settings.setmodule("mmcrawl.settings")
    settings.setdict({"MMCRAWL_DISPLAY": False, "LOG_LEVEL": "WARNING"})
    process = CrawlerProcess(settings)
    process.crawl(
        "focused",
        keywords="lever,force",
        web=str(folder / "web"),
        seeds="http://h.test/index.html",
        store=f"sqlite:///{folder}/crawl.db",
    )
    process.start()


def compare(folder: Path) -> None:
    """Compare the versions of a page of an archive, as `scrapy archive diff` does."""
    from mmcrawl.archive import open_archive

    with open_archive(f"sqlite:///{folder}/versions.db", read_only=True) as archive:
        archive.diff(*archive.versions("http://h.test/"))


def store_versions(folder: Path) -> None:
    """Store two versions of a page that differ in one block of eight."""
    from mmcrawl.archive import Capture, open_archive

    with open_archive(f"sqlite:///{folder}/versions.db") as archive:
        for time, word in enumerate(("old", "new")):
            blocks = (f"<h2>Part {n}</h2><p>{'Words on levers. ' * 30}</p>" for n in range(7))
            body = f"<title>T</title><p>{word} {'words ' * 60}</p>{''.join(blocks)}".encode()
            headers = (("Content-Type", "text/html; charset=utf-8"),)
            archive.store(Capture("http://h.test/", body, float(time), headers=headers))


def main() -> None:
    every = sys.argv[1:] == ["-v"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, page in PAGES.items():
            file = folder / "web" / "h.test" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"<html lang=en>{page}", "utf-8")
        os.chdir(folder)
        route = Route(BEGIN, END)
        route.run(lambda: crawl(folder))
        route.tell("From seed to archive, two pages", every=every)
        store_versions(folder)
        route = Route()
        route.run(lambda: compare(folder))
        route.tell("Two versions compared", every=every)


if __name__ == "__main__":
    main()
