"""What is built from this tree works without it: wheel, source archive, and egg for scrapyd."""

import io
import os
import re
import sys
import tarfile
import tomllib
import zipfile
from itertools import chain
from pathlib import Path

import pytest

import mmcrawl
from tests.programs import ROOT, run

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CRAWL = ("crawl", "focused", "-a", "max_pages=25", "-O", "media.jsonl")

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
def egg(tree, tmp_path_factory):
    """The egg that scrapyd-client builds, under the name that scrapyd stores it by."""
    folder = tmp_path_factory.mktemp("egg")
    setup = (sys.executable, "setup.py")
    run(*setup, "clean", "-a", folder=tree, env={"PYTHONPATH": ""})
    run(*setup, "bdist_egg", "-d", folder, folder=tree, env={"PYTHONPATH": ""})
    [built] = folder.glob("*.egg")
    return built.rename(folder / "1_0.egg")


def test_an_egg_crawls_the_demo_web_without_being_unpacked(egg, tmp_path):
    environment = isolated_environment(tmp_path)
    on_path = isolated_environment(tmp_path, str(egg))
    origins = run(sys.executable, "-S", "-c", SHOW_ORIGINS, folder=tmp_path, env=on_path)
    package, dictionaries = map(Path, origins.stdout.split())
    assert {package.parents[1], dictionaries.parents[1]} == {egg}
    crawl = run(
        sys.executable, "-S", "-c", RUN_EGG, str(egg), *CRAWL, folder=tmp_path, env=environment
    )
    assert (tmp_path / "media.jsonl").read_text(encoding="utf-8"), crawl.stderr
    assert "pages crawled" in crawl.stderr
    assert "Warning:" not in crawl.stderr, crawl.stderr


def test_a_wheel_holds_every_file_of_the_packages(tree, wheel):
    expected = {
        (inside / path.relative_to(tree)).as_posix()
        for name, inside in (("mmcrawl", Path()), ("dictionaries", Path("mmcrawl")))
        for path in (tree / name).rglob("*")
        if path.is_file()
    }
    packed = contents(wheel, without=r"\.dist-info/")
    assert set(packed) == expected | {"mmcrawl/demo.tar.xz"}
    licences = f"mmcrawl-{PROJECT['version']}.dist-info/licenses/"
    for name in ("LICENSE", "dictionaries/LICENSE-CC-CEDICT.md"):
        assert zipfile.ZipFile(wheel).read(licences + name) == (ROOT / name).read_bytes()
    assert mmcrawl.__version__ == PROJECT["version"]
    with tarfile.open(fileobj=io.BytesIO(packed["mmcrawl/demo.tar.xz"])) as demo:
        names = {one.name for one in demo}
    files = (path for path in (tree / "demo").rglob("*") if path.is_file())
    assert names == {path.relative_to(tree / "demo").as_posix() for path in files}


def test_an_egg_holds_what_the_wheel_holds(wheel, egg):
    in_egg = contents(egg, without=r"^EGG-INFO/|\.pyc$")
    assert in_egg == contents(wheel, without=r"\.dist-info/")


def test_a_source_archive_holds_tests_seeds_and_what_make_needs(tree, built):
    [sdist] = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    expected = {"Makefile", "constraints.txt", "scrapy.cfg", ".ci/run"} | {
        path.relative_to(tree).as_posix()
        for name in ("tests", "demo", "seeds", "tools", "benchmarks", "spiders", "pipelines")
        for path in (tree / name).rglob("*")
        if path.is_file()
    }
    assert expected <= packed


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


def test_the_licence_of_every_pinned_package_is_told():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [pin.partition("==")[0] for pin in lines if not pin.startswith("#")]
    page = (ROOT / "LICENCES.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\S.*) \| (\S.*) \|$", page, re.MULTILINE)[1:]
    told = [(name, licence) for licence, names in rows for name in names.split(", ")]
    assert sorted(name for name, _ in told) == sorted(pinned), "run tools/write_licences.py"
    bound = {name for name, licence in told if "GPL" in licence}
    assert bound == {"libzim", "mutagen"}  # which the page speaks of
    assert not bound & set(map(normal_name, PROJECT["dependencies"]))


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
