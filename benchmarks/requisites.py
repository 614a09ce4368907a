"""What `-a requisites=yes` and `wget -p` fetch of the same pages, from stored sites on loopback.

    python benchmarks/requisites.py FOLDER… --pages 20

Of each folder, served as it is, pages in equal distances are named to both, and what they ask for
is compared, whether it is stored or not; of files of other hosts the server is the proxy, which has
none, so that nothing is asked of the network. Scripts, media, frames and hosts of https are counted
apart. Below the table stand examples of what one lacks.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

from mmcrawl.page import media_kind

FAST = {
    "AUTOTHROTTLE_ENABLED": 0,
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": 0,
    "RETRY_ENABLED": 0,
    "LOG_LEVEL": "CRITICAL",
    "MMCRAWL_DISPLAY": 0,
    "MMCRAWL_REQUISITES_PER_PAGE": 2_000,
}
ROOT = Path(__file__).resolve().parent.parent
_OTHERS = (".js", ".mjs", ".json", ".html", ".htm", "/", ":443")
_EXAMPLES = 4
Command = Callable[[list[str], str], list[str]]


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder, and notes what it is asked for."""

    asked: set[str]

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        self.asked.add(self.path)


def by_mmcrawl(urls: list[str], folder: str) -> list[str]:
    given = {"seeds": ",".join(urls), "keywords": "*", "discover": "none", "algo": "breadth"}
    given |= {"max_pages": len(urls), "requisites": "yes", "store": f"{folder}/crawl.db"}
    words = [word for name, value in given.items() for word in ("-a", f"{name}={value}")]
    words += [word for name, value in FAST.items() for word in ("-s", f"{name}={value}")]
    return [sys.executable, "-m", "scrapy", "crawl", "focused", *words]


def by_wget(urls: list[str], folder: str) -> list[str]:
    return ["wget", "-p", "-H", "-q", "-t", "1", "-e", "robots=off", "-P", folder, *urls]


def asked_by(folder: Path, paths: list[str], command: Command) -> set[str]:
    """Return what a program asks for to have some pages of a folder, these left out."""
    Handler.asked = asked = set()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    proxies = {"http_proxy": origin, "https_proxy": origin, "no_proxy": "127.0.0.1"}
    with tempfile.TemporaryDirectory() as place:
        words = command([f"{origin}/{path}" for path in paths], place)
        subprocess.run(words, cwd=ROOT, env={**os.environ, **proxies}, check=False)
    server.shutdown()
    server.server_close()
    return asked - {f"/{path}" for path in paths}


def needed(paths: set[str]) -> set[str]:
    files = ((path, path.partition("?")[0].lower()) for path in paths)
    return {path for path, name in files if not (name.endswith(_OTHERS) or media_kind(name))}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--pages", type=int, default=20)
    args = parser.parse_args()
    if shutil.which("wget") is None:
        raise SystemExit("wget is missing (Debian: apt install wget)")
    print("| site | pages | both | only mmcrawl | only wget -p | other of wget -p |")
    print("|---|---|---|---|---|---|")
    notes = []
    for folder in args.folders:
        found = sorted(folder.rglob("*.htm*"))
        pages = found[:: max(1, len(found) // args.pages)][: args.pages]
        paths = [quote(page.relative_to(folder).as_posix()) for page in pages]
        ours, wgets = (asked_by(folder, paths, run) for run in (by_mmcrawl, by_wget))
        own, other = needed(ours) - needed(wgets), needed(wgets) - needed(ours)
        both, rest = len(needed(ours) & needed(wgets)), len(wgets - needed(wgets))
        counts = (folder.name, len(paths), both, len(own), len(other), rest)
        print(f"| {' | '.join(map(str, counts))} |", flush=True)
        for who, only in (("mmcrawl", own), ("wget", other)):
            if only:
                notes.append(f"* {folder.name}, only {who}: {', '.join(sorted(only)[:_EXAMPLES])}")
    print("", *notes, sep="\n")


if __name__ == "__main__":
    main()
