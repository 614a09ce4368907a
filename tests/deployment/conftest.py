"""What is built from this tree, in a copy: setuptools leaves folders behind."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import HANG

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project."""
    folder = tmp_path_factory.mktemp("tree") / "mmcrawl"
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if shutil.which("git") and (ROOT / ".git").exists():
        names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True).stdout
        for name in filter(None, os.fsdecode(names).split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, folder / name)
    else:
        made = (".venv", ".*_cache", "__pycache__", ".hypothesis", "build", "dist", "*.egg-info")
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*made))
    return folder


@pytest.fixture(scope="session")
def built(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive and the wheel, which is built of what that holds."""
    folder = tmp_path_factory.mktemp("built")
    run("-m", "build", "--no-isolation", "--outdir", str(folder), str(tree), folder=tree)
    return folder


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    [wheel] = built.glob("*.whl")
    return wheel


def run(
    *arguments: str, folder: Path, env: dict[str, str] | None = None, exit_code: int = 0
) -> "subprocess.CompletedProcess[str]":
    """Run this Python with `arguments` in `folder`; another exit code fails the test."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=env,
        capture_output=True,
        encoding="utf-8",
        timeout=HANG,
        check=False,
    )
    assert done.returncode == exit_code, done.stdout + done.stderr
    return done
