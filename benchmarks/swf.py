"""How many Flash animations are read, and how many files beside them they are found to name.

    python benchmarks/swf.py FOLDER

FOLDER holds any number of folders with .swf files, as `tests/tests/swfs` of the player Ruffle does.
Files beside an animation that it names nowhere may be there for other reasons, so the share of them
that is found is a lower bound.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

from mmcrawl.collecting.swf import SwfFacts, read_swf
from mmcrawl.errors import MediaError

_MEDIA = {".swf", ".mp3", ".flv", ".jpg", ".png", ".gif", ".wav", ".xml", ".txt"}
_OF_TESTS = ("output", "expected", "input")  # what Ruffle keeps beside, and no animation loads


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    counts: Counter[str] = Counter()
    beside: Counter[tuple[int, bool]] = Counter()
    size, seconds = 0, 0.0
    for path in sorted(parser.parse_args().folder.rglob("*.swf")):
        size += path.stat().st_size
        started = time.process_time()
        try:
            with path.open("rb") as file:
                facts = read_swf(file)
        except MediaError as error:
            counts[str(error)] += 1
            continue
        finally:
            seconds += time.process_time() - started
        counts["read" if facts.is_whole else "read to where they are cut off"] += 1
        counts["with a title"] += bool(facts.title)
        if path.name == "test.swf":
            beside += look_beside(path, facts)
        for each in facts.references:
            if each.kind != "page" and "://" not in each.url:
                there = (path.parent / unquote(each.url.partition("?")[0])).is_file()
                counts["relative addresses"] += 1
                counts["of these there"] += there
    for what, count in counts.most_common():
        print(f"{count:6} {what}")
    for version in (2, 3):
        found, missed = beside[version, True], beside[version, False]
        print(f"ActionScript {version}: {found} of {found + missed} files beside are named")
    print(f"{size / 1e6 / seconds:.1f} MB a CPU second")


def look_beside(path: Path, facts: SwfFacts) -> Counter[tuple[int, bool]]:
    """Count the media files beside an animation, by its language and whether it names them."""
    names = {each.url.partition("?")[0].rpartition("/")[2] for each in facts.references}
    return Counter(
        (facts.actionscript, other.name in names)
        for other in path.parent.iterdir()
        if other != path
        and other.suffix.lower() in _MEDIA
        and not any(word in other.name for word in _OF_TESTS)
    )


if __name__ == "__main__":
    main()
