"""docs/papers.md names modules and tests that are there, and the words it promises to use."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:mmcrawl|tests|benchmarks)/[\w/]+\.py)`", TEXT)))
ROWS = [
    row
    for line in TEXT.splitlines()
    if (row := [cell.strip() for cell in line.strip("|").split("|")])[2:3]
    and row[2].startswith("`mmcrawl/")
]


def test_a_module_or_test_that_is_named_is_there() -> None:
    assert NAMED
    assert [path for path in NAMED if not (ROOT / path).is_file()] == []


def test_each_mechanism_has_a_module_a_test_and_how_it_was_taken() -> None:
    assert len(ROWS) > 80
    for name, printed, files, taken in ROWS:
        assert printed, name
        assert re.fullmatch(r"`mmcrawl/\S+` `tests/\S+`", files), name
        assert taken.startswith(("as printed", "read so: ", "departs: ")), name


def test_the_test_that_is_named_has_to_do_with_the_module() -> None:
    for row in ROWS:
        module, test = ((ROOT / name.strip("`")) for name in row[2].split())
        room = module.relative_to(ROOT).parts[1]
        text = test.read_text(encoding="utf-8")
        assert f"mmcrawl.{room}" in text or module.stem in text, row[0]
