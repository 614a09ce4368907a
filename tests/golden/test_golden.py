"""What the product does is what it did when the golden files were written."""

from collections.abc import Callable, Iterator
from difflib import unified_diff
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
TOOL = FOLDER.parents[1] / "tools" / "write_golden.py"
MOST_BYTES = 300_000

_spec = spec_from_file_location("write_golden", TOOL)
write_golden = module_from_spec(_spec)
_spec.loader.exec_module(write_golden)
CASES: dict[str, Callable[[], Iterator[str]]] = write_golden.CASES


@pytest.mark.parametrize("name", CASES)
def test_nothing_differs(name: str) -> None:
    kept = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    try:
        now = "\n".join(CASES[name]()).splitlines()
    except write_golden.NoCorporaError as error:
        pytest.skip(str(error))
    if now != kept:
        lines = [line[:200] for line in unified_diff(kept, now, "kept", "now", n=0, lineterm="")]
        pytest.fail(
            "\n".join(lines[:40])
            + f"\n{len(lines)} lines of difference in tests/golden/{name}. If that is meant, run"
            f" `python tools/write_golden.py {name}` and say why in the commit.",
            pytrace=False,
        )


def test_golden_files_are_those_of_the_cases_and_small() -> None:
    files = {file.relative_to(FOLDER).as_posix(): file for file in FOLDER.rglob("*.txt")}
    assert files.keys() == CASES.keys()
    assert sum(file.stat().st_size for file in files.values()) < MOST_BYTES
