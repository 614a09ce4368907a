"""Tables of cases that one test goes through; all rows that fail are told together."""

import functools
import inspect
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

import pytest


def each(names: str, rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test once for every row, as `pytest.mark.parametrize` does, but as one test.

    A case costs a call then, not a test of its own. Of fixtures, `tmp_path`, `monkeypatch` and what
    captures are made anew for each row; no other that is made for one test belongs here.

    Args:
        names: of the arguments that a row gives, separated by commas.
        rows: a tuple each; the value itself where there is one name.
    """
    given = names.replace(",", " ").split()
    table = [dict(zip(given, row if len(given) > 1 else (row,), strict=True)) for row in rows]
    assert table, "there is no row"

    def of_all(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*bound: object, **fixtures: Any) -> None:
            failed, skipped = [], None
            for number, row in enumerate(table):
                with ExitStack() as stack:
                    try:
                        test(*bound, **row, **_anew(fixtures, number, stack))
                    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001
                        error.add_note(f"row {number}: {row!r:.1000}")
                        failed.append(error)
                    except pytest.skip.Exception as told:  # the other rows count all the same
                        skipped = told
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(table)} rows fail", failed)
            if skipped is not None:
                raise skipped

        signature = inspect.signature(test)
        left = [p for name, p in signature.parameters.items() if name not in given]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return of_all


def _anew(fixtures: dict[str, Any], number: int, stack: ExitStack) -> dict[str, Any]:
    """Return the fixtures for one row."""
    made = dict(fixtures)
    for name, value in fixtures.items():
        match name:
            case "tmp_path":
                made[name] = value / f"row-{number}"
                made[name].mkdir()
            case "monkeypatch":
                made[name] = stack.enter_context(value.context())
            case "capsys" | "capfd" | "capsysbinary" | "capfdbinary":
                value.readouterr()
            case "caplog":
                value.clear()
    return made
