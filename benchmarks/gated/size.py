"""How large the project is: lines of code by room, modules, tests, docs, and what it installs."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

from gated.row import Row

PROJECT = Path(__file__).resolve().parents[2]
CODE = ("mmcrawl", "spiders", "pipelines")
# The rooms of the plan: what they may come to in lines, and where their code stands (the longest
# name that fits counts).
ROOMS: dict[str, tuple[int, tuple[str, ...]]] = {
    "root": (500, ("mmcrawl",)),
    "text, topic": (2_400, ("mmcrawl/text", "mmcrawl/topic", "mmcrawl/learning")),
    "page": (4_000, ("mmcrawl/page",)),
    "blocks": (7_500, ("mmcrawl/blocks",)),
    "store": (1_500, ("mmcrawl/store",)),
    "frontier": (3_200, ("mmcrawl/frontier",)),
    "scoring": (4_600, ("mmcrawl/scoring",)),
    "crawl": (3_400, ("mmcrawl/crawl",)),
    "archive": (9_000, ("mmcrawl/archive",)),
    "media": (2_800, ("mmcrawl/media",)),
    "works": (3_600, ("mmcrawl/works",)),
    "cluster": (1_800, ("mmcrawl/cluster",)),
    "rank": (2_300, ("mmcrawl/rank",)),
    "replay": (1_900, ("mmcrawl/replay",)),
    "experiment": (3_900, ("mmcrawl/experiment",)),
    "engine, spiders, pipelines": (
        4_000,
        ("mmcrawl/engine", "mmcrawl/spiders", "mmcrawl/pipelines", "spiders", "pipelines"),
    ),
    "browse": (5_300, ("mmcrawl/browse",)),
    "commands": (5_000, ("mmcrawl/commands",)),
}
MOST_LINES = 66_700
EXTRAS = ("browse", "experiment", "learn", "zim")
ROOM_BOUND = 0.05  # what moves from room to room is no growth: the sum is held by 2 %

INSTALLED_BOUND = 0.2  # other tools in the same environment bring packages that count as well


def rows(corpora: Path | None) -> Iterator[Row]:
    """Count the files of the project and what is installed; no corpora are needed."""
    files = {file: _lines(file) for folder in CODE for file in python_files(PROJECT / folder)}
    lines: dict[str, int] = dict.fromkeys(ROOMS, 0)
    for file, count in files.items():
        lines[room_of(file.relative_to(PROJECT))] += count
    for room, (most, _) in ROOMS.items():
        yield Row(f"lines, {room}", lines[room], "less", ROOM_BOUND, most)
    yield Row("lines, all rooms", sum(lines.values()), "less", most=MOST_LINES)
    yield Row("modules", len(files), "less", most=330)
    yield Row("modules with one importer", len(one_importer(files)), "less")
    for folder, most in (("tests", 42_000), ("benchmarks", 6_000)):
        count = sum(map(_lines, python_files(PROJECT / folder)))
        yield Row(f"lines, {folder}", count, "less", most=most)
    pages = (PROJECT / "docs").rglob("*.md")
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in pages)
    yield Row("words, docs", words, "less", most=22_000)
    for name, extras in (("no extras", ()), (f"extras {', '.join(EXTRAS)}", EXTRAS)):
        found = installed("mmcrawl", extras)
        count = len(found) if found else None
        yield Row(f"packages installed, {name}", count, "less", INSTALLED_BOUND)
        megabytes = sum(map(_size, found)) / 1e6 if found else None
        yield Row(f"MB installed, {name}", megabytes, "less", INSTALLED_BOUND)


def python_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.py") if "__pycache__" not in file.parts)


def _lines(file: Path) -> int:
    return len(file.read_bytes().splitlines())


def room_of(file: Path) -> str:
    """Return the room that a file of the project belongs to.

    Raises:
        SystemExit: its package is in no room.
    """
    folder = file.parent.as_posix()
    fitting = [
        (len(place), room)
        for room, (_, places) in ROOMS.items()
        for place in places
        if folder == place or (folder.startswith(f"{place}/") and place != "mmcrawl")
    ]
    if not fitting:
        raise SystemExit(f"{folder} is in no room: name it in ROOMS of {__file__}")
    return max(fitting)[1]


def one_importer(files: Iterable[Path]) -> list[str]:
    """Return the modules, packages left out, that exactly one other module imports.

    What is imported from a package counts for the module that the package has it from, and the
    package itself does not count. A string that is the whole name of a module counts as an import:
    that is how registries name what they load late.
    """
    names = {_module(file): file for file in files}
    trees = {name: ast.parse(file.read_bytes()) for name, file in names.items()}
    faces = {name for name, file in names.items() if file.stem == "__init__"}
    behind = {
        f"{face}.{imported.rpartition('.')[2]}": imported.rpartition(".")[0]
        for face in faces
        for imported in _imported(trees[face])
    }
    importers: dict[str, set[str]] = defaultdict(set)
    for name in names.keys() - faces:
        for imported in _imported(trees[name]):
            whole = imported
            while whole not in names and whole in behind:
                whole = f"{behind[whole]}.{whole.rpartition('.')[2]}"
            importers[whole if whole in names else whole.rpartition(".")[0]].add(name)
    return [
        name
        for name in names.keys() - faces
        if names[name].stem != "__main__" and len(importers[name] - {name}) == 1
    ]


def _module(file: Path) -> str:
    parts = file.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.partition(":")[0]


def installed(name: str, extras: Iterable[str]) -> list[Distribution]:
    """Return a distribution and all that it needs; nothing if one of them is not installed."""
    found: dict[str, Distribution] = {}
    waiting = [(name, frozenset(extras))]
    seen = set(waiting)
    while waiting:
        name, wanted = waiting.pop()
        try:
            own = distribution(name)
        except PackageNotFoundError:
            return []
        found[own.metadata["Name"].lower()] = own
        for line in own.requires or ():
            need = Requirement(line)
            if need.marker is None or any(
                need.marker.evaluate({"extra": extra}) for extra in (*wanted, "")
            ):
                key = need.name, frozenset(need.extras)
                if key not in seen:
                    seen.add(key)
                    waiting.append(key)
    return list(found.values())


def _size(package: Distribution) -> int:
    if package.metadata["Name"] == "mmcrawl":  # installed in place: its own files are elsewhere
        places = (PROJECT / name for name in (*CODE, "dictionaries"))
        files = [file for place in places for file in place.rglob("*")]
    else:
        files = [Path(str(file.locate())) for file in package.files or ()]
    return sum(f.stat().st_size for f in files if f.suffix != ".pyc" and f.is_file())
