"""A shared job that was stopped, and is joined again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.waiting import HANG
from tests.warm import python

ROOT = Path(__file__).parents[2]
CRAWL = ("crawl", "focused", "-a", "web=demo", "-a", "archive=none", "-a", "max_pages=20")


def crawl(folder: Path, uri: str) -> str:
    """Run a worker to its end; return its log."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SCRAPY_SETTINGS_MODULE": "mmcrawl.settings",
    }
    run = subprocess.run(
        [python(), "-m", "scrapy", *CRAWL, "-a", f"store={uri}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stderr


def test_a_worker_that_joins_when_max_pages_are_crawled_ends(uri: str, tmp_path: Path) -> None:
    for _ in range(2):
        assert "Spider closed (max_pages)" in crawl(tmp_path, uri)
