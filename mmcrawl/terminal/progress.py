"""How far long work is, for a person."""

from time import monotonic
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.text import Text

_LINE_SECONDS = 10.0
_DOING = {
    "indexing": "indexing new versions",
    "listing": "looking up URLs",
    "reading": "reading pages",
    "ranking": "steps",
}


class ProgressBars:
    """Shows on standard error how far work is: a bar on a terminal, else a line now and then."""

    def __init__(self) -> None:
        self._console = console = Console(stderr=True, highlight=False)
        self._said = monotonic()
        self._tasks: dict[str, TaskID] = {}
        self._bars: Progress | None = None
        if console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            self._bars = Progress(*columns, Elapsed(), console=console, transient=True)

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show how much of something is done."""
        if self._bars is not None:
            if what not in self._tasks:
                self._tasks[what] = self._bars.add_task(_DOING.get(what, what), total=None)
            self._bars.update(self._tasks[what], completed=done, total=total or None)
        elif monotonic() - self._said >= _LINE_SECONDS:
            self._said = monotonic()
            of = f" of {total:,}" if total else ""
            self._console.print(Text(f"{_DOING.get(what, what)}: {done:,}{of}"), soft_wrap=True)
