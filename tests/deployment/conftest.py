"""What is built from this tree, in a copy: setuptools leaves folders behind."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import ROOT, run


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
    build = (sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, tree)
    run(*build, folder=tree, env={"PYTHONPATH": ""})
    return folder


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    [wheel] = built.glob("*.whl")
    return wheel


@pytest.fixture
def python() -> str:
    """A Python that has scrapy-playwright; the browser is the Chromium of this machine."""
    named = os.environ.get("MMCRAWL_TEST_PLAYWRIGHT")
    if not named:
        pytest.skip(
            "no scrapy-playwright: name the Python of one in the variable MMCRAWL_TEST_PLAYWRIGHT"
        )
    if shutil.which("chromium") is None:
        pytest.skip("there is no Chromium that could read pages")
    return named
