"""How many pages are taken for empty shells, which a browser would be asked to render.

    python benchmarks/shells.py FOLDER [--pages FOLDER]

FOLDER holds stored webs, a folder a host; --pages names labelled pages with a `truth.json`. Of
labelled pages that have text to be found, those taken for shells are false alarms.
"""

import argparse
import json
import time
from pathlib import Path

from mmcrawl.discovering.shells import is_shell
from mmcrawl.page.parse import parse_page
from mmcrawl.replay.opening import open_web

_MOST = 1_500  # pages of a host


def main() -> None:
    parser = argparse.ArgumentParser(description="Pages that are taken for empty shells.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=Path)
    options = parser.parse_args()
    print(f"{'host':40} {'pages':>6} {'shells':>6}  ms each")
    for host in sorted(one for one in options.folder.iterdir() if one.is_dir()):
        count = shells = 0
        seconds = 0.0
        web = open_web(str(options.folder))
        for path in sorted(host.rglob("*.htm*"))[:_MOST]:
            url = f"http://{host.name}/{path.relative_to(host).as_posix()}"
            stored = web.get(url)
            if stored is None or not stored.body:
                continue
            page = parse_page(stored.body, url, "text/html")
            began = time.perf_counter()
            shells += is_shell(page, stored.body)
            seconds += time.perf_counter() - began
            count += 1
        print(f"{host.name:40} {count:6,} {shells:6,}  {1_000 * seconds / max(1, count):.3f}")
    if options.pages:
        _judge_labelled(options.pages)


def _judge_labelled(folder: Path) -> None:
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    false, empty, count = [], [], 0
    for name, told in truth.items():
        path = folder / f"{name}.html"
        if not path.is_file():
            continue
        body = path.read_bytes()
        count += 1
        if is_shell(parse_page(body, "http://h.test/", "text/html"), body):
            text = told.get("main_content", "")
            inside = sum(word in body.decode("utf-8", "replace") for word in text.split()[:50])
            (false if inside > 25 else empty).append(name)
    print(f"labelled: {count:,}; shells {len(empty)} whose text is not in the page {empty}")
    print(f"          and {len(false)} whose text is {false}")


if __name__ == "__main__":
    main()
