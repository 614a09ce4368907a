"""Programs that are run to their end, in processes of their own."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.waiting import HANG
from tests.warm import python

ROOT = Path(__file__).resolve().parents[1]
MMCRAWL = "from mmcrawl.commands.program import main; main()"
"""What the program `mmcrawl` runs, for ``python -c``."""


def run(
    *command: str | Path,
    folder: Path = ROOT,
    code: int | None = 0,
    env: dict[str, str] | None = None,
    answer: str | None = None,
    encoding: str | None = "utf-8",
) -> subprocess.CompletedProcess[Any]:
    """Run a program in a folder; an exit code other than `code`, or a traceback, fails the test.

    Args:
        code: None if any will do, and tracebacks.
        env: variables beside those of this process, and `PYTHONPATH` for this project.
        answer: what is typed.
        encoding: of what it writes, which is bytes without one.
    """
    done = subprocess.run(
        [*command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **(env or {})},
        input=answer,
        capture_output=True,
        encoding=encoding,
        timeout=HANG,
        check=False,
    )
    if code is not None:
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr, done.stderr
    return done


def scrapy(
    *words: str | Path, env: dict[str, str] | None = None, **how: Any
) -> subprocess.CompletedProcess[Any]:
    """Run `scrapy` as `run` does, with the settings of this project wherever the folder is."""
    ours = {"SCRAPY_SETTINGS_MODULE": "mmcrawl.settings", **(env or {})}
    return run(python(), "-m", "scrapy", *words, env=ours, **how)


def started(
    *words: str | Path, folder: Path, program: Sequence[str | Path] = (), **how: Any
) -> subprocess.Popen[Any]:
    """Start `scrapy`, or a program in its place, as `scrapy` runs it; its errors can be read.

    What a terminal is like is not taken from the one that tests are run on.
    """
    own = {"COLUMNS", "NO_COLOR", "FORCE_COLOR", "PYTHONUNBUFFERED"}
    env = {name: value for name, value in os.environ.items() if name not in own}
    env |= {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "TERM": "xterm"}
    env |= {"SCRAPY_SETTINGS_MODULE": "mmcrawl.settings", "no_proxy": "*"}
    command = [*(program or (python(), "-m", "scrapy")), *words]
    how = {"stderr": subprocess.PIPE, "encoding": "utf-8"} | how
    return subprocess.Popen(command, cwd=folder, env=env, **how)


def typed(*words: str | Path, **how: Any) -> subprocess.CompletedProcess[Any]:
    """Run `scrapy` with what a person types behind it, right or wrong."""
    return scrapy(*words, code=None, **how)
