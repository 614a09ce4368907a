"""What is built from this tree works without it: wheel, source archive, and egg for scrapyd."""

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from itertools import chain
from pathlib import Path

import pytest

import mmcrawl
from tests.waiting import HANG

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MEDIA_PAGES_OF_DEMO = 100
CRAWL = ("crawl", "focused", "-a", "algo=urlrule", "-O", "media.jsonl")

# As scrapyd.runner does: the egg goes on the path as it is, its entry point names the settings.
RUN_EGG = """
import os, sys
from importlib.metadata import distributions
egg = sys.argv.pop(1)
sys.path.insert(0, egg)
[distribution] = distributions(path=[egg])
[settings] = distribution.entry_points.select(group="scrapy", name="settings")
os.environ["SCRAPY_SETTINGS_MODULE"] = settings.module
from scrapy.cmdline import execute
execute()
"""

SHOW_ORIGINS = """
import mmcrawl
from mmcrawl.text.resources import data_file
print(mmcrawl.__file__, data_file(), sep="\\n")
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the project to build in, since setuptools leaves folders behind."""
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


@pytest.fixture(scope="module")
def wheel(tree, tmp_path_factory):
    return build("wheel", tree, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tree, tmp_path_factory):
    return build("sdist", tree, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def egg(tree, tmp_path_factory):
    """The egg that scrapyd-client builds, under the name that scrapyd stores it by."""
    folder = tmp_path_factory.mktemp("egg")
    run("setup.py", "clean", "-a", folder=tree)
    run("setup.py", "bdist_egg", "-d", str(folder), folder=tree)
    [built] = folder.glob("*.egg")
    return built.rename(folder / "1_0.egg")


def test_an_installed_wheel_crawls_the_demo_web(wheel, tmp_path):
    installed, empty = tmp_path / "installed", tmp_path / "empty"
    empty.mkdir()
    pip = ("-m", "pip", "install", "--quiet", "--no-index", "--no-deps")
    run(*pip, "--target", str(installed), str(wheel), folder=tmp_path)
    environment = isolated_environment(empty, str(installed))
    environment["SCRAPY_SETTINGS_MODULE"] = PROJECT["entry-points"]["scrapy"]["settings"]
    origins = run("-S", "-c", SHOW_ORIGINS, folder=empty, env=environment)
    package = installed / "mmcrawl"
    expected = [str(package / "__init__.py"), str(package / "dictionaries")]
    assert origins.stdout.split() == expected
    crawl = run("-S", "-m", "scrapy", *CRAWL, folder=empty, env=environment)
    assert_demo_was_crawled(empty, crawl.stderr)


def test_an_egg_crawls_the_demo_web_without_being_unpacked(egg, tmp_path):
    environment = isolated_environment(tmp_path)
    on_path = isolated_environment(tmp_path, str(egg))
    origins = run("-S", "-c", SHOW_ORIGINS, folder=tmp_path, env=on_path)
    package, dictionaries = map(Path, origins.stdout.split())
    assert {package.parents[1], dictionaries.parents[1]} == {egg}
    crawl = run("-S", "-c", RUN_EGG, str(egg), *CRAWL, folder=tmp_path, env=environment)
    assert_demo_was_crawled(tmp_path, crawl.stderr)


def test_an_egg_brings_its_spiders_and_commands(egg, tmp_path):
    environment = isolated_environment(tmp_path)
    spiders = run("-S", "-c", RUN_EGG, str(egg), "list", folder=tmp_path, env=environment)
    assert "focused" in spiders.stdout.split()
    wrong = run(
        *("-S", "-c", RUN_EGG, str(egg), "crawl", "focused", "-a", "algo=none"),
        folder=tmp_path,
        env=environment,
        exit_code=2,
    )
    assert "scrapy crawl: " in wrong.stderr


def test_a_wheel_holds_every_file_of_the_packages(tree, wheel):
    expected = {
        (inside / path.relative_to(tree)).as_posix()
        for name, inside in (("mmcrawl", Path()), ("dictionaries", Path("mmcrawl")))
        for path in (tree / name).rglob("*")
        if path.is_file()
    }
    packed = contents(wheel, without=r"\.dist-info/")
    assert set(packed) == expected | {"mmcrawl/demo.tar.xz"}
    with tarfile.open(fileobj=io.BytesIO(packed["mmcrawl/demo.tar.xz"])) as demo:
        names = {one.name for one in demo}
    files = (path for path in (tree / "demo").rglob("*") if path.is_file())
    assert names == {path.relative_to(tree / "demo").as_posix() for path in files}


def test_a_wheel_holds_the_licences(wheel):
    archive = zipfile.ZipFile(wheel)
    prefix = f"mmcrawl-{PROJECT['version']}.dist-info/licenses/"
    for name in ("LICENSE", "dictionaries/LICENSE-CC-CEDICT.md"):
        assert archive.read(prefix + name) == (ROOT / name).read_bytes()


def test_an_egg_holds_what_the_wheel_holds(wheel, egg):
    in_egg = contents(egg, without=r"^EGG-INFO/|\.pyc$")
    assert in_egg == contents(wheel, without=r"\.dist-info/")


def test_a_source_archive_builds_the_same_wheel(sdist, wheel, tmp_path):
    pip = ("-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation")
    run(*pip, "--use-pep517", str(sdist), folder=tmp_path)
    assert contents(tmp_path / wheel.name) == contents(wheel)


def test_a_source_archive_holds_tests_seeds_and_what_make_needs(tree, sdist):
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    expected = {"Makefile", "constraints.txt", "scrapy.cfg", ".ci/run"} | {
        path.relative_to(tree).as_posix()
        for name in ("tests", "demo", "seeds", "tools", "benchmarks", "spiders", "pipelines")
        for path in (tree / name).rglob("*")
        if path.is_file()
    }
    assert expected <= packed


def test_the_package_says_the_version_that_is_built():
    assert mmcrawl.__version__ == PROJECT["version"]


def test_every_requirement_is_pinned_to_one_version_and_told_in_the_docs():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert [pin for pin in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", pin)] == []
    pinned = {normal_name(pin) for pin in pins}
    wanted = [*PROJECT["dependencies"], *chain(*PROJECT["optional-dependencies"].values())]
    assert [name for name in map(normal_name, wanted) if name not in pinned] == []
    rows = (ROOT / "docs/reference/packages.md").read_text(encoding="utf-8").partition("\n## ")[0]
    told = {normal_name(name) for name in re.findall(r"(?<=[|,] )[\w.-]+(?= [|]|, )", rows)}
    assert [name for name in map(normal_name, wanted) if name not in told] == []


def assert_demo_was_crawled(folder: Path, stderr: str) -> None:
    found = (folder / "media.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(found) == MEDIA_PAGES_OF_DEMO, stderr
    assert "Warning:" not in stderr, stderr
    assert "Traceback" not in stderr, stderr


def build(kind: str, tree: Path, folder: Path) -> Path:
    """Build a `wheel` or an `sdist` of `tree` with the setuptools that is installed."""
    options = ("--no-isolation", "--outdir", str(folder))
    run("-m", "build", f"--{kind}", *options, str(tree), folder=tree)
    [built] = folder.iterdir()
    return built


def run(
    *arguments: str, folder: Path, env: dict[str, str] | None = None, exit_code: int = 0
) -> subprocess.CompletedProcess[str]:
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


def isolated_environment(home: Path, *first_on_path: str) -> dict[str, str]:
    """An environment for `python -S` that has the dependencies, and the project only if named.

    Without `site` no .pth file is read, so that an editable install of the project is not seen.
    """
    path = [*first_on_path, *dependency_folders()]
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "SCRAPY", "MMCRAWL"))
    }
    return {**kept, "HOME": str(home), "PYTHONPATH": os.pathsep.join(path)}


def dependency_folders() -> list[str]:
    return [path for path in sys.path if Path(path).name in {"site-packages", "dist-packages"}]


def contents(archive: Path, without: str = r"$^") -> dict[str, bytes]:
    """Names and bytes of the files in a zip, save those in whose name `without` is found."""
    packed = zipfile.ZipFile(archive)
    return {name: packed.read(name) for name in packed.namelist() if not re.search(without, name)}


def normal_name(requirement: str) -> str:
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()
