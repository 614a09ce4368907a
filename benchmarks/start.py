"""How long the start takes: importing `mmcrawl.blocks`, and the content of one file.

    python benchmarks/start.py [--rounds 9]

Wall and CPU milliseconds of whole processes, the least of the rounds (what else the machine does
only adds), beside a bare interpreter and one that imports numpy; trafilatura too if it is there.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

PAGE = b"<title>Levers</title><h1>Levers</h1><p>A lever is a rigid bar on a pivot, and it lifts."
MAIN = "from mmcrawl.commands.program import main; main()"


def spent(command: list[str]) -> tuple[float, float]:
    """Return the wall and CPU milliseconds of a command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1000 * wall, 1000 * cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_bytes(PAGE)
        commands = {
            "python": ["-c", "pass"],
            "import numpy": ["-c", "import numpy"],
            "import mmcrawl.blocks": ["-c", "import mmcrawl.blocks"],
            "mmcrawl blocks --format md FILE": ["-c", MAIN, "blocks", "--format", "md", str(page)],
        }
        if find_spec("trafilatura"):
            commands["import trafilatura"] = ["-c", "import trafilatura"]
        print(f"{'':<34}{'wall':>6}{'CPU':>6}  ms")
        for name, words in commands.items():
            times = [spent([sys.executable, *words]) for _ in range(rounds)]
            wall, cpu = (min(each) for each in zip(*times, strict=True))
            print(f"{name:<34}{wall:>6.0f}{cpu:>6.0f}")


if __name__ == "__main__":
    main()
