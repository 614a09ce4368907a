"""Tests import from the faces of rooms, so that moving a file of a room breaks none of them."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from tests.tables import each

ROOT = Path(__file__).parents[1]
FACES = sorted(
    ".".join(path.parent.relative_to(ROOT).parts) for path in ROOT.glob("mmcrawl/**/__init__.py")
)


def source_of(face: str) -> str:
    return ROOT.joinpath(*face.split("."), "__init__.py").read_text(encoding="utf-8")


LAZY = [face for face in FACES if "lazy_imports" in source_of(face)]


def is_face(module: str) -> bool:
    """A package is the face of its room, and so is a module of the root, as `mmcrawl.errors`."""
    return module in FACES or module.count(".") < 2


def below_a_face(source: str) -> list[str]:
    named = re.findall(r"^ *from (mmcrawl\.[\w.]+) import", source, re.MULTILINE)
    if all(map(is_face, named)):
        return []
    return [  # but not in code that a test has another process run
        f"from {node.module} import {', '.join(alias.name for alias in node.names)}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module in named and not is_face(node.module)
    ]


def test_tests_import_from_faces_only() -> None:
    found = {
        str(path.relative_to(ROOT)): imports
        for path in ROOT.glob("tests/**/*.py")
        if (imports := below_a_face(path.read_text(encoding="utf-8")))
    }
    assert not found, "import it from the package, and name it in the package's lazy_imports"


def test_an_import_below_a_face_is_seen() -> None:
    source = "def f():\n    from mmcrawl.page.urls import split\nfrom mmcrawl.page import Page\n"
    assert below_a_face(source) == ["from mmcrawl.page.urls import split"]


@each("face", LAZY)
def test_all_that_a_face_names_is_there(face: str) -> None:
    for node in ast.walk(ast.parse(source_of(face))):
        if isinstance(node, ast.ImportFrom) and node.module != "mmcrawl.lazy":
            home = import_module(node.module or "")
            for alias in node.names:
                shown = getattr(import_module(face), alias.asname or alias.name)
                assert shown is getattr(home, alias.name)


def test_importing_faces_loads_nothing_else() -> None:
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys, importlib\nfor face in {LAZY!r}: importlib.import_module(face)\n"
            "print(*[name for name, module in sys.modules.items()"
            " if name.startswith('mmcrawl') and hasattr(module, '__file__')])\n"
            "import mmcrawl.blocks.partition\n"
            "from mmcrawl.blocks import partition, kinds\n"
            "print(type(partition).__name__, type(kinds).__name__)\n"
            "try: mmcrawl.blocks.nothing\nexcept AttributeError as error: print(error)\n",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert set(loaded[0].split()) <= {
        *FACES,
        "mmcrawl.addon",
        "mmcrawl.commands.program",
        "mmcrawl.lazy",
    }
    assert loaded[1] == "function module"  # of two of a name the function, not the submodule
    assert loaded[2] == "module 'mmcrawl.blocks' has no attribute 'nothing'"
