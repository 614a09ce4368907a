"""CPU time of the start: the shortest commands, and what a crawl imports, as whole processes.

Each is a ratio to a process that imports numpy and lxml, which all of them need; the processes take
turns, and the least of the rounds counts, as what else a machine does only adds.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gated.row import Row

ROUNDS = 12
BOUND = 0.08  # see the README
REFERENCE = "import numpy, lxml.etree"
_PAGE = b"<title>Levers</title><h1>Levers</h1><p>A lever is a rigid bar on a pivot, and it lifts."
_MAIN = "from mmcrawl.commands.program import main; main()"
_SCRAPY = "from scrapy.cmdline import execute; execute()"


def rows(corpora: Path | None) -> Iterator[Row]:
    """Start each command some times; no corpora are needed."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_bytes(_PAGE)
        commands = {
            REFERENCE: [REFERENCE],
            "mmcrawl blocks --format md FILE": [_MAIN, "blocks", "--format", "md", str(page)],
            "scrapy archive --help": [_SCRAPY, "archive", "--help"],
            "import of page_content": ["from mmcrawl.blocks import page_content"],
            "import of the focused spider": ["from mmcrawl.spiders import FocusedSpider"],
        }
        least = dict.fromkeys(commands, float("inf"))
        for _ in range(ROUNDS):
            for name, words in commands.items():
                least[name] = min(least[name], cpu_ms([sys.executable, "-c", *words]))
    yield Row(f"CPU ms, {REFERENCE}", least[REFERENCE], "less", bound=None)
    for name in list(commands)[1:]:
        yield Row(f"CPU / reference, {name}", least[name] / least[REFERENCE], "less", BOUND)


def cpu_ms(command: list[str]) -> float:
    """Return the CPU milliseconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
